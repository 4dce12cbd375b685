//! The primary's driver: receive, handle, perform; and the figures that it keeps of the run.

mod answering;
mod auditing;
mod figures_limit;
mod publishing;
mod reporting;
mod text_queue;
mod text_reader;
mod texts;
mod traced;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use lockstep::access::admit;
use lockstep::{Checkpoint, Primary, PrimaryInput, PrimaryOutput, StepReport};
use protocol::Chain;
use protocol::exit::Outcome;
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_observers::{Announce, Event, PrimaryToObservers, Severity};
use protocol::report::{RunState, SecondarySummary, Summary, TopicReport};
use protocol::{
    ClientToPrimary, Command, Envelope, FailureCode, PeerName, ProtocolVersion, RoutingId,
    SecondaryToPrimary, SessionTime, StopReason, decode, encode, topic,
};
use serde::Serialize;
use transport::{Arrival, Destination, Link, Refusals};

use answering::HeldReplies;

use crate::audit::AuditLog;
use crate::clock::{SessionClock, wall_clock_us};
use crate::diagnosis;
use crate::history::RunHistory;
use crate::journaling::Journaling;
use crate::meter::Meter;
use crate::proof_files::ProofFiles;
use crate::recordings::Recordings;
use crate::report::{self, Reporter};
use crate::secondary::InputSender;
use crate::seldom::{Seldom, shortened};
use crate::startup::JournalPlan;
use crate::status::StatusThread;
use crate::trace::Tracer;
use figures_limit::FiguresLimit;
use text_queue::TextQueue;
use text_reader::TextReader;

/// Time between reports to observers.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);
/// Time that a step may take before what a secondary has said is waited for: it may be lost.
const LATE: Duration = Duration::from_millis(500);
/// Time between reports of affinity when nothing changes.
const AFFINITY_INTERVAL: Duration = Duration::from_secs(1);
/// Number of messages that that were here when the run ended are looked at.
const LAST_REQUESTS_MAX: usize = 1000;

/// A primary at work.
pub struct PrimaryDriver<L: Link> {
    link: L,
    primary: Primary,
    clock: SessionClock,
    status: StatusThread,
    inputs: InputSender<PrimaryInput>,
    pending: Receiver<PrimaryInput>,
    meter: Meter,
    history: RunHistory,
    /// Time when the last message arrived.
    arrived_at: SessionTime,
    topics_at_start: Vec<TopicReport>,
    reporter: Reporter,
    proof: ProofFiles,
    recordings: Recordings,
    journal: Option<Journaling>,
    /// Answers that wait until what they are about is written down.
    held: HeldReplies,
    tracer: Option<Tracer>,
    audit: Option<AuditLog>,
    deeds_told: auditing::DeedsTold,
    outputs: Vec<PrimaryOutput>,
    next_report: SessionTime,
    next_affinity: SessionTime,
    figures_limit: FiguresLimit,
    texts: TextQueue,
    /// Thread that reads texts, once there was one.
    text_reader: Option<TextReader>,
    malformed: Seldom,
    secondaries: Vec<SecondarySummary>,
    finished: Option<StopReason>,
}

impl<L: Link> PrimaryDriver<L> {
    /// Makes a driver on a link.
    pub fn new(
        link: L,
        primary: Primary,
        mut status: StatusThread,
        reporter: Reporter,
        mut proof: ProofFiles,
    ) -> Self {
        let (inputs, pending) = InputSender::new(&link);
        status.attach(inputs.clone(), proof.messages.take());
        Self {
            meter: Meter::new(primary.settings().step_size),
            history: RunHistory::default(),
            arrived_at: SessionTime(0),
            topics_at_start: primary.settings().topics.clone(),
            link,
            primary,
            clock: SessionClock::start(),
            status,
            inputs,
            pending,
            reporter,
            proof,
            recordings: Recordings::default(),
            journal: None,
            held: HeldReplies::default(),
            tracer: None,
            audit: None,
            deeds_told: auditing::DeedsTold::default(),
            outputs: Vec::new(),
            next_report: SessionTime(0),
            next_affinity: SessionTime(0),
            figures_limit: FiguresLimit::default(),
            texts: TextQueue::default(),
            text_reader: None,
            malformed: Seldom::default(),
            secondaries: Vec::new(),
            finished: None,
        }
    }

    /// Has a journal of the run written; `topics` are those that it has at its start.
    ///
    /// # Errors
    /// Fails if the thread that writes cannot be started.
    pub fn keep_journal(&mut self, plan: JournalPlan, topics: Vec<TopicReport>) -> io::Result<()> {
        for spawn in &plan.driver.spawned {
            self.reporter.add_model(spawn, Vec::new());
        }
        for model in &plan.driver.gone {
            self.reporter.remove_model(*model, Vec::new());
        }
        self.topics_at_start = topics;
        for text in &plan.warnings {
            self.observe(PrimaryToObservers::Event(Event {
                iteration: self.primary.iteration(),
                severity: Severity::Warning,
                kind: "recovery".to_owned(),
                text: text.clone(),
            }));
        }
        self.journal = Some(Journaling::start(plan, self.inputs.clone())?);
        Ok(())
    }

    /// Returns a handle for inputs from other threads.
    pub fn inputs(&self) -> InputSender<PrimaryInput> {
        self.inputs.clone()
    }

    /// Runs the simulation until it ends, and returns how it went.
    ///
    /// # Panics
    /// Only when an invariant of the rules is broken.
    pub fn run(mut self) -> Summary {
        self.handle(PrimaryInput::DeadlinePassed {
            inbox_is_empty: true,
        });
        while self.finished.is_none() {
            self.wait();
            self.report_when_due();
        }
        self.answer_the_last();
        self.take_refusals(true);
        self.finish_audit();
        let mut reason = self.finished.take().expect("the loop ends once it is set");
        if let Some(mut tracer) = self.tracer.take() {
            tracer.finish();
        }
        let in_order = matches!(reason.outcome, Outcome::Completed | Outcome::Interrupted);
        let written = self.proof.finish().and(self.status.finish(in_order));
        let written = written.and_then(|()| match &self.journal {
            // It goes with a run that ends well, which then has these files alone.
            Some(_) => self.proof.sync(),
            None => Ok(()),
        });
        match written {
            Err(cause) if in_order => reason = StopReason::new(Outcome::Failed, cause),
            Err(cause) => tracing::warn!("{cause}"),
            Ok(()) => {}
        }
        self.record_figures();
        let recordings = &mut self.recordings;
        reason = recordings.finish(reason, &self.primary, &self.reporter, &self.meter);
        let is_over = reason.outcome == Outcome::Completed;
        let journal = self.journal.take().map(|journal| journal.finish(is_over));
        self.answer_held_at_the_end(journal.as_ref());
        if let Some(Err(cause)) = journal {
            tracing::warn!("{cause}");
        }
        if let Some(path) = &self.proof.last_events
            && let Err(cause) = self.history.write_events(path)
        {
            tracing::warn!("{cause}");
        }
        let now = self.clock.now();
        let secondaries = std::mem::take(&mut self.secondaries);
        self.reporter
            .summary(&self.primary, &self.meter, secondaries, reason, now)
    }

    /// Answers those whose requests were here when the run ended.
    fn answer_the_last(&mut self) {
        self.refuse_texts();
        for _ in 0..LAST_REQUESTS_MAX {
            match self.link.receive(Some(Duration::ZERO)) {
                Ok(Some(arrival)) => self.on_arrival(arrival),
                Ok(None) | Err(_) => return,
            }
        }
    }

    fn wait(&mut self) {
        let now = self.clock.now();
        let deadline = self.primary.deadline();
        let mut wake = deadline.map_or(self.next_report, |at| at.min(self.next_report));
        if !self.texts.is_empty()
            && let Some(left) = self.texts.due_in(Instant::now())
        {
            wake = wake.min(now + left);
        }
        let received = self.link.receive(Some(wake.since(now)));
        self.arrived_at = self.clock.now();
        self.meter.on_idle(self.arrived_at.since(now));
        match received {
            Ok(Some(arrival)) => {
                self.on_arrival(arrival);
                self.pass_deadline(false);
                self.handle_texts();
            }
            Ok(None) => {
                self.pass_deadline(true);
                self.handle_texts();
            }
            Err(error) => {
                self.handle(PrimaryInput::Failed(format!(
                    "the link broke: {}",
                    Chain(&error)
                )));
            }
        }
    }

    /// Handles a deadline that has come; however much arrives, time goes on.
    fn pass_deadline(&mut self, inbox_is_empty: bool) {
        let now = self.clock.now();
        if self.primary.deadline().is_some_and(|at| at <= now) {
            self.handle(PrimaryInput::DeadlinePassed { inbox_is_empty });
        }
    }

    fn on_arrival(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Message {
                from: Some(from),
                access,
                topic,
                payload,
            } => {
                let input = self.input_of(from, &topic, &payload);
                let input = admit(input, access);
                if self.keeps_to_limits(&input) {
                    self.audit(&input);
                    self.handle_in_turn(input);
                }
            }
            Arrival::Subscribed(routing) => self.handle(PrimaryInput::Subscribed(routing)),
            Arrival::Unsubscribed(routing) => self.handle(PrimaryInput::Unsubscribed(routing)),
            Arrival::Woken => {
                while let Ok(input) = self.pending.try_recv() {
                    self.handle(input);
                }
                self.answer_held();
            }
            Arrival::Message { from: None, .. }
            | Arrival::Connected
            | Arrival::Disconnected
            | Arrival::Denied(_) => {}
        }
    }

    fn input_of(&mut self, from: RoutingId, topic: &[u8], payload: &[u8]) -> PrimaryInput {
        if topic == topic::REQUEST.as_bytes() {
            return match decode::<ClientToPrimary>(payload) {
                Ok(envelope) => PrimaryInput::Client {
                    from,
                    session: envelope.session,
                    message: envelope.body,
                    texts: Vec::new(),
                },
                Err(error) => self.on_malformed(from, false, &error),
            };
        }
        match decode::<SecondaryToPrimary>(payload) {
            Ok(envelope) => PrimaryInput::Secondary {
                from,
                envelope,
                wall_clock_us: wall_clock_us(),
            },
            Err(error) => {
                let joining = topic == topic::ANNOUNCE.as_bytes();
                self.on_malformed(from, joining, &error)
            }
        }
    }

    fn on_malformed(
        &mut self,
        from: RoutingId,
        joining: bool,
        error: &protocol::DecodeError,
    ) -> PrimaryInput {
        let error = Chain(error).to_string();
        let error = shortened(&error).to_owned();
        self.malformed
            .warn(&format!("message from {from} refused: {error}"));
        PrimaryInput::Malformed {
            from,
            joining,
            error,
        }
    }

    fn handle(&mut self, input: PrimaryInput) {
        let mut outputs = std::mem::take(&mut self.outputs);
        self.primary.note_delivered(self.status.delivered());
        let now = self.clock.now();
        self.trace_input(&input, now);
        self.primary.handle(input, now, &mut outputs);
        self.trace_handled(&outputs);
        for output in outputs.drain(..) {
            self.perform(output);
        }
        self.outputs = outputs;
        self.answer_held();
        let now = self.clock.now();
        let since = self.primary.waiting_since();
        let is_late = since.is_some_and(|since| now.since(since) >= LATE);
        self.status
            .note_recovering(is_late || self.primary.is_recovering());
        if let Some(journal) = &mut self.journal {
            journal.note_aim(self.primary.aim());
        }
        let running = self.primary.run_state() == RunState::Running;
        self.meter.note_running(running, now);
    }

    fn perform(&mut self, output: PrimaryOutput) {
        match output {
            PrimaryOutput::Publish(message) => self.publish(message),
            PrimaryOutput::Ahead(step) => self.go_on(&step),
            PrimaryOutput::Send { to, message } => {
                let topic = message.topic();
                self.send(Destination::Peer(&to), topic, message);
            }
            PrimaryOutput::Reply { to, message } => self.reply(to, message),
            PrimaryOutput::Report {
                to,
                request,
                command,
            } => {
                let reply = if self.figures_limit.admits(&to) {
                    self.figures(&command)
                } else {
                    Reply::Failed {
                        code: FailureCode::TooMuch,
                        reason: "figures are asked for too often: ask again later".to_owned(),
                    }
                };
                let message = PrimaryToClient { request, reply };
                self.send(Destination::Peer(&to), topic::REQUEST, message);
            }
            PrimaryOutput::Disconnect { to, request, key } => {
                let reply = self.disconnect(&key);
                self.reply(to, PrimaryToClient { request, reply });
            }
            PrimaryOutput::Observe(message) => self.observe(message),
            PrimaryOutput::Stamped(command) => {
                if let Some(journal) = &mut self.journal {
                    journal.on_command(&command);
                }
                if let Err(cause) = self.proof.on_stamped(&command) {
                    self.inputs.send(PrimaryInput::Failed(cause));
                }
                self.recordings
                    .on_stamped(&command, self.primary.sim_time());
            }
            PrimaryOutput::StepDone(report) => {
                let begun = self.trace_time();
                self.on_step_done(&report);
                if let Some(begun) = begun {
                    self.trace_step_done(&report, begun);
                }
            }
            PrimaryOutput::Diagnose { peer, pid, host } => {
                let process = diagnosis::of(pid, &host);
                self.inputs.send(PrimaryInput::Diagnosed { peer, process });
            }
            PrimaryOutput::Diverged(report) => self.proof.divergence.write(&report),
            PrimaryOutput::Checkpointed(checkpoint) => self.on_checkpointed(&checkpoint),
            PrimaryOutput::Redone => {
                if let Some(journal) = &mut self.journal {
                    journal.on_redone();
                }
            }
            PrimaryOutput::Finished(reason) => {
                self.publish_reports();
                self.finished = Some(reason);
            }
        }
    }

    fn send<B: Serialize>(&mut self, to: Destination<'_>, topic: &str, body: B) {
        let bytes = encode(&Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.primary.settings().session,
            sender: PeerName::primary(),
            body,
        });
        if topic == topic::STEP {
            self.meter.on_published(self.clock.now());
        }
        if let Err(error) = self.link.send(to, topic, &bytes) {
            // A secondary that is missed is sent its step again, or is lost by its deadlines.
            tracing::debug!(topic, "message not sent: {}", Chain(&error));
        }
    }

    fn observe(&mut self, message: PrimaryToObservers) {
        match &message {
            PrimaryToObservers::Event(event) => {
                self.history.on_event(event);
                self.recordings.on_event(event, self.primary.sim_time());
                let iteration = event.iteration.0;
                match event.severity {
                    Severity::Info => tracing::info!(iteration, "{}", event.text),
                    Severity::Warning => tracing::warn!(iteration, "{}", event.text),
                    Severity::Error => tracing::error!(iteration, "{}", event.text),
                }
                if event.kind == "run" {
                    // Who took part must be known before anyone leaves.
                    self.note_secondaries();
                }
            }
            PrimaryToObservers::Heartbeat(relay) => {
                if let Some(member) = self.primary.roster().get(&relay.name) {
                    self.meter.on_heartbeat(&relay.name, &member.heartbeat);
                }
            }
            PrimaryToObservers::Announce(Announce::Joined(info)) => {
                if let Some(member) = self.primary.roster().get(&info.name) {
                    self.status.admit(member.routing.clone(), info.name.clone());
                }
            }
            PrimaryToObservers::Announce(_)
            | PrimaryToObservers::Stats { .. }
            | PrimaryToObservers::Clock(_)
            | PrimaryToObservers::Affinity(_)
            | PrimaryToObservers::Poses(_) => {}
        }
        self.status.observe(message);
    }

    fn note_secondaries(&mut self) {
        let now = report::secondaries(&self.primary);
        for secondary in now {
            match self
                .secondaries
                .iter_mut()
                .find(|known| known.name == secondary.name)
            {
                Some(known) => *known = secondary,
                None => self.secondaries.push(secondary),
            }
        }
    }

    fn on_step_done(&mut self, report: &StepReport) {
        let now = self.clock.now();
        self.meter.on_step(report, self.arrived_at, now);
        self.status.step_done(report);
        if report.rearranged {
            // Observers see who hosts what with the next report.
            self.next_affinity = SessionTime(0);
        }
        if let Err(cause) = self.proof.on_step_done(report, &self.primary) {
            self.inputs.send(PrimaryInput::Failed(cause));
        }
        let (primary, reporter) = (&self.primary, &self.reporter);
        let recorded = self
            .recordings
            .on_step_done(report, primary, reporter, &self.meter);
        if let Err(cause) = recorded {
            self.inputs.send(PrimaryInput::Failed(cause));
        }
        if let Some(journal) = &mut self.journal {
            journal.on_step_done(report);
        }
    }

    fn on_checkpointed(&mut self, checkpoint: &Arc<Checkpoint>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        if journal.expects(checkpoint) {
            // Who goes on from it finds the files of the run at least as far.
            match self.proof.flush() {
                Ok(beside) => journal.on_checkpoint(checkpoint, beside),
                Err(cause) => self.inputs.send(PrimaryInput::Failed(cause)),
            }
        }
    }

    fn figures(&mut self, command: &Command) -> Reply {
        if *command == Command::Layout {
            return Reply::Layout(Box::new(self.reporter.layout(self.primary.plan())));
        }
        if *command == Command::Topics {
            return Reply::Topics(self.primary.settings().topics.clone());
        }
        if *command == Command::Clients {
            return Reply::Clients(Box::new(self.link.clients()));
        }
        let now = self.clock.now();
        if *command == Command::History {
            let stats = self.reporter.stats(&self.primary, &mut self.meter, now);
            return Reply::History(Box::new(self.history.all(&stats, now)));
        }
        Reply::Snapshot(Box::new(self.reporter.snapshot(
            &self.primary,
            &mut self.meter,
            now,
        )))
    }

    fn report_when_due(&mut self) {
        if self.clock.now() >= self.next_report && self.finished.is_none() {
            self.take_refusals(false);
            self.audit_admitted();
            self.publish_reports();
        }
    }

    fn take_refusals(&mut self, is_last: bool) {
        if let Some(Refusals { counts, details }) = self.link.take_refusals(is_last) {
            self.audit_refusals(&details);
            self.handle(PrimaryInput::Refused { counts, details });
        }
    }
}
