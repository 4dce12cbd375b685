//! Numbers, vectors, truth values and poses out of the text of elements.
//!
//! Each reader returns a default for a missing or empty element, and reports what it cannot read
//! in the words of [`crate::schema`], so that a mistake is told once.

pub(crate) mod number;

use crate::pose::Pose;
use crate::report::Report;
use crate::schema::value_kind::{PoseError, ValueKind, check_pose};
use crate::tree::Element;

/// Returns the number in a child.
pub(crate) fn number(parent: &Element, name: &str, default: f64, report: &mut Report) -> f64 {
    numbers::<1>(parent, name, [default], report)[0]
}

/// Returns the number in a child, which must not be negative.
pub(crate) fn number_from_zero(
    parent: &Element,
    name: &str,
    default: f64,
    report: &mut Report,
) -> f64 {
    let value = number(parent, name, default, report);
    if value < 0.0 {
        invalid(parent, name, "must not be negative", report);
        return default;
    }
    value
}

/// Returns the finite numbers in a child, `default` where it is missing.
pub(crate) fn numbers<const N: usize>(
    parent: &Element,
    name: &str,
    default: [f64; N],
    report: &mut Report,
) -> [f64; N] {
    let values = numbers_or_infinite(parent, name, default, report);
    if values.iter().all(|value| value.is_finite()) {
        return values;
    }
    invalid(parent, name, "must be finite", report);
    default
}

/// Returns the numbers in a child, of which some may be infinite.
pub(crate) fn numbers_or_infinite<const N: usize>(
    parent: &Element,
    name: &str,
    default: [f64; N],
    report: &mut Report,
) -> [f64; N] {
    let Some(element) = parent.child(name) else {
        return default;
    };
    let text = element.text();
    if text.is_empty() {
        return default;
    }
    let (kind, values) = parse_numbers::<N>(&text);
    match values {
        Some(values) if values.iter().all(|value| !value.is_nan()) => values,
        _ => {
            let message = kind.complaint(name, &text);
            report.error("ELEMENT_INVALID", element, message);
            default
        }
    }
}

/// Reads one number as `strtod` does, or several as a stream.
fn parse_numbers<const N: usize>(text: &str) -> (ValueKind, Option<[f64; N]>) {
    let (kind, values) = match N {
        1 => {
            let text = number::truth_as_digit(text);
            let value = number::leading_double(text).map(|(value, _)| [value; N]);
            (ValueKind::Double, value)
        }
        2 => (ValueKind::Vector2, number::row::<N>(text)),
        _ => (ValueKind::Vector3, number::row::<N>(text)),
    };
    (kind, values)
}

/// Returns the truth value in a child.
pub(crate) fn truth(parent: &Element, name: &str, default: bool, report: &mut Report) -> bool {
    let Some(element) = parent.child(name) else {
        return default;
    };
    let text = element.text();
    match parse_truth(&text) {
        Some(value) => value,
        None if text.is_empty() => default,
        None => {
            let message = ValueKind::Bool.complaint(name, &text);
            report.error("ELEMENT_INVALID", element, message);
            default
        }
    }
}

/// Returns what `true`, `false`, `1` and `0` mean, in any capitalization.
pub(crate) fn parse_truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Returns the name of an element, which must have one that is not reserved.
pub(crate) fn name<'t>(element: &'t Element, report: &mut Report) -> Option<&'t str> {
    match element.attribute("name") {
        None => {
            let message = format!("<{}> needs a name attribute", element.name);
            report.error("ATTRIBUTE_MISSING", element, message);
            None
        }
        Some("") => {
            let message = format!("the attribute name of <{}> must not be empty", element.name);
            report.error("ATTRIBUTE_INVALID", element, message);
            None
        }
        Some(name) => (!refuse_reserved_name(element, name, report)).then_some(name),
    }
}

/// Reports a name that SDF keeps for itself, and tells whether it is one.
pub(crate) fn refuse_reserved_name(element: &Element, name: &str, report: &mut Report) -> bool {
    let is_reserved =
        name == "world" || (name.len() >= 4 && name.starts_with("__") && name.ends_with("__"));
    if is_reserved {
        let message = format!("the name {name:?} is reserved; choose another");
        report.error("RESERVED_NAME", element, message);
    }
    is_reserved
}

/// Returns the pose in a `<pose>` child, as written, and the frame that it is relative to.
pub(crate) fn pose<'t>(parent: &'t Element, report: &mut Report) -> (Pose, Option<&'t str>) {
    let Some(element) = parent.child("pose") else {
        return (Pose::IDENTITY, None);
    };
    let relative_to = element.filled_attribute("relative_to");
    let text = element.text();
    if text.is_empty() {
        return (Pose::IDENTITY, relative_to);
    }
    match parse_pose(element, &text) {
        Ok(pose) => (pose, relative_to),
        Err(error) => {
            report.error("ELEMENT_INVALID", element, error.to_string());
            (Pose::IDENTITY, relative_to)
        }
    }
}

fn parse_pose(element: &Element, text: &str) -> Result<Pose, PoseError> {
    check_pose(element, text)?;
    let mut values = text
        .split_ascii_whitespace()
        .filter_map(|word| number::leading_double(word).map(|(value, _)| value));
    let mut next = || values.next().unwrap_or_default();
    let position = [next(), next(), next()];
    let is_quaternion = element.filled_attribute("rotation_format") == Some("quat_xyzw");
    if !is_quaternion {
        let degrees = element.attribute("degrees").and_then(parse_truth) == Some(true);
        let angle = |value: f64| if degrees { value.to_radians() } else { value };
        let angles = [next(), next(), next()].map(angle);
        return Ok(Pose::from_xyz_rpy(position, angles));
    }
    let quaternion = [next(), next(), next(), next()];
    let norm = quaternion
        .iter()
        .map(|value| value * value)
        .sum::<f64>()
        .sqrt();
    // libsdformat reads a quaternion of zeros as no rotation.
    let orientation_xyzw = if norm < 1e-12 {
        [0.0, 0.0, 0.0, 1.0]
    } else {
        quaternion.map(|value| value / norm)
    };
    Ok(Pose {
        position,
        orientation_xyzw,
    })
}

fn invalid(parent: &Element, name: &str, what: &str, report: &mut Report) {
    let element = parent.child(name).unwrap_or(parent);
    report.error("ELEMENT_INVALID", element, format!("<{name}> {what}"));
}

/// Returns a text that is short enough for a message.
pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn check_pose(attributes: &str, text: &str, expect: Option<[f64; 6]>) {
        let root = parse(&format!("<a><pose {attributes}>{text}</pose></a>"), "f").unwrap();
        let mut report = Report::default();
        let (pose, _) = pose(&root, &mut report);
        assert_eq!(
            report.errors.is_empty(),
            expect.is_some(),
            "{text}: {:?}",
            report.errors
        );
        let [x, y, z, roll, pitch, yaw] = expect.unwrap_or_default();
        assert_eq!(pose.position, [x, y, z], "{text}");
        for (a, b) in pose.roll_pitch_yaw().iter().zip([roll, pitch, yaw]) {
            assert!((a - b).abs() < 1e-12, "{text} gave {pose:?}");
        }
    }

    #[test]
    fn poses_are_read_in_radians_degrees_and_quaternions() {
        let quarter = std::f64::consts::FRAC_PI_2;
        check_pose(
            "",
            " 1 2\n3 0.1 0.2 .3 ",
            Some([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]),
        );
        check_pose(
            "degrees='true'",
            "1 2 3 0 0 90",
            Some([1.0, 2.0, 3.0, 0.0, 0.0, quarter]),
        );
        let quaternion = "rotation_format='quat_xyzw'";
        check_pose(
            quaternion,
            "0 0 1 0 0 2 2",
            Some([0.0, 0.0, 1.0, 0.0, 0.0, quarter]),
        );
        check_pose("", "", Some([0.0; 6]));
    }

    #[test]
    fn poses_with_wrong_counts_or_words_are_errors() {
        check_pose("", "1 2 3", None);
        check_pose("", "bad 0 0 0 0 0", None);
        check_pose("", "nan 0 0 0 0 0", None);
        check_pose("rotation_format='quat_xyzw'", "0 0 0 0 0 0", None);
        check_pose("rotation_format='matrix'", "0 0 0 0 0 0", None);
        check_pose(
            "rotation_format='quat_xyzw' degrees='1'",
            "0 0 0 0 0 0 1",
            None,
        );
    }

    #[test]
    fn truth_has_two_words_and_two_digits() {
        for (text, expect) in [("TRUE", Some(true)), (" 0 ", Some(false)), ("yes", None)] {
            assert_eq!(parse_truth(text), expect, "{text}");
        }
    }
}
