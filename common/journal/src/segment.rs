//! Segments of the log: each begins with where in the life of the run it does.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::frame::{self, FrameError, FrameReader, Kind, PREFIX_BYTES};
use crate::record::{Mark, Record};

/// The first byte of every record: `MessagePack` has a variant with content as a map of one entry.
const VARIANT: u8 = 0x81;

/// Head of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentHead {
    /// Numbers of commits and commands before it.
    pub first: Mark,
    /// True if the run was taken up again with it: what was not committed before is void.
    pub is_resumed: bool,
}

/// Reads a segment.
#[derive(Debug)]
pub struct SegmentReader<R> {
    /// Head of the segment.
    pub head: SegmentHead,
    records: FrameReader<R>,
}

impl SegmentHead {
    /// Returns how the file of such a segment begins.
    pub fn encode(self) -> Vec<u8> {
        let mut bytes = frame::head(Kind::Log).to_vec();
        let offset = bytes.len() as u64;
        frame::push(&mut bytes, offset, &frame::encode(&self));
        bytes
    }
}

impl<R: io::Read> SegmentReader<R> {
    /// Begins to read a segment of `length` bytes.
    ///
    /// # Errors
    /// Fails if it is none.
    pub fn new(input: R, length: u64) -> Result<Self, FrameError> {
        let mut records = FrameReader::new(input, length, Kind::Log)?;
        let head = records.expect()?;
        Ok(Self { head, records })
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// Fails if it is cut, damaged or means nothing.
    pub fn record(&mut self) -> Result<Option<Record>, FrameError> {
        self.records.record()
    }

    /// Returns up to where it has been read \[bytes\].
    pub fn offset(&self) -> u64 {
        self.records.offset()
    }
}

/// Rest of a segment, behind the place from which on it cannot be read.
#[derive(Debug, Default)]
pub struct Behind {
    /// The records that are whole.
    pub records: Vec<Record>,
    /// True if there is nothing but what a record under way leaves when its writer or the machine
    /// dies: the beginning of one, or room that was never filled.
    pub is_torn: bool,
}

impl Behind {
    /// Looks at what is in a file from `offset` on.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn look(path: &Path, offset: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut records = Vec::new();
        let begins_variant = |first: u8| first == VARIANT;
        frame::salvage(&bytes, offset, begins_variant, |body| {
            records.extend(msgpack::from_slice::<Record>(body).ok());
        });
        let length = bytes.first_chunk().map_or(u64::MAX, |length| {
            PREFIX_BYTES as u64 + u64::from(u32::from_le_bytes(*length))
        });
        let is_cut = length > bytes.len() as u64;
        let is_cut = is_cut && !frame::is_whole_but_for_length(&bytes, offset);
        let is_empty = bytes.iter().all(|byte| *byte == 0);
        Ok(Self {
            is_torn: records.is_empty() && (is_cut || is_empty),
            records,
        })
    }
}

impl SegmentReader<BufReader<File>> {
    /// Opens the segment in a file.
    ///
    /// # Errors
    /// Fails if it cannot be read or is none.
    pub fn open(path: &Path) -> Result<Self, FrameError> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Self::new(BufReader::new(file), length)
    }
}
