//! The index at the end of a recording that was brought to its end.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use mcap::records::{Record, op};
use protocol::SimTime;

use super::records::{PREFIX_BYTES, read_record, text_of};
use super::{Chunk, Content, FirstTime, ReadError, damaged};

/// The length of the last record \[bytes\].
const FOOTER_BYTES: u64 = 20;

/// Reads the index of a file of this length.
pub(super) fn read(source: &mut (impl Read + Seek), length: u64) -> Result<Content, ReadError> {
    let tail = PREFIX_BYTES + FOOTER_BYTES + mcap::MAGIC.len() as u64;
    let footer_at = length
        .checked_sub(tail)
        .ok_or_else(|| damaged(0, "there is no index"))?;
    let (opcode, body) = read_record(source, footer_at)?;
    let mut magic = [0; 8];
    source.read_exact(&mut magic)?;
    let Ok(Record::Footer(footer)) = mcap::parse_record(opcode, &body) else {
        return Err(damaged(footer_at, "there is no index"));
    };
    if opcode != op::FOOTER || magic != *mcap::MAGIC || footer.summary_start == 0 {
        return Err(damaged(footer_at, "there is no index"));
    }
    let mut content = Content {
        has_index: true,
        ..Content::default()
    };
    let mut counts = Vec::new();
    let mut offset = footer.summary_start;
    while offset < footer_at {
        let (opcode, body) = read_record(source, offset)?;
        let record = mcap::parse_record(opcode, &body);
        match record.map_err(|error| damaged(offset, &text_of(&error)))? {
            Record::Schema { header, .. } => {
                content.schemas.insert(header.id, header.name);
            }
            Record::Channel(channel) => content.add_channel(channel),
            Record::ChunkIndex(index) => content.chunks.push(Chunk {
                offset: index.chunk_start_offset,
                start: SimTime(index.message_start_time),
                end: SimTime(index.message_end_time),
                channels: listed(&index.message_index_offsets),
            }),
            Record::AttachmentIndex(index) => {
                content.attachments.insert(index.name, index.offset);
            }
            Record::Statistics(statistics) => {
                counts.extend(statistics.channel_message_counts);
            }
            _ => {}
        }
        offset += PREFIX_BYTES + body.len() as u64;
    }
    for (id, count) in counts {
        if let Some(channel) = content.channels.get_mut(&id) {
            channel.count = count;
        }
    }
    content.chunks.sort_by_key(|chunk| chunk.offset);
    Ok(content)
}

fn listed(offsets: &BTreeMap<u16, u64>) -> BTreeMap<u16, FirstTime> {
    let offsets = offsets.iter();
    offsets
        .map(|(channel, offset)| (*channel, FirstTime::Listed(*offset)))
        .collect()
}

/// Reads the earliest time of the list at a place; `None` if the list is empty.
pub(super) fn first_time(
    source: &mut (impl Read + Seek),
    offset: u64,
) -> Result<Option<SimTime>, ReadError> {
    let (opcode, body) = read_record(source, offset)?;
    let record = mcap::parse_record(opcode, &body);
    match record.map_err(|error| damaged(offset, &text_of(&error)))? {
        Record::MessageIndex(list) => {
            let times = list.records.iter().map(|entry| entry.log_time);
            Ok(times.min().map(SimTime))
        }
        _ => Err(damaged(
            offset,
            "the index names a list of times that is none",
        )),
    }
}
