//! Recordings: what is written down of a run's settings, and a run that is done again from one and
//! compared with it.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use lockstep::{CellSettings, LoadRule, PaceSettings, Rules, Settings, SightRule, StepReport};
use protocol::exit::Outcome;
use protocol::{Digest, Iteration, ScheduledCommand, StopReason, counted};
use recording::{FORMAT, LoadWord, Recording, RunDescription, SightWord};
use sdf::World;

use crate::clock::wall_clock_us;
use crate::identity;
use crate::recorder::{RecordedLibrary, RecorderSettings};
use crate::world_file::LoadedWorlds;

/// A run that is to be done again.
#[derive(Debug)]
pub struct RecordedRun {
    /// Its worlds.
    pub worlds: LoadedWorlds,
    /// Settings that decided what it computed.
    pub description: RunDescription,
    /// The commands that were done.
    pub schedule: Vec<ScheduledCommand>,
    /// Files that spawned models refer to.
    pub library: RecordedLibrary,
    /// The digests that it had.
    pub expected: ExpectedDigests,
}

/// The digests that a run must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedDigests {
    /// Of iterations 1, 2 and so on.
    digests: Vec<Digest>,
    /// Number of digests that were compared.
    compared: u64,
    /// The first difference.
    difference: Option<DigestDifference>,
}

/// An iteration is not as its recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("iteration {iteration} differs: recorded {recorded}, now {now}")]
pub struct DigestDifference {
    /// The iteration.
    pub iteration: Iteration,
    /// Its digest in the recording.
    pub recorded: Digest,
    /// Its digest in this run.
    pub now: Digest,
}

/// Returns what decides what a run computes, for its recording.
pub fn describe(
    settings: &Settings,
    worlds: &[World],
    encoded: &[u8],
    is_standalone: bool,
    recorder: &RecorderSettings,
) -> RunDescription {
    RunDescription {
        format: FORMAT,
        worlds: worlds.iter().map(|world| world.name.clone()).collect(),
        world_digest: Digest::of_bytes(encoded),
        session: settings.session,
        build: settings.build.clone(),
        started_unix_ms: wall_clock_us() / 1000,
        seed: settings.seed,
        step_size_ns: settings.pace.step_size.as_nanos() as u64,
        levels_load: match settings.cells.rules.load {
            LoadRule::Buffer => LoadWord::Buffer,
            LoadRule::Volume => LoadWord::Volume,
        },
        sight: match settings.cells.rules.sight {
            SightRule::Buffer => SightWord::Buffer,
            SightRule::Range => SightWord::Range,
        },
        interaction_margin_m: settings.cells.rules.interaction_margin,
        minimum_stay_iterations: settings.cells.rules.minimum_stay,
        secondaries: if is_standalone {
            0
        } else {
            settings.peers.secondaries
        },
        record_rate_hz: recorder.rate_hz,
        has_states: recorder.has_states,
        spec: serde_json::Value::Null,
    }
}

/// Reads a run from its recording, and warns when this program may compute other bits.
///
/// # Errors
/// Fails if the file is no recording, or lacks something that is needed.
pub fn read(path: &Path) -> anyhow::Result<RecordedRun> {
    read_run(path).with_context(|| format!("cannot simulate {} again", path.display()))
}

fn read_run(path: &Path) -> anyhow::Result<RecordedRun> {
    let file = File::open(path).context("it cannot be opened")?;
    let mut recording = Recording::open(BufReader::new(file))?;
    let description = recording.description().clone();
    let encoded = recording.worlds()?;
    if Digest::of_bytes(&encoded) != description.world_digest {
        bail!("its worlds are not those that it describes: the file is damaged");
    }
    let worlds = sdf::decode_worlds(&encoded)
        .context("its worlds cannot be read: use the version that wrote it")?;
    let step_size = sdf::check_for_run(&worlds).context("its worlds cannot be run")?;
    if step_size.as_nanos() != u128::from(description.step_size_ns) {
        bail!("its step size is not that of its worlds: the file is damaged");
    }
    let schedule = lockstep::commands_file::read(&recording.commands()?)
        .map_err(|error| anyhow::anyhow!("command {error}"))?;
    let digests = recording.digests()?;
    if digests.is_empty() {
        bail!("no iteration is in it");
    }
    if let Some((offset, reason)) = recording.break_off() {
        let count = digests.len();
        tracing::warn!(
            "the recording breaks off at byte {offset} ({reason}), after {count} iterations"
        );
    }
    let own = identity::build();
    if description.build != own {
        let (theirs, ours) = (&description.build, &own);
        tracing::warn!(
            "recorded by another build ({} for {}) than this one ({} for {}): results may differ",
            theirs.version,
            theirs.target,
            ours.version,
            ours.target,
        );
    }
    Ok(RecordedRun {
        worlds: LoadedWorlds {
            warnings: Vec::new(),
            step_size,
            real_time_factor: 0.0,
            worlds,
        },
        schedule,
        library: RecordedLibrary::new(recording.library()?),
        expected: ExpectedDigests {
            digests,
            ..ExpectedDigests::default()
        },
        description,
    })
}

impl RecordedRun {
    /// Returns the settings of a run with what decided results taken from the recording.
    pub fn settings(&self, settings: Settings) -> Settings {
        let description = &self.description;
        let step_size = Duration::from_nanos(description.step_size_ns);
        Settings {
            seed: description.seed,
            schedule: self.schedule.clone(),
            pace: PaceSettings {
                iterations: Some(self.expected.digests.len() as u64),
                start_paused: false,
                step_size,
                ..settings.pace
            },
            cells: CellSettings {
                rules: Rules {
                    load: match description.levels_load {
                        LoadWord::Buffer => LoadRule::Buffer,
                        LoadWord::Volume => LoadRule::Volume,
                    },
                    sight: match description.sight {
                        SightWord::Buffer => SightRule::Buffer,
                        SightWord::Range => SightRule::Range,
                    },
                    interaction_margin: description.interaction_margin_m,
                    minimum_stay: description.minimum_stay_iterations,
                    step_size_s: step_size.as_secs_f64(),
                },
                ..settings.cells
            },
            ..settings
        }
    }
}

impl ExpectedDigests {
    /// Compares an iteration.
    ///
    /// # Errors
    /// Fails if its digest differs.
    pub fn on_step_done(&mut self, report: &StepReport) -> Result<(), DigestDifference> {
        if report.paused || self.difference.is_some() {
            return Ok(());
        }
        let index = report.iteration.0.checked_sub(1);
        let expected = index.and_then(|index| self.digests.get(index as usize));
        self.compared += 1;
        match expected {
            Some(expected) if *expected != report.digest => {
                let difference = DigestDifference {
                    iteration: report.iteration,
                    recorded: *expected,
                    now: report.digest,
                };
                self.difference = Some(difference.clone());
                Err(difference)
            }
            _ => Ok(()),
        }
    }

    /// Returns how a run ended that was compared: not as if nothing were wrong if something is.
    pub fn conclude(&self, reason: StopReason) -> StopReason {
        if let Some(difference) = &self.difference {
            return StopReason::new(Outcome::DigestMismatch, difference.to_string());
        }
        let count = self.digests.len() as u64;
        let all = counted(count, "iteration");
        match reason.outcome {
            Outcome::Completed if self.compared < count => StopReason::new(
                Outcome::Failed,
                format!("only {} of {all} were compared", self.compared),
            ),
            Outcome::Completed => StopReason::new(
                Outcome::Completed,
                format!("all {all} have the digests of the recording"),
            ),
            _ => reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::Sequence;

    use super::*;

    fn done(iteration: u64, digest: u128) -> StepReport {
        StepReport {
            sequence: Sequence(iteration),
            schedule_left: 0,
            iteration: Iteration(iteration),
            paused: false,
            digest: Digest(digest),
            duration: Duration::ZERO,
            rearranged: false,
            peers: Vec::new(),
            cells: Vec::new(),
        }
    }

    fn expected() -> ExpectedDigests {
        ExpectedDigests {
            digests: vec![Digest(1), Digest(2)],
            ..ExpectedDigests::default()
        }
    }

    #[test]
    fn the_first_iteration_that_differs_is_named_and_ends_the_run() {
        let mut expected = expected();
        assert_eq!(expected.on_step_done(&done(1, 1)), Ok(()));
        let difference = expected.on_step_done(&done(2, 3)).unwrap_err();
        let cause = difference.to_string();
        assert!(
            cause.starts_with("iteration 2 differs: recorded 0000"),
            "{cause}"
        );
        let end = expected.conclude(StopReason::new(Outcome::Failed, "it"));
        assert_eq!((end.outcome, end.cause), (Outcome::DigestMismatch, cause));
    }

    #[test]
    fn a_run_that_ends_too_early_does_not_agree() {
        let mut expected = expected();
        expected.on_step_done(&done(1, 1)).unwrap();
        let completed = || StopReason::new(Outcome::Completed, "stopped");
        assert_eq!(expected.conclude(completed()).outcome, Outcome::Failed);
        expected.on_step_done(&done(2, 2)).unwrap();
        assert_eq!(expected.conclude(completed()).outcome, Outcome::Completed);
    }
}
