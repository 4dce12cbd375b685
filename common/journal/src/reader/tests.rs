//! Journals of a small run are cut, damaged and taken up again; what is read is compared with what
//! was written.

use std::fs;

use super::*;
use crate::disk::LocalDisk;
use crate::folder::Folder;
use crate::record::Record;
use crate::segment::SegmentHead;
use crate::testing::{command, commit, digest, manifest, mark, pause, saved};
use crate::writer::Writer;

fn read_all(path: &Path) -> Result<Recovered, ReadJournalError> {
    read(path, None, Losses::Refuse)
}

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
    assert_eq!(read.replay.digests, digests);
    let commands: Vec<Record> = (from + 1..=to)
        .filter(|iteration| iteration % 3 == 0)
        .map(|iteration| command(iteration - 1, None))
        .collect();
    let read_commands = read.replay.commands.iter().cloned();
    let read_commands: Vec<_> = read_commands
        .map(|one| Record::Command(Box::new(one)))
        .collect();
    assert_eq!(read_commands, commands, "{read:?}");
    assert_eq!(read.end, mark(1 + to, to / 3));
}

#[test]
fn written_records_are_read_back() {
    for (iterations, from) in [(0, 0), (5, 0), (10, 10), (13, 10), (20, 20), (27, 20)] {
        let (_folder, path) = journal(iterations);
        let recovered = read_all(&path).unwrap();
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
        if length < head_bytes() {
            // A segment has its head as soon as it has its name.
            assert_eq!(loss_of(&path).after, Iteration(20));
            continue;
        }
        let recovered = read_all(&path).unwrap();
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
    for length in (head_bytes()..whole.len()).step_by(7) {
        fs::write(last, &whole[..length]).unwrap();
        let recovered = read_all(&path).unwrap();
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
        let again = read_all(&path).unwrap();
        check(&again, 20, 30);
        let later = folder::list(&path).unwrap().segments;
        fs::remove_file(&later.last().unwrap().1).unwrap();
        let taken = Folder::take(&path).unwrap();
        taken.note_begun(segments.len() as u64).unwrap();
    }
}

/// Returns how long the head of a segment is \[bytes\].
fn head_bytes() -> usize {
    let head = SegmentHead {
        first: mark(21, 6),
        is_resumed: false,
    };
    head.encode().len()
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
        let recovered = read_all(&path).unwrap();
        check(&recovered, 10, 27);
        let problem = recovered.problems.join("; ");
        let name = newest.file_name().unwrap().to_str().unwrap();
        assert!(problem.contains(name), "{problem}");
    }
    fs::write(&checkpoints[0].1, "no checkpoint").unwrap();
    let error = read_all(&path).unwrap_err().to_string();
    assert!(error.contains("nothing to go on from"), "{error}");
}

/// Returns what is lost of a journal when that is not accepted.
fn loss_of(path: &Path) -> Loss {
    match read_all(path) {
        Err(ReadJournalError::Lost { loss, .. }) => *loss,
        other => panic!("nothing is lost: {other:?}"),
    }
}

#[test]
fn damage_within_the_log_is_told_and_what_is_before_it_can_be_gone_on_from() {
    let (_folder, path) = journal(27);
    let segments = folder::list(&path).unwrap().segments;
    let (_, last) = segments.last().unwrap();
    let mut bytes = fs::read(last).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(last, bytes).unwrap();
    let loss = loss_of(&path);
    let to = loss.after.0;
    assert!((21..27).contains(&to), "{loss}");
    assert_eq!(
        (loss.until, loss.commands),
        (Some(Iteration(27)), 1),
        "{loss}"
    );
    let text = read_all(&path).unwrap_err().to_string();
    for part in [
        "log-0000000003: it is damaged at byte ",
        "iterations 24 to 27",
        "--accept-loss",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let accepted = read(&path, None, Losses::Accept).unwrap();
    assert_eq!(accepted.lost, Some(loss));
    check(&accepted, 20, to);
    // Who goes on has said so once and for all.
    go_on(&path, &accepted, 30);
    check(&read_all(&path).unwrap(), 20, 30);
}

/// Goes on with a journal up to an iteration.
fn go_on(path: &Path, recovered: &Recovered, until: u64) {
    let folder = Folder::take(path).unwrap();
    let disk = Box::new(LocalDisk);
    let mut writer = Writer::resume(disk, folder, u64::MAX, recovered.end).unwrap();
    for iteration in recovered.committed.0 + 1..=until {
        if iteration % 3 == 0 {
            writer.append(&[command(iteration - 1, None)]).unwrap();
        }
        writer.append(&[commit(iteration)]).unwrap();
    }
}

/// A journal of a run that was taken up again: three lives, and two checkpoints in the first.
fn journal_of_three_lives() -> (tempfile::TempDir, PathBuf) {
    let (folder, path) = journal(23);
    for until in [26, 29] {
        let recovered = read_all(&path).unwrap();
        go_on(&path, &recovered, until);
    }
    (folder, path)
}

/// Asks that a journal, however it was damaged, says so or is read as if it was not.
fn check_nothing_is_lost_in_silence(path: &Path, to: u64, what: &str) {
    match read_all(path) {
        Ok(read) => {
            let from = read.base.commits.saturating_sub(1);
            check(&read, from, to);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty(), "{what}");
        }
    }
}

#[test]
fn no_flipped_bit_loses_anything_in_silence() {
    let (_folder, path) = journal_of_three_lives();
    let listing = folder::list(&path).unwrap();
    let files = listing.segments.into_iter().chain(listing.checkpoints);
    for (_, file) in files {
        let whole = fs::read(&file).unwrap();
        for index in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[index] ^= 1 << (index % 8);
            fs::write(&file, &bytes).unwrap();
            let what = format!("byte {index} of {}", file.display());
            check_nothing_is_lost_in_silence(&path, 29, &what);
        }
        fs::write(&file, whole).unwrap();
    }
}

#[test]
fn no_file_that_is_gone_is_passed_over_in_silence() {
    let (_folder, path) = journal_of_three_lives();
    let listing = folder::list(&path).unwrap();
    let files: Vec<PathBuf> = listing
        .segments
        .into_iter()
        .chain(listing.checkpoints)
        .map(|(_, file)| file)
        .collect();
    let whole: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let mut refused = 0;
    // Each set of files, by the bits of its number.
    for set in 0..1_u32 << files.len() {
        for (index, (file, bytes)) in files.iter().zip(&whole).enumerate() {
            if set & 1 << index == 0 {
                fs::write(file, bytes).unwrap();
            } else if file.exists() {
                fs::remove_file(file).unwrap();
            }
        }
        check_nothing_is_lost_in_silence(&path, 29, &format!("files {set:b}"));
        refused += u32::from(read_all(&path).is_err());
    }
    assert!(refused > 0);
    // The last segment alone is missed by what the lock says of it.
    for (file, bytes) in files.iter().zip(&whole) {
        fs::write(file, bytes).unwrap();
    }
    let (_, last) = folder::list(&path).unwrap().segments.pop().unwrap();
    fs::remove_file(&last).unwrap();
    let loss = loss_of(&path);
    let name = last.file_name().unwrap().to_str().unwrap();
    assert_eq!(loss.cause, format!("{name} is missing"));
    assert_eq!((loss.after, loss.until), (Iteration(26), None));
}

#[test]
fn a_log_that_is_gone_without_a_checkpoint_is_missed() {
    let (_folder, path) = journal(5);
    let (_, file) = folder::list(&path).unwrap().segments.pop().unwrap();
    fs::remove_file(file).unwrap();
    assert_eq!(loss_of(&path).cause, "log-0000000001 is missing");
    // A journal to which nothing was written yet lacks nothing.
    let (_folder, path) = journal(0);
    let (_, file) = folder::list(&path).unwrap().segments.pop().unwrap();
    fs::remove_file(file).unwrap();
    assert!(read_all(&path).is_err());
    let folder = tempfile::tempdir().unwrap();
    drop(begin(&folder.path().join("journal")));
    check_begun(&folder.path().join("journal"));
}

fn check_begun(path: &Path) {
    let recovered = read_all(path).unwrap();
    assert_eq!((recovered.end, recovered.committed.0), (mark(0, 0), 0));
}

#[test]
fn a_log_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    let (_folder, path) = journal(27);
    let (_, last) = folder::list(&path).unwrap().segments.pop().unwrap();
    let kept = path.join("kept");
    fs::rename(&last, &kept).unwrap();
    // A folder in its place: it can be opened and not be read, whoever tries.
    fs::create_dir(&last).unwrap();
    let error = read_all(&path).unwrap_err();
    let text = error.to_string();
    let name = last.file_name().unwrap().to_str().unwrap();
    assert!(
        matches!(error, ReadJournalError::Unreadable { .. }),
        "{text}"
    );
    assert!(text.contains(name) && text.contains("chmod"), "{text}");
    let accepted = read(&path, None, Losses::Accept).unwrap();
    check(&accepted, 20, 20);
    assert!(accepted.lost.is_some());
    fs::remove_dir(&last).unwrap();
    fs::rename(&kept, &last).unwrap();
    check(&read_all(&path).unwrap(), 20, 27);
}

#[test]
fn damage_before_what_is_needed_does_no_harm() {
    let (_folder, path) = journal(27);
    let segments = folder::list(&path).unwrap().segments;
    let (_, first) = &segments[0];
    let whole = fs::read(first).unwrap();
    for index in 60..whole.len() {
        let mut bytes = whole.clone();
        bytes[index] ^= 1;
        fs::write(first, bytes).unwrap();
        check(&read_all(&path).unwrap(), 20, 27);
    }
    // It is needed where other files of the run do not reach the last checkpoint.
    let error = read(&path, Some(Iteration(19)), Losses::Refuse).unwrap_err();
    assert!(matches!(error, ReadJournalError::Lost { .. }), "{error}");
    fs::write(first, whole).unwrap();
    check(
        &read(&path, Some(Iteration(19)), Losses::Refuse).unwrap(),
        10,
        27,
    );
}

#[test]
fn room_that_was_never_filled_is_no_damage() {
    let (_folder, path) = journal(27);
    let (_, last) = folder::list(&path).unwrap().segments.pop().unwrap();
    let mut bytes = fs::read(&last).unwrap();
    bytes.resize(bytes.len() + 500, 0);
    fs::write(&last, bytes).unwrap();
    check(&read_all(&path).unwrap(), 20, 27);
}

#[test]
fn files_that_reach_less_far_have_the_run_go_on_from_before() {
    let (_folder, path) = journal(27);
    check(
        &read(&path, Some(Iteration(20)), Losses::Refuse).unwrap(),
        20,
        27,
    );
    check(
        &read(&path, Some(Iteration(19)), Losses::Refuse).unwrap(),
        10,
        27,
    );
    assert!(
        read(&path, Some(Iteration(9)), Losses::Refuse).is_err(),
        "its start is gone"
    );
}

#[test]
fn removed_segments_are_not_needed() {
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
    let recovered = read_all(&path).unwrap();
    assert_eq!(
        (recovered.committed.0, recovered.replay.digests.len()),
        (95, 5)
    );
    fs::remove_file(&listing.checkpoints[1].1).unwrap();
    assert_eq!(read_all(&path).unwrap().replay.digests.len(), 15);
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
            let end = read_all(&path).unwrap().end;
            let folder = Folder::take(&path).unwrap();
            writer = Writer::resume(Box::new(LocalDisk), folder, u64::MAX, end).unwrap();
        }
    }
    drop(writer);
    let listing = folder::list(&path).unwrap();
    for (_, file) in listing.checkpoints.iter().rev() {
        let recovered = read_all(&path).unwrap();
        assert_eq!(recovered.problems, [""; 0]);
        assert_eq!((recovered.end, recovered.committed.0), (mark(6, 3), 6));
        let expected = 6 - recovered.base.commits;
        assert_eq!(recovered.replay.digests.len() as u64, expected);
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
    let recovered = read_all(&path).unwrap();
    let rounds = recovered.replay.commands.iter().map(|one| one.paused_round);
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
        let error = read_all(&path).unwrap_err();
        assert!(error.to_string().contains("manifest"), "{error}");
    }
}
