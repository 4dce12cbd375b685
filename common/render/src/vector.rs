//! Vectors and poses, in doubles where places are, in single precision where light is.

use scene::Pose;

pub(crate) type Vector = [f64; 3];

pub(crate) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn subtract(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn scale(a: Vector, factor: f64) -> Vector {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

pub(crate) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// Returns a vector of length 1, or another one where it has no direction.
pub(crate) fn unit_or(a: Vector, otherwise: Vector) -> Vector {
    let length = length(a);
    if length > 0.0 && length.is_finite() {
        scale(a, 1.0 / length)
    } else {
        otherwise
    }
}

/// Turns a vector of a frame into the frame around it.
pub(crate) fn rotate(pose: &Pose, vector: Vector) -> Vector {
    let axis = [pose[3], pose[4], pose[5]];
    let once = scale(cross(axis, vector), 2.0);
    let twice = cross(axis, once);
    add(add(vector, scale(once, pose[6])), twice)
}

/// Returns where a place in a frame is in the frame around it.
pub(crate) fn place(pose: &Pose, position: Vector) -> Vector {
    add([pose[0], pose[1], pose[2]], rotate(pose, position))
}

/// Returns the pose of a frame that is given in another.
pub(crate) fn then(outer: &Pose, inner: &Pose) -> Pose {
    let [x, y, z] = place(outer, [inner[0], inner[1], inner[2]]);
    let [ax, ay, az, aw] = [outer[3], outer[4], outer[5], outer[6]];
    let [bx, by, bz, bw] = [inner[3], inner[4], inner[5], inner[6]];
    [
        x,
        y,
        z,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}
