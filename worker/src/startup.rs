//! [`Startup`]: what a run begins with, from world files or from its journal.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use journal::disk::ReservedDisk;
use journal::folder::Folder;
use journal::writer::Writer;
use journal::{Losses, Manifest, Mark, Recovered};
use lockstep::{CellSettings, OutputSettings, PaceSettings, Primary, RecoverySettings, Settings};
use protocol::{Iteration, RosSettings, ScheduledCommand};

use crate::identity;
use crate::journaling::DriverState;
use crate::world_file::LoadedWorlds;

/// State with which a run begins.
#[derive(Debug)]
pub struct Startup {
    /// The worlds of its start.
    pub loaded: LoadedWorlds,
    /// The commands that it was given from the start.
    pub schedule: Vec<ScheduledCommand>,
    /// The names of the world files, for people.
    pub world_files: Vec<String>,
    past: Option<Past>,
}

/// State that the journal holds of a run that is resumed.
#[derive(Debug)]
struct Past {
    folder: Folder,
    recovered: Recovered,
    driver: DriverState,
}

/// A journal that is to be written.
#[derive(Debug)]
pub struct JournalPlan {
    /// Writes it.
    pub writer: Writer,
    /// Position in the life of the run at which it ends.
    pub end: Mark,
    /// True if what follows is there already, up to that end.
    pub is_replaying: bool,
    /// State of the driver when the run goes on.
    pub driver: DriverState,
    /// Losses of what was written down, and damage that was passed over, for observers.
    pub warnings: Vec<String>,
}

impl Startup {
    /// Begins with worlds.
    pub fn fresh(loaded: LoadedWorlds, schedule: Vec<ScheduledCommand>, files: &[PathBuf]) -> Self {
        let names = files.iter().map(|file| file.display().to_string());
        Self {
            loaded,
            schedule,
            world_files: names.collect(),
            past: None,
        }
    }

    /// Begins where a journal ends. Files that the run wrote besides reach to `reach`.
    ///
    /// # Errors
    /// Fails if there is no journal, its run is living, was written by another build, nothing of it
    /// is whole, or something is lost of it that is not accepted.
    pub fn resumed(path: &Path, reach: Option<Iteration>, losses: Losses) -> anyhow::Result<Self> {
        let folder = Folder::take(path)?;
        let mut recovered = journal::reader::read(path, reach, losses)?;
        let lost = recovered.lost.take();
        recovered
            .problems
            .extend(lost.map(|lost| format!("the run goes on without {lost}")));
        let committed = recovered.committed;
        if let Some(reach) = reach.filter(|reach| *reach > committed) {
            recovered.problems.push(format!(
                "the digests of the run go on to iteration {reach} and its journal to {committed}: \
                 what comes after that is done anew, without the commands of then"
            ));
        }
        let manifest = &recovered.manifest;
        let own = identity::build();
        if manifest.build != own {
            bail!(
                "the run was begun by another build, {}, than this, {own}: resume it with that one",
                manifest.build
            );
        }
        let worlds = sdf::decode_worlds(&manifest.worlds);
        let worlds = worlds.with_context(|| format!("cannot use {}", path.display()))?;
        if worlds.is_empty() {
            bail!("the journal in {} has no worlds", path.display());
        }
        let driver = match &recovered.saved {
            Some(saved) => DriverState::decode(&saved.driver)
                .with_context(|| format!("cannot use the checkpoint in {}", path.display()))?,
            None => DriverState::default(),
        };
        let loaded = LoadedWorlds {
            warnings: Vec::new(),
            step_size: manifest.settings.step_size,
            real_time_factor: manifest.settings.real_time_factor,
            worlds,
        };
        Ok(Self {
            loaded,
            schedule: manifest.schedule.clone(),
            world_files: manifest.world_files.clone(),
            past: Some(Past {
                folder,
                recovered,
                driver,
            }),
        })
    }

    /// Returns the settings of the run: those that decide its bits are of its beginning.
    pub fn settings(&self, given: Settings) -> Settings {
        let schedule = self.schedule.clone();
        let Some(past) = &self.past else {
            return Settings { schedule, ..given };
        };
        let begun = &past.recovered.manifest.settings;
        Settings {
            schedule,
            seed: begun.seed,
            pace: PaceSettings {
                iterations: given.pace.iterations.or(begun.iterations),
                real_time_factor: begun.real_time_factor,
                start_paused: begun.start_paused,
                step_size: begun.step_size,
                ..given.pace
            },
            recovery: RecoverySettings {
                checkpoint_every: begun.checkpoint_every,
                ..given.recovery
            },
            cells: CellSettings {
                rules: begun.rules,
                ..given.cells
            },
            outputs: OutputSettings {
                ros2: begun.ros2.clone().or(given.outputs.ros2),
                ..given.outputs
            },
            ..given
        }
    }

    /// Returns the settings that a run which is resumed has had for its nodes in ROS 2, if any.
    pub fn ros_settings(&self) -> Option<&RosSettings> {
        self.past
            .as_ref()?
            .recovered
            .manifest
            .settings
            .ros2
            .as_ref()
    }

    /// Returns after which iteration and how many commands files go on that the run writes besides;
    /// `None` when they begin anew.
    pub fn goes_on_after(&self) -> Option<(Iteration, u64)> {
        let past = self.past.as_ref()?;
        let saved = past.recovered.saved.as_ref()?;
        Some((saved.checkpoint.iteration, saved.mark.commands))
    }

    /// Makes the primary: one at its start, or one that does again what was done since the last
    /// checkpoint.
    ///
    /// # Errors
    /// Fails if the checkpoint does not fit the worlds.
    pub fn primary(&self, settings: Settings) -> anyhow::Result<Primary> {
        let worlds = &self.loaded.worlds;
        let Some(Past { recovered, .. }) = &self.past else {
            return Ok(Primary::new(settings, worlds));
        };
        let replay = recovered.replay.clone();
        let (committed, count) = (recovered.committed, replay.digests.len());
        tracing::info!("resumes after iteration {committed}, of which {count} are done again");
        if let Some(saved) = &recovered.saved {
            let checkpoint = (*saved.checkpoint).clone();
            let resumed = Primary::resume(settings, worlds, checkpoint, replay);
            return resumed.context("the checkpoint cannot be used");
        }
        let mut primary = Primary::new(settings, worlds);
        primary.begin_replay(replay);
        Ok(primary)
    }

    /// Returns how the journal goes on, or begins at `path` if one is asked for; observers are to
    /// hear what was `told` of its end.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn journal(
        self,
        path: Option<&Path>,
        limit_bytes: u64,
        primary: &Primary,
        told: Vec<String>,
    ) -> anyhow::Result<Option<JournalPlan>> {
        if self.past.is_none() && path.is_none() {
            return Ok(None);
        }
        let disk = ReservedDisk::new().context("cannot keep descriptors for the journal")?;
        let disk = Box::new(disk);
        if let Some(past) = self.past {
            let end = past.recovered.end;
            return Ok(Some(JournalPlan {
                writer: Writer::resume(disk, past.folder, limit_bytes, end)?,
                end,
                is_replaying: primary.is_replaying(),
                driver: past.driver,
                warnings: past.recovered.problems.into_iter().chain(told).collect(),
            }));
        }
        let Some(path) = path else {
            return Ok(None);
        };
        let manifest = self.manifest(primary.settings());
        Ok(Some(JournalPlan {
            writer: Writer::create(disk, path, limit_bytes, &manifest)?,
            end: Mark::default(),
            is_replaying: false,
            driver: DriverState::default(),
            warnings: Vec::new(),
        }))
    }

    fn manifest(self, settings: &Settings) -> Manifest {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        // Models that came are read again from beside them, wherever the run is resumed.
        let absolute = |file: String| match std::path::absolute(&file) {
            Ok(path) => path.to_string_lossy().into_owned(),
            Err(_) => file,
        };
        Manifest {
            build: identity::build(),
            session: settings.session,
            began_unix_s: now.unwrap_or(Duration::ZERO).as_secs(),
            world_files: self.world_files.into_iter().map(absolute).collect(),
            worlds: sdf::encode_worlds(&self.loaded.worlds).into(),
            settings: settings.into(),
            schedule: self.schedule,
        }
    }
}
