//! What is read of a cell step by step is what is read of it at once, and what rests costs nothing.

use protocol::PerformerId;

use super::builder::*;
use super::determinism::heap;
use crate::PerformerStates;

#[test]
fn readings_from_step_to_step_are_those_made_anew() {
    let mut cell = fill(&heap());
    let mut performer_states = PerformerStates::default();
    let (mut renewed, mut all) = (0, 0);
    for step in 0..6_000 {
        cell.step(STEP);
        cell.read(STEP, false, &mut performer_states);
        assert_eq!(performer_states.states(), states(&mut cell), "step {step}");
        all += performer_states.states().len();
        renewed += performer_states.renewed().map_or(0, <[usize]>::len);
        if step == 3_000 {
            // Those after it change their places.
            cell.remove_performer(PerformerId(7));
        }
    }
    eprintln!("{renewed} of {all} states were made anew");
    // Three in four are round and roll on; the boxes come to rest.
    assert!((all / 10..all * 49 / 50).contains(&renewed));
}

#[test]
fn a_step_of_another_size_makes_all_readings_anew() {
    let mut cell = fill(&heap());
    let mut performer_states = PerformerStates::default();
    run(&mut cell, 6.0);
    let mut check = |step_size_s: f64, expected: Option<&[usize]>| {
        cell.read(step_size_s, false, &mut performer_states);
        assert_eq!(performer_states.renewed(), expected, "{step_size_s} s");
    };
    check(STEP, None);
    check(STEP, Some(&[]));
    check(2.0 * STEP, None);
    check(2.0 * STEP, Some(&[]));
}
