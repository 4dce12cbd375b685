//! [`RunState`]: all that is known of the run, and the messages on `/phalanx/run`.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use client::feed::Feed;
use client::recorded::RecordingPlace;
use protocol::primary_to_observers::{Announce, Event};
use protocol::report::{LevelReport, PeerReport, PerformerReport, Stats, TopicReport, holder};
use protocol::{PrimaryToObservers, StopReason};
use serde_json::{Value, json};

use crate::pose_table::{Belonging, NOBODY};

/// Number of events that are told to whoever comes.
const EVENTS_MAX: usize = 200;
/// Number of performers up to which all of them are told in each message.
const PERFORMERS_EACH_TIME: usize = 100;
/// Messages from one with all performers to the next, where there are many.
const PERFORMERS_EVERY: u64 = 5;
/// The kind of message by which robots are driven.
const TWIST: &str = "gz.msgs.Twist";

/// All that is known of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunState {
    /// The run's name.
    name: String,
    access: Access,
    stats: Option<Stats>,
    peers: Vec<PeerReport>,
    levels: Vec<LevelReport>,
    performers: Vec<PerformerReport>,
    /// Topics, once they were told.
    topics: Option<Vec<TopicReport>>,
    places: Places,
    events: LastEvents,
    /// Reason why the run ends or ended.
    stopping: Option<StopReason>,
    recording: Option<RecordingPlace>,
    /// Number of messages so far.
    told: u64,
}

/// Access of this process to the run.
#[derive(Clone, Debug, Default)]
struct Access {
    link: LinkState,
    /// Reason why the run does not let this observer in.
    problem: Option<String>,
    /// True if the run has refused to be controlled by this process.
    is_read_only: bool,
}

/// State of the connection to the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinkState {
    /// Not yet.
    #[default]
    Connecting,
    /// It is.
    Up,
    /// Not any more.
    Lost,
}

/// Places of owners and levels, to which poses refer.
#[derive(Clone, Debug, Default)]
struct Places {
    /// Names of all owners so far.
    owners: Vec<String>,
    by_owner: BTreeMap<String, u16>,
    by_level: BTreeMap<String, u16>,
}

impl Places {
    /// Returns the place of an owner among all that were ever known.
    fn of_owner(&mut self, name: &str) -> u16 {
        if let Some(place) = self.by_owner.get(name) {
            return *place;
        }
        let place = u16::try_from(self.owners.len()).unwrap_or(NOBODY);
        if place != NOBODY {
            self.owners.push(name.to_owned());
            self.by_owner.insert(name.to_owned(), place);
        }
        place
    }

    fn set_levels(&mut self, levels: &[LevelReport]) {
        let places = levels.iter().enumerate();
        let places = places.map(|(place, level)| (level.name.clone(), place as u16));
        self.by_level = places.collect();
    }

    fn of_level(&self, name: &str) -> u16 {
        self.by_level.get(name).copied().unwrap_or(NOBODY)
    }
}

/// The last events, with their numbers.
#[derive(Clone, Debug, Default)]
struct LastEvents {
    kept: VecDeque<(u64, Event)>,
    /// Number of the next one.
    next: u64,
}

impl LastEvents {
    fn add(&mut self, event: &Event) {
        self.kept.push_back((self.next, event.clone()));
        self.next += 1;
        if self.kept.len() > EVENTS_MAX {
            self.kept.pop_front();
        }
    }

    /// Forgets the events; the next one has the next number.
    fn clear(&mut self) {
        self.kept.clear();
    }
}

/// Parts of the state that have changed by some news.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Performers have moved.
    pub(crate) poses: bool,
    /// There may be other topics.
    pub(crate) topics: bool,
    /// Everything is of another run, or another time of the recording.
    pub(crate) all: bool,
}

impl RunState {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Takes in news.
    pub(crate) fn note(&mut self, feed: &Feed) -> Changed {
        let mut changed = Changed::default();
        match feed {
            Feed::Status(status) => changed.poses = self.note_status(status),
            Feed::Snapshot(snapshot) => {
                self.access.link = LinkState::Up;
                self.stats = Some(snapshot.stats.clone());
                self.set_peers(&snapshot.peers);
                self.set_levels(&snapshot.levels);
                self.performers.clone_from(&snapshot.performers);
                changed.poses = true;
            }
            Feed::History(history) => {
                // What was heard while the question was on its way is in it, too.
                self.events.clear();
                for event in history.events.iter().rev().take(EVENTS_MAX).rev() {
                    self.events.add(event);
                }
            }
            Feed::Topics(topics) => {
                changed.topics = self.topics() != topics;
                self.topics = Some(topics.clone());
            }
            Feed::Connected => {
                // The role of a key may be another by now.
                self.access = Access {
                    link: LinkState::Up,
                    ..Access::default()
                };
            }
            Feed::Disconnected => self.access.link = LinkState::Lost,
            Feed::Denied(reason) => self.access.problem = Some(reason.clone()),
            Feed::StartedAnew => {
                let next_event = self.events.next;
                *self = Self::new(&self.name);
                (self.access.link, self.events.next) = (LinkState::Up, next_event);
                changed.all = true;
            }
            Feed::Recording(place) => self.recording = Some(*place),
            Feed::Rewound => {
                self.events.clear();
                changed.all = true;
            }
            Feed::Layout(_)
            | Feed::Message(_)
            | Feed::Log(_)
            | Feed::Logs(_)
            | Feed::StartUp(_)
            | Feed::Reply { .. }
            | Feed::Ended(_) => {}
        }
        changed
    }

    /// Takes in what the primary says; tells whether performers have moved.
    fn note_status(&mut self, status: &PrimaryToObservers) -> bool {
        match status {
            PrimaryToObservers::Stats { stats, peers } => {
                self.stats = Some((**stats).clone());
                self.set_peers(peers);
            }
            PrimaryToObservers::Affinity(levels) => self.set_levels(levels),
            PrimaryToObservers::Poses(performers) => {
                self.performers.clone_from(performers);
                return true;
            }
            PrimaryToObservers::Event(event) => self.events.add(event),
            PrimaryToObservers::Announce(Announce::Stopping(reason)) => {
                self.stopping = Some(reason.clone());
            }
            // Figures are of one moment: the clock comes with them.
            PrimaryToObservers::Clock(_)
            | PrimaryToObservers::Announce(Announce::Joined(_) | Announce::Left { .. })
            | PrimaryToObservers::Heartbeat(_) => {}
        }
        false
    }

    fn set_peers(&mut self, peers: &[PeerReport]) {
        self.peers = peers.to_vec();
        for peer in peers.iter().filter(|peer| peer.hosts_cells()) {
            self.places.of_owner(peer.name.as_str());
        }
    }

    fn set_levels(&mut self, levels: &[LevelReport]) {
        self.levels = levels.to_vec();
        self.places.set_levels(levels);
    }

    /// Returns the places of a performer's owner and level.
    pub(crate) fn belonging(&mut self, performer: &PerformerReport) -> Belonging {
        let owner = performer.owner.as_ref();
        Belonging {
            owner: owner.map_or(NOBODY, |owner| self.places.of_owner(owner.as_str())),
            level: self.places.of_level(&performer.level),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn take_performers(&mut self) -> Vec<PerformerReport> {
        std::mem::take(&mut self.performers)
    }

    pub(crate) fn put_performers(&mut self, performers: Vec<PerformerReport>) {
        self.performers = performers;
    }

    /// Takes note that the run refuses whatever this process commands.
    pub(crate) fn note_read_only(&mut self) {
        self.access.is_read_only = true;
    }

    pub(crate) fn topics(&self) -> &[TopicReport] {
        self.topics.as_deref().unwrap_or_default()
    }

    /// Tells whether it is known which topics there are.
    pub(crate) fn knows_topics(&self) -> bool {
        self.topics.is_some()
    }

    pub(crate) fn recording(&self) -> Option<&RecordingPlace> {
        self.recording.as_ref()
    }

    /// Returns the reason why the run does not let this observer in, or cannot be read.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.access.problem.as_deref()
    }

    /// Returns the last completed iteration.
    pub(crate) fn iteration(&self) -> u64 {
        self.stats.as_ref().map_or(0, |stats| stats.iteration)
    }

    /// Returns the simulated time \[ns\].
    pub(crate) fn time_ns(&self) -> u64 {
        match (&self.recording, &self.stats) {
            (Some(place), _) => place.now.0,
            (None, Some(stats)) => (stats.sim_time_s * 1e9).round() as u64,
            (None, None) => 0,
        }
    }

    /// Returns the simulated time after an iteration, as far as steps are as long as those so far
    /// \[ns\].
    pub(crate) fn time_of(&self, iteration: u64) -> u64 {
        let Some(stats) = self.stats.as_ref().filter(|stats| stats.iteration > 0) else {
            return self.time_ns();
        };
        let step_s = stats.sim_time_s / stats.iteration as f64;
        (step_s * iteration as f64 * 1e9).round() as u64
    }

    /// Returns the time by which actors move at a simulated time \[s\].
    pub(crate) fn elapsed_s(&self, time_ns: u64) -> f64 {
        let sim_time_s = time_ns as f64 * 1e-9;
        match (&self.recording, &self.stats) {
            (None, Some(stats)) => stats.elapsed_at(sim_time_s),
            _ => sim_time_s,
        }
    }

    /// Tells whether anything moves of which reports tell.
    pub(crate) fn has_performers(&self) -> bool {
        !self.performers.is_empty()
    }

    /// Returns whether time is paused, if that is known.
    pub(crate) fn is_paused(&self) -> Option<bool> {
        match &self.recording {
            Some(place) => Some(!place.is_playing),
            None => self.stats.as_ref().map(|stats| stats.paused),
        }
    }

    /// Returns the pace that is asked for, simulated over real time.
    pub(crate) fn pace(&self) -> Option<f64> {
        match &self.recording {
            Some(place) => Some(place.speed),
            None => self
                .stats
                .as_ref()
                .map(|stats| stats.real_time_factor_asked),
        }
    }

    /// Returns the state in a word.
    fn state(&self) -> &'static str {
        use protocol::report::RunState as State;

        if let Some(place) = &self.recording {
            return if place.is_playing {
                "running"
            } else {
                "paused"
            };
        }
        match (self.access.link, &self.stats) {
            (LinkState::Lost, _) if self.stopping.is_some() => "ended",
            (LinkState::Lost, _) => "lost",
            (_, None) => "connecting",
            (_, Some(stats)) => match stats.state {
                State::Waiting => "waiting",
                State::Paused => "paused",
                State::Running => "running",
                State::Recovering => "recovering",
                State::Stopping => "stopping",
            },
        }
    }

    /// Returns the message for everybody; `is_whole` has it tell all performers.
    pub(crate) fn message(&mut self, is_whole: bool) -> Bytes {
        let is_their_turn = self.told.is_multiple_of(PERFORMERS_EVERY);
        let has_performers =
            is_whole || is_their_turn || self.performers.len() <= PERFORMERS_EACH_TIME;
        self.told += 1;
        let mut message = self.figures();
        message["events"] = self.events.kept.iter().map(event).collect();
        message["secondaries"] = self.secondaries();
        message["levels"] = self.levels.iter().map(|level| json!(level)).collect();
        if has_performers {
            message["performers"] = self.performer_list();
        }
        message.to_string().into()
    }

    /// Returns the figures of the run as a whole.
    fn figures(&self) -> Value {
        let stats = self.stats.as_ref();
        let work_us = stats.map_or(0.0, |stats| stats.split.physics_us + stats.split.systems_us);
        let holder = holder(&self.peers, work_us).map(|peer| {
            let reason = format!(
                "steps would be {:.0} us shorter without it",
                peer.blocked_us
            );
            json!({ "peer": peer.name, "reason": reason })
        });
        let recording = self.recording.as_ref().map(|place| {
            json!({
                "start_s": place.start.seconds(), "end_s": place.end.seconds(),
                "now_s": place.now.seconds(), "speed": place.speed,
                "is_playing": place.is_playing,
            })
        });
        let takes_commands = !self.access.is_read_only && self.recording.is_none();
        let topics = self.topics().iter().filter(|_| takes_commands);
        let drive = topics.filter(|topic| topic.kind == TWIST);
        let drive = drive.flat_map(|topic| {
            let model = |subscriber: &String| model_of(subscriber).to_owned();
            let mut models: Vec<String> = topic.subscribers.iter().map(model).collect();
            models.dedup();
            models
                .into_iter()
                .map(|model| json!({ "model": model, "topic": topic.topic }))
        });
        json!({
            "run": self.name,
            "world": stats.map(|stats| &stats.world),
            "state": self.state(),
            "read_only": self.access.is_read_only,
            "iteration": self.iteration(),
            "sim_time_s": self.time_ns() as f64 / 1e9,
            "real_time_factor": stats.map(|stats| stats.real_time_factor),
            "steps_per_second": stats.map(|stats| stats.steps_per_s),
            "pace": self.pace(),
            "digest": stats.map(|stats| stats.digest),
            "stats": stats,
            "holder": holder,
            "owners": self.places.owners,
            "recording": recording,
            "drive": drive.collect::<Vec<Value>>(),
            "end": self.stopping.as_ref().map(|reason| json!({
                "outcome": reason.outcome.to_string(), "cause": reason.cause,
            })),
            "problem": self.access.problem,
        })
    }

    fn secondaries(&self) -> Value {
        let workers = self.peers.iter().filter(|peer| peer.hosts_cells());
        let described = workers.map(|peer| {
            let mut described = json!(peer);
            described["step_ms"] = json!(peer.busy_us / 1e3);
            described
        });
        described.collect()
    }

    fn performer_list(&self) -> Value {
        let mut ghosts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for level in &self.levels {
            for ghost in &level.ghosts {
                ghosts.entry(ghost).or_default().push(&level.name);
            }
        }
        let described = self.performers.iter().map(|one| {
            let speed = one
                .linear_velocity
                .iter()
                .map(|part| part * part)
                .sum::<f64>()
                .sqrt();
            let mut described = json!(one);
            described["speed"] = json!(speed);
            described["ghosts"] = json!(ghosts.get(&*one.name));
            described
        });
        described.collect()
    }
}

/// Returns the model of a subscriber `model: system`.
fn model_of(subscriber: &str) -> &str {
    subscriber
        .rsplit_once(": ")
        .map_or(subscriber, |(model, _)| model)
}

fn event((number, event): &(u64, Event)) -> Value {
    json!({
        "number": number, "iteration": event.iteration.0, "severity": event.severity,
        "kind": event.kind, "text": event.text,
    })
}

#[cfg(test)]
mod tests {
    use protocol::primary_to_observers::Severity;
    use protocol::{Iteration, Outcome};

    use super::*;

    fn read(state: &mut RunState) -> Value {
        serde_json::from_slice(&state.message(true)).unwrap()
    }

    fn happened(text: &str) -> Feed {
        Feed::Status(PrimaryToObservers::Event(Event {
            iteration: Iteration(1),
            severity: Severity::Info,
            kind: "run".to_owned(),
            text: text.to_owned(),
        }))
    }

    #[test]
    fn a_run_that_is_lost_says_so_and_what_ended_has_a_reason() {
        let mut state = RunState::new("demo");
        assert_eq!(read(&mut state)["state"], "connecting");
        state.note(&Feed::Connected);
        state.note(&Feed::Disconnected);
        assert_eq!(read(&mut state)["state"], "lost");
        let reason = StopReason::new(Outcome::Completed, "all is done");
        let stopping = PrimaryToObservers::Announce(Announce::Stopping(reason));
        state.note(&Feed::Status(stopping));
        let message = read(&mut state);
        assert_eq!(message["state"], "ended");
        assert_eq!(message["end"]["cause"], "all is done");
        assert!(state.note(&Feed::StartedAnew).all);
        assert_eq!(read(&mut state)["end"], Value::Null);
    }

    #[test]
    fn events_keep_their_numbers_and_old_ones_go() {
        let mut state = RunState::new("demo");
        for number in 0..EVENTS_MAX + 5 {
            state.note(&happened(&number.to_string()));
        }
        let message = read(&mut state);
        let events = message["events"].as_array().unwrap();
        assert_eq!(events.len(), EVENTS_MAX);
        assert_eq!(
            (&events[0]["number"], &events[0]["text"]),
            (&json!(5), &json!("5"))
        );
    }

    #[test]
    fn a_run_that_refuses_commands_can_only_be_watched_until_it_is_reached_anew() {
        let mut state = RunState::new("demo");
        state.note(&Feed::Topics(vec![TopicReport {
            topic: "/cmd_vel".to_owned(),
            kind: TWIST.to_owned(),
            publishers: Vec::new(),
            subscribers: vec!["rover: DiffDrive".to_owned()],
        }]));
        assert_eq!(read(&mut state)["read_only"], false);
        state.note_read_only();
        let message = read(&mut state);
        assert_eq!(message["read_only"], true);
        assert_eq!(message["drive"], json!([]));
        state.note(&Feed::Connected);
        assert_eq!(read(&mut state)["read_only"], false);
    }

    #[test]
    fn robots_are_driven_by_topics_that_their_systems_hear() {
        let mut state = RunState::new("demo");
        state.note(&Feed::Topics(vec![TopicReport {
            topic: "/cmd_vel".to_owned(),
            kind: TWIST.to_owned(),
            publishers: Vec::new(),
            subscribers: vec!["rover: DiffDrive".to_owned()],
        }]));
        let drive = &read(&mut state)["drive"];
        assert_eq!(*drive, json!([{ "model": "rover", "topic": "/cmd_vel" }]));
    }
}
