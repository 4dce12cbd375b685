//! [`RecordedScene`]: all that is drawn of a recording, at a place in it.

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::slice;

use recording::{LibraryFile, ModelChange, ModelChanges, ReadError, RecordedFiles, RunDescription};
use scene::ChangingScene;
use sdf::{
    ConfinedPaths, ModelParcel, ResolveError, ResolvedData, ResolvedFile, Resolver, SearchPaths,
    World,
};
use serde_json::Value;

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

/// Files of spawned models: those of the recording, and those of this machine that a model may name
/// in a run.
struct Files {
    recorded: RecordedFiles,
    here: ConfinedPaths,
}

impl RecordedScene {
    /// Makes the scene of the worlds of the start. Spawned models may name files of the recording,
    /// and those of this machine below its model folders and beside the worlds.
    pub fn new(worlds: &[World], files: Vec<LibraryFile>, run: &RunDescription) -> Self {
        let here = SearchPaths::from_environment();
        let start = ChangingScene::of_worlds(worlds, &here);
        let files = Files {
            recorded: RecordedFiles::new(files),
            here: here.confined(world_folders(&run.spec)),
        };
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

    pub(super) fn take(&mut self, step: &ModelChanges) {
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

/// Returns the folders of the world files that the settings of a run name.
fn world_folders(spec: &Value) -> Vec<PathBuf> {
    let named = &spec["run"]["world"];
    let all = named.as_array();
    let all = all.map_or(slice::from_ref(named), Vec::as_slice);
    let files = all.iter().filter_map(Value::as_str).map(Path::new);
    let files = files.filter(|file| file.is_absolute());
    let folders = files.filter_map(Path::parent);
    folders.map(Path::to_owned).collect()
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
