//! [`Inbox`]: the sockets that one thread receives from, and the one place where it sleeps.
//!
//! A socket's descriptor becomes readable when libzmq's own thread has something for it, and is
//! silent again once any call has seen to that. So every socket that may hold a message is asked
//! first, without a system call if it does, and the thread sleeps only when all are empty.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use zmq_options::Connection;
use zmq_sys::{Watch, wait};

use super::gate::Sender;
use super::socket::{failed, not_sent, uninterrupted};
use super::wake::WakeReceiver;
use crate::link::{LinkError, Waker};

/// The most frames that a message may have: routing id, topic and payload.
const FRAMES_MAX: usize = 3;

/// A descriptor that is never ready.
const NO_DESCRIPTOR: RawFd = -1;

/// Number of messages that are taken in a row before the other descriptors are looked at.
const MESSAGES_PER_LOOK: u32 = 16;

/// The sockets that one thread receives from.
pub(super) struct Inbox {
    sources: Vec<Source>,
    /// The first so many sources are served in turn; the others when those are empty.
    in_turn: usize,
    /// The source that is asked first.
    next: usize,
    /// One for each source, then one for the waker.
    watches: Vec<Watch>,
    wake: WakeReceiver,
    messages_since_look: u32,
    /// Time for which it looks before it sleeps.
    spin: Duration,
}

/// Result of a wait.
#[expect(
    clippy::large_enum_variant,
    reason = "a box would cost an allocation per message"
)]
pub(super) enum Event {
    /// A message from the source of this number.
    Message(usize, Frames),
    /// Somebody woke the thread.
    Woken,
}

/// The frames of one message; those beyond the third are counted and dropped.
pub(super) struct Frames {
    kept: [zmq::Message; FRAMES_MAX],
    count: usize,
}

/// A frame that somebody keeps.
struct Owned(zmq::Message);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Time that a caller still wants to wait; its clock is read only when there is need to.
pub(super) struct PollTimeout {
    timeout: Option<Duration>,
    started: Option<Instant>,
}

struct Source {
    socket: zmq::Socket,
    /// False once the socket was found empty, until its descriptor or a send says otherwise.
    may_hold: bool,
    /// True while it is not to be asked.
    is_paused: bool,
}

impl Inbox {
    /// Takes sockets that are set up; the first `in_turn` are served in turn, the others when
    /// those are empty. Before it sleeps, it looks for `spin`.
    pub(super) fn new(
        sockets: Vec<zmq::Socket>,
        in_turn: usize,
        spin: Duration,
    ) -> io::Result<Self> {
        assert!(
            (1..=sockets.len()).contains(&in_turn),
            "an inbox serves at least one socket"
        );
        let wake = WakeReceiver::new()?;
        let mut watches = Vec::with_capacity(sockets.len() + 1);
        for socket in &sockets {
            watches.push(Watch::new(socket.get_fd()?));
        }
        watches.push(Watch::new(wake.descriptor()));
        let sources = sockets
            .into_iter()
            .map(|socket| Source {
                socket,
                may_hold: true,
                is_paused: false,
            })
            .collect();
        Ok(Self {
            sources,
            in_turn,
            next: 0,
            watches,
            wake,
            messages_since_look: 0,
            spin,
        })
    }

    /// Adds sockets after those that are served in turn, to be served in turn, too; the sources
    /// after them have higher numbers from now on.
    pub(super) fn insert_in_turn(&mut self, sockets: Vec<zmq::Socket>) -> io::Result<()> {
        for socket in sockets {
            let watch = Watch::new(socket.get_fd()?);
            self.watches.insert(self.in_turn, watch);
            let source = Source {
                socket,
                may_hold: true,
                is_paused: false,
            };
            self.sources.insert(self.in_turn, source);
            self.in_turn += 1;
        }
        Ok(())
    }

    /// Closes the sources from `first` on that are served in turn.
    pub(super) fn close_in_turn(&mut self, first: usize) {
        self.watches.drain(first..self.in_turn);
        self.sources.drain(first..self.in_turn);
        self.in_turn = first;
        self.next = 0;
    }

    /// Has a source read no more, or again; until then its messages wait where they are.
    pub(super) fn set_paused(&mut self, source: usize, is_paused: bool) -> io::Result<()> {
        let one = &mut self.sources[source];
        one.is_paused = is_paused;
        one.may_hold = !is_paused;
        // Its descriptor may be readable for as long as it is not asked.
        let descriptor = if is_paused {
            NO_DESCRIPTOR
        } else {
            one.socket.get_fd()?
        };
        self.watches[source] = Watch::new(descriptor);
        Ok(())
    }

    /// Returns a source's socket, to send through.
    pub(super) fn sender(&mut self, source: usize) -> &zmq::Socket {
        // Sending may swallow the signal that something has come.
        let one = &mut self.sources[source];
        one.may_hold = !one.is_paused;
        &self.sources[source].socket
    }

    pub(super) fn waker(&self) -> Arc<dyn Waker> {
        self.wake.waker()
    }

    /// Waits for what comes next; `None` when the time is up.
    pub(super) fn next(&mut self, timeout: &mut PollTimeout) -> Result<Option<Event>, LinkError> {
        loop {
            if self.messages_since_look < MESSAGES_PER_LOOK
                && let Some(event) = self.take_in_turn()?
            {
                return Ok(Some(event));
            }
            let may_hold = self.sources.iter().any(|source| source.may_hold);
            let found = if may_hold {
                self.look(Some(Duration::ZERO))?
            } else {
                let left = timeout.left();
                self.spin(left)? || self.look(left)?
            };
            if self.watches.last().is_some_and(Watch::is_ready) {
                self.wake.clear().map_err(transport)?;
                return Ok(Some(Event::Woken));
            }
            // The others come only now that those in turn have just been looked at.
            for take in [Self::take_in_turn, Self::take_other] {
                if let Some(event) = take(self)? {
                    return Ok(Some(event));
                }
            }
            if !found && timeout.is_over() {
                return Ok(None);
            }
        }
    }

    /// Takes a message from those sources that are served in turn.
    fn take_in_turn(&mut self) -> Result<Option<Event>, LinkError> {
        for offset in 0..self.in_turn {
            let source = (self.next + offset) % self.in_turn;
            if let Some(frames) = self.sources[source].take()? {
                self.next = source + 1;
                self.messages_since_look += 1;
                return Ok(Some(Event::Message(source, frames)));
            }
        }
        Ok(None)
    }

    fn take_other(&mut self) -> Result<Option<Event>, LinkError> {
        for source in self.in_turn..self.sources.len() {
            if let Some(frames) = self.sources[source].take()? {
                return Ok(Some(Event::Message(source, frames)));
            }
        }
        Ok(None)
    }

    /// Looks again and again for as long as it may, and no longer than the caller waits; others
    /// that want the core get it in between.
    fn spin(&mut self, left: Option<Duration>) -> Result<bool, LinkError> {
        if self.spin.is_zero() || left.is_some_and(|left| left.is_zero()) {
            return Ok(false);
        }
        let limit = left.map_or(self.spin, |left| left.min(self.spin));
        let begin = Instant::now();
        while begin.elapsed() < limit {
            if self.look(Some(Duration::ZERO))? {
                return Ok(true);
            }
            std::thread::yield_now();
        }
        Ok(false)
    }

    /// Waits for the descriptors and notes which sources may hold something; false if none does.
    fn look(&mut self, timeout: Option<Duration>) -> Result<bool, LinkError> {
        self.messages_since_look = 0;
        match wait(&mut self.watches, timeout) {
            Ok(false) => Ok(false),
            Ok(true) => {
                for (source, watch) in self.sources.iter_mut().zip(&self.watches) {
                    source.may_hold |= watch.is_ready();
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(transport(error)),
        }
    }
}

impl Frames {
    /// Returns the frames of a message that nobody sent.
    #[cfg(test)]
    pub(super) fn of(frames: &[&[u8]]) -> Self {
        let frame = |index: usize| zmq::Message::from(frames.get(index).copied().unwrap_or(&[]));
        Self {
            kept: std::array::from_fn(frame),
            count: frames.len(),
        }
    }

    /// Returns the frames if there are so many and no others.
    pub(super) fn exactly<const N: usize>(&self) -> Option<[&[u8]; N]> {
        (self.count == N).then(|| std::array::from_fn(|index| &*self.kept[index]))
    }

    /// Sends the frames as one message by a socket, without ever waiting and without a copy of its
    /// payload.
    pub(super) fn pass_on(self, socket: &zmq::Socket) -> Result<(), LinkError> {
        let count = self.count.min(FRAMES_MAX);
        let mut frames = self.kept.into_iter().take(count);
        let Some(payload) = frames.next_back() else {
            return Ok(());
        };
        for frame in frames {
            let more = || socket.send(&*frame, zmq::DONTWAIT | zmq::SNDMORE);
            uninterrupted(more).map_err(not_sent)?;
        }
        let sent = match socket.send(payload, zmq::DONTWAIT) {
            // A signal that comes just now costs the payload, and must not leave the message open:
            // the next one would be taken for its end.
            Err(zmq::Error::EINTR) => uninterrupted(|| socket.send(&[][..], zmq::DONTWAIT)),
            sent => sent,
        };
        sent.map_err(not_sent)
    }

    /// Returns the last frame that was kept, without a copy of it.
    pub(super) fn into_payload(self) -> Bytes {
        let last = self.count.clamp(1, FRAMES_MAX) - 1;
        let frame = self.kept.into_iter().nth(last);
        frame.map_or_else(Bytes::new, |frame| Bytes::from_owner(Owned(frame)))
    }

    /// Returns the connection that the message came by; `None` for what libzmq itself says.
    pub(super) fn origin(&mut self) -> Option<Connection> {
        let last = self.count.clamp(1, FRAMES_MAX) - 1;
        Connection::of(&mut self.kept[last])
    }

    /// Returns who sent the message, if that was found when the connection was made.
    pub(super) fn sender(&mut self) -> Option<Sender> {
        let last = self.count.clamp(1, FRAMES_MAX) - 1;
        Sender::of_user_id(self.kept[last].gets("User-Id")?)
    }
}

impl PollTimeout {
    pub(super) fn new(timeout: Option<Duration>) -> Self {
        Self {
            timeout,
            started: None,
        }
    }

    fn left(&mut self) -> Option<Duration> {
        let timeout = self.timeout?;
        if timeout.is_zero() {
            return Some(timeout);
        }
        let started = *self.started.get_or_insert_with(Instant::now);
        Some(timeout.saturating_sub(started.elapsed()))
    }

    /// Returns what is left of it, but no more than so much.
    pub(super) fn at_most(&mut self, most: Duration) -> Self {
        Self::new(Some(self.left().map_or(most, |left| left.min(most))))
    }

    pub(super) fn is_over(&mut self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }
}

impl Source {
    fn take(&mut self) -> Result<Option<Frames>, LinkError> {
        while self.may_hold {
            match self.receive() {
                Ok(frames) => return Ok(Some(frames)),
                Err(zmq::Error::EAGAIN) => self.may_hold = false,
                Err(zmq::Error::EINTR) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(None)
    }

    fn receive(&self) -> zmq::Result<Frames> {
        let mut frames = Frames {
            kept: [
                zmq::Message::new(),
                zmq::Message::new(),
                zmq::Message::new(),
            ],
            count: 0,
        };
        let mut surplus = zmq::Message::new();
        loop {
            let frame = frames.kept.get_mut(frames.count).unwrap_or(&mut surplus);
            // Only the first frame can be missing: libzmq hands over whole messages.
            self.socket.recv(frame, zmq::DONTWAIT)?;
            frames.count += 1;
            if !frame.get_more() {
                return Ok(frames);
            }
        }
    }
}

fn transport(error: io::Error) -> LinkError {
    LinkError::Transport(Box::new(error))
}
