//! [`Survey`]: what happened in a recording, and what it took, up to any place in it.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use protocol::primary_to_observers::Event;
use protocol::report::{EVENTS_MAX, History, HistorySample, SAMPLES_MAX, StepHistogram};
use recording::content::{Figures, LogMessage};
use recording::{Channel, ReadError, Recording, WorldContent};

use super::loaded::parse;
use super::models::ModelTable;

/// Number of events, and of statistics, that are kept; later ones in a file are not shown.
const ENTRIES_MAX: usize = 200_000;
/// Number of descriptions of the world that are kept.
const WORLDS_MAX: usize = 1_000;

/// A place in a recording: the chunk, and the message in it.
pub(super) type MessagePosition = (usize, usize);

/// Events, statistics and descriptions of the world in a recording.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The first chunk that was not looked at.
    next: usize,
    events: BTreeMap<MessagePosition, Event>,
    figures: BTreeMap<MessagePosition, FiguresAt>,
    worlds: BTreeMap<MessagePosition, WorldContent>,
}

/// Figures of a second.
#[derive(Clone, Debug)]
struct FiguresAt {
    /// The wall clock \[ns since 1970\].
    wall_ns: u64,
    sample: HistorySample,
    /// True if time ran.
    is_sample: bool,
}

impl Survey {
    /// Looks at the next chunk, also for models that come and leave; tells whether there is another
    /// one.
    pub(super) fn go_on<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        models: &mut ModelTable,
    ) -> Result<bool, ReadError> {
        let Some(chunk) = self.following(recording) else {
            return Ok(false);
        };
        self.next = chunk + 1;
        let wanted = [Channel::Events, Channel::Stats, Channel::World];
        let ids = wanted.map(|channel| recording.channel(channel));
        let messages = recording.messages(chunk)?;
        if let Some(id) = recording.channel(Channel::Models) {
            models.note(chunk, id, &messages)?;
        }
        for (index, message) in messages.iter().enumerate() {
            let channel = ids.iter().position(|id| *id == Some(message.channel));
            let position = (chunk, index);
            match channel.map(|channel| wanted[channel]) {
                Some(Channel::Events) if self.events.len() < ENTRIES_MAX => {
                    let log: LogMessage = parse(Channel::Events, message)?;
                    self.events.insert(position, log.event());
                }
                Some(Channel::Stats) if self.figures.len() < ENTRIES_MAX => {
                    let figures: Figures = parse(Channel::Stats, message)?;
                    let figures = FiguresAt::new(&figures, message.wall_ns);
                    self.figures.insert(position, figures);
                }
                Some(Channel::World) if self.worlds.len() < WORLDS_MAX => {
                    self.worlds
                        .insert(position, parse(Channel::World, message)?);
                }
                _ => {}
            }
        }
        Ok(self.following(recording).is_some())
    }

    /// Returns the world as it is at a place, with the place where that is told.
    pub(super) fn world(
        &self,
        position: MessagePosition,
    ) -> Option<(MessagePosition, &WorldContent)> {
        let told = self.worlds.range(..=position).next_back();
        let told = told.or_else(|| self.worlds.first_key_value());
        told.map(|(position, world)| (*position, world))
    }

    /// Returns how much is told of what was before a place; when it is the same, so is the past.
    pub(super) fn extent(&self, position: MessagePosition) -> (usize, usize) {
        let (events, figures) = (
            self.events.range(..=position),
            self.figures.range(..=position),
        );
        (events.count(), figures.count())
    }

    /// Returns what was before a place.
    pub(super) fn past(&self, position: MessagePosition) -> History {
        let events = self.events.range(..=position).rev().take(EVENTS_MAX);
        let mut events: Vec<Event> = events.map(|(_, event)| event.clone()).collect();
        events.reverse();
        let figures = self.figures.range(..=position).map(|(_, figures)| figures);
        let now = figures.clone().next_back().map_or(0, |last| last.wall_ns);
        let samples = figures.rev().filter(|one| one.is_sample).take(SAMPLES_MAX);
        let aged = |one: &FiguresAt| HistorySample {
            age_s: now.saturating_sub(one.wall_ns) as f64 / 1e9,
            ..one.sample
        };
        let mut samples: Vec<HistorySample> = samples.map(aged).collect();
        samples.reverse();
        History {
            events,
            samples,
            steps: StepHistogram::default(),
        }
    }

    /// Returns the next chunk with anything that is looked for.
    fn following<R: Read + Seek>(&self, recording: &Recording<R>) -> Option<usize> {
        let wanted = [
            Channel::Events,
            Channel::Stats,
            Channel::World,
            Channel::Models,
        ];
        let wanted = wanted.map(|channel| recording.channel(channel));
        let chunks = recording.chunks();
        (self.next..chunks.len())
            .find(|chunk| wanted.iter().flatten().any(|id| chunks[*chunk].has(*id)))
    }
}

impl FiguresAt {
    fn new(figures: &Figures, wall_ns: u64) -> Self {
        let stats = &figures.stats;
        Self {
            wall_ns,
            sample: HistorySample {
                age_s: 0.0,
                iteration: stats.iteration,
                real_time_factor: stats.real_time_factor,
                step_us: stats.recent_step_us,
                split: stats.split,
            },
            is_sample: stats.split.period_us() > 0.0,
        }
    }
}
