//! [`Recorder`]: has a run recorded in a file by a thread of its own, off the stepper.
//!
//! Messages of systems and sensors are never lost on the way: if too much waits to be written, the
//! stepper waits. A file that cannot be written ends the recording and never the run. The thread is
//! not that of other outputs, since it compresses, which takes many times as long as writing, and
//! what waits for it may be much.

mod library;
mod queue;
mod world_files;
mod writing;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use images::Compression;
use lockstep::{Primary, StepReport};
use protocol::action::{ModelChange as StepChange, Spawn};
use protocol::link_offsets::{self, next_frame};
use protocol::primary_to_observers::Event;
use protocol::primary_to_secondary::Step;
use protocol::report::{PeerReport, Stats};
use protocol::{Iteration, Publisher, ScheduledCommand, Sequence, SimTime, TopicMessage};
use recording::content::Figures;
use recording::{
    Clock, LibraryFile, ModelChange, ModelChanges, Moment, RecordingWriter, RosWriter,
    RunDescription, WorldContent,
};
use ros2::{Mapping, Rules};
use run::RecordFormat;

use crate::clock::wall_clock_us;
use crate::journaling::DriverState;
use crate::report::{self, Reporter};
use crate::run_sink::RunView;
use crate::states_file::{StatesFile, changes_models};
use queue::Queue;
use writing::{Entry, EntryWriter, FrameEntry};

pub use library::{RecordedLibrary, RecordingLibrary};
pub use world_files::WorldFiles;
pub use writing::RecordError;

/// The most frames per second of simulated time that can be asked for.
pub const RATE_MAX_HZ: f64 = 1e6;
/// Interval between records of the hosts and times of cells if nothing else changes.
const LEVELS_INTERVAL: Duration = Duration::from_secs(1);

/// Settings of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecorderSettings {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: RecordFormat,
    /// Rules of its topics, if it is for ROS.
    pub rules: Rules,
    /// Frames per second of simulated time; 0 is one per iteration.
    pub rate_hz: f64,
    /// True if every iteration's states are recorded.
    pub has_states: bool,
    /// Form in which images are compressed, if they are.
    pub images: Option<Compression>,
    /// The most that files of the visuals of worlds have together \[bytes\].
    pub visuals_bytes: usize,
}

/// Has a run recorded.
pub struct Recorder {
    feed: RecorderFeed,
    thread: Option<JoinHandle<Result<(), RecordError>>>,
    rate_hz: f64,
    states: Option<StatesFile<Vec<u8>>>,
    next_frame: SimTime,
    last_frame: Option<(Iteration, SimTime)>,
    wants: Wants,
    levels_at: Option<Instant>,
    /// Models that came and left with steps that are not done yet.
    models: ModelChanges,
    /// True if clients say something in the step under way.
    clients_speak: bool,
}

/// Parts that are recorded of the next step that is done, besides those that are due.
struct Wants {
    /// A frame, whatever the time.
    frame: bool,
    /// The hosts of cells.
    levels: bool,
    /// The layout of the worlds.
    world: bool,
}

/// Hands over to the recorder's thread, from any thread.
#[derive(Clone)]
pub struct RecorderFeed(Arc<Queue>);

/// Hands over what is said in steps; once it is gone, no step waits for that.
pub struct SaidFeed(RecorderFeed);

impl Recorder {
    /// Creates the file, or empties it, and starts to record a run of these worlds.
    ///
    /// # Errors
    /// Fails if it cannot be created or written, or the thread cannot be started.
    pub fn start(
        settings: &RecorderSettings,
        description: &RunDescription,
        worlds: &[u8],
        primary: &Primary,
    ) -> io::Result<Self> {
        let sink = BufWriter::new(File::create(&settings.path)?);
        let queue = Arc::new(Queue::default());
        let thread = match settings.format {
            RecordFormat::Phalanx => {
                let writer = RecordingWriter::new(sink, description, worlds);
                spawn(&queue, writer.map_err(io::Error::other)?, settings)?
            }
            RecordFormat::Ros2 => {
                let mapping = Mapping::new(&settings.rules).map_err(io::Error::other)?;
                let writer = RosWriter::new(sink, mapping);
                spawn(&queue, writer.map_err(io::Error::other)?, settings)?
            }
        };
        let step_size = primary.settings().pace.step_size;
        let states = || StatesFile::in_parts(primary.topology(), step_size);
        Ok(Self {
            feed: RecorderFeed(queue),
            thread: Some(thread),
            rate_hz: settings.rate_hz,
            states: settings.has_states.then(states),
            next_frame: SimTime(0),
            last_frame: None,
            wants: Wants {
                frame: true,
                levels: true,
                world: true,
            },
            levels_at: None,
            models: ModelChanges::default(),
            clients_speak: false,
        })
    }

    /// Returns a handle for other threads.
    pub fn feed(&self) -> RecorderFeed {
        self.feed.clone()
    }

    /// Returns the handle for what is said in steps, of which there is one.
    pub fn said_feed(&self) -> SaidFeed {
        SaidFeed(self.feed())
    }

    /// Takes note of the models of a run that is resumed, which its worlds do not have.
    pub fn resume(&mut self, state: &DriverState) {
        let gone = state.gone.iter();
        let gone = gone.map(|model| ModelChange::Leaves { model: *model });
        self.models.changes.extend(gone);
        let spawned = state.spawned.iter().map(|spawn| comes(spawn));
        self.models.changes.extend(spawned);
    }

    /// Takes note of a step that is published.
    pub fn on_step(&mut self, step: &Step) {
        if let Some(states) = &mut self.states {
            states.note_step(step);
        }
        if changes_models(step) {
            self.wants.world = true;
            self.wants.levels = true;
            self.note_models(step);
        }
        self.wants.frame |= step.reset || !step.actions.is_empty();
        let mut messages = step.messages.iter();
        self.clients_speak = messages.any(|message| message.publisher == Publisher::Client);
    }

    /// Records a step that is done; waits when too much waits to be written.
    pub fn on_step_done(&mut self, report: &StepReport, run: &RunView<'_>) {
        let primary = run.primary;
        let time = primary.sim_time();
        for models in std::mem::take(&mut self.models).apart() {
            self.feed.give(Entry::Models(Box::new(models)), time);
        }
        if std::mem::take(&mut self.wants.world) {
            self.give_world(primary, run.reporter, time);
        }
        self.wants.levels |= report.rearranged;
        if !report.paused {
            self.feed
                .give(Entry::Digest(report.iteration, report.digest), time);
        }
        self.record_states(report, primary);
        let is_due = !report.paused && (self.rate_hz == 0.0 || time >= self.next_frame);
        let went_back = self.last_frame.is_some_and(|(_, last)| time < last);
        if is_due || went_back || std::mem::take(&mut self.wants.frame) {
            self.give_frame(report.iteration, report.paused, run);
        }
        if self.clients_speak || report.peers.iter().any(|peer| peer.published > 0) {
            self.feed.0.leave_gap(report.sequence);
        }
        self.feed.0.admit();
    }

    /// Records a command that is part of a step.
    pub fn on_stamped(&self, command: &ScheduledCommand, time: SimTime) {
        let line = lockstep::commands_file::line_of(command);
        self.feed.give(Entry::Command(line), time);
    }

    /// Records what happened.
    pub fn on_event(&self, event: &Event, time: SimTime) {
        self.feed.give(Entry::Event(event.clone()), time);
    }

    /// Records figures of the run and of its processes.
    pub fn on_figures(&self, stats: Stats, peers: Vec<PeerReport>, time: SimTime) {
        let figures = Box::new(Figures { stats, peers });
        self.feed.give(Entry::Figures(figures), time);
    }

    /// Returns what is wrong with the recording, once for each such thing.
    pub fn take_problem(&self) -> Option<String> {
        self.feed.0.take_problem()
    }

    /// Records the last positions of all performers, and completes the file.
    ///
    /// # Errors
    /// Fails if the file lacks anything.
    ///
    /// # Panics
    /// Never: memory takes everything.
    pub fn finish(&mut self, run: &RunView<'_>) -> Result<(), RecordError> {
        let now = (run.primary.iteration(), run.primary.sim_time());
        if self.last_frame.is_some_and(|last| last != now) {
            self.give_frame(now.0, false, run);
        }
        if let Some(states) = &mut self.states {
            states.finish().expect("memory takes everything");
            let part = states.take_part();
            self.feed.give(Entry::States(part), now.1);
        }
        self.end()
    }

    fn end(&mut self) -> Result<(), RecordError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        self.feed.0.end();
        thread.join().unwrap_or(Err(RecordError::Panicked))
    }

    fn note_models(&mut self, step: &Step) {
        if step.reset {
            self.models = ModelChanges {
                anew: true,
                changes: Vec::new(),
            };
        }
        for stamped in &step.actions {
            let change = match stamped.action.model_change() {
                StepChange::Comes(spawn) => comes(spawn),
                StepChange::Leaves(model) => ModelChange::Leaves { model },
                StepChange::None => continue,
            };
            self.models.changes.push(change);
        }
    }

    fn give_world(&self, primary: &Primary, reporter: &Reporter, time: SimTime) {
        let world = Box::new(WorldContent {
            layout: reporter.layout(primary.topology()),
            topics: primary.settings().outputs.topics.clone(),
        });
        self.feed.give(Entry::World(world), time);
    }

    fn give_frame(&mut self, iteration: Iteration, paused: bool, run: &RunView<'_>) {
        let primary = run.primary;
        let time = primary.sim_time();
        let is_old = self
            .levels_at
            .is_none_or(|at| at.elapsed() >= LEVELS_INTERVAL);
        let levels = (std::mem::take(&mut self.wants.levels) || is_old).then(|| {
            self.levels_at = Some(Instant::now());
            run.reporter.levels(primary, run.meter)
        });
        let frame = Box::new(FrameEntry {
            clock: Clock {
                iteration,
                sim_time_ns: time,
                paused,
                events: primary.events(),
            },
            performers: report::performers(primary),
            levels,
        });
        self.feed.give(Entry::Frame(frame), time);
        self.last_frame = Some((iteration, time));
        self.next_frame = next_frame(time, self.rate_hz);
    }

    fn record_states(&mut self, report: &StepReport, primary: &Primary) {
        let Some(states) = &mut self.states else {
            return;
        };
        let written = states.on_step_done(report, primary);
        written.expect("memory takes everything");
        let part = states.take_part();
        if !part.is_empty() {
            self.feed.give(Entry::States(part), primary.sim_time());
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!("{error}");
        }
    }
}

impl RecorderFeed {
    /// Waits until what waits to be written is so little that no step waits for it.
    fn wait_for_room(&self) {
        self.0.wait_for_room();
    }

    /// Says that something is missing that should be recorded.
    fn lacks(&self, what: &str) {
        self.0.tell(format!("the recording lacks some: {what}"));
    }

    fn library(&self, file: LibraryFile) {
        self.give(Entry::Library(Box::new(file)), SimTime(0));
    }

    fn give(&self, entry: Entry, sim_time: SimTime) {
        self.0.push(entry, now(sim_time));
    }
}

impl SaidFeed {
    /// Hands over what was said on topics in a step, in order; never waits.
    pub fn messages(&self, sequence: Sequence, messages: &[TopicMessage]) {
        let is_of_links = |message: &&TopicMessage| message.kind == link_offsets::KIND;
        let links = messages.iter().filter(is_of_links);
        let links: Vec<TopicMessage> = links.cloned().collect();
        let mut said = Vec::new();
        if let Some(first) = links.first() {
            let at = now(first.sim_time);
            said.push((Entry::Links(links), at));
        }
        for message in messages.iter().filter(|message| !is_of_links(message)) {
            said.push((Entry::Message(message.clone()), now(message.sim_time)));
        }
        self.0.0.fill_gap(sequence, said);
    }

    /// Says that something is missing of what was said in a step.
    pub fn lacks(&self, sequence: Sequence, what: &str) {
        self.0.lacks(what);
        self.0.0.fill_gap(sequence, Vec::new());
    }
}

impl Drop for SaidFeed {
    fn drop(&mut self) {
        self.0.0.note_silence();
    }
}

fn now(sim_time: SimTime) -> Moment {
    Moment {
        sim_time,
        wall_ns: wall_clock_us().saturating_mul(1000),
    }
}

fn comes(spawn: &Spawn) -> ModelChange {
    ModelChange::Comes {
        model: spawn.model,
        parcel: spawn.parcel.clone(),
    }
}

/// Starts the thread that writes.
fn spawn(
    queue: &Arc<Queue>,
    writer: impl EntryWriter + Send + 'static,
    settings: &RecorderSettings,
) -> io::Result<JoinHandle<Result<(), RecordError>>> {
    let (queue, path) = (Arc::clone(queue), settings.path.clone());
    let images = settings.images;
    thread::Builder::new()
        .name("recorder".to_owned())
        .spawn(move || writing::write(&queue, writer, images, &path))
}

#[cfg(test)]
mod tests;
