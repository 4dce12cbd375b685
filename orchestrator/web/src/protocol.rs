//! The words of Foxglove's WebSocket protocol, sub-protocol [`SUB_PROTOCOL`].
//!
//! Texts are JSON objects with an `op`; binary messages begin with a byte for their kind, numbers
//! are little-endian. [`client_to_server`] reads and bounds what clients say, [`server_to_client`]
//! writes.

pub mod client_to_server;
pub mod server_to_client;

/// Name of the protocol in the handshake of a WebSocket.
pub const SUB_PROTOCOL: &str = "foxglove.sdk.v1";

/// Number of a channel that this server offers.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct ChannelId(pub u32);

/// A client's own number for its subscription to a channel.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct SubscriptionId(pub u32);
