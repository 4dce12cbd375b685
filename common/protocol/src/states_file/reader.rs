//! Reads a file of states record by record; holds one record at a time.
//!
//! No length or count is believed before it is checked, and memory grows with the bytes that are
//! really there.

use std::io::{self, Read};

use super::{
    CHANGE_BYTES, FRAME_BYTES, KIND_END, KIND_FRAME, KIND_HEADER, MAGIC, NUMBERS, RecordedState,
    StatesFrame, StatesHeader, VERSION,
};
use crate::digest::Digest;
use crate::id::{CellId, Iteration, PerformerId};

/// The longest header \[bytes\].
const HEADER_BYTES_MAX: u64 = 256 << 20;
/// The length of a record's digest \[bytes\].
const DIGEST_BYTES: u64 = 16;

/// A file of states that is read.
#[derive(Debug)]
pub struct StatesReader<R> {
    source: R,
    header: StatesHeader,
    /// True if every performer of the header has been read.
    is_whole: bool,
    /// The iteration of the last frame.
    at: Iteration,
    body: Vec<u8>,
}

/// A record after the header.
#[derive(Clone, Debug, PartialEq)]
pub enum StatesRecord {
    /// An iteration that changed something.
    Frame(StatesFrame),
    /// The last record.
    End {
        /// Number of iterations.
        iterations: Iteration,
    },
}

/// Reason why a file of states cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum ReadStatesError {
    /// The source failed.
    #[error("cannot be read")]
    Io(#[from] io::Error),
    /// It does not begin as such a file does.
    #[error("is no file of states")]
    NotStates,
    /// It is written by another version of the program.
    #[error("has version {0} of the format, and this program reads version {VERSION}")]
    Version(u32),
    /// It ends before its end is marked.
    #[error(
        "is cut off after iteration {0}: its run was killed or is still going on, or the file was \
         not copied whole"
    )]
    Cut(Iteration),
    /// Its bytes are not those that were written.
    #[error("is damaged after iteration {after}: {what}")]
    Damaged {
        /// The last iteration that was read.
        after: Iteration,
        /// Description of the damage.
        what: &'static str,
    },
}

/// Returns the headers that stand one after the other at the beginning of a source, which is in the
/// middle of a file, each with where it ends there \[bytes\].
pub fn leading_headers(mut source: impl Read) -> Vec<(StatesHeader, u64)> {
    let mut headers = Vec::new();
    let mut end = 0;
    loop {
        let mut length = [0; 4];
        if source.read_exact(&mut length).is_err() {
            return headers;
        }
        let length = u64::from(u32::from_le_bytes(length));
        let mut record = Vec::new();
        let whole = length + DIGEST_BYTES;
        if length > HEADER_BYTES_MAX {
            return headers;
        }
        let read = (&mut source).take(whole).read_to_end(&mut record);
        if !read.is_ok_and(|read| read as u64 == whole) {
            return headers;
        }
        let (body, digest) = record.split_at(length as usize);
        if Digest(u128::from_le_bytes(array(digest, 0))) != Digest::of_bytes(body) {
            return headers;
        }
        let Some((&KIND_HEADER, names)) = body.split_first() else {
            return headers;
        };
        let Ok(header) = msgpack::from_slice(names) else {
            return headers;
        };
        end += 4 + whole;
        headers.push((header, end));
    }
}

impl<R: Read> StatesReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Fails if the source fails, or does not begin as a file of states does.
    pub fn open(mut source: R) -> Result<Self, ReadStatesError> {
        let mut start = [0; MAGIC.len() + 4];
        match source.read_exact(&mut start) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(ReadStatesError::NotStates);
            }
            read => read?,
        }
        let (magic, version) = start.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(ReadStatesError::NotStates);
        }
        let version = u32::from_le_bytes(array(version, 0));
        if version != VERSION {
            return Err(ReadStatesError::Version(version));
        }
        let mut reader = Self {
            source,
            header: StatesHeader::default(),
            is_whole: false,
            at: Iteration(0),
            body: Vec::new(),
        };
        reader.read_body(HEADER_BYTES_MAX)?;
        reader.take_header()?;
        Ok(reader)
    }

    fn take_header(&mut self) -> Result<(), ReadStatesError> {
        self.header = match self.body.split_first() {
            Some((&KIND_HEADER, names)) => {
                msgpack::from_slice(names).map_err(|_| self.damaged("its header is none"))?
            }
            _ => return Err(self.damaged("its first record is no header")),
        };
        self.is_whole = false;
        Ok(())
    }

    /// Returns what the numbers mean, since the last record that was read.
    pub fn header(&self) -> &StatesHeader {
        &self.header
    }

    /// Reads the next record; not to be called again after the end or an error.
    ///
    /// # Errors
    /// Fails if the source fails, ends too early, or is not what was written.
    pub fn read(&mut self) -> Result<StatesRecord, ReadStatesError> {
        let longest = FRAME_BYTES + self.header.performers.len() * CHANGE_BYTES;
        self.read_body((longest as u64).max(HEADER_BYTES_MAX))?;
        while self.body.first() == Some(&KIND_HEADER) {
            self.take_header()?;
            let longest = FRAME_BYTES + self.header.performers.len() * CHANGE_BYTES;
            self.read_body((longest as u64).max(HEADER_BYTES_MAX))?;
        }
        match self.body.first() {
            Some(&KIND_FRAME) => self.frame().map(StatesRecord::Frame),
            Some(&KIND_END) => self.end(),
            _ => Err(self.damaged("a record is of no known kind")),
        }
    }

    fn frame(&mut self) -> Result<StatesFrame, ReadStatesError> {
        let body = &self.body;
        if body.len() < FRAME_BYTES {
            return Err(self.damaged("a record is too short"));
        }
        let iteration = Iteration(u64::from_le_bytes(array(body, 1)));
        let digest = Digest(u128::from_le_bytes(array(body, 9)));
        let count = u32::from_le_bytes(array(body, 25)) as usize;
        let (changes, rest) = body[FRAME_BYTES..].as_chunks::<CHANGE_BYTES>();
        if changes.len() != count || !rest.is_empty() {
            return Err(self.damaged("a record is not as long as it says"));
        }
        if iteration <= self.at {
            return Err(self.damaged("its iterations do not ascend"));
        }
        let changes: Vec<RecordedState> = changes.iter().map(change).collect();
        if !changes.is_sorted_by(|a, b| a.performer < b.performer) {
            return Err(self.damaged("the performers of an iteration do not ascend"));
        }
        let (cells, performers) = (&self.header.cells, &self.header.performers);
        let is_known = |change: &RecordedState| {
            (change.performer.0 as usize) < performers.len()
                && (change.cell.0 as usize) < cells.len()
        };
        if !changes.iter().all(is_known) {
            return Err(self.damaged("it names a performer or cell that it does not have"));
        }
        if !self.is_whole && changes.len() < performers.len() {
            return Err(self.damaged("an iteration after a header does not hold every performer"));
        }
        self.is_whole = true;
        self.at = iteration;
        Ok(StatesFrame {
            iteration,
            digest,
            changes,
        })
    }

    fn end(&mut self) -> Result<StatesRecord, ReadStatesError> {
        if self.body.len() != 9 {
            return Err(self.damaged("its last record is not as long as it should be"));
        }
        let iterations = Iteration(u64::from_le_bytes(array(&self.body, 1)));
        if iterations < self.at {
            return Err(self.damaged("it ends before its last iteration"));
        }
        if self.source.read(&mut [0])? != 0 {
            return Err(self.damaged("something follows its end"));
        }
        Ok(StatesRecord::End { iterations })
    }

    /// Reads one record into `body`.
    fn read_body(&mut self, bytes_max: u64) -> Result<(), ReadStatesError> {
        let mut length = [0; 4];
        self.read_exact(&mut length)?;
        let length = u64::from(u32::from_le_bytes(length));
        if length > bytes_max {
            return Err(self.damaged("a record is longer than any can be"));
        }
        self.body.clear();
        let read = (&mut self.source)
            .take(length)
            .read_to_end(&mut self.body)?;
        if (read as u64) < length {
            return Err(ReadStatesError::Cut(self.at));
        }
        let mut digest = [0; 16];
        self.read_exact(&mut digest)?;
        if Digest::of_bytes(&self.body) != Digest(u128::from_le_bytes(digest)) {
            return Err(self.damaged("a record does not fit its digest"));
        }
        Ok(())
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<(), ReadStatesError> {
        self.source.read_exact(bytes).map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                ReadStatesError::Cut(self.at)
            } else {
                ReadStatesError::Io(error)
            }
        })
    }

    fn damaged(&self, what: &'static str) -> ReadStatesError {
        let after = self.at;
        ReadStatesError::Damaged { after, what }
    }
}

fn change(bytes: &[u8; CHANGE_BYTES]) -> RecordedState {
    RecordedState {
        performer: PerformerId(u32::from_le_bytes(array(bytes, 0))),
        cell: CellId(u32::from_le_bytes(array(bytes, 4))),
        numbers: std::array::from_fn(|index| f64::from_le_bytes(array(bytes, 8 + index * 8))),
        links: Digest(u128::from_le_bytes(array(bytes, 8 + NUMBERS * 8))),
    }
}

fn array<const N: usize>(bytes: &[u8], start: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[start + index])
}
