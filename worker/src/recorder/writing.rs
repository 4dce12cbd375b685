//! The recorder's thread: writes the entries that were handed over, and flushes them to the file at
//! least every second.

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use protocol::Chain;
use protocol::primary_to_observers::Event;
use protocol::report::{LevelReport, PerformerReport};
use protocol::{Digest, Iteration, TopicMessage};
use recording::content::{Figures, IterationDigest};
use recording::writer::CHUNK_BYTES;
use recording::{Clock, LibraryFile, Moment, RecordingWriter, WorldContent, WriteError};

use super::queue::{Queue, Taken};

/// Time for which something may wait until it is in the file.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// Size of a performer in memory, about \[bytes\].
const PERFORMER_BYTES: usize = 400;
/// Size of anything small in memory, about \[bytes\].
const SMALL_BYTES: usize = 400;

/// Reason why a recording lacks something.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Its file cannot be written.
    #[error(
        "cannot record to {}: {}; the recording ends here, the run goes on",
        .path.display(), Chain(.error)
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// Error within the text, which goes on after it.
        error: WriteError,
    },
    /// The thread that writes has broken down.
    #[error("the recorder's thread panicked")]
    Panicked,
}

/// Something to be recorded.
pub(super) enum Entry {
    Digest(Iteration, Digest),
    Frame(Box<FrameEntry>),
    World(Box<WorldContent>),
    Command(String),
    Event(Event),
    Figures(Box<Figures>),
    States(Vec<u8>),
    Message(TopicMessage),
    Library(Box<LibraryFile>),
}

/// Positions of all performers, and the hosts of cells if those may have changed.
pub(super) struct FrameEntry {
    pub(super) clock: Clock,
    pub(super) performers: Vec<PerformerReport>,
    pub(super) levels: Option<Vec<LevelReport>>,
}

impl Entry {
    /// Returns what it takes in memory, about \[bytes\].
    pub(super) fn size(&self) -> usize {
        SMALL_BYTES
            + match self {
                Self::Frame(frame) => frame.performers.len() * PERFORMER_BYTES,
                Self::Command(line) => line.len(),
                Self::States(part) => part.len(),
                Self::Message(message) => message.body.len() + message.topic.len(),
                Self::Library(file) => file.bytes.len(),
                Self::Digest(..) | Self::World(_) | Self::Event(_) | Self::Figures(_) => 0,
            }
    }
}

/// Writes until the end, or until the file cannot be written.
pub(super) fn write<W: Write + Seek>(
    queue: &Queue,
    writer: RecordingWriter<W>,
    path: &Path,
) -> Result<(), RecordError> {
    let _close = Close(queue);
    let written = write_all(queue, writer);
    written.map_err(|error| {
        let path = path.to_owned();
        let error = RecordError::Write { path, error };
        queue.tell(error.to_string());
        error
    })
}

fn write_all<W: Write + Seek>(
    queue: &Queue,
    mut writer: RecordingWriter<W>,
) -> Result<(), WriteError> {
    let mut next_flush = Instant::now() + FLUSH_INTERVAL;
    let mut left_out = 0;
    loop {
        let Taken { entries, is_end } = queue.take(next_flush);
        for (entry, at) in entries {
            let size = entry.size();
            write_one(&mut writer, entry, at)?;
            if writer.chunk_bytes() >= CHUNK_BYTES {
                writer.flush()?;
            }
            queue.done(size);
        }
        if writer.left_out() > left_out {
            left_out = writer.left_out();
            let text = "a message is too large to be recorded; it is left out".to_owned();
            queue.tell(text);
        }
        if is_end {
            writer.finish()?;
            return Ok(());
        }
        if Instant::now() >= next_flush {
            writer.flush()?;
            next_flush = Instant::now() + FLUSH_INTERVAL;
        }
    }
}

fn write_one<W: Write + Seek>(
    writer: &mut RecordingWriter<W>,
    entry: Entry,
    at: Moment,
) -> Result<(), WriteError> {
    match entry {
        Entry::Digest(iteration, digest) => {
            writer.digest(IterationDigest { iteration, digest }, at)
        }
        Entry::Frame(frame) => {
            let FrameEntry {
                clock,
                performers,
                levels,
            } = *frame;
            writer.frame(clock, &performers, levels, at)
        }
        Entry::World(world) => writer.world(&world, at),
        Entry::Command(line) => writer.command(&line, at),
        Entry::Event(event) => writer.event(&event, at),
        Entry::Figures(figures) => writer.figures(&figures, at),
        Entry::States(part) => writer.states(&part, at),
        Entry::Message(message) => writer.message(&message, at.wall_ns),
        Entry::Library(file) => writer.library(&file, at),
    }
}

/// Lets nobody wait for a thread that has ended, however it did.
struct Close<'a>(&'a Queue);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
