//! A recording without an index, read from its start to where it breaks off.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use mcap::records::{Record, op};
use protocol::SimTime;

use super::records::{PREFIX_BYTES, read_prefix, read_record, text_of, unpack};
use super::{Chunk, Content, FirstTime, ReadError, damaged};

/// Reads the content of a file of this length.
pub(super) fn read(source: &mut (impl Read + Seek), length: u64) -> Result<Content, ReadError> {
    let mut content = Content::default();
    let mut offset = mcap::MAGIC.len() as u64;
    while offset < length {
        match read_one(source, offset, &mut content) {
            Ok(Some(next)) => offset = next,
            Ok(None) => return Ok(content),
            Err(ReadError::Io(error)) => return Err(ReadError::Io(error)),
            // What was written before is good; what comes after cannot be found.
            Err(error) => {
                content.break_off = Some((offset, reason(&error)));
                return Ok(content);
            }
        }
    }
    content.break_off = Some((offset, "the file has no end".to_owned()));
    Ok(content)
}

/// Takes in the record at a place; returns where the next one is, or that there is none.
fn read_one(
    source: &mut (impl Read + Seek),
    offset: u64,
    content: &mut Content,
) -> Result<Option<u64>, ReadError> {
    let (opcode, length) = read_prefix(source, offset)?;
    match opcode {
        op::CHUNK => {
            let (_, body) = read_record(source, offset)?;
            read_chunk(&body, offset, content)?;
        }
        op::ATTACHMENT => {
            let (_, body) = read_record(source, offset)?;
            let record = mcap::parse_record(opcode, &body);
            let record = record.map_err(|error| damaged(offset, &text_of(&error)))?;
            if let Record::Attachment { header, .. } = record {
                content.attachments.insert(header.name, offset);
            }
        }
        op::DATA_END => return Ok(None),
        op::HEADER..=op::METADATA_INDEX | op::SUMMARY_OFFSET | 0x80.. => {}
        _ => return Err(damaged(offset, "there is no record here")),
    }
    let next = offset
        .checked_add(PREFIX_BYTES)
        .and_then(|at| at.checked_add(length));
    next.map(Some)
        .ok_or_else(|| damaged(offset, "a record says that it is larger than any can be"))
}

fn read_chunk(body: &[u8], offset: u64, content: &mut Content) -> Result<(), ReadError> {
    let mut firsts: BTreeMap<u16, u64> = BTreeMap::new();
    let mut bounds: Option<(u64, u64)> = None;
    let mut counted = Vec::new();
    unpack(body, offset, &mut |record| match record {
        Record::Schema { header, .. } => {
            content.schemas.insert(header.id, header.name);
        }
        Record::Channel(channel) => content.add_channel(channel),
        Record::Message { header, .. } => {
            let first = firsts.entry(header.channel_id).or_insert(u64::MAX);
            *first = header.log_time.min(*first);
            counted.push(header.channel_id);
            let (start, end) = bounds.unwrap_or((header.log_time, header.log_time));
            bounds = Some((start.min(header.log_time), end.max(header.log_time)));
        }
        _ => {}
    })?;
    for id in counted {
        if let Some(channel) = content.channels.get_mut(&id) {
            channel.count += 1;
        }
    }
    if let Some((start, end)) = bounds {
        content.chunks.push(Chunk {
            offset,
            start: SimTime(start),
            end: SimTime(end),
            channels: firsts
                .into_iter()
                .map(|(channel, time)| (channel, FirstTime::At(SimTime(time))))
                .collect(),
        });
    }
    Ok(())
}

fn reason(error: &ReadError) -> String {
    match error {
        ReadError::Damaged { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}
