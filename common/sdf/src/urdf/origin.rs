//! `<origin>`: poses in URDF and out of it.

use std::f64::consts::FRAC_PI_2;

use super::number;
use crate::pose::Pose;
use crate::problem::Problem;
use crate::tree::Element;

/// Returns the pose in an `<origin>` child.
pub(super) fn read(parent: &Element) -> Result<Pose, Problem> {
    let Some(origin) = parent.child("origin") else {
        return Ok(Pose::IDENTITY);
    };
    let position = number::optional_vector(origin, "xyz")?.unwrap_or_default();
    let angles = number::optional_vector(origin, "rpy")?.unwrap_or_default();
    Ok(Pose::from_xyz_rpy(position, angles))
}

/// Returns roll, pitch and yaw as urdfdom finds them \[rad\]: within 0.0045 of a pitch of 90
/// degrees it takes 90 degrees, and libsdformat puts collisions and visuals where it says.
pub(super) fn angles(pose: &Pose) -> [f64; 3] {
    let [x, y, z, w] = pose.orientation_xyzw;
    let sine = 2.0 * (w * y - x * z) / (x * x + y * y + z * z + w * w);
    if sine <= -0.99999 {
        return [0.0, -FRAC_PI_2, 2.0 * x.atan2(-y)];
    }
    if sine >= 0.99999 {
        return [0.0, FRAC_PI_2, 2.0 * (-x).atan2(y)];
    }
    let roll = (2.0 * (y * z + w * x)).atan2(w * w - x * x - y * y + z * z);
    let yaw = (2.0 * (x * y + w * z)).atan2(w * w + x * x - y * y - z * z);
    [roll, sine.asin(), yaw]
}

/// Returns position and angles with spaces between them.
pub(super) fn show_angles(pose: &Pose) -> String {
    let ([x, y, z], [roll, pitch, yaw]) = (pose.position, angles(pose));
    number::show_all(&[x, y, z, roll, pitch, yaw])
}

/// Returns a `<pose>` element that holds position and quaternion, exact for any rotation.
pub(super) fn element(pose: &Pose, at: &Element) -> Element {
    let ([x, y, z], [qx, qy, qz, qw]) = (pose.position, pose.orientation_xyzw);
    let text = number::show_all(&[x, y, z, qx, qy, qz, qw]);
    let mut element = Element::with_text_at("pose", &text, at);
    element.set_attribute("rotation_format", "quat_xyzw");
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_turn_to_where_they_came_from() {
        for rpy in [[0.1, -0.2, 0.3], [3.0, 1.5, -3.0], [0.0, FRAC_PI_2, 0.7]] {
            let pose = Pose::from_xyz_rpy([0.0; 3], rpy);
            let back = Pose::from_xyz_rpy([0.0; 3], angles(&pose));
            for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
                for (a, b) in pose.rotate(axis).iter().zip(back.rotate(axis)) {
                    assert!((a - b).abs() < 1e-12, "{rpy:?} gave {back:?}");
                }
            }
        }
    }
}
