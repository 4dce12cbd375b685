//! Iterations that were complete before a run was taken up again: they are done once more, with the
//! commands of then, and must come to the same digests.
//!
//! Meanwhile time runs as fast as it can, clients have to wait, and what systems say about when
//! time passes is left out: what came of it is known.

use crate::primary::commands::Commands;
use crate::primary::resume::Resume;
use protocol::primary_to_observers::Severity;
use protocol::report::divergence::{DivergenceReport, FoundBy, StepResult};
use protocol::{Command, Digest, Iteration, PeerName, ScheduledCommand};
use serde::{Deserialize, Serialize};

use crate::pace::Pace;
use crate::primary::commands::services::Calls;
use crate::primary::context::Context;
use crate::primary::world::step_builder::Pending;
use crate::primary::{ClockMode, Primary, PrimaryOutput};

/// Whether time runs, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunTarget {
    /// True if time runs at all.
    pub is_running: bool,
    /// Time when it stops by itself.
    pub until: Option<Iteration>,
    /// Simulated over real time; 0 is as fast as possible.
    pub real_time_factor: f64,
}

/// What was done since a checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// The digests of all iterations since, in order.
    pub digests: Vec<Digest>,
    /// The commands that were done since, in order.
    pub commands: Vec<ScheduledCommand>,
    /// How many commands of the schedule were not done yet; `None` when nothing was done since.
    pub schedule_left: Option<u64>,
    /// What steps aimed at in the end, if that has changed since.
    pub aim: Option<RunTarget>,
}

/// Iterations that are done again.
#[derive(Debug)]
pub(crate) struct Replaying {
    digests: std::vec::IntoIter<Digest>,
    until: Iteration,
    schedule_left: u64,
    aim: RunTarget,
}

impl Commands {
    /// Returns how many entries of the schedule are not done yet: those of an iteration that waits
    /// for states are not, though they were taken into it.
    pub(crate) fn schedule_left(&self) -> u64 {
        let waiting = self.pending.as_ref().map_or(0, Pending::scheduled_for_time);
        self.queue.schedule_left() + waiting
    }
}

impl Resume {
    /// Returns how many entries of the schedule come only after what is done again.
    pub(crate) fn schedule_after_replay(&self) -> usize {
        let redo = self.replay.as_ref();
        redo.map_or(0, |redo| {
            usize::try_from(redo.schedule_left).unwrap_or(usize::MAX)
        })
    }

    /// Returns why a command cannot be done now: iterations are done again, or nothing that is done
    /// can be written down.
    pub(crate) fn reason_to_wait(&self, command: &Command) -> Option<String> {
        let Some(redo) = &self.replay else {
            return self.reason_to_stand_still(command);
        };
        if command.only_asks() || matches!(command, Command::Stop | Command::Interrupt) {
            return None;
        }
        Some(format!(
            "the run does again what it had done, up to iteration {}: wait until it goes on",
            redo.until
        ))
    }
}

impl Primary {
    /// Returns what steps aim at.
    pub fn aim(&self) -> RunTarget {
        if let Some(redo) = &self.resume.replay {
            return redo.aim;
        }
        let mode = self.mode_asked_for();
        RunTarget {
            is_running: matches!(mode, ClockMode::Running | ClockMode::Until(_)),
            until: match mode {
                ClockMode::Until(last) => Some(last),
                ClockMode::Paused | ClockMode::Pausing | ClockMode::Running => None,
            },
            real_time_factor: self.settings.real_time_factor,
        }
    }

    /// Tells whether iterations are being done again.
    pub fn is_redoing(&self) -> bool {
        self.resume.replay.is_some()
    }

    /// Has a run that has not begun do again what was done, before anything new.
    pub fn begin_redo(&mut self, redo: Replay) {
        let aim = redo.aim.unwrap_or_else(|| self.aim());
        if redo == Replay::default() {
            return;
        }
        let known = self.commands.queue.schedule_left();
        let schedule_left = redo.schedule_left.unwrap_or(known).min(known);
        self.commands.queue.repeat(redo.commands, schedule_left);
        // What systems called for is over, or would hold up what is done again.
        self.commands.calls = Calls::default();
        self.commands.waiters.clear();
        self.clock.mode = ClockMode::Running;
        self.resume.replay = Some(Replaying {
            until: Iteration(self.clock.iteration.0 + redo.digests.len() as u64),
            digests: redo.digests.into_iter(),
            schedule_left,
            aim,
        });
    }

    /// Tells whether the next step is one that is done again.
    pub(crate) fn has_to_replay(&self) -> bool {
        self.resume.replay.is_some() && self.clock.mode == ClockMode::Running
    }

    /// Compares the digest of an iteration with that of then; ends the run where they differ.
    pub(crate) fn check_replayed(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(expected) = self
            .resume
            .replay
            .as_mut()
            .and_then(|redo| redo.digests.next())
        else {
            return true;
        };
        if expected == self.world.digest {
            return true;
        }
        let result = |label: &str, digest, states| StepResult {
            label: label.to_owned(),
            digest: Some(digest),
            states,
        };
        let present = self.world.topology.present();
        let states = present
            .map(|id| self.world.named(self.performer(id).1))
            .collect();
        let report = DivergenceReport {
            iteration: self.clock.iteration,
            sequence: self.clock.sequence,
            peer: PeerName::primary(),
            cell: "any".to_owned(),
            performer: None,
            field: None,
            difference: format!("it came to {} and before to {expected}", self.world.digest),
            found_by: FoundBy::Resume,
            results: vec![
                result("as it was committed", expected, Vec::new()),
                result("as it was done again", self.world.digest, states),
            ],
        };
        self.diverge(report, cx);
        false
    }

    /// Goes on with what is new once all is done again.
    pub(crate) fn end_replay_when_done(&mut self, cx: &mut Context<'_>) {
        let is_done = |redo: &mut Replaying| {
            let left = self.commands.queue.schedule_left();
            self.clock.iteration >= redo.until
                && left <= redo.schedule_left
                && !self.commands.queue.are_due()
        };
        let Some(redo) = self.resume.replay.take_if(is_done) else {
            return;
        };
        let mode = match redo.aim {
            RunTarget {
                is_running: false, ..
            } => ClockMode::Paused,
            RunTarget {
                until: Some(last), ..
            } if last > self.clock.iteration => ClockMode::Until(last),
            RunTarget { until: Some(_), .. } => ClockMode::Paused,
            RunTarget { until: None, .. } => ClockMode::Running,
        };
        self.set_mode(mode);
        self.settings.real_time_factor = redo.aim.real_time_factor;
        self.clock.pace = Pace::new(self.settings.step_size, redo.aim.real_time_factor);
        self.clock.pace.restart(cx.now);
        let text = format!("the run goes on after iteration {}", self.clock.iteration);
        cx.event(Severity::Info, "recovery", text);
        self.observe_clock(cx);
        cx.push(PrimaryOutput::Redone);
    }
}
