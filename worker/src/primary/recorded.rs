//! What a primary's driver does with its recorder, and with the digests that a run must have.

use protocol::SessionTime;
use protocol::primary_to_observers::{Event, PrimaryToObservers, Severity};
use transport::Link;

use super::PrimaryDriver;
use crate::recorder::Recorder;
use crate::recording_file::ExpectedDigests;

impl<L: Link> PrimaryDriver<L> {
    /// Has the run recorded.
    pub fn record(&mut self, recorder: Recorder) {
        self.status.record(recorder.feed());
        self.recorder = Some(recorder);
    }

    /// Has every digest compared; the run ends with the first that differs.
    pub fn expect(&mut self, expected: ExpectedDigests) {
        self.expected = Some(expected);
    }

    /// Completes the recording, if there is one.
    pub(super) fn finish_recording(&mut self) {
        let Some(mut recorder) = self.recorder.take() else {
            return;
        };
        let now = self.clock.now();
        self.record_figures(&recorder, now);
        let finished = recorder.finish(&self.primary, &self.reporter, &self.meter);
        if let Err(cause) = finished {
            tracing::warn!("{cause}");
        }
    }

    fn record_figures(&mut self, recorder: &Recorder, now: SessionTime) {
        let stats = self.reporter.stats(&self.primary, &mut self.meter, now);
        let peers = self.reporter.peers(&self.primary, &self.meter, &stats, now);
        recorder.on_figures(stats, peers, self.primary.sim_time());
    }

    /// Has observers told what is wrong with the recording.
    pub(super) fn tell_of_recording(&mut self) {
        let problem = |recorder: &Recorder| recorder.take_problem();
        while let Some(text) = self.recorder.as_ref().and_then(problem) {
            self.observe(PrimaryToObservers::Event(Event {
                iteration: self.primary.iteration(),
                severity: Severity::Warning,
                kind: "recording".to_owned(),
                text,
            }));
        }
    }
}
