//! [`Rest`]: whom an update has to look at, and whether it could change anything at all.

use protocol::{Iteration, PerformerId};

use super::moved::Moved;

/// Knowledge of what an update could change. At first there is none, so that every update looks at
/// everybody.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// True if it is told before each update whose states have changed.
    is_told: bool,
    /// Performers whose states have changed since the last update.
    moved: Moved,
    /// True if the last update found nothing to change and nobody who waits.
    is_settled: bool,
    /// True if nothing but states has changed since all were looked at.
    is_undisturbed: bool,
    /// The iteration of the last update.
    pub(super) updated: Option<Iteration>,
}

impl Rest {
    /// Notes whose states have changed.
    pub(super) fn note_moved(&mut self, moved: &mut Moved) {
        self.is_told = true;
        self.moved.append(moved);
    }

    /// Tells whether the next update would find what the last one found.
    pub(super) fn holds(&self) -> bool {
        self.is_told && self.is_settled && !self.moved.is_any()
    }

    /// Begins an update, which forgets what has moved. Tells whether it is enough to look at those
    /// in `moved`, which are ascending.
    pub(super) fn begin_update(&mut self, moved: &mut Vec<PerformerId>) -> bool {
        let are_known = self.moved.take(moved);
        are_known && self.is_told && self.is_undisturbed
    }

    /// Notes whether the update has changed anything, and whether somebody waits to go home.
    pub(super) fn end_update(&mut self, is_changed: bool, is_any_away: bool) {
        self.is_settled = !is_changed && !is_any_away;
        self.is_undisturbed = !is_changed;
    }

    /// Notes that something else than states has changed.
    pub(super) fn disturb(&mut self) {
        self.is_settled = false;
        self.is_undisturbed = false;
    }
}
