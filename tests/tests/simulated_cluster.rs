//! Shows that the rules hold on a network that shuffles, loses and doubles messages, with real
//! cells. A primary and its secondaries run in one thread on virtual time; every seed is printed.

use std::time::Duration;

use lockstep::{PeerLossPolicy, Settings, SightRule};
use protocol::client_to_primary::{NamedPose, SpawnRequest};
use protocol::exit::Outcome;
use protocol::primary_to_client::Reply;
use protocol::report::RunState;
use protocol::{
    CellId, Command, Digest, Iteration, PeerName, PerformerId, RequestId, ScheduledCommand,
    SessionTime,
};
use tests::cluster::fault::{Fault, TimedFault};
use tests::cluster::{Cluster, NetworkFaults, settings};
use tests::worlds::{self, lively};

fn digests(secondaries: u32, faults: NetworkFaults, seed: u64) -> Vec<Digest> {
    eprintln!("secondaries {secondaries}, seed {seed}, {faults:?}");
    let world = worlds::row(3, 5);
    let mut cluster = Cluster::new(&[world], secondaries, 300, faults, seed);
    cluster.run_until(|_| false);
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
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

/// Runs balls in a bowl of nine levels, of which every second has a lidar of 100 Hz; returns the
/// digests, that of all that the lidars say, and the number of steps that were done ahead.
fn seen_by_lidars(
    (sight, split_above): (SightRule, Option<u32>),
    secondaries: u32,
    run_ahead_max: u32,
) -> (Vec<Digest>, Digest, u64) {
    let mut world = lively::motion("bowl", 12);
    world.split_above = split_above;
    worlds::watch_within(&mut world, 30.0);
    let sensors = world.models.iter_mut().flat_map(|model| &mut model.links);
    for sensor in sensors.flat_map(|link| &mut link.sensors) {
        sensor.update_rate = 100.0;
    }
    let mut settings = settings(secondaries, 600);
    settings.pace.run_ahead_max = run_ahead_max;
    settings.cells.rules.sight = sight;
    settings.outputs.publish_all = true;
    let mut cluster = Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, 3);
    cluster.run_until(|_| false);
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    let ahead = cluster.checks.barrier.done_ahead;
    (
        cluster.digests().to_vec(),
        cluster.checks.publishers.said,
        ahead,
    )
}

#[test]
fn sensors_see_ghosts_where_they_are_although_steps_are_done_ahead() {
    let (buffer, range) = (SightRule::Buffer, SightRule::Range);
    for rules in [(buffer, None), (range, None), (buffer, Some(2))] {
        let (digests, said, _) = seen_by_lidars(rules, 1, 1);
        for secondaries in 1..=3 {
            let (found, heard, ahead) = seen_by_lidars(rules, secondaries, 512);
            eprintln!("{rules:?}, {secondaries} secondaries: {ahead} steps done ahead");
            assert_eq!(found, digests, "{rules:?}, {secondaries} secondaries");
            assert_eq!(heard, said, "{rules:?}, {secondaries} secondaries");
            assert!(ahead > 200, "{ahead} of 600 steps were done ahead");
        }
    }
}

#[test]
fn a_new_real_time_factor_ends_a_window() {
    for seed in 0..5 {
        eprintln!("seed {seed}");
        let world = worlds::row(2, 1);
        let mut cluster = Cluster::new(&[world], 2, 100_000, NetworkFaults::SHUFFLED, seed);
        cluster.run_until(|cluster| cluster.checks.barrier.done_ahead > 500);
        let published = cluster.checks.barrier.published;
        cluster.run_until(|cluster| cluster.checks.barrier.published > published);
        let (published, ahead) = {
            let barrier = &cluster.checks.barrier;
            (barrier.published, barrier.done_ahead)
        };
        cluster.run_until(|cluster| cluster.checks.barrier.done_ahead > ahead + 10);
        assert_eq!(cluster.checks.barrier.published, published);
        let asked_at = cluster.now();
        // A step in 200 ms: what is left of the window takes many seconds.
        cluster.request(1, Command::SetRealTimeFactor { factor: 0.005 });
        cluster.run_until(|cluster| cluster.checks.barrier.published > published);
        let took = cluster.now().since(asked_at);
        assert!(took < Duration::from_millis(300), "{took:?}");
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
        let reason = cluster
            .outcome
            .finished
            .clone()
            .expect("the run has finished");
        assert_eq!(reason.outcome, Outcome::PeerLost, "{reason}");
        assert!(reason.cause.contains("s2"), "{reason}");
        while cluster.outcome.secondaries_finished.is_empty() {
            cluster.advance();
        }
        assert_eq!(
            cluster.outcome.secondaries_finished[&0].outcome,
            Outcome::PeerLost
        );
    }
}

#[test]
fn a_crash_at_any_moment_changes_nothing_when_the_run_recovers() {
    let reference = digests(1, NetworkFaults::SHUFFLED, 1);
    for seed in 0..40 {
        eprintln!("seed {seed}");
        let world = worlds::row(3, 5);
        let mut settings = settings(3, 300);
        settings.recovery.on_peer_loss = PeerLossPolicy::Recover;
        settings.recovery.checkpoint_every = 20 + seed;
        let mut cluster = Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, seed);
        cluster.run_until(|cluster| cluster.primary.iteration().0 >= 5 + 7 * seed);
        for _ in 0..seed % 11 {
            cluster.advance();
        }
        cluster.crash(seed as usize % 3);
        cluster.run_until(|_| false);
        let reason = cluster
            .outcome
            .finished
            .as_ref()
            .expect("the run has finished");
        assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
        assert_eq!(cluster.digests(), reference);
        assert_eq!(cluster.primary.events().recoveries, 1);
    }
}

/// Balls that come near the borders of levels, are thrown over them, and go; some come again at
/// once under the same name.
fn coming_and_going(iterations: u64) -> Vec<ScheduledCommand> {
    let spawn = |name: String, x: f64| {
        Command::Spawn(Box::new(SpawnRequest {
            sdf: BALL.to_owned(),
            name: Some(name),
            pose: Some([x, 0.5, 1.5, 0.0, 0.0, 0.0, 1.0]),
            ..SpawnRequest::default()
        }))
    };
    let mut schedule = Vec::new();
    for cycle in 0..iterations / 6 {
        let mut at = |later: u64, command| {
            schedule.push(ScheduledCommand {
                iteration: Iteration(3 + 6 * cycle + later),
                paused_round: None,
                command,
            });
        };
        let name = |number: u64| format!("guest_{}", number % 5);
        let x = 4.0 + (cycle % 3) as f64 * 4.0;
        if cycle >= 3 {
            at(
                0,
                Command::Remove {
                    model: name(cycle - 3),
                },
            );
        }
        at(0, spawn(name(cycle), x));
        if cycle % 4 == 1 {
            // The same name and the same round, but not the same number.
            at(2, Command::Remove { model: name(cycle) });
            at(2, spawn(name(cycle), x + 1.0));
        }
        let pose = [x + 3.0, 0.3, 1.0, 0.0, 0.0, 0.0, 1.0];
        let poses = vec![NamedPose {
            model: name(cycle),
            pose,
        }];
        at(4, Command::SetPoses { poses });
    }
    schedule
}

const BALL: &str = "<sdf version='1.10'><model name='guest'><link name='l'><inertial><mass>1</mass>\
    <inertia><ixx>0.036</ixx><iyy>0.036</iyy><izz>0.036</izz></inertia></inertial>\
    <collision name='c'><geometry><sphere><radius>0.3</radius></sphere></geometry></collision>\
    </link></model></sdf>";

fn guests(secondaries: u32) -> Settings {
    let mut settings = settings(secondaries, 300);
    settings.schedule = coming_and_going(300);
    settings.recovery.on_peer_loss = PeerLossPolicy::Recover;
    settings.recovery.checkpoint_every = 25;
    // Who is put over a border goes over it at once.
    settings.cells.rules.minimum_stay = 1;
    settings
}

fn check_guests(cluster: &Cluster) {
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    assert_eq!(cluster.digests().len(), 301);
    let plan = cluster.primary.topology();
    assert!(
        plan.performers.len() <= 15 + 6,
        "{} numbers",
        plan.performers.len()
    );
    let hand_offs = cluster.checks.witness.ownership.hand_offs;
    assert!(hand_offs > 10, "{hand_offs} hand-offs");
}

#[test]
fn models_that_come_and_go_have_the_same_digests_whoever_is_lost_meanwhile() {
    let mut reference = Cluster::with(&[worlds::row(3, 5)], guests(1), NetworkFaults::SHUFFLED, 1);
    reference.run_until(|_| false);
    check_guests(&reference);
    for (secondaries, seed) in [(1, 2), (2, 3), (3, 4)] {
        eprintln!("secondaries {secondaries}, seed {seed}");
        let world = worlds::row(3, 5);
        let faults = NetworkFaults::HOSTILE;
        let mut cluster = Cluster::with(&[world], guests(secondaries), faults, seed);
        cluster.run_until(|_| false);
        check_guests(&cluster);
        assert_eq!(cluster.digests(), reference.digests());
    }
    for seed in 0..12 {
        eprintln!("one of 3 is lost, seed {seed}");
        let world = worlds::row(3, 5);
        let faults = NetworkFaults::SHUFFLED;
        let mut cluster = Cluster::with(&[world], guests(3), faults, seed);
        cluster.run_until(|cluster| cluster.primary.iteration().0 >= 20 + 23 * seed);
        for _ in 0..seed % 11 {
            cluster.advance();
        }
        cluster.crash(seed as usize % 3);
        cluster.run_until(|_| false);
        check_guests(&cluster);
        assert_eq!(cluster.digests(), reference.digests());
    }
}

#[test]
fn models_that_come_and_go_have_the_same_digests_when_the_run_is_resumed() {
    let run = |secondaries: u32, crash: Option<u64>, seed: u64| {
        eprintln!("secondaries {secondaries}, killed {crash:?} parts of 10 in, seed {seed}");
        let mut settings = guests(secondaries);
        settings.recovery.is_journaled = true;
        let world = worlds::row(3, 5);
        let mut cluster = Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, seed);
        cluster.keep_journal(Duration::from_micros(200));
        if let Some(parts) = crash {
            cluster.run_until(|cluster| cluster.primary.iteration().0 >= 30 * parts);
            cluster.plan(TimedFault {
                at: cluster.now() + Duration::from_micros(1 + 37 * seed),
                peer: PeerName::primary(),
                fault: Fault::CrashOfPrimary {
                    resumed_after: Duration::from_millis(5),
                    is_torn: seed.is_multiple_of(2),
                },
            });
        }
        cluster.run_until(|_| false);
        cluster
    };
    let reference = run(2, None, 1);
    check_guests(&reference);
    for (seed, secondaries) in [(1, 1), (4, 2), (6, 3), (8, 2), (9, 3)] {
        let cluster = run(secondaries, Some(seed), seed);
        let reason = cluster
            .outcome
            .finished
            .as_ref()
            .expect("the run has finished");
        assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
        assert_eq!(cluster.digests().last(), reference.digests().last());
    }
}

#[test]
fn a_run_that_is_stepped_to_its_last_iteration_ends_there() {
    let mut settings = settings(2, 200);
    settings.pace.start_paused = true;
    let world = worlds::row(2, 1);
    let mut cluster = Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, 3);
    cluster.run_until(|cluster| cluster.primary.run_state() == RunState::Paused);
    cluster.request(1, Command::Step { count: 200 });
    cluster.run_until(|_| false);
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
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
        matches!(cluster.clients.replies[0].reply, Reply::Failed { .. }),
        "{:?}",
        cluster.clients.replies
    );
    cluster.request(2, Command::Pause);
    cluster.run_until(|cluster| cluster.clients.replies.len() == 2);
    let paused_at = cluster.primary.iteration();
    assert_eq!(cluster.primary.run_state(), RunState::Paused);
    assert_eq!(
        cluster.primary.deadline(),
        None,
        "nothing is due while time is paused"
    );
    cluster.request(3, Command::Step { count: 10 });
    cluster.run_until(|cluster| cluster.clients.replies.len() == 3);
    assert_eq!(cluster.primary.iteration().0, paused_at.0 + 10);
    let done = Reply::Done {
        name: None,
        warnings: Vec::new(),
        iteration: cluster.primary.iteration(),
    };
    assert_eq!(cluster.clients.replies[2].reply, done);
    cluster.request(4, Command::Stop);
    cluster.run_until(|_| false);
    assert_eq!(
        cluster.outcome.finished.map(|reason| reason.outcome),
        Some(Outcome::Completed)
    );
    assert_eq!(cluster.primary.iteration().0, paused_at.0 + 10);
}

/// Makes a cluster that recovers, on a world of three levels in which nobody says anything.
fn recovering(secondaries: u32, stand_bys: u32, seed: u64) -> Cluster {
    let mut settings = settings(secondaries, 300);
    settings.pace.run_ahead_max = 1;
    settings.peers.heartbeat_interval = Duration::from_millis(20);
    settings.peers.heartbeat_timeout = Some(Duration::from_millis(400));
    settings.recovery.on_peer_loss = PeerLossPolicy::Recover;
    settings.recovery.checkpoint_every = 1_000_000;
    settings.recovery.stand_bys = stand_bys;
    let world = worlds::row(3, 5);
    Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, seed)
}

/// Runs a cluster to its end, which must be in order and with the digests of an undisturbed run.
fn check_completed(cluster: &mut Cluster) {
    cluster.run_until(|_| false);
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    assert_eq!(
        cluster.digests(),
        digests(1, NetworkFaults::SHUFFLED, 1),
        "what was lost is restored"
    );
}

fn peer(name: &str) -> PeerName {
    name.parse().expect("it is a name")
}

/// Asks for something and waits for the answer.
fn ask(cluster: &mut Cluster, request: u64, command: Command) -> Reply {
    let answered = cluster.clients.replies.len();
    cluster.request(request, command);
    cluster.run_until(|cluster| cluster.clients.replies.len() > answered);
    let message = cluster.clients.replies.last().expect("an answer has come");
    assert_eq!(message.request, RequestId(request));
    message.reply.clone()
}

#[test]
fn a_model_placed_several_times_in_a_pause_is_where_it_was_placed_last() {
    let world = worlds::row(3, 1);
    let mut cluster = Cluster::new(&[world], 2, 1_000_000, NetworkFaults::SHUFFLED, 7);
    cluster.run_until(|cluster| cluster.primary.iteration().0 >= 60);
    ask(&mut cluster, 1, Command::Pause);
    // Close enough to the border that its whole state is asked for, away from it, and beyond it.
    for (request, x) in [(2, 5.27), (3, 0.0), (4, 10.0)] {
        let pose = NamedPose {
            model: "ball_0_0".to_owned(),
            pose: [x, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0],
        };
        let reply = ask(
            &mut cluster,
            request,
            Command::SetPoses { poses: vec![pose] },
        );
        assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    }
    ask(&mut cluster, 5, Command::Step { count: 1 });
    let ids = cluster.primary.performers_by_name().to_vec();
    let plan = cluster.primary.topology();
    let is_it = |id: &PerformerId| plan.performer(*id).name == "ball_0_0";
    let ball = ids.into_iter().find(is_it).expect("the ball is there");
    let (cell, state) = cluster.primary.performer(ball);
    assert_eq!(plan.cell(cell).name, "L1");
    assert!((state.position[0] - 10.0).abs() < 0.01, "{state:?}");
}

#[test]
fn a_cell_that_is_asked_to_move_while_it_is_restored_moves_afterwards() {
    for (number, target) in ["s1", "s2"].into_iter().enumerate() {
        let mut cluster = recovering(2, 0, 5);
        cluster.set_pace(0, 500, 0);
        cluster.run_until(|cluster| cluster.primary.iteration().0 >= 100);
        let lost: Vec<CellId> = cluster.primary.hosted(&peer("s2")).to_vec();
        let level = cluster.primary.topology().cell(lost[0]).name.clone();
        cluster.crash(1);
        cluster.run_until(|cluster| cluster.primary.is_recovering());
        if target == "s2" {
            // Another of the same name, which hosts none of what the first one did.
            cluster.start(peer("s2"));
            cluster.run_until(|cluster| cluster.primary.takes_part(&peer("s2")));
            assert!(cluster.primary.is_recovering(), "s1 is slow");
        }
        let peer = peer(target);
        let reply = ask(
            &mut cluster,
            number as u64,
            Command::MoveCell {
                level,
                peer: peer.clone(),
            },
        );
        assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
        assert_eq!(cluster.primary.host(lost[0]), Some(&peer));
        check_completed(&mut cluster);
    }
}

#[test]
fn a_peer_that_came_back_is_drained_although_the_cells_of_the_first_one_are_restored() {
    let mut cluster = recovering(2, 0, 6);
    cluster.set_pace(0, 500, 0);
    cluster.run_until(|cluster| cluster.primary.iteration().0 >= 100);
    cluster.crash(1);
    cluster.run_until(|cluster| cluster.primary.is_recovering());
    cluster.start(peer("s2"));
    cluster.run_until(|cluster| cluster.primary.takes_part(&peer("s2")));
    assert!(cluster.primary.is_recovering(), "s1 is slow");
    let reply = ask(&mut cluster, 1, Command::Drain { peer: peer("s2") });
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    check_completed(&mut cluster);
}

#[test]
fn a_name_that_is_lost_again_before_it_is_replaced_loses_nothing_twice() {
    for seed in 0..8 {
        eprintln!("seed {seed}");
        let mut cluster = recovering(2, 0, seed);
        cluster.set_pace(0, 500, 0);
        cluster.run_until(|cluster| cluster.primary.iteration().0 >= 100 + seed);
        for _ in 0..seed {
            cluster.advance();
        }
        cluster.crash(1);
        cluster.run_until(|cluster| cluster.primary.is_recovering());
        let second = cluster.start(peer("s2"));
        cluster.run_until(|cluster| cluster.primary.takes_part(&peer("s2")));
        assert!(cluster.primary.is_recovering(), "s1 is slow");
        cluster.crash(second);
        check_completed(&mut cluster);
        assert_eq!(cluster.checks.witness.ownership.restored, 1);
    }
}

#[test]
fn one_who_has_missed_the_first_step_restores_what_another_had_and_takes_part() {
    for seed in 0..16 {
        eprintln!("seed {seed}");
        let mut settings = settings(2, 300);
        settings.peers.heartbeat_interval = Duration::from_millis(20);
        settings.peers.heartbeat_timeout = Some(Duration::from_millis(400));
        settings.peers.step_timeout = Duration::from_secs(4);
        settings.recovery.on_peer_loss = PeerLossPolicy::Recover;
        let faults = NetworkFaults {
            lost_permille: 300,
            ..NetworkFaults::SHUFFLED
        };
        let mut cluster = Cluster::with(&[worlds::row(3, 5)], settings, faults, seed);
        cluster.run_until(|cluster| cluster.primary.run_state() != RunState::Waiting);
        cluster.crash(0);
        check_completed(&mut cluster);
    }
}

#[test]
fn one_who_is_introduced_when_the_last_host_is_lost_restores_all_and_stays() {
    let mut cluster = recovering(1, 1, 8);
    cluster.run_until(|cluster| cluster.primary.iteration().0 >= 150);
    let joiner = cluster.start(peer("s2"));
    cluster.set_pace(joiner, 500, 0);
    let is_here = |cluster: &Cluster| cluster.primary.is_catching_up(&peer("s2"));
    cluster.run_until(is_here);
    assert!(!cluster.primary.takes_part(&peer("s2")));
    cluster.crash(0);
    check_completed(&mut cluster);
    assert!(cluster.primary.takes_part(&peer("s2")), "it was not lost");
}

#[test]
fn a_secondary_that_replays_long_steps_is_waited_for() {
    let mut cluster = recovering(2, 0, 9);
    cluster.run_until(|cluster| cluster.primary.iteration().0 >= 150);
    // Each step it replays takes a second: 150 times as long as the step time-out in all.
    cluster.set_pace(0, 1_000_000, 0);
    cluster.crash(1);
    cluster.run_until(|cluster| cluster.primary.is_recovering());
    cluster.run_until(|cluster| !cluster.primary.is_recovering());
    cluster.set_pace(0, 0, 0);
    check_completed(&mut cluster);
    assert_eq!(cluster.primary.events().recoveries, 1, "s1 is not lost");
    let engine = cluster.secondaries().next().expect("s1 is there");
    let duplicates = engine.secondary().refused().duplicate;
    assert_eq!(duplicates, 0, "nothing came twice");
}

#[test]
fn a_stall_of_the_stepper_longer_than_every_time_out_loses_nobody() {
    for seconds in [1, 15, 60] {
        let mut cluster = recovering(2, 0, 11);
        let at = SessionTime(20_000_000);
        cluster.set_pace(0, 500, 0);
        cluster.plan(TimedFault {
            at,
            peer: PeerName::primary(),
            fault: Fault::StallOfStepper(Duration::from_secs(seconds)),
        });
        check_completed(&mut cluster);
        assert!(cluster.now() > at + Duration::from_secs(seconds));
        assert_eq!(cluster.primary.events().recoveries, 0, "nobody is lost");
    }
}
