//! [`RecordedScene`]: all that is drawn of a recording, at a place in it.

use std::io::{Read, Seek};

use recording::{LibraryFile, ModelChange, ModelChanges, ReadError, RecordedFiles};
use scene::ChangingScene;
use sdf::{ModelParcel, ResolveError, ResolvedData, ResolvedFile, Resolver, SearchPaths, World};

use super::Player;

/// The scene of a recording.
pub struct RecordedScene {
    /// The scene as it was at the start.
    start: ChangingScene,
    now: ChangingScene,
    /// Number of changes that are made to it.
    changes: usize,
    files: Files,
}

/// Files of the recording, and those of this machine.
struct Files {
    recorded: RecordedFiles,
    here: SearchPaths,
}

impl RecordedScene {
    /// Makes the scene of the worlds of the start. Spawned models may name files of the recording,
    /// and those of this machine.
    pub fn new(worlds: &[World], files: Vec<LibraryFile>) -> Self {
        let files = Files {
            recorded: RecordedFiles::new(files),
            here: SearchPaths::from_environment(),
        };
        let start = ChangingScene::of_worlds(worlds, &files.here);
        Self {
            now: start.clone(),
            start,
            changes: 0,
            files,
        }
    }

    /// Brings it to the place of a player; tells whether other models are there than before.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn go_to<R: Read + Seek>(&mut self, player: &mut Player<R>) -> Result<bool, ReadError> {
        let mut changes = player.model_changes()?;
        if changes.len() == self.changes {
            return Ok(false);
        }
        let known = if changes.len() > self.changes {
            self.changes
        } else {
            self.now = self.start.clone();
            0
        };
        self.changes = changes.len();
        changes = &changes[known..];
        if let Some(last) = changes.iter().rposition(|(_, one)| one.anew) {
            self.now = self.start.clone();
            changes = &changes[last..];
        }
        for (_, step) in changes {
            self.take(step);
        }
        self.now.drop_unused();
        Ok(true)
    }

    /// Returns the scene.
    pub fn scene(&self) -> &ChangingScene {
        &self.now
    }

    fn take(&mut self, step: &ModelChanges) {
        for change in &step.changes {
            match change {
                ModelChange::Comes { model, parcel } => {
                    // One that is damaged is not drawn: all else is as it was.
                    if let Ok(parcel) = ModelParcel::decode(parcel) {
                        self.now.add(*model, parcel, &self.files);
                    }
                }
                ModelChange::Leaves { model } => self.now.remove(*model),
            }
        }
    }
}

impl Resolver for Files {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let recorded = self.recorded.read(uri, from_file);
        recorded.or_else(|_| self.here.read(uri, from_file))
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let recorded = self.recorded.read_data(uri, from_file);
        recorded.or_else(|_| self.here.read_data(uri, from_file))
    }

    fn read_side(&self, name: &str, mesh_file: &str) -> Result<ResolvedData, ResolveError> {
        let recorded = self.recorded.read_side(name, mesh_file);
        recorded.or_else(|_| self.here.read_side(name, mesh_file))
    }
}
