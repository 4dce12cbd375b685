//! [`ReportSchedule`]: when observers are told how the run is, and how often clients may ask.

use std::time::Duration;

use protocol::{RoutingId, SessionTime};

use super::figures_limit::FiguresLimit;

/// Time between reports to observers.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);
/// Time between reports of affinity when nothing changes.
const AFFINITY_INTERVAL: Duration = Duration::from_secs(1);

/// Times at which reports are due, and the limit of what clients ask for.
#[derive(Default)]
pub(super) struct ReportSchedule {
    next_report: SessionTime,
    next_affinity: SessionTime,
    limit: FiguresLimit,
}

impl ReportSchedule {
    /// Returns when the next reports are due.
    pub(super) fn next(&self) -> SessionTime {
        self.next_report
    }

    /// Takes note that reports are made.
    pub(super) fn begin(&mut self, now: SessionTime) {
        self.next_report = now + REPORT_INTERVAL;
    }

    /// Tells whether a report of affinity is due.
    pub(super) fn is_affinity_due(&self, now: SessionTime) -> bool {
        now >= self.next_affinity
    }

    /// Takes note that a report of affinity is made.
    pub(super) fn begin_affinity(&mut self, now: SessionTime) {
        self.next_affinity = now + AFFINITY_INTERVAL;
    }

    /// Has affinity reported with the next reports, as it has changed.
    pub(super) fn hasten_affinity(&mut self) {
        self.next_affinity = SessionTime(0);
    }

    /// Tells whether a client may have figures now.
    pub(super) fn admits(&mut self, client: &RoutingId) -> bool {
        self.limit.admits(client)
    }
}
