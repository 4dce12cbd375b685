//! Connections of a primary, for whoever may command it.

use serde::{Deserialize, Serialize};

use crate::access::Access;

/// The most connections that are told, the oldest first.
pub const CONNECTIONS_MAX: usize = 4_096;

/// The most topics that are named for one connection.
pub const TOPICS_NAMED_MAX: usize = 16;

/// Connections of a primary, and the keys that a client had barred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clients {
    /// The connections by which something was heard, the oldest first.
    pub connections: Vec<ClientConnection>,
    /// Number of further ones that are not told.
    pub left_out: u64,
    /// Names of keys that are kept out of this run.
    pub barred: Vec<String>,
}

/// One connection of a client or secondary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientConnection {
    /// The name of its key; nothing where the run has no keys.
    pub key: Option<String>,
    /// Rights of that key.
    pub role: Access,
    /// The primary's socket that it is connected to: `clients`, `status`, `control`, `step` or
    /// `data`.
    pub socket: String,
    /// Address and port at its end; nothing for a process that came by a socket file.
    pub address: Option<String>,
    /// The user of a process that came by a socket file.
    pub uid: Option<u32>,
    /// The id of that process; nothing if this machine does not see it.
    pub pid: Option<u32>,
    /// Time at which it was heard first \[s since 1970\].
    pub since_unix_s: u64,
    /// Number of requests that came by it.
    pub requests: u64,
    /// Number of those that were turned away: too many, too large, or not allowed.
    pub refused: u64,
    /// To how many topics of `status` it listens.
    pub subscriptions: u64,
    /// The first of these, by name.
    pub topics: Vec<String>,
}
