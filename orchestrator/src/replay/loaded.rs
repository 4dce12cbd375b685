//! [`Loaded`]: a chunk of a recording in memory, with its frames.

use std::io::{Read, Seek};
use std::sync::Arc;

use protocol::{Digest, SimTime};
use recording::content::IterationDigest;
use recording::digests::wrong_message;
use recording::{Affinity, Channel, Clock, Frame, Message, ReadError, Recording};
use serde::de::DeserializeOwned;

/// A chunk in memory.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// Its number.
    pub(super) chunk: usize,
    /// Its messages in the order in which they were written.
    pub(super) messages: Vec<Message>,
    /// Its frames.
    pub(super) frames: Vec<FrameAt>,
}

/// A frame of a chunk.
#[derive(Clone, Debug)]
pub(super) struct FrameAt {
    /// The place of its poses among the messages of the chunk.
    pub(super) index: usize,
    /// Its simulated time.
    pub(super) time: SimTime,
    pub(super) clock: Clock,
    pub(super) affinity: Arc<Affinity>,
    /// The digest of its iteration, if it is known.
    pub(super) digest: Option<Digest>,
}

impl Loaded {
    /// Reads a chunk.
    pub(super) fn read<R: Read + Seek>(
        recording: &mut Recording<R>,
        chunk: usize,
    ) -> Result<Self, ReadError> {
        let ids = Channel::ALL.map(|channel| (recording.channel(channel), channel));
        let own = |message: &Message| {
            let mut ids = ids.iter();
            let found = ids.find(|(id, _)| *id == Some(message.channel));
            found.map(|(_, channel)| *channel)
        };
        let messages = recording.messages(chunk)?;
        let mut frames = Vec::new();
        let mut affinity = Arc::new(Affinity::default());
        let mut clock = Clock::default();
        let mut digest = None;
        for (index, message) in messages.iter().enumerate() {
            match own(message) {
                Some(Channel::Affinity) => {
                    affinity = Arc::new(parse(Channel::Affinity, message)?);
                }
                Some(Channel::Clock) => clock = parse(Channel::Clock, message)?,
                Some(Channel::Digests) => digest = Some(message),
                Some(Channel::Poses) => {
                    let read = |message| parse::<IterationDigest>(Channel::Digests, message);
                    let digest = digest.map(read).transpose()?;
                    frames.push(FrameAt {
                        index,
                        time: message.sim_time,
                        clock,
                        affinity: Arc::clone(&affinity),
                        digest: digest.map(|read| read.digest),
                    });
                }
                _ => {}
            }
        }
        Ok(Self {
            chunk,
            messages,
            frames,
        })
    }

    /// Returns where everyone is in a frame.
    pub(super) fn poses(&self, frame: usize) -> Result<Frame, ReadError> {
        parse(Channel::Poses, &self.messages[self.frames[frame].index])
    }
}

/// Reads a message of the run itself.
pub(super) fn parse<T: DeserializeOwned>(
    channel: Channel,
    message: &Message,
) -> Result<T, ReadError> {
    serde_json::from_slice(&message.data)
        .map_err(|error| ReadError::Content(wrong_message(channel, message, &error)))
}
