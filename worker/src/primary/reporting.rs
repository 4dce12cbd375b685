//! Periodic reports of a primary's driver on the run, to observers and to its recording.

use protocol::primary_to_observers::{Clock, Event, PrimaryToObservers, Severity};
use transport::Link;

use super::{AFFINITY_INTERVAL, PrimaryDriver, REPORT_INTERVAL};
use crate::recordings::Recordings;
use crate::report;
use crate::status::Figures;

impl<L: Link> PrimaryDriver<L> {
    /// Has the run recorded, or compared with a recording.
    pub fn keep_recordings(&mut self, recordings: Recordings) {
        if let Some(feed) = recordings.feed() {
            self.status.record(feed);
        }
        self.recordings = recordings;
    }

    /// Tells observers how the run is, each kind of figures only while anyone listens to it.
    pub(super) fn publish_reports(&mut self) {
        let now = self.clock.now();
        self.next_report = now + REPORT_INTERVAL;
        self.tell_of_recording();
        let watched = self.status.watched();
        let is_sampled = self.history.is_due(now);
        if is_sampled || watched.has(Figures::Stats) {
            let stats = self.reporter.stats(&self.primary, &mut self.meter, now);
            if is_sampled {
                self.history.sample(&stats, now);
            }
            let is_recorded = is_sampled && self.recordings.is_recording();
            if is_recorded || watched.has(Figures::Stats) {
                let peers = self.reporter.peers(&self.primary, &self.meter, &stats, now);
                if is_recorded {
                    let time = self.primary.sim_time();
                    self.recordings.on_figures(&stats, &peers, time);
                }
                self.status.observe(PrimaryToObservers::Stats {
                    stats: Box::new(stats),
                    peers,
                });
            }
        }
        if watched.has(Figures::Clock) {
            self.status.observe(PrimaryToObservers::Clock(Clock {
                iteration: self.primary.iteration(),
                sim_time: self.primary.sim_time(),
                paused: report::is_paused(&self.primary),
            }));
        }
        if watched.has(Figures::Poses) {
            self.status
                .observe(PrimaryToObservers::Poses(report::performers(&self.primary)));
        }
        if now >= self.next_affinity && watched.has(Figures::Affinity) {
            self.next_affinity = now + AFFINITY_INTERVAL;
            self.status.observe(PrimaryToObservers::Affinity(
                self.reporter.levels(&self.primary, &self.meter),
            ));
        }
    }

    /// Records the figures of this moment.
    pub(super) fn record_figures(&mut self) {
        if !self.recordings.is_recording() {
            return;
        }
        let now = self.clock.now();
        let stats = self.reporter.stats(&self.primary, &mut self.meter, now);
        let peers = self.reporter.peers(&self.primary, &self.meter, &stats, now);
        let time = self.primary.sim_time();
        self.recordings.on_figures(&stats, &peers, time);
    }

    /// Has observers told what is wrong with the recording.
    fn tell_of_recording(&mut self) {
        while let Some(text) = self.recordings.take_problem() {
            self.observe(PrimaryToObservers::Event(Event {
                iteration: self.primary.iteration(),
                severity: Severity::Warning,
                kind: "recording".to_owned(),
                text,
            }));
        }
    }
}
