//! [`Message`]: the trait of all messages, and their bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Depth to which the values of a message may be nested.
pub(crate) const DEPTH_MAX: u16 = 64;

/// A message with a name of its own.
pub trait Message: Serialize + DeserializeOwned + Default {
    /// Its name: `gz.msgs.Twist`.
    const KIND: &'static str;

    /// Reads one, as [`decode`] does; compiled once, where the message is defined.
    ///
    /// # Errors
    /// Fails if the bytes are no such map, or have a field that the message has not.
    fn from_bytes(bytes: &[u8]) -> Result<Self, msgpack::Error>;
}

/// Bytes or text that are no message of the kind that is meant.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// The bytes are no map with this message's fields.
    #[error("not a {kind} in MessagePack")]
    Bytes {
        /// Kind that was expected.
        kind: &'static str,
        /// Error of the decoder.
        #[source]
        source: msgpack::Error,
    },
    /// The JSON is no object with this message's fields.
    #[error("not a {kind} in JSON")]
    Json {
        /// Kind that was expected.
        kind: &'static str,
        /// Error of the decoder.
        #[source]
        source: serde_json::Error,
    },
}

/// Returns a message as a `MessagePack` map.
///
/// # Panics
/// Never: messages hold only what `MessagePack` can express.
pub fn encode<M: Message>(message: &M) -> Vec<u8> {
    msgpack::to_vec_named(message).expect("messages hold only what MessagePack can express")
}

/// Returns the message in a `MessagePack` map.
///
/// # Errors
/// Fails if the bytes are no such map, or have a field that the message has not.
pub fn decode<M: Message>(bytes: &[u8]) -> Result<M, MessageError> {
    let kind = M::KIND;
    M::from_bytes(bytes).map_err(|source| MessageError::Bytes { kind, source })
}

/// Makes a type a message of a name.
macro_rules! message {
    ($name:ident, $kind:literal) => {
        impl $crate::Message for $name {
            const KIND: &'static str = $kind;

            fn from_bytes(bytes: &[u8]) -> Result<Self, msgpack::Error> {
                let depth = $crate::message::DEPTH_MAX;
                let mut deserializer = msgpack::Deserializer::with_depth(bytes, depth);
                serde::Deserialize::deserialize(&mut deserializer)
            }
        }
    };
}
pub(crate) use message;

/// Defines messages whose fields may all be left out: `Name("gz.msgs.Name") { fields }`; without a
/// name in brackets, a part of messages.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident $(($kind:literal))? {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }
        $($crate::message::message!($name, $kind);)?
    )*};
}
pub(crate) use messages;
