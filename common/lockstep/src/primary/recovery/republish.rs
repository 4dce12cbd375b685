//! What a lost secondary said on topics and may not have sent any more: it is said once more by who
//! does its steps again.

use protocol::primary_to_secondary::{AffinityChange, DataAgain};
use protocol::{CellId, PeerName, Sequence};

use crate::primary::Primary;

impl Primary {
    /// Takes note of the last step of which observers have all that was said in it, and of all
    /// steps before: it is not said once more when somebody is lost.
    pub fn note_delivered(&mut self, sequence: Sequence) {
        self.recovery.delivered = Some(sequence);
        self.recovery.step_log.forget(self.recovery.delivered);
    }

    /// Tells whether lost cells are being restored.
    pub fn is_recovering(&self) -> bool {
        self.recovery.losses.is_under_way()
    }

    /// Returns what observers may lack of what somebody who is lost said: what was said after the
    /// last step of which they have all, while it hosted these cells.
    pub(crate) fn republish(&self, lost: &PeerName, cells: &[CellId]) -> DataAgain {
        let under_way = self.barrier.round.as_ref().map(|round| &*round.step);
        let mut after = self
            .recovery
            .delivered
            .unwrap_or(self.recovery.step_log.until());
        let mut of_worlds = false;
        for step in self.recovery.step_log.after(after).chain(under_way) {
            let changed = |change: &AffinityChange| cells.contains(&change.cell);
            if step.affinities.iter().any(changed) {
                after = Sequence(step.sequence.0 - 1);
            }
            of_worlds |= step.speaker.as_ref() == Some(lost);
        }
        DataAgain {
            of: lost.clone(),
            after,
            of_worlds,
        }
    }
}
