//! [`Door`]: the thread that libzmq asks who may enter an encrypted primary (RFC 27, ZAP).
//!
//! It knows who is authorized, and for which socket; what it says of somebody comes with each
//! message as [`Sender`]. It also hears of handshakes that fail before anybody is asked.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use protocol::Access;
use zmq::{PollEvents, SocketEvent};

use super::gate::Sender;
use super::wake::{SocketWaker, WakeReceiver};
use crate::authorized::{Authorized, Holder};
use crate::keys::PublicKey;
use crate::link::Waker;
use crate::refusals::{Reason, Tally};

/// Where libzmq looks for it.
const ZAP: &str = "inproc://zeromq.zap.01";

/// Time between two looks at whether who is authorized has changed.
const REREAD_INTERVAL: Duration = Duration::from_secs(1);

/// The sockets that only secondaries may use, by their domains.
const OF_SECONDARIES: [&[u8]; 4] = [b"control", b"step", b"data", b"beats"];

/// Decides who may enter, until it is dropped. It is made before the sockets are bound, and must
/// outlive them.
pub(super) struct Door {
    waker: Arc<SocketWaker>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread works with.
struct Doorkeeper {
    zap: zmq::Socket,
    monitors: Vec<zmq::Socket>,
    wake: WakeReceiver,
    authorized: Authorized,
    /// All keys that were ever let in; the place of one is its number.
    numbers: Vec<PublicKey>,
    looked_at: Instant,
    tally: Tally,
}

impl Door {
    /// Begins to decide for the sockets of a context.
    pub(super) fn open(
        context: &zmq::Context,
        monitored: &[&zmq::Socket],
        authorized: Authorized,
        tally: Tally,
    ) -> io::Result<Self> {
        let zap = context.socket(zmq::REP)?;
        zap.set_linger(0)?;
        zap.bind(ZAP)?;
        let monitors = monitored.iter().enumerate();
        let monitors = monitors.map(|(number, socket)| monitor(context, socket, number));
        let monitors = monitors.collect::<zmq::Result<_>>()?;
        let wake = WakeReceiver::new()?;
        let waker = wake.waker();
        let keeper = Doorkeeper {
            zap,
            monitors,
            wake,
            authorized,
            numbers: Vec::new(),
            looked_at: Instant::now(),
            tally,
        };
        let thread = thread::Builder::new()
            .name("door".to_owned())
            .spawn(move || {
                // Without an answer nobody enters; the link sees that this thread has ended.
                let _ = catch_unwind(AssertUnwindSafe(|| keeper.run()));
            })?;
        Ok(Self {
            waker,
            thread: Some(thread),
        })
    }

    /// Tells whether it still decides; libzmq would let in anybody when it does not.
    pub(super) fn is_kept(&self) -> bool {
        self.thread.as_ref().is_some_and(|it| !it.is_finished())
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Doorkeeper {
    /// Answers until it is woken.
    fn run(mut self) {
        loop {
            let mut items: Vec<zmq::PollItem<'_>> = self
                .monitors
                .iter()
                .chain([&self.zap])
                .map(|socket| socket.as_poll_item(zmq::POLLIN))
                .collect();
            items.push(zmq::PollItem::from_fd(self.wake.descriptor(), zmq::POLLIN));
            match zmq::poll(&mut items, -1) {
                Ok(_) | Err(zmq::Error::EINTR) => {}
                Err(_) => return,
            }
            let ready: Vec<bool> = items.iter().map(is_ready).collect();
            drop(items);
            if ready.last() == Some(&true) {
                return;
            }
            if ready[self.monitors.len()] && self.answer().is_err() {
                return;
            }
            for (monitor, is_ready) in self.monitors.iter().zip(ready) {
                if is_ready {
                    note_failures(monitor, &self.tally);
                }
            }
        }
    }

    /// Answers one question: version, request, domain, address, routing id, mechanism and key.
    fn answer(&mut self) -> zmq::Result<()> {
        let question = match self.zap.recv_multipart(zmq::DONTWAIT) {
            Ok(question) => question,
            Err(zmq::Error::EAGAIN | zmq::Error::EINTR) => return Ok(()),
            Err(error) => return Err(error),
        };
        let field = |index: usize| question.get(index).map_or(&[][..], Vec::as_slice);
        let key = PublicKey::from_bytes(field(6)).filter(|_| field(5) == b"CURVE");
        let address = String::from_utf8_lossy(field(3)).into_owned();
        let (code, text, user) = match self.decide(key, field(2)) {
            Ok(sender) => (&b"200"[..], "welcome", sender.user_id()),
            Err(why) => {
                let text = || denied(key, &address, why);
                self.tally.note(Reason::Unauthenticated, text);
                (&b"400"[..], why, String::new())
            }
        };
        let reply = [
            b"1.0",
            field(1),
            code,
            text.as_bytes(),
            user.as_bytes(),
            b"",
        ];
        self.zap.send_multipart(reply, 0)
    }

    fn decide(&mut self, key: Option<PublicKey>, domain: &[u8]) -> Result<Sender, &'static str> {
        let key = key.ok_or("a connection without a key")?;
        self.reread();
        let holder = self.authorized.holder(&key);
        let Holder { access, .. } = holder.ok_or("the key is not authorized")?;
        let access = *access;
        if OF_SECONDARIES.contains(&domain) && !access.may_simulate() {
            return Err(match access {
                Access::Observer => "an observer tried to take part as a secondary",
                _ => "a controller tried to take part as a secondary",
            });
        }
        let known = self.numbers.iter().position(|other| *other == key);
        let number = known.unwrap_or_else(|| {
            self.numbers.push(key);
            self.numbers.len() - 1
        });
        // Number 0 is that of everybody where nothing is encrypted.
        let key = u32::try_from(number + 1).map_err(|_| "there are too many keys")?;
        Ok(Sender { access, key })
    }

    /// Takes over who is authorized now, if that has changed.
    fn reread(&mut self) {
        if self.looked_at.elapsed() < REREAD_INTERVAL {
            return;
        }
        self.looked_at = Instant::now();
        match self.authorized.reread() {
            None => {}
            Some(Ok(authorized)) => self.authorized = authorized,
            Some(Err(error)) => {
                let text = || format!("who may connect stays as it was: {error}");
                self.tally.note(Reason::Unauthenticated, text);
            }
        }
    }
}

fn is_ready(item: &zmq::PollItem<'_>) -> bool {
    item.get_revents() != PollEvents::empty()
}

fn denied(key: Option<PublicKey>, address: &str, why: &str) -> String {
    match key {
        Some(key) => format!("{address} with the key {key}: {why}"),
        None => format!("{address}: {why}"),
    }
}

/// Has a socket tell which handshakes fail before anybody is asked.
fn monitor(
    context: &zmq::Context,
    socket: &zmq::Socket,
    number: usize,
) -> zmq::Result<zmq::Socket> {
    let place = format!("inproc://door-{number}");
    let events = [
        SocketEvent::HANDSHAKE_FAILED_PROTOCOL,
        SocketEvent::HANDSHAKE_FAILED_NO_DETAIL,
    ];
    let events = events.iter().map(|event| i32::from(event.to_raw())).sum();
    socket.monitor(&place, events)?;
    let monitor = context.socket(zmq::PAIR)?;
    monitor.set_linger(0)?;
    monitor.connect(&place)?;
    Ok(monitor)
}

fn note_failures(monitor: &zmq::Socket, tally: &Tally) {
    while let Ok(event) = monitor.recv_multipart(zmq::DONTWAIT) {
        let [low, high, ..] = event.first().map_or(&[][..], Vec::as_slice) else {
            continue;
        };
        let number = u16::from_ne_bytes([*low, *high]);
        let why = if number == SocketEvent::HANDSHAKE_FAILED_PROTOCOL.to_raw() {
            "a connection without a key, or with another key of the primary than it has"
        } else {
            "a connection that broke off before it proved its key"
        };
        tally.note(Reason::Unauthenticated, || why.to_owned());
    }
}
