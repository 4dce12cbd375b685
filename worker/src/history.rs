//! [`RunHistory`]: what a run remembers of its past, for clients that come late; bounded.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::Chain;
use protocol::SessionTime;
use protocol::primary_to_observers::Event;
use protocol::report::{
    EVENTS_MAX, History, HistorySample, PeerReport, RunState, SAMPLES_MAX, Stats,
};

use crate::run_sink::{RunEnd, RunSink, RunView};

/// Time between two samples.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// The past of a run.
#[derive(Debug, Default)]
pub struct RunHistory {
    events: VecDeque<Event>,
    samples: VecDeque<(SessionTime, HistorySample)>,
    next_sample: SessionTime,
    /// File for the last events when the run ends.
    file: Option<PathBuf>,
}

/// The last events cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the last events to {}", .path.display())]
pub struct WriteEventsError {
    path: PathBuf,
    source: io::Error,
}

impl RunHistory {
    /// Has the last events written to a file when the run ends.
    pub fn write_events_to(&mut self, path: PathBuf) {
        self.file = Some(path);
    }

    /// Takes an event.
    fn note_event(&mut self, event: &Event) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event.clone());
    }

    /// Tells whether a sample is due.
    pub fn is_due(&self, now: SessionTime) -> bool {
        now >= self.next_sample
    }

    /// Takes a sample, unless time is paused or no step was done of late: that makes no figures.
    pub fn sample(&mut self, stats: &Stats, now: SessionTime) {
        self.next_sample = now + SAMPLE_INTERVAL;
        let last = self.samples.back().map_or(0, |(_, last)| last.iteration);
        let is_running = stats.state == RunState::Running && stats.split.period_us() > 0.0;
        if !is_running || stats.iteration == last {
            return;
        }
        if self.samples.len() == SAMPLES_MAX {
            self.samples.pop_front();
        }
        let sample = HistorySample {
            age_s: 0.0,
            iteration: stats.iteration,
            real_time_factor: stats.real_time_factor,
            step_us: stats.recent_step_us,
            split: stats.split,
        };
        self.samples.push_back((now, sample));
    }

    /// Writes the events that are known, as JSON lines.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write_events(&self, path: &Path) -> Result<(), WriteEventsError> {
        let lines = self.events.iter().map(serde_json::to_string);
        let text: String = lines.flatten().map(|line| line + "\n").collect();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|source| WriteEventsError {
            path: path.to_owned(),
            source,
        })
    }

    /// Returns all of it, with the figures of now.
    pub fn all(&self, stats: &Stats, now: SessionTime) -> History {
        let aged = |(at, sample): &(SessionTime, HistorySample)| HistorySample {
            age_s: now.since(*at).as_secs_f64(),
            ..*sample
        };
        History {
            events: self.events.iter().cloned().collect(),
            samples: self.samples.iter().map(aged).collect(),
            steps: stats.steps.clone(),
        }
    }
}

impl RunSink for RunHistory {
    fn on_event(&mut self, event: &Event, _run: &RunView<'_>) {
        self.note_event(event);
    }

    fn on_stats(&mut self, stats: &Stats, _peers: Option<&[PeerReport]>, run: &RunView<'_>) {
        self.sample(stats, run.now);
    }

    /// Writes the last events where that is asked for; a run that cannot has ended all the same.
    fn finish(&mut self, _end: &mut RunEnd, _run: &mut RunView<'_>) {
        let path = self.file.as_deref();
        if let Some(Err(error)) = path.map(|path| self.write_events(path)) {
            tracing::warn!("{}", Chain(&error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Digest;
    use protocol::Iteration;
    use protocol::primary_to_observers::Severity;
    use protocol::report::{EventCounts, Percentiles, RefusedCounts, Split, StepHistogram};

    fn stats(iteration: u64) -> Stats {
        Stats {
            world: String::new(),
            state: RunState::Running,
            iteration,
            sim_time_s: 0.0,
            elapsed_s: None,
            paused: false,
            real_time_factor: 1.0,
            real_time_factor_asked: 0.0,
            steps_per_s: 1.0,
            step_us: Percentiles::default(),
            recent_step_us: Percentiles::default(),
            split: Split {
                physics_us: 50.0,
                ..Split::default()
            },
            steps: StepHistogram::default(),
            physics_us: Percentiles::default(),
            overhead_us: Percentiles::default(),
            digest: Digest::default(),
            refused: RefusedCounts::default(),
            secondaries_missing: 0,
            events: EventCounts::default(),
            insecure: false,
        }
    }

    fn event(number: u64) -> Event {
        Event {
            iteration: Iteration(number),
            severity: Severity::Info,
            kind: "run".to_owned(),
            text: String::new(),
        }
    }

    #[test]
    fn the_oldest_is_forgotten_when_there_is_too_much() {
        let mut history = RunHistory::default();
        for number in 1..=2_000 {
            history.note_event(&event(number));
            history.sample(&stats(number), SessionTime(number * 1_000_000_000));
        }
        let all = history.all(&stats(2_000), SessionTime(2_001_000_000_000));
        assert_eq!(
            (all.events.len(), all.samples.len()),
            (EVENTS_MAX, SAMPLES_MAX)
        );
        assert_eq!(all.events[0].iteration, Iteration(1_001));
        assert_eq!(all.samples.last().map(|sample| sample.age_s), Some(1.0));
    }

    #[test]
    fn time_that_stands_still_makes_no_samples() {
        let mut history = RunHistory::default();
        for second in 1..=5 {
            let now = SessionTime(second * 1_000_000_000);
            assert!(history.is_due(now));
            history.sample(&stats(7), now);
            assert!(!history.is_due(now));
        }
        assert_eq!(history.all(&stats(7), SessionTime(0)).samples.len(), 1);
    }

    #[test]
    fn pauses_single_steps_and_seconds_without_a_step_make_no_samples() {
        let mut history = RunHistory::default();
        let mut check = |stats: &Stats, samples: usize| {
            let now = SessionTime(stats.iteration * 1_000_000_000);
            history.sample(stats, now);
            assert_eq!(history.all(stats, now).samples.len(), samples, "{stats:?}");
        };
        check(&stats(1), 1);
        for (iteration, state) in [(2, RunState::Paused), (3, RunState::Stopping)] {
            let stats = Stats {
                state,
                ..stats(iteration)
            };
            check(&stats, 1);
        }
        let stuck = Stats {
            split: Split::default(),
            ..stats(4)
        };
        check(&stuck, 1);
        check(&stats(5), 2);
    }
}
