//! Tests when frames are due, and the effects of a full disk.

use std::io::{Cursor, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use protocol::Digest;
use recording::writer::CHUNK_BYTES;

use super::*;

#[test]
fn frames_are_due_at_multiples_of_their_period() {
    for (time_ns, rate_hz, expected) in [
        (0, 30.0, 33_333_333),
        (34_000_000, 30.0, 66_666_667),
        (33_333_333, 30.0, 66_666_667),
        (1_000_000, 0.0, 1_000_000),
        (999_999_999, 1.0, 1_000_000_000),
        (1_000_000_000, 1.0, 2_000_000_000),
    ] {
        assert_eq!(next_frame(SimTime(time_ns), rate_hz), SimTime(expected));
    }
}

/// A disk with so much room.
#[derive(Clone, Default)]
struct SmallDisk {
    bytes: Arc<Mutex<Cursor<Vec<u8>>>>,
    room: usize,
}

impl Write for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.bytes.lock().unwrap();
        if written.get_ref().len() + bytes.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        written.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for SmallDisk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.lock().unwrap().seek(to)
    }
}

fn description() -> RunDescription {
    let identity = crate::identity::build();
    RunDescription {
        format: recording::FORMAT,
        worlds: vec!["w".to_owned()],
        world_digest: Digest::default(),
        session: protocol::SessionId(1),
        build: identity,
        started_unix_ms: 0,
        seed: 0,
        step_size_ns: 1_000_000,
        levels_load: recording::LoadWord::Buffer,
        sight: recording::SightWord::Buffer,
        interaction_margin_m: 0.0,
        minimum_stay_iterations: 0,
        secondaries: 0,
        record_rate_hz: 30.0,
        has_states: true,
        spec: serde_json::Value::Null,
    }
}

/// Returns bytes that cannot be made smaller.
fn noise(count: u64) -> Vec<u8> {
    let blocks = 0..count / 16;
    let noise = blocks.flat_map(|block| Digest::of_bytes(&block.to_le_bytes()).0.to_le_bytes());
    noise.collect()
}

#[test]
fn a_full_disk_ends_the_recording_which_is_told_and_keeps_what_was_written() {
    let disk = SmallDisk {
        room: 3 << 20,
        ..SmallDisk::default()
    };
    let writer = RecordingWriter::new(disk.clone(), &description(), b"").unwrap();
    let queue = Queue::default();
    for iteration in 1..=5 {
        let digest = Entry::Digest(Iteration(iteration), Digest(1));
        queue.push(digest, Moment::default());
        queue.push(Entry::States(noise(CHUNK_BYTES as u64)), Moment::default());
    }
    let error = writing::write(&queue, writer, None, Path::new("run.mcap")).unwrap_err();
    let cause = error.to_string();
    assert!(cause.starts_with("cannot record to run.mcap: "), "{cause}");
    assert!(cause.contains("the run goes on"), "{cause}");
    assert_eq!(queue.take_problem(), Some(cause));
    queue.admit();
    let bytes = disk.bytes.lock().unwrap().get_ref().clone();
    let mut read = recording::Recording::open(Cursor::new(bytes)).unwrap();
    assert!(!read.has_index());
    assert_eq!(read.digests().unwrap(), [Digest(1), Digest(1)]);
}
