//! Commands that are taken from the schedule, and the moments when they are.

use protocol::ModelId;

use super::*;

fn seed(iteration: u64, paused_round: Option<u32>, seed: u64) -> ScheduledCommand {
    ScheduledCommand {
        iteration: Iteration(iteration),
        paused_round,
        command: Command::SetSeed { seed },
    }
}

/// Returns the seeds that are taken after iteration 5.
fn take(queue: &mut CommandQueue) -> Vec<u64> {
    let taken = queue.take_from_schedule(Iteration(5), 0).into_iter();
    let seed = |one: ScheduledCommand| match one.command {
        Command::SetSeed { seed } => seed,
        other => panic!("{other:?} was not scheduled"),
    };
    taken.map(seed).collect()
}

fn ask_as_system(queue: &mut CommandQueue) {
    let publisher = Publisher::Model {
        model: ModelId { world: 0, model: 0 },
        part: 0,
    };
    let command = Command::SetSeed { seed: 9 };
    queue.take_from_systems(vec![SystemRequest { publisher, command }], Vec::new());
}

#[test]
fn commands_of_one_round_replay_in_one_round() {
    let schedule = vec![
        seed(5, Some(0), 1),
        seed(5, Some(0), 2),
        seed(5, Some(1), 3),
        seed(6, None, 4),
    ];
    let mut queue = CommandQueue::new(schedule);
    assert_eq!(take(&mut queue), [1, 2]);
    queue.is_round_due = false;
    assert_eq!(take(&mut queue), [3]);
    queue.is_round_due = false;
    assert!(take(&mut queue).is_empty());
}

#[test]
fn what_was_done_beside_what_a_system_asked_for_is_so_again() {
    let schedule = vec![seed(5, Some(0), 1), seed(5, Some(1), 2), seed(5, None, 3)];
    let mut queue = CommandQueue::new(schedule);
    ask_as_system(&mut queue);
    assert_eq!(take(&mut queue), [1]);
    assert!(take(&mut queue).is_empty(), "it is of the next round");
    (queue.round, queue.is_round_due) = (1, false);
    assert_eq!(take(&mut queue), [2]);
    queue.is_round_due = false;
    assert!(take(&mut queue).is_empty(), "it is for when nobody asks");
    queue.requested.clear();
    assert_eq!(take(&mut queue), [3]);
}
