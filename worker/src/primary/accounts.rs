//! [`Accounts`]: measurements of a run, and what people are shown of it.

use std::collections::BTreeMap;
use std::time::Duration;

use lockstep::{Primary, Settings, StepReport};
use protocol::action::ModelChange;
use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::Step;
use protocol::report::{
    Layout, LevelReport, PeerReport, SecondarySummary, Snapshot, Stats, Summary, TopicReport,
};
use protocol::{Action, PeerName, SessionTime, StopReason};

use crate::journaling::DriverState;
use crate::meter::{IdleReason, Meter};
use crate::relay_watch::{RelayContact, RelayWatch};
use crate::report::{self, Reporter};
use crate::run_sink::RunView;

/// Measurements and reports of a run, with those who took part.
pub(super) struct Accounts {
    meter: Meter,
    reporter: Reporter,
    relays: RelayWatch,
    secondaries: Vec<SecondarySummary>,
    topics_at_start: Vec<TopicReport>,
}

impl Accounts {
    /// Begins with the worlds of the start.
    pub(super) fn new(reporter: Reporter, settings: &Settings) -> Self {
        Self {
            meter: Meter::new(settings.pace.step_size),
            reporter,
            relays: RelayWatch::default(),
            secondaries: Vec::new(),
            topics_at_start: settings.outputs.topics.clone(),
        }
    }

    /// Goes on with the models of a run that is resumed; `topics` are those of its start.
    pub(super) fn resume(&mut self, state: &DriverState, topics: Vec<TopicReport>) {
        for spawn in &state.spawned {
            self.reporter.add_model(spawn, Vec::new());
        }
        for model in &state.gone {
            self.reporter.remove_model(*model, Vec::new());
        }
        self.topics_at_start = topics;
    }

    /// Returns the run as its sinks see it.
    pub(super) fn view<'a>(&'a mut self, primary: &'a Primary, now: SessionTime) -> RunView<'a> {
        RunView {
            primary,
            reporter: &mut self.reporter,
            meter: &mut self.meter,
            now,
        }
    }

    /// Takes note of the models that come and go with a step, and returns the topics of the run,
    /// `topics` so far, if they are others then.
    pub(super) fn on_step(
        &mut self,
        step: &Step,
        topics: &[TopicReport],
    ) -> Option<Vec<TopicReport>> {
        let mut changed = None;
        if step.reset {
            self.reporter.reset();
            changed = Some(self.topics_at_start.clone());
        }
        for stamped in &step.actions {
            match stamped.action.model_change() {
                ModelChange::Comes(spawn) => {
                    let topics = changed.unwrap_or_else(|| topics.to_vec());
                    let survey = self.reporter.add_model(spawn, topics);
                    for problem in survey.problems {
                        tracing::warn!("{problem}");
                    }
                    changed = Some(survey.topics);
                }
                ModelChange::Leaves(model) => {
                    let topics = changed.unwrap_or_else(|| topics.to_vec());
                    changed = Some(self.reporter.remove_model(model, topics));
                }
                ModelChange::None => {}
            }
            if let Action::SetStepSize(step_size_ns) = stamped.action {
                let step_size = Duration::from_nanos(step_size_ns);
                self.meter.set_step_size(step_size);
            }
        }
        changed
    }

    /// Takes note that a step is handed to the link.
    pub(super) fn on_published(&mut self, now: SessionTime) {
        self.meter.on_published(now);
    }

    /// Takes a step that is done, whose last answer came at `arrived_at`.
    pub(super) fn on_step_done(
        &mut self,
        report: &StepReport,
        arrived_at: SessionTime,
        now: SessionTime,
    ) {
        self.meter.on_step(report, arrived_at, now);
    }

    /// Takes note of time in which there was nothing to do, held by programs that take part or not.
    pub(super) fn on_idle(&mut self, idle: Duration, reason: IdleReason) {
        self.meter.on_idle(idle, reason);
    }

    /// Tells whether simulated time runs, as far as was noted.
    pub(super) fn is_running(&self) -> bool {
        self.meter.is_running()
    }

    /// Takes note of whether simulated time runs.
    pub(super) fn note_running(&mut self, running: bool, now: SessionTime) {
        self.meter.note_running(running, now);
    }

    /// Takes a secondary's heartbeat.
    pub(super) fn on_heartbeat(&mut self, name: &PeerName, primary: &Primary) {
        if let Some(member) = primary.roster().get(name) {
            self.meter.on_heartbeat(name, &member.heartbeat);
        }
    }

    /// Looks at the relays through which secondaries take part; returns what is to be told.
    pub(super) fn look_at_relays(
        &mut self,
        relays: BTreeMap<PeerName, RelayContact>,
    ) -> Vec<(Severity, String)> {
        let news = self.relays.look(&relays);
        self.note_relays(relays);
        news
    }

    /// Notes through which relays secondaries take part now.
    pub(super) fn note_relays(&mut self, relays: BTreeMap<PeerName, RelayContact>) {
        self.reporter.note_relays(relays);
    }

    /// Takes note of who takes part and with what.
    pub(super) fn note_secondaries(&mut self, primary: &Primary) {
        for secondary in report::secondaries(primary) {
            let mut known = self.secondaries.iter_mut();
            match known.find(|known| known.name == secondary.name) {
                Some(known) => *known = secondary,
                None => self.secondaries.push(secondary),
            }
        }
    }

    /// Returns the figures of the run.
    pub(super) fn stats(&mut self, primary: &Primary, now: SessionTime) -> Stats {
        self.reporter.stats(primary, &mut self.meter, now)
    }

    /// Returns the processes of the run; `stats` are those of this moment.
    pub(super) fn peers(
        &mut self,
        primary: &Primary,
        stats: &Stats,
        now: SessionTime,
    ) -> Vec<PeerReport> {
        self.reporter.peers(primary, &self.meter, stats, now)
    }

    /// Returns the levels of the run.
    pub(super) fn levels(&self, primary: &Primary) -> Vec<LevelReport> {
        self.reporter.levels(primary, &self.meter)
    }

    /// Returns what stands still, for maps.
    pub(super) fn layout(&self, primary: &Primary) -> Layout {
        self.reporter.layout(primary.topology())
    }

    /// Returns all figures of this moment.
    pub(super) fn snapshot(&mut self, primary: &Primary, now: SessionTime) -> Snapshot {
        self.reporter.snapshot(primary, &mut self.meter, now)
    }

    /// Returns how the whole run went.
    pub(super) fn summary(
        self,
        primary: &Primary,
        reason: StopReason,
        now: SessionTime,
    ) -> Summary {
        let Self {
            meter,
            reporter,
            secondaries,
            ..
        } = self;
        reporter.summary(primary, &meter, secondaries, reason, now)
    }
}
