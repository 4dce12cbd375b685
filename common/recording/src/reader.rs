//! [`Recording`]: a recording that is read, by its index or, if it has none, from start to end.
//!
//! Nothing in the file is trusted: lengths are checked against the file before anything is read,
//! chunks against bounds while they are unpacked.

mod index;
mod records;
pub mod ros;
mod scan;

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};

use mcap::records::{Record, op};
use protocol::SimTime;

use crate::channel::{Channel, PUBLISHER_KEY, RUN_PUBLISHER};
use crate::description::{FORMAT, RunDescription, SETTINGS_ATTACHMENT, WORLDS_ATTACHMENT};
use crate::ros::QOS_KEY;
use records::{read_record, unpack};

/// The largest message \[bytes\].
pub const MESSAGE_BYTES_MAX: usize = 128 << 20;
/// The largest record \[bytes\]: a message, or a chunk of one that could not be made smaller.
pub(crate) const RECORD_BYTES_MAX: usize = MESSAGE_BYTES_MAX + (64 << 20);
/// Size to which a chunk may unpack, at most \[bytes\].
pub(crate) const CHUNK_BYTES_MAX: usize = 2 * RECORD_BYTES_MAX;
/// The largest description of a run \[bytes\].
const SETTINGS_BYTES_MAX: usize = 16 << 20;

/// Reason why a file is no recording that can be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no MCAP file")]
    NotMcap,
    /// It is an MCAP file of something else.
    #[error("it is an MCAP file, but no recording of Phalanx: it has no {0}")]
    NotOurs(&'static str),
    /// It is for programs of ROS.
    #[error(
        "it is a recording for programs of ROS 2, which has no description of its run: publish it \
         by `--ros2 --headless`, or record without `--record-format ros2` what is to be shown or \
         simulated again"
    )]
    ForRos,
    /// A later version wrote it.
    #[error("it has format {0}, and this program knows {FORMAT}: use the version that wrote it")]
    Format(u32),
    /// Something in it is not as it should be.
    #[error("it is damaged at byte {offset}: {reason}")]
    Damaged {
        /// Offset at which the record begins \[bytes\].
        offset: u64,
        /// Description of the damage.
        reason: String,
    },
    /// The content of a message makes no sense.
    #[error("{0}")]
    Content(String),
    /// It needs more memory than is allowed.
    #[error("the chunk at byte {0} unpacks to more than {CHUNK_BYTES_MAX} bytes")]
    TooLarge(u64),
}

/// A recording.
#[derive(Debug)]
pub struct Recording<R> {
    source: R,
    content: Content,
    description: RunDescription,
}

/// Index of a file, before its messages are read.
#[derive(Debug, Default)]
struct Content {
    chunks: Vec<Chunk>,
    channels: BTreeMap<u16, ChannelInfo>,
    schemas: BTreeMap<u16, String>,
    /// Offsets of attachments, by name \[bytes\].
    attachments: BTreeMap<String, u64>,
    /// Offset at which the file ceases to be readable \[bytes\], and the reason, if it has no
    /// index.
    break_off: Option<(u64, String)>,
    has_index: bool,
}

/// A part of a recording that is read as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    offset: u64,
    /// The earliest simulated time in it.
    pub start: SimTime,
    /// The latest simulated time in it.
    pub end: SimTime,
    /// The channels that it has messages of.
    channels: BTreeMap<u16, FirstTime>,
}

/// Simulated time of the earliest message of a channel in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstTime {
    /// Known.
    At(SimTime),
    /// To be read from the list of times at this offset \[bytes\].
    Listed(u64),
}

/// A channel of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelInfo {
    /// Its name.
    pub topic: String,
    /// The name of its schema; empty without one.
    pub schema: String,
    /// Encoding of its messages.
    pub encoding: String,
    /// Writer of its messages.
    pub publisher: String,
    /// Quality of service that its publishers offered, as rosbag2 writes it; empty without one.
    pub offered_qos: String,
    /// Number of messages that it has.
    pub count: u64,
}

/// A message of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The channel's number.
    pub channel: u16,
    /// Its number in its channel, from 1.
    pub sequence: u32,
    /// Simulated time.
    pub sim_time: SimTime,
    /// The wall clock \[ns since 1970\].
    pub wall_ns: u64,
    /// Its content.
    pub data: Vec<u8>,
}

impl ChannelInfo {
    /// Returns which channel of the run itself it is, if it is one.
    pub fn own(&self) -> Option<Channel> {
        let is_own = self.publisher == RUN_PUBLISHER;
        Channel::find(&self.topic).filter(|_| is_own)
    }
}

impl Chunk {
    /// Tells whether there are messages of a channel in it.
    pub fn has(&self, channel: u16) -> bool {
        self.channels.contains_key(&channel)
    }
}

impl<R: Read + Seek> Recording<R> {
    /// Opens a recording. One without an index is read whole.
    ///
    /// # Errors
    /// Fails if it is none.
    pub fn open(mut source: R) -> Result<Self, ReadError> {
        let content = Content::read(&mut source)?;
        let at = content.attachments.get(SETTINGS_ATTACHMENT);
        let offset = *at.ok_or_else(|| {
            if content.is_for_ros() {
                ReadError::ForRos
            } else {
                ReadError::NotOurs("description of its run")
            }
        })?;
        let settings = read_attachment(&mut source, offset, SETTINGS_BYTES_MAX)?;
        let description = read_description(&settings, offset)?;
        Ok(Self {
            source,
            content,
            description,
        })
    }

    /// Returns what decides what the run computed.
    pub fn description(&self) -> &RunDescription {
        &self.description
    }

    /// Returns the worlds as they travel to secondaries.
    ///
    /// # Errors
    /// Fails if they are not there or cannot be read.
    pub fn worlds(&mut self) -> Result<Vec<u8>, ReadError> {
        if !self.content.attachments.contains_key(WORLDS_ATTACHMENT) {
            return Err(ReadError::NotOurs("worlds"));
        }
        self.attachment(WORLDS_ATTACHMENT)
    }

    /// Returns the names of attachments that begin so.
    pub(crate) fn attachment_names(&self, prefix: &str) -> Vec<String> {
        let names = self.content.attachments.keys();
        names
            .filter(|name| name.starts_with(prefix))
            .cloned()
            .collect()
    }

    /// Returns what is attached under a name.
    pub(crate) fn attachment(&mut self, name: &str) -> Result<Vec<u8>, ReadError> {
        read_attachment(
            &mut self.source,
            self.content.attachments[name],
            RECORD_BYTES_MAX,
        )
    }

    /// Tells whether it has an index, as a recording has that was brought to its end.
    pub fn has_index(&self) -> bool {
        self.content.has_index
    }

    /// Returns where and why it breaks off, if it does.
    pub fn break_off(&self) -> Option<(u64, &str)> {
        let at = self.content.break_off.as_ref();
        at.map(|(offset, reason)| (*offset, reason.as_str()))
    }

    /// Returns its channels by number.
    pub fn channels(&self) -> &BTreeMap<u16, ChannelInfo> {
        &self.content.channels
    }

    /// Returns the number of a channel of the run itself.
    pub fn channel(&self, channel: Channel) -> Option<u16> {
        let mut channels = self.content.channels.iter();
        let found = channels.find(|(_, info)| info.own() == Some(channel));
        found.map(|(id, _)| *id)
    }

    /// Returns its chunks, in the order in which they were written.
    pub fn chunks(&self) -> &[Chunk] {
        &self.content.chunks
    }

    /// Returns the messages of a chunk, in the order in which they were written.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    ///
    /// # Panics
    /// Panics if there is no such chunk.
    pub fn messages(&mut self, chunk: usize) -> Result<Vec<Message>, ReadError> {
        self.content.messages(&mut self.source, chunk)
    }

    /// Returns the simulated time of the earliest message of a channel in a chunk, without reading
    /// the messages; `None` if there is none. A chunk may begin with a message of another channel
    /// that is of an earlier time.
    ///
    /// # Errors
    /// Fails if the list of times cannot be read.
    ///
    /// # Panics
    /// Panics if there is no such chunk.
    pub fn first_time(&mut self, chunk: usize, channel: u16) -> Result<Option<SimTime>, ReadError> {
        match self.content.chunks[chunk].channels.get(&channel) {
            None => Ok(None),
            Some(FirstTime::At(time)) => Ok(Some(*time)),
            Some(FirstTime::Listed(offset)) => index::first_time(&mut self.source, *offset),
        }
    }

    /// Calls `each` with every message of a channel of the run itself, in the order in which they
    /// were written, until it returns `false`.
    ///
    /// # Errors
    /// Fails if a chunk cannot be read.
    pub fn each(
        &mut self,
        channel: Channel,
        each: &mut dyn FnMut(Message) -> bool,
    ) -> Result<(), ReadError> {
        let Some(id) = self.channel(channel) else {
            return Ok(());
        };
        for chunk in 0..self.content.chunks.len() {
            if !self.content.chunks[chunk].has(id) {
                continue;
            }
            for message in self.messages(chunk)? {
                if message.channel == id && !each(message) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl Content {
    /// Reads what is in a file, by its index or, if it has none, from start to end.
    fn read(source: &mut (impl Read + Seek)) -> Result<Self, ReadError> {
        let length = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let mut magic = [0; 8];
        let is_whole = length >= magic.len() as u64;
        if is_whole {
            source.read_exact(&mut magic)?;
        }
        if !is_whole || magic != *mcap::MAGIC {
            return Err(ReadError::NotMcap);
        }
        index::read(source, length).or_else(|_| scan::read(source, length))
    }

    /// Returns the messages of a chunk, in the order in which they were written.
    fn messages(
        &self,
        source: &mut (impl Read + Seek),
        chunk: usize,
    ) -> Result<Vec<Message>, ReadError> {
        let offset = self.chunks[chunk].offset;
        let (opcode, body) = read_record(source, offset)?;
        if opcode != op::CHUNK {
            return Err(damaged(offset, "the index names a chunk that is none"));
        }
        let mut messages = Vec::new();
        unpack(&body, offset, &mut |record| {
            if let Record::Message { header, data } = record {
                messages.push(Message {
                    channel: header.channel_id,
                    sequence: header.sequence,
                    sim_time: SimTime(header.log_time),
                    wall_ns: header.publish_time,
                    data: data.into_owned(),
                });
            }
        })?;
        Ok(messages)
    }

    fn is_for_ros(&self) -> bool {
        let mut channels = self.channels.values();
        channels.any(|channel| channel.encoding == crate::ros::CDR)
    }

    fn add_channel(&mut self, channel: mcap::records::Channel) {
        let count = self
            .channels
            .get(&channel.id)
            .map_or(0, |known| known.count);
        let schema = self.schemas.get(&channel.schema_id);
        let of_metadata = |key: &str| channel.metadata.get(key).cloned().unwrap_or_default();
        let info = ChannelInfo {
            topic: channel.topic,
            schema: schema.cloned().unwrap_or_default(),
            encoding: channel.message_encoding,
            publisher: of_metadata(PUBLISHER_KEY),
            offered_qos: of_metadata(QOS_KEY),
            count,
        };
        self.channels.insert(channel.id, info);
    }
}

fn read_description(bytes: &[u8], offset: u64) -> Result<RunDescription, ReadError> {
    /// Part of a description that every version has.
    #[derive(serde::Deserialize)]
    struct Version {
        format: u32,
    }
    let wrong = |error: serde_json::Error| damaged(offset, &error.to_string());
    let version: Version = serde_json::from_slice(bytes).map_err(wrong)?;
    if version.format != FORMAT {
        return Err(ReadError::Format(version.format));
    }
    serde_json::from_slice(bytes).map_err(wrong)
}

fn read_attachment(
    source: &mut (impl Read + Seek),
    offset: u64,
    bytes_max: usize,
) -> Result<Vec<u8>, ReadError> {
    let (opcode, body) = read_record(source, offset)?;
    let wrong = |error: mcap::McapError| damaged(offset, &records::text_of(&error));
    match mcap::parse_record(opcode, &body).map_err(wrong)? {
        Record::Attachment { data, .. } if data.len() <= bytes_max => Ok(data.into_owned()),
        Record::Attachment { .. } => Err(damaged(offset, "the attachment is too large")),
        _ => Err(damaged(
            offset,
            "the index names an attachment that is none",
        )),
    }
}

fn damaged(offset: u64, reason: &str) -> ReadError {
    ReadError::Damaged {
        offset,
        reason: reason.to_owned(),
    }
}
