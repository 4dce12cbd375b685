//! Angles of poses by libm, whose bits are the same on every machine.

use std::f64::consts::PI;

use sdf::{Content, Pose};

/// Returns the yaw of an orientation x, y, z, w \[rad\].
pub(super) fn yaw([x, y, z, w]: [f64; 4]) -> f64 {
    libm::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
}

/// Returns an angle that differs by less than two turns from one in -pi to pi as that one \[rad\].
pub(super) fn normalized(angle: f64) -> f64 {
    if angle > PI {
        angle - 2.0 * PI
    } else if angle < -PI {
        angle + 2.0 * PI
    } else {
        angle
    }
}

/// Returns the pose that a `<pose>` element says; `None` when it says none.
pub(super) fn pose_of(element: &Content) -> Option<Pose> {
    let text = element.text();
    if text.trim().is_empty() {
        return Some(Pose::IDENTITY);
    }
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let numbers = numbers.ok()?;
    if !numbers.iter().all(|number| number.is_finite()) {
        return None;
    }
    let position = std::array::from_fn(|axis| *numbers.get(axis).unwrap_or(&0.0));
    if element.attribute("rotation_format") == Some("quat_xyzw") {
        let parts: [f64; 4] = numbers.get(3..7)?.try_into().ok()?;
        return turned(position, parts).filter(|_| numbers.len() == 7);
    }
    let degree = match element.attribute("degrees") {
        Some("true" | "1") => PI / 180.0,
        _ => 1.0,
    };
    let angles: [f64; 3] = numbers.get(3..6)?.try_into().ok()?;
    let [(sr, cr), (sp, cp), (sy, cy)] = angles.map(|angle| libm::sincos(angle * degree * 0.5));
    let parts = [
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    ];
    turned(position, parts).filter(|_| numbers.len() == 6)
}

fn turned(position: [f64; 3], parts: [f64; 4]) -> Option<Pose> {
    let norm = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    (norm > 0.0).then(|| Pose {
        position,
        orientation_xyzw: parts.map(|part| part / norm),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(text: &str) -> Content {
        Content {
            name: "pose".into(),
            nodes: vec![sdf::ContentNode::Text(text.into())],
            ..Content::default()
        }
    }

    #[test]
    fn a_pose_is_read_as_sdf_reads_it() {
        let read = pose_of(&element("1 2 3 0.3 -0.2 1.5")).unwrap();
        let expected = Pose::from_xyz_rpy([1.0, 2.0, 3.0], [0.3, -0.2, 1.5]);
        assert_eq!(read.position, expected.position);
        for (part, other) in read.orientation_xyzw.iter().zip(expected.orientation_xyzw) {
            assert!((part - other).abs() < 1e-15);
        }
        assert!((yaw(read.orientation_xyzw) - 1.5).abs() < 1e-12);
        assert!(pose_of(&element("1 2 x 0 0 0")).is_none());
        assert!(pose_of(&element("1 2 3")).is_none());
    }
}
