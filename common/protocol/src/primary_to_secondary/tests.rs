//! Tests of messages to secondaries.

use super::*;
use crate::action::Action;
use crate::id::ModelId;
use crate::topic_message::Publisher;

/// A change by which a step is another than the one that was predicted, and what it is.
type Surprise = (&'static str, fn(&mut Step));

/// Returns changes of what a step has once.
fn other_values() -> Vec<Surprise> {
    vec![
        ("a later one", |step| step.sequence.0 += 1),
        ("another iteration", |step| step.iteration.0 += 1),
        ("another time", |step| step.sim_time.0 += 1),
        ("another time since the start", |step| step.elapsed.0 += 1),
        ("another size", |step| step.step_size_ns += 1),
        ("a window", |step| step.ahead = 1),
        ("a part", |step| step.part = Some(Duration::from_millis(1))),
        ("a limit", |step| {
            step.window_time = Some(Duration::from_millis(1));
        }),
        ("a pause", |step| step.paused = true),
        ("a reset", |step| step.reset = true),
        ("a checkpoint", |step| step.checkpoint = true),
        ("a repetition", |step| step.repeats = true),
        ("a publisher", |step| step.world_publisher = None),
        ("participants", |step| {
            step.participant_topics = Some(Vec::new());
        }),
    ]
}

/// Returns changes of lists that are empty in quiet steps.
fn other_lists() -> Vec<Surprise> {
    vec![
        ("a host", |step| {
            step.affinities.push(AffinityChange {
                cell: CellId(1),
                secondary: None,
                source: CellSource::Empty,
            });
        }),
        ("a hand-off", |step| {
            step.hand_offs.push(HandOff {
                performer: PerformerId(1),
                from: CellId(1),
                to: CellId(2),
                state: Vec::new(),
            });
        }),
        ("a level", |step| {
            step.level_changes.push(LevelChange {
                cell: CellId(1),
                level: LevelId(1),
                loaded: true,
            });
        }),
        ("a ghost", |step| {
            step.ghost_changes.push(GhostChange {
                cell: CellId(1),
                performer: PerformerId(1),
                present: true,
            });
        }),
        ("a suspension", |step| {
            step.suspensions.push(Suspension {
                cell: CellId(1),
                suspended: true,
            });
        }),
        ("an action", |step| {
            step.actions.push(StampedAction {
                number: 1,
                action: Action::Remove {
                    model: ModelId { world: 0, model: 1 },
                },
            });
        }),
        ("a message", |step| {
            step.messages.push(TopicMessage {
                topic: "/clock".to_owned(),
                kind: "gz.msgs.Clock".to_owned(),
                publisher: Publisher::Client,
                iteration: Iteration(2),
                sim_time: SimTime::default(),
                body: Vec::new(),
            });
        }),
        ("a listener", |step| {
            step.subscriptions.push(SubscriptionChange {
                topic: "/clock".to_owned(),
                wanted: true,
            });
        }),
        ("a snapshot", |step| {
            step.wanted.snapshots.push(CellId(1));
        }),
    ]
}

#[test]
fn a_quiet_step_is_the_predicted_one_and_any_other_is_not() {
    let last = Step {
        sequence: Sequence(5),
        iteration: Iteration(3),
        sim_time: SimTime(3_000_000),
        elapsed: SimTime(2_000_000),
        step_size_ns: 1_000_000,
        world_publisher: Some(PeerName::primary()),
        ..Step::default()
    };
    let predicted = last.quiet_after(1);
    assert!(predicted.is_quiet_after(&last));
    assert!(!last.is_quiet_after(&last));
    for (what, change) in other_values().into_iter().chain(other_lists()) {
        let mut step = predicted.clone();
        change(&mut step);
        assert_ne!(step, predicted, "{what}");
        assert!(!step.is_quiet_after(&last), "{what}");
    }
    let mut guess = predicted;
    guess.batch_number += 1;
    guess.wanted.states.push(PerformerId(1));
    guess.wanted.poses.push(PerformerId(2));
    let ghost = LinkPoses::pack(PerformerId(7), [[0.0; 7]]);
    guess.ghost_poses.push(ghost);
    assert!(guess.is_quiet_after(&last), "these are a guess");
}
