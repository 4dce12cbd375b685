//! [`Player`]: a place in a recording that moves, by itself or when it is asked to.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};
use std::time::Duration;

use client::feed::{Feed, Heard};
use client::message_text;
use client::recorded::{RecordingPlace, ReplayRequest, SPEED_MAX, SPEED_MIN};
use protocol::report::Snapshot;
use protocol::{LinkPose, SimTime};
use recording::content::Figures;
use recording::{Channel, ReadError, Recording};

use super::links::{LinkChannels, LinkTable};
use super::loaded::{FrameAt, Loaded, parse};
use super::models::{ModelTable, ModelsThere};
use super::said::{Place, RecordedMessage, Saying};
use super::survey::{MessagePosition, Survey};
use super::{stats, topics};

/// The longest text of a message that is shown \[bytes\].
const MESSAGE_TEXT_MAX: usize = 64 << 10;

/// Plays a recording.
#[derive(Debug)]
pub struct Player<R> {
    recording: Recording<R>,
    world: String,
    track: Track,
    loaded: Loaded,
    links: LinkTable,
    models: ModelTable,
    survey: Survey,
    has_more: bool,
    playback: Playback,
    /// The last figures before the place.
    figures: Option<Figures>,
    told: SentPositions,
    sayings: Sayings,
}

/// Messages that were said on the way.
#[derive(Debug, Default)]
struct Sayings {
    /// Those of the topics that somebody takes, if anybody does.
    said: Option<Saying>,
    /// Those of the topic that the view listens to.
    heard: Option<Saying>,
}

/// The frames of a recording, and the one that is shown.
#[derive(Debug)]
struct Track {
    /// The chunks with frames.
    chunks: Vec<TrackChunk>,
    /// Index of a chunk among them.
    at: usize,
    /// Index of the frame of that chunk that is shown.
    frame: usize,
}

/// The way that a player moves by itself.
#[derive(Debug)]
struct Playback {
    is_playing: bool,
    speed: f64,
    /// Time beyond the frame that is shown \[ns\].
    ahead_ns: f64,
    /// Time at which playing stops, if not at the end.
    until: Option<SimTime>,
}

impl Playback {
    /// Begins anew at the frame that is shown, without a time at which to stop.
    fn begin(&mut self) {
        (self.ahead_ns, self.until) = (0.0, None);
    }
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
}

impl<R: Read + Seek> Player<R> {
    /// Starts at the first frame of a recording.
    ///
    /// # Errors
    /// Fails if the recording cannot be read, or no frame is in it.
    pub fn new(mut recording: Recording<R>) -> Result<Self, ReadError> {
        let chunks = track(&mut recording)?;
        if chunks.is_empty() {
            return Err(ReadError::Content("no frame is in it".to_owned()));
        }
        let mut player = Self {
            world: recording.description().worlds.join("+"),
            recording,
            track: Track {
                chunks,
                at: 0,
                frame: 0,
            },
            loaded: Loaded::default(),
            links: LinkTable::default(),
            models: ModelTable::default(),
            survey: Survey::default(),
            has_more: true,
            playback: Playback {
                is_playing: false,
                speed: 1.0,
                ahead_ns: 0.0,
                until: None,
            },
            figures: None,
            told: SentPositions::default(),
            sayings: Sayings::default(),
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
        self.playback.is_playing
    }

    /// Returns where it is.
    pub fn position(&self) -> RecordingPlace {
        let chunks = self.recording.chunks();
        let start = self.track.chunks.iter().map(|one| one.start).min();
        let end = self
            .track
            .chunks
            .iter()
            .map(|one| chunks[one.chunk].end)
            .max();
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        let now = self.loaded.frames[self.track.frame].time;
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
            speed: self.playback.speed,
            is_playing: self.playback.is_playing,
        }
    }

    /// Tells whether the last frame is shown.
    pub fn is_at_end(&self) -> bool {
        self.next_time().is_none()
    }

    /// Keeps what is said on all topics from the current place on, for [`Self::take_said`]. Nothing
    /// is said of what is jumped over.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn keep_said(&mut self) -> Result<(), ReadError> {
        let index = self.loaded.frames[self.track.frame].index;
        let next = if (self.track.at, self.track.frame) == (0, 0) {
            (0, 0)
        } else {
            (self.loaded.chunk, index + 1)
        };
        self.sayings.said = Some(Saying::of_all(&self.recording, next));
        self.say_on()
    }

    /// Keeps what is said on some topics, for [`Self::take_said`]: now and after each jump what was
    /// said last on each, then every message on the way.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn listen_to(&mut self, topics: &BTreeSet<String>) -> Result<(), ReadError> {
        let waiting = self.take_said();
        let mut said = Saying::of(&self.recording, |topic| topics.contains(topic));
        let (recording, place, _) = self.parts();
        said.jump(recording, &place)?;
        said.put_before(waiting);
        self.sayings.said = Some(said);
        Ok(())
    }

    /// Takes what was said on topics on the way since then.
    pub fn take_said(&mut self) -> Vec<RecordedMessage> {
        self.sayings
            .said
            .as_mut()
            .map(Saying::take)
            .unwrap_or_default()
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
        if !self.playback.is_playing {
            return Ok(());
        }
        self.playback.ahead_ns += elapsed.as_nanos() as f64 * self.playback.speed;
        loop {
            let now = self.loaded.frames[self.track.frame].time;
            let is_reached = self.playback.until.is_some_and(|until| now >= until);
            let next = self.next_time().filter(|_| !is_reached);
            let Some(next) = next else {
                self.playback.is_playing = false;
                if !is_reached {
                    self.say_end()?;
                }
                self.playback.begin();
                return Ok(());
            };
            // After a reset, time begins anew: the next frame follows at once.
            let way_ns = next.0.saturating_sub(now.0) as f64;
            if way_ns > self.playback.ahead_ns {
                return Ok(());
            }
            self.playback.ahead_ns -= way_ns;
            self.forward()?;
            if self.sayings.said.as_ref().is_some_and(Saying::is_full) {
                // It goes on once that is taken, and more slowly than was asked for.
                self.playback.ahead_ns = 0.0;
                return Ok(());
            }
        }
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn act(&mut self, request: ReplayRequest) -> Result<(), ReadError> {
        if !matches!(request, ReplayRequest::Speed(_)) {
            self.playback.begin();
        }
        let has_jumped = match request {
            ReplayRequest::Play => {
                let is_over = self.next_time().is_none();
                if is_over {
                    self.load(0)?;
                }
                self.playback.is_playing = true;
                is_over
            }
            ReplayRequest::Pause => {
                self.playback.is_playing = false;
                false
            }
            ReplayRequest::Step(count) => {
                self.step(count)?;
                count < 0
            }
            ReplayRequest::Seek(time_s) => {
                self.seek(sim_time(time_s))?;
                true
            }
            ReplayRequest::RunTo(time_s) => {
                self.playback.until = Some(sim_time(time_s));
                self.playback.is_playing = true;
                false
            }
            ReplayRequest::SeekBy(share) => {
                let position = self.position();
                let length = position.end.0.saturating_sub(position.start.0) as f64;
                let time = position.now.0 as f64 + share * length;
                self.seek(SimTime(time.max(0.0) as u64))?;
                true
            }
            ReplayRequest::Start => {
                self.load(0)?;
                true
            }
            ReplayRequest::End => {
                self.load(self.track.chunks.len() - 1)?;
                self.track.frame = self.loaded.frames.len() - 1;
                true
            }
            ReplayRequest::Speed(speed) => {
                self.playback.speed = speed.clamp(SPEED_MIN, SPEED_MAX);
                false
            }
        };
        if has_jumped {
            let (recording, place, sayings) = self.parts();
            for saying in sayings.into_iter().flatten() {
                saying.jump(recording, &place)?;
            }
        }
        Ok(())
    }

    /// Listens to a topic, and to no other.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn listen(&mut self, topic: Option<&str>) -> Result<(), ReadError> {
        self.sayings.heard = topic.map(|topic| Saying::of(&self.recording, |one| one == topic));
        let (recording, place, [_, heard]) = self.parts();
        if let Some(heard) = heard {
            heard.jump(recording, &place)?;
        }
        Ok(())
    }

    /// Returns the feeds that bring the view to the current place.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn feed(&mut self) -> Result<Vec<Feed>, ReadError> {
        let mut feeds = Vec::new();
        let position = (
            self.loaded.chunk,
            self.loaded.frames[self.track.frame].index,
        );
        if self.told.position.is_some_and(|told| told > position) {
            feeds.push(Feed::Rewound);
            self.told.extent = None;
        }
        if let Some((told, world)) = self.survey.world(position)
            && self.told.world != Some(told)
        {
            self.told.world = Some(told);
            feeds.push(Feed::Layout(Box::new(world.layout.clone())));
            feeds.push(Feed::Topics(topics::offered(&world.topics, &self.topics())));
        }
        let shown = self.snapshot()?;
        feeds.push(Feed::Snapshot(Box::new(shown)));
        let extent = self.survey.extent(position);
        if self.told.extent != Some(extent) {
            self.told.extent = Some(extent);
            feeds.push(Feed::History(Box::new(self.survey.past(position))));
        }
        feeds.extend(self.hear());
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
        self.links.go_to(&self.loaded, self.track.frame, channels)?;
        let has_changed = self.links.take_changed();
        Ok(has_changed.then(|| self.links.poses()))
    }

    /// Returns the number of times that models came or left up to the current place.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub(super) fn count_model_changes(&mut self) -> Result<usize, ReadError> {
        let position = (
            self.loaded.chunk,
            self.loaded.frames[self.track.frame].index,
        );
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
        let position = (
            self.loaded.chunk,
            self.loaded.frames[self.track.frame].index,
        );
        self.note_figures(position)?;
        let frame = self.loaded.poses(self.track.frame)?;
        let at = &self.loaded.frames[self.track.frame];
        let (figures, place) = (self.figures.as_ref(), self.position());
        Ok(stats::snapshot(&self.world, at, frame, figures, place))
    }

    fn step(&mut self, count: i64) -> Result<(), ReadError> {
        self.playback.is_playing = false;
        for _ in 0..count.unsigned_abs() {
            let has_moved = if count > 0 {
                self.forward()?
            } else {
                self.backward()?
            };
            if !has_moved {
                break;
            }
            for saying in [&mut self.sayings.said, &mut self.sayings.heard]
                .into_iter()
                .flatten()
            {
                if saying.is_full() {
                    saying.thin();
                }
            }
        }
        Ok(())
    }

    /// Goes to the first frame of a chunk of the track.
    fn load(&mut self, at: usize) -> Result<(), ReadError> {
        if self.track.at != at || self.loaded.frames.is_empty() {
            let loaded = Loaded::read(&mut self.recording, self.track.chunks[at].chunk)?;
            if loaded.frames.is_empty() {
                let reason = "the index names frames that are not there".to_owned();
                return Err(ReadError::Content(reason));
            }
            (self.loaded, self.track.at) = (loaded, at);
        }
        self.track.frame = 0;
        Ok(())
    }

    /// Returns the time of the next frame, if there is one.
    fn next_time(&self) -> Option<SimTime> {
        if let Some(next) = self.loaded.frames.get(self.track.frame + 1) {
            return Some(next.time);
        }
        self.next_start(self.track.at)
    }

    /// Goes to the next frame, if there is one.
    fn forward(&mut self) -> Result<bool, ReadError> {
        if self.track.frame + 1 < self.loaded.frames.len() {
            self.track.frame += 1;
        } else if self.track.at + 1 < self.track.chunks.len() {
            self.load(self.track.at + 1)?;
        } else {
            return Ok(false);
        }
        self.say_on()?;
        Ok(true)
    }

    /// Has be said what stands on the way to the current place.
    fn say_on(&mut self) -> Result<(), ReadError> {
        let (recording, place, sayings) = self.parts();
        for saying in sayings.into_iter().flatten() {
            saying.go_on(recording, &place)?;
        }
        Ok(())
    }

    /// Has be said what stands behind the last frame.
    fn say_end(&mut self) -> Result<(), ReadError> {
        let (recording, place, sayings) = self.parts();
        for saying in sayings.into_iter().flatten() {
            saying.finish(recording, &place)?;
        }
        Ok(())
    }

    /// Returns the recording, the current place in it, and what is said of it.
    fn parts(&mut self) -> (&mut Recording<R>, Place<'_>, [&mut Option<Saying>; 2]) {
        let following = self
            .track
            .chunks
            .get(self.track.at + 1)
            .map(|next| next.chunk);
        let last = self.recording.chunks().len() - 1;
        let place = Place {
            loaded: &self.loaded,
            frame: self.track.frame,
            last_chunk: following.unwrap_or(last),
            poses: self.recording.channel(Channel::Poses),
        };
        let sayings = [&mut self.sayings.said, &mut self.sayings.heard];
        (&mut self.recording, place, sayings)
    }

    /// Goes to the frame before, if there is one.
    fn backward(&mut self) -> Result<bool, ReadError> {
        if self.track.frame > 0 {
            self.track.frame -= 1;
        } else if self.track.at > 0 {
            self.load(self.track.at - 1)?;
            self.track.frame = self.loaded.frames.len() - 1;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Goes to the last frame that is not later than a time. Where time was set back in the run, in
    /// the last part that reaches this time; if none does, in the last that begins before it.
    fn seek(&mut self, time: SimTime) -> Result<(), ReadError> {
        for at in (0..self.track.chunks.len()).rev() {
            if !self.may_show(at, time) {
                continue;
            }
            self.load(at)?;
            if let Some(frame) = self.shown_at(time) {
                self.track.frame = frame;
                return Ok(());
            }
        }
        let begins_before = |one: &TrackChunk| one.start <= time;
        let at = self
            .track
            .chunks
            .iter()
            .rposition(begins_before)
            .unwrap_or(0);
        self.load(at)?;
        let is_before = |frame: &FrameAt| frame.time <= time;
        let frame = self.loaded.frames.iter().rposition(is_before);
        self.track.frame = frame.unwrap_or(0);
        Ok(())
    }

    /// Tells whether a frame of a chunk may be what is shown at a time.
    fn may_show(&self, at: usize, time: SimTime) -> bool {
        let TrackChunk { chunk, start } = self.track.chunks[at];
        let reaches = self.recording.chunks()[chunk].end >= time;
        start <= time && (reaches || self.next_start(at).is_some_and(|next| next > time))
    }

    /// Returns the last frame of the chunk in memory that is of a time, or is followed by a later
    /// one.
    fn shown_at(&self, time: SimTime) -> Option<usize> {
        let times = self.loaded.frames.iter().map(|frame| frame.time);
        let next = times.clone().skip(1).map(Some);
        let next = next.chain([self.next_start(self.track.at)]);
        let pairs: Vec<_> = times.zip(next).collect();
        pairs.into_iter().rposition(|(own, next)| {
            own == time || (own < time && next.is_some_and(|next| next > time))
        })
    }

    /// Returns when the chunk after one begins.
    fn next_start(&self, at: usize) -> Option<SimTime> {
        self.track.chunks.get(at + 1).map(|next| next.start)
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
    fn hear(&mut self) -> Option<Feed> {
        let mut passed = self.sayings.heard.as_mut()?.take();
        let count = passed.len();
        let message = passed.pop()?;
        let value: serde_json::Value = serde_json::from_slice(&message.json).unwrap_or_default();
        let mut text = message_text::render(&value);
        text.truncate(text.floor_char_boundary(MESSAGE_TEXT_MAX));
        Some(Feed::Message(Box::new(Heard {
            topic: message.topic,
            kind: message.kind,
            sim_time_s: message.sim_time.seconds(),
            iteration: self.loaded.frames[self.track.frame].clock.iteration.0,
            bytes: message.json.len(),
            text,
            image: None,
            count: count as u64,
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

/// Returns a simulated time; below zero is zero.
fn sim_time(seconds: f64) -> SimTime {
    SimTime((seconds.max(0.0) * 1e9).round() as u64)
}
