//! [`Attacker`]: the sockets of one attack, and the signs that it arrived.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use protocol::SessionId;

use super::bare::Bare;
use super::table::{Role, TargetSocket};
use super::victim::{Reach, Reaches};
use crate::processes::let_pass;

/// Longest time until the primary says anything to a connection.
const ARRIVAL: Duration = Duration::from_secs(10);

/// Number of sockets of one attack that tell what becomes of their connections.
const WATCHED_MAX: usize = 16;

/// Somebody who means no good.
pub(super) struct Attacker<'a> {
    context: zmq::Context,
    reaches: &'a Reaches,
    role: Role,
    pub(super) session: SessionId,
    /// The iteration that the run was at, as anybody may know.
    pub(super) iteration: u64,
    until: Instant,
    monitors: RefCell<Vec<zmq::Socket>>,
    seen: Cell<u64>,
}

impl<'a> Attacker<'a> {
    pub(super) fn new(
        reaches: &'a Reaches,
        role: Role,
        (session, iteration): (SessionId, u64),
        lasts: Duration,
    ) -> Self {
        Self {
            context: zmq::Context::new(),
            reaches,
            role,
            session,
            iteration,
            until: Instant::now() + lasts,
            monitors: RefCell::default(),
            seen: Cell::new(0),
        }
    }

    /// Tells whether there is time left.
    pub(super) fn goes_on(&self) -> bool {
        Instant::now() < self.until
    }

    /// Returns when the time is over.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Goes on for so long at least from now on.
    pub(super) fn stay(&mut self, lasts: Duration) {
        self.until = self.until.max(Instant::now() + lasts);
    }

    pub(super) fn reach(&self) -> &Reach {
        match self.role {
            Role::Observer => &self.reaches.observer,
            Role::Secondary => &self.reaches.secondary,
            Role::Controller => &self.reaches.controller,
            Role::NoKey => &self.reaches.no_key,
            Role::UnknownKey => &self.reaches.unknown_key,
            Role::WrongPrimary => &self.reaches.wrong_primary,
            Role::Revoked => &self.reaches.revoked,
            Role::Expired => &self.reaches.expired,
        }
    }

    pub(super) fn address(&self, target: TargetSocket) -> String {
        let endpoints = &self.reach().endpoints;
        match target {
            TargetSocket::Control => endpoints.control(),
            TargetSocket::Step => endpoints.step(),
            TargetSocket::Status => endpoints.status(),
            TargetSocket::Data => endpoints.data(),
            TargetSocket::Clients => endpoints.clients(),
            TargetSocket::Beats => endpoints.beats(),
        }
    }

    /// Connects as libzmq does, with a kind of socket that the place takes.
    pub(super) fn connect(&self, target: TargetSocket, name: Option<&[u8]>) -> zmq::Socket {
        let kind = match target {
            TargetSocket::Control | TargetSocket::Clients => zmq::DEALER,
            TargetSocket::Step | TargetSocket::Status | TargetSocket::Beats => zmq::XSUB,
            TargetSocket::Data => zmq::PUSH,
        };
        let socket = self.reach().open(&self.context, kind);
        socket.set_sndhwm(1_000).expect("it is a number");
        if let Some(name) = name {
            socket.set_identity(name).expect("it is short");
        }
        self.watch(&socket);
        let connected = socket.connect(&self.address(target));
        connected.expect("it is an address");
        socket
    }

    /// Connects and waits until the primary has said something to it.
    pub(super) fn arrive(&self, target: TargetSocket, name: Option<&[u8]>) -> zmq::Socket {
        let socket = self.connect(target, name);
        self.wait_until_seen();
        socket
    }

    fn watch(&self, socket: &zmq::Socket) {
        let mut monitors = self.monitors.borrow_mut();
        if monitors.len() >= WATCHED_MAX {
            return;
        }
        let target = format!("inproc://monitor-{}", monitors.len());
        let events = [
            zmq::SocketEvent::HANDSHAKE_SUCCEEDED,
            zmq::SocketEvent::HANDSHAKE_FAILED_AUTH,
            zmq::SocketEvent::HANDSHAKE_FAILED_PROTOCOL,
            zmq::SocketEvent::HANDSHAKE_FAILED_NO_DETAIL,
        ];
        let events = events.iter().map(|event| i32::from(event.to_raw())).sum();
        socket.monitor(&target, events).expect("it is an address");
        let monitor = self
            .context
            .socket(zmq::PAIR)
            .expect("a socket can be made");
        monitor.connect(&target).expect("it was just made");
        monitors.push(monitor);
    }

    /// Connects with a bare stream.
    pub(super) fn bare(&self, target: TargetSocket) -> Option<Bare> {
        Bare::connect(&self.address(target))
    }

    /// Notes that the primary has answered somehow.
    pub(super) fn note_seen(&self) {
        self.seen.set(self.seen.get() + 1);
    }

    /// Notes what a bare stream has heard.
    pub(super) fn note_heard(&self, heard: usize) {
        self.seen.set(self.seen.get() + heard as u64);
    }

    /// Returns how many signs there are that something arrived.
    pub(super) fn seen(&self) -> u64 {
        for monitor in self.monitors.borrow().iter() {
            while monitor.recv_multipart(zmq::DONTWAIT).is_ok() {
                self.note_seen();
            }
        }
        self.seen.get()
    }

    pub(super) fn wait_until_seen(&self) {
        let end = Instant::now() + ARRIVAL;
        while self.seen() == 0 && Instant::now() < end {
            let_pass(Duration::from_millis(1));
        }
    }

    /// Waits until a bare stream has heard anything, unless there are other signs.
    pub(super) fn wait_to_hear(&self, stream: &mut Bare) {
        let end = Instant::now() + ARRIVAL;
        while self.seen() == 0 && Instant::now() < end {
            self.note_heard(stream.hear());
        }
    }

    /// Reads what has come on a socket and counts it as a sign.
    pub(super) fn read(&self, socket: &zmq::Socket) {
        while socket.recv_multipart(zmq::DONTWAIT).is_ok() {
            self.note_seen();
        }
    }

    /// Waits for one answer on a socket, for as long as an arrival may take.
    pub(super) fn wait_for_answer(&self, socket: &zmq::Socket) -> Option<Vec<Vec<u8>>> {
        let timeout = ARRIVAL.as_millis() as i32;
        socket.set_rcvtimeo(timeout).expect("it is a number");
        let answer = socket.recv_multipart(0).ok();
        self.note_heard(usize::from(answer.is_some()));
        answer
    }
}
