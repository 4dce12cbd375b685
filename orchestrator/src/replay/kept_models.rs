//! [`KeptModels`]: models of a recording that were read and are not there at the moment.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use scene::{AssetId, KeptModel};

use super::models::ChangePlace;

/// The most bytes that meshes and textures of such models have \[bytes\].
const BYTES_MAX: usize = 256 << 20;

/// The most models.
const MODELS_MAX: usize = 10_000;

/// Models by the places where they come; the one that was kept first is dropped first.
#[derive(Default)]
pub(super) struct KeptModels {
    models: BTreeMap<ChangePlace, KeptModel>,
    /// The places of those, and of some that were taken since, in the order of keeping.
    order: VecDeque<ChangePlace>,
    /// Number of the models that have each asset.
    users: BTreeMap<AssetId, usize>,
    bytes: usize,
}

impl KeptModels {
    /// Keeps a model, if it was there; others are dropped for it.
    pub(super) fn keep(&mut self, place: ChangePlace, model: Option<KeptModel>) {
        let Some(model) = model else { return };
        self.take(place);
        for asset in model.assets() {
            let users = self.users.entry(asset.id).or_default();
            if *users == 0 {
                self.bytes += asset.bytes.len();
            }
            *users += 1;
        }
        self.models.insert(place, model);
        self.order.push_back(place);
        while self.bytes > BYTES_MAX || self.models.len() > MODELS_MAX {
            let Some(oldest) = self.order.front().copied() else {
                return;
            };
            self.take(oldest);
        }
    }

    /// Takes a model that is kept.
    pub(super) fn take(&mut self, place: ChangePlace) -> Option<KeptModel> {
        let model = self.models.remove(&place)?;
        self.order.retain(|one| *one != place);
        for asset in model.assets() {
            if let Entry::Occupied(mut users) = self.users.entry(asset.id) {
                *users.get_mut() -= 1;
                if *users.get() == 0 {
                    users.remove();
                    self.bytes -= asset.bytes.len();
                }
            }
        }
        Some(model)
    }
}

#[cfg(test)]
mod tests {
    use protocol::ModelId;
    use scene::ChangingScene;
    use sdf::NoFiles;

    use super::*;

    fn model() -> KeptModel {
        let text = "<sdf version='1.11'><model name='m'><link name='l'><visual name='v'><geometry>\
                    <polyline><point>0 0</point><point>1 0</point><point>0 1</point>\
                    <height>1</height></polyline></geometry></visual></link></model></sdf>";
        let id = ModelId { world: 0, model: 0 };
        let mut scene = ChangingScene::of_worlds(&[sdf::World::default()], &NoFiles);
        let parcel = sdf::read_model(text, "m.sdf", &NoFiles).unwrap().parcel;
        scene.add(id, parcel, &NoFiles);
        scene.take(id).unwrap()
    }

    fn place(chunk: usize) -> ChangePlace {
        ChangePlace {
            message: (chunk, 0),
            index: 0,
        }
    }

    #[test]
    fn what_was_kept_first_is_dropped_first_and_what_is_shared_counts_once() {
        let model = model();
        let size = model.assets()[0].bytes.len();
        let mut kept = KeptModels::default();
        for chunk in 0..=MODELS_MAX {
            kept.keep(place(chunk), Some(model.clone()));
        }
        assert_eq!(kept.bytes, size);
        assert!(kept.take(place(0)).is_none(), "it was dropped");
        assert!(kept.take(place(1)).is_some() && kept.take(place(1)).is_none());
        kept.bytes = BYTES_MAX + 1;
        kept.keep(place(0), Some(model));
        assert!(kept.models.is_empty() && kept.order.is_empty() && kept.users.is_empty());
    }
}
