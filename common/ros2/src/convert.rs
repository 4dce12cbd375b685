//! Conversions between kinds of `messages` and types of ROS, as `ros_gz_bridge` does them.
//!
//! [`PAIRS`] is the table. The first type of a kind is the one that a topic has unless a rule names
//! another; the first kind of a type is the one that bytes of ROS become unless another is asked
//! for. Frames lose Gazebo's `::`, since ROS separates the parts of a name by `/`.

mod gazebo;
mod geometry;
mod header;
mod motion;
mod sensor;
mod single;
mod vision;

use messages::{Message, MessageError, basic, command, geometry as gz, motion as move_, state};

use crate::cdr::{CdrError, from_cdr, to_cdr};
use crate::schema::{RosMessage, Type};
use crate::types::{
    actuator_msgs, builtin_interfaces, geometry_msgs, nav_msgs, ros_gz_interfaces, rosgraph_msgs,
    sensor_msgs, std_msgs, tf2_msgs, trajectory_msgs, vision_msgs,
};

/// A message that has no counterpart on the other side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Pixels of the image have no name there.
    #[error("the other side has no name for pixels in the format {format:?}")]
    Pixels {
        /// The format.
        format: String,
    },
    /// The class of a detection is no label.
    #[error("class {class_id:?} is no label, which is a whole number from 0 on")]
    Label {
        /// The class.
        class_id: String,
    },
    /// The other side has no message that could be made of it.
    #[error("it is only sent and never received")]
    OneWay,
}

/// A message that cannot be told to ROS.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// No type of this name goes with the kind.
    #[error("{kind} is not sent as {type_name}; {}", types_of(kind))]
    NoPair {
        /// The kind.
        kind: String,
        /// Name of the type.
        type_name: String,
    },
    /// The bytes are no such message.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The message has no counterpart.
    #[error("a {kind} cannot be sent as {type_name}: {reason}")]
    Unfit {
        /// The kind.
        kind: String,
        /// Name of the type.
        type_name: String,
        /// Why it has none.
        reason: Unfit,
    },
}

/// Bytes of ROS from which no message of a run can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No kind goes with the type.
    #[error("no message of a run is made of {type_name}")]
    UnknownType {
        /// Name of the type.
        type_name: String,
    },
    /// Another kind is wanted than goes with the type.
    #[error("no {kind} is made of {type_name}; {}", types_of(kind))]
    NoPair {
        /// The kind.
        kind: String,
        /// Name of the type.
        type_name: String,
    },
    /// The bytes are no message of the type.
    #[error("the bytes are no {type_name}: {reason}")]
    Bytes {
        /// Name of the type.
        type_name: String,
        /// Their fault.
        reason: CdrError,
    },
    /// The message has no counterpart.
    #[error("no {kind} can be made of this {type_name}: {reason}")]
    Unfit {
        /// The kind.
        kind: String,
        /// Name of the type.
        type_name: String,
        /// Why it has none.
        reason: Unfit,
    },
}

/// A kind of message with a type of ROS that says the same.
#[derive(Debug)]
pub struct Pair {
    /// The kind: `gz.msgs.Twist`.
    pub kind: &'static str,
    /// The type.
    pub ros_type: &'static Type,
    encode: fn(&[u8]) -> Result<Vec<u8>, PairError>,
    decode: fn(&[u8]) -> Result<Vec<u8>, PairError>,
    /// True if bytes of ROS become messages, too.
    pub has_inbound: bool,
}

/// Failure of one pair, before it is said which pair it is.
#[derive(Debug)]
enum PairError {
    Message(MessageError),
    Cdr(CdrError),
    Unfit(Unfit),
}

/// A type of ROS that is made of a kind, and becomes it.
trait Converts<G: Message>: RosMessage {
    /// False if none is made of bytes of ROS.
    const HAS_INBOUND: bool = true;

    /// Makes one of Gazebo's message.
    fn from_gazebo(message: G) -> Result<Self, Unfit>;

    /// Makes Gazebo's message of it.
    fn into_gazebo(self) -> Result<G, Unfit>;
}

/// Defines conversions that always succeed: from Gazebo's message, then to it.
macro_rules! converts {
    ($($gazebo:ty, $ros:ty: |$message:pat_param| $from:expr, |$back:pat_param| $to:expr;)*) => {$(
        impl $crate::convert::Converts<$gazebo> for $ros {
            fn from_gazebo($message: $gazebo) -> Result<Self, $crate::convert::Unfit> {
                Ok($from)
            }

            fn into_gazebo(self) -> Result<$gazebo, $crate::convert::Unfit> {
                let $back = self;
                Ok($to)
            }
        }
    )*};
}
use converts;
pub(crate) use geometry::transform_stamped;

impl Pair {
    const fn of<G: Message, R: Converts<G>>() -> Self {
        Self {
            kind: G::KIND,
            ros_type: R::TYPE,
            encode: encode_pair::<G, R>,
            decode: decode_pair::<G, R>,
            has_inbound: R::HAS_INBOUND,
        }
    }
}

/// All pairs, those of a kind in the order of preference.
pub const PAIRS: &[Pair] = &[
    Pair::of::<move_::Actuators, actuator_msgs::Actuators>(),
    Pair::of::<messages::sensor::Altimeter, ros_gz_interfaces::Altimeter>(),
    Pair::of::<messages::sensor::AnnotatedAxisAligned2DBox, vision_msgs::Detection2D>(),
    Pair::of::<messages::sensor::AnnotatedAxisAligned2DBoxV, vision_msgs::Detection2DArray>(),
    Pair::of::<messages::sensor::AnnotatedOriented3DBox, vision_msgs::Detection3D>(),
    Pair::of::<messages::sensor::AnnotatedOriented3DBoxV, vision_msgs::Detection3DArray>(),
    Pair::of::<state::BatteryState, sensor_msgs::BatteryState>(),
    Pair::of::<basic::Boolean, std_msgs::Bool>(),
    Pair::of::<messages::sensor::CameraInfo, sensor_msgs::CameraInfo>(),
    Pair::of::<basic::Clock, rosgraph_msgs::Clock>(),
    Pair::of::<messages::sensor::Contact, ros_gz_interfaces::Contact>(),
    Pair::of::<messages::sensor::Contacts, ros_gz_interfaces::Contacts>(),
    Pair::of::<basic::Double, std_msgs::Float64>(),
    Pair::of::<basic::DoubleV, std_msgs::Float64MultiArray>(),
    Pair::of::<basic::Empty, std_msgs::Empty>(),
    Pair::of::<messages::sensor::Entity, ros_gz_interfaces::Entity>(),
    Pair::of::<messages::foxglove::CompressedImage, sensor_msgs::CompressedImage>(),
    Pair::of::<command::EntityWrench, ros_gz_interfaces::EntityWrench>(),
    Pair::of::<basic::Float, std_msgs::Float32>(),
    Pair::of::<move_::FloatV, ros_gz_interfaces::Float32Array>(),
    Pair::of::<move_::FloatV, std_msgs::Float32MultiArray>(),
    Pair::of::<messages::sensor::FluidPressure, sensor_msgs::FluidPressure>(),
    Pair::of::<basic::Header, std_msgs::Header>(),
    Pair::of::<messages::sensor::Image, sensor_msgs::Image>(),
    Pair::of::<messages::sensor::Imu, sensor_msgs::Imu>(),
    Pair::of::<basic::Int32, std_msgs::Int32>(),
    Pair::of::<basic::Int32V, std_msgs::Int32MultiArray>(),
    Pair::of::<basic::Int64, std_msgs::Int64>(),
    Pair::of::<move_::JointTrajectory, trajectory_msgs::JointTrajectory>(),
    Pair::of::<messages::sensor::LaserScan, sensor_msgs::LaserScan>(),
    Pair::of::<messages::sensor::LaserScan, sensor_msgs::Range>(),
    Pair::of::<messages::sensor::LogicalCameraImage, ros_gz_interfaces::LogicalCameraImage>(),
    Pair::of::<messages::sensor::Magnetometer, sensor_msgs::MagneticField>(),
    Pair::of::<state::Model, sensor_msgs::JointState>(),
    Pair::of::<messages::sensor::NavSat, sensor_msgs::NavSatFix>(),
    Pair::of::<move_::Odometry, nav_msgs::Odometry>(),
    Pair::of::<move_::OdometryWithCovariance, nav_msgs::Odometry>(),
    Pair::of::<messages::sensor::PointCloudPacked, sensor_msgs::PointCloud2>(),
    Pair::of::<gz::Pose, geometry_msgs::PoseStamped>(),
    Pair::of::<gz::Pose, geometry_msgs::Pose>(),
    Pair::of::<gz::Pose, geometry_msgs::Transform>(),
    Pair::of::<gz::Pose, geometry_msgs::TransformStamped>(),
    Pair::of::<move_::PoseWithCovariance, geometry_msgs::PoseWithCovarianceStamped>(),
    Pair::of::<move_::PoseWithCovariance, geometry_msgs::PoseWithCovariance>(),
    Pair::of::<gz::PoseV, tf2_msgs::TFMessage>(),
    Pair::of::<gz::PoseV, geometry_msgs::PoseArray>(),
    Pair::of::<gz::Quaternion, geometry_msgs::Quaternion>(),
    Pair::of::<basic::StringMsg, std_msgs::String>(),
    Pair::of::<basic::StringMsgV, ros_gz_interfaces::StringVec>(),
    Pair::of::<basic::Time, builtin_interfaces::Time>(),
    Pair::of::<move_::Twist, geometry_msgs::Twist>(),
    Pair::of::<move_::Twist, geometry_msgs::TwistStamped>(),
    Pair::of::<move_::TwistWithCovariance, geometry_msgs::TwistWithCovarianceStamped>(),
    Pair::of::<move_::TwistWithCovariance, geometry_msgs::TwistWithCovariance>(),
    Pair::of::<basic::UInt32, std_msgs::UInt32>(),
    Pair::of::<basic::UInt64, std_msgs::UInt64>(),
    Pair::of::<gz::Vector3d, geometry_msgs::Vector3>(),
    Pair::of::<gz::Vector3d, geometry_msgs::Point>(),
    Pair::of::<gz::Vector3d, geometry_msgs::Vector3Stamped>(),
    Pair::of::<gz::Vector3d, geometry_msgs::PointStamped>(),
    Pair::of::<state::Wind, geometry_msgs::Vector3>(),
    Pair::of::<state::WorldStatistics, ros_gz_interfaces::WorldStatistics>(),
    Pair::of::<move_::Wrench, geometry_msgs::WrenchStamped>(),
    Pair::of::<move_::Wrench, geometry_msgs::Wrench>(),
];

/// Returns the pair of a kind and a type; without a type, the preferred one.
pub fn pair(kind: &str, type_name: Option<&str>) -> Option<&'static Pair> {
    let mut of_kind = PAIRS.iter().filter(|pair| pair.kind == kind);
    of_kind.find(|pair| type_name.is_none_or(|name| pair.ros_type.name == name))
}

/// Returns a message of a run as CDR of a type.
///
/// # Errors
/// Fails if the type does not go with the kind, the bytes are no such message, or it has no
/// counterpart.
pub fn encode(kind: &str, payload: &[u8], type_name: &str) -> Result<Vec<u8>, EncodeError> {
    let named = || (kind.to_owned(), type_name.to_owned());
    let Some(pair) = pair(kind, Some(type_name)) else {
        let (kind, type_name) = named();
        return Err(EncodeError::NoPair { kind, type_name });
    };
    (pair.encode)(payload).map_err(|error| match error {
        PairError::Message(error) => EncodeError::Message(error),
        PairError::Unfit(reason) => {
            let (kind, type_name) = named();
            EncodeError::Unfit {
                kind,
                type_name,
                reason,
            }
        }
        PairError::Cdr(_) => unreachable!("no CDR is read to write some"),
    })
}

/// Makes a message of a run, of the preferred kind, from CDR of a type.
///
/// # Errors
/// Fails if no kind goes with the type, the bytes are none of it, or it has no counterpart.
pub fn decode(type_name: &str, cdr: &[u8]) -> Result<(&'static str, Vec<u8>), DecodeError> {
    let mut pairs = PAIRS.iter();
    let pair = pairs.find(|pair| pair.ros_type.name == type_name && pair.has_inbound);
    let pair = pair.ok_or_else(|| DecodeError::UnknownType {
        type_name: type_name.to_owned(),
    })?;
    Ok((pair.kind, decode_to(pair.kind, type_name, cdr)?))
}

/// Makes a message of a kind from CDR of a type.
///
/// # Errors
/// Fails if the type does not go with the kind, the bytes are none of it, or it has no counterpart.
pub fn decode_to(kind: &str, type_name: &str, cdr: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let (kind, type_name) = (kind.to_owned(), type_name.to_owned());
    let Some(pair) = pair(&kind, Some(&type_name)) else {
        return Err(DecodeError::NoPair { kind, type_name });
    };
    (pair.decode)(cdr).map_err(|error| match error {
        PairError::Cdr(reason) => DecodeError::Bytes { type_name, reason },
        PairError::Unfit(reason) => DecodeError::Unfit {
            kind,
            type_name,
            reason,
        },
        PairError::Message(_) => unreachable!("no message is read to write one"),
    })
}

/// Returns the types of a kind as a part of a sentence.
fn types_of(kind: &str) -> String {
    let of_kind = PAIRS.iter().filter(|pair| pair.kind == kind);
    let names: Vec<&str> = of_kind.map(|pair| pair.ros_type.name).collect();
    match names.as_slice() {
        [] => "it has no type of ROS".to_owned(),
        names => format!("it goes with {}", names.join(", ")),
    }
}

fn encode_pair<G: Message, R: Converts<G>>(payload: &[u8]) -> Result<Vec<u8>, PairError> {
    let message: G = messages::decode(payload).map_err(PairError::Message)?;
    let message = R::from_gazebo(message).map_err(PairError::Unfit)?;
    Ok(to_cdr(&message))
}

fn decode_pair<G: Message, R: Converts<G>>(cdr: &[u8]) -> Result<Vec<u8>, PairError> {
    let message: R = from_cdr(cdr).map_err(PairError::Cdr)?;
    let message = message.into_gazebo().map_err(PairError::Unfit)?;
    Ok(messages::encode(&message))
}

#[cfg(test)]
mod tests;
