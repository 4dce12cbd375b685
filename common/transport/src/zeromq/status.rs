//! [`StatusPublisher`]: the primary's `status` and `data` sockets.
//!
//! `status` is an XPUB, so that the primary sees which topics observers listen to; a slow observer
//! never holds it up. `data` is a PULL without a mark, so that nothing is lost on it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::directory::RunDirectory;
use super::door::Door;
use super::inbox::{Event, Frames, Inbox, Patience};
use super::primary::SUBSCRIBE;
use super::socket;
use crate::link::{LinkError, Notice, Publisher, Waker};

/// Sources of the inbox. Sockets close in this order: the last words on `status` go out first.
const STATUS: usize = 0;
const DATA: usize = 1;

/// Publishes on `status`, where who reads too slowly loses messages, and receives on `data`.
pub struct StatusPublisher {
    inbox: Inbox,
    dropped: u64,
    /// Declared after the sockets that it decides for.
    door: Option<Arc<Door>>,
    /// Declared last: the directory is given free when the socket files are gone.
    _directory: Option<Arc<RunDirectory>>,
}

impl StatusPublisher {
    pub(super) fn new(
        status: zmq::Socket,
        data: zmq::Socket,
        door: Option<Arc<Door>>,
        directory: Option<Arc<RunDirectory>>,
    ) -> io::Result<Self> {
        Ok(Self {
            inbox: Inbox::new(vec![status, data], 2, Duration::ZERO)?,
            dropped: 0,
            door,
            _directory: directory,
        })
    }

    /// Tells whether what came is of somebody who may still be heard. Who goes need not say who he
    /// is, and subscriptions note the connections of those who only listen.
    fn is_let_in(&self, source: usize, frames: &mut Frames) -> bool {
        let Some(door) = &self.door else {
            return true;
        };
        let comes = source == DATA || matches!(frames.exactly(), Some([[SUBSCRIBE, ..]]));
        door.sender(frames).is_some() || !comes
    }

    /// Returns how many messages had too few or too many frames, and were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Publisher for StatusPublisher {
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        socket::send(self.inbox.sender(STATUS), &[topic.as_bytes(), payload])
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Notice>, LinkError> {
        let mut patience = Patience::new(timeout);
        loop {
            let event = match self.inbox.next(&mut patience)? {
                Some(Event::Message(source, mut frames)) => {
                    if !self.is_let_in(source, &mut frames) {
                        continue;
                    }
                    Some(Event::Message(source, frames))
                }
                event => event,
            };
            let found = match event {
                None => return Ok(None),
                Some(Event::Woken) => return Ok(Some(Notice::Woken)),
                Some(Event::Message(DATA, frames)) => {
                    let topic = frames.exactly().map(|[topic, _]| topic.to_vec());
                    topic.map(|topic| Notice::Data {
                        topic,
                        payload: frames.into_payload(),
                    })
                }
                Some(Event::Message(_, frames)) => match frames.exactly() {
                    Some([[SUBSCRIBE, topic @ ..]]) => Some(Notice::Subscribed(topic.to_vec())),
                    Some([[_, topic @ ..]]) => Some(Notice::Unsubscribed(topic.to_vec())),
                    Some([[]]) | None => None,
                },
            };
            match found {
                Some(notice) => return Ok(Some(notice)),
                None => self.dropped += 1,
            }
        }
    }

    fn waker(&self) -> Arc<dyn Waker> {
        self.inbox.waker()
    }
}
