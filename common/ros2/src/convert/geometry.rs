//! Vectors, orientations, poses, twists and wrenches.

use messages::basic::Header;
use messages::geometry::{Pose, PoseV, Quaternion, Vector3d};
use messages::motion::{FloatV, PoseWithCovariance, Twist, TwistWithCovariance, Wrench};
use messages::state::Wind;

use super::converts;
use super::header::{add, frame, gazebo_header, header, value};
use crate::types::{geometry_msgs as ros, std_msgs, tf2_msgs};

/// The key of the frame of which a header's message says the place.
pub(crate) const CHILD_FRAME: &str = "child_frame_id";

converts! {
    Vector3d, ros::Vector3: |message| vector(&message), |back| gazebo_vector(&back);
    Vector3d, ros::Point: |message| point(&message), |back| gazebo_point(&back);
    Vector3d, ros::Vector3Stamped:
        |message| Self { vector: vector(&message), header: header(&message.header) },
        |back| Vector3d { header: gazebo_header(back.header), ..gazebo_vector(&back.vector) };
    Vector3d, ros::PointStamped:
        |message| Self { point: point(&message), header: header(&message.header) },
        |back| Vector3d { header: gazebo_header(back.header), ..gazebo_point(&back.point) };
    Quaternion, ros::Quaternion: |message| quaternion(&message), |back| gazebo_quaternion(&back);
    Pose, ros::Pose: |message| pose(&message), |back| gazebo_pose(&back, Header::default());
    Pose, ros::PoseStamped:
        |message| Self { pose: pose(&message), header: header(&message.header) },
        |back| gazebo_pose(&back.pose, gazebo_header(back.header));
    Pose, ros::Transform:
        |message| transform(&message), |back| gazebo_transform(&back, Header::default());
    Pose, ros::TransformStamped:
        |message| transform_stamped(&message, &Header::default()),
        |back| gazebo_transform_stamped(back);
    PoseV, ros::PoseArray: |message| Self {
            header: header(&message.header),
            poses: message.pose.iter().map(pose).collect(),
        },
        |back| {
            let poses = back.poses.iter();
            PoseV {
                pose: poses.map(|pose| gazebo_pose(pose, Header::default())).collect(),
                header: gazebo_header(back.header),
            }
        };
    PoseV, tf2_msgs::TFMessage: |message| {
            let poses = message.pose.iter();
            let transforms = poses.map(|pose| transform_stamped(pose, &message.header));
            Self { transforms: transforms.collect() }
        },
        |back| PoseV {
            header: Header::default(),
            pose: back.transforms.into_iter().map(gazebo_transform_stamped).collect(),
        };
    PoseWithCovariance, ros::PoseWithCovariance:
        |message| pose_with_covariance(&message),
        |back| gazebo_pose_with_covariance(&back, Header::default());
    PoseWithCovariance, ros::PoseWithCovarianceStamped: |message| Self {
            header: header(&message.pose.header),
            pose: pose_with_covariance(&message),
        },
        |back| gazebo_pose_with_covariance(&back.pose, gazebo_header(back.header));
    Twist, ros::Twist: |message| twist(&message), |back| gazebo_twist(&back, Header::default());
    Twist, ros::TwistStamped:
        |message| Self { header: header(&message.header), twist: twist(&message) },
        |back| gazebo_twist(&back.twist, gazebo_header(back.header));
    TwistWithCovariance, ros::TwistWithCovariance:
        |message| twist_with_covariance(&message),
        |back| gazebo_twist_with_covariance(&back, Header::default());
    TwistWithCovariance, ros::TwistWithCovarianceStamped: |message| Self {
            header: header(&message.header),
            twist: twist_with_covariance(&message),
        },
        |back| gazebo_twist_with_covariance(&back.twist, gazebo_header(back.header));
    Wrench, ros::Wrench: |message| wrench(&message), |back| gazebo_wrench(&back, Header::default());
    Wrench, ros::WrenchStamped:
        |message| Self { header: header(&message.header), wrench: wrench(&message) },
        |back| gazebo_wrench(&back.wrench, gazebo_header(back.header));
    // Wind that is told blows.
    Wind, ros::Vector3: |message| vector(&message.linear_velocity),
        |back| Wind {
            linear_velocity: gazebo_vector(&back),
            enable_wind: true,
            ..Wind::default()
        };
}

pub(crate) fn vector(from: &Vector3d) -> ros::Vector3 {
    let [x, y, z] = from.into();
    ros::Vector3 { x, y, z }
}

pub(crate) fn point(from: &Vector3d) -> ros::Point {
    let [x, y, z] = from.into();
    ros::Point { x, y, z }
}

pub(crate) fn quaternion(from: &Quaternion) -> ros::Quaternion {
    let [x, y, z, w] = from.xyzw();
    ros::Quaternion { x, y, z, w }
}

pub(crate) fn pose(from: &Pose) -> ros::Pose {
    ros::Pose {
        position: point(&from.position),
        orientation: quaternion(&from.orientation),
    }
}

pub(crate) fn transform(from: &Pose) -> ros::Transform {
    ros::Transform {
        translation: vector(&from.position),
        rotation: quaternion(&from.orientation),
    }
}

/// Returns a pose as a transform; the stamp is that of the whole message where it has none.
pub(crate) fn transform_stamped(from: &Pose, whole: &Header) -> ros::TransformStamped {
    let own = header(&from.header);
    let has_stamp = from.header.stamp != messages::Time::default();
    let stamp = if has_stamp {
        own.stamp
    } else {
        header(whole).stamp
    };
    ros::TransformStamped {
        header: std_msgs::Header { stamp, ..own },
        child_frame_id: value(&from.header, CHILD_FRAME)
            .map(frame)
            .unwrap_or_default(),
        transform: transform(from),
    }
}

pub(crate) fn pose_with_covariance(from: &PoseWithCovariance) -> ros::PoseWithCovariance {
    ros::PoseWithCovariance {
        pose: pose(&from.pose),
        covariance: covariance(&from.covariance),
    }
}

pub(crate) fn twist(from: &Twist) -> ros::Twist {
    ros::Twist {
        linear: vector(&from.linear),
        angular: vector(&from.angular),
    }
}

pub(crate) fn twist_with_covariance(from: &TwistWithCovariance) -> ros::TwistWithCovariance {
    ros::TwistWithCovariance {
        twist: twist(&from.twist),
        covariance: covariance(&from.covariance),
    }
}

pub(crate) fn wrench(from: &Wrench) -> ros::Wrench {
    ros::Wrench {
        force: vector(&from.force),
        torque: vector(&from.torque),
    }
}

/// Returns a matrix of 6 x 6; zeros, which mean that it is unknown, for one of another size.
fn covariance(from: &FloatV) -> [f64; 36] {
    let numbers = <[f32; 36]>::try_from(from.data.as_slice());
    numbers.map_or([0.0; 36], |numbers| numbers.map(f64::from))
}

pub(crate) fn gazebo_vector(from: &ros::Vector3) -> Vector3d {
    [from.x, from.y, from.z].into()
}

pub(crate) fn gazebo_point(from: &ros::Point) -> Vector3d {
    [from.x, from.y, from.z].into()
}

pub(crate) fn gazebo_quaternion(from: &ros::Quaternion) -> Quaternion {
    Quaternion::from_xyzw([from.x, from.y, from.z, from.w])
}

pub(crate) fn gazebo_pose(from: &ros::Pose, header: Header) -> Pose {
    Pose {
        header,
        position: gazebo_point(&from.position),
        orientation: gazebo_quaternion(&from.orientation),
        ..Pose::default()
    }
}

fn gazebo_transform(from: &ros::Transform, header: Header) -> Pose {
    Pose {
        header,
        position: gazebo_vector(&from.translation),
        orientation: gazebo_quaternion(&from.rotation),
        ..Pose::default()
    }
}

fn gazebo_transform_stamped(from: ros::TransformStamped) -> Pose {
    let mut header = gazebo_header(from.header);
    let name = from.child_frame_id.clone();
    add(&mut header, CHILD_FRAME, from.child_frame_id);
    Pose {
        name,
        ..gazebo_transform(&from.transform, header)
    }
}

pub(crate) fn gazebo_pose_with_covariance(
    from: &ros::PoseWithCovariance,
    header: Header,
) -> PoseWithCovariance {
    PoseWithCovariance {
        pose: gazebo_pose(&from.pose, header),
        covariance: gazebo_covariance(&from.covariance),
    }
}

pub(crate) fn gazebo_twist(from: &ros::Twist, header: Header) -> Twist {
    Twist {
        header,
        linear: gazebo_vector(&from.linear),
        angular: gazebo_vector(&from.angular),
    }
}

pub(crate) fn gazebo_twist_with_covariance(
    from: &ros::TwistWithCovariance,
    header: Header,
) -> TwistWithCovariance {
    TwistWithCovariance {
        header,
        twist: gazebo_twist(&from.twist, Header::default()),
        covariance: gazebo_covariance(&from.covariance),
    }
}

pub(crate) fn gazebo_wrench(from: &ros::Wrench, header: Header) -> Wrench {
    Wrench {
        header,
        force: gazebo_vector(&from.force),
        torque: gazebo_vector(&from.torque),
        ..Wrench::default()
    }
}

fn gazebo_covariance(from: &[f64; 36]) -> FloatV {
    FloatV {
        data: from.iter().map(|number| *number as f32).collect(),
        ..FloatV::default()
    }
}
