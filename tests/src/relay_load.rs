//! Load of a primary's link with and without relays: steps that many secondaries answer at once,
//! each from a thread of its own, with a payload and no physics.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use protocol::{RoutingId, topic};
use transport::zeromq::{HOLD, PeerLink, PrimaryLink, Relay, RelaySettings, SocketOptions};
use transport::{Arrival, Destination, Endpoints, Link, Subscription, Waker};

/// Size of an answer \[bytes\]: about that of a dozen performers.
const ANSWER_BYTES: usize = 2_000;

/// Size of a step \[bytes\].
const STEP_BYTES: usize = 4_000;

/// Time that anything that must happen may take.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Load that was measured.
#[derive(Clone, Copy, Debug)]
pub struct RelayLoad {
    /// From publishing a step to the last answer \[us\].
    pub step_us: f64,
    /// Messages with answers that the primary receives for a step.
    pub messages_per_step: f64,
}

/// Measures steps that so many secondaries of so many hosts answer; each host may have a relay.
///
/// # Panics
/// Panics if a socket cannot be made, or an answer does not come.
pub fn measure(hosts: usize, per_host: usize, steps: u32, has_relays: bool) -> RelayLoad {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let any: Endpoints = "tcp://127.0.0.1:0".parse().expect("an address");
    let (mut primary, _status, _beats) =
        PrimaryLink::bind(&any, &options()).expect("loopback has free ports");
    let at = primary.endpoints().clone();
    let mut relays = Vec::new();
    let mut secondaries = Vec::new();
    for host in 0..hosts {
        let place = if has_relays {
            let place = place_of(folder.path(), host);
            relays.push(RelayThread::start(host, &at, &place));
            place
        } else {
            at.clone()
        };
        for number in 0..per_host {
            let address = RoutingId::from(format!("s{host}-{number}").as_str());
            let link = PeerLink::connect(&place, Some(&address), Subscription::Steps, &options());
            let link = link.expect("a secondary can connect");
            secondaries.push(std::thread::spawn(move || answer(link)));
        }
    }
    let all = hosts * per_host;
    wait_for(&mut primary, all, |arrival| {
        matches!(arrival, Arrival::Subscribed(_))
    });
    let step = vec![7; STEP_BYTES];
    let begin = Instant::now();
    for _ in 0..steps {
        let sent = primary.send(Destination::EverySecondary, topic::STEP, &step);
        sent.expect("a step can be published");
        wait_for(&mut primary, all, is_answer);
    }
    let took = begin.elapsed();
    let ended = primary.send(Destination::EverySecondary, topic::SESSION, b"end");
    ended.expect("the end can be published");
    for secondary in secondaries {
        secondary.join().expect("a secondary answers to the end");
    }
    let sent: u64 = relays.into_iter().map(RelayThread::end).sum();
    let messages = if has_relays {
        sent as f64
    } else {
        all as f64 * f64::from(steps)
    };
    RelayLoad {
        step_us: took.as_secs_f64() * 1e6 / f64::from(steps),
        messages_per_step: messages / f64::from(steps),
    }
}

/// A relay at work.
struct RelayThread {
    is_over: Arc<AtomicBool>,
    waker: Arc<dyn Waker>,
    thread: JoinHandle<u64>,
}

impl RelayThread {
    fn start(host: usize, primary: &Endpoints, place: &Endpoints) -> Self {
        let name = format!("r{host}");
        let settings = RelaySettings {
            routing_id: RoutingId::from(name.as_str()),
            name,
            primary: primary.clone(),
            upper: options(),
            bind: place.clone(),
            removes_folder: true,
            lower: options(),
            hold: HOLD,
        };
        let mut relay = Relay::connect(settings).expect("a relay can connect");
        let is_over = Arc::new(AtomicBool::new(false));
        let (waker, ends) = (relay.waker(), Arc::clone(&is_over));
        let work = move || {
            while !ends.load(Ordering::Acquire) {
                relay.receive(None).expect("a relay works");
            }
            relay.messages_up()
        };
        Self {
            is_over,
            waker,
            thread: std::thread::spawn(work),
        }
    }

    /// Ends it, and returns how many messages it has sent to the primary.
    fn end(self) -> u64 {
        self.is_over.store(true, Ordering::Release);
        self.waker.wake();
        self.thread.join().expect("a relay ends")
    }
}

fn options() -> SocketOptions {
    SocketOptions {
        insecure: true,
        ..SocketOptions::default()
    }
}

fn place_of(folder: &Path, host: usize) -> Endpoints {
    let place = folder.join(format!("r{host}"));
    let place = format!("ipc://{}", place.display()).parse();
    place.expect("an address")
}

/// Answers to each step until the end is published.
fn answer(mut link: PeerLink) {
    let payload = vec![3; ANSWER_BYTES];
    loop {
        let arrival = link.receive(Some(TIMEOUT)).expect("the link works");
        match arrival.expect("the primary says something in time") {
            Arrival::Message { topic, .. } if topic == topic::STEP.as_bytes() => {
                let sent = link.send(Destination::Primary, topic::STEP_ACK, &payload);
                sent.expect("an answer can be sent");
            }
            Arrival::Message { .. } => return,
            _ => {}
        }
    }
}

fn is_answer(arrival: &Arrival) -> bool {
    let Arrival::Message { topic, .. } = arrival else {
        return false;
    };
    topic == topic::STEP_ACK.as_bytes()
}

/// Waits for so many arrivals of a kind.
fn wait_for(primary: &mut PrimaryLink, count: usize, is_one: impl Fn(&Arrival) -> bool) {
    let mut left = count;
    while left > 0 {
        let arrival = primary.receive(Some(TIMEOUT)).expect("the link works");
        let arrival = arrival.expect("all answer in time");
        left -= usize::from(is_one(&arrival));
    }
}
