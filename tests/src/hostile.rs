//! Peers that misbehave, each against a real run: what it may cost the run, and what it does.
//!
//! They speak with libzmq's own sockets or with bare ones, as a program would that is not ours.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use protocol::{
    Access, ClientToPrimary, Envelope, PeerName, ProtocolVersion, RequestId, SessionId, encode,
    topic,
};
use serde_json::{Value, json};
use transport::Endpoints;

use crate::key_ring::KeyRing;
use crate::processes::{Process, Scratch, binary, let_pass};
use crate::repository;

/// Iterations of a run under attack.
const ITERATIONS: u64 = 4_000;

/// Way by which an attacker reaches the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the socket files, as any process of the user.
    Ipc,
    /// By tcp, with a key that may only look.
    Observer,
}

/// Deed that an attacker does, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// Connects twice under one address, speaks on the first connection and closes it.
    TwoOfOneAddress,
    /// Fills `status` with subscriptions and breaks off.
    BrokenSubscriptions,
    /// Asks for the past of the run and never reads an answer.
    UnreadAnswers,
    /// Asks as fast as it can.
    Flood,
    /// Asks from twenty connections as fast as it can.
    FloodOfMany,
    /// Ends subscriptions that others have.
    EndsOfOthers,
    /// Subscribes to topics with names as long as they may be, without end.
    LongTopics,
    /// Sends what is no message.
    Garbage,
    /// Opens connections and says nothing.
    Silence,
    /// Speaks as a secondary would.
    Impostor,
}

impl Attack {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::TwoOfOneAddress,
        Self::BrokenSubscriptions,
        Self::UnreadAnswers,
        Self::Flood,
        Self::FloodOfMany,
        Self::EndsOfOthers,
        Self::LongTopics,
        Self::Garbage,
        Self::Silence,
        Self::Impostor,
    ];
}

/// Cost of an attack.
#[derive(Clone, Debug)]
pub struct Damage {
    /// Exit code of the primary, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Whether its digests are those of an undisturbed run.
    pub same_digests: bool,
    /// Growth of the primary's memory \[MiB\].
    pub memory_mib: f64,
    /// Growth of its log \[MiB\].
    pub log_mib: f64,
    /// Simulated over real time, of a run that is to have 1.
    pub pace: f64,
    /// Number of pings of another client that were answered.
    pub pings: u64,
    /// The slowest of them \[ms\].
    pub slowest_ping_ms: f64,
    /// Number of figures that another observer heard.
    pub figures: u64,
    /// The last lines of the primary's log.
    pub last_words: String,
}

impl Damage {
    /// Returns it as JSON.
    pub fn report(&self, attack: Attack, way: Way) -> Value {
        json!({
            "attack": format!("{attack:?}"),
            "way": format!("{way:?}"),
            "exit_code": self.exit_code,
            "same_digests": self.same_digests,
            "memory_mib": self.memory_mib,
            "log_mib": self.log_mib,
            "pace": self.pace,
            "pings": self.pings,
            "slowest_ping_ms": self.slowest_ping_ms,
            "figures": self.figures,
        })
    }
}

/// Runs the ramp with two secondaries under an attack, to its end.
///
/// # Panics
/// When the run cannot be started.
pub fn attack(attack: Attack, way: Way, undisturbed: &str) -> Damage {
    let run = Victim::start(way);
    let attacker = Attacker::of(&run, way);
    let is_over = Arc::new(AtomicBool::new(false));
    let bystanders = [false, true].map(|observes| {
        let (reach, is_over) = (run.honest.clone(), Arc::clone(&is_over));
        thread::spawn(move || {
            if observes {
                (count_figures(&reach, &is_over), 0.0)
            } else {
                ping(&reach, &is_over)
            }
        })
    });
    let before = run.memory_mib();
    let watched = {
        let (pid, is_over) = (run.primary.pid(), Arc::clone(&is_over));
        thread::spawn(move || {
            let mut most = 0.0_f64;
            while !is_over.load(Ordering::Relaxed) {
                most = most.max(memory_of(pid));
                let_pass(Duration::from_millis(20));
            }
            most
        })
    };
    let aggressor = {
        let is_over = Arc::clone(&is_over);
        thread::spawn(move || attacker.attack(attack, &is_over))
    };
    let mut run = run;
    let end = Instant::now() + Duration::from_secs(90);
    let exit_code = loop {
        if let Some(code) = run.primary.ended() {
            break Some(code);
        }
        if Instant::now() >= end {
            break None;
        }
        let_pass(Duration::from_millis(20));
    };
    is_over.store(true, Ordering::Relaxed);
    let _ = aggressor.join();
    let most = watched.join().unwrap_or_default();
    let [(pings, slowest), (figures, _)] = bystanders.map(|one| one.join().unwrap_or_default());
    let summary: Value = std::fs::read_to_string(run.scratch.path("summary"))
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let digests = std::fs::read_to_string(run.scratch.path("digests")).unwrap_or_default();
    Damage {
        exit_code,
        same_digests: digests == undisturbed,
        memory_mib: (most - before).max(0.0),
        log_mib: run.primary.stderr().len() as f64 / f64::from(1 << 20),
        pace: summary["real_time_factor"].as_f64().unwrap_or_default(),
        pings,
        slowest_ping_ms: slowest,
        figures,
        last_words: last_lines(&run.primary.stderr()),
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// Returns the digests of the same run without anybody else.
///
/// # Panics
/// When it does not run.
pub fn undisturbed() -> String {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let mut command = Command::new(binary("worker"));
    command.args(["--iterations", &ITERATIONS.to_string()]);
    command.args(["--real-time-factor=0", "--bind", &scratch.endpoint()]);
    command.arg("--digests").arg(&digests).arg(ramp());
    let mut process = scratch.start("alone", &mut command);
    assert_eq!(process.wait(), 0, "{}", process.stderr());
    std::fs::read_to_string(digests).expect("digests are text")
}

fn ramp() -> PathBuf {
    repository::root().join("worlds/ramp.sdf")
}

fn memory_of(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// A run that is attacked.
struct Victim {
    scratch: Scratch,
    primary: Process,
    _secondaries: Vec<Process>,
    endpoints: Endpoints,
    /// How clients that mean well reach it.
    honest: Reach,
    observer: Reach,
}

/// Place of a run, and the key by which it is reached.
#[derive(Clone, Debug)]
struct Reach {
    endpoints: Endpoints,
    key: Option<RawKey>,
}

/// A key in the form that libzmq takes.
#[derive(Clone, Debug)]
struct RawKey {
    public: String,
    secret: String,
    server: String,
}

impl Victim {
    fn start(way: Way) -> Self {
        let scratch = Scratch::new();
        let keys = KeyRing::new(scratch.path("keys"));
        let mut command = Command::new(binary("worker"));
        command.args(["--network-role=primary", "--network-secondaries=2"]);
        command.args(["--iterations", &ITERATIONS.to_string()]);
        command.args(["--real-time-factor", "1", "--journal"]);
        command.arg(scratch.path("journal"));
        for file in ["digests", "summary"] {
            command.arg(format!("--{file}")).arg(scratch.path(file));
        }
        let has_keys = way == Way::Observer;
        let raw = |name: &str, role: &str| has_keys.then(|| RawKey::made(&scratch, name, role));
        let (honest, observer) = (raw("honest", "controller"), raw("mallory", "observer"));
        if has_keys {
            keys.add("s1", Access::Secondary);
            keys.add("s2", Access::Secondary);
            command.args(["--bind", "tcp://127.0.0.1:0"]);
            command.args(keys.of_primary());
        } else {
            command.args(["--bind", &scratch.endpoint()]);
        }
        let primary = scratch.start("primary", command.arg(ramp()));
        let line = primary.wait_for_stderr(" at ");
        let (_, address) = line.rsplit_once(" at ").expect("it was just found");
        let address = address.trim();
        let secondaries = ["s1", "s2"].map(|name| {
            let mut command = Command::new(binary("worker"));
            command.args(["--network-role=secondary", "--name", name]);
            command.args(["--connect", address]);
            if has_keys {
                command.args(keys.of_secondary(name));
            }
            scratch.start(name, &mut command)
        });
        primary.wait_for_stderr("all secondaries are ready");
        let endpoints: Endpoints = address.parse().expect("the primary says where it is");
        let reach = |key| Reach {
            endpoints: endpoints.clone(),
            key,
        };
        Self {
            honest: reach(honest),
            observer: reach(observer),
            primary,
            _secondaries: secondaries.into(),
            endpoints,
            scratch,
        }
    }

    fn memory_mib(&self) -> f64 {
        memory_of(self.primary.pid())
    }
}

impl RawKey {
    /// Makes a key that the primary of a test knows.
    fn made(scratch: &Scratch, name: &str, role: &str) -> Self {
        let pair = zmq::CurveKeyPair::new().expect("libzmq has CURVE");
        let text = |key: &[u8]| zmq::z85_encode(key).expect("a key has 32 bytes");
        let (public, secret) = (text(&pair.public_key), text(&pair.secret_key));
        let folder = scratch.path("keys");
        let line = format!("{role} {public} {name}\n");
        let path = folder.join("authorized").join(format!("{name}.pub"));
        std::fs::write(path, line).expect("a line can be written");
        let server = std::fs::read_to_string(folder.join("primary.pub")).expect("it is there");
        let server = server.split_whitespace().find(|word| word.len() == 40);
        Self {
            public,
            secret,
            server: server.expect("the file has a key").to_owned(),
        }
    }
}

impl Reach {
    fn socket(&self, context: &zmq::Context, kind: zmq::SocketType, place: &str) -> zmq::Socket {
        self.named(context, kind, place, None)
    }

    fn named(
        &self,
        context: &zmq::Context,
        kind: zmq::SocketType,
        place: &str,
        name: Option<&str>,
    ) -> zmq::Socket {
        let socket = context.socket(kind).expect("a socket can be made");
        socket.set_linger(0).expect("it is a number");
        socket.set_sndhwm(0).expect("it is a number");
        if let Some(name) = name {
            socket.set_identity(name.as_bytes()).expect("it is short");
        }
        if let Some(key) = &self.key {
            let bytes = |text: &str| zmq::z85_decode(text).expect("it is a key");
            let set = [
                socket.set_curve_serverkey(&bytes(&key.server)),
                socket.set_curve_publickey(&bytes(&key.public)),
                socket.set_curve_secretkey(&bytes(&key.secret)),
            ];
            assert!(set.iter().all(Result::is_ok), "libzmq takes keys");
        }
        socket.connect(place).expect("it is an address");
        socket
    }
}

fn request(number: u64, command: protocol::Command) -> Vec<u8> {
    let request = RequestId(number);
    encode(&Envelope {
        version: ProtocolVersion::CURRENT,
        session: SessionId::UNKNOWN,
        sender: "client".parse::<PeerName>().expect("it is a name"),
        body: ClientToPrimary { request, command },
    })
}

/// Asks twenty times per second whether the primary is there; returns how often it answered, and
/// the longest time that it took \[ms\].
fn ping(reach: &Reach, is_over: &AtomicBool) -> (u64, f64) {
    let context = zmq::Context::new();
    let socket = reach.socket(&context, zmq::DEALER, &reach.endpoints.clients());
    socket.set_rcvtimeo(2_000).expect("it is a number");
    let (mut answered, mut slowest) = (0, 0.0_f64);
    for number in 1.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let begin = Instant::now();
        let message = request(number, protocol::Command::Ping);
        let _ = socket.send_multipart([topic::REQUEST.as_bytes(), &message], 0);
        if socket.recv_multipart(0).is_ok() {
            answered += 1;
            // The first one has the connection to make.
            if number > 1 {
                slowest = slowest.max(begin.elapsed().as_secs_f64() * 1e3);
            }
        }
        let_pass(Duration::from_millis(50));
    }
    (answered, slowest)
}

/// Counts the figures that an observer hears.
fn count_figures(reach: &Reach, is_over: &AtomicBool) -> u64 {
    let context = zmq::Context::new();
    let socket = reach.socket(&context, zmq::SUB, &reach.endpoints.status());
    let subscribed = socket.set_subscribe(topic::STATS.as_bytes());
    subscribed.expect("it is a topic");
    socket.set_rcvtimeo(100).expect("it is a number");
    let mut heard = 0;
    while !is_over.load(Ordering::Relaxed) {
        heard += u64::from(socket.recv_multipart(0).is_ok());
    }
    heard
}

/// Somebody who means no good.
struct Attacker {
    reach: Reach,
}

impl Attacker {
    fn of(run: &Victim, way: Way) -> Self {
        let reach = match way {
            Way::Ipc => Reach {
                endpoints: run.endpoints.clone(),
                key: None,
            },
            Way::Observer => run.observer.clone(),
        };
        Self { reach }
    }

    fn attack(&self, attack: Attack, is_over: &AtomicBool) {
        let is_over = || is_over.load(Ordering::Relaxed);
        match attack {
            Attack::TwoOfOneAddress => self.be_two(&is_over),
            Attack::BrokenSubscriptions => self.break_off(&is_over),
            Attack::UnreadAnswers => self.never_read(&is_over),
            Attack::Flood => self.flood(1, &is_over),
            Attack::FloodOfMany => self.flood(20, &is_over),
            Attack::EndsOfOthers => self.end_others(&is_over),
            Attack::LongTopics => self.listen_long(&is_over),
            Attack::Garbage => self.send_garbage(&is_over),
            Attack::Silence => self.be_silent(&is_over),
            Attack::Impostor => self.pretend(&is_over),
        }
    }

    fn be_two(&self, is_over: &dyn Fn() -> bool) {
        let endpoints = &self.reach.endpoints;
        for place in [endpoints.clients(), endpoints.control()].iter().cycle() {
            if is_over() {
                return;
            }
            let context = zmq::Context::new();
            let one = || self.reach.named(&context, zmq::DEALER, place, Some("x"));
            let speak = |socket: &zmq::Socket| {
                let _ = socket.send_multipart(["/request", ""], zmq::DONTWAIT);
                let_pass(Duration::from_millis(50));
            };
            let first = one();
            speak(&first);
            let second = one();
            speak(&second);
            speak(&first);
            drop(first);
            let_pass(Duration::from_millis(150));
            drop(second);
        }
    }

    fn break_off(&self, is_over: &dyn Fn() -> bool) {
        while !is_over() {
            let context = zmq::Context::new();
            let place = self.reach.endpoints.status();
            let socket = self.reach.socket(&context, zmq::XSUB, &place);
            for number in 0..20_000_u32 {
                let topic = [&[1], number.to_string().as_bytes()].concat();
                let _ = socket.send(topic, zmq::DONTWAIT);
            }
            let_pass(Duration::from_millis(20));
        }
    }

    fn never_read(&self, is_over: &dyn Fn() -> bool) {
        let context = zmq::Context::new();
        let place = self.reach.endpoints.clients();
        let socket = self.reach.socket(&context, zmq::DEALER, &place);
        socket.set_rcvhwm(1).expect("it is a number");
        for number in 0.. {
            if is_over() {
                return;
            }
            let message = request(number, protocol::Command::History);
            let _ = socket.send_multipart([topic::REQUEST.as_bytes(), &message], 0);
            if number % 100 == 0 {
                let_pass(Duration::from_millis(5));
            }
        }
    }

    fn flood(&self, connections: usize, is_over: &dyn Fn() -> bool) {
        let context = zmq::Context::new();
        let place = self.reach.endpoints.clients();
        let sockets: Vec<zmq::Socket> = (0..connections)
            .map(|_| {
                let socket = self.reach.socket(&context, zmq::DEALER, &place);
                // What the run does not take is not to fill the memory of this process.
                socket.set_sndhwm(1_000).expect("it is a number");
                socket
            })
            .collect();
        let message = request(1, protocol::Command::Ping);
        while !is_over() {
            for socket in &sockets {
                let frames = [topic::REQUEST.as_bytes(), &message];
                let _ = socket.send_multipart(frames, zmq::DONTWAIT);
                while socket.recv_multipart(zmq::DONTWAIT).is_ok() {}
            }
        }
    }

    fn end_others(&self, is_over: &dyn Fn() -> bool) {
        let context = zmq::Context::new();
        let place = self.reach.endpoints.status();
        let socket = self.reach.socket(&context, zmq::XSUB, &place);
        while !is_over() {
            for topic in ["", "/", topic::STATS, topic::HEARTBEAT, topic::ANNOUNCE] {
                for first in [0, 2, 255] {
                    let message = [&[first], topic.as_bytes()].concat();
                    let _ = socket.send(message, zmq::DONTWAIT);
                }
            }
            let_pass(Duration::from_millis(20));
        }
    }

    fn listen_long(&self, is_over: &dyn Fn() -> bool) {
        let context = zmq::Context::new();
        let place = self.reach.endpoints.status();
        let sockets = [1_000, 60_000].map(|length| {
            let socket = self.reach.socket(&context, zmq::XSUB, &place);
            socket.set_sndhwm(1_000).expect("it is a number");
            (socket, length)
        });
        for number in 0_u64.. {
            if is_over() {
                return;
            }
            for (socket, length) in &sockets {
                let name = number.to_string().repeat(*length);
                let topic = [&[1], &name.as_bytes()[..*length]].concat();
                let _ = socket.send(topic, zmq::DONTWAIT);
            }
            if number % 64 == 0 {
                let_pass(Duration::from_millis(1));
            }
        }
    }

    fn send_garbage(&self, is_over: &dyn Fn() -> bool) {
        let endpoints = &self.reach.endpoints;
        let context = zmq::Context::new();
        let open = |kind, place: &str| {
            let socket = self.reach.socket(&context, kind, place);
            socket.set_sndhwm(1_000).expect("it is a number");
            socket
        };
        let sockets = [
            open(zmq::DEALER, &endpoints.clients()),
            open(zmq::DEALER, &endpoints.control()),
            open(zmq::PUSH, &endpoints.data()),
            open(zmq::XSUB, &endpoints.step()),
            open(zmq::XSUB, &endpoints.beats()),
        ];
        let unknown = format!("\u{1}\u{81}{}", "unknown variant ".repeat(3_000));
        let large = vec![0xff; 60_000];
        while !is_over() {
            for socket in &sockets {
                for payload in [&[0xc1; 1][..], &large, unknown.as_bytes(), &[]] {
                    let topic = topic::REQUEST.as_bytes();
                    let _ = socket.send_multipart([topic, payload], zmq::DONTWAIT);
                    let _ = socket.send_multipart([payload; 7], zmq::DONTWAIT);
                }
            }
            let_pass(Duration::from_millis(1));
        }
    }

    fn be_silent(&self, is_over: &dyn Fn() -> bool) {
        let endpoints = &self.reach.endpoints;
        let mut held: Vec<Box<dyn Write>> = Vec::new();
        while !is_over() {
            for place in [endpoints.clients(), endpoints.control(), endpoints.status()] {
                let opened: Option<Box<dyn Write>> =
                    if let Some(path) = place.strip_prefix("ipc://") {
                        let stream = UnixStream::connect(path);
                        stream.ok().map(|stream| Box::new(stream) as Box<dyn Write>)
                    } else {
                        let stream = TcpStream::connect(place.replace("tcp://", ""));
                        stream.ok().map(|stream| Box::new(stream) as Box<dyn Write>)
                    };
                held.extend(opened);
            }
            if held.len() > 600 {
                held.clear();
            }
            let_pass(Duration::from_millis(2));
        }
    }

    fn pretend(&self, is_over: &dyn Fn() -> bool) {
        let endpoints = &self.reach.endpoints;
        let context = zmq::Context::new();
        let names = ["s1", "s2", "standalone", "\u{1}call", "s1~heartbeat"];
        let sockets: Vec<zmq::Socket> = names
            .iter()
            .map(|name| {
                let place = endpoints.control();
                let socket = self.reach.named(&context, zmq::DEALER, &place, Some(name));
                socket.set_sndhwm(1_000).expect("it is a number");
                socket
            })
            .collect();
        while !is_over() {
            for socket in &sockets {
                for topic in [
                    topic::STEP_ACK,
                    topic::HEARTBEAT,
                    topic::ANNOUNCE,
                    topic::REQUEST,
                ] {
                    let message = request(1, protocol::Command::Stop);
                    let _ = socket.send_multipart([topic.as_bytes(), &message], zmq::DONTWAIT);
                }
            }
            let_pass(Duration::from_millis(1));
        }
    }
}
