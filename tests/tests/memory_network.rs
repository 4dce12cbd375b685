//! Shows that the real drivers work on the in-memory twin of ZeroMQ: a primary and its secondaries
//! on threads of one process compute what a simulated cluster computes.

use std::thread;
use std::time::Duration;

use lockstep::{Primary, SecondarySettings};
use protocol::exit::Outcome;
use protocol::report::Summary;
use protocol::{PeerName, Role, RoutingId};
use tests::cluster::{self, Cluster, NetworkFaults};
use tests::worlds;
use transport::Subscription;
use transport::memory::Network;
use worker::heartbeat::{self, HeartbeatSettings, HeartbeatThread};
use worker::identity;
use worker::primary::PrimaryDriver;
use worker::report::Reporter;
use worker::run_outputs::RunOutputs;
use worker::secondary::SecondaryDriver;
use worker::status::StatusThread;

const ITERATIONS: u64 = 200;

fn run(secondaries: u32) -> Summary {
    let network = Network::new();
    let worlds = vec![worlds::row(3, 4)];
    let mut settings = cluster::settings(secondaries, ITERATIONS);
    settings.peers.heartbeat_timeout = Some(Duration::from_secs(30));
    let (session, interval) = (settings.session, settings.peers.heartbeat_interval);
    let primary = Primary::new(settings, &worlds);
    let status = StatusThread::start(network.publisher(), session, interval).expect("a thread");
    let info = identity::peer_info(PeerName::primary(), Role::Primary);
    let reporter = Reporter::new(worlds, info);
    let driver = PrimaryDriver::new(
        network.primary(),
        primary,
        status,
        reporter,
        RunOutputs::default(),
    )
    .expect("a thread");
    let peers: Vec<_> = (1..=secondaries)
        .map(|number| {
            let network = network.clone();
            thread::spawn(move || secondary(&network, &format!("s{number}")))
        })
        .collect();
    let summary = driver.run();
    for peer in peers {
        assert_eq!(
            peer.join().expect("a secondary does not panic"),
            Outcome::Completed
        );
    }
    summary
}

fn secondary(network: &Network, name: &str) -> Outcome {
    let info = identity::peer_info(name.parse().expect("a peer name"), Role::Secondary);
    let routing = RoutingId::from(name);
    let link = network.peer(&routing, Subscription::Steps);
    let settings = SecondarySettings {
        info,
        peer_timeout: Duration::from_secs(30),
    };
    let beat = routing.heartbeat();
    let driver = SecondaryDriver::new(link, settings);
    let progress = driver.progress();
    let reason = driver.run(|secondary, welcome, stepper| {
        let link = network.peer(&beat, Subscription::Status(&heartbeat::TOPICS));
        let settings = HeartbeatSettings {
            name: secondary.name().clone(),
            session: secondary.session(),
            interval: welcome.heartbeat_interval,
            timeout: welcome.heartbeat_timeout,
            progress: progress.clone(),
        };
        HeartbeatThread::start(link, settings, stepper).expect("a thread")
    });
    reason.outcome
}

#[test]
fn threads_on_the_in_memory_network_compute_what_the_simulated_cluster_computes() {
    let world = worlds::row(3, 4);
    let mut simulated = Cluster::new(&[world], 1, ITERATIONS, NetworkFaults::SHUFFLED, 1);
    simulated.run_until(|_| false);
    let expected = simulated.digests()[ITERATIONS as usize];
    for secondaries in [1, 3] {
        let summary = run(secondaries);
        assert_eq!(summary.outcome, Outcome::Completed, "{}", summary.cause);
        assert_eq!(summary.digest, expected, "with {secondaries} secondaries");
        let names: Vec<_> = summary
            .secondaries
            .iter()
            .map(|peer| peer.name.to_string())
            .collect();
        assert_eq!(names.len(), secondaries as usize, "{names:?}");
    }
}
