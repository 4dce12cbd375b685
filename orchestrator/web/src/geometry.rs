//! Products of poses: a position xyz \[m\] and an orientation as a unit quaternion xyzw.

use protocol::LinkPose;

/// The pose that changes nothing.
pub(crate) const IDENTITY: LinkPose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// Makes a pose of a position and an orientation.
pub(crate) fn pose(position: [f64; 3], orientation_xyzw: [f64; 4]) -> LinkPose {
    let ([x, y, z], [qx, qy, qz, qw]) = (position, orientation_xyzw);
    [x, y, z, qx, qy, qz, qw]
}

/// Returns a pose that is given in the frame of another, in that one's frame.
pub(crate) fn compose(outer: &LinkPose, inner: &LinkPose) -> LinkPose {
    let turn = orientation(outer);
    let moved = rotate(turn, position(inner));
    let [x, y, z] = position(outer);
    let at = [x + moved[0], y + moved[1], z + moved[2]];
    pose(at, multiply(turn, orientation(inner)))
}

/// Returns a pose in the frame of another, both being in one frame.
pub(crate) fn relative(outer: &LinkPose, pose_in_world: &LinkPose) -> LinkPose {
    let [qx, qy, qz, qw] = orientation(outer);
    let back = [-qx, -qy, -qz, qw];
    let (from, to) = (position(outer), position(pose_in_world));
    let way = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
    pose(
        rotate(back, way),
        multiply(back, orientation(pose_in_world)),
    )
}

/// Returns the position of a pose \[m\].
pub(crate) fn position(pose: &LinkPose) -> [f64; 3] {
    [pose[0], pose[1], pose[2]]
}

/// Returns the orientation of a pose, xyzw.
pub(crate) fn orientation(pose: &LinkPose) -> [f64; 4] {
    [pose[3], pose[4], pose[5], pose[6]]
}

fn rotate([qx, qy, qz, qw]: [f64; 4], [x, y, z]: [f64; 3]) -> [f64; 3] {
    // v + 2 q_w (q x v) + 2 q x (q x v)
    let cross = [
        2.0 * (qy * z - qz * y),
        2.0 * (qz * x - qx * z),
        2.0 * (qx * y - qy * x),
    ];
    [
        x + qw * cross[0] + qy * cross[2] - qz * cross[1],
        y + qw * cross[1] + qz * cross[0] - qx * cross[2],
        z + qw * cross[2] + qx * cross[1] - qy * cross[0],
    ]
}

fn multiply([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
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
    fn a_pose_taken_into_a_frame_and_out_of_it_is_the_same() {
        let half = 0.5_f64.sqrt();
        let outer = [1.0, 2.0, 3.0, 0.0, 0.0, half, half];
        let inner = [1.0, 0.0, 0.5, half, 0.0, 0.0, half];
        let world = compose(&outer, &inner);
        // A quarter turn about z takes x to y.
        let expected = [1.0, 3.0, 3.5];
        for (one, other) in position(&world).into_iter().zip(expected) {
            assert!((one - other).abs() < 1e-12, "{world:?}");
        }
        for (one, other) in relative(&outer, &world).into_iter().zip(inner) {
            assert!((one - other).abs() < 1e-12, "{world:?}");
        }
    }
}
