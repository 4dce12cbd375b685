//! The link between processes: libzmq's sockets, over `ipc` and `tcp`.
//!
//! [`PrimaryLink`] binds `control` (ROUTER) and `step` (XPUB) for secondaries and has a thread of
//! its own for `clients` (ROUTER); it comes with a [`StatusPublisher`] for `status` (XPUB) and
//! `data` (PULL) and with [`Beats`] (XPUB), which no observer reaches. [`PeerLink`] is everybody
//! else's end, and a [`Relay`] is between both. All wait in an `Inbox`. Sockets come back by
//! themselves when the other side does.

mod admitted_keys;
mod authenticator;
mod beats;
mod bundle;
mod client_thread;
mod curve;
mod directory;
mod entrance;
mod gate;
mod inbox;
mod outbox;
mod peer;
mod primary;
mod relay;
mod relays;
mod socket;
mod status;
mod subscribers;
mod wake;

use std::time::Duration;

pub use beats::Beats;
pub use curve::Curve;
pub use directory::remove_abandoned;
pub use peer::{ConnectError, PeerLink};
pub use primary::{BindError, PrimaryLink, with_free_ports};
pub use relay::{HOLD, Relay, RelayError, RelayEvent, RelaySettings};
pub use status::StatusPublisher;

/// Options of the sockets of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// True if `tcp` may be bound, and connected to on other machines, without encryption.
    pub insecure: bool,
    /// Time for which a thread that steps looks for what comes before it sleeps; zero for not at
    /// all. It takes a core for itself meanwhile: with fewer cores than such threads all become
    /// slower.
    pub spin: Duration,
    /// Encryption of `tcp` connections; those of `ipc` never are encrypted, its folder protects
    /// them.
    pub curve: Option<Curve>,
}

/// A libzmq that was compiled without encryption.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("this program was built with a libzmq that lacks CURVE: build it as its manifest says")]
pub struct NoCurve;

/// Makes sure that libzmq can encrypt.
///
/// # Errors
/// Fails if it was compiled without CURVE.
pub fn check_curve() -> Result<(), NoCurve> {
    if zmq::has("curve") == Some(true) {
        Ok(())
    } else {
        Err(NoCurve)
    }
}
