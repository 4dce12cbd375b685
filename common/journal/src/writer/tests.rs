//! Writers on disks that are full, and in folders that others hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::disk::LocalDisk;
use crate::loss::Losses;
use crate::reader::read;
use crate::testing::{FaultyDisk, SmallDisk, commit, digest, manifest, mark, pause, saved};

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
        let recovered = read(folder.path(), None, Losses::Refuse).unwrap();
        let expected: Vec<_> = (13..=14).map(digest).collect();
        assert_eq!(recovered.replay.digests, expected, "with room for {room}");
        assert_eq!(recovered.problems, [""; 0]);
    }
}

/// Writes a run, and has room made whenever there is none; returns how often that was.
fn fill(disk: &SmallDisk, path: &Path) -> usize {
    // As much as one attempt more, so that the next one may fail elsewhere.
    let make_room = || {
        let _ = disk.0.fetch_add(1 << 10, Ordering::SeqCst);
    };
    fill_with(disk, path, make_room)
}

/// Writes a run, and does something about the disk whenever that fails; returns how often that was.
fn fill_with<D: Disk + Clone + 'static>(disk: &D, path: &Path, mend: impl Fn()) -> usize {
    let mut failures = 0;
    let mut retry = |attempt: &mut dyn FnMut() -> bool| {
        while !attempt() {
            failures += 1;
            mend();
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
fn an_operation_that_fails_costs_nothing_whether_it_was_done_or_not() {
    for is_done in [false, true] {
        let mut operations = 0;
        loop {
            let folder = tempfile::tempdir().unwrap();
            let left = Arc::new(AtomicI64::new(operations));
            let disk = FaultyDisk { left, is_done };
            fill_with(&disk, folder.path(), || {});
            let context = format!("operation {operations} fails, done: {is_done}");
            let recovered = read(folder.path(), None, Losses::Refuse).expect(&context);
            let expected: Vec<_> = (13..=14).map(digest).collect();
            assert_eq!(recovered.replay.digests, expected, "{context}");
            assert_eq!(recovered.problems, [""; 0], "{context}");
            if disk.left.load(Ordering::SeqCst) >= 0 {
                break;
            }
            operations += 1;
        }
        assert!(
            operations > 40,
            "every operation has failed once: {operations}"
        );
    }
}

#[test]
fn a_damaged_checkpoint_is_none_of_those_that_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut writer = Writer::create(Box::new(LocalDisk), path, u64::MAX, &manifest()).unwrap();
    writer.append(&[pause(0)]).unwrap();
    for iteration in 1..=25 {
        writer.append(&[commit(iteration)]).unwrap();
        if iteration % 10 == 0 {
            writer
                .save(&saved(mark(1 + iteration, 0), iteration))
                .unwrap();
        }
    }
    drop(writer);
    let newest = folder::checkpoint(path, 21);
    let mut bytes = std::fs::read(&newest).unwrap();
    bytes[60] ^= 1;
    std::fs::write(&newest, bytes).unwrap();

    let recovered = read(path, None, Losses::Refuse).unwrap();
    assert_eq!((recovered.base.commits, recovered.committed.0), (11, 25));
    let taken = Folder::take(path).unwrap();
    let mut writer = Writer::resume(Box::new(LocalDisk), taken, u64::MAX, recovered.end).unwrap();
    for iteration in 26..=30 {
        writer.append(&[commit(iteration)]).unwrap();
    }
    writer.save(&saved(mark(31, 0), 30)).unwrap();
    drop(writer);
    // The good one of before is still there, for when this one is damaged.
    let kept = folder::list(path).unwrap().checkpoints;
    let kept: Vec<u64> = kept.iter().map(|(commits, _)| *commits).collect();
    assert_eq!(kept, [11, 31]);
    std::fs::write(folder::checkpoint(path, 31), "no checkpoint").unwrap();
    let again = read(path, None, Losses::Refuse).unwrap();
    assert_eq!((again.base.commits, again.committed.0), (11, 30));
}

#[test]
fn a_journal_that_cannot_be_written_is_not_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut writer = Writer::create(Box::new(LocalDisk), &path, u64::MAX, &manifest()).unwrap();
    writer.append(&[pause(0)]).unwrap();
    drop(writer);
    let resume = |kind: io::ErrorKind| {
        let taken = Folder::take(&path).unwrap();
        Writer::resume(Box::new(ClosedDisk(kind)), taken, u64::MAX, mark(1, 0))
    };
    let error = resume(io::ErrorKind::PermissionDenied)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot write the journal in"), "{error}");
    assert!(
        resume(io::ErrorKind::StorageFull).is_ok(),
        "there may be room soon"
    );
    // What is left of an attempt goes with the next one.
    std::fs::write(path.join("log-0000000002.new"), "half").unwrap();
    let taken = Folder::take(&path).unwrap();
    Writer::resume(Box::new(LocalDisk), taken, u64::MAX, mark(1, 0)).unwrap();
    assert!(!path.join("log-0000000002.new").exists());
}

/// A disk to which nothing can be added.
#[derive(Debug)]
struct ClosedDisk(io::ErrorKind);

impl Disk for ClosedDisk {
    fn create(&self, _: &Path) -> io::Result<Box<dyn Medium>> {
        Err(self.0.into())
    }

    fn open(&self, _: &Path) -> io::Result<Box<dyn Medium>> {
        Err(self.0.into())
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(self.0.into())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        LocalDisk.remove(path)
    }
}

#[test]
fn records_of_a_failed_sync_are_written_once_more() {
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
    let recovered = read(folder.path(), None, Losses::Refuse).unwrap();
    assert_eq!(recovered.replay.digests, [digest(1), digest(2)]);
}

#[test]
fn a_process_that_is_killed_while_nothing_can_be_synced_loses_nothing_it_has_written() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(1 << 20);
    let mut writer =
        Writer::create(Box::new(disk.clone()), folder.path(), u64::MAX, &manifest()).unwrap();
    writer.append(&[pause(0), commit(1)]).unwrap();
    disk.0.store(-1, Ordering::SeqCst);
    for _ in 0..3 {
        assert!(writer.sync().is_err());
    }
    drop(writer);
    let recovered = read(folder.path(), None, Losses::Refuse).unwrap();
    assert_eq!(recovered.replay.digests, [digest(1)]);
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
