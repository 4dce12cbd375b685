//! [`ExitReport`]: how a run ended, from its primary's summary and exit status, or from what is
//! known when the primary could not say.

use std::path::PathBuf;
use std::process::ExitStatus;

use anyhow::Context;
use client::ended::RunEnded;
use client::units::time;
use protocol::report::{EventCounts, Percentiles, RefusedCounts, SecondarySummary, Summary};
use protocol::{Digest, ExitCode, Outcome, Role, StopReason};

use super::super::Failed;
use super::progress::RunProgress;
use super::running::Ending;
use crate::launch::process::describe;
use crate::launch::supervisor::RunExit;
use crate::run_directory::RunDirectory;

/// The name of the only process of a run without secondaries.
const STANDALONE_NAME: &str = "standalone";
/// Ratio of the time of an iteration to all work in it from which one process counts as faster.
const ONE_PROCESS_GAIN: f64 = 1.25;
/// Share of the requested real-time factor from which a run counts as having kept its pace.
const PACE_KEPT: f64 = 0.95;
/// Number of iterations that a run must have to be judged.
const JUDGED_ITERATIONS: u64 = 1000;

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExitReport {
    /// The figures of the whole run.
    pub(super) summary: Summary,
    /// The summary as the primary wrote it; `None` when it did not, or not the whole truth.
    written: Option<String>,
    /// The exit code of this program.
    pub(super) exit_code: ExitCode,
    /// The run's name.
    pub(super) run: String,
    /// The last error that a process printed, with the process's name.
    pub(super) last_error: Option<String>,
    /// The real-time factor that was asked for, if any was.
    asked_factor: Option<f64>,
    /// The run's folder.
    folder: PathBuf,
}

impl ExitReport {
    /// Returns how the run ended, as views tell it.
    pub(super) fn ended(&self) -> RunEnded {
        let reason = StopReason::new(self.summary.outcome, self.summary.cause.clone());
        RunEnded {
            reason,
            exit_code: self.exit_code as u8,
            summary: Some(self.summary.clone()),
            last_error: self.last_error.clone(),
            folder: Some(self.folder.clone()),
            command: None,
        }
    }

    /// Returns what would have made the run faster, if it spent most of its time on the way.
    pub(super) fn advice(&self) -> Option<String> {
        let Summary {
            work_us, step_us, ..
        } = self.summary;
        let mut names = self.summary.secondaries.iter().map(|one| one.name.as_str());
        let is_distributed = names.any(|name| name != STANDALONE_NAME);
        let is_slower = work_us > 0.0 && step_us.p50 > ONE_PROCESS_GAIN * work_us;
        let is_known = self.summary.iterations >= JUDGED_ITERATIONS;
        let kept = |asked: f64| self.summary.real_time_factor >= asked * PACE_KEPT;
        let is_paced = self.asked_factor.is_some_and(kept);
        (is_distributed && is_slower && is_known && !is_paced).then(|| {
            format!(
                "one process would be faster: an iteration takes {}, and all work in it {}; \
                 start with --secondaries 0",
                time(step_us.p50),
                time(work_us)
            )
        })
    }

    /// Returns where the logs of the run's processes are.
    pub(super) fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    /// Returns the summary that is to be written, if the primary's is missing or not the truth.
    pub(super) fn unwritten(&self) -> Result<Option<String>, Failed> {
        match &self.written {
            Some(_) => Ok(None),
            None => self.json().map(Some),
        }
    }

    /// Returns the summary as JSON: as the primary wrote it, if it did.
    pub(super) fn json(&self) -> Result<String, Failed> {
        let text = match &self.written {
            Some(written) => written.clone(),
            None => serde_json::to_string_pretty(&self.summary)
                .context("cannot print the summary as JSON")?,
        };
        Ok(text.trim_end().to_owned() + "\n")
    }
}

/// Makes a report of how following a run ended, how its first process ended, and what that
/// wrote as its summary.
pub(super) fn conclude(
    ending: &Ending,
    status: Option<ExitStatus>,
    written: Option<&str>,
    known: &RunProgress,
    directory: &RunDirectory,
) -> ExitReport {
    let code = status.and_then(|status| status.code());
    let by_primary = code.map_or(ExitCode::PeerLost, exit_code);
    let exit_code = match ending {
        Ending::Interrupted => ExitCode::Interrupted,
        Ending::Exit(RunExit::Unnoticed { .. }) => ExitCode::PeerLost,
        Ending::Program(_) => ExitCode::Failure,
        Ending::Exit(RunExit::First(_)) => by_primary,
    };
    let summary = written.and_then(|text| serde_json::from_str::<Summary>(text).ok());
    let is_lasting = matches!(
        ending,
        Ending::Exit(RunExit::First(_)) | Ending::Interrupted
    );
    let (summary, written, exit_code) = match summary {
        Some(mut summary) if is_lasting => {
            let exit_code = summary.outcome.exit_code();
            let cause = known.with_deaths(&summary.cause);
            let written = written.filter(|_| cause.is_none());
            summary.cause = cause.unwrap_or(summary.cause);
            (summary, written.map(str::to_owned), exit_code)
        }
        summary => {
            let (outcome, cause) = own_reason(ending, status, exit_code, known);
            let summary = summary.unwrap_or_else(|| from_known(known));
            let summary = Summary {
                outcome,
                cause,
                ..summary
            };
            (summary, None, exit_code)
        }
    };
    // An error that was printed long before a good end explains nothing.
    let last_error = known.last_error.as_ref();
    let last_error = last_error
        .filter(|_| exit_code != ExitCode::Success)
        .filter(|line| !summary.cause.contains(&line.text));
    let asked_factor = known
        .stats
        .as_ref()
        .map(|stats| stats.real_time_factor_asked);
    ExitReport {
        asked_factor: asked_factor.filter(|asked| *asked > 0.0),
        summary,
        written,
        exit_code,
        run: directory.name().to_owned(),
        last_error: last_error.map(|line| format!("{}: {}", line.process, line.text)),
        folder: directory.path().to_owned(),
    }
}

/// Returns the meaning of a worker's exit code; one that has none is that of a lost process.
pub(super) fn exit_code(code: i32) -> ExitCode {
    [
        ExitCode::Success,
        ExitCode::Failure,
        ExitCode::Usage,
        ExitCode::Configuration,
        ExitCode::PeerLost,
        ExitCode::DigestMismatch,
        ExitCode::TimedOut,
        ExitCode::Interrupted,
    ]
    .into_iter()
    .find(|known| i32::from(*known as u8) == code)
    .unwrap_or(ExitCode::PeerLost)
}

/// Says how and why a run ended whose primary did not.
fn own_reason(
    ending: &Ending,
    status: Option<ExitStatus>,
    exit_code: ExitCode,
    known: &RunProgress,
) -> (Outcome, String) {
    let outcome = match exit_code {
        ExitCode::Success => Outcome::Completed,
        ExitCode::Usage | ExitCode::Configuration => Outcome::ConfigurationError,
        ExitCode::Failure => Outcome::Failed,
        ExitCode::PeerLost => Outcome::PeerLost,
        ExitCode::DigestMismatch => Outcome::DigestMismatch,
        ExitCode::TimedOut => Outcome::TimedOut,
        ExitCode::Interrupted => Outcome::Interrupted,
    };
    let mut cause = match (ending, status) {
        (Ending::Program(end), _) => return (outcome, end.describe()),
        (Ending::Interrupted, _) => "interrupted, and the primary wrote no summary".to_owned(),
        (Ending::Exit(RunExit::Unnoticed { name, status }), _) => {
            format!(
                "{name} ended ({}) and the primary took no notice",
                describe(*status)
            )
        }
        (_, Some(status)) => match &known.hung {
            Some(hung) if status.code().is_none() => hung.clone(),
            _ => format!("the primary ended ({}) without a summary", describe(status)),
        },
        (_, None) => "the primary wrote no summary".to_owned(),
    };
    if let Some(error) = &known.last_error {
        cause = format!("{cause}; {} said last: {}", error.process, error.text);
    }
    (outcome, cause)
}

/// Returns a summary of the last figures that were heard; where the performers are is not told by
/// them.
fn from_known(known: &RunProgress) -> Summary {
    let stats = known.stats.as_ref();
    let times = |of: fn(&protocol::report::Stats) -> Percentiles| stats.map(of).unwrap_or_default();
    let secondaries = known
        .peers
        .iter()
        .filter(|peer| peer.role == Role::Secondary)
        .map(|peer| SecondarySummary {
            name: peer.name.clone(),
            pid: peer.pid,
            levels: peer.levels.clone(),
            performers: peer.performers.clone(),
            hand_offs_in: 0,
        })
        .collect();
    Summary {
        outcome: Outcome::PeerLost,
        cause: String::new(),
        world: stats.map_or_else(|| known.world.clone(), |stats| stats.world.clone()),
        iterations: stats.map_or(0, |stats| stats.iteration),
        sim_time_s: stats.map_or(0.0, |stats| stats.sim_time_s),
        digest: stats.map_or_else(Digest::default, |stats| stats.digest),
        real_time_factor: stats.map_or(0.0, |stats| stats.real_time_factor),
        steps_per_s: stats.map_or(0.0, |stats| stats.steps_per_s),
        step_us: times(|stats| stats.step_us),
        physics_us: times(|stats| stats.physics_us),
        overhead_us: times(|stats| stats.overhead_us),
        work_us: 0.0,
        secondaries,
        performers: Vec::new(),
        events: stats.map_or_else(EventCounts::default, |stats| stats.events),
        refused: stats.map_or_else(RefusedCounts::default, |stats| stats.refused),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::run_directory::Runs;
    use client::feed::LogLine;

    fn directory() -> (tempfile::TempDir, RunDirectory) {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::at(&folder.path().join("runs")).unwrap();
        let directory = runs.create(Some("r"), "r").unwrap();
        (folder, directory)
    }

    fn exited(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    fn killed(signal: i32) -> ExitStatus {
        ExitStatus::from_raw(signal)
    }

    fn check(
        ending: &Ending,
        status: Option<ExitStatus>,
        written: Option<&str>,
        expected: (ExitCode, Outcome, &str),
    ) {
        let mut known = RunProgress::new("ramp", Vec::new());
        let (process, text) = ("s1".to_owned(), "error: boom".to_owned());
        known.on_line(&LogLine { process, text });
        let (_folder, directory) = directory();
        let report = conclude(ending, status, written, &known, &directory);
        let summary = &report.summary;
        assert_eq!(
            (report.exit_code, summary.outcome),
            (expected.0, expected.1)
        );
        assert!(summary.cause.contains(expected.2), "{}", summary.cause);
        let said = format!("{} {:?}", summary.cause, report.last_error);
        let is_failure = report.exit_code != ExitCode::Success;
        assert_eq!(
            said.matches("boom").count(),
            usize::from(is_failure),
            "{said}"
        );
        let printed: Summary = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!(printed, report.summary);
    }

    fn written(outcome: Outcome) -> String {
        let known = RunProgress::new("ramp", Vec::new());
        let cause = "the primary's words".to_owned();
        serde_json::to_string(&Summary {
            outcome,
            cause,
            ..from_known(&known)
        })
        .unwrap()
    }

    #[test]
    fn the_primary_has_the_last_word() {
        let ending = Ending::Exit(RunExit::First(exited(0)));
        let text = written(Outcome::Completed);
        let expected = (ExitCode::Success, Outcome::Completed, "the primary's words");
        check(&ending, Some(exited(0)), Some(&text), expected);
        let ending = Ending::Exit(RunExit::First(exited(6)));
        let text = written(Outcome::TimedOut);
        let expected = (ExitCode::TimedOut, Outcome::TimedOut, "the primary's words");
        check(&ending, Some(exited(6)), Some(&text), expected);
    }

    #[test]
    fn the_summary_is_printed_as_the_primary_wrote_it() {
        let text = written(Outcome::Completed);
        let ending = Ending::Exit(RunExit::First(exited(0)));
        let known = RunProgress::new("ramp", Vec::new());
        let (_folder, directory) = directory();
        let report = conclude(&ending, Some(exited(0)), Some(&text), &known, &directory);
        assert_eq!(report.unwritten().unwrap(), None);
        assert_eq!(report.json().unwrap(), text + "\n");
    }

    #[test]
    fn a_primary_that_died_is_a_lost_peer_with_its_last_words() {
        let ending = Ending::Exit(RunExit::First(killed(9)));
        let expected = (ExitCode::PeerLost, Outcome::PeerLost, "killed by SIGKILL");
        check(&ending, Some(killed(9)), None, expected);
        let expected = (
            ExitCode::PeerLost,
            Outcome::PeerLost,
            "s1 said last: error: boom",
        );
        check(&ending, Some(exited(101)), Some("{ half"), expected);
    }

    #[test]
    fn an_exit_code_without_a_summary_still_says_the_outcome() {
        let ending = Ending::Exit(RunExit::First(exited(3)));
        let expected = (
            ExitCode::Configuration,
            Outcome::ConfigurationError,
            "exit code 3",
        );
        check(&ending, Some(exited(3)), None, expected);
    }

    #[test]
    fn a_failure_that_the_primary_did_not_notice_wins_over_its_summary() {
        let ending = Ending::Exit(RunExit::Unnoticed {
            name: "s2".to_owned(),
            status: exited(1),
        });
        let text = written(Outcome::Interrupted);
        let expected = (
            ExitCode::PeerLost,
            Outcome::PeerLost,
            "s2 ended (exit code 1)",
        );
        check(&ending, Some(exited(130)), Some(&text), expected);
    }

    #[test]
    fn an_interrupted_run_has_the_exit_code_of_interruption() {
        let expected = (
            ExitCode::Interrupted,
            Outcome::Interrupted,
            "wrote no summary",
        );
        check(&Ending::Interrupted, Some(killed(9)), None, expected);
        let text = written(Outcome::Interrupted);
        let expected = (
            ExitCode::Interrupted,
            Outcome::Interrupted,
            "the primary's words",
        );
        check(
            &Ending::Interrupted,
            Some(exited(130)),
            Some(&text),
            expected,
        );
    }

    #[test]
    fn a_light_run_on_secondaries_is_told_that_one_process_would_be_faster() {
        let check = |name: &str, step_us, work_us, iterations, expected: bool| {
            let (_folder, directory) = directory();
            let known = RunProgress::new("ramp", Vec::new());
            let mut report = conclude(&Ending::Interrupted, None, None, &known, &directory);
            let summary = &mut report.summary;
            summary.secondaries = vec![SecondarySummary {
                name: name.parse().unwrap(),
                pid: 1,
                levels: Vec::new(),
                performers: Vec::new(),
                hand_offs_in: 0,
            }];
            summary.step_us.p50 = step_us;
            summary.work_us = work_us;
            summary.iterations = iterations;
            let advice = report.advice();
            assert_eq!(advice.is_some(), expected, "{advice:?}");
        };
        check("s1", 200.0, 20.0, 1000, true);
        check("s1", 200.0, 180.0, 1000, false);
        check("s1", 200.0, 20.0, 999, false);
        check("s1", 200.0, 0.0, 1000, false);
        check("standalone", 200.0, 20.0, 1000, false);
    }
}
