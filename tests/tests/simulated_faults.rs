//! Shows that nothing that goes wrong changes a bit of a run, or leaves anyone waiting: a thousand
//! seeded runs of the simulated cluster with crashes, stalls, cuts and clients, each followed by
//! checkers; and that each checker sees what it is there for, by planting just that.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use lockstep::PeerLossPolicy;
use protocol::client_to_primary::{NamedPose, ResetKind};
use protocol::exit::Outcome;
use protocol::secondary_to_primary::StepAck;
use protocol::{
    Command, DigestBuilder, Iteration, ScheduledCommand, SecondaryToPrimary, SessionTime, StateBlob,
};
use tests::cluster;
use tests::cluster::fault::{Fault, TimedFault};
use tests::cluster::scenario::{Scenario, Stage};
use tests::cluster::script::TimedRequest;
use tests::cluster::soak::{Policies, Soak};
use tests::cluster::trace::Trace;
use tests::cluster::trial;
use tests::cluster::{Cluster, NetworkFaults};
use tests::worlds::driven;

const SEEDS: u64 = 1000;
const THREADS: usize = 2;

#[test]
fn a_thousand_seeds_break_no_invariant() {
    let soak = Soak {
        first: 0,
        seeds: SEEDS,
        duration: None,
        policies: Policies::Both,
        threads: THREADS,
        is_traced: false,
    };
    let tally = soak.run();
    eprintln!("{tally}");
    assert!(
        tally.failures.is_empty(),
        "{} seeds fail",
        tally.failures.len()
    );
    assert!(tally.completed > SEEDS / 4, "many runs complete: {tally}");
    assert!(tally.lost > SEEDS / 8, "many runs lose a peer: {tally}");
    assert!(
        tally.restored > SEEDS / 4,
        "many cells are restored: {tally}"
    );
    assert!(
        tally.resumed > SEEDS / 20,
        "many primaries are resumed: {tally}"
    );
    assert!(tally.done_ahead > 10 * SEEDS, "{tally}");
    assert!(tally.taken_back > SEEDS, "{tally}");
}

/// Seeds that a soak found to fail, with what they showed.
const ONCE_FAILED: [(u64, &str); 21] = [
    (110_658, "a checker that looks at a step done ahead"),
    (190_651, "a checker that looks at a step done ahead"),
    (112_654, "cells that follow a reset while time is paused"),
    (119_589, "an attachment after a reset while time is paused"),
    (125_793, "cells that follow a reset while time is paused"),
    (134_316, "commands before the first iteration"),
    (144_160, "commands before the first iteration"),
    (158_935, "commands before the first iteration"),
    (159_049, "commands before the first iteration"),
    (199_331, "commands before the first iteration"),
    (
        123_719,
        "a job that ends before a step that was lost on its way",
    ),
    (
        163_015,
        "a job that ends before a step that was lost on its way",
    ),
    (
        123_785,
        "the loss of who has restored cells of a resumed run",
    ),
    (204_035, "a checker that knows one reset at a time"),
    (
        243_767,
        "a checker that does not excuse a link cut for good",
    ),
    (
        244_405,
        "a checker that does not excuse a link cut for good",
    ),
    (
        252_167,
        "a checker that does not excuse a link cut for good",
    ),
    (
        433_634,
        "a checker that does not excuse a link cut at the end",
    ),
    (354_493, "a client with one number for two requests"),
    (271_371, "a client that pauses again after all who play"),
    (
        279_785,
        "a secondary that connects again while the primary stands still",
    ),
];

#[test]
fn seeds_that_failed_once_break_no_invariant() {
    for (seed, what) in ONCE_FAILED {
        let scenario = Scenario::draw(seed, Policies::Both.of(seed));
        let result = trial::run(&scenario, Trace::Off);
        let result = result.map(|_| ());
        assert_eq!(result, Ok(()), "seed {seed}, {what}: {scenario}");
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..20 {
        let scenario = Scenario::draw(seed, Policies::Both.of(seed));
        let [first, second] = [(), ()].map(|()| {
            let trace = Trace::RollbackPoint(Vec::new());
            trial::run_with(&scenario, trace, |_| {})
        });
        assert!(first.1.len() > 3, "much happens in {scenario}");
        assert_eq!(first, second, "{scenario}");
    }
}

#[test]
fn neighbouring_seeds_have_little_in_common() {
    let scenarios = (0..64).map(|seed| Scenario::draw(seed, PeerLossPolicy::Stop));
    let scenarios: Vec<Scenario> = scenarios.collect();
    let stages: BTreeSet<_> = scenarios.iter().map(|one| one.stage).collect();
    assert_eq!(stages.len(), 8, "every stage is drawn");
    let lengths: BTreeSet<_> = scenarios.iter().map(|one| one.iterations).collect();
    assert!(lengths.len() > 40, "{lengths:?}");
    // Stages that followed from the number alone would come in turn.
    let steps = scenarios.windows(2).map(|two| {
        let [one, next] = [two[0].stage, two[1].stage].map(|stage| stage as i32);
        (next - one).rem_euclid(8)
    });
    let steps: BTreeSet<_> = steps.collect();
    assert!(
        steps.len() > 4,
        "one stage does not tell the next: {steps:?}"
    );
}

/// A request to put a ball of [`Stage::Row`] somewhere else.
fn put_a_ball(ms: u64) -> TimedRequest {
    let pose = NamedPose {
        model: "ball_0_0".to_owned(),
        pose: [1.0, 1.0, 2.5, 0.0, 0.0, 0.0, 1.0],
    };
    TimedRequest {
        at: SessionTime(ms * 1_000_000),
        command: Command::SetPoses { poses: vec![pose] },
    }
}

#[test]
fn effects_sees_a_command_that_is_answered_as_done_and_was_not() {
    let scenario = peaceful(Stage::Row, vec![put_a_ball(5)]);
    check(&scenario, "ball_0_0 was put at", |cluster| {
        cluster.setup.tamper.step = Some(Box::new(|step| step.actions.clear()));
    });
}

#[test]
fn a_ghost_that_a_step_does_not_place_is_seen() {
    let mut scenario = peaceful(Stage::Row, Vec::new());
    scenario.sight = Some(f64::INFINITY);
    check(&scenario, "the ghost of performer", |cluster| {
        cluster.setup.tamper.step = Some(Box::new(|step| step.ghost_poses.clear()));
    });
}

#[test]
fn an_answer_that_comes_before_its_command_is_written_down_is_seen() {
    let mut scenario = peaceful(Stage::Row, vec![put_a_ball(5)]);
    scenario.policy = PeerLossPolicy::Recover;
    scenario.restart_after = Some(Duration::from_millis(5));
    scenario.journal = Some(Duration::from_millis(20));
    scenario.faults = vec![TimedFault {
        at: SessionTime(12_000_000),
        peer: "primary".parse().expect("it is a name"),
        fault: Fault::CrashOfPrimary {
            resumed_after: Duration::from_millis(10),
            is_torn: false,
        },
    }];
    check(&scenario, "commands were answered as done", |cluster| {
        cluster.setup.tamper.answers_at_once = true;
    });
}

#[test]
fn a_command_of_the_file_that_is_left_out_is_seen() {
    let mut scenario = peaceful(Stage::Row, Vec::new());
    scenario.schedule = vec![ScheduledCommand {
        iteration: Iteration(40),
        paused_round: None,
        command: Command::SetSeed { seed: 7 },
    }];
    let expected = "a command of the file was done 0 times, not 1";
    check(&scenario, expected, |cluster| {
        cluster.setup.tamper.stamped = Some(Box::new(|command| *command = None));
    });
}

#[test]
fn an_iteration_or_a_command_that_a_file_misses_is_seen() {
    let cases = [
        ("digests", "line 40 of the digests is \"41 "),
        ("states", "the file of states has, where"),
        ("commands", "the file of commands has 0"),
    ];
    for (name, expected) in cases {
        let mut scenario = peaceful(Stage::Row, Vec::new());
        scenario.schedule = vec![ScheduledCommand {
            iteration: Iteration(40),
            paused_round: None,
            command: Command::SetSeed { seed: 7 },
        }];
        check(&scenario, expected, |cluster| {
            cluster.leave_out_of_outputs(name, Iteration(40));
        });
    }
}

#[test]
fn the_states_of_an_iteration_after_which_all_is_reset_are_those_before_the_reset() {
    for us in (10_000..20_000).step_by(333) {
        let reset = TimedRequest {
            at: SessionTime(us * 1000),
            command: Command::Reset {
                what: ResetKind::Models,
            },
        };
        let verdict = trial::run(&peaceful(Stage::Row, vec![reset]), Trace::Off);
        let verdict = verdict.unwrap_or_else(|message| panic!("at {us} us: {message}"));
        assert_eq!(verdict.outcome, Outcome::Completed);
    }
}

#[test]
fn commands_of_a_pause_give_the_same_bits_without_the_pause_and_what_was_moved_in_it() {
    let at = |us: u64, command| TimedRequest {
        at: SessionTime(us * 1000),
        command,
    };
    for ms in (14..34).step_by(2) {
        for is_moved in [false, true] {
            let us = ms * 1000;
            let pose = NamedPose {
                model: "box_2".to_owned(),
                pose: [-1.8, 0.2, 2.5, 0.0, 0.0, 0.0, 1.0],
            };
            let mut requests = vec![
                at(us, Command::Pause),
                at(us, Command::SetPoses { poses: vec![pose] }),
            ];
            // Neither is a round that a run has which repeats the commands.
            requests.extend(is_moved.then(|| {
                let (level, peer) = ("L0_0".to_owned(), "s2".parse().expect("it is a name"));
                at(us + 5000, Command::MoveCell { level, peer })
            }));
            let model = "box_5".to_owned();
            requests.push(at(us + 10_000, Command::Remove { model }));
            requests.push(at(us + 15_000, Command::Play));
            let verdict = trial::run(&peaceful(Stage::Piles, requests), Trace::Off);
            let verdict = verdict.unwrap_or_else(|message| panic!("at {ms} ms: {message}"));
            assert_eq!(verdict.outcome, Outcome::Completed);
        }
    }
}

/// A run of robots that are driven by messages, on a fast and a slow secondary, that recovers.
fn talking(faults: Vec<TimedFault>) -> Scenario {
    let mut scenario = peaceful(Stage::Driven, Vec::new());
    scenario.policy = PeerLossPolicy::Recover;
    scenario.checkpoint_every = 10_000;
    scenario.heartbeat_timeout = Duration::from_millis(400);
    scenario.step_timeout = Duration::from_secs(4);
    scenario.paces = vec![(1000, 0), (0, 0)];
    scenario.restart_after = Some(Duration::from_millis(5));
    let drives = [0, 1].map(|robot| (robot, 0.5 + robot as f64));
    let drives = drives
        .into_iter()
        .zip([1, 2])
        .map(|((robot, speed), ms)| TimedRequest {
            at: SessionTime(ms * 1_000_000),
            command: driven::drive(robot, speed),
        });
    scenario.requests = drives.collect();
    scenario.faults = faults;
    scenario
}

#[test]
fn a_name_that_is_lost_again_while_its_cells_are_restored_says_nothing_twice() {
    // The first loss is seen after 50 ms; the slow one needs more than 100 ms for what was lost,
    // and the second process of the name takes part and dies meanwhile.
    for later in [60, 75, 90, 105] {
        let faults = [120, 120 + later].map(|ms| TimedFault {
            at: SessionTime(ms * 1_000_000),
            peer: "s2".parse().expect("it is a name"),
            fault: Fault::Crash {
                loses_messages: false,
            },
        });
        let verdict = trial::run(&talking(faults.to_vec()), Trace::Off);
        let verdict = verdict.unwrap_or_else(|message| panic!("{later} ms later: {message}"));
        assert_eq!(verdict.outcome, Outcome::Completed);
        assert!(verdict.restored >= 1, "{verdict:?}");
    }
}

/// A run on two secondaries in which nothing goes wrong.
fn peaceful(stage: Stage, requests: Vec<TimedRequest>) -> Scenario {
    let mut scenario = Scenario::draw(1, PeerLossPolicy::Stop);
    scenario.stage = stage;
    scenario.secondaries = 2;
    scenario.iterations = 200;
    scenario.paces = vec![(200, 0), (200, 0)];
    scenario.faults.clear();
    scenario.schedule.clear();
    scenario.network = NetworkFaults::SHUFFLED;
    scenario.requests = requests;
    scenario
}

/// Checks that something planted in a peaceful run is seen, and what is said of it.
fn check(scenario: &Scenario, expected: &str, prepare: impl FnOnce(&mut Cluster)) {
    let calm = trial::run(scenario, Trace::Off);
    let calm = calm.unwrap_or_else(|message| panic!("nothing is planted yet: {message}"));
    assert_eq!(calm.outcome, Outcome::Completed);
    let (result, _) = trial::run_with(scenario, Trace::Off, prepare);
    let said = result.expect_err("a checker sees what was planted");
    assert!(said.contains(expected), "{expected:?} is not said: {said}");
}

#[test]
fn agreement_sees_a_state_that_one_secondary_changed() {
    let scenario = peaceful(Stage::Row, Vec::new());
    let expected = "differs from that of an undisturbed run";
    check(&scenario, expected, |cluster| {
        let mut acks = 0;
        cluster.setup.tamper.secondary = Some(Box::new(move |message| {
            let SecondaryToPrimary::StepAck(ack) = message else {
                return;
            };
            acks += 1;
            if acks == 7 {
                change_a_state(Arc::make_mut(ack));
            }
        }));
    });
    check(&scenario, expected, |cluster| {
        let mut has_changed = false;
        cluster.setup.tamper.secondary = Some(Box::new(move |message| {
            if let SecondaryToPrimary::StepAck(ack) = message
                && let Some(ack) = Arc::make_mut(ack).ahead.first_mut()
                && !has_changed
            {
                has_changed = true;
                change_a_state(ack);
            }
        }));
    });
    check(&scenario, expected, |cluster| {
        let mut has_changed = false;
        cluster.setup.tamper.secondary = Some(Box::new(move |message| {
            if let SecondaryToPrimary::StepsAhead(part) = message
                && !has_changed
            {
                has_changed = true;
                change_a_state(&mut Arc::make_mut(part).acks[0]);
            }
        }));
    });
}

/// Changes a state such that the digests fit each other, and a primary believes them.
fn change_a_state(ack: &mut StepAck) {
    let mut states: Vec<_> = ack
        .states
        .states()
        .expect("a secondary sent them")
        .collect();
    states[0].digest.0 ^= 1;
    let mut builder = DigestBuilder::default();
    for state in &states[..ack.cells[0].state_count as usize] {
        builder.digest(state.digest);
    }
    ack.cells[0].digest = builder.finish();
    ack.states = StateBlob::pack(&states);
}

#[test]
fn agreement_sees_a_command_that_was_lost() {
    let command = Command::Remove {
        model: "ball_0_0".to_owned(),
    };
    let at = SessionTime(20_000_000);
    let scenario = peaceful(Stage::Row, vec![TimedRequest { at, command }]);
    let expected = "differs from that of an undisturbed run";
    check(&scenario, expected, |cluster| {
        cluster.setup.tamper.stamped = Some(Box::new(|command| *command = None));
    });
}

#[test]
fn ownership_sees_a_step_that_is_left_out() {
    let scenario = peaceful(Stage::Row, Vec::new());
    check(&scenario, "steps are numbered one by one", |cluster| {
        cluster.setup.tamper.step = Some(Box::new(|step| {
            step.sequence.0 += u64::from(step.sequence.0 >= 20);
        }));
    });
}

#[test]
fn ownership_sees_a_performer_that_enters_a_second_cell() {
    let scenario = peaceful(Stage::Bullet, Vec::new());
    check(&scenario, "leaves its own cell", |cluster| {
        let mut last = None;
        cluster.setup.tamper.step = Some(Box::new(move |step| match step.hand_offs.first() {
            Some(one) => last = Some(one.clone()),
            None => step.hand_offs.extend(last.take()),
        }));
    });
}

#[test]
fn ownership_sees_a_cell_that_is_given_to_nobody_who_takes_part() {
    let scenario = peaceful(Stage::Bullet, Vec::new());
    check(&scenario, "the host of cell", |cluster| {
        cluster.setup.tamper.step = Some(Box::new(|step| {
            for change in step
                .affinities
                .iter_mut()
                .filter(|one| one.secondary.is_some())
            {
                change.secondary = Some("s9".parse().expect("it is a valid name"));
            }
        }));
    });
}

#[test]
fn exactness_sees_who_can_meet_across_a_border() {
    let mut settings = cluster::settings(2, 1000);
    // Rules with a margin below zero let performers come near without noticing.
    settings.cells.rules.interaction_margin = -10.0;
    let world = Stage::Borders.world();
    let run = || {
        let mut cluster = Cluster::with(&[world], settings, NetworkFaults::SHUFFLED, 1);
        cluster.run_until(|_| false);
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("a margin below zero is seen");
    let text = panic.downcast_ref::<String>().map_or("", String::as_str);
    assert!(text.contains("can meet after iteration"), "{text}");
}

#[test]
fn publishers_see_an_answer_that_announces_what_was_not_said() {
    let mut scenario = peaceful(Stage::Driven, Vec::new());
    scenario.iterations = 100;
    check(&scenario, "announced what it said", |cluster| {
        cluster.setup.tamper.secondary = Some(Box::new(|message| {
            if let SecondaryToPrimary::StepAck(ack) = message {
                Arc::make_mut(ack).published += 1;
            }
        }));
    });
}

#[test]
fn a_run_that_ends_without_cause_is_seen() {
    let scenario = peaceful(Stage::Row, Vec::new());
    check(&scenario, "for no cause that was given", |cluster| {
        cluster.plan(TimedFault {
            at: SessionTime(30_000_000),
            peer: "s1".parse().expect("it is a valid name"),
            fault: Fault::Crash {
                loses_messages: true,
            },
        });
    });
}

#[test]
fn a_run_that_never_ends_is_seen() {
    let pause = TimedRequest {
        at: SessionTime(20_000_000),
        command: Command::Pause,
    };
    let mut scenario = peaceful(Stage::Row, vec![pause]);
    let said = trial::run(&scenario, Trace::Off).expect_err("it stands still");
    assert!(said.contains("liveness: the run is Paused"), "{said}");
    let play = TimedRequest {
        at: SessionTime(40_000_000),
        command: Command::Play,
    };
    scenario.requests.push(play);
    let verdict = trial::run(&scenario, Trace::Off);
    assert!(verdict.is_ok(), "{verdict:?}");
}

/// A run that recovers, in which a secondary is killed.
fn recovering() -> Scenario {
    let mut scenario = peaceful(Stage::Motion, Vec::new());
    scenario.policy = PeerLossPolicy::Recover;
    scenario.checkpoint_every = 20;
    scenario.faults.push(TimedFault {
        at: SessionTime(60_000_000),
        peer: "s1".parse().expect("it is a valid name"),
        fault: Fault::Crash {
            loses_messages: false,
        },
    });
    scenario
}

#[test]
fn a_restoring_secondary_may_be_lost_at_any_moment() {
    let crash = |name: &str, at_us: u64| TimedFault {
        at: SessionTime(at_us * 1000),
        peer: name.parse().expect("it is a valid name"),
        fault: Fault::Crash {
            loses_messages: false,
        },
    };
    for (number, stage) in [Stage::Driven, Stage::Motion].into_iter().enumerate() {
        for step in 0..60 {
            let mut scenario = recovering();
            scenario.seed = step;
            scenario.stage = stage;
            scenario.secondaries = 4;
            scenario.paces = vec![(20, 0), (200, 0), (20, 0), (2000, 0)];
            let first = 60_000 + 300 * number as u64;
            scenario.faults = vec![
                crash("s1", first),
                crash("s2", first + 50_000 + 150 * step),
                crash("s3", first + 50_000 + 250 * step),
            ];
            let end = trial::run(&scenario, Trace::Off);
            let end = end.unwrap_or_else(|said| panic!("{step} of {stage:?}: {said}"));
            assert_eq!(end.outcome, Outcome::Completed, "{step} of {stage:?}");
        }
    }
}

#[test]
fn a_checkpoint_with_one_stale_cell_is_seen() {
    check(&recovering(), "was acknowledged", |cluster| {
        let mut first = BTreeMap::new();
        cluster.setup.tamper.secondary = Some(Box::new(move |message| {
            if let SecondaryToPrimary::CellCheckpoint(snapshot) = message {
                let bytes = first.entry(snapshot.cell).or_insert(snapshot.bytes.clone());
                snapshot.bytes.clone_from(bytes);
            }
        }));
    });
}

#[test]
fn an_answer_in_the_place_of_a_lost_one_is_looked_at() {
    check(
        &recovering(),
        "liveness: the run recovers, and it ended",
        |cluster| {
            cluster.setup.tamper.secondary = Some(Box::new(|message| {
                if let SecondaryToPrimary::CaughtUp(answer) = message
                    && let Ok((digests, _)) = &mut answer.result
                    && let Some(first) = digests.iter_mut().flat_map(|one| &mut one.cells).next()
                {
                    first.1.0 ^= 1;
                }
            }));
        },
    );
}
