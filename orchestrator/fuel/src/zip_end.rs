//! [`open`]: a zip of strangers for reading, once its end and its list of files are fit for it.
//!
//! The reader of zips makes room for as many entries as the end of a zip claims, and looks further
//! back for another end when a list has an error. So both are looked at here first, and while it
//! reads the list it sees nothing of what stands before.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::unpack::{UnpackError, refused};

/// The most entries.
const ENTRIES_MAX: u64 = 20_000;
/// The most bytes of the list of files.
const LIST_BYTES_MAX: u64 = 16 << 20;
/// Beginnings of records: the end, an entry of the list, and both ends of large zips.
const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";
/// Bytes of these records, and of the longest comment.
const END_BYTES: usize = 22;
const END_64_BYTES: usize = 56;
const LOCATOR_64_BYTES: usize = 20;
const COMMENT_BYTES_MAX: usize = 0xffff;
/// Bytes of a zip in which all its ends are.
const TAIL_BYTES: usize = END_64_BYTES + LOCATOR_64_BYTES + END_BYTES + COMMENT_BYTES_MAX;

/// Opens a zip.
///
/// # Errors
/// Fails if it is damaged, has more than it may have, more than one end, or a name twice.
pub(crate) fn open(mut packed: File) -> Result<ZipArchive<Veiled>, UnpackError> {
    let end = End::find(&mut packed)?;
    end.check(&mut packed)?;
    packed.rewind().map_err(unread)?;
    let hidden = Rc::new(Cell::new(end.list_at));
    let veiled = Veiled {
        reader: BufReader::new(packed),
        at: 0,
        hidden: Rc::clone(&hidden),
    };
    let archive = ZipArchive::new(veiled).map_err(UnpackError::Damaged)?;
    hidden.set(0);
    // The reader keeps entries by name.
    if archive.len() as u64 != end.count {
        return Err(refused("it has a file twice"));
    }
    Ok(archive)
}

/// A zip whose first bytes are read as zeros for a while.
#[derive(Debug)]
pub(crate) struct Veiled {
    reader: BufReader<File>,
    at: u64,
    /// The number of bytes that are read as zeros.
    hidden: Rc<Cell<u64>>,
}

impl Read for Veiled {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let hidden = self.hidden.get().saturating_sub(self.at);
        let count = match usize::try_from(hidden).unwrap_or(usize::MAX) {
            0 => self.reader.read(piece)?,
            hidden => {
                let count = hidden.min(piece.len());
                piece[..count].fill(0);
                self.reader.seek(SeekFrom::Start(self.at + count as u64))?;
                count
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Veiled {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if to != SeekFrom::Start(self.at) {
            self.at = self.reader.seek(to)?;
        }
        Ok(self.at)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.at)
    }
}

/// The end of a zip, as it is written there.
struct End {
    /// Its place.
    at: u64,
    /// The number of entries, in this file and in all.
    count_here: u64,
    count: u64,
    /// The place and the number of bytes of the list of files.
    list_at: u64,
    list_bytes: u64,
}

impl End {
    fn find(packed: &mut File) -> Result<Self, UnpackError> {
        let length = packed.seek(SeekFrom::End(0)).map_err(unread)?;
        let tail_at = length.saturating_sub(TAIL_BYTES as u64);
        let tail = bytes_of(packed, tail_at, length - tail_at)?;
        let starts = tail.windows(END.len()).enumerate();
        let starts = starts.filter(|(_, four)| *four == END).map(|(at, _)| at);
        let starts: Vec<usize> = starts.collect();
        let last = *starts.last().ok_or_else(|| damaged("it has no end"))?;
        let is_end = |at: &usize| {
            let comment = number(&tail, at + 20, 2);
            comment.is_some_and(|bytes| (at + END_BYTES) as u64 + bytes == tail.len() as u64)
        };
        let ends: Vec<usize> = starts.into_iter().filter(is_end).collect();
        if ends.len() > 1 {
            return Err(refused("it has more than one end"));
        }
        if ends != [last] {
            return Err(refused("it does not end where it says"));
        }
        let end = Self::read(&tail, tail_at, last).ok_or_else(|| damaged("its end is cut off"))?;
        let locator = last.checked_sub(LOCATOR_64_BYTES);
        let locator = locator.filter(|at| tail[*at..].starts_with(LOCATOR_64));
        let is_large = end.count == u64::from(u16::MAX)
            || [end.list_at, end.list_bytes].contains(&u64::from(u32::MAX));
        match locator.filter(|_| is_large) {
            None => Ok(end),
            Some(locator) => Self::read_64(&tail, tail_at, locator)
                .ok_or_else(|| refused("its two ends do not fit together")),
        }
    }

    fn read(tail: &[u8], tail_at: u64, at: usize) -> Option<Self> {
        Some(Self {
            at: tail_at + at as u64,
            count_here: number(tail, at + 8, 2)?,
            count: number(tail, at + 10, 2)?,
            list_bytes: number(tail, at + 12, 4)?,
            list_at: number(tail, at + 16, 4)?,
        })
    }

    /// Reads the end of a large zip, which stands right before the record that has its place.
    fn read_64(tail: &[u8], tail_at: u64, locator: usize) -> Option<Self> {
        let at = locator.checked_sub(END_64_BYTES)?;
        let is_there = tail[at..].starts_with(END_64)
            && number(tail, locator + 8, 8)? == tail_at + at as u64
            && number(tail, at + 4, 8)? == END_64_BYTES as u64 - 12;
        is_there.then_some(())?;
        Some(Self {
            at: tail_at + at as u64,
            count_here: number(tail, at + 24, 8)?,
            count: number(tail, at + 32, 8)?,
            list_bytes: number(tail, at + 40, 8)?,
            list_at: number(tail, at + 48, 8)?,
        })
    }

    /// Checks the list of files as far as the reader trusts it.
    fn check(&self, packed: &mut File) -> Result<(), UnpackError> {
        if self.count > ENTRIES_MAX {
            return Err(refused(format!("it has more than {ENTRIES_MAX} entries")));
        }
        if self.list_bytes > LIST_BYTES_MAX {
            let most = LIST_BYTES_MAX >> 20;
            return Err(refused(format!(
                "its list of files has more than {most} MiB"
            )));
        }
        let list_end = self.list_at.checked_add(self.list_bytes);
        if list_end != Some(self.at) || self.count_here != self.count {
            return Err(refused("its list of files is not right before its end"));
        }
        let list = bytes_of(packed, self.list_at, self.list_bytes)?;
        if self.count > 0 && !list.starts_with(ENTRY) {
            return Err(damaged("it has no list of files"));
        }
        if list.windows(END.len()).any(|four| four == END) {
            return Err(refused("it has an end in its list of files"));
        }
        Ok(())
    }
}

/// Returns a number that begins with its lowest byte.
fn number(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + count)?.iter().rev();
    Some(bytes.fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}

fn bytes_of(packed: &mut File, at: u64, count: u64) -> Result<Vec<u8>, UnpackError> {
    let mut bytes = Vec::new();
    packed.seek(SeekFrom::Start(at)).map_err(unread)?;
    packed.take(count).read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}

fn unread(error: io::Error) -> UnpackError {
    UnpackError::Damaged(ZipError::Io(error))
}

fn damaged(problem: &'static str) -> UnpackError {
    UnpackError::Damaged(ZipError::InvalidArchive(problem.into()))
}
