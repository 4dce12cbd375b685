//! Poses in frames of entities. Quaternions are xyzw, as everywhere in the protocol.

use protocol::link_poses::LinkPose;
use ros2::types::geometry_msgs::{Point, Pose, Quaternion, Vector3};

/// Deviation of a quaternion's norm from 1 that counts as rounding.
const NORM_TOLERANCE: f64 = 1e-3;

/// Returns a pose as the protocol has it, if it is one: numbers, and a quaternion of length 1.
pub(crate) fn pose_numbers(pose: &Pose) -> Option<LinkPose> {
    let (p, q) = (&pose.position, &pose.orientation);
    let numbers = [p.x, p.y, p.z, q.x, q.y, q.z, q.w];
    let norm = numbers[3..].iter().map(|one| one * one).sum::<f64>().sqrt();
    let is_pose = numbers.iter().all(|one| one.is_finite());
    if !is_pose || (norm - 1.0).abs() > NORM_TOLERANCE {
        return None;
    }
    Some(std::array::from_fn(|index| match index {
        0..3 => numbers[index],
        _ => numbers[index] / norm,
    }))
}

/// Returns a pose as ROS has it.
pub(crate) fn ros_pose(pose: &LinkPose) -> Pose {
    let [x, y, z, qx, qy, qz, qw] = *pose;
    Pose {
        position: Point { x, y, z },
        orientation: Quaternion {
            x: qx,
            y: qy,
            z: qz,
            w: qw,
        },
    }
}

/// Returns a vector as ROS has it.
pub(crate) fn ros_vector([x, y, z]: [f64; 3]) -> Vector3 {
    Vector3 { x, y, z }
}

/// Returns the world pose of something whose pose in a frame is known.
pub(crate) fn out_of(frame: &LinkPose, inner: &LinkPose) -> LinkPose {
    let turned = rotated(orientation(frame), position(inner));
    let moved = std::array::from_fn(|axis| frame[axis] + turned[axis]);
    joined(moved, product(orientation(frame), orientation(inner)))
}

/// Returns the pose in a frame of something whose world pose is known.
pub(crate) fn into(frame: &LinkPose, outer: &LinkPose) -> LinkPose {
    let inverse = conjugate(orientation(frame));
    let offset = std::array::from_fn(|axis| outer[axis] - frame[axis]);
    joined(
        rotated(inverse, offset),
        product(inverse, orientation(outer)),
    )
}

/// Returns a vector of the world as a frame sees it.
pub(crate) fn seen_from(frame: &LinkPose, vector: [f64; 3]) -> [f64; 3] {
    rotated(conjugate(orientation(frame)), vector)
}

/// Returns a vector that a frame sees as the world does.
pub(crate) fn told_by(frame: &LinkPose, vector: [f64; 3]) -> [f64; 3] {
    rotated(orientation(frame), vector)
}

fn position(pose: &LinkPose) -> [f64; 3] {
    [pose[0], pose[1], pose[2]]
}

fn orientation(pose: &LinkPose) -> [f64; 4] {
    [pose[3], pose[4], pose[5], pose[6]]
}

fn joined([x, y, z]: [f64; 3], [qx, qy, qz, qw]: [f64; 4]) -> LinkPose {
    [x, y, z, qx, qy, qz, qw]
}

fn conjugate([x, y, z, w]: [f64; 4]) -> [f64; 4] {
    [-x, -y, -z, w]
}

fn product([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn rotated(by: [f64; 4], [x, y, z]: [f64; 3]) -> [f64; 3] {
    let [x, y, z, _] = product(product(by, [x, y, z, 0.0]), conjugate(by));
    [x, y, z]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quarter turn about z at (1, 0, 0).
    const TURNED: LinkPose = [
        1.0,
        0.0,
        0.0,
        0.0,
        0.0,
        std::f64::consts::FRAC_1_SQRT_2,
        std::f64::consts::FRAC_1_SQRT_2,
    ];

    fn near(found: &[f64], expected: &[f64]) {
        let are_near = found
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(are_near, "{found:?} {expected:?}");
    }

    #[test]
    fn a_pose_goes_into_a_frame_and_out_again() {
        let inner = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let outer = out_of(&TURNED, &inner);
        near(&outer[..3], &[1.0, 2.0, 0.0]);
        near(&into(&TURNED, &outer), &inner);
        near(&seen_from(&TURNED, [0.0, 3.0, 0.0]), &[3.0, 0.0, 0.0]);
        near(&told_by(&TURNED, [3.0, 0.0, 0.0]), &[0.0, 3.0, 0.0]);
    }

    #[test]
    fn only_unit_quaternions_are_orientations() {
        let mut pose = ros_pose(&TURNED);
        assert!(pose_numbers(&pose).is_some());
        pose.orientation = Quaternion::default();
        assert_eq!(pose_numbers(&pose), None);
        let mut pose = ros_pose(&TURNED);
        pose.position.x = f64::NAN;
        assert_eq!(pose_numbers(&pose), None);
    }
}
