//! [`Player`]: a place in a recording that moves, by itself or when it is asked to.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};
use std::ops::Range;
use std::time::Duration;

use client::feed::{Feed, Heard};
use client::message_text;
use client::recorded::{RecordingPlace, ReplayWish, SPEED_MAX, SPEED_MIN};
use protocol::report::Snapshot;
use protocol::{LinkPose, SimTime};
use recording::content::Figures;
use recording::{Channel, ChannelInfo, Message, ReadError, Recording};

use super::links::{LinkChannels, LinkTable};
use super::loaded::{FrameAt, Loaded, parse};
use super::models::{ModelTable, ModelsThere};
use super::stats;
use super::survey::{MessagePosition, Survey};

/// The longest text of a message that is shown \[bytes\].
const MESSAGE_TEXT_MAX: usize = 64 << 10;

/// Plays a recording.
#[derive(Debug)]
pub struct Player<R> {
    recording: Recording<R>,
    world: String,
    /// The chunks with frames.
    track: Vec<TrackChunk>,
    /// Index into the track.
    at: usize,
    /// Index of the frame of that chunk that is shown.
    frame: usize,
    loaded: Loaded,
    links: LinkTable,
    models: ModelTable,
    survey: Survey,
    has_more: bool,
    speed: f64,
    is_playing: bool,
    /// Time beyond the frame that is shown \[ns\].
    ahead_ns: f64,
    /// Time at which playing stops, if not at the end.
    until: Option<SimTime>,
    /// The last figures before the place.
    figures: Option<Figures>,
    listens_to: Option<String>,
    told: SentPositions,
    /// Messages passed since they were taken last, if somebody takes them.
    said: Option<Vec<RecordedMessage>>,
    /// True if what stands behind the last frame was said.
    has_said_end: bool,
}

/// A chunk with frames.
#[derive(Clone, Copy, Debug)]
struct TrackChunk {
    /// Its number.
    chunk: usize,
    /// The least simulated time of its frames. Other messages in it may be of an earlier time.
    start: SimTime,
}

/// Positions that the view was told last.
#[derive(Debug, Default)]
struct SentPositions {
    position: Option<MessagePosition>,
    world: Option<MessagePosition>,
    extent: Option<(usize, usize)>,
    heard: Option<MessagePosition>,
    /// The last message that was told of several topics.
    said: Option<MessagePosition>,
}

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

impl RecordedMessage {
    /// Returns a message with what its channel says; `None` on channels of the recording itself.
    fn on_topic(channels: &BTreeMap<u16, ChannelInfo>, message: &Message) -> Option<Self> {
        let channel = channels.get(&message.channel)?;
        channel.own().is_none().then(|| Self {
            topic: channel.topic.clone(),
            kind: channel.schema.clone(),
            sim_time: message.sim_time,
            json: message.data.clone(),
        })
    }
}

impl<R: Read + Seek> Player<R> {
    /// Starts at the first frame of a recording.
    ///
    /// # Errors
    /// Fails if the recording cannot be read, or no frame is in it.
    pub fn new(mut recording: Recording<R>) -> Result<Self, ReadError> {
        let track = track(&mut recording)?;
        if track.is_empty() {
            return Err(ReadError::Content("no frame is in it".to_owned()));
        }
        let mut player = Self {
            world: recording.description().worlds.join("+"),
            recording,
            track,
            at: 0,
            frame: 0,
            loaded: Loaded::default(),
            links: LinkTable::default(),
            models: ModelTable::default(),
            survey: Survey::default(),
            has_more: true,
            speed: 1.0,
            is_playing: false,
            ahead_ns: 0.0,
            until: None,
            figures: None,
            listens_to: None,
            told: SentPositions::default(),
            said: None,
            has_said_end: false,
        };
        player.load(0)?;
        // The first chunk says what the world is.
        player.look_further()?;
        Ok(player)
    }

    /// Tells whether there is anything to be done while it stands still.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Tells whether it moves by itself.
    pub fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Returns where it is.
    pub fn position(&self) -> RecordingPlace {
        let chunks = self.recording.chunks();
        let start = self.track.iter().map(|one| one.start).min();
        let end = self.track.iter().map(|one| chunks[one.chunk].end).max();
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        let now = self.loaded.frames[self.frame].time;
        let length = end.0.saturating_sub(start.0);
        let done = now.0.saturating_sub(start.0);
        RecordingPlace {
            start,
            end,
            now,
            share: if length == 0 {
                1.0
            } else {
                (done as f64 / length as f64).min(1.0)
            },
            speed: self.speed,
            is_playing: self.is_playing,
        }
    }

    /// Tells whether the last frame is shown.
    pub fn is_at_end(&self) -> bool {
        self.next_time().is_none()
    }

    /// Keeps what is said on topics from the current place on, for [`Self::take_said`]. Nothing is
    /// said of what is jumped over.
    pub fn keep_said(&mut self) {
        self.said = Some(Vec::new());
        if (self.at, self.frame) == (0, 0) {
            self.say(0..self.loaded.frames[0].index + 1);
        }
    }

    /// Takes what was said on topics on the way since then.
    pub fn take_said(&mut self) -> Vec<RecordedMessage> {
        self.said.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the topics of the recording, by name and kind.
    pub fn topics(&self) -> Vec<(String, String)> {
        let channels = self.recording.channels().values();
        let topics = channels.filter(|channel| channel.own().is_none());
        topics
            .map(|channel| (channel.topic.clone(), channel.schema.clone()))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// Returns the worlds that are in the recording.
    ///
    /// # Errors
    /// Fails if they cannot be read.
    pub fn worlds(&mut self) -> Result<Vec<u8>, ReadError> {
        self.recording.worlds()
    }

    #[cfg(test)]
    pub(super) fn recording_mut(&mut self) -> &mut Recording<R> {
        &mut self.recording
    }

    /// Surveys a further part of the recording.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn look_further(&mut self) -> Result<(), ReadError> {
        if self.has_more {
            self.has_more = self.survey.go_on(&mut self.recording, &mut self.models)?;
        }
        Ok(())
    }

    /// Advances the playback.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn advance(&mut self, elapsed: Duration) -> Result<(), ReadError> {
        if !self.is_playing {
            return Ok(());
        }
        self.ahead_ns += elapsed.as_nanos() as f64 * self.speed;
        loop {
            let now = self.loaded.frames[self.frame].time;
            let is_reached = self.until.is_some_and(|until| now >= until);
            let next = self.next_time().filter(|_| !is_reached);
            let Some(next) = next else {
                self.is_playing = false;
                if !is_reached {
                    self.say_end()?;
                }
                (self.ahead_ns, self.until) = (0.0, None);
                return Ok(());
            };
            // After a reset, time begins anew: the next frame follows at once.
            let way_ns = next.0.saturating_sub(now.0) as f64;
            if way_ns > self.ahead_ns {
                return Ok(());
            }
            self.ahead_ns -= way_ns;
            self.forward()?;
        }
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn act(&mut self, wish: ReplayWish) -> Result<(), ReadError> {
        if !matches!(wish, ReplayWish::Speed(_)) {
            (self.ahead_ns, self.until) = (0.0, None);
        }
        match wish {
            ReplayWish::Play => {
                if self.next_time().is_none() {
                    self.load(0)?;
                }
                self.is_playing = true;
            }
            ReplayWish::Pause => self.is_playing = false,
            ReplayWish::Step(count) => self.step(count)?,
            ReplayWish::Seek(time_s) => self.seek(sim_time(time_s))?,
            ReplayWish::RunTo(time_s) => {
                self.until = Some(sim_time(time_s));
                self.is_playing = true;
            }
            ReplayWish::SeekBy(share) => {
                let position = self.position();
                let length = position.end.0.saturating_sub(position.start.0) as f64;
                let time = position.now.0 as f64 + share * length;
                self.seek(SimTime(time.max(0.0) as u64))?;
            }
            ReplayWish::Start => self.load(0)?,
            ReplayWish::End => {
                self.load(self.track.len() - 1)?;
                self.frame = self.loaded.frames.len() - 1;
            }
            ReplayWish::Speed(speed) => self.speed = speed.clamp(SPEED_MIN, SPEED_MAX),
        }
        Ok(())
    }

    /// Listens to a topic, and to no other.
    pub fn listen(&mut self, topic: Option<String>) {
        self.listens_to = topic;
        self.told.heard = None;
    }

    /// Returns the feeds that bring the view to the current place.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn feed(&mut self) -> Result<Vec<Feed>, ReadError> {
        let mut feeds = Vec::new();
        let position = (self.loaded.chunk, self.loaded.frames[self.frame].index);
        if self.told.position.is_some_and(|told| told > position) {
            feeds.push(Feed::Rewound);
            (self.told.extent, self.told.heard, self.told.said) = (None, None, None);
        }
        if let Some((told, world)) = self.survey.world(position)
            && self.told.world != Some(told)
        {
            self.told.world = Some(told);
            feeds.push(Feed::Layout(Box::new(world.layout.clone())));
            feeds.push(Feed::Topics(world.topics.clone()));
        }
        let shown = self.snapshot()?;
        feeds.push(Feed::Snapshot(Box::new(shown)));
        let extent = self.survey.extent(position);
        if self.told.extent != Some(extent) {
            self.told.extent = Some(extent);
            feeds.push(Feed::History(Box::new(self.survey.past(position))));
        }
        feeds.extend(self.hear(position));
        self.told.position = Some(position);
        feeds.push(Feed::Recording(self.position()));
        Ok(feeds)
    }

    /// Returns where links are at the current place as seen from their models, by their frames,
    /// `PERFORMER::LINK`; those that are not there are where they were at the start. `None` if that
    /// is as it was when it was asked last.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn link_offsets(&mut self) -> Result<Option<&BTreeMap<String, LinkPose>>, ReadError> {
        let channels = LinkChannels {
            links: self.recording.channel(Channel::Links),
            poses: self.recording.channel(Channel::Poses),
        };
        self.links.go_to(&self.loaded, self.frame, channels)?;
        let has_changed = self.links.take_changed();
        Ok(has_changed.then(|| self.links.poses()))
    }

    /// Returns the number of times that models came or left up to the current place.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub(super) fn count_model_changes(&mut self) -> Result<usize, ReadError> {
        let position = (self.loaded.chunk, self.loaded.frames[self.frame].index);
        self.models.count(&mut self.recording, position)
    }

    /// Returns the models that are there after so many changes, and the recording that has them.
    pub(super) fn models_after(&mut self, count: usize) -> (&ModelsThere, &mut Recording<R>) {
        (self.models.there(count), &mut self.recording)
    }

    /// Returns the figures at the current place, as a primary would tell them.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn snapshot(&mut self) -> Result<Snapshot, ReadError> {
        let position = (self.loaded.chunk, self.loaded.frames[self.frame].index);
        self.note_figures(position)?;
        let frame = self.loaded.poses(self.frame)?;
        let at = &self.loaded.frames[self.frame];
        let (figures, place) = (self.figures.as_ref(), self.position());
        Ok(stats::snapshot(&self.world, at, frame, figures, place))
    }

    /// Returns what was said on some topics since the last call, up to the current place, the
    /// latest last; after a jump, what was said last before it within the same part of the file.
    pub fn said(&mut self, topics: &BTreeSet<String>) -> Vec<RecordedMessage> {
        let place = (self.loaded.chunk, self.loaded.frames[self.frame].index);
        let shown = self.loaded.frames[self.frame].time;
        let before = self.told.said.filter(|told| told.0 == place.0);
        let channels = self.recording.channels();
        let mut said = Vec::new();
        let mut last = before;
        let from = before.map_or(0, |told| told.1 + 1);
        for (index, message) in self.loaded.messages.iter().enumerate().skip(from) {
            // Messages stand a little behind the frame of their iteration.
            if message.sim_time > shown {
                break;
            }
            last = Some((place.0, index));
            let channel = channels.get(&message.channel);
            if channel.is_some_and(|channel| topics.contains(&channel.topic)) {
                said.extend(RecordedMessage::on_topic(channels, message));
            }
        }
        self.told.said = last;
        let has_jumped = before.is_none();
        if has_jumped {
            newest_of_each(&mut said);
        }
        said
    }

    fn step(&mut self, count: i64) -> Result<(), ReadError> {
        self.is_playing = false;
        for _ in 0..count.unsigned_abs() {
            let has_moved = if count > 0 {
                self.forward()?
            } else {
                self.backward()?
            };
            if !has_moved {
                break;
            }
        }
        Ok(())
    }

    /// Goes to the first frame of a chunk of the track.
    fn load(&mut self, at: usize) -> Result<(), ReadError> {
        if self.at != at || self.loaded.frames.is_empty() {
            let loaded = Loaded::read(&mut self.recording, self.track[at].chunk)?;
            if loaded.frames.is_empty() {
                let reason = "the index names frames that are not there".to_owned();
                return Err(ReadError::Content(reason));
            }
            (self.loaded, self.at) = (loaded, at);
        }
        self.frame = 0;
        self.has_said_end = false;
        Ok(())
    }

    /// Returns the time of the next frame, if there is one.
    fn next_time(&self) -> Option<SimTime> {
        if let Some(next) = self.loaded.frames.get(self.frame + 1) {
            return Some(next.time);
        }
        self.next_start(self.at)
    }

    /// Goes to the next frame, if there is one.
    fn forward(&mut self) -> Result<bool, ReadError> {
        let behind = self.loaded.frames[self.frame].index + 1;
        if self.frame + 1 < self.loaded.frames.len() {
            self.frame += 1;
            let here = self.loaded.frames[self.frame].index;
            self.say(behind..here + 1);
        } else if self.at + 1 < self.track.len() {
            self.say(behind..self.loaded.messages.len());
            self.say_chunks(self.track[self.at].chunk + 1..self.track[self.at + 1].chunk)?;
            self.load(self.at + 1)?;
            self.say(0..self.loaded.frames[0].index + 1);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Has messages of the chunk in memory be said.
    fn say(&mut self, messages: Range<usize>) {
        if let Some(said) = &mut self.said {
            let channels = self.recording.channels();
            let passed = self.loaded.messages[messages].iter();
            said.extend(passed.filter_map(|one| RecordedMessage::on_topic(channels, one)));
        }
    }

    /// Has messages of chunks without frames be said.
    fn say_chunks(&mut self, chunks: Range<usize>) -> Result<(), ReadError> {
        for chunk in chunks {
            if self.said.is_some() {
                let messages = self.recording.messages(chunk)?;
                let channels = self.recording.channels();
                let passed = messages.iter();
                let passed = passed.filter_map(|one| RecordedMessage::on_topic(channels, one));
                self.said.get_or_insert_default().extend(passed);
            }
        }
        Ok(())
    }

    /// Has be said what stands behind the last frame, once.
    fn say_end(&mut self) -> Result<(), ReadError> {
        if std::mem::replace(&mut self.has_said_end, true) {
            return Ok(());
        }
        let behind = self.loaded.frames[self.frame].index + 1;
        self.say(behind..self.loaded.messages.len());
        self.say_chunks(self.track[self.at].chunk + 1..self.recording.chunks().len())
    }

    /// Goes to the frame before, if there is one.
    fn backward(&mut self) -> Result<bool, ReadError> {
        if self.frame > 0 {
            self.frame -= 1;
        } else if self.at > 0 {
            self.load(self.at - 1)?;
            self.frame = self.loaded.frames.len() - 1;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Goes to the last frame that is not later than a time. Where time was set back in the run, in
    /// the last part that reaches this time; if none does, in the last that begins before it.
    fn seek(&mut self, time: SimTime) -> Result<(), ReadError> {
        for at in (0..self.track.len()).rev() {
            if !self.may_show(at, time) {
                continue;
            }
            self.load(at)?;
            if let Some(frame) = self.shown_at(time) {
                self.frame = frame;
                return Ok(());
            }
        }
        let begins_before = |one: &TrackChunk| one.start <= time;
        let at = self.track.iter().rposition(begins_before).unwrap_or(0);
        self.load(at)?;
        let is_before = |frame: &FrameAt| frame.time <= time;
        let frame = self.loaded.frames.iter().rposition(is_before);
        self.frame = frame.unwrap_or(0);
        Ok(())
    }

    /// Tells whether a frame of a chunk may be what is shown at a time.
    fn may_show(&self, at: usize, time: SimTime) -> bool {
        let TrackChunk { chunk, start } = self.track[at];
        let reaches = self.recording.chunks()[chunk].end >= time;
        start <= time && (reaches || self.next_start(at).is_some_and(|next| next > time))
    }

    /// Returns the last frame of the chunk in memory that is of a time, or is followed by a later
    /// one.
    fn shown_at(&self, time: SimTime) -> Option<usize> {
        let times = self.loaded.frames.iter().map(|frame| frame.time);
        let next = times.clone().skip(1).map(Some);
        let next = next.chain([self.next_start(self.at)]);
        let pairs: Vec<_> = times.zip(next).collect();
        pairs.into_iter().rposition(|(own, next)| {
            own == time || (own < time && next.is_some_and(|next| next > time))
        })
    }

    /// Returns when the chunk after one begins.
    fn next_start(&self, at: usize) -> Option<SimTime> {
        self.track.get(at + 1).map(|next| next.start)
    }

    /// Takes the last figures before a place: those of the chunk, else of one of those before.
    fn note_figures(&mut self, position: MessagePosition) -> Result<(), ReadError> {
        let Some(id) = self.recording.channel(Channel::Stats) else {
            return Ok(());
        };
        let of_chunk = &self.loaded.messages[..=position.1];
        if let Some(message) = of_chunk.iter().rfind(|message| message.channel == id) {
            self.figures = Some(parse(Channel::Stats, message)?);
        } else if self
            .told
            .position
            .is_none_or(|told| told.0 != position.0 || told > position)
        {
            let before = &self.recording.chunks()[..position.0];
            let chunk = before.iter().rposition(|chunk| chunk.has(id));
            let messages = chunk
                .map(|chunk| self.recording.messages(chunk))
                .transpose()?;
            let mut messages = messages.unwrap_or_default();
            messages.retain(|message| message.channel == id);
            let last = messages.last();
            self.figures = last.map(|last| parse(Channel::Stats, last)).transpose()?;
        }
        Ok(())
    }

    /// Returns what was said last on the topic that is listened to, if that is news.
    fn hear(&mut self, position: MessagePosition) -> Option<Feed> {
        let topic = self.listens_to.as_deref()?;
        let channels = self.recording.channels();
        let is_heard = |id: u16| {
            let channel = channels.get(&id);
            channel.is_some_and(|channel| channel.own().is_none() && channel.topic == topic)
        };
        let shown = self.loaded.frames[self.frame].time;
        let before = self.told.heard.filter(|told| told.0 == position.0);
        let from = before.map_or(0, |told| told.1 + 1);
        let messages = self.loaded.messages.iter().enumerate().skip(from);
        // Messages stand a little behind the frame of their iteration.
        let mut said = messages.filter(|(_, one)| is_heard(one.channel) && one.sim_time <= shown);
        let (mut index, mut message) = said.next()?;
        let mut count = 1;
        for later in said {
            (index, message) = later;
            count += 1;
        }
        self.told.heard = Some((position.0, index));
        let value: serde_json::Value = serde_json::from_slice(&message.data).unwrap_or_default();
        let mut text = message_text::render(&value);
        text.truncate(text.floor_char_boundary(MESSAGE_TEXT_MAX));
        Some(Feed::Message(Box::new(Heard {
            topic: topic.to_owned(),
            kind: channels[&message.channel].schema.clone(),
            sim_time_s: message.sim_time.seconds(),
            iteration: self.loaded.frames[self.frame].clock.iteration.0,
            bytes: message.data.len(),
            text,
            image: None,
            count,
        })))
    }
}

/// Returns the chunks of a recording that have frames.
fn track<R: Read + Seek>(recording: &mut Recording<R>) -> Result<Vec<TrackChunk>, ReadError> {
    let Some(poses) = recording.channel(Channel::Poses) else {
        return Ok(Vec::new());
    };
    let mut track = Vec::new();
    for chunk in 0..recording.chunks().len() {
        if let Some(start) = recording.first_time(chunk, poses)? {
            track.push(TrackChunk { chunk, start });
        }
    }
    Ok(track)
}

/// Keeps the newest message of each topic alone.
fn newest_of_each(messages: &mut Vec<RecordedMessage>) {
    let mut known = BTreeSet::new();
    messages.reverse();
    messages.retain(|message| known.insert(message.topic.clone()));
    messages.reverse();
}

/// Returns a simulated time; below zero is zero.
fn sim_time(seconds: f64) -> SimTime {
    SimTime((seconds.max(0.0) * 1e9).round() as u64)
}
