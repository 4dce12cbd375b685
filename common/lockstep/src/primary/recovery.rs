//! [`Recovery`]: cells of lost secondaries are restored on others, from the last checkpoint and the
//! steps since, and the run goes on as if nothing had been.
//!
//! A loss is over when every cell that the lost one hosted has been brought up to date elsewhere,
//! and when the answer that it may have owed has been given in its place. Until then the round
//! under way is not complete and no other begins. The new hosts are told with the next step.
//! **Invariant:** what is done again has the digests that were acknowledged, or the run ends.

pub(crate) mod checkpoints;
pub(crate) mod jobs;
pub(crate) mod losses;
pub(crate) mod step_log;
pub(crate) mod task;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_secondary::{AffinityChange, DataAgain, Step};
use protocol::{CellId, PeerName, Sequence, SessionTime, StopReason};

use crate::checkpoint::Checkpoint;
use crate::peer_numbers::{ByPeer, PeerNumber, PeerNumbers};
use crate::primary::placement::host_map::HostMap;
use crate::primary::settings::{PeerLossPolicy, PeerSettings, RecoverySettings};
use checkpoints::Checkpoints;
use jobs::Jobs;
use losses::{Losses, NewLoss};
use step_log::StepLog;

/// State of recovery.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    losses: Losses,
    step_log: StepLog,
    checkpoints: Checkpoints,
    jobs: Jobs,
    /// The last step of which observers have all topic data. `None` while nobody says so: then they
    /// lack nothing.
    delivered: Option<Sequence>,
    /// The step of the last message that each secondary has answered.
    answered: ByPeer<Sequence>,
}

impl Recovery {
    pub(crate) fn losses(&self) -> &Losses {
        &self.losses
    }

    pub(crate) fn losses_mut(&mut self) -> &mut Losses {
        &mut self.losses
    }

    pub(crate) fn step_log(&self) -> &StepLog {
        &self.step_log
    }

    pub(crate) fn step_log_mut(&mut self) -> &mut StepLog {
        &mut self.step_log
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub(crate) fn jobs_mut(&mut self) -> &mut Jobs {
        &mut self.jobs
    }

    /// Tells whether the past is kept, from which lost cells are restored.
    pub(crate) fn keeps_past(&self, settings: &RecoverySettings) -> bool {
        let has_use = settings.on_peer_loss == PeerLossPolicy::Recover
            || settings.stand_bys > 0
            || settings.is_journaled;
        has_use && self.reason_against().is_none()
    }

    /// Tells whether the round under way cannot be complete, and no other can begin.
    pub(crate) fn is_held(&self) -> bool {
        self.losses.is_under_way() || self.jobs.holds()
    }

    /// Moves all deadlines by a time in which the primary itself did nothing.
    pub(crate) fn postpone(&mut self, by: Duration) {
        self.jobs.postpone(by);
        self.losses.postpone(by);
    }

    /// Goes on from a checkpoint in a run that was resumed: all its cells are lost.
    pub(crate) fn begin_from(&mut self, checkpoint: Checkpoint, now: SessionTime) {
        let cells: Vec<CellId> = checkpoint.cells.iter().map(|cell| cell.cell).collect();
        self.step_log = StepLog::since(Arc::new(checkpoint));
        let loss = NewLoss::of(&PeerName::primary(), cells);
        self.losses.lose(loss, now);
    }

    /// Leaves for others what somebody was to do again and does not.
    pub(crate) fn give_back_jobs_of(&mut self, name: &PeerName) {
        for task in self.jobs.take_of(name) {
            self.losses.give_back(task);
        }
    }

    /// Notes that observers have all topic data of a step and of those before.
    pub(crate) fn note_delivered(&mut self, sequence: Sequence) {
        self.delivered = Some(sequence);
        self.step_log.forget(self.delivered);
    }

    /// Notes that a secondary has answered a message. In ROS 2 it publishes what was said in the
    /// message's own step once that answer is on its way, along with what it held back of steps
    /// that it had done ahead of it.
    pub(crate) fn note_answered(&mut self, number: PeerNumber, sequence: Option<Sequence>) {
        if let Some(sequence) = sequence {
            *self.answered.entry(number) = sequence;
        }
    }

    /// Returns topic data of a lost secondary that observers may lack: what was said after the last
    /// step of which they have all, while it hosted these cells.
    ///
    /// An example: observers have all of step 7, and step 10 is under way. Of s1, which got its
    /// cell with step 9, they may lack steps 9 and 10, so all after step 8 is published again; of
    /// systems of worlds they lack it only if s1 was to speak for them in any of steps 8 to 10.
    pub(crate) fn republish(
        &self,
        lost: &PeerName,
        cells: &[CellId],
        under_way: Option<&Step>,
        known: &PeerNumbers,
    ) -> DataAgain {
        let mut after = self.delivered.unwrap_or(self.step_log.until());
        let number = known.find(lost);
        let published = number.and_then(|number| self.answered.get(number));
        let published = published.copied().unwrap_or_default();
        let mut hosted_after = Sequence::default();
        let mut of_worlds = false;
        let first = after.min(published);
        for step in self.step_log.after(first).chain(under_way) {
            let changed = |change: &AffinityChange| cells.contains(&change.cell);
            if step.affinities.iter().any(changed) {
                let before = Sequence(step.sequence.0 - 1);
                after = after.max(before);
                hosted_after = hosted_after.max(before);
            }
            of_worlds |= step.world_publisher.as_ref() == Some(lost);
        }
        DataAgain {
            of: lost.clone(),
            after,
            published,
            hosted_after,
            of_worlds,
        }
    }

    /// Loses again the cells that were up to date at a host that is lost now, and not told to be
    /// there. That is a loss of its own, since the answer about them is here already. In a run that
    /// was resumed they had no host before.
    pub(crate) fn lose_restored(
        &mut self,
        (name, known): (&PeerName, &PeerNumbers),
        host_map: &HostMap,
        under_way: Option<&Step>,
        now: SessionTime,
    ) {
        let mut of: BTreeMap<PeerName, Vec<CellId>> = BTreeMap::new();
        for cell in self.losses.take_restored_by(name) {
            let former = host_map.host(cell).cloned();
            let former = former.unwrap_or_else(PeerName::primary);
            of.entry(former).or_default().push(cell);
        }
        for (former, cells) in of {
            let is_resumed = former == PeerName::primary();
            let again = (!is_resumed).then(|| DataAgain {
                // Whoever restored them has published that with its answer.
                published: Sequence(u64::MAX),
                hosted_after: Sequence(u64::MAX),
                ..self.republish(&former, &cells, under_way, known)
            });
            let loss = NewLoss {
                again,
                ..NewLoss::of(&former, cells)
            };
            self.losses.lose(loss, now);
        }
    }

    /// Returns the reason to give up waiting for somebody to restore what is lost, if that time is
    /// over.
    pub(crate) fn gave_up(&self, settings: &PeerSettings, now: SessionTime) -> Option<StopReason> {
        let deadline = self.alone_deadline(settings)?;
        if now < deadline {
            return None;
        }
        let seconds = settings.peer_timeout.as_secs_f64();
        let cause = format!("all secondaries are lost, and none joined within {seconds} s");
        Some(StopReason::new(Outcome::PeerLost, cause))
    }

    /// Returns the time of the next deadline of jobs and losses.
    pub(crate) fn deadline(&self, settings: &PeerSettings) -> Option<SessionTime> {
        let alone = self.alone_deadline(settings).into_iter();
        alone.chain(self.jobs.deadline()).min()
    }

    fn alone_deadline(&self, settings: &PeerSettings) -> Option<SessionTime> {
        let since = self.losses.alone_since();
        since.map(|since| since + settings.peer_timeout)
    }
}
