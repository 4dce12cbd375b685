//! The recorder's thread: writes the entries that were handed over, and flushes them to the file at
//! least every second.

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use images::Compression;
use protocol::Chain;
use protocol::link_offsets::LinkOffsets;
use protocol::primary_to_observers::Event;
use protocol::report::{LevelReport, PerformerReport};
use protocol::{Digest, Iteration, TopicMessage};
use recording::content::{Figures, IterationDigest};
use recording::writer::CHUNK_BYTES;
use recording::{
    Clock, LibraryFile, ModelChanges, Moment, RecordingWriter, RosWriter, WorldContent, WriteError,
};

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
    Models(Box<ModelChanges>),
    Command(String),
    Event(Event),
    Figures(Box<Figures>),
    States(Vec<u8>),
    Message(TopicMessage),
    /// Poses of links after one step.
    Links(Vec<TopicMessage>),
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
                Self::Links(links) => links.iter().map(|one| one.body.len() + SMALL_BYTES).sum(),
                Self::Library(file) => file.bytes.len(),
                Self::Models(models) => models.size(),
                Self::Digest(..) | Self::World(_) | Self::Event(_) | Self::Figures(_) => 0,
            }
    }
}

/// Writes entries to a file.
pub(super) trait EntryWriter {
    /// Writes an entry.
    fn entry(&mut self, entry: Entry, at: Moment) -> Result<(), WriteError>;

    /// Returns how much is in the chunk that is not in the file yet \[bytes\].
    fn chunk_bytes(&self) -> usize;

    /// Returns how many messages are so large that they were left out.
    fn left_out(&self) -> u64;

    /// Returns what else was left out since the last call, each thing once.
    fn take_problems(&mut self) -> Vec<String>;

    /// Has everything in the file.
    fn flush(&mut self) -> Result<(), WriteError>;

    /// Completes the file.
    fn finish(self) -> Result<(), WriteError>;
}

/// Writes until the end, or until the file cannot be written, with images in the form that is asked
/// for.
pub(super) fn write(
    queue: &Queue,
    writer: impl EntryWriter,
    images: Option<Compression>,
    path: &Path,
) -> Result<(), RecordError> {
    let _close = Close(queue);
    let written = write_all(queue, writer, images);
    written.map_err(|error| {
        let path = path.to_owned();
        let error = RecordError::Write { path, error };
        queue.tell(error.to_string());
        error
    })
}

fn write_all(
    queue: &Queue,
    mut writer: impl EntryWriter,
    images: Option<Compression>,
) -> Result<(), WriteError> {
    let mut next_flush = Instant::now() + FLUSH_INTERVAL;
    let mut left_out = 0;
    loop {
        let Taken { entries, is_end } = queue.take(next_flush);
        for (entry, at) in entries {
            let size = entry.size();
            let entry = match (entry, images) {
                (Entry::Message(message), Some(form)) => Entry::Message(compact(message, form)),
                (entry, _) => entry,
            };
            writer.entry(entry, at)?;
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
        for problem in writer.take_problems() {
            queue.tell(problem);
        }
        if is_end {
            return writer.finish();
        }
        if Instant::now() >= next_flush {
            writer.flush()?;
            next_flush = Instant::now() + FLUSH_INTERVAL;
        }
    }
}

/// Compresses a message if it has an image; one that cannot be compressed is recorded as it is.
fn compact(message: TopicMessage, form: Compression) -> TopicMessage {
    images::compressed(&message, form).unwrap_or(message)
}

impl<W: Write + Seek> EntryWriter for RecordingWriter<W> {
    fn entry(&mut self, entry: Entry, at: Moment) -> Result<(), WriteError> {
        match entry {
            Entry::Digest(iteration, digest) => {
                self.digest(IterationDigest { iteration, digest }, at)
            }
            Entry::Frame(frame) => {
                let FrameEntry {
                    clock,
                    performers,
                    levels,
                } = *frame;
                self.frame(clock, &performers, levels, at)
            }
            Entry::World(world) => self.world(&world, at),
            Entry::Models(models) => self.models(&models, at),
            Entry::Command(line) => self.command(&line, at),
            Entry::Event(event) => self.event(&event, at),
            Entry::Figures(figures) => self.figures(&figures, at),
            Entry::States(part) => self.states(&part, at),
            Entry::Message(message) => self.message(&message, at.wall_ns),
            Entry::Links(links) => {
                let links = links
                    .iter()
                    .filter_map(|one| LinkOffsets::decode(&one.body));
                self.links(links, at)
            }
            Entry::Library(file) => self.library(&file, at),
        }
    }

    fn chunk_bytes(&self) -> usize {
        self.chunk_bytes()
    }

    fn left_out(&self) -> u64 {
        self.left_out()
    }

    fn take_problems(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.flush()
    }

    fn finish(self) -> Result<(), WriteError> {
        self.finish().map(drop)
    }
}

impl<W: Write + Seek> EntryWriter for RosWriter<W> {
    /// Writes messages and the time of frames; ROS has no place for the rest.
    fn entry(&mut self, entry: Entry, at: Moment) -> Result<(), WriteError> {
        match entry {
            Entry::Frame(_) => self.clock(at.sim_time),
            Entry::Message(message) => self.message(&message),
            Entry::Digest(..)
            | Entry::World(_)
            | Entry::Models(_)
            | Entry::Command(_)
            | Entry::Event(_)
            | Entry::Figures(_)
            | Entry::States(_)
            | Entry::Links(_)
            | Entry::Library(_) => Ok(()),
        }
    }

    fn chunk_bytes(&self) -> usize {
        self.chunk_bytes()
    }

    fn left_out(&self) -> u64 {
        self.left_out()
    }

    fn take_problems(&mut self) -> Vec<String> {
        self.take_problems()
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.flush()
    }

    fn finish(self) -> Result<(), WriteError> {
        self.finish().map(drop)
    }
}

/// Lets nobody wait for a thread that has ended, however it did.
struct Close<'a>(&'a Queue);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
