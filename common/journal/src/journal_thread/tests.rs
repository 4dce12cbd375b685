//! A journal thread on a disk that is full and gets room again.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;

use super::*;
use crate::disk::LocalDisk;
use crate::loss::Losses;
use crate::reader::read;
use crate::testing::{SlowDisk, SmallDisk, commit, manifest, mark, pause, saved};

#[test]
fn a_full_disk_is_told_once_and_all_is_there_when_it_works_again() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(1 << 20);
    let boxed = Box::new(disk.clone());
    let writer = Writer::create(boxed, folder.path(), u64::MAX, &manifest()).unwrap();
    let (sender, news) = channel();
    let mut journal = JournalThread::start(writer, move |one| sender.send(one).unwrap()).unwrap();
    journal.record(pause(0));
    disk.0.store(0, Ordering::SeqCst);
    // More than the queue takes: nobody waits for a disk that takes nothing.
    for iteration in 1..=QUEUE_MAX as u64 + 5000 {
        journal.record(commit(iteration));
    }
    let at = mark(5001 + QUEUE_MAX as u64, 0);
    journal.save(saved(at, 5000 + QUEUE_MAX as u64), Vec::new());
    let limit = Duration::from_mins(1);
    let JournalNews::Failed(cause) = news.recv_timeout(limit).unwrap() else {
        panic!("a full disk is told first");
    };
    assert!(
        cause.starts_with("the journal cannot be written: "),
        "{cause}"
    );
    disk.0.store(1 << 30, Ordering::SeqCst);
    assert_eq!(news.recv_timeout(limit).unwrap(), JournalNews::Works);
    journal.finish(false).unwrap();
    let recovered = read(folder.path(), None, Losses::Refuse).unwrap();
    assert_eq!(recovered.committed.0, 5000 + QUEUE_MAX as u64);
    assert!(recovered.saved.is_some());
}

#[test]
fn the_end_does_not_wait_for_a_disk_that_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(1 << 20);
    let boxed = Box::new(disk.clone());
    let writer = Writer::create(boxed, folder.path(), u64::MAX, &manifest()).unwrap();
    disk.0.store(0, Ordering::SeqCst);
    let mut journal = JournalThread::start(writer, |_| {}).unwrap();
    journal.record(pause(0));
    assert!(journal.finish(false).is_err());
}

const LIMIT: Duration = Duration::from_mins(1);

fn start(disk: Box<dyn crate::disk::Disk>, path: &Path) -> (JournalThread, Receiver<JournalNews>) {
    let writer = Writer::create(disk, path, u64::MAX, &manifest()).unwrap();
    let (sender, news) = channel();
    let tell = move |one| sender.send(one).unwrap();
    (JournalThread::start(writer, tell).unwrap(), news)
}

#[test]
fn a_disk_that_does_not_answer_holds_nobody_up_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SlowDisk::default();
    let (mut journal, news) = start(Box::new(disk.clone()), folder.path());
    disk.hold();
    // All of it is taken, though nothing is written.
    let count = QUEUE_MAX as u64 + 5000;
    for iteration in 1..=count {
        journal.record(commit(iteration));
    }
    let JournalNews::Failed(cause) = news.recv_timeout(LIMIT).unwrap() else {
        panic!("a disk that does not answer is told");
    };
    assert!(cause.contains("does not answer"), "{cause}");
    assert!(!journal.is_written(count));
    disk.release();
    assert_eq!(news.recv_timeout(LIMIT).unwrap(), JournalNews::Works);
    journal.finish(false).unwrap();
    let recovered = read(folder.path(), None, Losses::Refuse).unwrap();
    assert_eq!(recovered.committed.0, count);
}

#[test]
fn waiters_are_notified_when_their_records_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SlowDisk::default();
    let (mut journal, news) = start(Box::new(disk.clone()), folder.path());
    assert!(journal.is_written(0), "nothing is always written");
    disk.hold();
    journal.record(commit(1));
    journal.record(commit(2));
    let count = journal.records();
    assert!(!journal.is_written(count));
    disk.release();
    assert_eq!(news.recv_timeout(LIMIT).unwrap(), JournalNews::Written);
    assert!(journal.is_written(count));
    journal.finish(false).unwrap();
    assert!(news.try_recv().is_err(), "it is told once");
}

/// A file that loses what it was given.
#[derive(Debug)]
struct LostFile;

impl Durable for LostFile {
    fn sync(&mut self) -> io::Result<()> {
        Err(io::Error::other("lost"))
    }
}

#[test]
fn no_checkpoint_rests_on_a_file_that_is_not_safe() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, news) = start(Box::new(LocalDisk), folder.path());
    let beside = |file: Box<dyn Durable>| {
        let path = "digests.txt".into();
        vec![Beside { path, file }]
    };
    let safe = std::fs::File::create(folder.path().join("digests.txt")).unwrap();
    journal.record(commit(1));
    journal.save(saved(mark(1, 0), 1), beside(Box::new(safe)));
    assert_eq!(
        news.recv_timeout(LIMIT).unwrap(),
        JournalNews::Saved(Sequence(2))
    );
    journal.record(commit(2));
    journal.save(saved(mark(2, 0), 2), beside(Box::new(LostFile)));
    journal.save(saved(mark(2, 0), 2), Vec::new());
    let lost = JournalNews::Unsafe("cannot write digests.txt: lost".to_owned());
    assert_eq!(news.recv_timeout(LIMIT).unwrap(), lost);
    journal.finish(false).unwrap();
    assert!(news.try_recv().is_err());
    let recovered = read(folder.path(), None, Losses::Refuse).unwrap();
    assert_eq!((recovered.base, recovered.committed.0), (mark(1, 0), 2));
}
