//! A keeper on a disk that is full and gets room again.

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;

use super::*;
use crate::reader::read;
use crate::testing::{SmallDisk, checkpoint, commit, manifest, mark, pause};

#[test]
fn a_full_disk_is_told_once_and_all_is_there_when_it_works_again() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(1 << 20);
    let boxed = Box::new(disk.clone());
    let writer = Writer::create(boxed, folder.path(), u64::MAX, &manifest()).unwrap();
    let (sender, news) = channel();
    let mut keeper = Keeper::start(writer, move |one| sender.send(one).unwrap()).unwrap();
    keeper.record(pause(0));
    disk.0.store(0, Ordering::SeqCst);
    // More than the queue takes: nobody waits for a disk that takes nothing.
    for iteration in 1..=QUEUE_MAX as u64 + 5000 {
        keeper.record(commit(iteration));
    }
    let at = mark(5001 + QUEUE_MAX as u64, 0);
    keeper.save(
        at,
        Arc::new(checkpoint(5000 + QUEUE_MAX as u64)),
        Vec::new(),
    );
    let limit = Duration::from_mins(1);
    let KeeperNews::Failed(cause) = news.recv_timeout(limit).unwrap() else {
        panic!("a full disk is told first");
    };
    assert!(
        cause.starts_with("the journal cannot be written: "),
        "{cause}"
    );
    disk.0.store(1 << 30, Ordering::SeqCst);
    assert_eq!(news.recv_timeout(limit).unwrap(), KeeperNews::Works);
    keeper.finish(false).unwrap();
    let recovered = read(folder.path(), None).unwrap();
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
    let mut keeper = Keeper::start(writer, |_| {}).unwrap();
    keeper.record(pause(0));
    assert!(keeper.finish(false).is_err());
}
