//! The secondary's rules: join, load, answer each step once, leave in order.
//!
//! Cells are the driver's: the rules say when a step is to be done, with which
//! snapshots, and which messages are late, repeated or foreign.

mod jobs;
mod serving;

use std::sync::Arc;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_secondary::{CatchUp, CellSnapshot, PrimaryToSecondary, Step, Welcome};
use protocol::report::RefusedCounts;
use protocol::report::divergence::DivergenceReport;
use protocol::secondary_to_primary::{
    CatchUpError, CaughtUp, Loaded, SecondaryToPrimary, StepAck, StepsAhead,
};
use protocol::{
    Digest, Envelope, PeerInfo, PeerName, RosMessage, Sequence, SessionId, SessionTime, StopReason,
};

pub use jobs::{CatchUpWork, JobEnd};

use jobs::{Jobs, PartVerdict};
use serving::{Serving, SnapshotVerdict, StepVerdict};

/// Time between attempts to join.
const JOIN_INTERVAL: Duration = Duration::from_millis(250);

/// Settings of a secondary, from its command line.
#[derive(Clone, Debug)]
pub struct SecondarySettings {
    /// Its account of itself.
    pub info: PeerInfo,
    /// Time to wait for a primary.
    pub peer_timeout: Duration,
}

/// The world of a welcome, once it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldLoaded {
    /// The digest of its bytes.
    pub digest: Digest,
    /// Number of cells that it has.
    pub cell_count: u32,
    /// Name of the GPU that draws what its cameras see; none where the processor does.
    pub gpu: Option<String>,
}

/// Event for a secondary.
#[derive(Clone, Debug)]
pub enum SecondaryInput {
    /// The first input, once.
    Started,
    /// A message of the primary.
    Primary(Envelope<PrimaryToSecondary>),
    /// Bytes that are no message.
    Malformed,
    /// The world of the welcome is read.
    WorldLoaded(WorldLoaded),
    /// The world of the welcome could not be read, and why.
    WorldFailed(String),
    /// Readers outside the run that it waits for have not come in time, and which.
    ReadersMissing(String),
    /// The step asked for is done.
    StepComputed(StepAck),
    /// Further steps of its window are done.
    StepsAheadComputed(StepsAhead),
    /// The job asked for is done, or could not be.
    CaughtUp {
        /// State in which the job ended.
        end: JobEnd,
        /// The answer.
        answer: CaughtUp,
        /// Its cells, for the step after.
        snapshots: Vec<CellSnapshot>,
    },
    /// The step asked for cannot be done, and why: the primary broke the protocol.
    StepRefused(String),
    /// The step was done twice with different results.
    StepDiverged(Box<DivergenceReport>),
    /// Nodes of ROS 2 have published these messages, in the order in which they came.
    RosMessages(Vec<RosMessage>),
    /// The primary is gone or silent, and how that shows.
    PrimaryLost(String),
    /// The primary ends the run, as heard on the status socket.
    PrimaryStops(StopReason),
    /// A signal asks to end, named.
    Interrupted(String),
    /// The time given by [`Secondary::deadline`] has come.
    DeadlinePassed,
}

/// Effect that a secondary wants.
#[derive(Clone, Debug, PartialEq)]
pub enum SecondaryOutput {
    /// Send to the primary.
    Send(SecondaryToPrimary),
    /// Start the heartbeat, then read the world: a long load is no silence.
    LoadWorld(Box<Welcome>),
    /// Do a step, then report [`SecondaryInput::StepComputed`].
    RunStep(StepWork),
    /// Go on with the window of the last step, then report [`SecondaryInput::StepsAheadComputed`].
    RunAhead,
    /// Do again what a job says, then report [`SecondaryInput::CaughtUp`].
    CatchUp(Box<CatchUpWork>),
    /// Send the cells as they are now, once the answer is sent.
    Checkpoint {
        /// The step that asked for it.
        sequence: Sequence,
        /// True if the scene is sent, too.
        with_scene: bool,
    },
    /// It is over.
    Finished(StopReason),
}

/// A step with all that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct StepWork {
    /// The step.
    pub step: Arc<Step>,
    /// The snapshots of the cells that it gives to this secondary, in order of their ids.
    pub snapshots: Vec<CellSnapshot>,
    /// The step that it follows, when more was done ahead: that is taken back first.
    pub back_to: Option<Sequence>,
}

/// A secondary.
#[derive(Debug)]
pub struct Secondary {
    settings: SecondarySettings,
    session: SessionId,
    phase: Phase,
    jobs: Jobs,
    refused: RefusedCounts,
}

#[derive(Debug)]
enum Phase {
    /// Not started yet.
    New,
    /// Asks to join.
    Joining {
        since: SessionTime,
        next_attempt: SessionTime,
    },
    /// Reads the world.
    Loading {
        /// True if the run has begun.
        has_begun: bool,
    },
    /// Answers steps.
    Serving(Box<Serving>),
    /// It is over.
    Finished {
        /// True if the run ends with it.
        has_run_ended: bool,
    },
}

impl Secondary {
    /// Makes a secondary.
    pub fn new(settings: SecondarySettings) -> Self {
        Self {
            settings,
            session: SessionId::UNKNOWN,
            phase: Phase::New,
            jobs: Jobs::default(),
            refused: RefusedCounts::default(),
        }
    }

    /// Returns the session that it was welcomed to.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Returns its name.
    pub fn name(&self) -> &PeerName {
        &self.settings.info.name
    }

    /// Tells whether the primary said that the run ends.
    pub fn has_run_ended(&self) -> bool {
        matches!(
            self.phase,
            Phase::Finished {
                has_run_ended: true
            }
        )
    }

    /// Returns how many messages were refused.
    pub fn refused(&self) -> RefusedCounts {
        self.refused
    }

    /// Advances the secondary by one input.
    pub fn handle(
        &mut self,
        input: SecondaryInput,
        now: SessionTime,
        out: &mut Vec<SecondaryOutput>,
    ) {
        if matches!(self.phase, Phase::Finished { .. }) {
            return;
        }
        match input {
            SecondaryInput::Started => self.join(now, now, out),
            SecondaryInput::Primary(envelope) => self.on_primary(envelope, out),
            SecondaryInput::Malformed => self.refused.malformed += 1,
            SecondaryInput::WorldLoaded(world) => self.on_world_loaded(world, out),
            SecondaryInput::WorldFailed(error) => {
                self.leave(StopReason::new(Outcome::ConfigurationError, error), out);
            }
            SecondaryInput::ReadersMissing(error) => {
                self.leave(StopReason::new(Outcome::TimedOut, error), out);
            }
            SecondaryInput::StepComputed(ack) => self.on_step_computed(ack, out),
            SecondaryInput::StepsAheadComputed(part) => {
                if let Phase::Serving(serving) = &mut self.phase {
                    let part = Arc::new(part);
                    serving.on_ahead_computed(&part);
                    let part = SecondaryToPrimary::StepsAhead(part);
                    out.push(SecondaryOutput::Send(part));
                }
            }
            SecondaryInput::CaughtUp {
                end,
                answer,
                snapshots,
            } => {
                if let Phase::Serving(serving) = &mut self.phase
                    && answer.result.is_ok()
                {
                    serving.on_caught_up(end, snapshots);
                }
                self.answer_job(answer, out);
            }
            SecondaryInput::StepRefused(why) => {
                let cause = format!("the primary broke the protocol: {why}");
                self.leave(StopReason::new(Outcome::PeerLost, cause), out);
            }
            SecondaryInput::StepDiverged(report) => {
                let reason = StopReason::new(Outcome::DigestMismatch, report.sentence());
                out.push(SecondaryOutput::Send(SecondaryToPrimary::Diverged(report)));
                self.leave(reason, out);
            }
            SecondaryInput::RosMessages(messages) => {
                if matches!(self.phase, Phase::Serving(_)) {
                    let messages = SecondaryToPrimary::RosMessages(messages);
                    out.push(SecondaryOutput::Send(messages));
                }
            }
            SecondaryInput::PrimaryLost(how) => {
                self.leave(StopReason::new(Outcome::PeerLost, how), out);
            }
            SecondaryInput::PrimaryStops(reason) => self.leave_with_run(reason, out),
            SecondaryInput::Interrupted(signal) => {
                let cause = format!("{} received {signal}", self.settings.info.name);
                self.leave(StopReason::new(Outcome::Interrupted, cause), out);
            }
            SecondaryInput::DeadlinePassed => self.on_deadline_passed(now, out),
        }
    }

    /// Returns when [`SecondaryInput::DeadlinePassed`] is due, if ever.
    pub fn deadline(&self) -> Option<SessionTime> {
        match &self.phase {
            Phase::Joining {
                since,
                next_attempt,
            } => Some((*since + self.settings.peer_timeout).min(*next_attempt)),
            // Whatever comes goes first: it may replace the steps that are left.
            Phase::Serving(serving) => serving.goes_on().then_some(SessionTime(0)),
            Phase::New | Phase::Loading { .. } | Phase::Finished { .. } => None,
        }
    }

    fn on_primary(
        &mut self,
        envelope: Envelope<PrimaryToSecondary>,
        out: &mut Vec<SecondaryOutput>,
    ) {
        let Envelope { session, body, .. } = envelope;
        match body {
            PrimaryToSecondary::Welcome(welcome) => self.on_welcome(session, welcome, out),
            PrimaryToSecondary::Refused(refusal) => {
                if matches!(self.phase, Phase::Joining { .. }) {
                    let cause = format!("the primary refused {}: {}", self.name(), refusal.reason);
                    self.finish(StopReason::new(Outcome::ConfigurationError, cause), out);
                }
            }
            _ if session != self.session => self.refused.foreign += 1,
            PrimaryToSecondary::Sync => self.on_sync(out),
            PrimaryToSecondary::Step(step) => self.on_step(step, out),
            PrimaryToSecondary::CellSnapshot(snapshot) => self.on_snapshot(snapshot, out),
            PrimaryToSecondary::CatchUp(part) => self.on_catch_up(*part, out),
            PrimaryToSecondary::HeartbeatEcho(_) => self.refused.malformed += 1,
            PrimaryToSecondary::Stop(reason) => self.leave_with_run(reason, out),
            PrimaryToSecondary::Dismiss(reason) => self.leave(reason, out),
        }
    }

    fn join(&mut self, since: SessionTime, now: SessionTime, out: &mut Vec<SecondaryOutput>) {
        self.phase = Phase::Joining {
            since,
            next_attempt: now + JOIN_INTERVAL,
        };
        out.push(SecondaryOutput::Send(SecondaryToPrimary::Join(
            self.settings.info.clone(),
        )));
    }

    fn on_welcome(
        &mut self,
        session: SessionId,
        welcome: Box<Welcome>,
        out: &mut Vec<SecondaryOutput>,
    ) {
        if matches!(self.phase, Phase::Joining { .. }) {
            self.session = session;
            let has_begun = welcome.has_begun;
            self.phase = Phase::Loading { has_begun };
            out.push(SecondaryOutput::LoadWorld(welcome));
        } else {
            self.refused.duplicate += 1;
        }
    }

    fn on_world_loaded(&mut self, world: WorldLoaded, out: &mut Vec<SecondaryOutput>) {
        let has_begun = matches!(self.phase, Phase::Loading { has_begun: true });
        self.phase = Phase::Serving(Box::new(Serving::new(world.cell_count, has_begun)));
        out.push(SecondaryOutput::Send(SecondaryToPrimary::Loaded(Loaded {
            world_digest: world.digest,
            gpu: world.gpu,
        })));
    }

    fn on_sync(&mut self, out: &mut Vec<SecondaryOutput>) {
        if let Phase::Serving(serving) = &self.phase
            && serving.is_new()
        {
            out.push(SecondaryOutput::Send(SecondaryToPrimary::Synced));
        }
    }

    fn on_step(&mut self, step: Arc<Step>, out: &mut Vec<SecondaryOutput>) {
        let Phase::Serving(serving) = &mut self.phase else {
            self.refused.malformed += 1;
            return;
        };
        let sequence = step.sequence;
        match serving.on_step(step, &self.settings.info.name) {
            StepVerdict::Run(work) => out.push(SecondaryOutput::RunStep(work)),
            StepVerdict::Hold => {}
            StepVerdict::Duplicate(answer) => {
                self.refused.duplicate += 1;
                let answer = answer.map(SecondaryToPrimary::StepAck);
                out.extend(answer.map(SecondaryOutput::Send));
            }
            StepVerdict::Stale | StepVerdict::Early => self.refused.stale += 1,
            StepVerdict::OutOfOrder(done) => {
                let cause = format!("step {sequence} came after step {done}");
                self.leave(StopReason::new(Outcome::PeerLost, cause), out);
            }
        }
    }

    fn on_snapshot(&mut self, snapshot: CellSnapshot, out: &mut Vec<SecondaryOutput>) {
        let Phase::Serving(serving) = &mut self.phase else {
            self.refused.malformed += 1;
            return;
        };
        match serving.on_snapshot(snapshot, &self.settings.info.name) {
            SnapshotVerdict::Kept(work) => {
                out.extend(work.map(SecondaryOutput::RunStep));
            }
            SnapshotVerdict::Duplicate => self.refused.duplicate += 1,
            SnapshotVerdict::Stale => self.refused.stale += 1,
            SnapshotVerdict::Malformed => self.refused.malformed += 1,
        }
    }

    fn on_catch_up(&mut self, part: CatchUp, out: &mut Vec<SecondaryOutput>) {
        let Phase::Serving(serving) = &self.phase else {
            self.refused.malformed += 1;
            return;
        };
        let (takes_part, position) = (serving.takes_part(), serving.position());
        let job = part.job;
        match self.jobs.on_part(part) {
            PartVerdict::Kept => {}
            PartVerdict::Duplicate(answer) => {
                self.refused.duplicate += 1;
                let answer = answer.map(SecondaryToPrimary::CaughtUp);
                out.extend(answer.map(SecondaryOutput::Send));
            }
            PartVerdict::Malformed(reason) => {
                self.refused.malformed += 1;
                let reason = format!("the job is malformed: {reason}");
                let result = Err(CatchUpError { reason });
                self.answer_job(CaughtUp { job, result }, out);
            }
            PartVerdict::Complete(mut work, from) => {
                // It may take part since the primary said so.
                work.becomes_host &= !takes_part;
                if work.goes_on && (takes_part || from != position) {
                    let reason = format!("it goes on from step {from}, not from {position}");
                    let result = Err(CatchUpError { reason });
                    return self.answer_job(CaughtUp { job, result }, out);
                }
                out.push(SecondaryOutput::CatchUp(work));
            }
        }
    }

    fn answer_job(&mut self, answer: CaughtUp, out: &mut Vec<SecondaryOutput>) {
        self.jobs.on_done(answer.clone());
        let answer = SecondaryToPrimary::CaughtUp(Box::new(answer));
        out.push(SecondaryOutput::Send(answer));
    }

    fn on_step_computed(&mut self, ack: StepAck, out: &mut Vec<SecondaryOutput>) {
        if let Phase::Serving(serving) = &mut self.phase {
            let sequence = ack.sequence;
            let ack = Arc::new(ack);
            let checkpoint = serving.on_computed(&ack);
            out.push(SecondaryOutput::Send(SecondaryToPrimary::StepAck(ack)));
            out.extend(checkpoint.map(|with_scene| SecondaryOutput::Checkpoint {
                sequence,
                with_scene,
            }));
        }
    }

    fn on_deadline_passed(&mut self, now: SessionTime, out: &mut Vec<SecondaryOutput>) {
        let (since, next_attempt) = match &self.phase {
            Phase::Joining {
                since,
                next_attempt,
            } => (*since, *next_attempt),
            Phase::Serving(serving) => {
                out.extend(serving.goes_on().then_some(SecondaryOutput::RunAhead));
                return;
            }
            Phase::New | Phase::Loading { .. } | Phase::Finished { .. } => return,
        };
        if now >= since + self.settings.peer_timeout {
            let seconds = self.settings.peer_timeout.as_secs_f64();
            let cause = format!("no primary answered {} in {seconds} s", self.name());
            self.finish(StopReason::new(Outcome::TimedOut, cause), out);
        } else if now >= next_attempt {
            self.join(since, now, out);
        }
    }

    fn leave(&mut self, reason: StopReason, out: &mut Vec<SecondaryOutput>) {
        if self.session != SessionId::UNKNOWN {
            out.push(SecondaryOutput::Send(SecondaryToPrimary::Leave(
                reason.clone(),
            )));
        }
        self.finish(reason, out);
    }

    fn leave_with_run(&mut self, reason: StopReason, out: &mut Vec<SecondaryOutput>) {
        self.leave(reason, out);
        self.phase = Phase::Finished {
            has_run_ended: true,
        };
    }

    fn finish(&mut self, reason: StopReason, out: &mut Vec<SecondaryOutput>) {
        self.phase = Phase::Finished {
            has_run_ended: false,
        };
        out.push(SecondaryOutput::Finished(reason));
    }
}
