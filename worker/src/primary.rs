//! The primary's driver: receive, handle, perform.
//!
//! [`PrimaryDriver`] composes parts that do not know each other: a [`Line`] to others, the rules,
//! the [`RunSinks`] that keep what a run does, its [`Accounts`], and what clients ask for. It has
//! the order in which they act, and nothing else.

mod accounts;
mod audit_trail;
mod figures_limit;
mod held_replies;
mod line;
mod machine_names;
mod report_schedule;
mod reporting;
mod requests;
mod run_sinks;
mod run_trace;
mod scene_thread;
mod scenes;
mod text_queue;
mod text_reader;
mod texts;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use lockstep::access::admit;
use lockstep::{Primary, PrimaryInput, PrimaryOutput};
use protocol::Chain;
use protocol::primary_to_observers::Severity;
use protocol::report::{RunState, Summary, TopicReport};
use protocol::{PeerName, PrimaryToSecondary, StopReason, topic};
use transport::{Arrival, Destination, Link};

use crate::audit::AuditLog;
use crate::diagnosis;
use crate::divergence_file::DivergenceFile;
use crate::meter::IdleReason;
use crate::recordings::Recordings;
use crate::report::Reporter;
use crate::run_outputs::RunOutputs;
use crate::secondary::InputSender;
use crate::startup::JournalPlan;
use crate::status::StatusThread;
use crate::trace::Tracer;
use accounts::Accounts;
use audit_trail::AuditTrail;
use held_replies::HeldReplies;
use line::{Line, Received};
use report_schedule::ReportSchedule;
use run_sinks::RunSinks;
use run_trace::RunTrace;
use scenes::Scenes;
use texts::Texts;

/// Time that a step may take before what a secondary has said is waited for: it may be lost.
const LATE: Duration = Duration::from_millis(500);

/// Silence after which a relay is blamed for that of its secondaries: it speaks ten times a second,
/// whatever they do.
const SILENT_RELAY: Duration = Duration::from_millis(300);

/// A primary at work.
pub struct PrimaryDriver<L: Link> {
    line: Line<L>,
    primary: Primary,
    sinks: RunSinks,
    accounts: Accounts,
    reports: ReportSchedule,
    texts: Texts,
    scenes: Scenes,
    held: HeldReplies,
    audit: AuditTrail,
    trace: RunTrace,
    outputs: Vec<PrimaryOutput>,
    finished: Option<StopReason>,
}

impl<L: Link> PrimaryDriver<L> {
    /// Makes a driver on the primary's end of a link.
    ///
    /// # Errors
    /// When the system has no thread left to write the outputs.
    pub fn new(
        end: L,
        primary: Primary,
        status: StatusThread,
        reporter: Reporter,
        outputs: RunOutputs,
    ) -> io::Result<Self> {
        let mut line = Line::new(end, primary.settings().session);
        line.begin_on(reporter.own());
        Ok(Self {
            sinks: RunSinks::start(outputs, status, line.inputs())?,
            accounts: Accounts::new(reporter, primary.settings()),
            line,
            primary,
            reports: ReportSchedule::default(),
            texts: Texts::default(),
            scenes: Scenes::default(),
            held: HeldReplies::default(),
            audit: AuditTrail::default(),
            trace: RunTrace::default(),
            outputs: Vec::new(),
            finished: None,
        })
    }

    /// Has all cells computed by a secondary in the driver's thread.
    pub fn compute_here(&mut self) {
        let data = self.sinks.status().data_feed();
        self.line.compute_here(data);
    }

    /// Has a journal of the run written; `topics` are those that it has at its start.
    ///
    /// # Errors
    /// Fails if the thread that writes cannot be started.
    pub fn keep_journal(&mut self, plan: JournalPlan, topics: Vec<TopicReport>) -> io::Result<()> {
        self.accounts.resume(&plan.driver, topics);
        self.scenes.resume(&plan.driver);
        for text in &plan.warnings {
            self.tell_all_of(Severity::Warning, "recovery", text.clone());
        }
        self.sinks.keep_journal(plan)
    }

    /// Has the run recorded, or compared with a recording.
    pub fn keep_recordings(&mut self, recordings: Recordings) {
        self.sinks.keep_recordings(recordings);
    }

    /// Has divergences described, and the last events written to a file when the run ends.
    pub fn keep_reports(&mut self, divergences: DivergenceFile, last_events: Option<PathBuf>) {
        self.sinks.keep_divergences(divergences);
        if let Some(path) = last_events {
            self.sinks.history().write_events_to(path);
        }
    }

    /// Has the run traced.
    pub fn keep_trace(&mut self, tracer: Tracer) {
        let feed = self.trace.start(tracer, self.line.clock());
        self.sinks.status().trace(feed);
    }

    /// Has it written down who does what.
    pub fn keep_audit(&mut self, log: AuditLog) {
        self.audit.keep(log);
    }

    /// Returns a handle for inputs from other threads.
    pub fn inputs(&self) -> InputSender<PrimaryInput> {
        self.line.inputs()
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
        let news = self.audit.finish(self.line.now());
        self.tell_of_audit(news);
        let reason = self.finished.take().expect("the loop ends once it is set");
        self.trace.finish();
        let (sinks, mut run) = self.sinks_and_view();
        let (reason, lost) = sinks.finish(reason, &mut run);
        self.answer_held_at_the_end(lost.as_ref());
        let now = self.line.now();
        self.accounts.summary(&self.primary, reason, now)
    }

    fn wait(&mut self) {
        let now = self.line.now();
        if self.primary.goes_on_at_once() && self.line.goes_on(now) {
            self.handle(PrimaryInput::DeadlinePassed {
                inbox_is_empty: false,
            });
            return;
        }
        let next = self.reports.next();
        let mut wake = self.primary.deadline().map_or(next, |at| at.min(next));
        if let Some(left) = self.texts.due_in() {
            wake = wake.min(now + left);
        }
        let reason = if self.primary.holding_participants().next().is_some() {
            IdleReason::Participants
        } else if self.primary.awaits_steps_ahead() {
            IdleReason::StepsAhead
        } else {
            IdleReason::Pace
        };
        let received = self.line.receive(wake.since(now));
        let idle = self.line.arrived_at().since(now);
        self.accounts.on_idle(idle, reason);
        if !self.line.computes_here() {
            self.primary.note_idle(idle);
        }
        match received {
            Ok(Some(received)) => {
                self.on_received(received);
                self.pass_deadline(false);
                self.handle_texts();
            }
            Ok(None) => {
                self.pass_deadline(true);
                self.handle_texts();
            }
            Err(error) => {
                let cause = format!("the link broke: {}", Chain(&error));
                self.handle(PrimaryInput::Failed(cause));
            }
        }
    }

    /// Handles a deadline that has come; however much arrives, time goes on.
    fn pass_deadline(&mut self, inbox_is_empty: bool) {
        let now = self.line.now();
        if self.primary.deadline().is_some_and(|at| at <= now) {
            self.handle(PrimaryInput::DeadlinePassed { inbox_is_empty });
        }
    }

    fn on_received(&mut self, received: Received) {
        match received {
            Received::Arrival(arrival) => self.on_arrival(arrival),
            Received::Answer(input) => self.on_message(input),
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
                let input = self.line.input_of(from, &topic, &payload);
                self.on_message(admit(input, access));
            }
            Arrival::Subscribed(routing) => self.handle(PrimaryInput::Subscribed(routing)),
            Arrival::Unsubscribed(secondary) => {
                let relay = self.line.lost_relay_of(&secondary);
                self.handle(match relay {
                    Some(relay) => PrimaryInput::GoneWithRelay { secondary, relay },
                    None => PrimaryInput::Unsubscribed(secondary),
                });
            }
            Arrival::Woken => {
                while let Some(input) = self.line.take_pending() {
                    self.handle(input);
                }
                self.answer_held();
                self.answer_scenes();
            }
            Arrival::Message { from: None, .. }
            | Arrival::Connected
            | Arrival::Disconnected
            | Arrival::Denied(_) => {}
        }
    }

    fn handle(&mut self, input: PrimaryInput) {
        let mut outputs = std::mem::take(&mut self.outputs);
        let delivered = self.sinks.status().delivered();
        self.primary.note_delivered(delivered);
        let now = self.line.now();
        self.trace.on_input(&input, self.line.arrived_at(), now);
        self.primary.handle(input, now, &mut outputs);
        self.trace.on_handled(&outputs, self.line.clock());
        for output in outputs.drain(..) {
            self.perform(output);
        }
        self.outputs = outputs;
        self.answer_held();
        let since = self.primary.waiting_since();
        let is_late = since.is_some_and(|since| self.line.now().since(since) >= LATE);
        let is_recovering = is_late || self.primary.is_recovering();
        self.sinks
            .note_state(is_recovering, self.primary.run_target());
        let is_running = self.primary.run_state() == RunState::Running;
        if is_running != self.accounts.is_running() {
            self.accounts.note_running(is_running, self.line.now());
        }
    }

    fn perform(&mut self, output: PrimaryOutput) {
        match output {
            PrimaryOutput::Publish(message) => self.publish(message),
            PrimaryOutput::Ahead(step) => self.begin_step(&step),
            PrimaryOutput::Send { to, message } => self.send(Destination::Peer(&to), message),
            PrimaryOutput::Reply { to, message } => self.reply(to, message),
            PrimaryOutput::Report {
                to,
                request,
                command,
            } => self.report(&to, request, &command),
            PrimaryOutput::Disconnect { to, request, key } => self.disconnect(to, request, &key),
            PrimaryOutput::Observe(message) => self.observe(message),
            PrimaryOutput::Stamped(command) => {
                let (sinks, run) = self.sinks_and_view();
                sinks.on_command(&command, &run);
            }
            PrimaryOutput::StepDone(report) => self.on_step_done(&report),
            PrimaryOutput::Diagnose { peer, pid, host } => {
                let mut process = diagnosis::of(pid, &host);
                if let Some(silent) = self.silent_relay_of(&peer) {
                    process.state.push_str(&silent);
                }
                self.line.put(PrimaryInput::Diagnosed { peer, process });
            }
            PrimaryOutput::Diverged(report) => self.sinks.on_divergence(&report),
            PrimaryOutput::Checkpointed(checkpoint) => self.sinks.on_checkpoint(&checkpoint),
            PrimaryOutput::Replayed => self.sinks.on_replayed(),
            PrimaryOutput::Finished(reason) => {
                self.publish_reports();
                self.finished = Some(reason);
            }
        }
    }

    /// Tells of the relay of a secondary that is silent, if it is behind one and that is, too.
    fn silent_relay_of(&self, peer: &PeerName) -> Option<String> {
        let relay = self.line.relay_of(self.primary.roster().get(peer)?)?;
        let (name, seconds) = (&relay.name, relay.silence.as_secs_f64());
        (relay.silence >= SILENT_RELAY).then(|| {
            format!("; its relay {name} is silent, too: nothing came from it for {seconds:.1} s")
        })
    }

    /// Sends a message to one secondary or all.
    fn send(&mut self, to: Destination<'_>, message: PrimaryToSecondary) {
        let is_step = message.topic() == topic::STEP;
        let accounts = &mut self.accounts;
        self.line.tell(to, message, |now| {
            if is_step {
                accounts.on_published(now);
            }
        });
    }
}
