//! The types of SDF's values, and which texts each accepts: the rules of libsdformat's `Param`.
//!
//! They are generous in odd places (`1.5kg` is 1.5, a vector may go on after its last number) and
//! strict in others (a colour has three or four numbers from 0 to 1). Typed readers share the
//! complaints, so that one mistake is told once.

use crate::tree::Element;
use crate::value::number::{
    integer_row, leading_double, leading_float, leading_integer, row, truth_as_digit,
};
use crate::value::{parse_truth, shorten};

/// The type of an attribute or of the text in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// `true`, `false`, `1` or `0`.
    Bool,
    /// 32 bits with a sign.
    Int,
    /// 32 bits without one; what does not fit wraps around.
    Uint,
    /// Double precision.
    Double,
    /// Single precision.
    Float,
    /// Any text.
    Text,
    /// Red, green, blue and perhaps alpha.
    Color,
    /// Two numbers.
    Vector2,
    /// Three numbers.
    Vector3,
    /// Position and orientation; its element's attributes say how it is written.
    Pose,
    /// Seconds and nanoseconds.
    Time,
}

/// Text that is no pose.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PoseError {
    /// The attribute for the form of its rotation has neither of its values.
    #[error("rotation_format is euler_rpy or quat_xyzw, and not {found:?}")]
    RotationFormat {
        /// The value, short enough for a message.
        found: String,
    },
    /// Degrees are asked for where there are no angles.
    #[error("degrees means nothing for a quaternion")]
    DegreesOfQuaternion,
    /// It has another count of numbers, or words that are none.
    #[error("<{element}> must hold {expected} numbers, not {found:?}")]
    Numbers {
        /// The element.
        element: String,
        /// Count of numbers that it must hold.
        expected: usize,
        /// Its text, short enough for a message.
        found: String,
    },
}

impl ValueKind {
    /// Returns the type of a name in the specification.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "int" => Self::Int,
            "uint" => Self::Uint,
            "double" => Self::Double,
            "float" => Self::Float,
            "string" => Self::Text,
            "color" => Self::Color,
            "vector2d" => Self::Vector2,
            "vector3" => Self::Vector3,
            "pose" => Self::Pose,
            "time" => Self::Time,
            _ => return None,
        })
    }

    /// Tells whether a text that is not empty is a value of this type. Poses are judged by
    /// [`check_pose`], since their attributes matter.
    pub(crate) fn accepts(self, text: &str) -> bool {
        let text = truth_as_digit(text);
        match self {
            Self::Bool => parse_truth(text).is_some(),
            Self::Int => number_of(self, text).is_some(),
            Self::Uint => leading_integer(text).is_some_and(|value| {
                let size = value.unsigned_abs();
                size <= u128::from(u64::MAX)
            }),
            Self::Double => leading_double(text).is_some(),
            Self::Float => leading_float(text).is_some(),
            Self::Text | Self::Pose => true,
            Self::Color => is_color(text),
            Self::Vector2 => row::<2>(text).is_some(),
            Self::Vector3 => row::<3>(text).is_some(),
            Self::Time => integer_row::<2>(text).is_some(),
        }
    }

    /// Says what a value of this type is.
    fn description(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int => "a whole number",
            Self::Uint => "a whole number from 0",
            Self::Double | Self::Float => "a number",
            Self::Text => "a text",
            Self::Color => "3 or 4 numbers from 0 to 1",
            Self::Vector2 => "2 numbers",
            Self::Vector3 => "3 numbers",
            Self::Pose => "a pose",
            Self::Time => "seconds and nanoseconds",
        }
    }

    /// Says that a text is no value of this type.
    pub(crate) fn complaint(self, name: &str, text: &str) -> String {
        let what = self.description();
        format!("<{name}> must hold {what}, and {:?} is not", shorten(text))
    }

    /// Says that the text of an attribute is no value of this type.
    pub(crate) fn attribute_complaint(self, element: &str, name: &str, text: &str) -> String {
        let what = self.description();
        format!(
            "the attribute {name} of <{element}> must hold {what}, and {:?} is not",
            shorten(text)
        )
    }
}

/// Returns the number in a text of a type that has a range.
pub(crate) fn number_of(kind: ValueKind, text: &str) -> Option<f64> {
    let text = truth_as_digit(text);
    match kind {
        ValueKind::Int => {
            let value = leading_integer(text)?;
            i32::try_from(value).ok().map(f64::from)
        }
        ValueKind::Double => leading_double(text).map(|(value, _)| value),
        ValueKind::Float => leading_float(text).map(|(value, _)| value),
        ValueKind::Bool
        | ValueKind::Uint
        | ValueKind::Text
        | ValueKind::Color
        | ValueKind::Vector2
        | ValueKind::Vector3
        | ValueKind::Pose
        | ValueKind::Time => None,
    }
}

fn is_color(text: &str) -> bool {
    let mut count = 0;
    for word in text.split_ascii_whitespace() {
        match leading_float(word) {
            // Not a number is no number out of range, for libsdformat too.
            Some((value, _)) if value.is_nan() || (0.0..=1.0).contains(&value) => count += 1,
            _ => return false,
        }
    }
    count == 3 || count == 4
}

/// Makes sure that a `<pose>` and its text, which may be empty, are those of a pose.
pub(crate) fn check_pose(element: &Element, text: &str) -> Result<(), PoseError> {
    let format = element.filled_attribute("rotation_format").map(str::trim);
    let expected = match format {
        None | Some("" | "euler_rpy") => 6,
        Some("quat_xyzw") => 7,
        Some(other) => {
            let found = shorten(other);
            return Err(PoseError::RotationFormat { found });
        }
    };
    let degrees = element.attribute("degrees").and_then(parse_truth);
    if expected == 7 && degrees == Some(true) {
        return Err(PoseError::DegreesOfQuaternion);
    }
    let mut words = text.split_ascii_whitespace();
    let numbers = words
        .by_ref()
        .map_while(leading_double)
        .filter(|(value, _)| value.is_finite());
    let is_fine = text.is_empty()
        || (numbers.count() == expected && text.split_ascii_whitespace().count() == expected);
    if is_fine {
        return Ok(());
    }
    Err(PoseError::Numbers {
        element: element.name.to_string(),
        expected,
        found: shorten(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn check(kind: &str, accepted: &[&str], refused: &[&str]) {
        let kind = ValueKind::named(kind).unwrap();
        for text in accepted {
            assert!(kind.accepts(text), "{kind:?} {text:?}");
        }
        for text in refused {
            assert!(!kind.accepts(text), "{kind:?} {text:?}");
        }
    }

    #[test]
    fn each_type_accepts_what_libsdformat_does() {
        check(
            "bool",
            &["true", "FALSE", "1", "0"],
            &["yes", "2", "true x"],
        );
        check("int", &["10.7", "0x1f", "-3"], &["9999999999", "a"]);
        check(
            "uint",
            &["-1", "99999999999"],
            &["99999999999999999999999", "a"],
        );
        check(
            "double",
            &["1.5kg", "nan", "-inf", "0x10", "True"],
            &["a", "1e400", "1e-320"],
        );
        check("float", &["1"], &["1e39"]);
        check(
            "color",
            &["0 0 1", "0 0 0 .5", "nan 0 0"],
            &["0 0", "0 0 0 0 0", "255 0 0", "a b c"],
        );
        check("vector2d", &["1 2"], &["1"]);
        check(
            "vector3",
            &["0 0 1 2", "0 0 1x"],
            &["0 0", "0 0 inf", "0,0,1"],
        );
        check("time", &["5 6x"], &["5"]);
        check("string", &["a"], &[]);
    }

    #[test]
    fn poses_are_judged_with_their_attributes() {
        let check = |attributes: &str, text: &str, is_fine: bool| {
            let pose = parse(&format!("<pose {attributes}>{text}</pose>"), "f").unwrap();
            let checked = check_pose(&pose, text);
            assert_eq!(checked.is_ok(), is_fine, "{attributes} {text}: {checked:?}");
        };
        let quaternion = "rotation_format='quat_xyzw'";
        check("", "1m 0 0 0 0 0", true);
        check("", "", true);
        check("", "1 0 0 0 0 0 0", false);
        check("", "1 0 0 0 0", false);
        check("", "inf 0 0 0 0 0", false);
        check(quaternion, "", true);
        check(quaternion, "0 0 0 0 0 0 1", true);
        check("rotation_format='quat_xyzw' degrees='1'", "", false);
        check("rotation_format='matrix'", "", false);
    }
}
