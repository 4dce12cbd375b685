//! [`Replay`]: iterations that were complete before a run was resumed. They are done once more,
//! with the commands of then, and must come to the same digests.
//!
//! Meanwhile time runs as fast as it can, commands of clients wait, and commands of systems about
//! when time passes are left out: their outcome is known.

use protocol::report::divergence::{DivergenceReport, FoundBy, StepResult};
use protocol::{Command, Digest, Iteration, PeerName, ScheduledCommand, Sequence};
use serde::{Deserialize, Serialize};

use crate::primary::resume::Resume;
use crate::primary::run_clock::ClockMode;
use crate::primary::world::WorldState;

/// Wanted state of a run: running or not, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunTarget {
    /// True if time runs at all.
    pub is_running: bool,
    /// Time when it stops by itself.
    pub until: Option<Iteration>,
    /// Simulated over real time; 0 is as fast as possible.
    pub real_time_factor: f64,
}

/// Iterations and commands since a checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// The digests of all iterations since, in order.
    pub digests: Vec<Digest>,
    /// The commands that were done since, in order.
    pub commands: Vec<ScheduledCommand>,
    /// Number of commands of the schedule that were not done yet; `None` when nothing was done
    /// since.
    pub schedule_left: Option<u64>,
    /// Wanted state in the end, if that has changed since.
    pub target: Option<RunTarget>,
}

/// Iterations that are done again.
#[derive(Debug)]
pub(crate) struct Replaying {
    digests: std::vec::IntoIter<Digest>,
    until: Iteration,
    schedule_left: u64,
    target: RunTarget,
}

impl Resume {
    /// Returns the number of entries of the schedule that come only after the replay.
    pub(crate) fn schedule_after_replay(&self) -> usize {
        let replay = self.replay.as_ref();
        replay.map_or(0, |replay| {
            usize::try_from(replay.schedule_left).unwrap_or(usize::MAX)
        })
    }

    /// Tells whether a command has to wait until all is replayed.
    pub(crate) fn has_to_wait(&self, command: &Command) -> bool {
        // A program that joins meanwhile is asked once what is new begins.
        let may_come = matches!(
            command,
            Command::Stop
                | Command::Interrupt
                | Command::JoinBarrier(_)
                | Command::LeaveBarrier { .. }
        );
        self.is_replaying() && !command.only_asks() && !may_come
    }

    /// Tells whether a message of a node of ROS 2 cannot be taken in now, and is dropped: it would
    /// be old once the past is replayed, or could not be written down.
    pub(crate) fn is_closed_to(&self, message: &Command) -> bool {
        self.is_replaying() || self.reason_to_stand_still(message).is_some()
    }

    /// Returns the wanted state of the run, whose clock and factor are these.
    pub(crate) fn target(&self, mode: ClockMode, real_time_factor: f64) -> RunTarget {
        if let Some(replay) = &self.replay {
            return replay.target;
        }
        let mode = self.mode_asked_for(mode);
        RunTarget {
            is_running: matches!(mode, ClockMode::Running | ClockMode::Until(_)),
            until: match mode {
                ClockMode::Until(last) => Some(last),
                ClockMode::Paused | ClockMode::Pausing | ClockMode::Running => None,
            },
            real_time_factor,
        }
    }

    /// Tells whether iterations are being replayed.
    pub(crate) fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Returns the last iteration that is replayed, if any is.
    pub(crate) fn replays_until(&self) -> Option<Iteration> {
        self.replay.as_ref().map(|replay| replay.until)
    }

    /// Has iterations after this one replayed; all but `schedule_left` entries of the schedule are
    /// done meanwhile.
    pub(crate) fn begin_replay(
        &mut self,
        digests: Vec<Digest>,
        after: Iteration,
        schedule_left: u64,
        target: RunTarget,
    ) {
        self.replay = Some(Replaying {
            until: Iteration(after.0 + digests.len() as u64),
            digests: digests.into_iter(),
            schedule_left,
            target,
        });
    }

    /// Compares the digest of an iteration with that of before, if it is replayed; reports the
    /// difference.
    pub(crate) fn check_replayed(
        &mut self,
        (iteration, sequence): (Iteration, Sequence),
        world: &WorldState,
    ) -> Option<DivergenceReport> {
        let digest = world.digest();
        let expected = self.replay.as_mut()?.digests.next()?;
        if expected == digest {
            return None;
        }
        let result = |label: &str, digest, states| StepResult {
            label: label.to_owned(),
            digest: Some(digest),
            states,
        };
        Some(DivergenceReport {
            iteration,
            sequence,
            peer: PeerName::primary(),
            cell: "any".to_owned(),
            performer: None,
            field: None,
            difference: format!("it came to {digest} and before to {expected}"),
            found_by: FoundBy::Resume,
            results: vec![
                result("as it was committed", expected, Vec::new()),
                result("as it was done again", digest, world.named_states()),
            ],
        })
    }

    /// Ends the replay once all is done; returns the mode of the clock and the real-time factor
    /// with which the run goes on.
    pub(crate) fn end_replay_when_done(
        &mut self,
        iteration: Iteration,
        schedule_left: u64,
    ) -> Option<(ClockMode, f64)> {
        let is_done = |replay: &mut Replaying| {
            iteration >= replay.until && schedule_left <= replay.schedule_left
        };
        let target = self.replay.take_if(is_done)?.target;
        let mode = match target.until {
            _ if !target.is_running => ClockMode::Paused,
            Some(last) if last > iteration => ClockMode::Until(last),
            Some(_) => ClockMode::Paused,
            None => ClockMode::Running,
        };
        Some((mode, target.real_time_factor))
    }
}
