//! [`Saying`]: messages on topics of a recording, as they are passed on the way through it.
//!
//! Messages stand right behind the frame of their iteration, or of the last one before it; large
//! ones fill chunks of their own, which have no frame. So the way leads through all chunks, and not
//! those of frames alone.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};

use protocol::SimTime;
use recording::{ChannelInfo, Message, ReadError, Recording};

use super::loaded::Loaded;
use super::survey::MessagePosition;

/// Size of the messages that wait to be taken from which on no more are passed \[bytes\].
const WAITING_BYTES_MAX: usize = 64 << 20;

/// A message on a topic, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMessage {
    /// The topic.
    pub topic: String,
    /// The kind of message.
    pub kind: String,
    /// Simulated time when it was published.
    pub sim_time: SimTime,
    /// The message as JSON of [`messages::Kind::to_recorded_json`].
    pub json: Vec<u8>,
}

/// Messages on topics that are listened to.
#[derive(Debug)]
pub(super) struct Saying {
    /// The channels of these topics.
    channels: BTreeMap<u16, ChannelInfo>,
    /// True if what was said last before a place is said after a jump to it, and what is of the
    /// time of a frame with it.
    is_for_view: bool,
    /// The first message that was not passed.
    next: MessagePosition,
    /// Messages that wait to be taken.
    passed: Vec<RecordedMessage>,
    /// Their size \[bytes\].
    bytes: usize,
}

/// A frame that is reached.
pub(super) struct Place<'a> {
    /// Its chunk.
    pub(super) loaded: &'a Loaded,
    /// Index among the frames of the chunk.
    pub(super) frame: usize,
    /// The chunk of the frame after those of the chunk, else the last one.
    pub(super) last_chunk: usize,
    /// The channel of frames.
    pub(super) poses: Option<u16>,
}

impl Place<'_> {
    fn position(&self) -> MessagePosition {
        (self.loaded.chunk, self.loaded.frames[self.frame].index)
    }

    fn time(&self) -> SimTime {
        self.loaded.frames[self.frame].time
    }
}

impl Saying {
    /// Listens to all topics from a position on; what is jumped over is not said.
    pub(super) fn of_all<R>(recording: &Recording<R>, next: MessagePosition) -> Self
    where
        R: Read + Seek,
    {
        Self {
            is_for_view: false,
            next,
            ..Self::of(recording, |_| true)
        }
    }

    /// Listens to some topics, for who sees one place after the other.
    pub(super) fn of<R>(recording: &Recording<R>, is_meant: impl Fn(&str) -> bool) -> Self
    where
        R: Read + Seek,
    {
        let channels = recording.channels().iter();
        let meant =
            channels.filter(|(_, channel)| channel.own().is_none() && is_meant(&channel.topic));
        Self {
            channels: meant.map(|(id, channel)| (*id, channel.clone())).collect(),
            is_for_view: true,
            next: (0, 0),
            passed: Vec::new(),
            bytes: 0,
        }
    }

    /// Takes what was said since it was taken last.
    pub(super) fn take(&mut self) -> Vec<RecordedMessage> {
        self.bytes = 0;
        std::mem::take(&mut self.passed)
    }

    /// Has messages wait before those that do.
    pub(super) fn put_before(&mut self, mut messages: Vec<RecordedMessage>) {
        self.bytes += messages.iter().map(|one| one.json.len()).sum::<usize>();
        messages.append(&mut self.passed);
        self.passed = messages;
    }

    /// Tells whether so much waits that it is to be taken first.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > WAITING_BYTES_MAX
    }

    /// Forgets all that waits but the newest message of each topic.
    pub(super) fn thin(&mut self) {
        let mut known = BTreeSet::new();
        self.passed.reverse();
        self.passed
            .retain(|message| known.insert(message.topic.clone()));
        self.passed.reverse();
        self.bytes = self.passed.iter().map(|message| message.json.len()).sum();
    }

    /// Has be said what stands on the way to a frame that follows.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub(super) fn go_on<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        place: &Place<'_>,
    ) -> Result<(), ReadError> {
        let (chunk, index) = place.position();
        self.pass(recording, place.loaded, (chunk, index + 1))?;
        if self.is_for_view {
            self.pass_late(recording, place)?;
        }
        Ok(())
    }

    /// Goes to a frame without passing what is between.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub(super) fn jump<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        place: &Place<'_>,
    ) -> Result<(), ReadError> {
        let (chunk, index) = place.position();
        self.next = (chunk, index + 1);
        if self.is_for_view {
            self.take();
            self.look_back(recording, place)?;
            self.pass_late(recording, place)?;
            self.thin();
        }
        Ok(())
    }

    /// Has be said what stands behind the last frame.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub(super) fn finish<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        place: &Place<'_>,
    ) -> Result<(), ReadError> {
        let end = recording.chunks().len();
        self.pass(recording, place.loaded, (end, 0))
    }

    /// Passes messages up to a position.
    fn pass<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        loaded: &Loaded,
        end: MessagePosition,
    ) -> Result<(), ReadError> {
        while self.next < end {
            let (chunk, from) = self.next;
            let to = if chunk == end.0 { end.1 } else { usize::MAX };
            if chunk < recording.chunks().len() && self.speaks_in(recording, chunk) {
                let messages = messages_of(recording, loaded, chunk)?;
                for message in messages.iter().take(to).skip(from) {
                    self.say(message);
                }
            }
            self.next = end.min((chunk + 1, 0));
        }
        Ok(())
    }

    /// Passes what stands behind a frame and is of its time.
    fn pass_late<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        place: &Place<'_>,
    ) -> Result<(), ReadError> {
        let now = place.time();
        while self.next.0 <= place.last_chunk {
            let (chunk, from) = self.next;
            let is_loaded = chunk == place.loaded.chunk;
            if !is_loaded && !self.speaks_by(recording, chunk, now)? {
                if chunk == place.last_chunk || self.speaks_in(recording, chunk) {
                    return Ok(());
                }
                self.next = (chunk + 1, 0);
                continue;
            }
            let messages = messages_of(recording, place.loaded, chunk)?;
            for (index, message) in messages.iter().enumerate().skip(from) {
                let is_heard = self.channels.contains_key(&message.channel);
                let is_later = is_heard && message.sim_time > now;
                if is_later || place.poses == Some(message.channel) {
                    self.next = (chunk, index);
                    return Ok(());
                }
                self.say(message);
            }
            self.next = (chunk + 1, 0);
        }
        Ok(())
    }

    /// Has be said what was said last on each topic before a frame. Messages of a later time are of
    /// before the time was set back, and end the search.
    fn look_back<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        place: &Place<'_>,
    ) -> Result<(), ReadError> {
        let (here, now) = (place.position(), place.time());
        let mut found = Vec::new();
        let mut missing = self.channels.clone();
        for chunk in (0..=here.0).rev() {
            if missing.is_empty() {
                break;
            }
            let of_chunk = &recording.chunks()[chunk];
            if !missing.keys().any(|id| of_chunk.has(*id)) {
                continue;
            }
            let to = if chunk == here.0 { here.1 } else { usize::MAX };
            let messages = messages_of(recording, place.loaded, chunk)?;
            for message in messages[..to.min(messages.len())].iter().rev() {
                let channel = missing.get(&message.channel);
                let Some(topic) = channel.map(|one| one.topic.clone()) else {
                    continue;
                };
                missing.retain(|_, channel| channel.topic != topic);
                if message.sim_time <= now {
                    found.push(message.clone());
                }
            }
        }
        for message in found.iter().rev() {
            self.say(message);
        }
        Ok(())
    }

    /// Tells whether a chunk has messages that are listened to.
    fn speaks_in<R: Read + Seek>(&self, recording: &Recording<R>, chunk: usize) -> bool {
        let of_chunk = &recording.chunks()[chunk];
        self.channels.keys().any(|id| of_chunk.has(*id))
    }

    /// Tells whether a chunk has such messages of a time or before.
    fn speaks_by<R: Read + Seek>(
        &self,
        recording: &mut Recording<R>,
        chunk: usize,
        time: SimTime,
    ) -> Result<bool, ReadError> {
        for id in self.channels.keys() {
            let first = recording.first_time(chunk, *id)?;
            if first.is_some_and(|first| first <= time) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn say(&mut self, message: &Message) {
        if let Some(channel) = self.channels.get(&message.channel) {
            self.bytes += message.data.len();
            self.passed.push(RecordedMessage {
                topic: channel.topic.clone(),
                kind: channel.schema.clone(),
                sim_time: message.sim_time,
                json: message.data.clone(),
            });
        }
    }
}

/// Returns the messages of a chunk, which may be in memory already.
fn messages_of<'a, R: Read + Seek>(
    recording: &mut Recording<R>,
    loaded: &'a Loaded,
    chunk: usize,
) -> Result<Cow<'a, [Message]>, ReadError> {
    if chunk == loaded.chunk {
        return Ok(Cow::Borrowed(&loaded.messages));
    }
    Ok(Cow::Owned(recording.messages(chunk)?))
}
