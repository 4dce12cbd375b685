//! [`Ghost`]: a read-only copy of a performer that another cell owns.
//!
//! Ghosts are not in the rapier world: they push nothing, cost a step nothing and change no bit of
//! it. Only [`super::ray`] and [`super::presence`] see them, which is noted.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use protocol::{LinkPose, LinkPoses, PerformerId};
use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::Pose;
use sdf::World;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::shape::Shapes;
use super::{model, pose};

/// Largest difference from 1 of the square of an orientation's length.
const NORM_TOLERANCE: f64 = 1e-6;

/// A read-only copy of a performer.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Ghost {
    /// Its model's index in the world.
    pub(super) model: usize,
    /// Poses of its links, in the order of the model's links.
    pub(super) poses: Vec<LinkPose>,
    /// The shapes of its collisions.
    #[serde(skip)]
    pub(super) shapes: Vec<GhostShape>,
}

/// The shape of a collision, and where it is on its link.
#[derive(Clone)]
pub(super) struct GhostShape {
    pub(super) link: usize,
    pub(super) at: Pose,
    pub(super) shape: SharedShape,
    /// Strength of its reflection.
    pub(super) retro: f64,
}

impl Cell {
    /// Adds a ghost in the initial poses of its model, by the model's index in the world.
    ///
    /// # Panics
    /// Panics if the world has no such model, or the cell has the ghost already.
    pub fn insert_ghost(&mut self, performer: PerformerId, model: usize) {
        let links = &self.world.models[model].links;
        let mut ghost = Ghost {
            model,
            poses: links.iter().map(|link| packed(&link.pose)).collect(),
            shapes: Vec::new(),
        };
        ghost.find_shapes(&self.world, &mut self.shapes);
        let former = self.contents.ghosts.insert(performer, ghost);
        assert!(
            former.is_none(),
            "ghost {performer} is inserted into a cell once"
        );
        self.solids.movers_changed();
    }

    /// Moves a ghost; returns `false`, and changes nothing, when the cell has no such ghost, it has
    /// another number of links, or a pose is none.
    pub fn place_ghost(&mut self, poses: &LinkPoses) -> bool {
        let Some(ghost) = self.contents.ghosts.get_mut(&poses.performer) else {
            return false;
        };
        let fits = poses.poses().len() == ghost.poses.len();
        if !fits || !poses.poses().all(|pose| is_pose(&pose)) {
            return false;
        }
        ghost.poses.clear();
        ghost.poses.extend(poses.poses());
        self.solids.movers_changed();
        true
    }

    /// Removes a ghost.
    ///
    /// # Panics
    /// Panics if the cell does not have it.
    pub fn remove_ghost(&mut self, performer: PerformerId) {
        let former = self.contents.ghosts.remove(&performer);
        assert!(former.is_some(), "ghost {performer} is removed only once");
        self.solids.movers_changed();
    }

    /// Tells whether anything has looked at ghosts since this was asked last.
    pub fn take_looked_at_ghosts(&mut self) -> bool {
        std::mem::take(self.solids.has_looked.get_mut())
    }

    /// Returns the ghosts, to be looked at.
    pub(super) fn seen_ghosts(&self) -> &BTreeMap<PerformerId, Ghost> {
        if !self.contents.ghosts.is_empty() {
            self.solids.has_looked.store(true, Ordering::Relaxed);
        }
        &self.contents.ghosts
    }

    /// Returns whose ghosts there are, in the order of their ids.
    pub fn ghosts(&self) -> impl Iterator<Item = PerformerId> {
        self.contents.ghosts.keys().copied()
    }

    /// Returns where the links of a performer are.
    ///
    /// # Panics
    /// When the cell does not have it.
    pub fn link_poses(&self, performer: PerformerId) -> LinkPoses {
        let links = &self.contents.performers[&performer].links;
        let bodies = &self.physics.bodies;
        let poses = links
            .iter()
            .map(|link| packed(&pose::from_rapier(bodies[*link].position())));
        LinkPoses::pack(performer, poses)
    }
}

impl Ghost {
    /// Builds the shapes of its collisions, which no snapshot holds.
    pub(super) fn find_shapes(&mut self, world: &World, shapes: &mut Shapes) {
        self.shapes.clear();
        let model = &world.models[self.model];
        for (link_index, link) in model.links.iter().enumerate() {
            let moves = !model::is_fixed(model, link);
            for collision in &link.collisions {
                if let Some((shape, at)) = shapes.shape(world, &collision.geometry, moves) {
                    self.shapes.push(GhostShape {
                        link: link_index,
                        at: pose::to_rapier(&collision.pose) * at,
                        shape,
                        retro: collision.laser_retro,
                    });
                }
            }
        }
    }

    /// Tells whether it can be one of a world.
    pub(super) fn fits(&self, world: &World) -> bool {
        let model = world.models.get(self.model);
        model.is_some_and(|model| model.links.len() == self.poses.len())
            && self.poses.iter().all(is_pose)
    }
}

/// Tells whether numbers are a position and a unit quaternion.
pub(super) fn is_pose(pose: &LinkPose) -> bool {
    let norm: f64 = pose[3..].iter().map(|part| part * part).sum();
    pose.iter().all(|number| number.is_finite()) && (norm - 1.0).abs() < NORM_TOLERANCE
}

/// Returns a pose as it travels.
pub(super) fn packed(pose: &sdf::Pose) -> LinkPose {
    let mut packed = [0.0; 7];
    packed[..3].copy_from_slice(&pose.position);
    packed[3..].copy_from_slice(&pose.orientation_xyzw);
    packed
}

/// Returns a pose that travelled, as rapier has it.
pub(super) fn unpacked(packed: &LinkPose) -> Pose {
    pose::to_rapier(&sdf::Pose {
        position: std::array::from_fn(|axis| packed[axis]),
        orientation_xyzw: std::array::from_fn(|part| packed[3 + part]),
    })
}
