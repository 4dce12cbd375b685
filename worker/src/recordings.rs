//! [`Recordings`]: what the driver of a primary has to do with recordings: the one that it writes,
//! and the one that its run is compared with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use lockstep::{Library, Primary, StepReport};
use protocol::ScheduledCommand;
use protocol::primary_to_observers::Event;
use protocol::primary_to_secondary::Step;
use protocol::report::{PeerReport, Stats};
use recording::RunDescription;
use run::{RecordFormat, RunSpec};
use sdf::{FuelCaches, ModelParcel, SearchPaths, UsedFiles, World};

use crate::journaling::DriverState;
use crate::recorder::{Recorder, RecorderSettings, RecordingLibrary, SaidFeed, WorldFiles};
use crate::recording_file::{self, ExpectedDigests, RecordedRun};
use crate::run_sink::{RunEnd, RunSink, RunView, SinkError};
use crate::sensor_library::SensorLibrary;

/// The recording that is written, and the digests that the run must have; mostly neither.
#[derive(Default)]
pub struct Recordings {
    recorder: Option<Recorder>,
    /// The files that spawned models may refer to, which are recorded once they are used.
    library: Option<Arc<dyn Library>>,
    /// Those of the visuals of the worlds, while they are read.
    world_files: Option<WorldFiles>,
    expected: Option<ExpectedDigests>,
}

/// Description of a run that begins.
#[derive(Clone, Copy, Debug)]
pub struct RunToRecord<'a> {
    /// Its worlds at the start.
    pub worlds: &'a [World],
    /// The files that they are from.
    pub world_files: &'a [String],
    /// Its settings.
    pub spec: &'a RunSpec,
    /// True if it has no secondaries.
    pub is_standalone: bool,
    /// True if it is taken up again, and what was recorded of it before is to stay.
    pub is_resumed: bool,
}

impl Recordings {
    /// Starts to record a run if that is asked for, and gives its primary the files that spawned
    /// models may refer to: those below the model folders of this machine and beside the worlds, or
    /// those of the recording that is done again.
    ///
    /// # Errors
    /// Fails if the recording cannot be written.
    pub fn begin(
        settings: Option<RecorderSettings>,
        recorded: Option<RecordedRun>,
        run: RunToRecord<'_>,
        primary: &mut Primary,
    ) -> anyhow::Result<Self> {
        let has_library = |settings: &RecorderSettings| settings.format == RecordFormat::Phalanx;
        let keeps_files = settings.as_ref().is_some_and(has_library);
        let visuals_bytes = settings.as_ref().map_or(0, |one| one.visuals_bytes);
        let own = settings.map(|settings| start(settings, run, primary));
        let own = own.transpose()?;
        let feed = own.as_ref().filter(|_| keeps_files).map(Recorder::feed);
        let world_files = feed.clone();
        let world_files =
            world_files.map(|feed| WorldFiles::start(run.worlds, visuals_bytes, feed));
        let world_files = world_files.transpose();
        let world_files = world_files.context("cannot start to read the files of visuals")?;
        let beside = run.world_files.iter().filter_map(|file| folder_of(file));
        let mut paths = SearchPaths::from_environment();
        if !run.spec.security.spawn_from_fuel {
            paths = paths.with_fuel(FuelCaches::default());
        }
        let files = paths.confined(beside);
        let mut expected = None;
        let library: Box<dyn Library> = match (recorded, feed.clone()) {
            (Some(recorded), feed) => {
                expected = Some(recorded.expected);
                match feed {
                    Some(feed) => Box::new(RecordingLibrary::new(recorded.library, feed)),
                    None => Box::new(recorded.library),
                }
            }
            (None, Some(feed)) => Box::new(RecordingLibrary::new(files, feed)),
            (None, None) => Box::new(files),
        };
        let to_record = feed.map(|_| library.another());
        primary.set_library(if run.worlds.iter().any(World::draws) {
            Box::new(SensorLibrary::new(library))
        } else {
            library
        });
        Ok(Self {
            recorder: own,
            library: to_record,
            world_files,
            expected,
        })
    }

    /// Goes on with the models of a run that is resumed, and with the files of their visuals that
    /// are still there.
    pub fn resume(&mut self, state: &DriverState) {
        if let Some(recorder) = &mut self.recorder {
            recorder.resume(state);
        }
        let Some(library) = &self.library else { return };
        let mut files = UsedFiles::default();
        for spawn in &state.spawned {
            let Ok(parcel) = ModelParcel::decode(&spawn.parcel) else {
                continue;
            };
            // What came with a model is recorded with it.
            if parcel.visual_files.is_empty() {
                let library = library.another();
                library.keep(&files.of(&parcel.model, &*library));
            }
        }
    }

    /// Tells whether a recording is written.
    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns the handle for what is said on topics, if that is recorded.
    pub fn said_feed(&self) -> Option<SaidFeed> {
        self.recorder.as_ref().map(Recorder::said_feed)
    }

    /// Returns what is wrong with the recording, once for each such thing.
    pub fn take_problem(&self) -> Option<String> {
        self.recorder.as_ref()?.take_problem()
    }
}

impl RunSink for Recordings {
    fn on_step(&mut self, step: &Step) {
        if let Some(recorder) = &mut self.recorder {
            recorder.on_step(step);
        }
    }

    fn on_command(
        &mut self,
        command: &ScheduledCommand,
        run: &RunView<'_>,
    ) -> Result<(), SinkError> {
        if let Some(recorder) = &self.recorder {
            recorder.on_stamped(command, run.primary.sim_time());
        }
        Ok(())
    }

    /// Records the step, and compares it: its digest must be that of the recording.
    fn on_step_done(&mut self, report: &StepReport, run: &RunView<'_>) -> Result<(), SinkError> {
        if let Some(recorder) = &mut self.recorder {
            recorder.on_step_done(report, run);
        }
        match &mut self.expected {
            Some(expected) => Ok(expected.on_step_done(report)?),
            None => Ok(()),
        }
    }

    fn on_event(&mut self, event: &Event, run: &RunView<'_>) {
        if let Some(recorder) = &self.recorder {
            recorder.on_event(event, run.primary.sim_time());
        }
    }

    fn on_stats(&mut self, stats: &Stats, peers: Option<&[PeerReport]>, run: &RunView<'_>) {
        if let (Some(recorder), Some(peers)) = (&self.recorder, peers) {
            recorder.on_figures(stats.clone(), peers.to_vec(), run.primary.sim_time());
        }
    }

    /// Completes the recording with the figures of the end, and says how a run ended that was
    /// compared. A recording that is not whole changes nothing of that.
    fn finish(&mut self, end: &mut RunEnd, run: &mut RunView<'_>) {
        if let Some(files) = self.world_files.take() {
            files.finish();
        }
        if let Some(mut recorder) = self.recorder.take() {
            let RunView {
                primary,
                reporter,
                meter,
                now,
            } = run;
            let stats = reporter.stats(primary, meter, *now);
            let peers = reporter.peers(primary, meter, &stats, *now);
            recorder.on_figures(stats, peers, primary.sim_time());
            if let Err(error) = recorder.finish(run) {
                tracing::warn!("{error}");
            }
        }
        if let Some(expected) = &self.expected {
            end.set_reason(expected.conclude(end.reason().clone()));
        }
    }
}

/// Returns the folder that a world's file is in.
fn folder_of(world_file: &str) -> Option<PathBuf> {
    let file = std::path::absolute(world_file).ok()?;
    Some(file.parent()?.to_owned())
}

fn start(
    settings: RecorderSettings,
    run: RunToRecord<'_>,
    primary: &Primary,
) -> anyhow::Result<Recorder> {
    let settings = RecorderSettings {
        path: if run.is_resumed {
            next_path(&settings.path)
        } else {
            settings.path
        },
        ..settings
    };
    let encoded = sdf::encode_worlds(run.worlds);
    let of_run = primary.settings();
    let description = RunDescription {
        spec: run
            .spec
            .public_settings()
            .context("its settings are no JSON")?,
        ..recording_file::describe(of_run, run.worlds, &encoded, run.is_standalone, &settings)
    };
    let path = settings.path.display();
    if run.is_resumed {
        tracing::info!("what follows is recorded to {path}");
    }
    Recorder::start(&settings, &description, &encoded, primary)
        .with_context(|| format!("cannot record to {path}"))
}

/// Returns the first path beside this one, `NAME-resumed-N`, where nothing is: what was recorded
/// before a crash stays.
fn next_path(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|end| end.to_string_lossy());
    let candidate = |number: u32| {
        let name = format!("{stem}-resumed-{number}");
        path.with_file_name(match &extension {
            Some(extension) => format!("{name}.{extension}"),
            None => name,
        })
    };
    let mut numbers = 1..u32::MAX;
    let free = numbers.find(|number| !candidate(*number).exists());
    candidate(free.unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_is_recorded_beside_what_was_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.mcap");
        for name in ["run-resumed-1.mcap", "run-resumed-2.mcap"] {
            assert_eq!(next_path(&path), folder.path().join(name));
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let bare = folder.path().join("run");
        assert_eq!(next_path(&bare), folder.path().join("run-resumed-1"));
    }
}
