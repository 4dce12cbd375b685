//! Who is in a cell: its static models, performers and ghosts, with their poses.

use protocol::PerformerId;
use sdf::{Model, Pose};

use super::access::ModelRef;
use super::cell::Cell;
use super::{ghost, pose};

/// A model that moves and that a cell knows of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Present {
    /// Its number as a performer.
    pub performer: PerformerId,
    /// Its index among the world's models.
    pub model: usize,
    /// The pose of its origin, world frame.
    pub pose: Pose,
    /// True if another cell owns it.
    pub is_ghost: bool,
}

impl Cell {
    /// Returns the performers that the cell owns and those of which it has a ghost, in the order of
    /// their ids, for what acts in the cell.
    pub fn movers(&self) -> Vec<Present> {
        self.seen_ghosts();
        self.present()
    }

    /// Returns the same for who only checks the cell.
    pub fn present(&self) -> Vec<Present> {
        let owned = self.contents.performers.iter().map(|(id, performer)| {
            let model = ModelRef::moving(*id, performer.model);
            Present {
                performer: *id,
                model: performer.model,
                pose: self.model_pose(model),
                is_ghost: false,
            }
        });
        let ghosts = self.contents.ghosts.iter().filter_map(|(id, ghost)| {
            let description = &self.world.models[ghost.model];
            let link = ghost.poses.get(description.canonical_link)?;
            let link = pose::from_rapier(&ghost::unpacked(link));
            Some(Present {
                performer: *id,
                model: ghost.model,
                pose: link.then(&offset(
                    description,
                    description.canonical_link,
                    description.pose,
                )),
                is_ghost: true,
            })
        });
        let mut movers: Vec<Present> = owned.chain(ghosts).collect();
        movers.sort_by_key(|present| present.performer);
        movers
    }

    /// Returns where the links are of each performer that the cell owns, or has a ghost of: the
    /// index of its model among the world's models, and the poses of its links, world frame.
    pub fn links_of_movers(&self) -> Vec<(usize, Vec<Pose>)> {
        let bodies = &self.physics.bodies;
        let owned = self.contents.performers.values().map(|performer| {
            let links = performer.links.iter();
            let poses = links.map(|link| pose::from_rapier(bodies[*link].position()));
            (performer.model, poses.collect())
        });
        let ghosts = self.seen_ghosts().values().map(|ghost| {
            let poses = ghost.poses.iter();
            let poses = poses.map(|link| pose::from_rapier(&ghost::unpacked(link)));
            (ghost.model, poses.collect())
        });
        owned.chain(ghosts).collect()
    }

    /// Returns the pose of the origin of a model within a model, world frame; of the whole model
    /// for an empty scope, or for one that it does not have. The scope is that of
    /// the configuration of a system: `nested::`.
    ///
    /// # Panics
    /// When the cell does not own the model.
    pub fn scope_pose(&self, model: ModelRef, scope: &str) -> Pose {
        let description = &self.world.models[model.index];
        let name = scope.trim_end_matches("::");
        let nested = description.nested.iter().find(|inner| inner.name == name);
        match nested {
            None => self.model_pose(model),
            Some(nested) => match nested.canonical_link {
                None => nested.pose,
                Some(link) => {
                    let of_origin = offset(description, link, nested.pose);
                    self.link_pose(model, link).then(&of_origin)
                }
            },
        }
    }
}

/// Returns what moves with a link in the frame of the link, by its pose in the world's description.
fn offset(description: &Model, link: usize, pose: Pose) -> Pose {
    description.links[link].pose.inverse().then(&pose)
}
