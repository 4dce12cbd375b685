//! Vectors and turns as sensors need them; the same bits on every machine.

use sdf::Pose;

pub(super) fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

pub(super) fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

pub(super) fn scale(a: [f64; 3], factor: f64) -> [f64; 3] {
    a.map(|part| part * factor)
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Returns a vector of the outer frame in the frame of a pose.
pub(super) fn into_frame(pose: &Pose, vector: [f64; 3]) -> [f64; 3] {
    turn(pose.orientation_xyzw).inverse().rotate(vector)
}

/// Returns the turn of an orientation, without displacement.
pub(super) fn turn(orientation_xyzw: [f64; 4]) -> Pose {
    Pose {
        position: [0.0; 3],
        orientation_xyzw,
    }
}

/// Returns the turn by roll, pitch, yaw \[rad\], in SDF's order.
pub(super) fn turn_by([roll, pitch, yaw]: [f64; 3]) -> Pose {
    let about = |axis: usize, angle: f64| {
        let (sine, cosine) = libm::sincos(angle / 2.0);
        let mut orientation = [0.0, 0.0, 0.0, cosine];
        orientation[axis] = sine;
        turn(orientation)
    };
    about(2, yaw).then(&about(1, pitch)).then(&about(0, roll))
}

/// Returns the turn halfway between two that are less than half a turn apart.
pub(super) fn halfway(from: &Pose, to: &Pose) -> Pose {
    let (a, b) = (from.orientation_xyzw, to.orientation_xyzw);
    let dot: f64 = (0..4).map(|part| a[part] * b[part]).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let sum: [f64; 4] = std::array::from_fn(|part| a[part] + sign * b[part]);
    let norm = sum.iter().map(|part| part * part).sum::<f64>().sqrt();
    turn(sum.map(|part| part / norm))
}

/// Returns a pose as messages have it.
pub(super) fn pose_message(pose: &Pose) -> messages::Pose {
    messages::Pose {
        position: pose.position.into(),
        orientation: messages::Quaternion::from_xyzw(pose.orientation_xyzw),
        ..messages::Pose::default()
    }
}
