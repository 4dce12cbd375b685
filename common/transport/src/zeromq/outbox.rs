//! [`Outbox`]: data that a secondary has said and its way has not taken yet.
//!
//! libzmq counts messages that wait and not their bytes, and tells neither: so few wait in its
//! socket and the others here, where whoever sends sees how much that is and for how long.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use protocol::RoutingId;

use super::socket;
use crate::link::{LinkError, WaitingData};

/// Interval at which what waits is tried again.
pub(super) const RETRY: Duration = Duration::from_millis(1);

/// Time for which an outbox that closes tries to deliver what waits in it, and its socket what it
/// has of it.
const LINGER: Duration = Duration::from_secs(2);

/// A socket for data, and what waits for room in it.
pub(super) struct Outbox {
    socket: zmq::Socket,
    own: RoutingId,
    /// Topics and payloads, oldest first, each with the time when it was said.
    waiting: VecDeque<(Vec<u8>, Vec<u8>, Instant)>,
    /// Size of the payloads that wait.
    bytes: usize,
    linger: Duration,
}

impl Outbox {
    /// Makes one of a socket by which data go under this routing id.
    ///
    /// # Errors
    /// Fails if the socket does.
    pub(super) fn new(socket: zmq::Socket, own: RoutingId) -> zmq::Result<Self> {
        let mut outbox = Self {
            socket,
            own,
            waiting: VecDeque::new(),
            bytes: 0,
            linger: LINGER,
        };
        outbox.set_linger(LINGER)?;
        Ok(outbox)
    }

    /// Has it try for so long to deliver what waits when it closes.
    ///
    /// # Errors
    /// Fails if the socket does.
    pub(super) fn set_linger(&mut self, linger: Duration) -> zmq::Result<()> {
        self.linger = linger;
        self.socket.set_linger(socket::milliseconds(linger))
    }

    /// Returns the socket.
    pub(super) fn socket(&self) -> &zmq::Socket {
        &self.socket
    }

    /// Tells whether the socket has room for a message.
    pub(super) fn has_room(&self) -> bool {
        let events = self.socket.get_events();
        // A socket that fails says so when something is sent by it.
        events.map_or(true, |events| events.contains(zmq::POLLOUT))
    }

    /// Sends a message, or has it wait for those before it.
    ///
    /// # Errors
    /// Fails if the transport itself failed, or the message is too large; the message is lost then.
    pub(super) fn send(&mut self, topic: &[u8], payload: &[u8]) -> Result<(), LinkError> {
        self.flush()?;
        if self.waiting.is_empty() {
            match socket::send(&self.socket, &[topic, &self.own.0, payload]) {
                Err(LinkError::Full) => {}
                sent => return sent,
            }
        }
        self.bytes += payload.len();
        let message = (topic.to_vec(), payload.to_vec(), Instant::now());
        self.waiting.push_back(message);
        Ok(())
    }

    /// Sends of what waits as much as there is room for.
    ///
    /// # Errors
    /// Fails if the transport itself failed; the message that it failed at is lost then.
    pub(super) fn flush(&mut self) -> Result<(), LinkError> {
        while let Some((topic, payload, _)) = self.waiting.front() {
            let sent = socket::send(&self.socket, &[topic, &self.own.0, payload]);
            if matches!(sent, Err(LinkError::Full)) {
                break;
            }
            self.bytes -= payload.len();
            self.waiting.pop_front();
            sent?;
        }
        Ok(())
    }

    /// Tells whether nothing waits here.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns how much waits here.
    pub(super) fn waiting(&self) -> WaitingData {
        let oldest = self.waiting.front();
        WaitingData {
            bytes: self.bytes,
            age: oldest.map_or(Duration::ZERO, |(_, _, since)| since.elapsed()),
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        let end = Instant::now() + self.linger;
        while self.flush().is_ok() && !self.is_empty() && Instant::now() < end {
            thread::sleep(RETRY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SocketOptions;
    use super::super::socket::{Queue, open};
    use super::*;

    const PLACE: &str = "inproc://data";

    fn sockets() -> (Outbox, zmq::Socket) {
        let context = zmq::Context::new();
        let socket = |kind| {
            let queue = ("data", Queue::Data);
            open(&context, kind, queue, None, &SocketOptions::default()).expect("a socket")
        };
        let (to, from) = (socket(zmq::PULL), socket(zmq::PUSH));
        to.bind(PLACE).expect("a free place");
        from.connect(PLACE).expect("a bound place");
        let outbox = Outbox::new(from, "s1-0".into());
        (outbox.expect("an open socket"), to)
    }

    fn payload(number: u32) -> Vec<u8> {
        [&number.to_le_bytes()[..], &[7; 996]].concat()
    }

    /// Receives the message of this number, and nothing else; `flush` is called until it is there.
    fn takes(to: &zmq::Socket, number: u32, mut flush: impl FnMut()) {
        let frames = loop {
            flush();
            match to.recv_multipart(zmq::DONTWAIT) {
                Err(zmq::Error::EAGAIN) => thread::yield_now(),
                frames => break frames.expect("a message"),
            }
        };
        assert_eq!(
            frames,
            [b"/data".to_vec(), b"s1-0".to_vec(), payload(number)]
        );
    }

    #[test]
    fn what_nobody_takes_waits_where_it_is_counted_and_comes_in_its_order() {
        let (mut outbox, to) = sockets();
        assert_eq!(outbox.waiting(), WaitingData::default());
        for number in 0..1_000 {
            outbox.send(b"/data", &payload(number)).expect("it waits");
        }
        let waiting = outbox.waiting();
        // A few are in the queues of both sockets.
        assert!(
            waiting.bytes >= 900_000 && !waiting.age.is_zero(),
            "{waiting:?}"
        );
        assert!(!outbox.has_room());
        for number in 0..1_000 {
            takes(&to, number, || outbox.flush().expect("an open socket"));
        }
        assert_eq!(outbox.waiting(), WaitingData::default());
    }

    #[test]
    fn an_outbox_that_closes_delivers_what_waits() {
        let (mut outbox, to) = sockets();
        for number in 0..200 {
            outbox.send(b"/data", &payload(number)).expect("it waits");
        }
        assert!(!outbox.is_empty());
        let closing = thread::spawn(move || drop(outbox));
        for number in 0..200 {
            takes(&to, number, || {});
        }
        closing.join().expect("it closes");
    }
}
