//! [`Beats`]: the primary's `beats` socket, by which secondaries hear that its process lives.
//!
//! Only secondaries may subscribe, so that nothing an observer does keeps them from hearing it.

use std::sync::Arc;

use super::authenticator::Authenticator;
use super::directory::RunDirectory;
use super::inbox::Frames;
use super::socket;
use crate::link::LinkError;

/// Number of subscriptions that are taken from the socket at a time.
const SUBSCRIPTIONS_PER_BEAT: u32 = 64;

/// Publishes to secondaries that the primary's process lives, and that it ends.
pub struct Beats {
    socket: zmq::Socket,
    /// Declared after the socket that it decides for.
    _door: Option<Arc<Authenticator>>,
    /// Declared last: the directory is given free when the socket files are gone.
    _directory: Option<Arc<RunDirectory>>,
}

impl Beats {
    pub(super) fn new(
        socket: zmq::Socket,
        authenticator: Option<Arc<Authenticator>>,
        directory: Option<Arc<RunDirectory>>,
    ) -> Self {
        Self {
            socket,
            _door: authenticator,
            _directory: directory,
        }
    }

    /// Sends one message to all secondaries that listen to its topic.
    ///
    /// # Errors
    /// Fails if the transport itself failed.
    pub fn publish(&self, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        self.drop_subscriptions();
        socket::send(&self.socket, &[topic.as_bytes(), payload])
    }

    /// Passes on a message as it came.
    pub(super) fn pass_on(&self, frames: Frames) -> Result<(), LinkError> {
        self.drop_subscriptions();
        frames.pass_on(&self.socket)
    }

    fn drop_subscriptions(&self) {
        // Nobody asks what they subscribe to; what is told of it must not pile up.
        let mut told = zmq::Message::new();
        for _ in 0..SUBSCRIPTIONS_PER_BEAT {
            if self.socket.recv(&mut told, zmq::DONTWAIT).is_err() {
                break;
            }
        }
    }
}
