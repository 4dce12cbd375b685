//! Shows that who may not connect, command or take part does not, and that the run computes the
//! same bits meanwhile; and that no secret leaves its file. Real processes meet real attackers.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::{
    Access, ClientToPrimary, Envelope, PeerName, ProtocolVersion, RequestId, RoutingId,
    SecondaryToPrimary, SessionId, decode, encode, topic,
};
use serde::Serialize;
use serde_json::Value;
use tests::key_ring::KeyRing;
use tests::processes::{Process, Scratch, TIMEOUT, binary, let_pass, wait_for};
use tests::repository;
use transport::zeromq::{Curve, PeerLink, SocketOptions};
use transport::{Arrival, Denial, Destination, Endpoints, KeyPair, Link, PublicKey, Subscription};

const ITERATIONS: &str = "2000";

fn ramp() -> PathBuf {
    repository::root().join("worlds/ramp.sdf")
}

fn worker(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary("worker"));
    command.args(arguments);
    command
}

/// A run by hand that waits, paused, with one secondary.
struct Guarded {
    scratch: Scratch,
    keys: KeyRing,
    primary: Process,
    secondary: Process,
    endpoints: Endpoints,
}

impl Guarded {
    fn start() -> Self {
        let scratch = Scratch::new();
        let keys = KeyRing::new(scratch.path("keys"));
        keys.add("s1", Access::Secondary);
        let mut command = worker(&["--network-role=primary", "--network-secondaries=1"]);
        command.args([
            "--bind=tcp://127.0.0.1:0",
            "--real-time-factor=0",
            "--paused",
            "--peer-timeout=300",
            "--heartbeat-timeout-ms=30000",
        ]);
        command
            .args(["--iterations", ITERATIONS])
            .args(keys.of_primary());
        for file in ["digests", "summary", "audit"] {
            command.arg(format!("--{file}")).arg(scratch.path(file));
        }
        let primary = scratch.start("primary", command.arg(ramp()));
        let line = primary.wait_for_stderr(" at tcp://");
        let (_, address) = line.rsplit_once(" at ").expect("it was just found");
        let endpoints = address
            .trim()
            .parse()
            .expect("the primary says where it is");
        let mut command = worker(&[
            "--network-role=secondary",
            "--name=s1",
            "--connect",
            address,
        ]);
        let secondary = scratch.start("s1", command.args(keys.of_secondary("s1")));
        primary.wait_for_stderr("all secondaries are ready");
        Self {
            scratch,
            keys,
            primary,
            secondary,
            endpoints,
        }
    }

    /// Connects a client with a key, or without one.
    fn connect(&self, curve: Option<Curve>) -> PeerLink {
        self.open(None, curve)
    }

    fn open(&self, id: Option<&RoutingId>, curve: Option<Curve>) -> PeerLink {
        let options = SocketOptions {
            curve,
            ..SocketOptions::default()
        };
        PeerLink::connect(&self.endpoints, id, Subscription::None, &options).expect("a link")
    }

    /// Connects as a secondary does.
    fn take_part_as(&self, name: &str) -> PeerLink {
        let key = self.keys.add(name, Access::Secondary);
        let_pass(Duration::from_millis(1100));
        self.open(Some(&RoutingId::from(name)), Some(self.keys.curve(&key)))
    }

    fn connect_as(&self, name: &str, access: Access) -> PeerLink {
        let key = self.keys.add(name, access);
        // The list is read again every second.
        let_pass(Duration::from_millis(1100));
        self.connect(Some(self.keys.curve(&key)))
    }

    /// Ends the run, and returns its summary and digests.
    fn end(mut self) -> (Value, String) {
        assert_eq!(self.primary.wait(), 0, "{}", self.primary.stderr());
        assert_eq!(self.secondary.wait(), 0, "{}", self.secondary.stderr());
        let read = |name| std::fs::read_to_string(self.scratch.path(name)).expect("it is there");
        let summary = serde_json::from_str(&read("summary")).expect("the summary is JSON");
        (summary, read("digests"))
    }
}

/// Sends a message of a session that the sender does not know.
fn send(link: &mut PeerLink, session: SessionId, topic: &str, body: impl Serialize) {
    let bytes = encode(&Envelope {
        version: ProtocolVersion::CURRENT,
        session,
        sender: "s1".parse::<PeerName>().expect("a name"),
        body,
    });
    link.send(Destination::Primary, topic, &bytes)
        .expect("sent");
}

/// Asks for something, and returns the session and the answer.
fn ask(link: &mut PeerLink, session: SessionId, command: protocol::Command) -> (SessionId, Reply) {
    let request = RequestId(1);
    send(
        link,
        session,
        topic::REQUEST,
        ClientToPrimary { request, command },
    );
    loop {
        match link.receive(Some(TIMEOUT)).expect("the link holds") {
            Some(Arrival::Message { payload, .. }) => {
                let envelope = decode::<PrimaryToClient>(&payload).expect("an answer");
                return (envelope.session, envelope.body.reply);
            }
            Some(Arrival::Connected) => {}
            other => panic!("no answer, but {other:?}"),
        }
    }
}

fn expect_refused(reply: &Reply, part: &str) {
    match reply {
        Reply::Failed { reason, .. } => assert!(reason.contains(part), "{reason}"),
        other => panic!("it was not refused: {other:?}"),
    }
}

fn expect_denied(link: &mut PeerLink, denial: Denial) {
    let arrival = link.receive(Some(TIMEOUT)).expect("the link holds");
    assert_eq!(arrival, Some(Arrival::Denied(denial)));
}

/// Returns the digests of the same run without anybody else.
fn undisturbed() -> String {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let mut command = worker(&[
        "--iterations",
        ITERATIONS,
        "--real-time-factor=0",
        "--digests",
    ]);
    let mut process = scratch.start("alone", command.arg(&digests).arg(ramp()));
    assert_eq!(process.wait(), 0, "{}", process.stderr());
    std::fs::read_to_string(digests).expect("digests are text")
}

#[test]
fn attackers_are_turned_away_and_the_run_computes_the_same() {
    let run = Guarded::start();
    // Who has no key, or one that nobody knows.
    let mut plain = run.connect(None);
    expect_denied(&mut plain, Denial::OnlyOneEncrypts);
    let stranger = run.keys.stranger("stranger");
    let mut stranger = run.connect(Some(run.keys.curve(&stranger)));
    expect_denied(&mut stranger, Denial::UnknownKey);
    // Who does not even speak ZeroMQ.
    let address = run.endpoints.control().replace("tcp://", "");
    for byte in [0x00, 0x16, 0xff] {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        let _ = stream.write_all(&[byte; 4096]);
    }
    // Who may watch, and wants to stop the run; who may take part, and wants to command.
    let mut observer = run.connect_as("bob", Access::Observer);
    let (session, reply) = ask(&mut observer, SessionId::UNKNOWN, protocol::Command::Ping);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    let (_, reply) = ask(&mut observer, session, protocol::Command::Stop);
    expect_refused(&reply, "the role observer may not command");
    let mut asking = run.connect_as("s3", Access::Secondary);
    let (_, reply) = ask(&mut asking, session, protocol::Command::Play);
    expect_refused(&reply, "the role secondary may not command");
    let mut second = run.take_part_as("s2");
    // Who may command, and speaks as a secondary; who may take part, and speaks as another.
    let mut controller = run.connect_as("ann", Access::Controller);
    let ack = || SecondaryToPrimary::StepAck(Arc::default());
    send(&mut controller, session, topic::STEP_ACK, ack());
    for _ in 0..100 {
        send(&mut second, session, topic::STEP_ACK, ack());
        second
            .send(Destination::Primary, topic::STEP_ACK, &[0xc1; 1000])
            .expect("sent");
    }
    // The run does not begin, and end, before that is there.
    wait_for("what is sent is refused", || {
        let (_, reply) = ask(&mut observer, session, protocol::Command::Snapshot);
        let Reply::Snapshot(snapshot) = reply else {
            panic!("no figures, but {reply:?}");
        };
        let refused = &snapshot.stats.refused;
        // Who only watches may not ask much more often.
        let_pass(Duration::from_millis(100));
        refused.foreign >= 100 && refused.malformed > 100
    });
    let (_, reply) = ask(&mut controller, session, protocol::Command::Play);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");

    let (summary, digests) = run.end();
    assert!(digests == undisturbed(), "the digests differ");
    let refused = |reason: &str| summary["refused"][reason].as_u64().unwrap_or(0);
    assert!(refused("unauthenticated") >= 2, "{}", summary["refused"]);
    assert_eq!(refused("forbidden"), 2, "{}", summary["refused"]);
    assert!(
        refused("foreign") >= 100 && refused("malformed") > 100,
        "{}",
        summary["refused"]
    );
}

#[test]
fn commands_are_audited_and_limited_keys_keep_to_their_limits() {
    let mut run = Guarded::start();
    let key = run.keys.add("rob", Access::Controller);
    let line = format!("controller {} rob allow=/model/r1/**\n", key.public());
    std::fs::write(run.scratch.path("keys/authorized/rob.pub"), line).expect("it is written");
    let mut observer = run.connect_as("bob", Access::Observer);
    let mut limited = run.connect(Some(run.keys.curve(&key)));
    let (session, _) = ask(&mut limited, SessionId::UNKNOWN, protocol::Command::Ping);
    let (_, reply) = ask(&mut limited, session, protocol::Command::Stop);
    expect_refused(&reply, "may only command what fits /model/r1/**");
    let (_, reply) = ask(&mut observer, session, protocol::Command::Pause);
    expect_refused(&reply, "may not command");
    let mut controller = run.connect_as("ann", Access::Controller);
    let (_, reply) = ask(&mut controller, session, protocol::Command::Stop);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    let audit = std::fs::read_to_string(run.scratch.path("audit")).expect("it is there");
    for part in [
        " joined key=s1 role=secondary address=127.0.0.1:",
        " joined key=bob role=observer address=127.0.0.1 connected",
        " refused key=rob role=controller address=127.0.0.1:",
        " refused key=bob role=observer address=127.0.0.1:",
        " commanded key=ann role=controller address=127.0.0.1:",
    ] {
        assert!(audit.contains(part), "{part} is not in\n{audit}");
    }
    assert!(audit.lines().any(|line| line.ends_with(" stop")), "{audit}");
    let told = run.primary.stderr();
    assert!(told.contains("stopped by ann (controller)"), "{told}");
    assert!(told.contains("rob (controller) was refused stop"), "{told}");
}

/// Has `phalanx` reach a run by hand with a key; returns exit code, stdout and stderr.
fn phalanx_as(run: &Guarded, name: &str, words: &[&str]) -> (i32, String, String) {
    let flags = run.keys.of_secondary(name);
    let mut all: Vec<&str> = words.to_vec();
    all.extend(flags.iter().map(String::as_str));
    run.scratch.phalanx_says(&all)
}

/// Starts `phalanx` to print the events of a run until it ends.
fn follow(run: &Guarded, name: &str) -> Process {
    let address = run.endpoints.to_string();
    let mut command = run.scratch.phalanx();
    command.args(["show", &address, "events", "--follow"]);
    command.args(run.keys.of_secondary(name));
    run.scratch.start(name, &mut command)
}

/// Starts `phalanx` to print what is said on a topic until the run ends.
fn echo(run: &Guarded, name: &str) -> Process {
    let address = run.endpoints.to_string();
    let mut command = run.scratch.phalanx();
    command.args(["topic", "echo", &address, "/model/rover/cmd_vel"]);
    command.args(run.keys.of_secondary(name));
    run.scratch.start(name, &mut command)
}

/// Returns the names of the keys that have connections to one of the sockets.
fn connected(run: &Guarded, socket: &str) -> Vec<String> {
    let address = run.endpoints.to_string();
    let words = ["ctl", &address, "clients", "--format", "json"];
    let (code, said, told) = phalanx_as(run, "ann", &words);
    assert_eq!(code, 0, "{told}");
    let clients: Value = serde_json::from_str(&said).expect("it is JSON");
    let connections = clients["connections"].as_array().expect("a list");
    let connections = connections.iter().filter(|one| one["socket"] == socket);
    let names = connections.map(|one| one["key"].as_str());
    let mut names: Vec<String> = names.flatten().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn a_key_that_is_disconnected_is_cut_off_at_once_and_others_go_on() {
    let mut run = Guarded::start();
    run.keys.add("ann", Access::Controller);
    for name in ["bob", "eve"] {
        run.keys.add(name, Access::Observer);
    }
    let_pass(Duration::from_millis(1100)); // The list is read again every second.
    let address = run.endpoints.to_string();
    let (mut bob, mut eve) = (echo(&run, "bob"), follow(&run, "eve"));
    wait_for("both listen", || {
        connected(&run, "status") == ["bob", "eve"]
            && connected(&run, "clients") == ["ann", "bob", "eve"]
    });
    // Who may only look is not told who else is here, and cuts off nobody.
    for words in [vec!["clients"], vec!["disconnect", "eve"]] {
        let words = [vec!["ctl", &address], words].concat();
        let (code, _, said) = phalanx_as(&run, "bob", &words);
        assert!(
            code == 1 && said.contains("may not command"),
            "{code}: {said}"
        );
    }
    let disconnect = |name: &str| phalanx_as(&run, "ann", &["ctl", &address, "disconnect", name]);
    let (code, _, said) = disconnect("bobby");
    assert!(
        code == 1 && said.contains("there are ann, bob, eve, s1"),
        "{said}"
    );
    let (code, _, said) = disconnect("ann");
    assert!(code == 1 && said.contains("by which you ask"), "{said}");
    let (code, _, said) = disconnect("s1");
    assert!(code == 1 && said.contains("computes cells"), "{said}");
    let (code, said, told) = disconnect("bob");
    assert!(code == 0 && said.contains("keeps it out"), "{said}{told}");
    // His connections are gone when the command is done, and he is not let in again.
    assert_eq!(connected(&run, "status"), ["eve"]);
    assert_eq!(connected(&run, "clients"), ["ann", "eve"]);
    assert_eq!(bob.wait(), 1);
    let told = bob.stderr();
    assert!(told.contains("does not know this key"), "{told}");
    let (code, _, said) = phalanx_as(&run, "bob", &["show", &address, "stats"]);
    assert!(
        code != 0 && said.contains("does not know this key"),
        "{said}"
    );

    let (code, _, told) = phalanx_as(&run, "ann", &["ctl", &address, "play"]);
    assert_eq!(code, 0, "{told}");
    assert_eq!(eve.wait(), 0, "{}", eve.stderr());
    let seen = eve.stdout();
    assert!(
        seen.contains("bob is disconnected (") && seen.contains("completed"),
        "{seen}"
    );
    let audit = run.scratch.path("audit");
    assert_eq!(run.primary.wait(), 0, "{}", run.primary.stderr());
    let audit = std::fs::read_to_string(audit).expect("it is there");
    let has = |parts: [&str; 2]| {
        let mut lines = audit.lines();
        lines.any(|line| parts.iter().all(|part| line.contains(part)))
    };
    assert!(has([" commanded key=ann ", " disconnect bob"]), "{audit}");
    let (_, digests) = run.end();
    assert!(digests == undisturbed(), "the digests differ");
}

/// A run of `phalanx run` with keys, which ann may command.
struct AnnsRun {
    scratch: Scratch,
    run: Process,
    address: String,
    key: String,
    server: String,
}

impl AnnsRun {
    fn start(arguments: &[&str]) -> Self {
        let scratch = Scratch::new();
        let folder = scratch.path("keys");
        let text = folder.display().to_string();
        let (code, _, said) = scratch.phalanx_says(&["keygen", "--out", &text, "ann"]);
        assert_eq!(code, 0, "{said}");
        std::fs::create_dir(folder.join("authorized")).expect("a folder");
        std::fs::copy(folder.join("ann.pub"), folder.join("authorized/ann.pub")).expect("a copy");
        let mut command = scratch.phalanx();
        command.args(["run", "--headless", "--name", "r", "--secondaries=2"]);
        command.args(["--bind", "tcp://127.0.0.1:0", "--keys", &text]);
        let run = scratch.start("run", command.args(arguments).arg(ramp()));
        wait_for("the run is there", || {
            let stats = scratch.phalanx_says(&["show", "r", "stats"]).1;
            ["paused", "running"]
                .iter()
                .any(|state| stats.contains(state))
        });
        let record = std::fs::read_to_string(scratch.path("r/run.json")).expect("a record");
        let record: Value = serde_json::from_str(&record).expect("JSON");
        Self {
            address: record["endpoint"].as_str().expect("an address").to_owned(),
            key: folder.join("ann.key").display().to_string(),
            server: scratch.path("r/keys/primary.pub").display().to_string(),
            scratch,
            run,
        }
    }

    /// Returns what ann asks for, as a command line.
    fn by_ann(&self, words: &[&str]) -> std::process::Command {
        let mut command = self.scratch.phalanx();
        command.args(["ctl", &self.address]).args(words);
        command.args(["--key", &self.key, "--server-key", &self.server]);
        command
    }

    fn ann_says(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.by_ann(words).output().expect("phalanx starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    }
}

#[test]
fn the_keys_of_a_run_itself_are_disconnected_by_nobody() {
    let mut it = AnnsRun::start(&["--paused"]);
    for (name, why) in [("views", "is kept"), ("secondaries", "computes cells")] {
        let (code, said) = it.ann_says(&["disconnect", name]);
        assert!(code == Some(1) && said.contains(why), "{name}: {said}");
    }
    let (code, said) = it.ann_says(&["stop"]);
    assert_eq!(
        (code, it.run.wait()),
        (Some(0), 0),
        "{said}{}",
        it.run.stderr()
    );
}

#[test]
fn texts_that_wait_are_not_read_once_their_key_is_disconnected() {
    let mut it = AnnsRun::start(&["--real-time-factor=1"]);
    let heavy = it.scratch.path("heavy.sdf");
    let text = "<!---->".repeat(100_000);
    std::fs::write(
        &heavy,
        format!("<sdf version='1.11'><model name='m'><link name='l'/></model></sdf>{text}"),
    )
    .expect("a file can be written");
    let heavy = heavy.display().to_string();
    // The first is read at once; each further one waits for more than seven seconds, in which a
    // busy machine has started all who ask.
    let (code, said) = it.ann_says(&["spawn", &heavy, "--name=m0"]);
    assert_eq!(code, Some(0), "{said}");
    let waiting: Vec<Process> = (1..12)
        .map(|number| {
            let name = format!("--name=m{number}");
            let mut command = it.by_ann(&["spawn", &heavy, &name]);
            it.scratch.start(&format!("spawn{number}"), &mut command)
        })
        .collect();
    let shown = |words: &[&str]| it.scratch.phalanx_says(&[&["show", "r"], words].concat()).1;
    wait_for("all have asked", || {
        let log = std::fs::read_to_string(it.scratch.path("r/audit.log")).unwrap_or_default();
        log.matches("spawn").count() == 12
    });
    let (code, _, said) = it.scratch.phalanx_says(&["ctl", "r", "disconnect", "ann"]);
    assert_eq!(code, 0, "{said}");
    let mut dropped = 0;
    wait_for("what waits is dropped", || {
        let events = shown(&["events"]);
        let told = events.split_once("ann was refused commands that waited: ");
        let count = told.and_then(|(_, rest)| rest.split(',').next()?.parse().ok());
        dropped = count.unwrap_or(0);
        dropped > 0
    });
    // One may be read just now.
    wait_for(&format!("the others of {dropped} are there"), || {
        let performers = shown(&["performers"]);
        let is_there = |number: &usize| performers.contains(&format!("m{number} "));
        (0..12).filter(is_there).count() + dropped == 12
    });
    drop(waiting);
    let (code, _, said) = it.scratch.phalanx_says(&["ctl", "r", "stop"]);
    assert_eq!((code, it.run.wait()), (0, 0), "{said}");
}

#[test]
fn peers_with_the_next_key_need_no_change_at_its_rotation() {
    let mut run = Guarded::start();
    let folder = run.scratch.path("keys");
    run.keys.add("ann", Access::Controller);
    let next = KeyPair::generate().expect("a key");
    next.write(&folder, "next", "primary", false)
        .expect("a key can be written");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it is there");
    std::fs::write(
        folder.join("both.pub"),
        read("primary.pub") + &read("next.pub"),
    )
    .expect("a file");
    let_pass(Duration::from_millis(1100)); // The list is read again every second.
    let address = run.endpoints.to_string();
    let path = |name: &str| folder.join(name).display().to_string();
    let (key, both) = (path("ann.key"), path("both.pub"));
    let says = |run: &Guarded, words: &[&str]| {
        let keys = ["--key", &key, "--server-key", &both];
        run.scratch.phalanx_says(&[words, &keys].concat())
    };
    let (code, _, said) = says(&run, &["ctl", &address, "stop"]);
    assert_eq!((code, run.primary.wait()), (0, 0), "{said}");
    assert_eq!(run.secondary.wait(), 0, "{}", run.secondary.stderr());
    // Who waits for a primary finds the one with the next key as well.
    let mut command = worker(&["--network-role=secondary", "--name=s1"]);
    command.args(["--connect", &address, "--key", &path("s1.key")]);
    command.args(["--server-key", &both]);
    let mut secondary = run.scratch.start("s1-next", &mut command);
    let mut command = worker(&["--network-role=primary", "--network-secondaries=1"]);
    command.args(["--real-time-factor=0", "--paused", "--bind", &address]);
    command.args([
        "--key",
        &path("next.key"),
        "--authorized",
        &path("authorized"),
    ]);
    let mut primary = run.scratch.start("next", command.arg(ramp()));
    primary.wait_for_stderr("all secondaries are ready");
    let (code, said, told) = says(&run, &["show", &address, "stats"]);
    assert!(code == 0 && said.contains("paused"), "{said}{told}");
    let (code, _, said) = says(&run, &["ctl", &address, "stop"]);
    assert_eq!(
        (code, primary.wait(), secondary.wait()),
        (0, 0, 0),
        "{said}"
    );
}

#[test]
fn without_keys_processes_are_listed_and_none_is_cut_off_by_name() {
    let scratch = Scratch::new();
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--paused", "--name", "r"]);
    let mut run = scratch.start("run", command.arg(ramp()));
    let says = |arguments: &[&str]| scratch.phalanx_says(arguments);
    wait_for("the run is there", || {
        says(&["show", "r", "stats"]).1.contains("paused")
    });
    let mut command = scratch.phalanx();
    command.args(["show", "r", "events", "--follow"]);
    let mut listener = scratch.start("listener", &mut command);
    let pid = u64::from(listener.pid());
    wait_for("the listener is listed", || {
        let (code, said, _) = says(&["ctl", "r", "clients", "--format", "json"]);
        let clients: Value = serde_json::from_str(&said).unwrap_or_default();
        let connections = clients["connections"].as_array();
        let mut listed = connections.into_iter().flatten();
        code == 0 && listed.any(|one| one["pid"] == pid && one["socket"] == "status")
    });
    let (code, said, _) = says(&["ctl", "r", "clients"]);
    assert!(code == 0 && said.contains(&format!("pid {pid}")), "{said}");
    let (code, _, said) = says(&["ctl", "r", "disconnect", "bob"]);
    assert!(code == 1 && said.contains("this run has no keys"), "{said}");
    assert_eq!(says(&["ctl", "r", "stop"]).0, 0);
    assert_eq!((run.wait(), listener.wait()), (0, 0), "{}", run.stderr());
}

/// Tries to take part, and returns exit code and last words.
fn join(run: &Guarded, flags: &[String]) -> (i32, String) {
    let address = run.endpoints.to_string();
    let mut command = worker(&[
        "--network-role=secondary",
        "--name=s9",
        "--peer-timeout=120",
    ]);
    command.args(["--connect", &address]).args(flags);
    let mut process = run.scratch.start("s9", &mut command);
    (process.wait(), process.stderr())
}

#[test]
fn a_secondary_that_may_not_take_part_says_why_and_what_to_do() {
    let run = Guarded::start();
    run.keys.stranger("stranger");
    run.keys.add("bob", Access::Observer);
    let_pass(Duration::from_millis(1100)); // The list is read again every second.
    let check = |flags: &[String], part: &str| {
        let (code, said) = join(&run, flags);
        assert!(code == 3 && said.contains(part), "{code}: {said}");
    };
    check(&[], "--server-key");
    check(&run.keys.of_secondary("stranger"), "does not know this key");
    check(
        &run.keys.of_secondary("bob"),
        "does not know this key as one of a secondary",
    );
    let key = run.keys.file("s1");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("a mode is set");
    check(&run.keys.of_secondary("s1"), "chmod 600");
}

/// Returns all files below a folder with their modes.
fn files(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("an entry").path();
        let data = std::fs::symlink_metadata(&path).expect("it is there");
        if data.is_dir() {
            found.extend(files(&path));
        }
        found.push((path, data.permissions().mode() & 0o777));
    }
    found
}

fn contains(bytes: &[u8], part: &str) -> bool {
    bytes
        .windows(part.len())
        .any(|window| window == part.as_bytes())
}

/// Returns the secrets of a run, by the files that they are in.
fn secrets(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut secrets = Vec::new();
    for (path, _) in files(folder) {
        if path.extension().is_some_and(|kind| kind == "key") {
            let text = std::fs::read_to_string(&path).expect("a key is text");
            let secret = text.lines().find_map(|line| line.strip_prefix("secret "));
            let secret = secret.expect("the file has a secret").to_owned();
            secrets.push((path, secret));
        }
    }
    secrets
}

#[test]
fn a_run_that_is_reached_by_tcp_has_keys_by_itself_and_shows_no_secret() {
    let scratch = Scratch::new();
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--name", "r", "--secondaries", "2"]);
    command
        .args(["--bind", "tcp://127.0.0.1:0", "--log-level", "trace"])
        .arg(ramp());
    command.env("PHALANX_KEYS", scratch.path("nokeys"));
    let mut run = scratch.start("run", &mut command);
    let says = |arguments: &[&str]| scratch.phalanx_says(arguments);
    wait_for("the run runs", || {
        says(&["show", "r", "stats"]).1.contains("running")
    });
    let record = std::fs::read_to_string(scratch.path("r/run.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let address = record["endpoint"].as_str().expect("an address").to_owned();
    assert!(address.starts_with("tcp://127.0.0.1:"), "{address}");

    let secrets = secrets(&scratch.path("r/keys"));
    assert_eq!(
        secrets.len(),
        3,
        "of the primary, the secondaries and the views"
    );
    let mut pids = vec![run.pid()];
    for worker in record["workers"].as_array().expect("a list") {
        pids.push(u32::try_from(worker["pid"].as_u64().expect("a pid")).expect("small"));
    }
    assert_eq!(pids.len(), 4);
    for pid in pids {
        for file in ["cmdline", "environ"] {
            let bytes = std::fs::read(format!("/proc/{pid}/{file}")).expect("our own process");
            let is_seen = secrets.iter().any(|(_, secret)| contains(&bytes, secret));
            assert!(!is_seen, "{file} of {pid} has a secret");
        }
    }
    // Without keys, and by hand with those of the run.
    let (code, _, said) = says(&["show", &address, "stats"]);
    assert!(code != 0 && said.contains("--server-key"), "{code}: {said}");
    let path = |name: &str| scratch.path("r/keys").join(name).display().to_string();
    let (key, server) = (path("view.key"), path("primary.pub"));
    let (code, _, said) = says(&[
        "ctl",
        &address,
        "stop",
        "--key",
        &key,
        "--server-key",
        &server,
    ]);
    assert_eq!((code, run.wait()), (0, 0), "{said}{}", run.stderr());

    for (path, mode) in files(&scratch.path("r")) {
        let is_public = path.extension().is_some_and(|kind| kind == "pub");
        assert!(
            mode % 0o100 == 0 || is_public,
            "{} has mode {mode:o}",
            path.display()
        );
        let is_key = path.extension().is_some_and(|kind| kind == "key");
        if path.is_file() && !is_key {
            let bytes = std::fs::read(&path).expect("our own file");
            let is_seen = secrets.iter().any(|(_, secret)| contains(&bytes, secret));
            assert!(!is_seen, "{} has a secret", path.display());
        }
    }
    for output in [run.stdout(), run.stderr()] {
        let is_seen = secrets.iter().any(|(_, secret)| output.contains(secret));
        assert!(!is_seen, "{output}");
    }
}

#[test]
fn keys_are_made_shown_and_never_replaced_by_mistake() {
    let scratch = Scratch::new();
    let folder = scratch.path("keys").display().to_string();
    let make = |more: &[&str]| {
        let mut words = vec!["keygen", "--out", &folder];
        words.extend(more);
        scratch.phalanx_says(&words)
    };
    let (code, said, _) = make(&["lab", "--role", "secondary"]);
    assert_eq!(code, 0);
    let public = PublicKey::read(&scratch.path("keys/lab.pub")).expect("a public key");
    assert!(
        said.contains(&public.to_string()) && said.contains("authorized"),
        "{said}"
    );
    let key = KeyPair::read(&scratch.path("keys/lab.key")).expect("a secret key");
    assert_eq!(key.public(), public);
    let (code, _, said) = make(&["lab", "--role", "observer"]);
    assert!(code == 2 && said.contains("--force"), "{code}: {said}");
    let (code, said, _) = make(&["--role", "primary"]);
    assert!(code == 0 && said.contains("primary.key"), "{said}");
    assert_eq!(make(&["lab", "--force"]).0, 0);
    let (code, _, said) = make(&["../lab"]);
    assert!(code == 2 && said.contains("letters"), "{code}: {said}");
}
