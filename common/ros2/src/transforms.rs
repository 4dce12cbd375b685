//! Frames of `/tf` in messages of poses and odometry.

use messages::geometry::{Pose, PoseV};
use messages::motion::{Odometry, OdometryWithCovariance};
use messages::{Header, Message, MessageError};

use crate::convert::transform_stamped;
use crate::types::geometry_msgs::TransformStamped;

/// Kinds of messages that may have frames.
pub const KINDS: [&str; 4] = [
    Pose::KIND,
    PoseV::KIND,
    Odometry::KIND,
    OdometryWithCovariance::KIND,
];

/// Returns the frames in a message: of each pose whose header names the outer and the inner frame
/// (`frame_id`, `child_frame_id`). Names are those of Gazebo with `/` for `::`, such as
/// `robot/wheel`.
///
/// # Errors
/// Fails if the bytes are no message of the kind.
pub fn frames(kind: &str, payload: &[u8]) -> Result<Vec<TransformStamped>, MessageError> {
    let whole = Header::default();
    let mut found = match kind {
        Pose::KIND => vec![transform_stamped(&messages::decode(payload)?, &whole)],
        PoseV::KIND => {
            let PoseV { header, pose } = messages::decode(payload)?;
            let poses = pose.iter();
            poses.map(|pose| transform_stamped(pose, &header)).collect()
        }
        Odometry::KIND => {
            let odometry: Odometry = messages::decode(payload)?;
            vec![of_odometry(odometry.header, odometry.pose)]
        }
        OdometryWithCovariance::KIND => {
            let odometry: OdometryWithCovariance = messages::decode(payload)?;
            vec![of_odometry(
                odometry.header,
                odometry.pose_with_covariance.pose,
            )]
        }
        _ => Vec::new(),
    };
    found.retain(|frame| {
        let (outer, inner) = (&frame.header.frame_id, &frame.child_frame_id);
        !outer.is_empty() && !inner.is_empty() && outer != inner
    });
    Ok(found)
}

/// Returns the robot's frame in the odometry frame, which the header of the whole names.
fn of_odometry(header: Header, pose: Pose) -> TransformStamped {
    transform_stamped(&Pose { header, ..pose }, &Header::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pose(frame: &str, child: &str) -> Pose {
        let header = Header::at(1_500_000_000).with("frame_id", frame);
        Pose {
            header: header.with("child_frame_id", child),
            position: [1.0, 2.0, 3.0].into(),
            ..Pose::default()
        }
    }

    #[test]
    fn poses_with_both_frames_are_frames() {
        let poses = PoseV {
            header: Header::default(),
            pose: vec![
                pose("robot::odom", "robot::base"),
                pose("", "a"),
                pose("a", ""),
                pose("a", "a"),
            ],
        };
        let found = frames(PoseV::KIND, &messages::encode(&poses)).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].header.frame_id, "robot/odom");
        assert_eq!(found[0].child_frame_id, "robot/base");
        assert_eq!(found[0].header.stamp.nanosec, 500_000_000);
        assert_eq!(found[0].transform.translation.y, 2.0);
        assert_eq!(found[0].transform.rotation.w, 1.0);
    }

    #[test]
    fn odometry_is_the_frame_that_its_header_names() {
        let Pose {
            header, position, ..
        } = pose("odom", "base");
        let odometry = Odometry {
            header,
            pose: Pose {
                position,
                ..Pose::default()
            },
            ..Odometry::default()
        };
        let found = frames(Odometry::KIND, &messages::encode(&odometry)).unwrap();
        assert_eq!(found[0].child_frame_id, "base");
        assert_eq!(found[0].transform.translation.z, 3.0);
        assert!(frames(Odometry::KIND, b"no").is_err());
    }
}
