//! The primary's end within one process.

use std::sync::Arc;
use std::time::Duration;

use super::mailbox::{Mailbox, Taken};
use super::{Network, arrival, from_primary};
use crate::link::{Arrival, Destination, Link, LinkError, Notice, Publisher, Waker};

/// The primary's end of a link within one process; dropping it disconnects the peers.
pub struct MemoryPrimaryLink {
    network: Network,
    mailbox: Arc<Mailbox<Arrival>>,
}

impl MemoryPrimaryLink {
    pub(super) fn new(network: Network, mailbox: Arc<Mailbox<Arrival>>) -> Self {
        Self { network, mailbox }
    }
}

impl Link for MemoryPrimaryLink {
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        let members = self.network.members();
        match to {
            Destination::EverySecondary => members.publish_step(topic, payload),
            Destination::Peer(routing_id) => {
                let Some(peer) = members.peers.get(routing_id) else {
                    return Err(LinkError::Unreachable(routing_id.clone()));
                };
                peer.mailbox.put(from_primary(topic, payload));
            }
            Destination::Primary | Destination::Data => return Err(LinkError::NoSuchDestination),
        }
        Ok(())
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        Ok(self.mailbox.take(timeout).map(arrival))
    }

    fn waker(&self) -> Arc<dyn Waker> {
        Arc::clone(&self.mailbox) as Arc<dyn Waker>
    }
}

impl Drop for MemoryPrimaryLink {
    fn drop(&mut self) {
        self.network.members().remove_primary();
    }
}

/// Publishes on `status` and receives on `data` within one process.
pub struct MemoryPublisher {
    network: Network,
    mailbox: Arc<Mailbox<Notice>>,
}

impl MemoryPublisher {
    pub(super) fn new(network: Network, mailbox: Arc<Mailbox<Notice>>) -> Self {
        Self { network, mailbox }
    }
}

impl Publisher for MemoryPublisher {
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        self.network.members().publish_status(topic, payload);
        Ok(())
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Notice>, LinkError> {
        Ok(self.mailbox.take(timeout).map(|taken| match taken {
            Taken::Arrival(notice) => notice,
            Taken::Woken => Notice::Woken,
        }))
    }

    fn waker(&self) -> Arc<dyn Waker> {
        Arc::clone(&self.mailbox) as Arc<dyn Waker>
    }
}

impl Drop for MemoryPublisher {
    fn drop(&mut self) {
        self.network.members().remove_publisher(&self.mailbox);
    }
}
