//! The places where a scene is played: one for each kind of link, with the same properties.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;
use protocol::{Access, RoutingId};
use tempfile::TempDir;
use transport::memory::Network;
use transport::zeromq::{PeerLink, PrimaryLink, SocketOptions};
use transport::{Arrival, Endpoints, Link, Publisher, Subscription};

/// Time that anything that must happen may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

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
    while start.elapsed() < PATIENCE {
        status.publish(topic, b"anybody?").unwrap();
        let heard = observer.receive(Some(Duration::from_millis(5))).unwrap();
        if heard == Some(message(None, topic, b"anybody?")) {
            return;
        }
    }
    panic!("no observer heard anything for {PATIENCE:?}");
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
    while let Some(left) = PATIENCE.checked_sub(start.elapsed()) {
        match link.receive(Some(left)).unwrap() {
            Some(arrival) if arrival == *expected => return,
            Some(other) => others.push(other),
            None => break,
        }
    }
    panic!("waited {PATIENCE:?} for {expected:?}; what came instead: {others:?}");
}

/// Waits for a message from the primary.
pub(crate) fn expect_message(link: &mut dyn Link, topic: &str, payload: &[u8]) {
    expect(link, &message(None, topic, payload));
}
