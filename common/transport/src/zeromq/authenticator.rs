//! [`Authenticator`]: the thread that libzmq asks who may enter an encrypted primary (RFC 27, ZAP).
//!
//! It knows who is authorized, and for which socket; what it says of somebody comes with each
//! message as [`Sender`]. It also hears of handshakes that fail before anybody is asked.

use std::io;
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use protocol::Access;
use zmq::{PollEvents, SocketEvent};

use super::admitted_keys::AdmittedKeys;
use super::gate::Sender;
use super::inbox::Frames;
use super::wake::{SocketWaker, WakeReceiver};
use crate::authorized::Authorized;
use crate::keys::PublicKey;
use crate::link::Waker;
use crate::refusals::{Reason, Tally};

/// Address at which libzmq looks for it.
const ZAP: &str = "inproc://zeromq.zap.01";

/// Time between two looks at whether who is authorized has changed.
const REREAD_INTERVAL: Duration = Duration::from_millis(500);

/// The sockets that only secondaries may use, by their domains.
const OF_SECONDARIES: [&[u8]; 4] = [b"control", b"step", b"data", b"beats"];

/// Decides who may enter, until it is dropped. It is made before the sockets are bound, and must
/// outlive them.
pub(super) struct Authenticator {
    waker: Arc<SocketWaker>,
    admitted_keys: AdmittedKeys,
    tally: Tally,
    thread: Option<JoinHandle<()>>,
}

/// State of the thread.
struct AuthenticationLoop {
    zap: zmq::Socket,
    monitors: Vec<zmq::Socket>,
    wake: WakeReceiver,
    authorized: Arc<Authorized>,
    admitted_keys: AdmittedKeys,
    looked_at: Instant,
    tally: Tally,
}

impl Authenticator {
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
        let authorized = Arc::new(authorized);
        let admitted_keys = AdmittedKeys::of(Arc::clone(&authorized));
        let keeper = AuthenticationLoop {
            zap,
            monitors,
            wake,
            authorized,
            admitted_keys: admitted_keys.clone(),
            looked_at: Instant::now(),
            tally: tally.clone(),
        };
        let thread = thread::Builder::new()
            .name("authenticator".to_owned())
            .spawn(move || {
                // Without an answer nobody enters; the link sees that this thread has ended.
                let _ = catch_unwind(AssertUnwindSafe(|| keeper.run()));
            })?;
        Ok(Self {
            waker,
            admitted_keys,
            tally,
            thread: Some(thread),
        })
    }

    /// Tells whether it still decides; libzmq would let in anybody when it does not.
    pub(super) fn is_kept(&self) -> bool {
        self.thread.as_ref().is_some_and(|it| !it.is_finished())
    }
}

impl Authenticator {
    /// Returns who sent a message to a socket and what it may do by now; `None` if nobody knows, or
    /// its key is authorized no more.
    pub(super) fn sender(&self, frames: &mut Frames, socket: &'static str) -> Option<Sender> {
        let Sender { key, .. } = frames.sender()?;
        let access = self.admitted_keys.hear(key, frames.origin(), socket);
        if access.is_none() {
            self.tally
                .note(Reason::Forbidden, || self.admitted_keys.why_out(key));
        }
        access.map(|access| Sender { access, key })
    }

    /// Returns the keys that were let in.
    pub(super) fn admitted_keys(&self) -> &AdmittedKeys {
        &self.admitted_keys
    }
}

impl Drop for Authenticator {
    fn drop(&mut self) {
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A reason why a connection is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Denial {
    /// The connection has no key.
    #[error("a connection without a key")]
    NoKey,
    /// No file of keys has the key.
    #[error("the key is not authorized")]
    Unknown,
    /// The key has ended.
    #[error("the key is not valid any more")]
    Expired,
    /// A controller cut the key off.
    #[error("a controller disconnected the key")]
    Barred,
    /// The key of an observer simulates nothing.
    #[error("an observer tried to take part as a secondary")]
    Observer,
    /// The key of a controller simulates nothing.
    #[error("a controller tried to take part as a secondary")]
    Controller,
    /// No more keys are let in.
    #[error("there are too many keys")]
    TooMany,
}

impl AuthenticationLoop {
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
            let timeout = i64::try_from(REREAD_INTERVAL.as_millis()).unwrap_or(i64::MAX);
            match zmq::poll(&mut items, timeout) {
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
                    note_events(monitor, &self.tally, &self.admitted_keys);
                }
            }
            self.reread();
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
            Ok(sender) => {
                if matches!(field(2), b"control" | b"clients") {
                    self.admitted_keys.note_admitted(sender.key, &address);
                }
                (&b"200"[..], "welcome".to_owned(), sender.user_id())
            }
            Err(why) => {
                let text = || denied(key, &address, why);
                self.tally.note(Reason::Unauthenticated, text);
                (&b"400"[..], why.to_string(), String::new())
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

    fn decide(&mut self, key: Option<PublicKey>, domain: &[u8]) -> Result<Sender, Denial> {
        let key = key.ok_or(Denial::NoKey)?;
        self.reread();
        let holder = self.authorized.holder(&key);
        let holder = holder.ok_or(Denial::Unknown)?;
        if !holder.is_valid(SystemTime::now()) {
            return Err(Denial::Expired);
        }
        if self.admitted_keys.is_barred(&key) {
            return Err(Denial::Barred);
        }
        let access = holder.access;
        if OF_SECONDARIES.contains(&domain) && !access.may_simulate() {
            return Err(match access {
                Access::Observer => Denial::Observer,
                _ => Denial::Controller,
            });
        }
        let key = self.admitted_keys.admit(key, holder);
        let key = key.ok_or(Denial::TooMany)?;
        Ok(Sender { access, key })
    }

    /// Takes over who is authorized now, if that has changed.
    fn reread(&mut self) {
        if self.looked_at.elapsed() < REREAD_INTERVAL {
            return;
        }
        self.looked_at = Instant::now();
        if let Some((authorized, errors)) = self.authorized.reread() {
            self.authorized = Arc::new(authorized);
            for error in errors {
                let text = || format!("keys that cannot be read are not let in: {error}");
                self.tally.note(Reason::Unauthenticated, text);
            }
        }
        for name in self
            .admitted_keys
            .update(&self.authorized, SystemTime::now())
        {
            let text = || format!("the key of {name} is not authorized any more");
            self.tally.note(Reason::Forbidden, text);
        }
    }
}

fn is_ready(item: &zmq::PollItem<'_>) -> bool {
    item.get_revents() != PollEvents::empty()
}

fn denied(key: Option<PublicKey>, address: &str, why: Denial) -> String {
    match key {
        Some(key) => format!("{address} with the key {key}: {why}"),
        None => format!("{address}: {why}"),
    }
}

/// Has a socket tell which handshakes fail before anybody is asked, and which connections end.
fn monitor(
    context: &zmq::Context,
    socket: &zmq::Socket,
    number: usize,
) -> zmq::Result<zmq::Socket> {
    let place = format!("inproc://authenticator-{number}");
    let events = [
        SocketEvent::HANDSHAKE_FAILED_PROTOCOL,
        SocketEvent::HANDSHAKE_FAILED_NO_DETAIL,
        SocketEvent::DISCONNECTED,
    ];
    let events = events.iter().map(|event| i32::from(event.to_raw())).sum();
    socket.monitor(&place, events)?;
    let monitor = context.socket(zmq::PAIR)?;
    monitor.set_linger(0)?;
    monitor.connect(&place)?;
    Ok(monitor)
}

fn note_events(monitor: &zmq::Socket, tally: &Tally, admitted_keys: &AdmittedKeys) {
    while let Ok(event) = monitor.recv_multipart(zmq::DONTWAIT) {
        let [low, high, value @ ..] = event.first().map_or(&[][..], Vec::as_slice) else {
            continue;
        };
        let number = u16::from_ne_bytes([*low, *high]);
        if number == SocketEvent::DISCONNECTED.to_raw() {
            if let Ok(value) = value.try_into() {
                admitted_keys.forget(RawFd::from_ne_bytes(value));
            }
            continue;
        }
        let why = if number == SocketEvent::HANDSHAKE_FAILED_PROTOCOL.to_raw() {
            "a connection without a key, or with another key of the primary than it has"
        } else {
            "a connection that broke off before it proved its key"
        };
        tally.note(Reason::Unauthenticated, || why.to_owned());
    }
}
