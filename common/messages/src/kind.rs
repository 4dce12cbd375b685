//! The table of all messages, by their names: for JSON, and for checks of what clients publish.

use serde_json::Value;

use crate::json::{Given, JsonValue, Recorded, Show};
use crate::message::{Message, MessageError, decode, encode};
use crate::text_format::{TextFormatError, Tree};
use crate::{basic, command, foxglove, geometry, motion, schema, sensor, state};

/// A kind of message.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name: `gz.msgs.Twist`.
    pub name: &'static str,
    to_json: fn(&[u8]) -> Result<Value, MessageError>,
    to_recorded_json: fn(&[u8]) -> Result<Value, MessageError>,
    from_json: fn(Value) -> Result<Vec<u8>, MessageError>,
    from_recorded_json: fn(Value) -> Result<Vec<u8>, MessageError>,
    schema: fn() -> Value,
    check: fn(&[u8]) -> Result<(), MessageError>,
    from_tree: fn(Tree) -> Result<Vec<u8>, TextFormatError>,
}

impl Kind {
    const fn of<M: Message>() -> Self {
        Self {
            name: M::KIND,
            to_json: to_json::<M>,
            to_recorded_json: to_recorded_json::<M>,
            from_json: from_json::<M>,
            from_recorded_json: from_recorded_json::<M>,
            schema: schema::schema::<M>,
            check: check::<M>,
            from_tree: Tree::encode::<M>,
        }
    }

    /// Returns a message as JSON, every field with its value.
    ///
    /// # Errors
    /// Fails if the bytes are no such message.
    pub fn to_json(&self, bytes: &[u8]) -> Result<Value, MessageError> {
        (self.to_json)(bytes)
    }

    /// Returns a message as [`Kind::schema`] says: as [`Kind::to_json`], but bytes as base64.
    ///
    /// # Errors
    /// Fails if the bytes are no such message.
    pub fn to_recorded_json(&self, bytes: &[u8]) -> Result<Value, MessageError> {
        (self.to_recorded_json)(bytes)
    }

    /// Returns the JSON schema of such messages. Numbers that are not finite are texts in spite of
    /// it: JSON has none.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Returns the message in JSON as a `MessagePack` map.
    ///
    /// # Errors
    /// Fails if it is no such message.
    pub fn from_json(&self, json: Value) -> Result<Vec<u8>, MessageError> {
        (self.from_json)(json)
    }

    /// Returns the message in JSON of [`Kind::to_recorded_json`] as a `MessagePack` map.
    ///
    /// # Errors
    /// Fails if it is no such message.
    pub fn from_recorded_json(&self, json: Value) -> Result<Vec<u8>, MessageError> {
        (self.from_recorded_json)(json)
    }

    /// Returns the message in protobuf's text format as a `MessagePack` map.
    ///
    /// # Errors
    /// Fails if it is no such message.
    pub fn encode_text(&self, text: &str) -> Result<Vec<u8>, TextFormatError> {
        self.encode_tree(Tree::read(text)?)
    }

    pub(crate) fn encode_tree(&self, tree: Tree) -> Result<Vec<u8>, TextFormatError> {
        (self.from_tree)(tree)
    }

    /// Tells whether bytes are such a message.
    ///
    /// # Errors
    /// Fails if they are not.
    pub fn check(&self, bytes: &[u8]) -> Result<(), MessageError> {
        (self.check)(bytes)
    }
}

/// All kinds, by name.
pub const KINDS: &[Kind] = &[
    Kind {
        // Viewers know times by the title in their schema.
        schema: foxglove::compressed_image,
        ..Kind::of::<foxglove::CompressedImage>()
    },
    Kind::of::<motion::Actuators>(),
    Kind::of::<sensor::AirSpeedSensor>(),
    Kind::of::<sensor::Altimeter>(),
    Kind::of::<sensor::AnnotatedAxisAligned2DBox>(),
    Kind::of::<sensor::AnnotatedAxisAligned2DBoxV>(),
    Kind::of::<sensor::AnnotatedOriented3DBox>(),
    Kind::of::<sensor::AnnotatedOriented3DBoxV>(),
    Kind::of::<state::Axis>(),
    Kind::of::<sensor::AxisAligned2DBox>(),
    Kind::of::<state::BatteryState>(),
    Kind::of::<basic::Boolean>(),
    Kind::of::<sensor::CameraInfo>(),
    Kind::of::<basic::Clock>(),
    Kind::of::<sensor::Contact>(),
    Kind::of::<sensor::Contacts>(),
    Kind::of::<basic::Double>(),
    Kind::of::<basic::DoubleV>(),
    Kind::of::<basic::Empty>(),
    Kind::of::<sensor::Entity>(),
    Kind::of::<command::EntityFactory>(),
    Kind::of::<command::EntityFactoryV>(),
    Kind::of::<command::EntityWrench>(),
    Kind::of::<basic::Float>(),
    Kind::of::<motion::FloatV>(),
    Kind::of::<sensor::FluidPressure>(),
    Kind::of::<basic::Header>(),
    Kind::of::<sensor::Imu>(),
    Kind::of::<sensor::Image>(),
    Kind::of::<basic::Int32>(),
    Kind::of::<basic::Int32V>(),
    Kind::of::<basic::Int64>(),
    Kind::of::<state::Joint>(),
    Kind::of::<motion::JointTrajectory>(),
    Kind::of::<motion::JointTrajectoryPoint>(),
    Kind::of::<sensor::LaserScan>(),
    Kind::of::<sensor::LogicalCameraImage>(),
    Kind::of::<sensor::Magnetometer>(),
    Kind::of::<state::Model>(),
    Kind::of::<sensor::NavSat>(),
    Kind::of::<motion::Odometry>(),
    Kind::of::<motion::OdometryWithCovariance>(),
    Kind::of::<sensor::Oriented3DBox>(),
    Kind::of::<command::Physics>(),
    Kind::of::<sensor::PointCloudPacked>(),
    Kind::of::<geometry::Pose>(),
    Kind::of::<motion::PoseWithCovariance>(),
    Kind::of::<geometry::PoseV>(),
    Kind::of::<geometry::Quaternion>(),
    Kind::of::<command::ServerControl>(),
    Kind::of::<basic::StringMsg>(),
    Kind::of::<basic::StringMsgV>(),
    Kind::of::<basic::Time>(),
    Kind::of::<motion::Twist>(),
    Kind::of::<motion::TwistWithCovariance>(),
    Kind::of::<basic::UInt32>(),
    Kind::of::<basic::UInt64>(),
    Kind::of::<geometry::Vector2d>(),
    Kind::of::<geometry::Vector3d>(),
    Kind::of::<state::Wind>(),
    Kind::of::<command::WorldControl>(),
    Kind::of::<command::WorldReset>(),
    Kind::of::<state::WorldStatistics>(),
    Kind::of::<motion::Wrench>(),
];

/// Returns the kind of a name, also of the older one that begins with `ignition.msgs.`.
pub fn find(name: &str) -> Option<&'static Kind> {
    let name = name
        .strip_prefix("ignition.msgs.")
        .map_or_else(|| name.to_owned(), |short| format!("gz.msgs.{short}"));
    KINDS.iter().find(|kind| kind.name == name)
}

fn check<M: Message>(bytes: &[u8]) -> Result<(), MessageError> {
    decode::<M>(bytes).map(|_| ())
}

fn to_json<M: Message>(bytes: &[u8]) -> Result<Value, MessageError> {
    let kind = M::KIND;
    let message: M = decode(bytes)?;
    let shown = msgpack::from_slice(&encode(&message));
    shown
        .map(|JsonValue(value)| value)
        .map_err(|source| MessageError::Bytes { kind, source })
}

fn to_recorded_json<M: Message>(bytes: &[u8]) -> Result<Value, MessageError> {
    let kind = M::KIND;
    let message: M = decode(bytes)?;
    let shown = msgpack::from_slice(&encode(&message));
    shown
        .map(|Recorded(value)| value)
        .map_err(|source| MessageError::Bytes { kind, source })
}

fn from_json<M: Message>(json: Value) -> Result<Vec<u8>, MessageError> {
    read::<M>(Given(json, Show::Numbers))
}

fn from_recorded_json<M: Message>(json: Value) -> Result<Vec<u8>, MessageError> {
    read::<M>(Given(json, Show::Base64))
}

fn read<M: Message>(given: Given) -> Result<Vec<u8>, MessageError> {
    let kind = M::KIND;
    let message = M::deserialize(given).map_err(|source| MessageError::Json { kind, source })?;
    Ok(encode(&message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_left_out_have_their_defaults_and_unknown_ones_are_errors() {
        let twist = find("ignition.msgs.Twist").unwrap();
        let bytes = twist
            .from_json(serde_json::json!({"linear": {"x": 0.5}}))
            .unwrap();
        let back: motion::Twist = decode(&bytes).unwrap();
        assert_eq!(back.linear.x, 0.5);
        assert_eq!(back.angular.z, 0.0);
        assert!(twist.from_json(serde_json::json!({"speed": 1})).is_err());
    }
}
