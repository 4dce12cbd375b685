//! The words of Foxglove's WebSocket protocol, in the versions of [`Dialect`].
//!
//! Texts are JSON objects with an `op`; binary messages begin with a byte for their kind, numbers
//! are little-endian. [`client_to_server`] reads and bounds what clients say, [`server_to_client`]
//! writes.

pub mod client_to_server;
pub mod server_to_client;

/// Sub-protocol beside a [`Dialect`] by which a client asks for channels that no viewer reads.
pub const ALL_CHANNELS: &str = "phalanx.all-channels";

/// Version of the protocol, by the name of its sub-protocol in the handshake of a WebSocket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `foxglove.sdk.v1`: that of [`Dialect::WebSocket`], and players of recordings are controlled.
    #[default]
    Sdk,
    /// `foxglove.websocket.v1`, that of Lichtblick and of Foxglove Studio as an open source.
    WebSocket,
}

/// Terms on which a client is let in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Version that both speak.
    pub dialect: Dialect,
    /// True if it is offered channels that no viewer reads, too.
    pub hears_all: bool,
}

impl Dialect {
    /// All versions, the preferred one first.
    pub const ALL: [Self; 2] = [Self::Sdk, Self::WebSocket];

    /// Returns the name of the sub-protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sdk => "foxglove.sdk.v1",
            Self::WebSocket => "foxglove.websocket.v1",
        }
    }
}

impl Agreement {
    /// Agrees with a client that offers these sub-protocols; `None` if it speaks no version.
    pub(crate) fn with<'a>(offered: impl Iterator<Item = &'a str>) -> Option<Self> {
        let offered: Vec<&str> = offered.collect();
        let offers = |name: &str| offered.contains(&name);
        let dialect = Dialect::ALL.into_iter().find(|one| offers(one.name()))?;
        Some(Self {
            dialect,
            hears_all: offers(ALL_CHANNELS),
        })
    }
}

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
