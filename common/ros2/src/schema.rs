//! Descriptions of types: fields and constants in order, from which definition text, names and
//! fingerprints are made.
//!
//! A type is a structure whose fields are read and written in the order of its description
//! ([`RosMessage`]), so that text and bytes cannot disagree.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::cdr::{CdrError, from_cdr, to_cdr};
use crate::value::Value;

/// The line between definitions in the text of a type and of those it is made of.
const SEPARATOR: &str =
    "================================================================================";
/// Field that structures without fields have in IDL, where they must have one.
const EMPTY_FIELD: Field = Field {
    name: "structure_needs_at_least_one_member",
    kind: FieldKind::One(Element::Uint8),
};

/// A type of messages.
#[derive(Debug)]
pub struct Type {
    /// Its name: `geometry_msgs/msg/Twist`.
    pub name: &'static str,
    /// Its constants.
    pub constants: &'static [Constant],
    /// Its fields, in order.
    pub fields: &'static [Field],
    pub(crate) recode: fn(&[u8]) -> Result<Vec<u8>, CdrError>,
}

/// A constant of a type.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Its name.
    pub name: &'static str,
    /// Type of its value.
    pub element: Element,
    /// Text of its value.
    pub value: &'static str,
}

/// A field of a type.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    name: &'static str,
    /// Its type.
    pub kind: FieldKind,
}

/// Type of a field: one value or many.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// One value.
    One(Element),
    /// Values of a fixed number.
    Array(Element, usize),
    /// Values of any number.
    Sequence(Element),
}

/// Type of a value.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    /// True or false.
    Bool,
    /// 8 bits with sign.
    Int8,
    /// 8 bits.
    Uint8,
    /// 16 bits with sign.
    Int16,
    /// 16 bits.
    Uint16,
    /// 32 bits with sign.
    Int32,
    /// 32 bits.
    Uint32,
    /// 64 bits with sign.
    Int64,
    /// 64 bits.
    Uint64,
    /// Single precision.
    Float32,
    /// Double precision.
    Float64,
    /// UTF-8.
    Text,
    /// A message.
    Message(&'static Type),
}

/// A message of ROS 2.
pub trait RosMessage: Value + Clone + PartialEq + std::fmt::Debug {
    /// Its type.
    const TYPE: &'static Type;
}

impl Type {
    /// Returns the name that the type has in DDS: `geometry_msgs::msg::dds_::Twist_`.
    pub fn dds_name(&self) -> String {
        let (folder, name) = self.name.rsplit_once('/').unwrap_or_default();
        format!("{}::dds_::{name}_", folder.replace('/', "::"))
    }

    /// Returns the definition in ROS's language of messages, followed by those of all types that
    /// it is made of, as schemas of the encoding `ros2msg` have it.
    pub fn definition(&self) -> String {
        let mut text = self.own_definition();
        for (name, part) in self.parts() {
            let name = name.replace("/msg/", "/");
            let definition = part.own_definition();
            write!(text, "{SEPARATOR}\nMSG: {name}\n{definition}").expect("texts take all");
        }
        text
    }

    /// Returns the fingerprint of REP 2011, which tells types of one name apart: `RIHS01_`, then
    /// SHA-256 in hexadecimal of names and types of all fields.
    pub fn fingerprint(&self) -> String {
        let parts: Vec<String> = self.parts().values().map(|part| part.described()).collect();
        let text = format!(
            "{{\"type_description\": {}, \"referenced_type_descriptions\": [{}]}}",
            self.described(),
            parts.join(", ")
        );
        let mut name = "RIHS01_".to_owned();
        for byte in Sha256::digest(text) {
            write!(name, "{byte:02x}").expect("texts take all");
        }
        name
    }

    /// Returns a message as this crate writes it: little-endian, aligned as CDR, without padding.
    ///
    /// # Errors
    /// Fails if the bytes are no such message.
    pub fn normalized(&self, cdr: &[u8]) -> Result<Vec<u8>, CdrError> {
        (self.recode)(cdr)
    }

    /// Returns all types that this one is made of, by name.
    pub fn parts(&self) -> BTreeMap<&'static str, &'static Self> {
        let mut parts = BTreeMap::new();
        self.collect(&mut parts);
        parts
    }

    fn collect(&self, parts: &mut BTreeMap<&'static str, &'static Self>) {
        for field in self.fields {
            if let Element::Message(part) = field.kind.element()
                && parts.insert(part.name, part).is_none()
            {
                part.collect(parts);
            }
        }
    }

    fn own_definition(&self) -> String {
        let mut text = String::new();
        for constant in self.constants {
            let Constant { name, value, .. } = constant;
            let element = constant.element.name();
            writeln!(text, "{element} {name}={value}").expect("texts take all");
        }
        for field in self.fields {
            let kind = match field.kind {
                FieldKind::One(element) => element.name(),
                FieldKind::Array(element, length) => format!("{}[{length}]", element.name()),
                FieldKind::Sequence(element) => format!("{}[]", element.name()),
            };
            writeln!(text, "{kind} {}", field.name()).expect("texts take all");
        }
        text
    }

    /// Returns the type as REP 2011 describes it, in the form of JSON that is hashed.
    fn described(&self) -> String {
        let fields = match self.fields {
            [] => &[EMPTY_FIELD],
            fields => fields,
        };
        let fields: Vec<String> = fields.iter().map(Field::described).collect();
        let (name, fields) = (self.name, fields.join(", "));
        format!("{{\"type_name\": \"{name}\", \"fields\": [{fields}]}}")
    }
}

impl Field {
    /// Describes a field of a structure; the name may be a raw identifier.
    pub const fn new(name: &'static str, kind: FieldKind) -> Self {
        Self { name, kind }
    }

    /// Returns its name.
    pub fn name(&self) -> &'static str {
        self.name.strip_prefix("r#").unwrap_or(self.name)
    }

    fn described(&self) -> String {
        let element = self.kind.element();
        let (offset, capacity) = match self.kind {
            FieldKind::One(_) => (0, 0),
            FieldKind::Array(_, length) => (48, length),
            FieldKind::Sequence(_) => (144, 0),
        };
        let part = match element {
            Element::Message(part) => part.name,
            _ => "",
        };
        format!(
            "{{\"name\": \"{}\", \"type\": {{\"type_id\": {}, \"capacity\": {capacity}, \
             \"string_capacity\": 0, \"nested_type_name\": \"{part}\"}}}}",
            self.name(),
            element.number() + offset,
        )
    }
}

impl FieldKind {
    /// Returns the type of its values.
    pub const fn element(self) -> Element {
        match self {
            Self::One(element) | Self::Array(element, _) | Self::Sequence(element) => element,
        }
    }
}

impl Element {
    /// Returns its name in ROS's language of messages.
    pub fn name(self) -> String {
        let name = match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Uint8 => "uint8",
            Self::Int16 => "int16",
            Self::Uint16 => "uint16",
            Self::Int32 => "int32",
            Self::Uint32 => "uint32",
            Self::Int64 => "int64",
            Self::Uint64 => "uint64",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Text => "string",
            Self::Message(part) => return part.name.replace("/msg/", "/"),
        };
        name.to_owned()
    }

    /// Returns its number in `type_description_interfaces/msg/FieldType`.
    const fn number(self) -> u8 {
        match self {
            Self::Message(_) => 1,
            Self::Int8 => 2,
            Self::Uint8 => 3,
            Self::Int16 => 4,
            Self::Uint16 => 5,
            Self::Int32 => 6,
            Self::Uint32 => 7,
            Self::Int64 => 8,
            Self::Uint64 => 9,
            Self::Float32 => 10,
            Self::Float64 => 11,
            Self::Bool => 15,
            Self::Text => 17,
        }
    }
}

/// Reads a message and writes it.
pub(crate) fn recode<M: RosMessage>(cdr: &[u8]) -> Result<Vec<u8>, CdrError> {
    from_cdr::<M>(cdr).map(|message| to_cdr(&message))
}

#[cfg(test)]
mod tests {
    use crate::RosMessage;
    use crate::types::{geometry_msgs, std_msgs};

    #[test]
    fn a_definition_has_those_of_its_parts() {
        let stamped = geometry_msgs::Vector3Stamped::TYPE;
        let line = "=".repeat(80);
        let expected = format!(
            "std_msgs/Header header\ngeometry_msgs/Vector3 vector\n\
             {line}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n\
             {line}\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n\
             {line}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
        );
        assert_eq!(stamped.definition(), expected);
        assert_eq!(
            stamped.dds_name(),
            "geometry_msgs::msg::dds_::Vector3Stamped_"
        );
    }

    #[test]
    fn fingerprints_are_those_of_ros() {
        let text = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        assert_eq!(std_msgs::String::TYPE.fingerprint(), text);
        let empty = "RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312";
        assert_eq!(std_msgs::Empty::TYPE.fingerprint(), empty);
    }
}
