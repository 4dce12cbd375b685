//! [`RecordedScene`]: all that is drawn of a recording, at a place in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::slice;

use protocol::ModelId;
use recording::{
    Channel, LibraryIndex, Message, ModelChange, ModelChanges, ReadError, Recording, RunDescription,
};
use scene::ChangingScene;
use sdf::{
    ConfinedPaths, ModelParcel, ResolveError, ResolvedData, ResolvedFile, Resolver, SearchPaths,
    World,
};
use serde_json::Value;

use super::Player;
use super::kept_models::KeptModels;
use super::loaded::parse;
use super::models::{ChangePlace, ModelsThere};

/// The scene of a recording.
pub struct RecordedScene {
    /// The scene as it was at the start.
    start: ChangingScene,
    now: ChangingScene,
    /// Number of changes that are made to it.
    changes: usize,
    /// Models that it has.
    there: ModelsThere,
    /// Models that it had, should it come back to them.
    kept: KeptModels,
    library: LibraryIndex,
    here: ConfinedPaths,
}

/// Files of worlds or of spawned models: those of the recording, and those of this machine that
/// they may name in a run.
struct Files<'a, R> {
    library: &'a LibraryIndex,
    recording: RefCell<&'a mut Recording<R>>,
    here: &'a dyn Resolver,
}

impl RecordedScene {
    /// Makes the scene of the worlds of the start, whose files are those of the recording or else
    /// of this machine. Spawned models may name files of the recording, and those of this machine
    /// below its model folders and beside the worlds.
    pub fn new<R: Read + Seek>(worlds: &[World], recording: &mut Recording<R>) -> Self {
        let library = recording.library_index();
        let here = SearchPaths::from_environment();
        let files = Files {
            library: &library,
            recording: RefCell::new(&mut *recording),
            here: &here,
        };
        let start = ChangingScene::of_worlds(worlds, &files);
        Self::of(start, library, recording.description())
    }

    /// Makes it of the scene of the start.
    pub(super) fn of(start: ChangingScene, library: LibraryIndex, run: &RunDescription) -> Self {
        let here = SearchPaths::from_environment();
        Self {
            now: start.clone(),
            start,
            changes: 0,
            there: ModelsThere::default(),
            kept: KeptModels::default(),
            library,
            here: here.confined(world_folders(&run.spec)),
        }
    }

    /// Brings it to the place of a player, and reads the models that are there and were not, unless
    /// they are kept from before; tells whether models came or left.
    ///
    /// # Errors
    /// Fails if the recording cannot be read.
    pub fn go_to<R: Read + Seek>(&mut self, player: &mut Player<R>) -> Result<bool, ReadError> {
        let changes = player.count_model_changes()?;
        if changes == self.changes {
            return Ok(false);
        }
        let (there, recording) = player.models_after(changes);
        if !self.there.gone.is_subset(&there.gone) {
            // Models of the start are back.
            let had = std::mem::take(&mut self.there);
            for (model, place) in had.came {
                self.kept.keep(place, self.now.take(model));
            }
            self.now = self.start.clone();
        }
        let is_new = |(model, place): &(&ModelId, &ChangePlace)| {
            self.there.came.get(model).is_none_or(|had| had != *place)
        };
        let new = there.came.iter().filter(is_new);
        let new: BTreeMap<ChangePlace, ModelId> =
            new.map(|(model, place)| (*place, *model)).collect();
        let old = &self.there;
        let left = there.gone.iter().filter(|model| {
            !there.came.contains_key(model)
                && (old.came.contains_key(model) || !old.gone.contains(model))
        });
        for model in left {
            let taken = self.now.take(*model);
            if let Some(place) = old.came.get(model) {
                self.kept.keep(*place, taken);
            }
        }
        for (model, place) in &old.came {
            // Another one takes its number.
            if there.came.get(model).is_some_and(|now| now != place) {
                self.kept.keep(*place, self.now.take(*model));
            }
        }
        (self.there, self.changes) = (there.clone(), changes);
        self.add(&new, recording)?;
        self.now.drop_unused();
        Ok(true)
    }

    /// Returns the scene.
    pub fn scene(&self) -> &ChangingScene {
        &self.now
    }

    /// Adds models that are told at some places. One that is damaged is not drawn: all else is as
    /// it was.
    fn add<R: Read + Seek>(
        &mut self,
        models: &BTreeMap<ChangePlace, ModelId>,
        recording: &mut Recording<R>,
    ) -> Result<(), ReadError> {
        let mut loaded: Option<(usize, Vec<Message>)> = None;
        for (place, model) in models {
            if let Some(kept) = self.kept.take(*place) {
                self.now.put(*model, kept);
                continue;
            }
            let (chunk, index) = place.message;
            let messages = match loaded.take() {
                Some((number, messages)) if number == chunk => messages,
                _ => recording.messages(chunk)?,
            };
            let parcel = messages
                .get(index)
                .and_then(|told| parcel(told, place.index));
            loaded = Some((chunk, messages));
            if let Some(parcel) = parcel {
                let files = Files {
                    library: &self.library,
                    recording: RefCell::new(recording),
                    here: &self.here,
                };
                self.now.add(*model, parcel, &files);
            } else {
                self.now.remove(*model);
            }
        }
        Ok(())
    }
}

/// Returns a model that comes, of the changes that a message tells.
fn parcel(message: &Message, index: u32) -> Option<ModelParcel> {
    let told: ModelChanges = parse(Channel::Models, message).ok()?;
    match told.changes.get(index as usize)? {
        ModelChange::Comes { parcel, .. } => ModelParcel::decode(parcel).ok(),
        ModelChange::Leaves { .. } => None,
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

impl<R: Read + Seek> Resolver for Files<'_, R> {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        self.here.read(uri, from_file)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let mut recording = self.recording.borrow_mut();
        let recorded = self.library.read_data(&mut recording, uri, from_file);
        recorded.or_else(|_| self.here.read_data(uri, from_file))
    }

    fn read_side(&self, name: &str, mesh_file: &str) -> Result<ResolvedData, ResolveError> {
        let mut recording = self.recording.borrow_mut();
        let recorded = self.library.read_data(&mut recording, name, mesh_file);
        recorded.or_else(|_| self.here.read_side(name, mesh_file))
    }
}
