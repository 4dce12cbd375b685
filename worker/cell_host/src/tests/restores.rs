//! Snapshots that are none of the cell that they are for are refused with the reason.

use protocol::primary_to_secondary::{CellSnapshot, CellSource};
use protocol::{CellId, Digest};

use super::fixture::*;

/// Restores cell 1 from what `change` makes of its snapshot, after 50 steps.
fn check(change: impl FnOnce(&mut Vec<u8>), expected: &str) {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    hosts.advance_by(50);
    hosts.pause(|step| step.wanted.snapshots = vec![CellId(1)]);
    change(&mut hosts.snapshots[0].bytes);
    let mut step = hosts.following();
    step.affinities = vec![affinity(1, "b", CellSource::Snapshot)];
    let said = match hosts.run(step) {
        Ok(_) => "restored".to_owned(),
        Err(error) => protocol::Chain(&error).to_string(),
    };
    assert_eq!(said, expected);
}

/// Replaces what the host keeps of a cell, and the digest over it.
fn attach(bytes: &mut Vec<u8>, attachment: &[u8]) {
    let ending = bytes.len() - 20;
    let length = u32::from_le_bytes(bytes[ending..ending + 4].try_into().unwrap()) as usize;
    bytes.truncate(ending - length);
    let physics = bytes.len();
    bytes.extend_from_slice(attachment);
    bytes.extend_from_slice(&(attachment.len() as u32).to_le_bytes());
    let digest = Digest::of_bytes(&bytes[physics..]);
    bytes.extend_from_slice(&digest.0.to_le_bytes());
}

#[test]
fn a_snapshot_that_is_whole_is_restored() {
    check(|_| {}, "restored");
    // The cell, not suspended, no idle steps, one level, which is level 0, and no systems.
    check(|bytes| attach(bytes, &[1, 0, 0, 1, 0, 0]), "restored");
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let damaged = "cell 1 cannot be restored: the snapshot is damaged at its end";
    check(Vec::clear, damaged);
    check(|bytes| bytes.truncate(19), damaged);
    check(|bytes| bytes.truncate(bytes.len() - 1), damaged);
    check(|bytes| *bytes.last_mut().unwrap() ^= 1, damaged);
    check(
        |bytes| bytes[40] ^= 1,
        "cell 1 cannot be restored: the physics of the snapshot is unusable: snapshot is damaged: \
         its digest does not match its bytes",
    );
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    check(
        |bytes| attach(bytes, &[2, 0, 0, 1, 1, 0]),
        "cell 1 cannot be restored: the snapshot is of cell 2",
    );
    let misfit = |what| {
        format!(
            "cell 1 cannot be restored: the snapshot has {what} which do not fit its world and \
             its levels"
        )
    };
    check(
        |bytes| attach(bytes, &[1, 0, 0, 1, 1, 0]),
        &misfit("static models"),
    );
    check(
        |bytes| attach(bytes, &[1, 0, 0, 0, 0]),
        &misfit("static models"),
    );
    check(
        |bytes| attach(bytes, &[1, 0, 0, 1, 3, 0]),
        &misfit("levels"),
    );
    check(
        |bytes| attach(bytes, &[1, 0, 0, 1, 99, 0]),
        &misfit("levels"),
    );
    check(
        |bytes| attach(bytes, &[1, 7]),
        "cell 1 cannot be restored: the snapshot was made by another build: Found a bool that \
         wasn't 0 or 1",
    );
}

#[test]
fn a_snapshot_of_another_cell_of_the_same_world_is_refused() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    hosts.pause(|step| step.wanted.snapshots = vec![CellId(2)]);
    let bytes = hosts.snapshots.pop().unwrap().bytes;
    hosts.snapshots = vec![CellSnapshot {
        sequence: hosts.step.sequence,
        cell: CellId(1),
        bytes,
    }];
    let mut step = hosts.following();
    step.affinities = vec![affinity(1, "b", CellSource::Snapshot)];
    let error = hosts.run(step).unwrap_err();
    let said = protocol::Chain(&error).to_string();
    assert_eq!(said, "cell 1 cannot be restored: the snapshot is of cell 2");
}
