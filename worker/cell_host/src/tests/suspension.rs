//! A suspended cell: nothing in it changes, and it goes on as if no time had passed.

use protocol::CellId;
use protocol::primary_to_secondary::Suspension;

use super::fixture::*;

fn suspension(suspended: bool) -> Suspension {
    Suspension {
        cell: CellId(2),
        suspended,
    }
}

#[test]
fn a_suspended_cell_is_untouched_for_1000_steps_and_goes_on() {
    let cell = CellId(2);
    let mut reference = Hosts::started(["a", "a", "a"], PLAIN);
    let expected = reference.advance_by(600);

    let mut hosts = Hosts::started(["a", "a", "a"], PLAIN);
    hosts.advance_by(300);
    hosts.advance(|step| {
        step.suspensions = vec![suspension(true)];
        step.wanted.snapshots = vec![cell];
    });
    let before = hosts.snapshots.pop().unwrap().bytes;
    for digests in hosts.advance_by(998) {
        assert_eq!(digests[&cell], expected[299][&cell]);
    }
    hosts.advance(|step| step.wanted.snapshots = vec![cell]);
    let after = hosts.snapshots.pop().unwrap().bytes;
    assert!(after == before, "a bit of it changed in 999 steps");
    assert_eq!(
        hosts.states.len() as u32,
        3 * RESIDENTS,
        "its states are in the answer"
    );
    for (index, expected) in expected[300..].iter().enumerate() {
        let digests = hosts.advance(|step| {
            if index == 0 {
                step.suspensions = vec![suspension(false)];
            }
        });
        assert_eq!(digests[&cell], expected[&cell], "step {index} after it");
        let other = CellId(1);
        assert_ne!(digests[&other], expected[&other], "the others went on");
    }
}

#[test]
fn a_suspended_cell_migrates_and_stays_suspended() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    hosts.advance_by(300);
    let still = hosts.advance(|step| step.suspensions = vec![suspension(true)]);
    hosts.pause(|step| step.wanted.snapshots = vec![CellId(2)]);
    let before = hosts.snapshots[0].bytes.clone();
    let moved = hosts.migrate(2, "a");
    assert_eq!(moved[&CellId(2)], still[&CellId(2)]);
    assert_eq!(
        hosts.performers("a", 2),
        Some((RESIDENTS..2 * RESIDENTS).collect())
    );
    hosts.advance_by(50);
    hosts.pause(|step| step.wanted.snapshots = vec![CellId(2)]);
    assert!(
        hosts.snapshots[0].bytes == before,
        "its snapshot is the same on another host"
    );
    let resumed = hosts.advance(|step| step.suspensions = vec![suspension(false)]);
    assert_ne!(resumed[&CellId(2)], still[&CellId(2)]);
}
