//! Frames: the common form of all files of a journal, a short head and then checked records.
//!
//! A head is [`MAGIC`], the kind of file and the version of its format. A record is its length as
//! `u32`, little-endian, the digest of its place and its bytes (128 bits), and the bytes. The place
//! is part of it, so that a record that was moved is damage, too.

use std::io::{self, Read};

use protocol::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// First bytes of every file.
pub const MAGIC: [u8; 6] = *b"PHXJNL";
/// The version of all formats.
pub const VERSION: u8 = 1;
/// The length of a head \[bytes\].
pub const HEAD_BYTES: usize = MAGIC.len() + 2;
/// Size of the prefix of a record: its length and digest \[bytes\].
pub const PREFIX_BYTES: usize = 4 + 16;
/// The largest record \[bytes\]: more than any message, of which the largest are cells.
pub const RECORD_BYTES_MAX: u32 = 1 << 30;

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Worlds and settings of the run.
    Manifest,
    /// The state of a run after a commit.
    Checkpoint,
    /// Steps and commands, one after the other.
    Log,
}

impl Kind {
    fn letter(self) -> u8 {
        match self {
            Self::Manifest => b'm',
            Self::Checkpoint => b'c',
            Self::Log => b'l',
        }
    }
}

/// Bytes that are not what was written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The file does not begin as it should.
    #[error("it does not begin as a file of a journal does")]
    Head,
    /// It was written by another version of this program.
    #[error("it has format {0}, and this program reads {VERSION}")]
    Version(u8),
    /// It ends within a record.
    #[error("it is cut at byte {offset}")]
    Cut {
        /// Offset at which the record begins \[bytes\].
        offset: u64,
    },
    /// A record is not what was written.
    #[error("it is damaged at byte {offset}")]
    Damaged {
        /// Offset at which the record begins \[bytes\].
        offset: u64,
    },
    /// A record is what was written and means nothing.
    #[error("what stands at byte {offset} means nothing")]
    Meaningless {
        /// Offset at which the record begins \[bytes\].
        offset: u64,
        /// Error of the decoder.
        #[source]
        source: msgpack::Error,
    },
    /// The file cannot be read.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
}

/// Returns the head of a file.
pub fn head(kind: Kind) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..MAGIC.len()].copy_from_slice(&MAGIC);
    head[MAGIC.len()..].copy_from_slice(&[kind.letter(), VERSION]);
    head
}

/// Appends a record that begins at `offset` of its file.
///
/// # Panics
/// Panics if the record is larger than [`RECORD_BYTES_MAX`].
pub fn push(out: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).ok();
    let length = length.filter(|length| *length <= RECORD_BYTES_MAX);
    let length = length.expect("records are smaller than a gigabyte");
    out.reserve(PREFIX_BYTES + bytes.len());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&digest(offset, bytes).0.to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Returns a value as the bytes of a record.
///
/// # Panics
/// Never for the types of this crate: they hold nothing that `MessagePack` cannot express.
pub fn encode(value: &impl Serialize) -> Vec<u8> {
    msgpack::to_vec(value).expect("records hold only what MessagePack can express")
}

fn digest(offset: u64, bytes: &[u8]) -> Digest {
    let content = Digest::of_bytes(bytes);
    let mut both = [0; 24];
    both[..8].copy_from_slice(&offset.to_le_bytes());
    both[8..].copy_from_slice(&content.0.to_le_bytes());
    Digest::of_bytes(&both)
}

/// Finds the records that are whole among bytes that begin at `offset` of their file, whatever is
/// between them; `may_begin` tells whether a record's first byte can be this one.
pub fn salvage(
    bytes: &[u8],
    offset: u64,
    may_begin: impl Fn(u8) -> bool,
    mut found: impl FnMut(&[u8]),
) {
    let mut at = 0;
    while let Some((prefix, rest)) = bytes[at..].split_first_chunk::<PREFIX_BYTES>() {
        let [a, b, c, d, expected @ ..] = *prefix;
        let count = u32::from_le_bytes([a, b, c, d]) as usize;
        let body = rest.get(..count);
        let body = body.filter(|body| body.first().is_some_and(|first| may_begin(*first)));
        let is_whole = |body: &&[u8]| {
            digest(offset + at as u64, body) == Digest(u128::from_le_bytes(expected))
        };
        match body.filter(is_whole) {
            Some(body) => {
                found(body);
                at += PREFIX_BYTES + count;
            }
            None => at += 1,
        }
    }
}

/// Tells whether bytes that end a file, from `offset` on, are a record whose length alone is wrong:
/// one that was cut has fewer bytes than its checksum is of.
pub fn is_whole_but_for_length(bytes: &[u8], offset: u64) -> bool {
    bytes
        .split_first_chunk::<PREFIX_BYTES>()
        .is_some_and(|(prefix, body)| {
            let [_, _, _, _, expected @ ..] = *prefix;
            digest(offset, body) == Digest(u128::from_le_bytes(expected))
        })
}

/// Reads the records of a file.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: R,
    offset: u64,
    length: u64,
}

impl<R: Read> FrameReader<R> {
    /// Begins to read a file of `length` bytes.
    ///
    /// # Errors
    /// Fails if it is no such file.
    pub fn new(mut input: R, length: u64, kind: Kind) -> Result<Self, FrameError> {
        if length < HEAD_BYTES as u64 {
            return Err(FrameError::Cut { offset: 0 });
        }
        let mut head = [0; HEAD_BYTES];
        input.read_exact(&mut head)?;
        let [start @ .., letter, version] = head;
        if start != MAGIC || letter != kind.letter() {
            return Err(FrameError::Head);
        }
        if version != VERSION {
            return Err(FrameError::Version(version));
        }
        Ok(Self {
            input,
            offset: HEAD_BYTES as u64,
            length,
        })
    }

    /// Returns how many bytes have been read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the bytes of the next record; `None` at the end.
    ///
    /// # Errors
    /// Fails if the record is cut or damaged.
    pub fn bytes(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let offset = self.offset;
        let left = self.length.saturating_sub(offset);
        if left == 0 {
            return Ok(None);
        }
        if left < PREFIX_BYTES as u64 {
            return Err(FrameError::Cut { offset });
        }
        let mut prefix = [0; PREFIX_BYTES];
        self.input.read_exact(&mut prefix)?;
        let [a, b, c, d, expected @ ..] = prefix;
        let count = u32::from_le_bytes([a, b, c, d]);
        if count > RECORD_BYTES_MAX {
            return Err(FrameError::Damaged { offset });
        }
        // A file is never read beyond its end, so that its size bounds what is taken of memory.
        if u64::from(count) > left - PREFIX_BYTES as u64 {
            return Err(FrameError::Cut { offset });
        }
        let mut bytes = vec![0; count as usize];
        self.input.read_exact(&mut bytes)?;
        if digest(offset, &bytes) != Digest(u128::from_le_bytes(expected)) {
            return Err(FrameError::Damaged { offset });
        }
        self.offset += PREFIX_BYTES as u64 + u64::from(count);
        Ok(Some(bytes))
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// Fails if the record is cut, damaged or means nothing.
    pub fn record<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let offset = self.offset;
        let Some(bytes) = self.bytes()? else {
            return Ok(None);
        };
        let read = msgpack::from_slice(&bytes);
        let read = read.map_err(|source| FrameError::Meaningless { offset, source })?;
        Ok(Some(read))
    }

    /// Returns the next record, which must be there.
    ///
    /// # Errors
    /// Fails if it is missing, cut, damaged or means nothing.
    pub fn expect<T: DeserializeOwned>(&mut self) -> Result<T, FrameError> {
        let offset = self.offset;
        self.record()?.ok_or(FrameError::Cut { offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(records: &[&[u8]]) -> Vec<u8> {
        let mut bytes = head(Kind::Log).to_vec();
        for record in records {
            let offset = bytes.len() as u64;
            push(&mut bytes, offset, record);
        }
        bytes
    }

    fn records(bytes: &[u8]) -> (Vec<Vec<u8>>, Option<FrameError>) {
        let mut read = Vec::new();
        let mut reader = match FrameReader::new(bytes, bytes.len() as u64, Kind::Log) {
            Ok(reader) => reader,
            Err(error) => return (read, Some(error)),
        };
        loop {
            match reader.bytes() {
                Ok(Some(record)) => read.push(record),
                Ok(None) => return (read, None),
                Err(error) => return (read, Some(error)),
            }
        }
    }

    #[test]
    fn records_come_back() {
        let (read, error) = records(&file(&[b"one", b"", b"three"]));
        assert_eq!(read, [&b"one"[..], b"", b"three"]);
        assert!(error.is_none());
    }

    #[test]
    fn every_cut_leaves_whole_records_alone() {
        let whole = file(&[b"one", b"two"]);
        let ends = [HEAD_BYTES, HEAD_BYTES + PREFIX_BYTES + 3, whole.len()];
        for length in 0..=whole.len() {
            let (read, error) = records(&whole[..length]);
            let count = ends.iter().filter(|end| **end <= length).count();
            assert_eq!(read.len(), count.saturating_sub(1), "cut at {length}");
            assert_eq!(error.is_none(), ends.contains(&length), "cut at {length}");
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let whole = file(&[b"one", b"two"]);
        for index in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[index] ^= 1 << bit;
                assert!(records(&bytes).1.is_some(), "bit {bit} of byte {index}");
            }
        }
    }

    #[test]
    fn whole_records_are_found_behind_damage() {
        let whole = file(&[b"one", b"two", b"", b"three"]);
        let found = |bytes: &[u8], from: usize| {
            let mut all = Vec::new();
            salvage(
                &bytes[from..],
                from as u64,
                |_| true,
                |one| all.push(one.to_vec()),
            );
            all
        };
        assert_eq!(found(&whole, HEAD_BYTES), [&b"one"[..], b"two", b"three"]);
        for index in HEAD_BYTES..HEAD_BYTES + PREFIX_BYTES + 3 {
            let mut bytes = whole.clone();
            bytes[index] ^= 0x10;
            assert_eq!(
                found(&bytes, HEAD_BYTES),
                [&b"two"[..], b"three"],
                "byte {index}"
            );
        }
        assert_eq!(found(&whole[..whole.len() - 1], whole.len() - 20), [b""; 0]);
    }

    #[test]
    fn a_wrong_length_at_the_end_is_told_from_a_cut() {
        let whole = file(&[b"one"]);
        let (last, offset) = (whole[HEAD_BYTES..].to_vec(), HEAD_BYTES as u64);
        for bit in 0..32 {
            let mut bytes = last.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(is_whole_but_for_length(&bytes, offset), "bit {bit}");
        }
        for length in 0..last.len() {
            assert!(
                !is_whole_but_for_length(&last[..length], offset),
                "cut to {length}"
            );
        }
    }

    #[test]
    fn records_that_change_places_are_damage() {
        let whole = file(&[b"one", b"two"]);
        let (head, rest) = whole.split_at(HEAD_BYTES);
        let (one, two) = rest.split_at(PREFIX_BYTES + 3);
        let swapped = [head, two, one].concat();
        assert!(matches!(
            records(&swapped).1,
            Some(FrameError::Damaged { offset: 8 })
        ));
    }
}
