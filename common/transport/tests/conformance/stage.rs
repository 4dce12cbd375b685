//! The places where a scene is played: one for each kind of link, with the same properties.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use protocol::{Access, RoutingId};
use tempfile::TempDir;
use transport::memory::Network;
use transport::zeromq::{
    HOLD, PeerLink, PrimaryLink, Relay, RelayEvent, RelaySettings, SocketOptions, StatusPublisher,
};
use transport::{Arrival, Destination, Endpoints, Link, LinkError, Publisher, Subscription, Waker};

/// Time that anything that must happen may take.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(2);

/// A place where one primary and its peers meet.
pub(crate) enum Stage {
    /// Within this process.
    Memory(Network),
    /// Between processes; the endpoints are resolved when the primary first binds them.
    Sockets {
        endpoints: Mutex<Endpoints>,
        spin: Duration,
        _directory: Option<TempDir>,
    },
    /// Between processes, with a relay between the primary and those who speak on `control`.
    Relayed {
        primary: Endpoints,
        relay: Endpoints,
        thread: RelayThread,
        _directory: TempDir,
    },
}

/// A relay that works until it is dropped.
pub(crate) struct RelayThread {
    is_over: Arc<AtomicBool>,
    /// Number of times that a primary has welcomed it.
    welcomes: Arc<AtomicU32>,
    waker: Arc<dyn Waker>,
    thread: Option<JoinHandle<()>>,
}

impl RelayThread {
    fn start(primary: &Endpoints, bind: &Endpoints) -> Self {
        let settings = RelaySettings {
            name: "r1".to_owned(),
            routing_id: RoutingId::from("r1-0"),
            primary: primary.clone(),
            upper: options(Duration::ZERO),
            bind: bind.clone(),
            removes_folder: true,
            lower: options(Duration::ZERO),
            hold: HOLD,
        };
        let mut relay = Relay::connect(settings).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let welcomes = Arc::new(AtomicU32::new(0));
        let (waker, ends) = (relay.waker(), Arc::clone(&is_over));
        let count = Arc::clone(&welcomes);
        let work = move || {
            while !ends.load(Ordering::Acquire) {
                if let Some(RelayEvent::Welcomed(_)) = relay.receive(None).unwrap() {
                    count.fetch_add(1, Ordering::AcqRel);
                }
            }
        };
        Self {
            is_over,
            welcomes,
            waker,
            thread: Some(std::thread::spawn(work)),
        }
    }
}

/// A primary that has welcomed its relay, and what arrived meanwhile.
struct Welcoming {
    link: PrimaryLink,
    early: VecDeque<Arrival>,
}

impl Welcoming {
    /// Binds a primary, and waits until it has welcomed the relay.
    fn bind(endpoints: &Endpoints, relay: &RelayThread) -> (Self, StatusPublisher) {
        let before = relay.welcomes.load(Ordering::Acquire);
        let bound = PrimaryLink::bind(endpoints, &options(Duration::ZERO));
        let (mut link, status, _) = bound.unwrap();
        let mut early = VecDeque::new();
        let start = Instant::now();
        while relay.welcomes.load(Ordering::Acquire) == before {
            early.extend(link.receive(Some(Duration::from_millis(1))).unwrap());
            assert!(start.elapsed() < TIMEOUT, "the relay is not welcome");
        }
        (Self { link, early }, status)
    }
}

impl Link for Welcoming {
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        self.link.send(to, topic, payload)
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        match self.early.pop_front() {
            Some(arrival) => Ok(Some(arrival)),
            None => self.link.receive(timeout),
        }
    }

    fn waker(&self) -> Arc<dyn Waker> {
        self.link.waker()
    }
}

impl Drop for RelayThread {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.waker.wake();
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// Plays a scene on all kinds of link; the name of the kind is printed when it fails.
pub(crate) fn on_every_stage(scene: impl Fn(&Stage)) {
    eprintln!("in memory");
    scene(&Stage::Memory(Network::new()));
    eprintln!("over ipc");
    over_ipc(&scene, Duration::ZERO);
    eprintln!("over ipc, looking before sleeping");
    over_ipc(&scene, Duration::from_micros(200));
    eprintln!("over tcp");
    scene(&Stage::sockets("tcp://127.0.0.1:0", Duration::ZERO, None));
    eprintln!("through a relay");
    scene(&Stage::relayed());
}

fn over_ipc(scene: &impl Fn(&Stage), spin: Duration) {
    let directory = tempfile::tempdir().unwrap();
    let address = ipc(directory.path());
    scene(&Stage::sockets(&address, spin, Some(directory)));
}

fn options(spin: Duration) -> SocketOptions {
    SocketOptions {
        spin,
        insecure: true,
        ..SocketOptions::default()
    }
}

/// Returns the address of a run directory, which is still to be made.
pub(crate) fn ipc(parent: &Path) -> String {
    format!("ipc://{}", parent.join("run").display())
}

impl Stage {
    fn sockets(address: &str, spin: Duration, directory: Option<TempDir>) -> Self {
        let endpoints = Mutex::new(address.parse().unwrap());
        Self::Sockets {
            endpoints,
            spin,
            _directory: directory,
        }
    }

    fn relayed() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let [primary, relay] = ["primary", "relay"].map(|name| {
            let folder = directory.path().join(name).display().to_string();
            format!("ipc://{folder}").parse().unwrap()
        });
        let thread = RelayThread::start(&primary, &relay);
        Self::Relayed {
            primary,
            relay,
            thread,
            _directory: directory,
        }
    }

    pub(crate) fn primary(&self) -> (Box<dyn Link + Send>, Box<dyn Publisher>) {
        match self {
            Self::Memory(network) => (Box::new(network.primary()), Box::new(network.publisher())),
            Self::Sockets {
                endpoints, spin, ..
            } => {
                let mut endpoints = endpoints.lock().unwrap();
                let bound = PrimaryLink::bind(&endpoints, &options(*spin));
                let (primary, status, _) = bound.unwrap();
                *endpoints = primary.endpoints().clone();
                (Box::new(primary), Box::new(status))
            }
            Self::Relayed {
                primary, thread, ..
            } => {
                let (primary, status) = Welcoming::bind(primary, thread);
                (Box::new(primary), Box::new(status))
            }
        }
    }

    pub(crate) fn peer(&self, name: &str, subscription: Subscription<'_>) -> Box<dyn Link + Send> {
        let routing_id = RoutingId::from(name);
        match self {
            Self::Memory(network) => Box::new(network.peer(&routing_id, subscription)),
            Self::Sockets {
                endpoints, spin, ..
            } => {
                let endpoints = endpoints.lock().unwrap();
                let peer =
                    PeerLink::connect(&endpoints, Some(&routing_id), subscription, &options(*spin));
                Box::new(peer.unwrap())
            }
            Self::Relayed { primary, relay, .. } => {
                // Observers have nothing to do with relays.
                let place = match subscription {
                    Subscription::Status(_) => primary,
                    _ => relay,
                };
                let options = options(Duration::ZERO);
                let peer = PeerLink::connect(place, Some(&routing_id), subscription, &options);
                Box::new(peer.unwrap())
            }
        }
    }
}

/// Publishes until the observer hears it: nobody is told when an observer has come.
pub(crate) fn publish_until_heard(
    status: &mut dyn Publisher,
    observer: &mut dyn Link,
    topic: &str,
) {
    let start = Instant::now();
    while start.elapsed() < TIMEOUT {
        status.publish(topic, b"anybody?").unwrap();
        let heard = observer.receive(Some(Duration::from_millis(5))).unwrap();
        if heard == Some(message(None, topic, b"anybody?")) {
            return;
        }
    }
    panic!("no observer heard anything for {TIMEOUT:?}");
}

/// Returns the arrival of a message.
pub(crate) fn message(from: Option<&str>, topic: &str, payload: &[u8]) -> Arrival {
    Arrival::Message {
        from: from.map(RoutingId::from),
        access: Access::Full,
        topic: topic.as_bytes().to_vec(),
        payload: Bytes::copy_from_slice(payload),
    }
}

/// Waits for the arrival; what comes before it is dropped.
pub(crate) fn expect(link: &mut dyn Link, expected: &Arrival) {
    let start = Instant::now();
    let mut others = Vec::new();
    while let Some(left) = TIMEOUT.checked_sub(start.elapsed()) {
        match link.receive(Some(left)).unwrap() {
            Some(arrival) if arrival == *expected => return,
            Some(other) => others.push(other),
            None => break,
        }
    }
    panic!("waited {TIMEOUT:?} for {expected:?}; what came instead: {others:?}");
}

/// Waits for a message from the primary.
pub(crate) fn expect_message(link: &mut dyn Link, topic: &str, payload: &[u8]) {
    expect(link, &message(None, topic, payload));
}
