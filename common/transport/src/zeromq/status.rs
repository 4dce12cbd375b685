//! [`StatusPublisher`]: the primary's `status` socket, which a slow observer never holds up.

use std::sync::Arc;

use super::directory::RunDirectory;
use super::socket;
use crate::link::{LinkError, Publisher};

/// Publishes on `status`; who reads too slowly loses messages.
pub struct StatusPublisher {
    socket: zmq::Socket,
    /// Declared last: the directory is given free when the socket file is gone.
    _directory: Option<Arc<RunDirectory>>,
}

impl StatusPublisher {
    pub(super) fn new(socket: zmq::Socket, directory: Option<Arc<RunDirectory>>) -> Self {
        Self {
            socket,
            _directory: directory,
        }
    }
}

impl Publisher for StatusPublisher {
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        socket::send(&self.socket, &[topic.as_bytes(), payload])
    }
}
