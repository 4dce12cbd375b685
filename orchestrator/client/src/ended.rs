//! [`RunEnded`]: how a run ended, as the last screen, the clipboard and the terminal after the view
//! tell it.

use std::path::PathBuf;

use protocol::report::{Percentiles, Summary};
use protocol::{Outcome, StopReason, counted};

use crate::plain_text::plain;

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnded {
    /// Outcome and reason.
    pub reason: StopReason,
    /// Exit code of the process that owned the run.
    pub exit_code: u8,
    /// Statistics of the whole run, if they were written.
    pub summary: Option<Summary>,
    /// The last error that a process printed, with the process's name.
    pub last_error: Option<String>,
    /// The command line that starts it again, if known.
    pub command: Option<String>,
    /// The run's folder, where logs and summary are, if it is on this machine.
    pub folder: Option<PathBuf>,
}

impl RunEnded {
    /// Makes an end of which nothing more is known.
    pub fn new(reason: StopReason) -> Self {
        Self {
            exit_code: reason.outcome.exit_code() as u8,
            reason,
            summary: None,
            last_error: None,
            command: None,
            folder: None,
        }
    }

    /// Returns what is known: a name and a value each.
    pub fn facts(&self, run: &str) -> Vec<(String, String)> {
        let mut facts = vec![
            fact("cause", self.reason.cause.clone()),
            fact("exit code", self.exit_code.to_string()),
        ];
        if let Some(error) = &self.last_error {
            facts.push(fact("last error", error.clone()));
        }
        if let Some(summary) = &self.summary {
            let has_begun = summary.iterations > 0 || self.reason.outcome == Outcome::Completed;
            if has_begun {
                facts.extend(figures(summary));
            } else {
                facts.push(fact("iterations", "0: the run had not begun".to_owned()));
            }
        }
        if let Some(folder) = &self.folder {
            let folder = folder.display();
            facts.push(fact("folder", format!("{folder} (logs/, summary.json)")));
            facts.push(fact("read on", format!("phalanx show {run} logs")));
        }
        if let Some(command) = &self.command {
            facts.push(fact("run again", command.clone()));
        }
        facts
    }

    /// Returns all of it as text.
    pub fn text(&self, run: &str) -> String {
        let line = |(name, value): (String, String)| format!("{name:<12} {}\n", plain(&value));
        let lines = self.facts(run).into_iter().map(line);
        format!("run {run}: {}\n", self.reason.outcome) + &lines.collect::<String>()
    }
}

fn figures(summary: &Summary) -> Vec<(String, String)> {
    let mut figures = vec![
        fact("world", summary.world.clone()),
        fact(
            "iterations",
            format!(
                "{} ({:.3} s simulated)",
                summary.iterations, summary.sim_time_s
            ),
        ),
        fact("digest", summary.digest.to_string()),
        fact(
            "real time",
            format!(
                "{:.2}x, {:.0} steps/s",
                summary.real_time_factor, summary.steps_per_s
            ),
        ),
        fact("step", times(summary.step_us)),
        fact("physics", times(summary.physics_us)),
        fact("overhead", times(summary.overhead_us)),
    ];
    for secondary in &summary.secondaries {
        let levels = match secondary.levels.as_slice() {
            [] => "no levels".to_owned(),
            levels => levels.join(", "),
        };
        let performers = counted(secondary.performers.len(), "performer");
        let taken = counted(secondary.hand_offs_in, "hand-off");
        let value = format!("{levels}; {performers}, {taken} in");
        figures.push(fact(secondary.name.as_str(), value));
    }
    let events = &summary.events;
    let events = format!(
        "{}, {}, {} loaded, {} unloaded, {}",
        counted(events.hand_offs, "hand-off"),
        counted(events.migrations, "migration"),
        counted(events.levels_loaded, "level"),
        events.levels_unloaded,
        counted(events.recoveries, "recovery")
    );
    figures.push(fact("events", events));
    if summary.refused.total() > 0 {
        let refused = counted(summary.refused.total(), "message");
        figures.push(fact("refused", refused));
    }
    figures
}

fn times(times: Percentiles) -> String {
    format!(
        "p50 {:.0} us, p99 {:.0} us, max {:.0} us",
        times.p50, times.p99, times.max
    )
}

fn fact(name: &str, value: String) -> (String, String) {
    (name.to_owned(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_where_to_read_on_and_how_to_run_again() {
        let ended = RunEnded {
            command: Some("phalanx run --name demo".to_owned()),
            folder: Some("/run/demo".into()),
            ..RunEnded::new(StopReason::new(Outcome::PeerLost, "s2 left"))
        };
        let text = ended.text("demo");
        for part in [
            "run demo: peer lost",
            "s2 left",
            "show demo logs",
            "run --name demo",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }
}
