//! [`ChangingScene`]: a scene of worlds in which models come and leave.

use std::collections::BTreeMap;

use protocol::ModelId;
use sdf::{ModelParcel, Resolver};

use crate::assets::Assets;
use crate::scene::Scene;

/// A scene, with its assets and the numbers of its models.
#[derive(Clone, Debug, Default)]
pub struct ChangingScene {
    scene: Scene,
    assets: Assets,
    /// The numbers that models have in the scene.
    numbers: BTreeMap<ModelId, u32>,
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
