//! Segments of the log: each begins with where in the life of the run it does.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::frame::{self, FrameError, FrameReader, Kind};
use crate::record::{Mark, Record};

/// How a segment begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentHead {
    /// What came before it.
    pub first: Mark,
    /// Whether the run was taken up again with it: what was not committed before is void.
    pub is_resumed: bool,
}

/// Reads a segment.
#[derive(Debug)]
pub struct SegmentReader<R> {
    /// How it begins.
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
    /// When it is none.
    pub fn new(input: R, length: u64) -> Result<Self, FrameError> {
        let mut records = FrameReader::new(input, length, Kind::Log)?;
        let head = records.expect()?;
        Ok(Self { head, records })
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// When it is cut, damaged or means nothing.
    pub fn record(&mut self) -> Result<Option<Record>, FrameError> {
        self.records.record()
    }
}

impl SegmentReader<BufReader<File>> {
    /// Opens the segment in a file.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn open(path: &Path) -> Result<Self, FrameError> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Self::new(BufReader::new(file), length)
    }
}
