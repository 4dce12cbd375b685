//! Shows that the rules hold on a network that shuffles, loses and doubles messages, with real
//! cells. A primary and its secondaries run in one thread on virtual time; every seed is printed.

use lockstep::{PeerLossPolicy, Settings};
use protocol::exit::Outcome;
use protocol::primary_to_client::Reply;
use protocol::report::RunState;
use protocol::{Command, Digest};
use tests::cluster::{Cluster, NetworkFaults, settings};
use tests::worlds;

fn digests(secondaries: u32, faults: NetworkFaults, seed: u64) -> Vec<Digest> {
    eprintln!("secondaries {secondaries}, seed {seed}, {faults:?}");
    let world = worlds::row(3, 5);
    let mut cluster = Cluster::new(&[world], secondaries, 300, faults, seed);
    cluster.run_until(|_| false);
    let reason = cluster.finished.as_ref().expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    assert_eq!(cluster.digests().len(), 301);
    cluster.digests().to_vec()
}

#[test]
fn digests_are_equal_for_any_number_of_secondaries_and_any_order_of_arrival() {
    let reference = digests(1, NetworkFaults::SHUFFLED, 1);
    assert_ne!(reference[1], reference[300], "the world moves");
    for (secondaries, seed) in [(1, 2), (2, 3), (3, 4), (4, 5)] {
        assert_eq!(
            digests(secondaries, NetworkFaults::SHUFFLED, seed),
            reference
        );
    }
}

#[test]
fn lost_and_doubled_messages_change_nothing() {
    let reference = digests(1, NetworkFaults::SHUFFLED, 1);
    for seed in 10..15 {
        assert_eq!(digests(2, NetworkFaults::HOSTILE, seed), reference);
    }
}

#[test]
fn a_crash_at_any_moment_stops_everyone_and_names_the_lost_one() {
    for seed in 0..20 {
        eprintln!("seed {seed}");
        let world = worlds::row(2, 2);
        let mut cluster = Cluster::new(&[world], 2, 1000, NetworkFaults::SHUFFLED, seed);
        for _ in 0..(5 + seed * 37) {
            cluster.advance();
        }
        cluster.crash(1);
        cluster.run_until(|_| false);
        let reason = cluster.finished.clone().expect("the run has finished");
        assert_eq!(reason.outcome, Outcome::PeerLost, "{reason}");
        assert!(reason.cause.contains("s2"), "{reason}");
        while cluster.secondaries_finished.is_empty() {
            cluster.advance();
        }
        assert_eq!(cluster.secondaries_finished[&0].outcome, Outcome::PeerLost);
    }
}

#[test]
fn a_crash_at_any_moment_changes_nothing_when_the_run_recovers() {
    let reference = digests(1, NetworkFaults::SHUFFLED, 1);
    for seed in 0..40 {
        eprintln!("seed {seed}");
        let world = worlds::row(3, 5);
        let settings = Settings {
            on_peer_loss: PeerLossPolicy::Recover,
            checkpoint_every: 20 + seed,
            ..settings(3, 300)
        };
        let mut cluster = Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, seed);
        cluster.run_until(|cluster| cluster.primary.iteration().0 >= 5 + 7 * seed);
        for _ in 0..seed % 11 {
            cluster.advance();
        }
        cluster.crash(seed as usize % 3);
        cluster.run_until(|_| false);
        let reason = cluster.finished.as_ref().expect("the run has finished");
        assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
        assert_eq!(cluster.digests(), reference);
        assert_eq!(cluster.primary.events().recoveries, 1);
    }
}

#[test]
fn a_run_that_is_stepped_to_its_last_iteration_ends_there() {
    let settings = Settings {
        start_paused: true,
        ..settings(2, 200)
    };
    let world = worlds::row(2, 1);
    let mut cluster = Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, 3);
    cluster.run_until(|cluster| cluster.primary.run_state() == RunState::Paused);
    cluster.request(1, Command::Step { count: 200 });
    cluster.run_until(|_| false);
    let reason = cluster.finished.as_ref().expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    assert_eq!(cluster.primary.iteration().0, 200);
}

#[test]
fn step_10_advances_exactly_10_and_pause_holds() {
    let world = worlds::row(2, 1);
    let mut cluster = Cluster::new(&[world], 2, 1_000_000, NetworkFaults::SHUFFLED, 7);
    cluster.run_until(|cluster| cluster.digests().len() > 20);
    cluster.request(1, Command::Step { count: 10 });
    assert!(
        matches!(cluster.replies[0].reply, Reply::Failed { .. }),
        "{:?}",
        cluster.replies
    );
    cluster.request(2, Command::Pause);
    cluster.run_until(|cluster| cluster.replies.len() == 2);
    let paused_at = cluster.primary.iteration();
    assert_eq!(cluster.primary.run_state(), RunState::Paused);
    assert_eq!(
        cluster.primary.deadline(),
        None,
        "nothing is due while time stands still"
    );
    cluster.request(3, Command::Step { count: 10 });
    cluster.run_until(|cluster| cluster.replies.len() == 3);
    assert_eq!(cluster.primary.iteration().0, paused_at.0 + 10);
    let done = Reply::Done {
        name: None,
        warnings: Vec::new(),
        iteration: cluster.primary.iteration(),
    };
    assert_eq!(cluster.replies[2].reply, done);
    cluster.request(4, Command::Stop);
    cluster.run_until(|_| false);
    assert_eq!(
        cluster.finished.map(|reason| reason.outcome),
        Some(Outcome::Completed)
    );
    assert_eq!(cluster.primary.iteration().0, paused_at.0 + 10);
}
