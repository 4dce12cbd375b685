//! The link between processes: libzmq's sockets, over `ipc` and `tcp`.
//!
//! [`PrimaryLink`] binds `control` (ROUTER) and `step` (XPUB) and comes with a
//! [`StatusPublisher`] for `status` (XPUB) and `data` (PULL); [`PeerLink`] is everybody else's
//! end. All wait in an `Inbox`. Sockets come back by themselves when the other side does.

mod curve;
mod directory;
mod door;
mod gate;
mod inbox;
mod peer;
mod primary;
mod roll;
mod socket;
mod status;
mod wake;

use std::time::Duration;

pub use curve::Curve;
pub use peer::{ConnectError, PeerLink};
pub use primary::{BindError, PrimaryLink, with_free_ports};
pub use status::StatusPublisher;

/// What can be chosen about the sockets of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// How often this side asks the other for a sign of life; zero for never. libzmq 4.3.5 aborts
    /// the process when it is time to ask on a connection that was lost before all that came over
    /// it was taken, as may happen at the end of a run: who has another way to tell does not ask.
    pub heartbeat_interval: Duration,
    /// How long the other side may be silent before its connection counts as lost.
    pub heartbeat_timeout: Duration,
    /// Whether `tcp` may be bound, and connected to on other machines, without encryption.
    pub insecure: bool,
    /// How long a thread that steps looks for what comes before it sleeps; zero for not at all. It
    /// takes a core for itself meanwhile: with fewer cores than such threads all become slower.
    pub spin: Duration,
    /// How `tcp` connections are encrypted; those of `ipc` never are, its folder protects them.
    pub curve: Option<Curve>,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            heartbeat_interval: Duration::from_millis(100),
            heartbeat_timeout: Duration::from_secs(2),
            insecure: false,
            spin: Duration::ZERO,
            curve: None,
        }
    }
}

/// A libzmq that was compiled without encryption.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("this program was built with a libzmq that lacks CURVE: build it as its manifest says")]
pub struct NoCurve;

/// Makes sure that libzmq can encrypt.
///
/// # Errors
/// When it was compiled without CURVE.
pub fn check_curve() -> Result<(), NoCurve> {
    if zmq::has("curve") == Some(true) {
        Ok(())
    } else {
        Err(NoCurve)
    }
}
