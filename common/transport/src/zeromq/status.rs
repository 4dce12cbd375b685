//! [`StatusPublisher`]: the primary's `status` and `data` sockets.
//!
//! `status` is an XPUB, so that the primary sees which topics observers listen to; a slow observer
//! never holds it up, and one that asks for too much is cut off. `data` is a PULL, on which
//! nothing is lost: when few messages wait, those who send keep theirs.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use protocol::RoutingId;

use super::admitted_keys::AdmittedKeys;
use super::authenticator::Authenticator;
use super::directory::RunDirectory;
use super::inbox::{Event, Frames, Inbox, PollTimeout};
use super::primary::{SUBSCRIBE, UNSUBSCRIBE};
use super::socket;
use super::subscribers::{
    Change, Subscribers, TOPIC_BYTES_PER_CONNECTION_MAX, TOPIC_BYTES_PER_KEY_MAX,
    TOPICS_PER_CONNECTION_MAX,
};
use crate::link::{LinkError, Notice, Publisher, Waker};
use crate::refusals::{Reason, Tally};

/// Sources of the inbox. Sockets close in this order: the last words on `status` go out first.
const STATUS: usize = 0;
const DATA: usize = 1;

/// Listeners of `status`, shared with who tells of them; clones are the same ones.
#[derive(Clone, Default)]
pub(super) struct SharedSubscribers(Arc<Mutex<Subscribers>>);

impl SharedSubscribers {
    pub(super) fn lock(&self) -> MutexGuard<'_, Subscribers> {
        let subscribers = self.0.lock();
        subscribers.expect("nobody panics while holding the subscribers")
    }
}

/// Publishes on `status`, where who reads too slowly loses messages, and receives on `data`.
pub struct StatusPublisher {
    inbox: Inbox,
    subscribers: SharedSubscribers,
    admitted_keys: AdmittedKeys,
    tally: Tally,
    dropped: u64,
    /// Declared after the sockets that it decides for.
    authenticator: Option<Arc<Authenticator>>,
    /// Declared last: the directory is given free when the socket files are gone.
    _directory: Option<Arc<RunDirectory>>,
}

impl StatusPublisher {
    pub(super) fn new(
        status: zmq::Socket,
        data: zmq::Socket,
        tally: Tally,
        admitted_keys: AdmittedKeys,
        authenticator: Option<Arc<Authenticator>>,
        directory: Option<Arc<RunDirectory>>,
    ) -> io::Result<Self> {
        Ok(Self {
            inbox: Inbox::new(vec![status, data], 2, Duration::ZERO)?,
            subscribers: SharedSubscribers::default(),
            admitted_keys,
            tally,
            dropped: 0,
            authenticator,
            _directory: directory,
        })
    }

    /// Returns what a message of a subscriber changes for all; `None` if it is malformed.
    #[expect(
        clippy::option_option,
        reason = "a message may change nothing, and may be none at all"
    )]
    fn on_subscriber(&mut self, mut frames: Frames) -> Option<Option<Notice>> {
        let (connection, now) = (frames.origin(), Instant::now());
        let key = frames.sender().map_or(0, |sender| sender.key);
        let [[what, topic @ ..]] = frames.exactly()? else {
            return None;
        };
        let change = match (*what, connection) {
            (SUBSCRIBE, Some(by)) => self.subscribers.lock().subscribe(by, key, topic, now),
            (UNSUBSCRIBE, Some(by)) => self.subscribers.lock().end(by, topic, now),
            (UNSUBSCRIBE, None) => self.subscribers.lock().lose(topic),
            _ => return None,
        };
        Some(match change {
            Change::First => Some(Notice::Subscribed(topic.to_vec())),
            Change::Last => Some(Notice::Unsubscribed(topic.to_vec())),
            Change::None => None,
            Change::TooMuch => {
                if let Some(connection) = connection {
                    let _ = connection.cut(); // It may be gone by itself.
                }
                let text = || {
                    format!(
                        "an observer is cut off: it listens to more than \
                         {TOPICS_PER_CONNECTION_MAX} topics of {} KiB together, its key to more \
                         than {} KiB, or to others too often",
                        TOPIC_BYTES_PER_CONNECTION_MAX >> 10,
                        TOPIC_BYTES_PER_KEY_MAX >> 10,
                    )
                };
                self.tally.note(Reason::Excess, text);
                None
            }
        })
    }

    /// Tells whether what came is of somebody who may still be heard. Who goes need not say who he
    /// is, and subscriptions note the connections of those who only listen.
    fn is_let_in(&self, source: usize, frames: &mut Frames) -> bool {
        let subscribes = source == STATUS && matches!(frames.exactly(), Some([[SUBSCRIBE, ..]]));
        let Some(authenticator) = &self.authenticator else {
            if subscribes {
                self.admitted_keys.hear(0, frames.origin(), "status");
            }
            return true;
        };
        let socket = if source == DATA { "data" } else { "status" };
        let is_heard = authenticator.sender(frames, socket).is_some();
        is_heard || !(subscribes || source == DATA)
    }

    /// Returns who listens to what.
    pub(super) fn subscribers(&self) -> SharedSubscribers {
        self.subscribers.clone()
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
        let mut timeout = PollTimeout::new(timeout);
        loop {
            let event = match self.inbox.next(&mut timeout)? {
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
                    let found = frames
                        .exactly()
                        .map(|[topic, from, _]| (topic.to_vec(), RoutingId(from.to_vec())));
                    found.map(|(topic, from)| Notice::Data {
                        from,
                        topic,
                        payload: frames.into_payload(),
                    })
                }
                Some(Event::Message(_, frames)) => match self.on_subscriber(frames) {
                    Some(None) => continue,
                    Some(notice) => notice,
                    None => None,
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
