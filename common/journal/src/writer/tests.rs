//! Writers on disks that are full, and in folders that others hold.

use std::sync::atomic::Ordering;

use super::*;
use crate::disk::LocalDisk;
use crate::reader::read;
use crate::testing::{SmallDisk, commit, digest, manifest, mark, pause, saved};

#[test]
fn a_disk_that_is_full_at_any_moment_costs_nothing_once_there_is_room() {
    let whole = {
        let folder = tempfile::tempdir().unwrap();
        let disk = SmallDisk::new(1 << 20);
        fill(&disk, folder.path());
        (1 << 20) - disk.0.load(Ordering::SeqCst)
    };
    for room in (0..whole).step_by(29) {
        let folder = tempfile::tempdir().unwrap();
        let disk = SmallDisk::new(room);
        let failures = fill(&disk, folder.path());
        assert!(failures > 0, "with room for {room} bytes of {whole}");
        let recovered = read(folder.path(), None).unwrap();
        let expected: Vec<_> = (13..=14).map(digest).collect();
        assert_eq!(recovered.redo.digests, expected, "with room for {room}");
        assert_eq!(recovered.problems, [""; 0]);
    }
}

/// Writes a run, and has room made whenever there is none; returns how often that was.
fn fill(disk: &SmallDisk, path: &Path) -> usize {
    let mut failures = 0;
    let mut retry = |attempt: &mut dyn FnMut() -> bool| {
        while !attempt() {
            failures += 1;
            // As much as one attempt more, so that the next one may fail elsewhere.
            disk.0.fetch_add(1 << 10, Ordering::SeqCst);
        }
    };
    let mut writer = None;
    retry(&mut || {
        let disk = Box::new(disk.clone());
        writer = Writer::create(disk, path, u64::MAX, &manifest()).ok();
        writer.is_some()
    });
    let mut writer = writer.unwrap();
    retry(&mut || writer.append(&[pause(0)]).is_ok());
    for iteration in 1..=14 {
        retry(&mut || writer.append(&[commit(iteration)]).is_ok());
        if iteration % 6 == 0 {
            let saved = saved(mark(1 + iteration, 0), iteration);
            retry(&mut || writer.save(&saved).is_ok());
        }
    }
    retry(&mut || writer.sync().is_ok());
    failures
}

#[test]
fn what_a_failed_sync_leaves_is_written_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(1 << 20);
    let mut writer =
        Writer::create(Box::new(disk.clone()), folder.path(), u64::MAX, &manifest()).unwrap();
    writer.append(&[pause(0), commit(1)]).unwrap();
    disk.0.store(-1, Ordering::SeqCst);
    assert!(writer.sync().is_err());
    disk.0.store(1 << 20, Ordering::SeqCst);
    writer.append(&[commit(2)]).unwrap();
    writer.sync().unwrap();
    assert!(disk.0.load(Ordering::SeqCst) < (1 << 20) - 100);
    let recovered = read(folder.path(), None).unwrap();
    assert_eq!(recovered.redo.digests, [digest(1), digest(2)]);
}

#[test]
fn a_journal_keeps_to_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Box::new(LocalDisk);
    let mut writer = Writer::create(disk, folder.path(), 4000, &manifest()).unwrap();
    let mut error = None;
    let mut iteration = 0;
    while error.is_none() {
        iteration += 1;
        error = writer.append(&[commit(iteration)]).err();
        assert!(writer.bytes() <= 4000);
    }
    let error = error.unwrap().to_string();
    assert!(error.contains("--journal-limit"), "{error}");
    // Checkpoints make room, the older of them at the end.
    let mut writer = {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.keep();
        Writer::create(Box::new(LocalDisk), &path, 4000, &manifest()).unwrap()
    };
    for iteration in 0..200 {
        writer.append(&[commit(iteration)]).unwrap();
        if iteration % 10 == 9 {
            let at = mark(1 + iteration, 0);
            writer.save(&saved(at, iteration)).unwrap();
        }
    }
    let path = writer.folder.path().to_owned();
    writer.finish(true).unwrap();
    assert!(!path.exists(), "a run that is over leaves no journal");
}

#[test]
fn a_journal_is_held_by_one_writer_and_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let create = || Writer::create(Box::new(LocalDisk), &path, u64::MAX, &manifest());
    let writer = create().unwrap();
    let living = Folder::take(&path).unwrap_err();
    assert!(matches!(living, TakeFolderError::Living(_)));
    drop(writer);
    assert!(Folder::take(&path).is_ok());
    let error = create().unwrap_err().to_string();
    assert!(error.contains(&path.display().to_string()), "{error}");
    assert!(matches!(
        Folder::take(folder.path()).unwrap_err(),
        TakeFolderError::Missing(_)
    ));
}
