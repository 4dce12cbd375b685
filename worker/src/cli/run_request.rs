//! [`Run`]: a run that a primary or a standalone process is asked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use images::Compression;
use journal::Losses;
use lockstep::{StepTimeoutSettings, Topology};
use protocol::{Iteration, Role, TraceWindow};
use ros2::Rules;
use run::{JournalLocation, RecordImages, RunSpec};
use worker::divergence_file::DivergenceFile;
use worker::recorder::RecorderSettings;
use worker::trace::{TraceSettings, Tracer};

use super::{SecurityFlags, UsageError};

/// A run that a primary or a standalone process is asked for.
#[derive(Debug)]
pub(crate) struct Run {
    /// Its settings.
    pub(crate) spec: RunSpec,
    /// The journal that it goes on from.
    pub(crate) resume: Option<PathBuf>,
    /// True if it goes on although something is lost.
    pub(crate) accepts_loss: bool,
    /// The recording that is simulated again.
    pub(crate) recording: Option<PathBuf>,
    /// Its key, and the keys that may connect.
    pub(crate) security: SecurityFlags,
}

impl Run {
    /// Makes sure that the settings go together, and that the run has worlds, a recording or a
    /// journal, and no two of them.
    pub(super) fn check(&self, who: &'static str) -> Result<(), UsageError> {
        self.spec.check()?;
        let has_worlds = !self.spec.run.worlds.is_empty() || self.recording.is_some();
        match (&self.resume, has_worlds) {
            (None, false) => return Err(UsageError::NoWorld { who }),
            (Some(_), true) => return Err(UsageError::ResumedWithWorlds),
            (None, true) | (Some(_), false) => {}
        }
        if self.resume.is_some() && self.spec.run.commands.is_some() {
            return Err(UsageError::ResumedWithCommands);
        }
        match (&self.spec.journal.place, &self.resume) {
            (JournalLocation::RunFolder, None) => Err(UsageError::JournalOfRunFolder),
            (JournalLocation::RunFolder | JournalLocation::Folder(_), Some(_)) => {
                Err(UsageError::ResumedWithJournal)
            }
            (JournalLocation::Nowhere, _) | (JournalLocation::Folder(_), None) => Ok(()),
        }
    }

    /// Tells whether it is written down, to be resumed.
    pub(crate) fn is_journaled(&self) -> bool {
        self.spec.journal.folder().is_some() || self.resume.is_some()
    }

    /// Returns the reaction to losses of its journal and its files.
    pub(crate) fn losses(&self) -> Losses {
        if self.accepts_loss {
            Losses::Accept
        } else {
            Losses::Refuse
        }
    }

    /// Returns the settings of its recorder, if anything is recorded; rules are those of topics of
    /// ROS 2.
    pub(crate) fn recorder(&self, rules: Rules) -> Option<RecorderSettings> {
        let record = &self.spec.record;
        let quality = self.spec.run.jpeg_quality;
        Some(RecorderSettings {
            path: record.file.clone()?,
            format: record.format,
            rules,
            rate_hz: record.rate_hz,
            has_states: record.states,
            visuals_bytes: (record.visuals_mib as usize) << 20,
            images: match record.images {
                RecordImages::Raw => None,
                RecordImages::Jpeg => Some(Compression::Jpeg(quality)),
                RecordImages::Png => Some(Compression::Png),
            },
        })
    }

    /// Returns the times at which a step that waits is reported and examined.
    pub(crate) fn step_timeout(&self) -> StepTimeoutSettings {
        let network = &self.spec.network;
        StepTimeoutSettings {
            warn_after: network.warn_after,
            diagnose_after: network.diagnose_after,
            wait_for_debugger: network.wait_for_debugger,
        }
    }

    /// Returns the iterations that are traced, if any.
    pub(crate) fn trace_window(&self) -> Option<TraceWindow> {
        let trace = &self.spec.trace;
        trace.file.as_ref().map(|_| TraceWindow {
            first: Iteration(trace.from),
            count: trace.iterations,
        })
    }

    /// Creates the file of the trace and starts its writer, if anything is traced.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    pub(crate) fn tracer(&self, role: Role, plan: &Topology) -> anyhow::Result<Option<Tracer>> {
        let (Some(path), Some(window)) = (&self.spec.trace.file, self.trace_window()) else {
            return Ok(None);
        };
        let cells = plan.cells.iter().map(|cell| cell.name.clone());
        let settings = TraceSettings {
            path: path.clone(),
            window,
            role,
            cells: cells.collect(),
        };
        let tracer = Tracer::start(settings);
        let tracer = tracer.with_context(|| format!("cannot write a trace to {}", path.display()));
        tracer.map(Some)
    }

    /// Returns the place for what is told of a divergence, with what the run was asked to be.
    pub(crate) fn divergence_file(
        &self,
        step_size: Duration,
        secondaries: Option<u32>,
    ) -> DivergenceFile {
        let settings = serde_json::json!({
            "secondaries": secondaries,
            "step_size_s": step_size.as_secs_f64(),
            "settings": self.spec,
        });
        let folder = self.spec.outputs.divergence_reports.as_deref();
        DivergenceFile::new(folder.unwrap_or(Path::new(".")), settings)
    }
}
