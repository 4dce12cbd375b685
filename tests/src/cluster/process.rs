//! A secondary as a process of the simulated cluster: its stepper, which may be busy, and its
//! heart, which beats beside it.

use std::collections::VecDeque;
use std::time::Duration;

use lockstep::{SecondaryInput, SecondarySettings};
use protocol::secondary_to_primary::{Heartbeat, WorkProgress};
use protocol::{PeerName, Role, RoutingId, SecondaryToPrimary, Sequence, SessionTime, StopReason};
use worker::identity;
use worker::secondary::SecondaryEngine;

/// Time for which a secondary waits for a primary that answers.
const PEER_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of steps in a part of a window.
const PART_STEPS: usize = 5;

/// State of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It does.
    Running,
    /// It was stopped as by SIGSTOP; what arrives waits.
    Stopped,
    /// It has ended or was killed.
    Gone,
}

/// Message that arrives at the heart of a secondary.
#[derive(Clone, Debug)]
pub(super) enum Sign {
    /// The primary answered a beat, or beat itself.
    Alive,
    /// The primary ends the run.
    Stopping(StopReason),
}

/// The thread that beats.
#[derive(Debug)]
pub(super) struct Heart {
    /// Time between beats, by the cluster's clock.
    pub(super) interval: Duration,
    /// Silence after which the primary counts as lost, by the cluster's clock.
    pub(super) timeout: Duration,
    pub(super) heard_at: SessionTime,
    pub(super) is_lost: bool,
    count: u64,
}

impl Heart {
    pub(super) fn new(interval: Duration, timeout: Duration, now: SessionTime) -> Self {
        Self {
            interval,
            timeout,
            heard_at: now,
            is_lost: false,
            count: 0,
        }
    }

    /// Returns the next beat, which says how far the stepper has come.
    pub(super) fn beat(&mut self, work: WorkProgress) -> SecondaryToPrimary {
        self.count += 1;
        SecondaryToPrimary::Heartbeat(Heartbeat {
            count: self.count,
            work,
            ..Heartbeat::default()
        })
    }
}

/// A secondary.
pub(super) struct Process {
    pub(super) name: PeerName,
    pub(super) routing: RoutingId,
    pub(super) engine: SecondaryEngine,
    pub(super) life: Life,
    /// Number of stalls that are not over.
    pub(super) stalls: u32,
    /// Number of the primary that it belongs to.
    pub(super) of_primary: u32,
    /// Inputs that the stepper has not handled yet.
    pub(super) inbox: VecDeque<SecondaryInput>,
    /// Messages that the stepper sends once it is no longer busy, and the reason for which it ends
    /// then.
    pub(super) outbox: Vec<SecondaryToPrimary>,
    pub(super) ending: Option<StopReason>,
    pub(super) is_busy: bool,
    /// Until when it is busy.
    pub(super) busy_until: SessionTime,
    /// Time for which the stepper works on a step at least \[us\].
    pub(super) step_us: u64,
    pub(super) heart: Option<Heart>,
    /// Signs that the heart has not handled yet, and whether it is time for a beat.
    pub(super) signs: VecDeque<Sign>,
    pub(super) is_beat_due: bool,
    /// Number of parts in 1,000 by which its clock is slow; faster when negative.
    pub(super) skew_permille: i64,
}

impl Process {
    /// Starts the process of this number, which is its address.
    pub(super) fn new(number: usize, name: PeerName, of_primary: u32) -> Self {
        let mut engine = SecondaryEngine::new(SecondarySettings {
            info: identity::peer_info(name.clone(), Role::Secondary),
            peer_timeout: PEER_TIMEOUT,
        });
        // The clock of this machine is not that of the cluster.
        engine.set_part_steps(PART_STEPS);
        Self {
            routing: RoutingId::from(format!("r{}", number + 1).as_str()),
            name,
            engine,
            life: Life::Running,
            stalls: 0,
            of_primary,
            inbox: VecDeque::new(),
            outbox: Vec::new(),
            ending: None,
            is_busy: false,
            busy_until: SessionTime(0),
            step_us: 0,
            heart: None,
            signs: VecDeque::new(),
            is_beat_due: false,
            skew_permille: 0,
        }
    }

    /// Returns how long something takes by the cluster's clock that is so long by its own.
    pub(super) fn by_its_clock(&self, duration: Duration) -> Duration {
        let permille = u32::try_from(1000 + self.skew_permille).expect("clocks do not run back");
        duration.saturating_mul(permille) / 1000
    }

    /// Returns how far its stepper has come: what it will have done is known beforehand here.
    pub(super) fn progress(&self, now: SessionTime) -> WorkProgress {
        let mut work = self.engine.progress().get();
        if self.is_busy {
            for message in &self.outbox {
                match message {
                    SecondaryToPrimary::StepAck(_) => work.answered = Sequence(work.step.0 - 1),
                    SecondaryToPrimary::CaughtUp(_) => work.answered_job = work.job - 1,
                    _ => {}
                }
            }
            let left = self.busy_until.since(now).as_micros() as u64;
            let steps = left.div_ceil(self.step_us.max(1));
            work.replayed = Sequence(work.replayed.0.saturating_sub(steps));
        }
        work
    }

    /// Returns when its stepper wants to be woken, if ever.
    pub(super) fn deadline(&self) -> Option<SessionTime> {
        let is_listening = self.life == Life::Running && !self.is_busy;
        let deadline = || self.engine.secondary().deadline();
        is_listening.then(deadline).flatten()
    }
}
