//! [`RecordingWriter`]: writes a recording, chunk by chunk.
//!
//! Nothing is in the file before [`RecordingWriter::flush`]; after it, everything until then can
//! be read, whatever becomes of the program.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Seek, Write};

use mcap::records::MessageHeader;
use mcap::{Attachment, McapError, WriteOptions, Writer};
use protocol::link_offsets::LinkOffsets;
use protocol::primary_to_observers::Event;
use protocol::report::{LevelReport, PerformerReport};
use protocol::{Publisher, SimTime, TopicMessage};
use serde::Serialize;
use serde_json::json;

use crate::channel::{Channel, JSON, JSON_SCHEMA, PUBLISHER_KEY, RUN_PUBLISHER};
use crate::content::{
    Affinity, Clock, Figures, Frame, IterationDigest, LinkTransforms, LogMessage, ModelChanges,
    WorldContent,
};
use crate::description::{METADATA, RunDescription, SETTINGS_ATTACHMENT, WORLDS_ATTACHMENT};
use crate::library::LibraryFile;
use crate::links::KnownLinks;
use crate::reader::MESSAGE_BYTES_MAX;
use crate::{scene, schemas};

/// The size from which a chunk is ended \[bytes\].
pub const CHUNK_BYTES: usize = 1 << 20;
/// Number of channels that the topics of the worlds may have; the format numbers them with 16 bits.
const TOPIC_CHANNELS_MAX: usize = 65_000;
/// The key in a channel's metadata that says of which kind its messages are.
const KIND_KEY: &str = "kind";
/// Encoding of messages whose kind is not known.
const MESSAGE_PACK: &str = "msgpack";

/// A recording that cannot be written; it can be read as far as it was flushed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct WriteError(#[from] McapError);

/// Time at which something is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Simulated time.
    pub sim_time: SimTime,
    /// The wall clock \[ns since 1970\].
    pub wall_ns: u64,
}

/// Writes a recording.
pub struct RecordingWriter<W: Write + Seek> {
    writer: Writer<W>,
    own: BTreeMap<Channel, u16>,
    topics: BTreeMap<TopicKey, TopicChannel>,
    /// Number of messages that each channel has.
    counts: BTreeMap<u16, u32>,
    /// Affinity that was written last.
    affinity: Affinity,
    /// True if the chunk that is written says so.
    has_affinity: bool,
    links: KnownLinks,
    /// Size of the chunk that is written, so far \[bytes\].
    chunk_bytes: usize,
    left_out: u64,
    bytes: Vec<u8>,
}

/// Key of a channel: each topic, kind and publisher has one of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TopicKey {
    topic: String,
    kind: String,
    publisher: Publisher,
}

#[derive(Clone, Copy)]
enum TopicChannel {
    Json(u16),
    MessagePack(u16),
    Overflow,
}

impl<W: Write + Seek> RecordingWriter<W> {
    /// Begins a recording; `worlds` are as they travel to secondaries.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    ///
    /// # Panics
    /// Never: a description is JSON.
    pub fn new(sink: W, description: &RunDescription, worlds: &[u8]) -> Result<Self, WriteError> {
        let mut writer = options().create(sink)?;
        let settings = serde_json::to_vec_pretty(description).expect("a description is JSON");
        for (name, media_type, data) in [
            (SETTINGS_ATTACHMENT, "application/json", settings.as_slice()),
            (WORLDS_ATTACHMENT, "application/octet-stream", worlds),
        ] {
            writer.attach(&Attachment {
                log_time: 0,
                create_time: description.started_unix_ms.saturating_mul(1_000_000),
                name: name.to_owned(),
                media_type: media_type.to_owned(),
                data: Cow::Borrowed(data),
            })?;
        }
        writer.write_metadata(&mcap::records::Metadata {
            name: METADATA.to_owned(),
            metadata: description.metadata(),
        })?;
        let mut own = BTreeMap::new();
        for channel in Channel::ALL {
            own.insert(channel, add_own(&mut writer, channel)?);
        }
        writer.flush()?;
        Ok(Self {
            writer,
            own,
            topics: BTreeMap::new(),
            counts: BTreeMap::new(),
            affinity: Affinity::default(),
            has_affinity: false,
            links: KnownLinks::default(),
            chunk_bytes: 0,
            left_out: 0,
            bytes: Vec::new(),
        })
    }

    /// Writes what stands still and which topics there are, also as bodies for viewers.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn world(&mut self, world: &WorldContent, at: Moment) -> Result<(), WriteError> {
        self.links.keep_those_of(&world.layout);
        self.own(Channel::World, world, at)?;
        let scene = scene::scene(&world.layout, at.sim_time);
        self.own(Channel::Scene, &scene, at)
    }

    /// Writes which models came and left.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn models(&mut self, changes: &ModelChanges, at: Moment) -> Result<(), WriteError> {
        self.own(Channel::Models, changes, at)
    }

    /// Writes where everyone is, and who hosts what if that has changed; where a chunk begins also
    /// all links, so that nobody need look before it.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn frame(
        &mut self,
        clock: Clock,
        performers: &[PerformerReport],
        levels: Option<Vec<LevelReport>>,
        at: Moment,
    ) -> Result<(), WriteError> {
        let mut has_changed = levels.is_some();
        if let Some(mut levels) = levels {
            for level in &mut levels {
                // It would be that of this iteration alone.
                level.digest = None;
            }
            self.affinity.levels = levels;
        }
        let known = &mut self.affinity.performers;
        let is_known = known.len() == performers.len()
            && known
                .iter()
                .zip(performers)
                .all(|(one, now)| one.is_of(now));
        if !is_known {
            *known = performers.iter().map(Into::into).collect();
            has_changed = true;
        }
        let begins_chunk = !self.has_affinity;
        if has_changed || begins_chunk {
            let affinity = std::mem::take(&mut self.affinity);
            let written = self.own(Channel::Affinity, &affinity, at);
            self.affinity = affinity;
            written?;
            self.has_affinity = true;
        }
        if begins_chunk {
            let all = self.links.all();
            // What is said of this frame comes later.
            let said_at = Moment {
                sim_time: self.links.latest(),
                ..at
            };
            self.write_links(&all, said_at)?;
        }
        self.own(Channel::Clock, &clock, at)?;
        let frame = Frame::new(clock.iteration, at.sim_time, performers);
        self.own(Channel::Poses, &frame, at)
    }

    /// Writes where links are as seen from their models, as far as that has changed.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn links(
        &mut self,
        said: impl Iterator<Item = LinkOffsets>,
        at: Moment,
    ) -> Result<(), WriteError> {
        let news = self.links.take(said, at.sim_time);
        self.write_links(&news, at)
    }

    fn write_links(&mut self, links: &LinkTransforms, at: Moment) -> Result<(), WriteError> {
        if links.transforms.is_empty() {
            return Ok(());
        }
        self.own(Channel::Links, links, at)
    }

    /// Writes a file that a spawned model refers to, or that a visual of a world names.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn library(&mut self, file: &LibraryFile, at: Moment) -> Result<(), WriteError> {
        self.chunk_bytes = 0;
        self.has_affinity = false;
        Ok(self.writer.attach(&Attachment {
            log_time: at.sim_time.0,
            create_time: at.wall_ns,
            name: file.attachment_name(),
            media_type: "application/octet-stream".to_owned(),
            data: Cow::Borrowed(&file.bytes),
        })?)
    }

    /// Writes the digest of an iteration.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn digest(&mut self, digest: IterationDigest, at: Moment) -> Result<(), WriteError> {
        self.own(Channel::Digests, &digest, at)
    }

    /// Writes what happened.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn event(&mut self, event: &Event, at: Moment) -> Result<(), WriteError> {
        self.own(Channel::Events, &LogMessage::new(event, at.sim_time), at)
    }

    /// Writes figures of the run and of its processes.
    ///
    /// # Errors
    /// Fails if they cannot be written.
    pub fn figures(&mut self, figures: &Figures, at: Moment) -> Result<(), WriteError> {
        self.own(Channel::Stats, figures, at)
    }

    /// Writes a command that was done, as a line of a file of commands.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn command(&mut self, line: &str, at: Moment) -> Result<(), WriteError> {
        self.put(self.own[&Channel::Commands], line.as_bytes(), at)
    }

    /// Writes the next part of a file of states.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn states(&mut self, part: &[u8], at: Moment) -> Result<(), WriteError> {
        self.put(self.own[&Channel::States], part, at)
    }

    /// Writes what was said on a topic of the simulated worlds.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn message(&mut self, message: &TopicMessage, wall_ns: u64) -> Result<(), WriteError> {
        let at = Moment {
            sim_time: message.sim_time,
            wall_ns,
        };
        let kind = messages::find(&message.kind);
        let shown = kind.and_then(|kind| kind.to_recorded_json(&message.body).ok());
        match (self.channel_of(message, shown.is_some())?, shown) {
            (TopicChannel::Json(id), Some(shown)) => self.json(id, &shown, at),
            (TopicChannel::Overflow, shown) => {
                let whole = json!({
                    "topic": message.topic, "kind": message.kind, "message": shown,
                });
                self.own(Channel::Overflow, &whole, at)
            }
            (TopicChannel::Json(id) | TopicChannel::MessagePack(id), _) => {
                self.put(id, &message.body, at)
            }
        }
    }

    /// Returns how much is in the chunk that is not in the file yet \[bytes\].
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Returns how many messages are so large that they were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Ends the chunk and has everything in the file.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.chunk_bytes = 0;
        self.has_affinity = false;
        Ok(self.writer.flush()?)
    }

    /// Writes the index, with which the file is complete.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.writer.finish()?;
        let mut sink = self.writer.into_inner();
        sink.flush().map_err(McapError::from)?;
        Ok(sink)
    }

    fn channel_of(
        &mut self,
        message: &TopicMessage,
        is_json: bool,
    ) -> Result<TopicChannel, WriteError> {
        let key = TopicKey {
            topic: message.topic.clone(),
            kind: message.kind.clone(),
            publisher: message.publisher,
        };
        if let Some(known) = self.topics.get(&key) {
            return Ok(*known);
        }
        if self.topics.len() >= TOPIC_CHANNELS_MAX {
            return Ok(TopicChannel::Overflow);
        }
        let metadata = BTreeMap::from([
            (PUBLISHER_KEY.to_owned(), message.publisher.to_string()),
            (KIND_KEY.to_owned(), message.kind.clone()),
        ]);
        let channel = match messages::find(&message.kind).filter(|_| is_json) {
            Some(kind) => {
                let schema = kind.schema().to_string();
                let schema = (kind.name, JSON_SCHEMA, schema.as_bytes());
                let schema = self.writer.add_schema(schema.0, schema.1, schema.2)?;
                let topic = &message.topic;
                TopicChannel::Json(self.writer.add_channel(schema, topic, JSON, &metadata)?)
            }
            None => TopicChannel::MessagePack(self.writer.add_channel(
                0,
                &message.topic,
                MESSAGE_PACK,
                &metadata,
            )?),
        };
        self.topics.insert(key, channel);
        Ok(channel)
    }

    fn own(
        &mut self,
        channel: Channel,
        message: &impl Serialize,
        at: Moment,
    ) -> Result<(), WriteError> {
        self.json(self.own[&channel], message, at)
    }

    fn json(&mut self, id: u16, message: &impl Serialize, at: Moment) -> Result<(), WriteError> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        serde_json::to_writer(&mut bytes, message).expect("what is recorded is JSON");
        let written = self.put(id, &bytes, at);
        self.bytes = bytes;
        written
    }

    fn put(&mut self, id: u16, data: &[u8], at: Moment) -> Result<(), WriteError> {
        if data.len() > MESSAGE_BYTES_MAX {
            self.left_out += 1;
            return Ok(());
        }
        let count = self.counts.entry(id).or_default();
        *count = count.wrapping_add(1);
        let header = MessageHeader {
            channel_id: id,
            sequence: *count,
            log_time: at.sim_time.0,
            publish_time: at.wall_ns,
        };
        self.chunk_bytes += data.len();
        Ok(self.writer.write_to_known_channel(&header, data)?)
    }
}

/// Returns how files are written: chunks are made in memory and written whole, so that a program
/// that is killed leaves no half one. One thread is enough: whoever writes is off the stepper.
pub(crate) fn options() -> WriteOptions {
    WriteOptions::new()
        .chunk_size(None)
        .disable_seeking(true)
        .compression_level(1)
        .compression_threads(0)
        .library(concat!("phalanx ", env!("CARGO_PKG_VERSION")))
}

fn add_own<W: Write + Seek>(writer: &mut Writer<W>, channel: Channel) -> Result<u16, WriteError> {
    let schema = match schemas::schema(channel) {
        Some(schema) => {
            let text = schema.to_string();
            writer.add_schema(channel.schema_name(), JSON_SCHEMA, text.as_bytes())?
        }
        None => 0,
    };
    let metadata = BTreeMap::from([(PUBLISHER_KEY.to_owned(), RUN_PUBLISHER.to_owned())]);
    Ok(writer.add_channel(schema, channel.topic(), channel.encoding(), &metadata)?)
}
