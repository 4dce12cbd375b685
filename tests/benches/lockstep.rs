//! Measures the round trip of one empty step: raw Unix sockets, bare ZeroMQ sockets with the same
//! bytes, and the whole of our step, with 1, 2, 4 and 8 secondaries in processes of their own; and
//! what an iteration takes when secondaries do them ahead.
//!
//! Prints one JSON line. All are measured in turns in the same run, so that their ratios hold on a
//! machine that is shared. Run it with `cargo bench -p tests --bench lockstep`.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstep::limits::RUN_AHEAD_DEFAULT;
use lockstep::{Primary, SecondarySettings};
use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::StepAck;
use protocol::{
    Envelope, Iteration, PeerName, PrimaryToSecondary, ProtocolVersion, Role, RoutingId,
    SecondaryToPrimary, Sequence, SessionId, SimTime, encode, topic,
};
use serde_json::json;
use tests::cluster;
use transport::zeromq::{PeerLink, PrimaryLink, SocketOptions};
use transport::{Endpoints, Subscription};
use worker::heartbeat::{self, HeartbeatSettings, HeartbeatThread};
use worker::identity;
use worker::primary::PrimaryDriver;
use worker::report::Reporter;
use worker::run_outputs::RunOutputs;
use worker::secondary::SecondaryDriver;
use worker::status::StatusThread;

const ROUNDS: u32 = 20_000;
const TURNS: usize = 3;
const PEERS: [u32; 4] = [1, 2, 4, 8];
/// Number of iterations that a run has that goes ahead.
const AHEAD_ROUNDS: u32 = 200_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [_, "raw", address] => raw_peer(address),
        [_, "zeromq", address] => zeromq_peer(address),
        [_, "phalanx", address, name] => phalanx_peer(address, name),
        _ => measure(),
    }
}

/// One kind of round trip in one turn \[us\].
#[derive(Clone, Copy)]
struct Turn {
    median: f64,
    mean: f64,
}

/// Returns the least of one figure over all turns: the one that the machine disturbed least.
fn best(turns: &[Turn], figure: impl Fn(&Turn) -> f64) -> f64 {
    turns.iter().map(figure).fold(f64::INFINITY, f64::min)
}

fn medians(turns: &[Turn]) -> Vec<f64> {
    turns.iter().map(|turn| turn.median).collect()
}

fn measure() {
    let mut results = serde_json::Map::new();
    for peers in PEERS {
        let (mut raw, mut zeromq, mut phalanx) = (Vec::new(), Vec::new(), Vec::new());
        let mut ahead = Vec::new();
        for _ in 0..TURNS {
            raw.push(raw_round_trip(peers));
            zeromq.push(zeromq_round_trip(peers));
            phalanx.push(phalanx_round_trip(peers, ROUNDS, 1));
            ahead.push(phalanx_round_trip(peers, AHEAD_ROUNDS, RUN_AHEAD_DEFAULT));
        }
        let ratio =
            |a: &[Turn], b: &[Turn], figure: fn(&Turn) -> f64| best(a, figure) / best(b, figure);
        let entry = json!({
            "raw_unix_us": medians(&raw),
            "zeromq_us": medians(&zeromq),
            "phalanx_us": medians(&phalanx),
            "zeromq_over_raw": ratio(&zeromq, &raw, |turn| turn.median),
            "phalanx_over_zeromq": ratio(&phalanx, &zeromq, |turn| turn.median),
            "phalanx_over_zeromq_mean_period": ratio(&phalanx, &zeromq, |turn| turn.mean),
            "ahead_us_per_iteration": ahead.iter().map(|turn| turn.mean).collect::<Vec<_>>(),
            "ahead_over_zeromq_mean_period": ratio(&ahead, &zeromq, |turn| turn.mean),
        });
        results.insert(peers.to_string(), entry);
    }
    let line = json!({ "bench": "lockstep", "rounds": ROUNDS, "medians_by_peers": results });
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Returns the bytes of an empty step and of its ack, as they travel.
fn messages() -> (Vec<u8>, Vec<u8>) {
    let step = Envelope {
        version: ProtocolVersion::CURRENT,
        session: SessionId(u64::MAX),
        sender: PeerName::primary(),
        body: PrimaryToSecondary::Step(Arc::new(Step {
            sequence: Sequence(10_000),
            iteration: Iteration(10_000),
            sim_time: SimTime(10_000_000_000),
            step_size_ns: 1_000_000,
            ..Step::default()
        })),
    };
    let ack = Envelope {
        version: ProtocolVersion::CURRENT,
        session: SessionId(u64::MAX),
        sender: "s1".parse().expect("a peer name"),
        body: SecondaryToPrimary::StepAck(Arc::new(StepAck {
            sequence: Sequence(10_000),
            iteration: Iteration(10_000),
            busy_ns: 1000,
            ..StepAck::default()
        })),
    };
    (encode(&step), encode(&ack))
}

fn spawn(kind: &str, address: &str, name: &str) -> Child {
    let own = std::env::current_exe().expect("a running bench has a path");
    let mut command = Command::new(own);
    command.args([kind, address]);
    if !name.is_empty() {
        command.arg(name);
    }
    command.spawn().expect("the bench starts itself")
}

fn turn(mut times: Vec<Duration>) -> Turn {
    times.sort_unstable();
    let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
    let sum: Duration = times.iter().sum();
    Turn {
        median: micros(times[times.len() / 2]),
        mean: micros(sum) / times.len() as f64,
    }
}

fn raw_round_trip(peers: u32) -> Turn {
    let (step, ack) = messages();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let address = folder.path().join("raw");
    let listener = UnixListener::bind(&address).expect("a socket can be bound");
    let text = address.to_str().expect("the path is text");
    let children: Vec<Child> = (0..peers).map(|_| spawn("raw", text, "")).collect();
    let mut streams: Vec<UnixStream> = (0..peers)
        .map(|_| listener.accept().expect("a peer connects").0)
        .collect();
    let mut buffer = vec![0; ack.len()];
    let mut times = Vec::with_capacity(ROUNDS as usize);
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for stream in &mut streams {
            stream.write_all(&step).expect("a peer listens");
        }
        for stream in &mut streams {
            stream.read_exact(&mut buffer).expect("a peer answers");
        }
        times.push(begin.elapsed());
    }
    drop(streams);
    wait(children);
    turn(times)
}

fn raw_peer(address: &str) {
    let (step, ack) = messages();
    let mut stream = UnixStream::connect(address).expect("the bench listens");
    let mut buffer = vec![0; step.len()];
    while stream.read_exact(&mut buffer).is_ok() {
        if stream.write_all(&ack).is_err() {
            break;
        }
    }
}

fn zeromq_round_trip(peers: u32) -> Turn {
    let (step, _) = messages();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let context = zmq::Context::new();
    let publisher = context.socket(zmq::XPUB).expect("a socket can be made");
    let router = context.socket(zmq::ROUTER).expect("a socket can be made");
    publisher.set_sndhwm(0).expect("an option");
    publisher.set_xpub_verbose(true).expect("an option");
    router.set_rcvhwm(0).expect("an option");
    let address = format!("ipc://{}", folder.path().display());
    publisher
        .bind(&format!("{address}/step"))
        .expect("a socket can be bound");
    router
        .bind(&format!("{address}/control"))
        .expect("a socket can be bound");
    let children: Vec<Child> = (0..peers).map(|_| spawn("zeromq", &address, "")).collect();
    for _ in 0..peers {
        publisher.recv_multipart(0).expect("a peer subscribes");
    }
    let mut times = Vec::with_capacity(ROUNDS as usize);
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        publisher.send(topic::STEP, zmq::SNDMORE).expect("sent");
        publisher.send(&step, 0).expect("sent");
        for _ in 0..peers {
            router.recv_multipart(0).expect("a peer answers");
        }
        times.push(begin.elapsed());
    }
    publisher.send(topic::STEP, zmq::SNDMORE).expect("sent");
    publisher.send("stop", 0).expect("sent");
    wait(children);
    turn(times)
}

fn zeromq_peer(address: &str) {
    let (_, ack) = messages();
    let context = zmq::Context::new();
    let subscriber = context.socket(zmq::SUB).expect("a socket can be made");
    let dealer = context.socket(zmq::DEALER).expect("a socket can be made");
    dealer.set_linger(0).expect("an option");
    dealer
        .connect(&format!("{address}/control"))
        .expect("connected");
    subscriber
        .set_subscribe(topic::STEP.as_bytes())
        .expect("subscribed");
    subscriber
        .connect(&format!("{address}/step"))
        .expect("connected");
    loop {
        let parts = subscriber.recv_multipart(0).expect("the bench publishes");
        if parts.get(1).is_some_and(|part| part == b"stop") {
            return;
        }
        dealer.send(topic::STEP_ACK, zmq::SNDMORE).expect("sent");
        dealer.send(&ack, 0).expect("sent");
    }
}

/// Measures from publishing a step to its last ack; the mean is that of the whole period.
fn phalanx_round_trip(peers: u32, rounds: u32, run_ahead_max: u32) -> Turn {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let address = format!("ipc://{}", folder.path().display());
    let endpoints: Endpoints = address.parse().expect("an endpoint");
    let text = "<sdf version='1.10'><world name='empty'/></sdf>";
    let worlds = sdf::read_worlds(text, "empty.sdf", &sdf::NoFiles)
        .expect("a world")
        .worlds;
    let mut settings = cluster::settings(peers, u64::from(rounds));
    settings.pace.run_ahead_max = run_ahead_max;
    settings.peers.heartbeat_timeout = Some(Duration::from_secs(10));
    let (session, interval) = (settings.session, settings.peers.heartbeat_interval);
    let primary = Primary::new(settings, &worlds);
    let (link, publisher, beats) =
        PrimaryLink::bind(&endpoints, &SocketOptions::default()).expect("bound");
    let mut status = StatusThread::start(publisher, session, interval).expect("a thread");
    status.beat_by(beats).expect("a thread");
    let info = identity::peer_info(PeerName::primary(), Role::Primary);
    let driver = PrimaryDriver::new(
        link,
        primary,
        status,
        Reporter::new(worlds, info),
        RunOutputs::default(),
    )
    .expect("a thread");
    let children: Vec<Child> = (1..=peers)
        .map(|number| spawn("phalanx", &address, &format!("s{number}")))
        .collect();
    let summary = driver.run();
    assert_eq!(summary.iterations, u64::from(rounds), "{}", summary.cause);
    wait(children);
    Turn {
        median: summary.step_us.p50,
        mean: 1e6 / summary.steps_per_s,
    }
}

fn phalanx_peer(address: &str, name: &str) {
    let endpoints: Endpoints = address.parse().expect("an endpoint");
    let options = SocketOptions::default();
    let info = identity::peer_info(name.parse().expect("a peer name"), Role::Secondary);
    let routing = RoutingId::from(name);
    let link = PeerLink::connect(&endpoints, Some(&routing), Subscription::Steps, &options)
        .expect("connected");
    let settings = SecondarySettings {
        info,
        peer_timeout: Duration::from_secs(30),
    };
    let driver = SecondaryDriver::new(link, settings);
    let progress = driver.progress();
    driver.run(|secondary, welcome, stepper| {
        let topics = Subscription::Beats(&heartbeat::TOPICS);
        let link = PeerLink::connect(&endpoints, Some(&routing.heartbeat()), topics, &options)
            .expect("connected");
        let settings = HeartbeatSettings {
            name: secondary.name().clone(),
            session: secondary.session(),
            interval: welcome.heartbeat_interval,
            timeout: welcome.heartbeat_timeout,
            progress: progress.clone(),
        };
        HeartbeatThread::start(link, settings, stepper).expect("a thread")
    });
}

fn wait(children: Vec<Child>) {
    for mut child in children {
        child.wait().expect("a child can be waited for");
    }
}
