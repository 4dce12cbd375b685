//! Test of the figures of an ended run, on those of the view's small run.

use client::ended::RunEnded;
use protocol::report::Summary;
use protocol::{Outcome, StopReason};

use super::fixture;

fn names(ended: &RunEnded) -> Vec<String> {
    let facts = ended.facts("demo").into_iter();
    facts.map(|(name, _)| name).collect()
}

#[test]
fn a_run_that_had_not_begun_has_no_figures() {
    let reason = StopReason::new(Outcome::TimedOut, "s2 did not join");
    let mut ended = RunEnded::new(reason);
    assert_eq!(names(&ended), ["cause", "exit code"]);
    ended.summary = Some(Summary {
        iterations: 0,
        ..fixture::summary()
    });
    assert_eq!(names(&ended), ["cause", "exit code", "iterations"]);
    ended.summary = Some(fixture::summary());
    assert!(names(&ended).contains(&"digest".to_owned()));
}
