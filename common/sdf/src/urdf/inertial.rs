//! `<inertial>`: mass and moments of a link, and the sum of two links that are one body.

use super::{number, origin};
use crate::pose::Pose;
use crate::problem::Problem;
use crate::tree::Element;

/// Mass and moments of inertia.
#[derive(Clone, Debug)]
pub(super) struct Inertial {
    /// Centre of mass and axes of the moments, link frame.
    pub(super) origin: Pose,
    /// Mass \[kg\].
    pub(super) mass: f64,
    /// Moments about the centre of mass along the axes of `origin` \[kg m^2\].
    pub(super) moments: [[f64; 3]; 3],
}

impl Default for Inertial {
    fn default() -> Self {
        Self {
            origin: Pose::IDENTITY,
            mass: 0.0,
            moments: [[0.0; 3]; 3],
        }
    }
}

impl Inertial {
    /// Fills in what an `<inertial>` says, up to its first mistake.
    pub(super) fn fill(&mut self, element: &Element) -> Result<(), Problem> {
        self.origin = origin::read(element)?;
        let part = |name| {
            let missing = || element.problem(number::UNREADABLE, format!("<{name}> is missing"));
            element.child(name).ok_or_else(missing)
        };
        self.mass = number::required(part("mass")?, "value")?;
        let inertia = part("inertia")?;
        let mut moments = [[0.0; 3]; 3];
        for (row, column, name) in [
            (0, 0, "ixx"),
            (0, 1, "ixy"),
            (0, 2, "ixz"),
            (1, 1, "iyy"),
            (1, 2, "iyz"),
            (2, 2, "izz"),
        ] {
            moments[row][column] = number::required(inertia, name)?;
            moments[column][row] = moments[row][column];
        }
        self.moments = moments;
        Ok(())
    }

    /// Adds another link's mass and moments; `pose` is that link in this one's frame. The axes of
    /// the moments stay.
    pub(super) fn add(&mut self, other: &Self, pose: &Pose) {
        let pose = through_angles(pose);
        let mine = through_angles(&self.origin);
        let theirs = pose.then(&through_angles(&other.origin));
        let mass = self.mass + other.mass;
        // As in Gazebo's mathematics: what weighs nothing together stays as it is.
        if mass <= 0.0 {
            return;
        }
        let center: [f64; 3] = std::array::from_fn(|i| {
            (self.mass * mine.position[i] + other.mass * theirs.position[i]) / mass
        });
        let mut sum = [[0.0; 3]; 3];
        for (part, at) in [(&*self, &mine), (other, &theirs)] {
            let turned = turn(&part.moments, at);
            let arm: [f64; 3] = std::array::from_fn(|i| at.position[i] - center[i]);
            let square: f64 = arm.iter().map(|length| length * length).sum();
            for row in 0..3 {
                for column in 0..3 {
                    let same = if row == column { square } else { 0.0 };
                    sum[row][column] +=
                        turned[row][column] + part.mass * (same - arm[row] * arm[column]);
                }
            }
        }
        self.mass = mass;
        self.origin.position = center;
        self.moments = turn(&sum, &mine.inverse());
    }
}

fn through_angles(pose: &Pose) -> Pose {
    Pose::from_xyz_rpy(pose.position, origin::angles(pose))
}

/// Returns moments along the axes of the outer frame.
fn turn(moments: &[[f64; 3]; 3], pose: &Pose) -> [[f64; 3]; 3] {
    let transposed = |m: [[f64; 3]; 3]| std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]));
    let half = moments.map(|row| pose.rotate(row));
    transposed(half).map(|row: [f64; 3]| pose.rotate(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_point_masses_have_the_moments_of_a_dumbbell() {
        let point = Inertial {
            mass: 2.0,
            ..Inertial::default()
        };
        let mut sum = point.clone();
        sum.add(
            &point,
            &Pose::from_xyz_rpy([4.0, 0.0, 0.0], [0.3, 0.2, 0.1]),
        );
        assert_eq!(sum.mass, 4.0);
        assert_eq!(sum.origin.position, [2.0, 0.0, 0.0]);
        let expect = [0.0, 16.0, 16.0];
        for (axis, moment) in expect.iter().enumerate() {
            assert!((sum.moments[axis][axis] - moment).abs() < 1e-12, "{sum:?}");
        }
    }

    #[test]
    fn moments_turn_with_their_body() {
        let quarter = Pose::from_xyz_rpy([0.0; 3], [0.0, 0.0, std::f64::consts::FRAC_PI_2]);
        let moments = [[1.0, 0.5, 0.0], [0.5, 2.0, 0.0], [0.0, 0.0, 3.0]];
        let turned = turn(&moments, &quarter);
        assert!((turned[0][0] - 2.0).abs() < 1e-12, "{turned:?}");
        assert!((turned[0][1] + 0.5).abs() < 1e-12, "{turned:?}");
    }
}
