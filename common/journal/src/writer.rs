//! Writes a journal; what cannot be written leaves no trace and can be tried again.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use crate::checkpoint_file::{self, Saved};
use crate::disk::{Disk, Medium};
use crate::folder::{self, Folder, TakeFolderError};
use crate::frame;
use crate::manifest::Manifest;
use crate::record::{Mark, Record};
use crate::segment::SegmentHead;

/// Number of checkpoints that are kept: one to go on from, and one if that is damaged.
const CHECKPOINTS_KEPT: usize = 2;

/// A journal that cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum BeginJournalError {
    /// Its folder cannot be taken.
    #[error(transparent)]
    Folder(#[from] TakeFolderError),
    /// Its manifest cannot be written, or what is there cannot be listed.
    #[error("cannot write the journal in {path}")]
    Io {
        /// The folder.
        path: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// Writes a journal.
#[derive(Debug)]
pub struct Writer {
    disk: Box<dyn Disk>,
    folder: Folder,
    limit_bytes: u64,
    /// Numbers of commits and commands that were written so far.
    mark: Mark,
    is_resumed: bool,
    open: Option<OpenSegment>,
    next_segment: u64,
    segments: VecDeque<Segment>,
    checkpoints: Checkpoints,
    /// Segments of processes before this one, which may not have synced them.
    unsynced: Vec<PathBuf>,
    manifest_bytes: u64,
    framed: Vec<u8>,
}

/// The checkpoints in the folder.
#[derive(Debug, Default)]
struct Checkpoints {
    saved: VecDeque<SavedCheckpoint>,
    /// Those that cannot be read, with their sizes \[bytes\]: they go with the next one.
    useless: Vec<(PathBuf, u64)>,
}

impl Checkpoints {
    /// Returns the size of all \[bytes\].
    fn bytes(&self) -> u64 {
        let saved = self.saved.iter().map(|checkpoint| checkpoint.bytes);
        let useless = self.useless.iter().map(|(_, bytes)| *bytes);
        saved.chain(useless).sum()
    }
}

/// The segment that records are added to.
#[derive(Debug)]
struct OpenSegment {
    file: Box<dyn Medium>,
    /// Up to where it is whole \[bytes\].
    length: u64,
    /// True if something else may be behind that.
    is_frayed: bool,
    /// Bytes that a loss of power may take with it.
    unsynced: Vec<u8>,
    /// True if that has to be written once more: what a failed attempt leaves is not known.
    is_doubtful: bool,
}

#[derive(Debug)]
struct Segment {
    number: u64,
    /// Numbers of commits and commands before it.
    first: Mark,
    bytes: u64,
}

#[derive(Debug)]
struct SavedCheckpoint {
    mark: Mark,
    bytes: u64,
}

impl Writer {
    /// Begins a journal in a folder that has none.
    ///
    /// # Errors
    /// Fails if the folder cannot be taken, or its manifest not be written.
    pub fn create(
        disk: Box<dyn Disk>,
        path: &Path,
        limit_bytes: u64,
        manifest: &Manifest,
    ) -> Result<Self, BeginJournalError> {
        let folder = Folder::create(path)?;
        let file = folder::manifest(path);
        let written = manifest.write(&*disk, &file);
        let manifest_bytes = written.map_err(|error| {
            // It may have its name all the same, and would be taken for a run's.
            is_removed(&*disk, &file);
            at(path)(error)
        })?;
        Ok(Self::new(disk, folder, limit_bytes, manifest_bytes))
    }

    /// Goes on with a journal where it ends. Nothing is written to what is there: a segment begins
    /// that makes void what is after the end. What is there is made safe first: who was killed may
    /// not have synced it, and the new segment is of no use without it.
    ///
    /// # Errors
    /// Fails if what is there cannot be listed, or the folder cannot be written. A disk that is
    /// full is no error: it is tried again with the first record.
    pub fn resume(
        disk: Box<dyn Disk>,
        folder: Folder,
        limit_bytes: u64,
        end: Mark,
    ) -> Result<Self, BeginJournalError> {
        let path = folder.path().to_owned();
        let begun = folder::begun(&path).unwrap_or_default();
        let listing = folder::list(&path).map_err(at(&path))?;
        let manifest_bytes = length(&folder::manifest(&path));
        let mut writer = Self::new(disk, folder, limit_bytes, manifest_bytes);
        for file in listing.unfinished {
            writer.disk.remove(&file).map_err(at(&path))?;
        }
        writer.take_checkpoints(listing.checkpoints, end)?;
        writer.next_segment = begun + 1;
        for (number, file) in listing.segments {
            let head = crate::segment::SegmentReader::open(&file).map(|reader| reader.head);
            if head.is_ok() {
                writer.unsynced.push(file.clone());
            }
            writer.segments.push_back(Segment {
                number,
                // What cannot be read goes with what came before it.
                first: head.map_or(Mark::default(), |head| head.first),
                bytes: length(&file),
            });
            writer.next_segment = writer.next_segment.max(number + 1);
        }
        writer.mark = end;
        writer.is_resumed = true;
        match writer.begin_segment() {
            Ok(open) => writer.open = Some(open),
            Err(error) if is_lasting(error.kind()) => return Err(at(&path)(error)),
            // The run says so once it begins, and waits for room.
            Err(_) => {}
        }
        Ok(writer)
    }

    fn take_checkpoints(
        &mut self,
        checkpoints: Vec<(u64, PathBuf)>,
        end: Mark,
    ) -> Result<(), BeginJournalError> {
        for (commits, file) in checkpoints {
            if commits > end.commits {
                // It is damaged, or what other files of the run do not reach.
                let removed = self.disk.remove(&file);
                removed.map_err(at(self.folder.path()))?;
                continue;
            }
            let bytes = length(&file);
            match checkpoint_file::read(&file) {
                Ok(Saved { mark, .. }) => {
                    self.checkpoints
                        .saved
                        .push_back(SavedCheckpoint { mark, bytes });
                }
                Err(_) => self.checkpoints.useless.push((file, bytes)),
            }
        }
        Ok(())
    }

    fn new(disk: Box<dyn Disk>, folder: Folder, limit_bytes: u64, manifest_bytes: u64) -> Self {
        Self {
            disk,
            folder,
            limit_bytes,
            mark: Mark::default(),
            is_resumed: false,
            open: None,
            next_segment: 1,
            segments: VecDeque::new(),
            checkpoints: Checkpoints::default(),
            unsynced: Vec::new(),
            manifest_bytes,
            framed: Vec::new(),
        }
    }

    /// Adds records to the log: all of them, or none.
    ///
    /// # Errors
    /// Fails if they cannot be written, or the journal would become too large; they can be tried
    /// again.
    pub fn append(&mut self, records: &[Record]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.begin_segment()?,
        };
        let written = self.append_to(&mut open, records);
        self.open = Some(open);
        written
    }

    fn append_to(&mut self, open: &mut OpenSegment, records: &[Record]) -> io::Result<()> {
        open.mend()?;
        self.framed.clear();
        for record in records {
            let offset = open.length + self.framed.len() as u64;
            frame::push(&mut self.framed, offset, &frame::encode(record));
        }
        let length = self.framed.len() as u64;
        self.make_room(length)?;
        open.is_frayed = true;
        open.file.write_all(&self.framed)?;
        open.is_frayed = false;
        open.unsynced.extend_from_slice(&self.framed);
        open.length += length;
        if let Some(segment) = self.segments.back_mut() {
            segment.bytes = open.length;
        }
        for record in records {
            match record {
                Record::Commit(_) => self.mark.commits += 1,
                Record::Command(_) => self.mark.commands += 1,
                Record::Target(_) => {}
            }
        }
        Ok(())
    }

    /// Makes safe what was written by processes before this one.
    fn sync_what_was(&mut self) -> io::Result<()> {
        while let Some(file) = self.unsynced.last() {
            self.disk.open(file)?.sync()?;
            self.unsynced.pop();
        }
        Ok(())
    }

    fn begin_segment(&mut self) -> io::Result<OpenSegment> {
        self.sync_what_was()?;
        let head = SegmentHead {
            first: self.mark,
            is_resumed: self.is_resumed,
        };
        let bytes = head.encode();
        let length = bytes.len() as u64;
        self.make_room(length)?;
        let path = folder::segment(self.folder.path(), self.next_segment);
        crate::disk::write_whole(&*self.disk, &path, |file| {
            file.write_all(&bytes)?;
            Ok(length)
        })?;
        let mut file = self.disk.open(&path)?;
        file.cut(length)?;
        self.folder.note_begun(self.next_segment)?;
        self.segments.push_back(Segment {
            number: self.next_segment,
            first: self.mark,
            bytes: length,
        });
        self.next_segment += 1;
        self.is_resumed = false;
        Ok(OpenSegment {
            file,
            length,
            is_frayed: false,
            unsynced: Vec::new(),
            is_doubtful: false,
        })
    }

    /// Has all records outlive a loss of power.
    ///
    /// # Errors
    /// Fails if the system cannot.
    pub fn sync(&mut self) -> io::Result<()> {
        match &mut self.open {
            Some(open) => open.sync(),
            None => Ok(()),
        }
    }

    /// Saves a checkpoint, and forgets what is no longer needed with it.
    ///
    /// # Errors
    /// Fails if it cannot be written; it can be tried again.
    pub fn save(&mut self, saved: &Saved) -> io::Result<()> {
        self.sync()?;
        self.make_room(saved.size())?;
        let mark = saved.mark;
        let path = folder::checkpoint(self.folder.path(), mark.commits);
        let bytes = checkpoint_file::write(&*self.disk, &path, saved)?;
        self.checkpoints
            .saved
            .retain(|other| other.mark.commits != mark.commits);
        self.checkpoints
            .saved
            .push_back(SavedCheckpoint { mark, bytes });
        // The next record begins a segment, so that this one can go one day.
        self.open = None;
        self.forget(CHECKPOINTS_KEPT);
        Ok(())
    }

    /// Ends the journal; one of a run that has ended well is removed.
    ///
    /// # Errors
    /// Fails if the system cannot.
    pub fn finish(mut self, is_over: bool) -> io::Result<()> {
        if is_over {
            self.open = None;
            return self.folder.remove();
        }
        self.sync()
    }

    /// Returns how large the journal is \[bytes\].
    pub fn bytes(&self) -> u64 {
        let segments = self.segments.iter().map(|segment| segment.bytes);
        self.manifest_bytes + segments.sum::<u64>() + self.checkpoints.bytes()
    }

    /// Makes sure that so many bytes more are allowed, at the cost of all checkpoints but the last.
    fn make_room(&mut self, more: u64) -> io::Result<()> {
        if self.bytes() + more > self.limit_bytes {
            self.forget(1);
        }
        let bytes = self.bytes() + more;
        if bytes <= self.limit_bytes {
            return Ok(());
        }
        let [bytes, limit] = [bytes, self.limit_bytes].map(|bytes| bytes.div_ceil(1 << 20));
        Err(io::Error::other(format!(
            "it would take {bytes} MiB, more than its limit of {limit} MiB: stop the run and \
             resume it with a larger --journal-limit, or have it make checkpoints more often"
        )))
    }

    /// Keeps so many checkpoints, and of the log what came after them.
    fn forget(&mut self, kept: usize) {
        if !self.checkpoints.saved.is_empty() {
            let disk = &self.disk;
            self.checkpoints
                .useless
                .retain(|(path, _)| !is_removed(&**disk, path));
        }
        while self.checkpoints.saved.len() > kept {
            let Some(oldest) = self.checkpoints.saved.front() else {
                return;
            };
            let path = folder::checkpoint(self.folder.path(), oldest.mark.commits);
            if !is_removed(&*self.disk, &path) {
                return;
            }
            self.checkpoints.saved.pop_front();
        }
        let is_kept_whole = self.checkpoints.saved.len() < kept;
        let Some(oldest) = self.checkpoints.saved.front().filter(|_| !is_kept_whole) else {
            return;
        };
        let needed = oldest.mark;
        // A segment is needed up to where the next one begins.
        while self
            .segments
            .get(1)
            .is_some_and(|next| next.first.is_within(needed))
        {
            let path = folder::segment(self.folder.path(), self.segments[0].number);
            if !is_removed(&*self.disk, &path) {
                return;
            }
            self.segments.pop_front();
        }
    }
}

/// Removes a file; what cannot be removed takes room, which has its own limit.
fn is_removed(disk: &dyn Disk, path: &Path) -> bool {
    match disk.remove(path) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Tells whether an error will be there again when there is room on the disk.
fn is_lasting(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
    )
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |data| data.len())
}

impl OpenSegment {
    /// Takes away what an attempt that failed has left.
    fn mend(&mut self) -> io::Result<()> {
        if self.is_doubtful {
            // It is not cut first: a process that is killed loses nothing of what can be read.
            let synced = self.length - self.unsynced.len() as u64;
            self.file.go_back(synced)?;
            self.file.write_all(&self.unsynced)?;
            self.is_doubtful = false;
        }
        if self.is_frayed {
            self.file.cut(self.length)?;
            self.is_frayed = false;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.unsynced.is_empty() {
            return Ok(());
        }
        self.mend()?;
        self.is_doubtful = true;
        self.file.sync()?;
        self.is_doubtful = false;
        self.unsynced.clear();
        Ok(())
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> BeginJournalError {
    let path = path.display().to_string();
    move |source| BeginJournalError::Io {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests;
