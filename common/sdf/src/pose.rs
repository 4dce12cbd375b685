//! Rigid transforms in doubles.

use serde::{Deserialize, Serialize};

/// A position and an orientation in some frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Position \[m\].
    pub position: [f64; 3],
    /// Orientation as a unit quaternion, x, y, z, w.
    pub orientation_xyzw: [f64; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// No displacement and no rotation.
    pub const IDENTITY: Self = Self {
        position: [0.0; 3],
        orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
    };

    /// Makes a pose from position \[m\] and roll, pitch, yaw \[rad\], SDF's fixed-axis order:
    /// about x, then y, then z.
    pub fn from_xyz_rpy(position: [f64; 3], rpy: [f64; 3]) -> Self {
        let [(sr, cr), (sp, cp), (sy, cy)] = rpy.map(|angle| (angle * 0.5).sin_cos());
        let orientation_xyzw = [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ];
        Self {
            position,
            orientation_xyzw,
        }
    }

    /// Returns roll, pitch, yaw \[rad\]; yaw is 0 where the x axis points up or down, so that
    /// roll and yaw turn about the same axis.
    pub fn roll_pitch_yaw(&self) -> [f64; 3] {
        let [x, y, z, w] = self.orientation_xyzw;
        let sine = 2.0 * (w * y - z * x);
        if sine.abs() > 1.0 - 1e-15 {
            let pitch = std::f64::consts::FRAC_PI_2.copysign(sine);
            let roll = (2.0 * (x * y - w * z) * sine.signum()).atan2(w * w - x * x + y * y - z * z);
            return [roll, pitch, 0.0];
        }
        let roll = (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y));
        let pitch = sine.asin();
        let yaw = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
        [roll, pitch, yaw]
    }

    /// Returns `self` followed by `other`: the pose of a frame given in this frame.
    #[must_use]
    #[inline]
    pub fn then(&self, other: &Self) -> Self {
        let turned = self.rotate(other.position);
        Self {
            position: std::array::from_fn(|i| self.position[i] + turned[i]),
            orientation_xyzw: multiply(self.orientation_xyzw, other.orientation_xyzw),
        }
    }

    /// Returns the transform that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let [x, y, z, w] = self.orientation_xyzw;
        let turn = Self {
            position: [0.0; 3],
            orientation_xyzw: [-x, -y, -z, w],
        };
        let position = turn.rotate(self.position).map(|coordinate| -coordinate);
        Self { position, ..turn }
    }

    /// Returns a vector of this frame in the outer frame.
    #[inline]
    pub fn rotate(&self, vector: [f64; 3]) -> [f64; 3] {
        let [x, y, z, w] = self.orientation_xyzw;
        let axis = [x, y, z];
        let once = cross(axis, vector).map(|c| c * 2.0);
        let twice = cross(axis, once);
        std::array::from_fn(|i| vector[i] + w * once[i] + twice[i])
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn multiply(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pose_and_its_inverse_cancel() {
        let pose = Pose::from_xyz_rpy([1.0, -2.0, 3.0], [0.3, -0.7, 2.0]);
        let back = pose.then(&pose.inverse());
        assert!(back.position.iter().all(|c| c.abs() < 1e-15), "{back:?}");
        assert!((back.orientation_xyzw[3] - 1.0).abs() < 1e-15, "{back:?}");
    }

    #[test]
    fn angles_come_back() {
        let angles = [0.3, -0.7, 2.0];
        let back = Pose::from_xyz_rpy([0.0; 3], angles).roll_pitch_yaw();
        for (a, b) in angles.iter().zip(back) {
            assert!((a - b).abs() < 1e-15, "{back:?}");
        }
    }

    #[test]
    fn angles_turn_to_where_they_came_from_even_upright() {
        use std::f64::consts::FRAC_PI_2;
        for nearly in [0.0, 1e-12, 1e-8, 1e-4] {
            for pitch in [FRAC_PI_2 - nearly, nearly - FRAC_PI_2] {
                for [roll, yaw] in [[0.0, 0.0], [0.3, -2.0], [-3.0, 1.1], [2.0, 3.0]] {
                    let pose = Pose::from_xyz_rpy([0.0; 3], [roll, pitch, yaw]);
                    let back = Pose::from_xyz_rpy([0.0; 3], pose.roll_pitch_yaw());
                    for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] {
                        for (a, b) in pose.rotate(axis).iter().zip(back.rotate(axis)) {
                            assert!((a - b).abs() < 1e-7, "{roll} {pitch} {yaw}: {back:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y() {
        let turned = Pose::from_xyz_rpy([0.0; 3], [0.0, 0.0, std::f64::consts::FRAC_PI_2])
            .rotate([1.0, 0.0, 0.0]);
        assert!(
            (turned[1] - 1.0).abs() < 1e-15 && turned[0].abs() < 1e-15,
            "{turned:?}"
        );
    }
}
