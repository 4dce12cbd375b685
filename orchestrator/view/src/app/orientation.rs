//! Angles of the orientation of a performer.

use std::f64::consts::TAU;

use protocol::report::PerformerReport;

/// The least horizontal part of a front that points somewhere on the map.
const HORIZONTAL_MIN: f64 = 0.5;
/// The least upward part of the z axis of what stands and does not roll.
const UPRIGHT_MIN: f64 = 0.5;
/// Tolerance of the norm of a quaternion around 1.
const UNIT_TOLERANCE: f64 = 0.1;

/// Returns the direction of the model's x axis in the x-y plane of the world, from 0 to 2 pi
/// \[rad\], against the clock from the x axis; `None` when it points up or down or is unknown, and
/// for what lies or rolls, whose x axis says nothing of where it goes.
pub fn heading(performer: &PerformerReport) -> Option<f64> {
    let [x, y, z, w] = performer.orientation_xyzw;
    let norm = (x * x + y * y + z * z + w * w).sqrt();
    let ahead = ahead(performer);
    let is_known = (norm - 1.0).abs() < UNIT_TOLERANCE && ahead[0].hypot(ahead[1]) > HORIZONTAL_MIN;
    let is_upright = 1.0 - 2.0 * (x * x + y * y) > UPRIGHT_MIN;
    (is_known && is_upright).then(|| roll_pitch_yaw(performer)[2].rem_euclid(TAU))
}

/// Returns the direction of the model's x axis, world frame.
pub fn ahead(performer: &PerformerReport) -> [f64; 3] {
    let [x, y, z, w] = performer.orientation_xyzw;
    [
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y + w * z),
        2.0 * (x * z - w * y),
    ]
}

/// Returns the angles by which a performer is turned about the fixed axes x, y and z of the world
/// \[rad\].
pub fn roll_pitch_yaw(performer: &PerformerReport) -> [f64; 3] {
    let [x, y, z, w] = performer.orientation_xyzw;
    [
        (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y)),
        (2.0 * (w * y - z * x)).clamp(-1.0, 1.0).asin(),
        (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    fn turned(orientation_xyzw: [f64; 4]) -> PerformerReport {
        PerformerReport {
            orientation_xyzw,
            ..fixture::performers().remove(0)
        }
    }

    #[test]
    fn a_quarter_turn_is_heading_and_yaw() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let left = turned([0.0, 0.0, half, half]);
        assert!((heading(&left).unwrap() - TAU / 4.0).abs() < 1e-9);
        let right = turned([0.0, 0.0, -half, half]);
        assert!((heading(&right).unwrap() - TAU * 0.75).abs() < 1e-9);
        let [roll, pitch, yaw] = roll_pitch_yaw(&right);
        assert!(roll.abs() + pitch.abs() + (yaw + TAU / 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_vertical_or_broken_orientation_has_no_heading() {
        let upward = turned([0.0, -0.5_f64.sqrt(), 0.0, 0.5_f64.sqrt()]);
        assert_eq!(heading(&upward), None);
        let rolled = turned([0.8_f64.sqrt(), 0.0, 0.0, 0.2_f64.sqrt()]);
        assert_eq!(heading(&rolled), None);
        assert_eq!(heading(&turned([0.0; 4])), None);
        assert_eq!(heading(&turned([f64::NAN; 4])), None);
    }
}
