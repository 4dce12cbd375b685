//! [`ClientThread`]: the thread that hears clients on `clients` and sends them their answers.
//!
//! It keeps clients away from the thread that steps: what they send is read, judged and counted
//! here, and handed on no faster than it is taken. Answers wait here, by client, where their bytes
//! are counted; libzmq has two of each client at most.
//! **Invariant:** what waits for clients of one key is at most [`KEY_BYTES_MAX`] and one answer for
//! each of its connections.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use protocol::{RoutingId, topic};
use zmq_options::Connection;

use super::admitted_keys::AdmittedKeys;
use super::authenticator::Authenticator;
use super::gate::{Gate, Sender as Client};
use super::inbox::{Event, Frames, Inbox, PollTimeout};
use super::socket;
use crate::link::{Arrival, LinkError, Waker};
use crate::refusals::{Reason, Tally};

/// Number of requests that wait for the thread that steps; then no more are read.
const BACKLOG_MAX: usize = 1_024;

/// Most that may wait for the clients of one key \[bytes\], besides one answer for each.
const KEY_BYTES_MAX: usize = 32 << 20;

/// Time between two attempts to send what waits.
const RETRY: Duration = Duration::from_millis(2);

/// Time for what still waits at the end, such as that the run is over.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(200);

/// Number of messages that are read before the thread looks whether it reads too many.
const ROUND: u32 = 256;

/// Pause after a round of which most was turned away: whoever floods waits in its own queue.
const FLOOD_PAUSE: Duration = Duration::from_millis(5);

/// The first byte of a client's address, which no name begins with.
const CLIENT: u8 = b'@';

/// The first byte of an address that libzmq gives.
const GIVEN: u8 = 0;

/// Bytes of a client's address that are the number of its key.
const KEY_BYTES: usize = size_of::<u32>();

/// The part of it that the thread that steps keeps.
pub(super) struct ClientThread {
    orders: Sender<Order>,
    waker: Arc<dyn Waker>,
    requests: Receiver<Request>,
    backlog: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

/// Something that a client asks for.
pub(super) struct Request {
    pub(super) arrival: Arrival,
    /// The key and the connection by which it came.
    pub(super) key: u32,
    pub(super) connection: Option<Connection>,
}

enum Order {
    /// Send this to a client.
    Answer {
        to: Vec<u8>,
        key: u32,
        topic: Vec<u8>,
        payload: Vec<u8>,
    },
    /// Charge a key for a request that was refused.
    Charge { key: u32 },
    /// Send what waits, for a moment, and end.
    End,
}

/// The thread at work.
struct ClientLoop {
    inbox: Inbox,
    orders: Receiver<Order>,
    requests: Sender<Request>,
    stepper: Arc<dyn Waker>,
    backlog: Arc<AtomicUsize>,
    gate: Gate,
    tally: Tally,
    /// Thread that decides who may be heard, where keys tell that.
    authenticator: Option<Arc<Authenticator>>,
    admitted_keys: AdmittedKeys,
    unsent: UnsentAnswers,
    /// Messages that were read since the thread last looked whether it reads too many.
    read: u32,
    /// Messages among them that were not let through.
    turned_away: u32,
}

/// Answers that wait for their clients to read.
#[derive(Default)]
struct UnsentAnswers {
    /// Answers by client; one that has all of them is not in it.
    queues: BTreeMap<Vec<u8>, Queue>,
    /// Size of the answers for the clients of each key \[bytes\].
    sizes: BTreeMap<u32, usize>,
}

/// Answers that wait for one client.
struct Queue {
    /// The number of its key.
    key: u32,
    answers: VecDeque<[Vec<u8>; 2]>,
}

impl ClientThread {
    /// Starts to hear clients on a socket that is bound; `stepper` is woken by requests.
    pub(super) fn open(
        clients: zmq::Socket,
        stepper: Arc<dyn Waker>,
        tally: Tally,
        admitted_keys: AdmittedKeys,
        authenticator: Option<Arc<Authenticator>>,
    ) -> io::Result<Self> {
        let inbox = Inbox::new(vec![clients], 1, Duration::ZERO)?;
        let (orders, taken) = mpsc::channel();
        let (handed, requests) = mpsc::channel();
        let (waker, backlog) = (inbox.waker(), Arc::new(AtomicUsize::new(0)));
        let client_loop = ClientLoop {
            inbox,
            orders: taken,
            requests: handed,
            stepper,
            backlog: Arc::clone(&backlog),
            gate: Gate::new(tally.clone()),
            tally,
            authenticator,
            admitted_keys,
            unsent: UnsentAnswers::default(),
            read: 0,
            turned_away: 0,
        };
        let thread = thread::Builder::new()
            .name("clients".to_owned())
            .spawn(move || {
                // Without it no client is heard, and the run goes on.
                let _ = catch_unwind(AssertUnwindSafe(|| client_loop.run()));
            })?;
        Ok(Self {
            orders,
            waker,
            requests,
            backlog,
            thread: Some(thread),
        })
    }

    /// Tells whether a request is here, or about to be.
    pub(super) fn has_request(&self) -> bool {
        self.backlog.load(Ordering::Acquire) > 0
    }

    /// Returns the next request, if one is here.
    pub(super) fn request(&self) -> Option<Request> {
        let request = self.requests.try_recv().ok()?;
        if self.backlog.fetch_sub(1, Ordering::AcqRel) == BACKLOG_MAX {
            self.waker.wake();
        }
        Some(request)
    }

    /// Sends to a client, whenever it reads; false if the address is none of a client.
    pub(super) fn answer(&self, to: &RoutingId, topic: &[u8], payload: &[u8]) -> bool {
        let Some((key, to)) = parts_of(to) else {
            return false;
        };
        let order = Order::Answer {
            to: to.to_vec(),
            key,
            topic: topic.to_vec(),
            payload: payload.to_vec(),
        };
        if self.orders.send(order).is_ok() {
            self.waker.wake();
        }
        true
    }

    /// Charges the key of a client for a request that was refused.
    pub(super) fn charge(&self, client: &RoutingId) {
        if let Some((key, _)) = parts_of(client) {
            let _ = self.orders.send(Order::Charge { key });
        }
    }
}

impl Drop for ClientThread {
    fn drop(&mut self) {
        if self.orders.send(Order::End).is_ok() {
            self.waker.wake();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ClientLoop {
    fn run(mut self) {
        let mut end = None;
        loop {
            while let Ok(order) = self.orders.try_recv() {
                match order {
                    Order::Answer {
                        to,
                        key,
                        topic,
                        payload,
                    } => self.unsent.keep((to, key), [topic, payload], &self.tally),
                    Order::Charge { key } => self.gate.charge(key),
                    Order::End => end = Some(Instant::now() + CLOSE_TIMEOUT),
                }
            }
            self.unsent.send(self.inbox.sender(0));
            let is_over = end.is_some_and(|at| self.unsent.is_empty() || Instant::now() >= at);
            if is_over || self.take_turn(end.is_some()).is_err() {
                return;
            }
        }
    }

    /// Waits for what comes next, unless it has to wait for others.
    fn take_turn(&mut self, is_ending: bool) -> Result<(), LinkError> {
        if is_ending || self.backlog.load(Ordering::Acquire) >= BACKLOG_MAX {
            thread::sleep(RETRY);
            return Ok(());
        }
        if self.read >= ROUND {
            if self.turned_away > ROUND / 2 {
                thread::sleep(FLOOD_PAUSE);
            }
            (self.read, self.turned_away) = (0, 0);
        }
        let timeout = (!self.unsent.is_empty()).then_some(RETRY);
        if let Some(Event::Message(_, frames)) = self.inbox.next(&mut PollTimeout::new(timeout))? {
            self.read += 1;
            match self.admit(frames) {
                Some(request) => {
                    self.backlog.fetch_add(1, Ordering::AcqRel);
                    if self.requests.send(request).is_ok() {
                        self.stepper.wake();
                    }
                }
                None => self.turned_away += 1,
            }
        }
        Ok(())
    }

    /// Returns what a message is to the primary, if it is let through.
    fn admit(&mut self, mut frames: Frames) -> Option<Request> {
        let connection = frames.origin();
        let client = if let Some(authenticator) = &self.authenticator {
            authenticator.sender(&mut frames, "clients")?
        } else {
            self.admitted_keys
                .hear(Client::ANYBODY.key, connection, "clients");
            Client::ANYBODY
        };
        let request = self.judge(frames, client, connection);
        self.admitted_keys.count(connection, request.is_none());
        request
    }

    /// Returns what a client asks, if its message is let through.
    fn judge(
        &mut self,
        frames: Frames,
        client: Client,
        connection: Option<Connection>,
    ) -> Option<Request> {
        let Some([from, topic, payload]) = frames.exactly() else {
            let text = || "a message of too few or too many frames".to_owned();
            self.tally.note(Reason::Malformed, text);
            return None;
        };
        // Clients have addresses that libzmq gives, which nobody can guess and take.
        let is_request = topic == topic::REQUEST.as_bytes() && from.first() == Some(&GIVEN);
        if !is_request {
            let text = || "a client sent something that is no request".to_owned();
            self.tally.note(Reason::Malformed, text);
            return None;
        }
        let (raw, bytes) = (RoutingId(from.to_vec()), topic.len() + payload.len());
        if !self.gate.admits(&raw, client, topic, bytes, Instant::now()) {
            return None;
        }
        let topic = topic.to_vec();
        let arrival = Arrival::Message {
            from: Some(address_of(client.key, &raw)),
            access: client.access,
            topic,
            payload: frames.into_payload(),
        };
        Some(Request {
            arrival,
            key: client.key,
            connection,
        })
    }
}

impl UnsentAnswers {
    fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Keeps an answer for a client, unless too much waits for it and others of its key already.
    fn keep(&mut self, (to, key): (Vec<u8>, u32), answer: [Vec<u8>; 2], tally: &Tally) {
        let size = self.sizes.entry(key).or_default();
        let queue = self.queues.entry(to).or_insert_with(|| Queue {
            key,
            answers: VecDeque::new(),
        });
        let [_, payload] = &answer;
        if !queue.answers.is_empty() && *size + payload.len() > KEY_BYTES_MAX {
            let text = || {
                format!("a client of key {key} does not read its answers, of which some are lost")
            };
            tally.note(Reason::Excess, text);
            return;
        }
        *size += payload.len();
        queue.answers.push_back(answer);
    }

    /// Sends what waits, as much as each client takes now.
    fn send(&mut self, clients: &zmq::Socket) {
        let Self { queues, sizes } = self;
        queues.retain(|to, queue| {
            while let Some([topic, payload]) = queue.answers.front() {
                let gone = match socket::send(clients, &[to, topic, payload]) {
                    Ok(()) => 1,
                    Err(LinkError::Full) => return true,
                    // It is gone, and with it whoever waited for these.
                    Err(_) => queue.answers.len(),
                };
                let bytes: usize = queue.answers.drain(..gone).map(|[_, one]| one.len()).sum();
                if let Some(size) = sizes.get_mut(&queue.key) {
                    *size = size.saturating_sub(bytes);
                }
            }
            false
        });
        if queues.is_empty() {
            sizes.clear();
        }
    }
}

/// Returns the address by which the thread that steps knows a client: it brings the key back with
/// each answer, so that nothing is kept for clients that have all of theirs.
fn address_of(key: u32, raw: &RoutingId) -> RoutingId {
    RoutingId([&[CLIENT], &key.to_be_bytes()[..], &raw.0].concat())
}

/// Returns the number of the key and libzmq's own address of a client; `None` for who is none.
fn parts_of(address: &RoutingId) -> Option<(u32, &[u8])> {
    let (&CLIENT, rest) = address.0.split_first()? else {
        return None;
    };
    let (key, raw) = rest.split_first_chunk::<KEY_BYTES>()?;
    Some((u32::from_be_bytes(*key), raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_client_brings_its_key_back() {
        let raw = RoutingId(vec![GIVEN, 1, 2, 3, 4]);
        for key in [0, 7, u32::MAX] {
            let address = address_of(key, &raw);
            assert_eq!(parts_of(&address), Some((key, &*raw.0)));
        }
        for other in ["", "s1", "@", "@abc"] {
            assert_eq!(parts_of(&RoutingId::from(other)), None, "{other}");
        }
    }
}
