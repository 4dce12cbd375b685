//! The secondary's rules: join, load, answer each step once, leave in order.
//!
//! What a step does to cells is the driver's: the rules say when one is to be done and which
//! messages are late, repeated or foreign.

use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_secondary::{PrimaryToSecondary, Step, Welcome};
use protocol::report::RefusedCounts;
use protocol::secondary_to_primary::{Loaded, SecondaryToPrimary, StepAck};
use protocol::{
    Digest, Envelope, PeerInfo, PeerName, Sequence, SessionId, SessionTime, StopReason,
};

/// Time between attempts to join.
const JOIN_INTERVAL: Duration = Duration::from_millis(250);

/// What a secondary is told on its command line.
#[derive(Clone, Debug)]
pub struct SecondarySettings {
    /// What it says of itself.
    pub info: PeerInfo,
    /// How long to wait for a primary.
    pub peer_timeout: Duration,
}

/// What happens to a secondary.
#[derive(Clone, Debug)]
pub enum SecondaryInput {
    /// The first input, once.
    Started,
    /// A message of the primary.
    Primary(Envelope<PrimaryToSecondary>),
    /// Bytes that are no message.
    Malformed,
    /// The world of the welcome is read, with this digest.
    WorldLoaded(Digest),
    /// The world of the welcome could not be read, and why.
    WorldFailed(String),
    /// The step asked for is done.
    StepComputed(StepAck),
    /// The step asked for cannot be done, and why: the primary broke the protocol.
    StepRefused(String),
    /// The primary is gone or silent, and how that shows.
    PrimaryLost(String),
    /// The primary ends the run, as heard on the status socket.
    PrimaryStops(StopReason),
    /// A signal asks to end, named.
    Interrupted(String),
    /// The time given by [`Secondary::deadline`] has come.
    DeadlinePassed,
}

/// What a secondary wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum SecondaryOutput {
    /// Send to the primary.
    Send(SecondaryToPrimary),
    /// Start the heartbeat, then read the world: a long load is no silence.
    LoadWorld(Box<Welcome>),
    /// Do a step, then report [`SecondaryInput::StepComputed`].
    RunStep(Step),
    /// It is over.
    Finished(StopReason),
}

/// A secondary.
#[derive(Debug)]
pub struct Secondary {
    settings: SecondarySettings,
    session: SessionId,
    phase: Phase,
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
    Loading,
    /// Answers steps; holds the last answer for a step that comes twice.
    Serving {
        last: Option<StepAck>,
        computing: Option<Sequence>,
    },
    /// It is over.
    Finished,
}

impl Secondary {
    /// Makes a secondary.
    pub fn new(settings: SecondarySettings) -> Self {
        Self {
            settings,
            session: SessionId::UNKNOWN,
            phase: Phase::New,
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
        if matches!(self.phase, Phase::Finished) {
            return;
        }
        match input {
            SecondaryInput::Started => self.join(now, now, out),
            SecondaryInput::Primary(envelope) => self.on_primary(envelope, out),
            SecondaryInput::Malformed => self.refused.malformed += 1,
            SecondaryInput::WorldLoaded(digest) => self.on_world_loaded(digest, out),
            SecondaryInput::WorldFailed(error) => {
                self.leave(StopReason::new(Outcome::ConfigurationError, error), out);
            }
            SecondaryInput::StepComputed(ack) => self.on_step_computed(ack, out),
            SecondaryInput::StepRefused(why) => {
                let cause = format!("the primary broke the protocol: {why}");
                self.leave(StopReason::new(Outcome::PeerLost, cause), out);
            }
            SecondaryInput::PrimaryLost(how) => {
                self.leave(StopReason::new(Outcome::PeerLost, how), out);
            }
            SecondaryInput::PrimaryStops(reason) => self.leave(reason, out),
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
            Phase::New | Phase::Loading | Phase::Serving { .. } | Phase::Finished => None,
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
            PrimaryToSecondary::Step(step) => self.on_step(*step, out),
            PrimaryToSecondary::CellSnapshot(_) | PrimaryToSecondary::HeartbeatEcho(_) => {
                self.refused.malformed += 1;
            }
            PrimaryToSecondary::Stop(reason) => self.leave(reason, out),
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
            self.phase = Phase::Loading;
            out.push(SecondaryOutput::LoadWorld(welcome));
        } else {
            self.refused.duplicate += 1;
        }
    }

    fn on_world_loaded(&mut self, world_digest: Digest, out: &mut Vec<SecondaryOutput>) {
        self.phase = Phase::Serving {
            last: None,
            computing: None,
        };
        out.push(SecondaryOutput::Send(SecondaryToPrimary::Loaded(Loaded {
            world_digest,
        })));
    }

    fn on_sync(&mut self, out: &mut Vec<SecondaryOutput>) {
        if let Phase::Serving {
            last: None,
            computing: None,
        } = &self.phase
        {
            out.push(SecondaryOutput::Send(SecondaryToPrimary::Synced));
        }
    }

    fn on_step(&mut self, step: Step, out: &mut Vec<SecondaryOutput>) {
        let Phase::Serving { last, computing } = &mut self.phase else {
            self.refused.malformed += 1;
            return;
        };
        let done = last.as_ref().map_or(Sequence(0), |ack| ack.sequence);
        if step.sequence == done || Some(step.sequence) == *computing {
            self.refused.duplicate += 1;
            if computing.is_none()
                && let Some(ack) = last
            {
                out.push(SecondaryOutput::Send(SecondaryToPrimary::StepAck(
                    ack.clone(),
                )));
            }
        } else if step.sequence < done {
            self.refused.stale += 1;
        } else if step.sequence == done.next() && computing.is_none() {
            *computing = Some(step.sequence);
            out.push(SecondaryOutput::RunStep(step));
        } else {
            let cause = format!("step {} came after step {done}", step.sequence);
            self.leave(StopReason::new(Outcome::PeerLost, cause), out);
        }
    }

    fn on_step_computed(&mut self, ack: StepAck, out: &mut Vec<SecondaryOutput>) {
        if let Phase::Serving { last, computing } = &mut self.phase {
            assert_eq!(
                *computing,
                Some(ack.sequence),
                "only the step asked for is computed"
            );
            *computing = None;
            *last = Some(ack.clone());
            out.push(SecondaryOutput::Send(SecondaryToPrimary::StepAck(ack)));
        }
    }

    fn on_deadline_passed(&mut self, now: SessionTime, out: &mut Vec<SecondaryOutput>) {
        let Phase::Joining {
            since,
            next_attempt,
        } = self.phase
        else {
            return;
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

    fn finish(&mut self, reason: StopReason, out: &mut Vec<SecondaryOutput>) {
        self.phase = Phase::Finished;
        out.push(SecondaryOutput::Finished(reason));
    }
}
