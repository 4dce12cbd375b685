//! Journals of a small run are cut, damaged and taken up again; what is read is compared with what
//! was written.

use std::fs;

use super::*;
use crate::disk::LocalDisk;
use crate::folder::Folder;
use crate::testing::{command, commit, digest, manifest, mark, pause, saved};
use crate::writer::Writer;

fn begin(path: &Path) -> Writer {
    Writer::create(Box::new(LocalDisk), path, u64::MAX, &manifest()).unwrap()
}

/// Writes iterations, a command before each third, and checkpoints after 10 and 20.
fn write(path: &Path, iterations: u64) {
    let mut writer = begin(path);
    writer.append(&[pause(0)]).unwrap();
    let mut now = mark(1, 0);
    for iteration in 1..=iterations {
        if iteration % 3 == 0 {
            writer.append(&[command(iteration - 1, None)]).unwrap();
            now.commands += 1;
        }
        writer.append(&[commit(iteration)]).unwrap();
        now.commits += 1;
        if iteration == 10 || iteration == 20 {
            writer.save(&saved(now, iteration)).unwrap();
        }
    }
    writer.finish(false).unwrap();
}

fn journal(iterations: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    write(&path, iterations);
    (folder, path)
}

/// Asks that a journal goes on from an iteration and ends with another.
fn check(read: &Recovered, from: u64, to: u64) {
    assert_eq!(read.committed, Iteration(to));
    let expected = (from > 0).then(|| saved(mark(1 + from, from / 3), from));
    assert_eq!(read.saved, expected);
    let digests: Vec<_> = (from + 1..=to).map(digest).collect();
    assert_eq!(read.redo.digests, digests);
    let commands: Vec<Record> = (from + 1..=to)
        .filter(|iteration| iteration % 3 == 0)
        .map(|iteration| command(iteration - 1, None))
        .collect();
    let read_commands = read.redo.commands.iter().cloned();
    let read_commands: Vec<_> = read_commands
        .map(|one| Record::Command(Box::new(one)))
        .collect();
    assert_eq!(read_commands, commands, "{read:?}");
    assert_eq!(read.end, mark(1 + to, to / 3));
}

#[test]
fn what_was_written_is_read() {
    for (iterations, from) in [(0, 0), (5, 0), (10, 10), (13, 10), (20, 20), (27, 20)] {
        let (_folder, path) = journal(iterations);
        let recovered = read(&path, None).unwrap();
        assert_eq!(recovered.problems, [""; 0]);
        assert_eq!(recovered.manifest, manifest());
        check(&recovered, from, iterations);
    }
}

#[test]
fn a_log_that_is_cut_anywhere_ends_with_its_last_whole_commit() {
    let (_folder, path) = journal(27);
    let segments = folder::list(&path).unwrap().segments;
    let (_, last) = segments.last().unwrap();
    let whole = fs::read(last).unwrap();
    let mut seen = 0;
    for length in (0..whole.len()).rev() {
        fs::write(last, &whole[..length]).unwrap();
        let recovered = read(&path, None).unwrap();
        let to = recovered.committed.0;
        assert!((20..=27).contains(&to));
        assert!(seen == 0 || to <= seen, "less is never more");
        seen = to;
        check(&recovered, 20, to);
    }
    assert_eq!(seen, 20);
}

#[test]
fn a_run_is_taken_up_again_after_every_cut() {
    let (_folder, path) = journal(27);
    let segments = folder::list(&path).unwrap().segments;
    let (_, last) = segments.last().unwrap();
    let whole = fs::read(last).unwrap();
    for length in (0..whole.len()).step_by(7) {
        fs::write(last, &whole[..length]).unwrap();
        let recovered = read(&path, None).unwrap();
        let to = recovered.committed.0;
        let folder = Folder::take(&path).unwrap();
        let disk = Box::new(LocalDisk);
        let mut writer = Writer::resume(disk, folder, u64::MAX, recovered.end).unwrap();
        for iteration in to + 1..=30 {
            if iteration % 3 == 0 {
                writer.append(&[command(iteration - 1, None)]).unwrap();
            }
            writer.append(&[commit(iteration)]).unwrap();
        }
        // Another step is under way when the end comes again.
        writer.append(&[command(30, None)]).unwrap();
        drop(writer);
        let again = read(&path, None).unwrap();
        check(&again, 20, 30);
        let later = folder::list(&path).unwrap().segments;
        fs::remove_file(&later.last().unwrap().1).unwrap();
    }
}

#[test]
fn a_damaged_checkpoint_gives_way_to_the_one_before() {
    let (_folder, path) = journal(27);
    let checkpoints = folder::list(&path).unwrap().checkpoints;
    assert_eq!(checkpoints.len(), 2);
    let (_, newest) = &checkpoints[1];
    let whole = fs::read(newest).unwrap();
    for index in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[index] ^= 1 << (index % 8);
        fs::write(newest, &bytes).unwrap();
        let recovered = read(&path, None).unwrap();
        check(&recovered, 10, 27);
        let problem = recovered.problems.join("; ");
        let name = newest.file_name().unwrap().to_str().unwrap();
        assert!(problem.contains(name), "{problem}");
    }
    fs::write(&checkpoints[0].1, "no checkpoint").unwrap();
    let error = read(&path, None).unwrap_err().to_string();
    assert!(error.contains("nothing to go on from"), "{error}");
}

#[test]
fn damage_within_the_log_ends_what_is_known_there() {
    let (_folder, path) = journal(27);
    let segments = folder::list(&path).unwrap().segments;
    let (_, last) = segments.last().unwrap();
    let mut bytes = fs::read(last).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(last, bytes).unwrap();
    let recovered = read(&path, None).unwrap();
    let to = recovered.committed.0;
    assert!((21..27).contains(&to), "{to}");
    check(&recovered, 20, to);
}

#[test]
fn files_that_reach_less_far_have_the_run_go_on_from_before() {
    let (_folder, path) = journal(27);
    check(&read(&path, Some(Iteration(20))).unwrap(), 20, 27);
    check(&read(&path, Some(Iteration(19))).unwrap(), 10, 27);
    assert!(
        read(&path, Some(Iteration(9))).is_err(),
        "its start is gone"
    );
}

#[test]
fn what_was_forgotten_is_not_needed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut writer = begin(&path);
    writer.append(&[pause(0)]).unwrap();
    for iteration in 1..=95 {
        writer.append(&[commit(iteration)]).unwrap();
        if iteration % 10 == 0 {
            writer
                .save(&saved(mark(1 + iteration, 0), iteration))
                .unwrap();
        }
    }
    drop(writer);
    let listing = folder::list(&path).unwrap();
    assert_eq!((listing.checkpoints.len(), listing.segments.len()), (2, 2));
    let recovered = read(&path, None).unwrap();
    assert_eq!(
        (recovered.committed.0, recovered.redo.digests.len()),
        (95, 5)
    );
    fs::remove_file(&listing.checkpoints[1].1).unwrap();
    assert_eq!(read(&path, None).unwrap().redo.digests.len(), 15);
}

#[test]
fn a_command_that_comes_before_the_checkpoint_is_saved_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut writer = begin(&path);
    for round in 0..3 {
        // The command belongs to the step after the checkpoint, and is written before it.
        let commits = 2 * round;
        writer.append(&[commit(commits + 1)]).unwrap();
        writer.append(&[command(commits + 1, None)]).unwrap();
        let made = saved(mark(commits + 1, round), commits + 1);
        writer.save(&made).unwrap();
        writer.append(&[commit(commits + 2)]).unwrap();
        if round == 1 {
            drop(writer);
            let end = read(&path, None).unwrap().end;
            let folder = Folder::take(&path).unwrap();
            writer = Writer::resume(Box::new(LocalDisk), folder, u64::MAX, end).unwrap();
        }
    }
    drop(writer);
    let listing = folder::list(&path).unwrap();
    for (_, file) in listing.checkpoints.iter().rev() {
        let recovered = read(&path, None).unwrap();
        assert_eq!(recovered.problems, [""; 0]);
        assert_eq!((recovered.end, recovered.committed.0), (mark(6, 3), 6));
        let expected = 6 - recovered.base.commits;
        assert_eq!(recovered.redo.digests.len() as u64, expected);
        fs::remove_file(file).unwrap();
    }
    assert_eq!(listing.checkpoints.len(), 2);
}

#[test]
fn a_step_for_which_states_were_fetched_alone_is_not_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut writer = begin(&path);
    let records = [
        pause(0),
        command(0, Some(0)),
        pause(0),
        commit(1),
        command(1, None),
        pause(1),
    ];
    writer.append(&records).unwrap();
    drop(writer);
    let recovered = read(&path, None).unwrap();
    let rounds = recovered.redo.commands.iter().map(|one| one.paused_round);
    assert_eq!(rounds.collect::<Vec<_>>(), [Some(0)]);
    assert_eq!(recovered.end, mark(4, 1));
}

#[test]
fn a_manifest_that_is_damaged_is_named() {
    let (_folder, path) = journal(3);
    let file = folder::manifest(&path);
    let whole = fs::read(&file).unwrap();
    for index in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[index] ^= 4;
        fs::write(&file, bytes).unwrap();
        let error = read(&path, None).unwrap_err();
        assert!(error.to_string().contains("manifest"), "{error}");
    }
}
