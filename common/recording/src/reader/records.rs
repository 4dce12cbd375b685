//! Single records of an MCAP file, and what is in a chunk.

use std::error::Error;
use std::io::{Read, Seek, SeekFrom};

use mcap::McapError;
use mcap::records::{Record, op};
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};

use super::{CHUNK_BYTES_MAX, RECORD_BYTES_MAX, ReadError, damaged};

/// Size of the prefix of each record: its kind and its length \[bytes\].
pub(super) const PREFIX_BYTES: u64 = 9;
/// Size of the part that is handed to the unpacker at once \[bytes\].
const PART_BYTES: usize = 64 << 10;

/// Reads what stands before the record at a place: its kind and its length.
pub(super) fn read_prefix(
    source: &mut (impl Read + Seek),
    offset: u64,
) -> Result<(u8, u64), ReadError> {
    let mut prefix = [0; PREFIX_BYTES as usize];
    source.seek(SeekFrom::Start(offset))?;
    source
        .read_exact(&mut prefix)
        .map_err(|error| broken_off(error, offset))?;
    let [opcode, length @ ..] = prefix;
    Ok((opcode, u64::from_le_bytes(length)))
}

/// Reads the record at a place: its kind and its content.
pub(super) fn read_record(
    source: &mut (impl Read + Seek),
    offset: u64,
) -> Result<(u8, Vec<u8>), ReadError> {
    let (opcode, length) = read_prefix(source, offset)?;
    if length > RECORD_BYTES_MAX as u64 {
        return Err(damaged(
            offset,
            "a record says that it is larger than any can be",
        ));
    }
    let mut body = Vec::new();
    // What is not there is never made room for.
    source.take(length).read_to_end(&mut body)?;
    if body.len() as u64 != length {
        return Err(damaged(offset, "the file ends within a record"));
    }
    Ok((opcode, body))
}

/// Calls `each` with the records in a chunk.
pub(super) fn unpack(
    body: &[u8],
    offset: u64,
    each: &mut dyn FnMut(Record<'_>),
) -> Result<(), ReadError> {
    let options = LinearReaderOptions::default()
        .with_skip_start_magic(true)
        .with_skip_end_magic(true)
        .with_validate_chunk_crcs(true)
        .with_record_length_limit(RECORD_BYTES_MAX);
    let mut reader = LinearReader::new_with_options(options);
    let mut prefix = vec![op::CHUNK];
    prefix.extend_from_slice(&(body.len() as u64).to_le_bytes());
    let mut rest = (prefix.as_slice(), body);
    let mut unpacked = 0;
    let wrong = |error: &McapError| damaged(offset, &text_of(error));
    while let Some(event) = reader.next_event() {
        match event.map_err(|error| wrong(&error))? {
            LinearReadEvent::ReadRequest(wanted) => {
                let part = if rest.0.is_empty() {
                    &mut rest.1
                } else {
                    &mut rest.0
                };
                let (now, later) = part.split_at(part.len().min(wanted).min(PART_BYTES));
                *part = later;
                reader.insert(now.len()).copy_from_slice(now);
                reader.notify_read(now.len());
            }
            LinearReadEvent::Record { opcode, data } => {
                unpacked += data.len();
                if unpacked > CHUNK_BYTES_MAX {
                    return Err(ReadError::TooLarge(offset));
                }
                each(mcap::parse_record(opcode, data).map_err(|error| wrong(&error))?);
            }
        }
    }
    Ok(())
}

/// Returns what is wrong, with its cause.
pub(super) fn text_of(error: &McapError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    // What a file says may be long, and may be meant for terminals.
    text.chars().filter(|c| !c.is_control()).take(300).collect()
}

fn broken_off(error: std::io::Error, offset: u64) -> ReadError {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return damaged(offset, "the file ends within a record");
    }
    ReadError::Io(error)
}
