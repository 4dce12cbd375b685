//! Measures what CURVE costs: the round trip of a step over tcp on loopback, published to one
//! secondary and answered by it, with and without encryption.
//!
//! Prints one JSON line. Both are measured in turns in the same run, so that their ratio holds on a
//! machine that is shared. Run it with `cargo bench -p tests --bench security`.

use std::thread;
use std::time::{Duration, Instant};

use protocol::{Access, RoutingId, topic};
use serde_json::json;
use transport::zeromq::{Curve, PeerLink, PrimaryLink, SocketOptions};
use transport::{Arrival, Authorized, Destination, Endpoints, KeyPair, Link, Subscription};

const ROUNDS: usize = 3_000;
const TURNS: usize = 3;

/// Sizes of the step and of its answer \[bytes\].
const SIZES: [usize; 3] = [100, 10_000, 100_000];

const TIMEOUT: Duration = Duration::from_secs(30);

fn main() {
    let mut results = serde_json::Map::new();
    for size in SIZES {
        let (mut plain, mut curve) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..TURNS {
            plain = plain.min(round_trip(size, false));
            curve = curve.min(round_trip(size, true));
        }
        let entry = json!({"plain_us": plain, "curve_us": curve, "ratio": curve / plain});
        results.insert(format!("{size}_bytes"), entry);
    }
    #[expect(
        clippy::print_stdout,
        reason = "the result of a bench is what it prints"
    )]
    {
        println!("{}", json!({"bench": "security", "round_trip": results}));
    }
}

/// Returns the median round trip \[us\].
fn round_trip(size: usize, is_encrypted: bool) -> f64 {
    let [server, client] = [(); 2].map(|()| KeyPair::generate().expect("a key"));
    let primary_key = server.public();
    let authorized = Authorized::default().with(client.public(), Access::Secondary, "s1");
    let options = |curve| SocketOptions {
        curve: Some(curve).filter(|_| is_encrypted),
        insecure: !is_encrypted,
        ..SocketOptions::default()
    };
    let endpoints: Endpoints = "tcp://127.0.0.1:0".parse().expect("an endpoint");
    let at_primary = options(Curve::Primary {
        key: server,
        authorized,
    });
    let (mut primary, _status, _beats) = PrimaryLink::bind(&endpoints, &at_primary).expect("bound");
    let at_peer = options(Curve::Peer {
        key: client,
        primary: primary_key.into(),
    });
    let address = primary.endpoints().clone();
    let secondary = thread::spawn(move || answer_all(&address, &at_peer));

    let step = vec![7; size];
    let arrival = primary.receive(Some(TIMEOUT)).expect("the link holds");
    assert!(
        matches!(arrival, Some(Arrival::Subscribed(_))),
        "{arrival:?}"
    );
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| once(&mut primary, &step)).collect();
    primary
        .send(Destination::EverySecondary, topic::SESSION, b"stop")
        .expect("sent");
    secondary.join().expect("the secondary ends");
    times.sort_unstable();
    times[ROUNDS / 2].as_secs_f64() * 1e6
}

fn once(primary: &mut PrimaryLink, step: &[u8]) -> Duration {
    let start = Instant::now();
    primary
        .send(Destination::EverySecondary, topic::STEP, step)
        .expect("sent");
    let arrival = primary.receive(Some(TIMEOUT)).expect("the link holds");
    assert!(
        matches!(arrival, Some(Arrival::Message { .. })),
        "{arrival:?}"
    );
    start.elapsed()
}

/// Answers each step with as many bytes.
fn answer_all(endpoints: &Endpoints, options: &SocketOptions) {
    let routing = RoutingId::from("s1");
    let steps = Subscription::Steps;
    let mut link = PeerLink::connect(endpoints, Some(&routing), steps, options).expect("a link");
    loop {
        match link.receive(Some(TIMEOUT)).expect("the link holds") {
            Some(Arrival::Message { topic, payload, .. }) if topic == topic::STEP.as_bytes() => {
                link.send(Destination::Primary, topic::STEP_ACK, &payload)
                    .expect("sent");
            }
            Some(Arrival::Connected) => {}
            _ => return,
        }
    }
}
