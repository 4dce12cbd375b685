//! [`Curve`]: encryption of a link, and the keys that its ends prove to each other.

use crate::authorized::Authorized;
use crate::keys::{KeyPair, ServerKeys};

/// Encryption of the sockets of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Curve {
    /// A primary: proves that it has its key, and lets in who is authorized.
    Primary {
        /// Its own key.
        key: KeyPair,
        /// Peers that may connect.
        authorized: Authorized,
    },
    /// Everybody else: proves that it has its key, and talks to none but a primary of these keys.
    Peer {
        /// Its own key.
        key: KeyPair,
        /// The primary's key, or the few that it may have.
        primary: ServerKeys,
    },
}

impl Curve {
    /// Makes ready a socket that is still to be bound or connected. A primary's sockets ask who may
    /// enter by the name of their domain.
    pub(super) fn apply(&self, socket: &zmq::Socket, domain: &str) -> zmq::Result<()> {
        match self {
            Self::Primary { key, .. } => {
                socket.set_curve_server(true)?;
                socket.set_curve_secretkey(key.secret())?;
                socket.set_zap_domain(domain)
            }
            Self::Peer { key, primary } => {
                socket.set_curve_serverkey(primary.first().bytes())?;
                socket.set_curve_publickey(key.public().bytes())?;
                socket.set_curve_secretkey(key.secret())
            }
        }
    }
}
