//! Messages of a primary's driver to others: steps to secondaries and to its sinks, events and
//! statistics to observers.

use lockstep::StepReport;
use protocol::primary_to_observers::{Announce, Clock, Event, PrimaryToObservers, Severity};
use protocol::primary_to_secondary::Step;
use protocol::{PrimaryToSecondary, RoutingId, SessionTime};
use transport::{Destination, Link, Refusals};

use super::PrimaryDriver;
use super::run_sinks::RunSinks;
use crate::audit::Deed;
use crate::report;
use crate::run_sink::RunView;
use crate::seldom::shortened;
use crate::status::Figures;

impl<L: Link> PrimaryDriver<L> {
    /// Returns the sinks, and the run as they see it.
    pub(super) fn sinks_and_view(&mut self) -> (&mut RunSinks, RunView<'_>) {
        let now = self.line.now();
        (&mut self.sinks, self.accounts.view(&self.primary, now))
    }

    /// Hands a message to all secondaries; all that keep something of a step learn of it first.
    pub(super) fn publish(&mut self, message: PrimaryToSecondary) {
        let clock = self.line.clock();
        let traced = self.trace.begin_publishing(&message, clock);
        if let PrimaryToSecondary::Step(step) = &message {
            self.sinks.status().note_published(step);
            self.begin_step(step);
        }
        self.send(Destination::EverySecondary, message);
        if let Some(traced) = traced {
            self.trace.on_published(traced, clock);
        }
    }

    /// Has a step kept that is published, or was run ahead by all.
    pub(super) fn begin_step(&mut self, step: &Step) {
        self.sinks.on_step(step);
        self.scenes.on_step(step);
        let topics = &self.primary.settings().outputs.topics;
        if let Some(topics) = self.accounts.on_step(step, topics) {
            self.primary.set_topics(topics);
        }
    }

    /// Has a step kept that is done.
    pub(super) fn on_step_done(&mut self, report: &StepReport) {
        let clock = self.line.clock();
        let traced = self.trace.begin(clock);
        let arrived_at = self.line.arrived_at();
        self.accounts.on_step_done(report, arrived_at, clock.now());
        if report.rearranged {
            // Observers see who hosts what with the next report.
            self.reports.hasten_affinity();
        }
        let (sinks, run) = self.sinks_and_view();
        sinks.on_step_done(report, &run);
        if let Some(begun) = traced {
            self.trace.on_step_done(report, begun, clock);
        }
    }

    /// Tells observers of something that is not of the rules.
    pub fn tell(&mut self, severity: Severity, kind: &str, text: &str) {
        self.tell_all_of(severity, kind, shortened(text).to_owned());
    }

    /// Tells observers of something, however long the text is.
    pub(super) fn tell_all_of(&mut self, severity: Severity, kind: &str, text: String) {
        self.observe(PrimaryToObservers::Event(Event {
            iteration: self.primary.iteration(),
            severity,
            kind: kind.to_owned(),
            text,
        }));
    }

    /// Hands a message to observers, and keeps what is of use later.
    pub(super) fn observe(&mut self, message: PrimaryToObservers) {
        match &message {
            PrimaryToObservers::Event(event) => self.on_event(event),
            PrimaryToObservers::Heartbeat(relay) => {
                self.accounts.on_heartbeat(&relay.name, &self.primary);
            }
            PrimaryToObservers::Announce(Announce::Joined(info)) => {
                if let Some(member) = self.primary.roster().get(&info.name) {
                    let status = self.sinks.status();
                    status.admit(member.routing.clone(), info.name.clone());
                }
            }
            PrimaryToObservers::Announce(_)
            | PrimaryToObservers::Stats { .. }
            | PrimaryToObservers::Clock(_)
            | PrimaryToObservers::Affinity(_)
            | PrimaryToObservers::Poses(_) => {}
        }
        self.sinks.status().observe(message);
    }

    fn on_event(&mut self, event: &Event) {
        let (sinks, run) = self.sinks_and_view();
        sinks.on_event(event, &run);
        let iteration = event.iteration.0;
        match event.severity {
            Severity::Info => tracing::info!(iteration, "{}", event.text),
            Severity::Warning => tracing::warn!(iteration, "{}", event.text),
            Severity::Error => tracing::error!(iteration, "{}", event.text),
        }
        if event.kind == "run" {
            // Who took part must be known before anyone leaves.
            self.accounts.note_secondaries(&self.primary);
        }
    }

    /// Tells observers how the run is and who came, where that is due.
    pub(super) fn report_when_due(&mut self) {
        if self.line.now() >= self.reports.next() && self.finished.is_none() {
            self.take_refusals(false);
            let (admitted, now) = (self.line.take_admitted(), self.line.now());
            let news = self.audit.on_admitted(&admitted, now);
            self.tell_of_audit(news);
            self.look_for_gone_participants();
            self.look_at_relays();
            self.publish_reports();
        }
    }

    /// Has the rules told of programs whose connections are gone.
    fn look_for_gone_participants(&mut self) {
        let clients = self.primary.participants_clients();
        let gone = clients.filter(|client| self.line.is_gone(client));
        let gone: Vec<RoutingId> = gone.cloned().collect();
        for client in gone {
            self.handle(lockstep::PrimaryInput::ClientGone(client));
        }
    }

    /// Tells observers of relays that fall silent or are heard again.
    fn look_at_relays(&mut self) {
        let contacts = self.line.relays(&self.primary);
        for (severity, text) in self.accounts.look_at_relays(contacts) {
            self.tell_all_of(severity, "peer", text);
        }
    }

    /// Has the rules count what the link has turned away.
    pub(super) fn take_refusals(&mut self, is_last: bool) {
        if let Some(Refusals { counts, details }) = self.line.take_refusals(is_last) {
            let now = self.line.now();
            self.audit.note(Deed::Refused, None, &details, now);
            self.handle(lockstep::PrimaryInput::Refused { counts, details });
        }
    }

    /// Tells observers what became of the audit's file, if there is anything to tell.
    pub(super) fn tell_of_audit(&mut self, news: Option<String>) {
        if let Some(text) = news {
            self.tell(Severity::Warning, "security", &text);
        }
    }

    /// Tells observers how the run is, each kind of figures only while anyone listens to it.
    pub(super) fn publish_reports(&mut self) {
        let now = self.line.now();
        self.reports.begin(now);
        while let Some(text) = self.sinks.take_problem() {
            self.tell_all_of(Severity::Warning, "recording", text);
        }
        let watched = self.sinks.status().watched();
        self.publish_stats(watched.has(Figures::Stats), now);
        let (primary, status) = (&self.primary, self.sinks.status());
        if watched.has(Figures::Clock) {
            status.observe(PrimaryToObservers::Clock(Clock {
                iteration: primary.iteration(),
                sim_time: primary.sim_time(),
                paused: report::is_paused(primary),
            }));
        }
        if watched.has(Figures::Poses) {
            status.observe(PrimaryToObservers::Poses(report::performers(primary)));
        }
        if primary.are_groups_observed() {
            status.tell_groups(report::groups_message(primary));
        }
        if watched.has(Figures::Affinity) && self.reports.is_affinity_due(now) {
            self.reports.begin_affinity(now);
            let levels = self.accounts.levels(primary);
            status.observe(PrimaryToObservers::Affinity(levels));
        }
    }

    /// Has statistics kept if a sample is due, and published if anybody watches or they are
    /// recorded.
    fn publish_stats(&mut self, is_watched: bool, now: SessionTime) {
        let is_sampled = self.sinks.history().is_due(now);
        if !is_sampled && !is_watched {
            return;
        }
        let stats = self.accounts.stats(&self.primary, now);
        let is_recorded = is_sampled && self.sinks.is_recording();
        let peers =
            (is_recorded || is_watched).then(|| self.accounts.peers(&self.primary, &stats, now));
        if is_sampled {
            let run = self.accounts.view(&self.primary, now);
            let recorded = peers.as_deref().filter(|_| is_recorded);
            self.sinks.on_stats(&stats, recorded, &run);
        }
        if let Some(peers) = peers {
            let stats = Box::new(stats);
            let message = PrimaryToObservers::Stats { stats, peers };
            self.sinks.status().observe(message);
        }
    }
}
