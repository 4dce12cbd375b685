//! The messages, one module per package of ROS, each type described once.
//!
//! Definitions are those of ROS 2 Jazzy, and of `ros_gz_interfaces`, `actuator_msgs`,
//! `vision_msgs`, `simulation_interfaces` and `ue_msgs` beside it, and our own `phalanx_msgs`;
//! types and constants only, without remarks.

pub mod action_msgs;
pub mod actuator_msgs;
pub mod builtin_interfaces;
pub mod geometry_msgs;
pub mod nav_msgs;
pub mod phalanx_msgs;
pub mod ros_gz_interfaces;
pub mod rosgraph_msgs;
pub mod sensor_msgs;
pub mod simulation_interfaces;
pub mod std_msgs;
pub mod tf2_msgs;
pub mod trajectory_msgs;
pub mod ue_msgs;
pub mod unique_identifier_msgs;
pub mod vision_msgs;

use crate::schema::Type;

/// Defines messages: `Name("package/msg/Name") [constants] { fields }`, in the order of the
/// definition. Each is a structure with its description, reading and writing; `TYPES` of the
/// module lists them.
macro_rules! ros_types {
    ($($(#[$doc:meta])* $name:ident($ros:literal) $([
        $($constant:ident: $constant_type:ty = $value:literal;)*
    ])? {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    })*) => {
        /// All types of the package.
        pub(crate) const TYPES: &[&$crate::schema::Type] = &[
            $(<$name as $crate::schema::RosMessage>::TYPE,)*
        ];

        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }

            impl $name {
                $($(
                    #[doc = concat!("Constant of the definition, ", stringify!($value), ".")]
                    pub const $constant: $constant_type = $value;
                )*)?

                /// True if it has no fields; CDR has one byte for it.
                const IS_EMPTY: bool =
                    <Self as $crate::schema::RosMessage>::TYPE.fields.is_empty();
            }

            impl Default for $name {
                fn default() -> Self {
                    Self { $($field: <$type as $crate::value::FieldValue>::nothing(),)* }
                }
            }

            impl $crate::value::Value for $name {
                const ELEMENT: $crate::schema::Element = $crate::schema::Element::Message(
                    <Self as $crate::schema::RosMessage>::TYPE,
                );
                const SIZE_MIN: usize = $crate::types::size_min(&[
                    $(<$type as $crate::value::FieldValue>::FIELD_SIZE_MIN,)*
                ]);

                fn write(&self, writer: &mut $crate::cdr::Writer) {
                    if Self::IS_EMPTY {
                        writer.bytes(&[0]);
                    }
                    $($crate::value::FieldValue::write_field(&self.$field, writer);)*
                }

                fn read(
                    reader: &mut $crate::cdr::Reader<'_>,
                ) -> Result<Self, $crate::cdr::CdrError> {
                    if Self::IS_EMPTY {
                        reader.take(1)?;
                    }
                    Ok(Self {
                        $($field: $crate::value::FieldValue::read_field(reader)?,)*
                    })
                }
            }

            impl $crate::schema::RosMessage for $name {
                const TYPE: &'static $crate::schema::Type = &$crate::schema::Type {
                    name: $ros,
                    constants: &[$($($crate::schema::Constant {
                        name: stringify!($constant),
                        element: <$constant_type as $crate::value::Value>::ELEMENT,
                        value: stringify!($value),
                    },)*)?],
                    fields: &[$($crate::schema::Field::new(
                        stringify!($field),
                        <$type as $crate::value::FieldValue>::KIND,
                    ),)*],
                    recode: $crate::schema::recode::<$name>,
                };
            }
        )*
    };
}
use ros_types;

/// The types of all packages.
const PACKAGES: &[&[&Type]] = &[
    action_msgs::TYPES,
    actuator_msgs::TYPES,
    builtin_interfaces::TYPES,
    geometry_msgs::TYPES,
    nav_msgs::TYPES,
    phalanx_msgs::TYPES,
    ros_gz_interfaces::TYPES,
    rosgraph_msgs::TYPES,
    sensor_msgs::TYPES,
    simulation_interfaces::TYPES,
    std_msgs::TYPES,
    tf2_msgs::TYPES,
    trajectory_msgs::TYPES,
    ue_msgs::TYPES,
    unique_identifier_msgs::TYPES,
    vision_msgs::TYPES,
];

/// Returns all types, package by package.
pub fn all() -> impl Iterator<Item = &'static Type> {
    PACKAGES.iter().copied().flatten().copied()
}

/// Returns the type of a name: `geometry_msgs/msg/Twist`.
pub fn find(name: &str) -> Option<&'static Type> {
    all().find(|known| known.name == name)
}

/// Returns the fewest bytes of a structure whose fields have at least these.
const fn size_min(fields: &[usize]) -> usize {
    let (mut sum, mut index) = (0, 0);
    while index < fields.len() {
        sum += fields[index];
        index += 1;
    }
    if sum == 0 { 1 } else { sum }
}
