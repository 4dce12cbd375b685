//! Files that a thread writes: order, ends, full disks, and disks that are slow.

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;

/// Longest wait for something that comes.
const LONG: Duration = Duration::from_mins(2);

fn writer() -> (OutputWriter, Receiver<String>) {
    let (tells, told) = channel();
    let writer = OutputWriter::start(move |error: WriteOutputError| {
        let text = format!("{error}: {}", error.source);
        let _ = tells.send(text);
    });
    (writer.unwrap(), told)
}

fn file(path: &Path, writer: &OutputWriter) -> OutputFile {
    let file = OutputFile::create("lines", path).unwrap();
    file.written_by(writer)
}

#[test]
fn parts_of_any_size_are_written_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let (writer, _told) = writer();
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    let mut files = paths.clone().map(|path| file(&path, &writer));
    let mut expected = Vec::new();
    for size in [1, 100, PART_BYTES, 3, 5 * PART_BYTES_MAX + 1, 0, 7] {
        let bytes: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
        for file in &mut files {
            file.write_all(&bytes).unwrap();
        }
        expected.extend(bytes);
    }
    let [mut flushed, dropped] = files;
    flushed.flush().unwrap();
    drop(dropped);
    for path in paths {
        assert!(fs::read(&path).unwrap() == expected, "{}", path.display());
    }
}

#[test]
fn buffered_bytes_are_written_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut file = OutputFile::create("lines", &path).unwrap();
    file.write_all(b"one\n").unwrap();
    let mut file = file.written_by(&writer().0);
    file.write_all(b"two\n").unwrap();
    file.flush().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
    drop(file);
    let mut file = OutputFile::resume("lines", &path, 4).unwrap();
    file.write_all(b"2\n").unwrap();
    file.flush().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\n2\n");
}

#[test]
fn a_full_disk_is_told_once_and_fails_whoever_goes_on() {
    let (writer, told) = writer();
    let mut file = file(Path::new("/dev/full"), &writer);
    file.write_all(&[0; PART_BYTES]).unwrap();
    let expected = "cannot write lines to /dev/full: No space left on device (os error 28)";
    assert_eq!(told.recv_timeout(LONG).unwrap(), expected);
    let error = file.flush().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    let error = file.write_all(b"more").unwrap_err();
    let error = file.error(error);
    assert_eq!(format!("{error}: {}", error.source), expected);
    assert!(file.hand_over().is_err());
    drop((file, writer));
    assert!(told.recv_timeout(LONG).is_err(), "it is told once");
}

#[test]
fn a_sync_waits_for_what_was_handed_over_and_fails_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let (writer, _told) = writer();
    let mut kept = file(&path, &writer);
    kept.write_all(b"all of it").unwrap();
    let mut handed_over = kept.hand_over().unwrap().expect("a file keeps what it has");
    handed_over.sync().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"all of it");
    handed_over.sync().unwrap();
    let mut full = file(Path::new("/dev/full"), &writer);
    full.write_all(b"nothing of it").unwrap();
    assert!(full.hand_over().unwrap().is_none(), "it is no file");
    assert!(full.flush().is_err());
}

#[test]
fn a_disk_that_takes_nothing_holds_up_whoever_writes() {
    let (mut reader, pipe) = io::pipe().unwrap();
    let (writer, _told) = writer();
    let pipe = File::from(OwnedFd::from(pipe));
    let mut slow = OutputFile::here("lines", Path::new("pipe"), pipe).written_by(&writer);
    let (tells, told) = channel();
    let part = vec![7; PART_BYTES];
    let count = 2 * PARTS_MAX;
    let thread = thread::spawn(move || {
        for _ in 0..count {
            slow.write_all(&part).unwrap();
            tells.send(()).unwrap();
        }
    });
    // What the pipe, the queue and the thread take, and no more.
    let taken = PARTS_MAX + (64 << 10) / PART_BYTES + 1;
    for _ in 0..taken - 1 {
        told.recv_timeout(LONG).unwrap();
    }
    let held_up = std::iter::from_fn(|| told.recv_timeout(Duration::from_millis(100)).ok());
    assert!(held_up.count() <= 2);
    let mut bytes = vec![0; count * PART_BYTES];
    reader.read_exact(&mut bytes).unwrap();
    thread.join().unwrap();
    assert!(bytes.iter().all(|byte| *byte == 7));
}
