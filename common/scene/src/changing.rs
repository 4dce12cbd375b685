//! [`ChangingScene`]: a scene of worlds in which models come and leave.

use std::collections::BTreeMap;

use protocol::ModelId;
use sdf::{ModelParcel, Resolver};

use crate::assets::{Asset, Assets};
use crate::build::TakenModel;
use crate::scene::Scene;

/// A scene, with its assets and the numbers of its models.
#[derive(Clone, Debug, Default)]
pub struct ChangingScene {
    scene: Scene,
    assets: Assets,
    /// The numbers that models have in the scene.
    numbers: BTreeMap<ModelId, u32>,
}

/// A model that was taken out of a scene, with all that is drawn of it.
#[derive(Clone, Debug)]
pub struct KeptModel {
    taken: TakenModel,
    assets: Vec<Asset>,
    problems: Vec<String>,
}

impl KeptModel {
    /// Returns the meshes and textures of the model, of which others may have the same.
    pub fn assets(&self) -> &[Asset] {
        &self.assets
    }
}

impl ChangingScene {
    /// Makes the scene of worlds as they were at the start. `files` finds the meshes and images
    /// that visuals name.
    pub fn of_worlds(worlds: &[sdf::World], files: &dyn Resolver) -> Self {
        let mut assets = Assets::default();
        let scene = Scene::from_worlds(worlds, files, &mut assets);
        let mut numbers = BTreeMap::new();
        for ((own, drawn), world) in worlds.iter().zip(&scene.worlds).zip(0..) {
            let places = own.models.iter().zip(0..);
            let places = places.filter(|(model, _)| !model.is_vacant());
            for ((_, model), drawn) in places.zip(&drawn.models) {
                numbers.insert(ModelId { world, model }, drawn.id);
            }
        }
        Self {
            scene,
            assets,
            numbers,
        }
    }

    /// Adds a model that comes, in place of one that has its number; one of a world that is not
    /// there is left out.
    pub fn add(&mut self, id: ModelId, parcel: ModelParcel, files: &dyn Resolver) {
        self.remove(id);
        let world = id.world as usize;
        let number = self.scene.add_model(world, parcel, files, &mut self.assets);
        if let Some(number) = number {
            self.numbers.insert(id, number);
        }
    }

    /// Takes out a model that leaves, if it is there.
    pub fn remove(&mut self, id: ModelId) {
        if let Some(number) = self.numbers.remove(&id) {
            self.scene.remove_model(number);
        }
    }

    /// Takes out a model that leaves, if it is there, and returns it: it is put back without being
    /// read again.
    pub fn take(&mut self, id: ModelId) -> Option<KeptModel> {
        let number = self.numbers.remove(&id)?;
        let taken = self.scene.take_model(number)?;
        let assets = taken.model.assets().into_iter();
        // What could not be drawn of it was told with the names of its visuals.
        let own = format!("{}::", taken.model.name);
        let told = self.scene.problems.iter();
        let problems = told.filter(|problem| problem.contains(&own)).cloned();
        Some(KeptModel {
            assets: assets.filter_map(|id| self.assets.get(&id)).collect(),
            problems: problems.collect(),
            taken,
        })
    }

    /// Puts a model back that was taken out of this scene, or of another one of the same worlds, in
    /// place of one that has its number.
    pub fn put(&mut self, id: ModelId, kept: KeptModel) {
        self.remove(id);
        let KeptModel {
            taken,
            assets,
            problems,
        } = kept;
        for asset in assets {
            self.assets.share(asset);
        }
        for problem in problems {
            if !self.scene.problems.contains(&problem) {
                self.scene.problems.push(problem);
            }
        }
        if let Some(number) = self.scene.put_model(taken) {
            self.numbers.insert(id, number);
        }
    }

    /// Drops the assets that nothing names any more.
    pub fn drop_unused(&mut self) {
        let named = self.scene.assets();
        self.assets.retain(|id| named.contains(id));
    }

    /// Returns the scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Returns its assets.
    pub fn assets(&self) -> &Assets {
        &self.assets
    }
}
