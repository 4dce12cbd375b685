//! [`RunProgress`]: what is known of a living run, and the line that says how far it is.

use std::collections::BTreeMap;

use client::feed::{Feed, LogLine};
use client::log_level::LogLevel;
use protocol::primary_to_observers::{Event, Severity};
use protocol::report::{PeerReport, PeerState, RunState, Stats};
use protocol::{Iteration, PeerName, PrimaryToObservers};

use crate::launch::death::Death;
use crate::launch::programs::ProgramEnd;

/// Latest state of a run, from its messages and its processes' lines.
#[derive(Debug)]
pub(super) struct RunProgress {
    /// Name of the world until the primary says it.
    pub(super) world: String,
    /// The last figures of the run.
    pub(super) stats: Option<Stats>,
    /// The last figures of its peers.
    pub(super) peers: Vec<PeerReport>,
    /// The last error that a process printed, with the process's name.
    pub(super) last_error: Option<LogLine>,
    /// The processes that have crashed.
    pub(super) deaths: Vec<Death>,
    /// Reason why the primary was killed, if it was since it hung.
    pub(super) hung: Option<String>,
    /// The processes of its peers, as its primary last told them, also of those that are gone.
    pub(super) pids: BTreeMap<PeerName, u32>,
    secondaries: Vec<String>,
}

/// Tells whether news say that a run has begun.
pub(in super::super) fn has_begun(feed: &Feed) -> bool {
    let stats = match feed {
        Feed::Status(PrimaryToObservers::Stats { stats, .. }) => stats,
        Feed::Snapshot(snapshot) => &snapshot.stats,
        _ => return false,
    };
    stats.state != RunState::Waiting
}

impl RunProgress {
    /// Begins with the world's name and the secondaries that are expected.
    pub(super) fn new(world: &str, secondaries: Vec<String>) -> Self {
        Self {
            world: world.to_owned(),
            stats: None,
            peers: Vec::new(),
            last_error: None,
            deaths: Vec::new(),
            hung: None,
            pids: BTreeMap::new(),
            secondaries,
        }
    }

    /// Returns the secondaries that take part now.
    pub(super) fn working(&self) -> impl Iterator<Item = &PeerName> {
        let working = self.peers.iter().filter(|peer| peer.is_worker());
        working.map(|peer| &peer.name)
    }

    /// Tells whether a peer takes part, or is about to.
    pub(super) fn is_here(&self, name: &PeerName) -> bool {
        let mut peers = self.peers.iter();
        peers.any(|peer| peer.name == *name && peer.state.is_here())
    }

    /// Tells whether the run has begun: everybody who takes part is there.
    pub(super) fn has_begun(&self) -> bool {
        let state = self.stats.as_ref().map(|stats| stats.state);
        let begun = [RunState::Running, RunState::Paused, RunState::Recovering];
        state.is_some_and(|state| begun.contains(&state))
    }

    /// Returns what observers are told of a program that has ended.
    pub(super) fn event_of(&self, end: &ProgramEnd) -> PrimaryToObservers {
        let severity = match (&end.failure, end.is_critical) {
            (None, _) => Severity::Info,
            (Some(_), false) => Severity::Warning,
            (Some(_), true) => Severity::Error,
        };
        self.event(severity, "program", end.describe())
    }

    /// Returns what observers are told of something that the primary does not know.
    pub(super) fn event(&self, severity: Severity, kind: &str, text: String) -> PrimaryToObservers {
        PrimaryToObservers::Event(Event {
            iteration: Iteration(self.stats.as_ref().map_or(0, |stats| stats.iteration)),
            severity,
            kind: kind.to_owned(),
            text,
        })
    }

    /// Says of a process that is gone how it went, where its primary could not know.
    pub(super) fn with_deaths(&self, cause: &str) -> Option<String> {
        let unknown = "is gone: its connection closed";
        let whose =
            |death: &&Death| cause.starts_with(&format!("{} (pid {} ", death.name, death.pid));
        let death = self.deaths.iter().rfind(whose)?;
        let is_told = cause.contains(unknown);
        is_told.then(|| cause.replacen(unknown, &death.how(), 1))
    }

    /// Takes in what the primary said.
    pub(super) fn on_feeds(&mut self, feeds: &[Feed]) {
        for feed in feeds {
            self.on_feed(feed);
        }
    }

    fn on_feed(&mut self, feed: &Feed) {
        match feed {
            Feed::Status(PrimaryToObservers::Stats { stats, peers }) => {
                self.stats = Some((**stats).clone());
                self.peers.clone_from(peers);
            }
            Feed::Log(line) => self.on_line(line),
            Feed::Logs(lines) => lines.iter().for_each(|line| self.on_line(line)),
            Feed::Status(
                PrimaryToObservers::Announce(_)
                | PrimaryToObservers::Heartbeat(_)
                | PrimaryToObservers::Clock(_)
                | PrimaryToObservers::Affinity(_)
                | PrimaryToObservers::Poses(_)
                | PrimaryToObservers::Event(_),
            )
            | Feed::Snapshot(_)
            | Feed::History(_)
            | Feed::Layout(_)
            | Feed::Topics(_)
            | Feed::Message(_)
            | Feed::Connected
            | Feed::Disconnected
            | Feed::Denied(_)
            | Feed::StartUp(_)
            | Feed::StartedAnew
            | Feed::Reply { .. }
            | Feed::Recording(_)
            | Feed::Rewound
            | Feed::Ended(_) => {}
        }
    }

    /// Takes in what a process printed.
    pub(super) fn on_line(&mut self, line: &LogLine) {
        if LogLevel::of(&line.text) == LogLevel::Error {
            self.last_error = Some(line.clone());
        }
    }

    /// Returns what the run is doing in a few words, without figures.
    pub(super) fn state(&self) -> String {
        match self.stats.as_ref().map(|stats| stats.state) {
            Some(RunState::Paused) => "paused".to_owned(),
            Some(RunState::Running) => "running".to_owned(),
            Some(RunState::Recovering) => "recovering".to_owned(),
            Some(RunState::Stopping) => "stopping".to_owned(),
            Some(RunState::Waiting) | None => self.progress(),
        }
    }

    /// Returns one line that says how far the run is towards so many iterations: in percent, and
    /// how long it takes yet.
    pub(super) fn progress_towards(&self, iterations: Option<u64>) -> String {
        let progress = self.progress();
        let Some((stats, all)) = self.stats.as_ref().zip(iterations) else {
            return progress;
        };
        if stats.state == RunState::Waiting || all == 0 {
            return progress;
        }
        let percent = stats.iteration as f64 / all as f64 * 100.0;
        let left = all.saturating_sub(stats.iteration) as f64 / stats.steps_per_s;
        let left = if stats.steps_per_s > 0.0 && left.is_finite() {
            format!("{} left", duration(left))
        } else {
            "time left unknown".to_owned()
        };
        format!("{percent:.1}%, {left}, {progress}")
    }

    /// Returns one line that says how far the run is.
    pub(super) fn progress(&self) -> String {
        let Some(stats) = &self.stats else {
            return "starting: the primary does not answer yet".to_owned();
        };
        let doing = match stats.state {
            RunState::Waiting => return self.waiting(),
            RunState::Paused => "paused",
            RunState::Running => "running",
            RunState::Recovering => "recovering",
            RunState::Stopping => "stopping",
        };
        format!(
            "{doing}: iteration {}, sim time {:.3} s, real-time factor {:.2}",
            stats.iteration, stats.sim_time_s, stats.real_time_factor
        )
    }

    fn waiting(&self) -> String {
        let is_there = |name: &&String| {
            let ready = [PeerState::Active, PeerState::Standby];
            let mut peers = self.peers.iter();
            peers.any(|peer| peer.name.as_str() == name.as_str() && ready.contains(&peer.state))
        };
        let missing: Vec<&str> = self
            .secondaries
            .iter()
            .filter(|name| !is_there(name))
            .map(String::as_str)
            .collect();
        if missing.is_empty() {
            return "waiting: all secondaries are there".to_owned();
        }
        format!("waiting for {}", missing.join(", "))
    }
}

/// Returns a time in the two units that matter.
fn duration(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// Tells whether a line of a log is more than chatter.
pub(super) fn is_worth_showing(line: &str) -> bool {
    !line.is_empty() && !matches!(LogLevel::of(line), LogLevel::Info | LogLevel::Debug)
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::app::fixture;

    #[test]
    fn lines_are_weighed_by_their_level() {
        assert!(!is_worth_showing(
            "2026-01-01T00:00:00.000000Z  INFO primary: listening"
        ));
        assert!(!is_worth_showing(""));
        assert!(is_worth_showing(
            "2026-01-01T00:00:00.000000Z  WARN primary: plugin ignored"
        ));
        assert!(is_worth_showing(
            "2026-01-01T00:00:00.000000Z ERROR primary: s2 is lost"
        ));
        assert!(is_worth_showing("error: cannot bind"));
        assert!(is_worth_showing(
            "thread 'main' panicked at src/main.rs:1:1:"
        ));
    }

    #[test]
    fn progress_towards_an_end_has_percent_and_the_time_left() {
        let mut known = RunProgress::new("w", Vec::new());
        let mut check = |iteration, steps_per_s, expected: &str| {
            let stats = Stats {
                state: RunState::Running,
                iteration,
                steps_per_s,
                ..fixture::stats()
            };
            let peers = Vec::new();
            known.on_feeds(&[Feed::Status(PrimaryToObservers::Stats {
                stats: Box::new(stats),
                peers,
            })]);
            let said = known.progress_towards(Some(10_000));
            assert!(said.starts_with(expected), "{said}");
            assert!(known.progress_towards(None).starts_with("running"));
        };
        check(2_500, 100.0, "25.0%, 1 min 15 s left, running");
        check(10_000, 100.0, "100.0%, 0 s left");
        check(0, 1.0, "0.0%, 2 h 46 min left");
        check(5, 0.0, "0.1%, time left unknown");
    }

    #[test]
    fn the_last_error_is_remembered() {
        let mut known = RunProgress::new("w", Vec::new());
        for text in ["error: first", "error: last", "INFO after"] {
            known.on_line(&LogLine {
                process: "s1".to_owned(),
                text: text.to_owned(),
            });
        }
        assert_eq!(known.last_error.unwrap().text, "error: last");
    }

    #[test]
    fn before_the_primary_answers_progress_says_so() {
        let mut known = RunProgress::new("w", vec!["s1".to_owned(), "s2".to_owned()]);
        assert!(known.progress().starts_with("starting"));
        let mut progress = |state, peers| {
            let stats = Stats {
                state,
                ..fixture::stats()
            };
            let stats = Box::new(stats);
            known.on_feeds(&[Feed::Status(PrimaryToObservers::Stats { stats, peers })]);
            known.progress()
        };
        assert_eq!(
            progress(RunState::Waiting, Vec::new()),
            "waiting for s1, s2"
        );
        let mut s1 = fixture::peers().remove(1);
        assert_eq!(s1.name.as_str(), "s1");
        s1.state = PeerState::Active;
        assert_eq!(progress(RunState::Waiting, vec![s1]), "waiting for s2");
        assert!(progress(RunState::Running, Vec::new()).starts_with("running: iteration "));
    }
}
