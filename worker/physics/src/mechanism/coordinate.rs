//! [`Coordinate`]: the position of a joint along or about one axis, counted over turns.

use std::f64::consts::{PI, TAU};

use rapier3d_f64::dynamics::{RigidBodyHandle, RigidBodySet};
use rapier3d_f64::math::{Pose, Rotation, Vector};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The position of a joint along or about one axis \[m or rad\], 0 in the initial configuration.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Coordinate {
    /// Parent and child.
    pub(in super::super) bodies: [RigidBodyHandle; 2],
    /// The joint's frame on each; they coincide at position 0.
    pub(super) frames: [Pose; 2],
    kind: Kind,
    /// As it was when last measured.
    pub(super) position: f64,
}

/// Of what a coordinate is the position.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(in super::super) enum Kind {
    /// Turning about the x axis of the frames.
    Turn,
    /// Sliding along the x axis of the parent's frame.
    Slide,
    /// Turning about one of two axes.
    OneOfTwo(TwoAxes, Which),
}

/// One of two axes.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) enum Which {
    /// The one that the parent carries.
    First,
    /// The one that the child carries.
    Second,
}

/// Two axes in series, as unit vectors in the joint's frame.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct TwoAxes {
    /// Carried by the parent.
    pub(in super::super) first: Vector,
    /// Carried by the child.
    pub(in super::super) second: Vector,
}

/// How a body's velocity changes a coordinate: the factors of the velocity of its centre of mass
/// and of its angular velocity, world frame.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Twist {
    pub(in super::super) linear: Vector,
    pub(in super::super) angular: Vector,
}

/// How the velocities of several bodies change a coordinate; most have two.
pub(in super::super) type Twists = SmallVec<[(RigidBodyHandle, Twist); 2]>;

impl Coordinate {
    /// Makes a coordinate at position 0.
    pub(in super::super) fn new(
        bodies: [RigidBodyHandle; 2],
        frames: [Pose; 2],
        kind: Kind,
    ) -> Self {
        Self {
            bodies,
            frames,
            kind,
            position: 0.0,
        }
    }

    /// Returns its child.
    pub(in super::super) fn child(&self) -> RigidBodyHandle {
        self.bodies[1]
    }

    /// Returns the position when last measured.
    pub(in super::super) fn position(&self) -> f64 {
        self.position
    }

    /// Says what the position is, since it was set from outside and not reached by turning.
    pub(in super::super) fn set_position(&mut self, position: f64) {
        self.position = position;
    }

    /// Tells whether another one is the position of the same axis.
    pub(in super::super) fn is_same(&self, other: &Self) -> bool {
        self.bodies == other.bodies && self.frames == other.frames && self.kind == other.kind
    }

    /// Measures the position, and counts turns: it never jumps, whichever way the joint goes.
    pub(in super::super) fn measure(&mut self, bodies: &RigidBodySet) {
        self.position = self.position_at(bodies);
    }

    /// Returns the position that it has now: not more than half a turn from where it was measured.
    pub(in super::super) fn position_at(&self, bodies: &RigidBodySet) -> f64 {
        let frames = self.frames_in_world(bodies);
        let angle = match self.kind {
            Kind::Slide => {
                let offset = frames[1].translation - frames[0].translation;
                return offset.dot(frames[0].rotation * Vector::X);
            }
            Kind::Turn => {
                let turn = frames[0].rotation.inverse() * frames[1].rotation;
                2.0 * libm::atan2(turn.x, turn.w)
            }
            Kind::OneOfTwo(axes, which) => {
                let turn = frames[0].rotation.inverse() * frames[1].rotation;
                match which {
                    Which::First => angle_about(axes.first, axes.second, turn * axes.second),
                    Which::Second => {
                        -angle_about(axes.second, axes.first, turn.inverse() * axes.first)
                    }
                }
            }
        };
        self.position + wrapped(angle - self.position)
    }

    /// Returns the joint's frame on parent and child, world frame.
    pub(super) fn frames_in_world(&self, bodies: &RigidBodySet) -> [Pose; 2] {
        [0, 1].map(|side| bodies[self.bodies[side]].position() * self.frames[side])
    }

    /// Returns how the velocities of parent and child change the position.
    pub(super) fn jacobian(&self, bodies: &RigidBodySet) -> [Twist; 2] {
        let frames = self.frames_in_world(bodies);
        match self.kind {
            Kind::Turn => Twist::turning(frames[0].rotation * Vector::X),
            Kind::Slide => {
                let axis = frames[0].rotation * Vector::X;
                let point = frames[1].translation;
                [(0, -1.0), (1, 1.0)].map(|(side, sign)| {
                    let arm = point - bodies[self.bodies[side]].center_of_mass();
                    Twist {
                        linear: axis * sign,
                        angular: arm.cross(axis) * sign,
                    }
                })
            }
            Kind::OneOfTwo(axes, which) => Twist::turning(reciprocal(axes, which, frames)),
        }
    }

    /// Returns how the velocities of both bodies, times a factor, change the position.
    pub(super) fn twists(&self, bodies: &RigidBodySet, factor: f64) -> Twists {
        let twists = self.jacobian(bodies).map(|twist| Twist {
            linear: twist.linear * factor,
            angular: twist.angular * factor,
        });
        self.bodies.into_iter().zip(twists).collect()
    }

    /// Returns the rate of the position \[m/s or rad/s\].
    pub(in super::super) fn rate(&self, bodies: &RigidBodySet) -> f64 {
        let jacobian = self.jacobian(bodies);
        let rates = [0, 1].map(|side| {
            let body = &bodies[self.bodies[side]];
            jacobian[side].linear.dot(body.linvel()) + jacobian[side].angular.dot(body.angvel())
        });
        rates[0] + rates[1]
    }

    /// Tells whether neither of its bodies moves before something wakes them.
    pub(super) fn is_at_rest(&self, bodies: &RigidBodySet) -> bool {
        self.bodies.iter().all(|handle| {
            let body = &bodies[*handle];
            !body.is_dynamic_or_kinematic() || body.is_sleeping()
        })
    }
}

impl Twist {
    fn turning(axis: Vector) -> [Self; 2] {
        [-axis, axis].map(|angular| Self {
            linear: Vector::ZERO,
            angular,
        })
    }
}

/// Returns the vector whose product with the relative angular velocity is the rate about one of two
/// axes: it is at right angles to the other axis, and of length 1 when the two are at right angles.
pub(super) fn reciprocal(axes: TwoAxes, which: Which, frames: [Pose; 2]) -> Vector {
    let first = frames[0].rotation * axes.first;
    let second = frames[1].rotation * axes.second;
    let cosine = first.dot(second);
    let square_sine = (1.0 - cosine * cosine).max(f64::EPSILON);
    match which {
        Which::First => (first - second * cosine) / square_sine,
        Which::Second => (second - first * cosine) / square_sine,
    }
}

/// Returns the angle by which one vector must turn about an axis to point where another does.
fn angle_about(axis: Vector, from: Vector, to: Vector) -> f64 {
    let from = from - axis * axis.dot(from);
    let to = to - axis * axis.dot(to);
    libm::atan2(axis.dot(from.cross(to)), from.dot(to))
}

/// Returns an angle with whole turns taken away, between -pi and pi.
fn wrapped(angle: f64) -> f64 {
    let turns = ((angle + PI) / TAU).floor();
    angle - turns * TAU
}

/// Returns a rotation whose x axis has a direction.
pub(in super::super) fn frame_along(direction: Vector) -> Rotation {
    Rotation::from_rotation_arc(Vector::X, direction.normalize_or(Vector::Z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_wrap_into_half_a_turn_either_way() {
        for (angle, expected) in [
            (0.0, 0.0),
            (3.5, 3.5 - TAU),
            (-3.5, TAU - 3.5),
            (7.0, 7.0 - TAU),
        ] {
            assert!((wrapped(angle) - expected).abs() < 1e-12, "{angle}");
        }
    }

    #[test]
    fn the_angle_between_two_vectors_is_counted_about_the_axis() {
        let (axis, from) = (Vector::Z, Vector::X);
        for angle in [-3.0, -1.0, 0.0, 0.5, 3.0] {
            let to = Rotation::from_axis_angle(axis, angle) * (from + Vector::Z);
            assert!(
                (angle_about(axis, from, to) - angle).abs() < 1e-12,
                "{angle}"
            );
        }
    }
}
