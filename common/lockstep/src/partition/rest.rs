//! [`Rest`]: whether another update could change anything.

/// Knowledge of whether an update could change anything. At first there is none, so that every
/// update looks at everybody.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// True if it is told before each update whether states have changed.
    is_told: bool,
    /// True if some have since the last update.
    have_moved: bool,
    /// True if the last update found nothing to change and nobody who waits.
    is_settled: bool,
}

impl Rest {
    /// Notes whether states have changed.
    pub(super) fn note_moved(&mut self, have_moved: bool) {
        self.is_told = true;
        self.have_moved |= have_moved;
    }

    /// Tells whether the next update would find what the last one found.
    pub(super) fn holds(&self) -> bool {
        self.is_told && self.is_settled && !self.have_moved
    }

    /// Notes that an update looks at everybody.
    pub(super) fn begin_update(&mut self) {
        self.have_moved = false;
    }

    /// Notes whether the update has found nothing to change and nobody who waits.
    pub(super) fn end_update(&mut self, is_settled: bool) {
        self.is_settled = is_settled;
    }

    /// Notes that something else than states has changed.
    pub(super) fn disturb(&mut self) {
        self.is_settled = false;
    }
}
