//! Every step that cannot be meant is refused with what is wrong, and nothing panics.

use protocol::primary_to_secondary::{CellSource, GhostChange, LevelChange, Step, Suspension};
use protocol::{CellId, LevelId, LinkPoses, PerformerId};

use super::fixture::*;

/// Cells 1 to 3 are those of the levels of one world, 4 and 5 those of another; 0, 4 and 5 are
/// nowhere. Performers 0 to 6 are in cell 1, 7 to 13 in cell 2, 21 to 27 belong to the other world.
fn check(change: impl FnOnce(&mut Step), expected: &str) {
    let mut hosts = Hosts::started(["a", "a", "a"], PLAIN);
    hosts.advance_by(3);
    let mut step = hosts.following();
    change(&mut step);
    let said = match hosts.run(step) {
        Ok(_) => "done".to_owned(),
        Err(error) => protocol::Chain(&error).to_string(),
    };
    assert_eq!(said, expected);
}

fn ghost(cell: u32, performer: u32, present: bool) -> GhostChange {
    GhostChange {
        cell: CellId(cell),
        performer: PerformerId(performer),
        present,
    }
}

fn suspension(cell: u32, suspended: bool) -> Suspension {
    Suspension {
        cell: CellId(cell),
        suspended,
    }
}

#[test]
fn time_advances_exactly_when_the_step_is_no_paused_one() {
    check(
        |step| step.paused = true,
        "a step of 1000000 ns does not fit whether time is paused (true)",
    );
    check(
        |step| step.step_size_ns = 0,
        "a step of 0 ns does not fit whether time is paused (false)",
    );
}

#[test]
fn affinities_name_cells_that_are_not_here_yet() {
    let gives =
        |cell, source| move |step: &mut Step| step.affinities = vec![affinity(cell, "a", source)];
    check(gives(0, CellSource::Start), "done");
    check(gives(6, CellSource::Start), "there is no cell 6");
    check(
        gives(u32::MAX, CellSource::Empty),
        "there is no cell 4294967295",
    );
    check(
        gives(1, CellSource::Empty),
        "cell 1 cannot come here, where it is already",
    );
    check(
        gives(0, CellSource::Snapshot),
        "cell 0 comes from a snapshot that is not here",
    );
    check(
        |step| step.affinities = vec![give_up(1), affinity(1, "a", CellSource::Start)],
        "the step names affinities twice or out of order",
    );
    check(
        |step| step.affinities = vec![give_up(0), give_up(5)],
        "done",
    );
}

#[test]
fn hand_offs_name_performers_that_leave_where_they_are_for_where_they_are_not() {
    let pass = |performer, from, to| {
        move |step: &mut Step| step.hand_offs = vec![hand_off(performer, from, to, Vec::new())]
    };
    check(
        pass(7, 1, 2),
        "performer 7 cannot leave cell 1, where it is not",
    );
    check(
        pass(0, 0, 1),
        "performer 0 cannot enter cell 1, where it is already",
    );
    check(
        pass(0, 1, 1),
        "performer 0 cannot enter cell 1, where it is already",
    );
    check(pass(0, 1, 99), "there is no cell 99");
    check(pass(0, 99, 1), "there is no cell 99");
    check(pass(28, 1, 2), "there is no performer 28");
    check(pass(u32::MAX, 1, 2), "there is no performer 4294967295");
    check(
        pass(0, 1, 4),
        "performer 0 cannot be in cell 4, which is of another world",
    );
    check(
        pass(21, 1, 2),
        "performer 21 cannot be in cell 1, which is of another world",
    );
    let twice = |step: &mut Step| {
        step.hand_offs = vec![hand_off(0, 1, 2, Vec::new()), hand_off(0, 1, 3, Vec::new())];
    };
    check(twice, "the step names hand-offs twice or out of order");
    check(
        pass(0, 1, 2),
        "the state of performer 0, which enters cell 2, is damaged",
    );
}

#[test]
fn levels_come_where_they_are_not_and_leave_where_they_are() {
    let changes = |cell, level, loaded| {
        move |step: &mut Step| {
            step.level_changes = vec![LevelChange {
                cell: CellId(cell),
                level: LevelId(level),
                loaded,
            }];
        }
    };
    check(changes(1, 1, true), "done");
    check(changes(1, 0, false), "done");
    check(changes(0, 0, true), "done");
    check(
        changes(1, 0, true),
        "level 0 cannot come into cell 1 or leave it",
    );
    check(
        changes(1, 1, false),
        "level 1 cannot come into cell 1 or leave it",
    );
    check(
        changes(1, 99, true),
        "level 99 cannot come into cell 1 or leave it",
    );
    check(
        changes(1, 3, true),
        "level 3 cannot be in cell 1, which is of another world",
    );
    check(changes(99, 0, true), "there is no cell 99");
    check(
        |step| step.level_changes = vec![load(2, 0), load(1, 1)],
        "the step names levels twice or out of order",
    );
}

#[test]
fn ghosts_come_where_neither_they_nor_their_performers_are() {
    let changes = |cell, performer, present| {
        move |step: &mut Step| step.ghost_changes = vec![ghost(cell, performer, present)]
    };
    check(changes(1, 7, true), "done");
    check(
        changes(1, 0, true),
        "a ghost of performer 0 cannot come into cell 1 or leave it",
    );
    check(
        changes(1, 7, false),
        "a ghost of performer 7 cannot come into cell 1 or leave it",
    );
    check(changes(1, 99, true), "there is no performer 99");
    check(
        changes(1, 21, true),
        "performer 21 cannot be in cell 1, which is of another world",
    );
    check(changes(99, 0, true), "there is no cell 99");
    check(
        |step| step.ghost_changes = vec![ghost(1, 7, true), ghost(1, 7, true)],
        "the step names ghosts twice or out of order",
    );
}

#[test]
fn poses_of_ghosts_are_those_of_their_links() {
    let at = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let places = |links: usize| {
        move |step: &mut Step| {
            step.ghost_changes = vec![ghost(1, 7, true)];
            step.ghost_poses = vec![LinkPoses::pack(PerformerId(7), vec![at; links])];
        }
    };
    check(places(1), "done");
    let wrong = "the ghost of performer 7 in cell 1 cannot be where the step says";
    check(places(0), wrong);
    check(places(2), wrong);
    let nobody = |step: &mut Step| {
        step.ghost_poses = vec![LinkPoses::pack(PerformerId(99), [at])];
    };
    check(nobody, "there is no performer 99");
    let twice = |step: &mut Step| {
        step.ghost_poses = vec![LinkPoses::pack(PerformerId(7), [at]); 2];
    };
    check(
        twice,
        "the step names poses of ghosts twice or out of order",
    );
}

#[test]
fn a_performer_and_its_ghost_are_never_in_one_cell() {
    let mut hosts = Hosts::started(["a", "a", "a"], PLAIN);
    hosts.advance(|step| step.ghost_changes = vec![ghost(2, 0, true)]);
    hosts.pause(|step| step.wanted.states = vec![PerformerId(0)]);
    let state = hosts.transfers[&PerformerId(0)].clone();
    let mut step = hosts.following();
    step.hand_offs = vec![hand_off(0, 1, 2, state)];
    let mut tidy = step.clone();
    assert_eq!(
        hosts.run(step).unwrap_err().to_string(),
        "a ghost of performer 0 cannot come into cell 2 or leave it"
    );

    let mut hosts = Hosts::started(["a", "a", "a"], PLAIN);
    hosts.advance(|step| step.ghost_changes = vec![ghost(2, 0, true)]);
    tidy.ghost_changes = vec![ghost(1, 0, true), ghost(2, 0, false)];
    assert!(hosts.run(tidy).is_ok());
}

#[test]
fn cells_are_suspended_once_before_they_go_on() {
    let changes = |cell, suspended| {
        move |step: &mut Step| step.suspensions = vec![suspension(cell, suspended)]
    };
    check(changes(1, true), "done");
    check(
        changes(1, false),
        "cell 1 cannot be suspended or resumed: it is already",
    );
    check(changes(99, true), "there is no cell 99");
    check(
        |step| step.suspensions = vec![suspension(1, true), suspension(1, false)],
        "the step names suspensions twice or out of order",
    );
}

#[test]
fn what_is_wanted_exists() {
    check(
        |step| step.wanted.poses = vec![PerformerId(99)],
        "there is no performer 99",
    );
    check(
        |step| step.wanted.states = vec![PerformerId(99)],
        "there is no performer 99",
    );
    check(
        |step| step.wanted.snapshots = vec![CellId(99)],
        "there is no cell 99",
    );
    check(|step| step.wanted.snapshots = vec![CellId(5)], "done");
    check(
        |step| step.wanted.states = vec![PerformerId(1), PerformerId(1)],
        "the step names states wanted twice or out of order",
    );
}
