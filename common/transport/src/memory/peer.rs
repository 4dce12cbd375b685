//! A peer's end within one process.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use protocol::{Access, RoutingId};

use super::mailbox::Mailbox;
use super::{Network, arrival};
use crate::link::{Arrival, Destination, Link, LinkError, Waker};

/// A peer's end of a link within one process; dropping it takes its subscription away.
pub struct MemoryPeerLink {
    network: Network,
    routing_id: RoutingId,
    mailbox: Arc<Mailbox<Arrival>>,
}

impl MemoryPeerLink {
    pub(super) fn new(
        network: Network,
        routing_id: RoutingId,
        mailbox: Arc<Mailbox<Arrival>>,
    ) -> Self {
        Self {
            network,
            routing_id,
            mailbox,
        }
    }
}

impl Link for MemoryPeerLink {
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        match to {
            Destination::Primary => {}
            Destination::Data => {
                return self
                    .network
                    .members()
                    .take_data(&self.routing_id, topic, payload);
            }
            Destination::EverySecondary | Destination::Peer(_) => {
                return Err(LinkError::NoSuchDestination);
            }
        }
        let arrival = Arrival::Message {
            from: Some(self.routing_id.clone()),
            access: Access::Full,
            topic: topic.as_bytes().to_vec(),
            payload: Bytes::copy_from_slice(payload),
        };
        let mut members = self.network.members();
        if let Some(primary) = &members.primary {
            primary.put(arrival);
        } else {
            members.unclaimed.push(arrival);
        }
        Ok(())
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        Ok(self.mailbox.take(timeout).map(arrival))
    }

    fn waker(&self) -> Arc<dyn Waker> {
        Arc::clone(&self.mailbox) as Arc<dyn Waker>
    }

    fn listen(&mut self, topics: &[&str]) -> Result<(), LinkError> {
        self.network.members().listen(&self.routing_id, topics)
    }
}

impl Drop for MemoryPeerLink {
    fn drop(&mut self) {
        self.network.members().remove_peer(&self.routing_id);
    }
}
