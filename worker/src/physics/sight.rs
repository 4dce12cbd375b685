//! What is in a cell for sensors: the models, ghosts included, and where they are.

use sdf::Pose;

use super::access::ModelRef;
use super::cell::Cell;
use super::{ghost, pose};

impl Cell {
    /// Returns the models that are in the cell, ghosts included, by their indices in the world,
    /// with the poses of their origins, world frame.
    pub fn model_poses(&self) -> impl Iterator<Item = (usize, Pose)> {
        let fixed = self.contents.statics.keys().copied().map(ModelRef::fixed);
        let performers = self.contents.performers.iter();
        let moving = performers.map(|(id, performer)| ModelRef::moving(*id, performer.model));
        let own = fixed.chain(moving);
        let own = own.map(|model| (model.index, self.model_pose(model)));
        own.chain(self.contents.ghosts.values().map(|ghost| {
            let model = &self.world.models[ghost.model];
            let link = model.canonical_link;
            let of_origin = model.links[link].pose.inverse().then(&model.pose);
            let link = pose::from_rapier(&ghost::unpacked(&ghost.poses[link]));
            (ghost.model, link.then(&of_origin))
        }))
    }
}
