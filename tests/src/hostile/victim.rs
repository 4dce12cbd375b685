//! [`Victim`]: a real run that is attacked, and those beside it who mean well.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::report::Stats;
use protocol::{Access, RequestId, SessionId, decode, topic};
use transport::Endpoints;

use super::messages;
use super::witness::Witness;
use crate::key_ring::KeyRing;
use crate::processes::{Process, Scratch, TIMEOUT, binary, let_pass};
use crate::repository;

/// Number of requests for figures until nobody seems to be there.
const FIGURES_TRIES: u32 = 20;

/// Way by which attackers reach a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the socket files, as any process of the user.
    Ipc,
    /// By tcp without keys.
    Tcp,
    /// By tcp with keys.
    Keys,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ipc, Self::Tcp, Self::Keys];
}

/// A key in the form that libzmq takes.
#[derive(Clone, Debug)]
pub(super) struct RawKey {
    pub(super) public: String,
    pub(super) secret: String,
    pub(super) server: String,
}

/// Place of a run, and the key by which it is reached.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    pub(super) endpoints: Endpoints,
    pub(super) key: Option<RawKey>,
}

/// The ways in that attackers have.
#[derive(Clone, Debug)]
pub(super) struct Reaches {
    pub(super) observer: Reach,
    pub(super) secondary: Reach,
    pub(super) controller: Reach,
    pub(super) no_key: Reach,
    pub(super) unknown_key: Reach,
    pub(super) wrong_primary: Reach,
    pub(super) revoked: Reach,
    pub(super) expired: Reach,
}

/// A run with two secondaries, on a world whose bits are known.
pub(super) struct Victim {
    pub(super) scratch: Scratch,
    pub(super) primary: Process,
    _secondaries: Vec<Process>,
    pub(super) reaches: Reaches,
    honest: Reach,
}

/// Returns the digests of so many iterations without anybody else.
///
/// # Panics
/// Panics if it does not run.
pub fn undisturbed(iterations: u64) -> String {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let mut command = Command::new(binary("worker"));
    command.args(["--iterations", &iterations.to_string()]);
    command.args(["--real-time-factor=0", "--bind", &scratch.endpoint()]);
    command.arg("--digests").arg(&digests).arg(ramp());
    let mut process = scratch.start("alone", &mut command);
    let code = process.wait_for_long(TIMEOUT * 10);
    assert_eq!(code, 0, "{}", process.stderr());
    std::fs::read_to_string(digests).expect("digests are text")
}

fn ramp() -> PathBuf {
    repository::root().join("worlds/ramp.sdf")
}

impl Victim {
    /// Starts a run that goes on until it is stopped.
    pub(super) fn start(way: Way, real_time_factor: f64) -> Self {
        let scratch = Scratch::new();
        let keys = KeyRing::new(scratch.path("keys"));
        let mut command = Command::new(binary("worker"));
        command.args(["--network-role=primary", "--network-secondaries=2"]);
        command.args(["--on-peer-loss=recover", "--stand-bys=1"]);
        command.args(["--real-time-factor", &real_time_factor.to_string()]);
        // Nobody is lost because the machine is busy.
        command.args(["--peer-timeout=300", "--heartbeat-timeout-ms=30000"]);
        command.arg("--journal").arg(scratch.path("journal"));
        for file in ["digests", "summary", "messages"] {
            command.arg(format!("--{file}")).arg(scratch.path(file));
        }
        let keys_made = (way == Way::Keys).then(|| Made::new(&scratch));
        match way {
            Way::Ipc => command.args(["--bind", &scratch.endpoint()]),
            Way::Tcp => command.args(["--bind", "tcp://127.0.0.1:0", "--insecure"]),
            Way::Keys => {
                keys.add("s1", Access::Secondary);
                keys.add("s2", Access::Secondary);
                command.args(["--bind", "tcp://127.0.0.1:0"]);
                command.args(keys.of_primary())
            }
        };
        let primary = scratch.start("primary", command.arg(ramp()));
        let line = primary.wait_for_stderr(" at ");
        let (_, address) = line.rsplit_once(" at ").expect("it was just found");
        let address = address.trim();
        let secondaries = ["s1", "s2"].map(|name| {
            let mut command = Command::new(binary("worker"));
            command.args(["--network-role=secondary", "--name", name]);
            command.args(["--connect", address]);
            if way == Way::Keys {
                command.args(keys.of_secondary(name));
            }
            scratch.start(name, &mut command)
        });
        primary.wait_for_stderr("all secondaries are ready");
        let endpoints: Endpoints = address.parse().expect("the primary says where it is");
        let (honest, reaches) = Made::reaches(keys_made, &endpoints, scratch.folder());
        Self {
            honest,
            reaches,
            primary,
            _secondaries: secondaries.into(),
            scratch,
        }
    }

    /// Returns the memory that the primary has \[MiB\].
    pub(super) fn memory_mib(&self) -> f64 {
        let path = format!("/proc/{}/status", self.primary.pid());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kib.unwrap_or_default() / 1024.0
    }

    /// Returns the size of its log \[MiB\].
    pub(super) fn log_mib(&self) -> f64 {
        self.primary.stderr().len() as f64 / f64::from(1 << 20)
    }

    /// Returns the last lines of its log.
    pub(super) fn last_words(&self) -> String {
        let text = self.primary.stderr();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }

    /// Ends the run as its owner may, and returns the exit code and the digests of the run.
    pub(super) fn stop(&mut self, client: &mut Honest) -> (Option<i32>, String) {
        client.ask(protocol::Command::Stop);
        let end = Instant::now() + TIMEOUT;
        let mut code = self.primary.ended();
        while code.is_none() && Instant::now() < end {
            let_pass(Duration::from_millis(20));
            code = self.primary.ended();
        }
        let digests = std::fs::read_to_string(self.scratch.path("digests"));
        (code, digests.unwrap_or_default())
    }

    /// Returns a client that means well.
    pub(super) fn client(&self) -> Honest {
        Honest::connect(&self.honest)
    }

    /// Has somebody ask all the time whether the primary is there.
    pub(super) fn witness(&self) -> Witness {
        Witness::start(&self.honest)
    }
}

/// Keys that are made for attackers and for who means well.
struct Made {
    keys: Vec<RawKey>,
}

impl Made {
    const NAMES: [(&str, &str); 6] = [
        ("honest", "controller"),
        ("mallory", "observer"),
        ("eve", "secondary"),
        ("trent", "controller"),
        ("oscar", "observer"),
        ("victor", "observer"),
    ];

    fn new(scratch: &Scratch) -> Self {
        let keys = Self::NAMES.map(|(name, role)| {
            let role = match name {
                "victor" => format!("{role} valid-until=2020-01-01"),
                _ => role.to_owned(),
            };
            RawKey::made(scratch, name, &role)
        });
        Self { keys: keys.into() }
    }

    /// Returns how the honest and the others reach a run; one key is taken away again.
    fn reaches(made: Option<Self>, endpoints: &Endpoints, folder: &Path) -> (Reach, Reaches) {
        let reach = |key: Option<RawKey>| Reach {
            endpoints: endpoints.clone(),
            key,
        };
        let Some(made) = made else {
            let all = || reach(None);
            let reaches = Reaches {
                observer: all(),
                secondary: all(),
                controller: all(),
                no_key: all(),
                unknown_key: all(),
                wrong_primary: all(),
                revoked: all(),
                expired: all(),
            };
            return (all(), reaches);
        };
        let revoked = folder.join("keys/authorized/oscar.pub");
        std::fs::remove_file(revoked).expect("it was written");
        let own = |index: usize| made.keys[index].clone();
        let other = RawKey::pair();
        let unknown = RawKey {
            public: other.0.clone(),
            secret: other.1,
            server: own(1).server,
        };
        let wrong = RawKey {
            server: other.0,
            ..own(1)
        };
        let reaches = Reaches {
            observer: reach(Some(own(1))),
            secondary: reach(Some(own(2))),
            controller: reach(Some(own(3))),
            no_key: reach(None),
            unknown_key: reach(Some(unknown)),
            wrong_primary: reach(Some(wrong)),
            revoked: reach(Some(own(4))),
            expired: reach(Some(own(5))),
        };
        (reach(Some(own(0))), reaches)
    }
}

impl RawKey {
    fn pair() -> (String, String) {
        let pair = zmq::CurveKeyPair::new().expect("libzmq has CURVE");
        let text = |key: &[u8]| zmq::z85_encode(key).expect("a key has 32 bytes");
        (text(&pair.public_key), text(&pair.secret_key))
    }

    /// Makes a key that the primary of a test knows by a line with these words.
    fn made(scratch: &Scratch, name: &str, words: &str) -> Self {
        let (public, secret) = Self::pair();
        let folder = scratch.path("keys");
        let (role, rest) = words.split_once(' ').unwrap_or((words, ""));
        let line = format!("{role} {public} {name} {rest}\n");
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
    /// Makes a socket that proves the key, if there is one.
    pub(super) fn open(&self, context: &zmq::Context, kind: zmq::SocketType) -> zmq::Socket {
        open(context, kind, self.key.as_ref())
    }
}

/// Makes a socket that proves a key.
fn open(context: &zmq::Context, kind: zmq::SocketType, key: Option<&RawKey>) -> zmq::Socket {
    let socket = context.socket(kind).expect("a socket can be made");
    socket.set_linger(0).expect("it is a number");
    if let Some(key) = key {
        let bytes = |text: &str| zmq::z85_decode(text).expect("it is a key");
        let set = [
            socket.set_curve_serverkey(&bytes(&key.server)),
            socket.set_curve_publickey(&bytes(&key.public)),
            socket.set_curve_secretkey(&bytes(&key.secret)),
        ];
        assert!(set.iter().all(Result::is_ok), "libzmq takes keys");
    }
    socket
}

/// A client that means well.
pub(super) struct Honest {
    socket: zmq::Socket,
    pub(super) session: SessionId,
    requests: u64,
}

impl Honest {
    fn connect(reach: &Reach) -> Self {
        Self::connect_to(&reach.endpoints.clients(), reach.key.as_ref())
    }

    /// Connects to the address of a run's clients.
    pub(super) fn connect_to(address: &str, key: Option<&RawKey>) -> Self {
        let socket = open(&zmq::Context::new(), zmq::DEALER, key);
        let connected = socket.connect(address);
        connected.expect("it is an address");
        socket.set_rcvtimeo(2_000).expect("it is a number");
        Self {
            socket,
            session: SessionId::UNKNOWN,
            requests: 0,
        }
    }

    /// Asks for something; `None` without an answer within two seconds.
    pub(super) fn ask(&mut self, command: protocol::Command) -> Option<Reply> {
        let request = self.send(command)?;
        self.answer(request)
    }

    fn send(&mut self, command: protocol::Command) -> Option<RequestId> {
        self.requests += 1;
        let message = messages::request(self.session, self.requests, command);
        let frames = [topic::REQUEST.as_bytes(), &message];
        self.socket.send_multipart(frames, 0).ok()?;
        Some(RequestId(self.requests))
    }

    fn answer(&mut self, request: RequestId) -> Option<Reply> {
        loop {
            let frames = self.socket.recv_multipart(0).ok()?;
            let answer = decode::<PrimaryToClient>(frames.get(1)?).ok()?;
            self.session = answer.session;
            if answer.body.request == request {
                return Some(answer.body.reply);
            }
        }
    }

    /// Returns the figures of the run; asked for again where others asked too often just now.
    pub(super) fn stats(&mut self) -> Option<Stats> {
        for _ in 0..FIGURES_TRIES {
            match self.ask(protocol::Command::Snapshot) {
                Some(Reply::Snapshot(snapshot)) => return Some(snapshot.stats),
                Some(_) => let_pass(Duration::from_millis(50)),
                None => {}
            }
        }
        None
    }
}

/// Returns the figures of a run and of another one at the same moment: both are asked before either
/// is heard, however long this process takes to hear them.
pub(super) fn stats_of(one: &mut Honest, other: Option<&mut Honest>) -> Option<[Option<Stats>; 2]> {
    let mut both = [Some(one), other];
    for _ in 0..FIGURES_TRIES {
        let asked = both.each_mut().map(|client| {
            let client = client.as_mut()?;
            client.send(protocol::Command::Snapshot)
        });
        let mut stats = [None, None];
        for ((client, request), stats) in both.iter_mut().zip(asked).zip(&mut stats) {
            if let (Some(client), Some(request)) = (client, request)
                && let Some(Reply::Snapshot(snapshot)) = client.answer(request)
            {
                *stats = Some(snapshot.stats);
            }
        }
        if stats[0].is_some() {
            return Some(stats);
        }
        let_pass(Duration::from_millis(50));
    }
    None
}
