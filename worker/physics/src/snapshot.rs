//! Snapshots: a cell as bytes, or as a copy in memory, from which it continues bit for bit.
//!
//! They hold all of rapier's sets, islands and contacts included, but not the world. Layout: the
//! digest of the rest as 16 little-endian bytes, then postcard.

use std::collections::BTreeSet;
use std::sync::Arc;

use protocol::Digest;
use rapier3d_f64::dynamics::RigidBodyHandle;
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::World;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, Contents, Performer};
use super::{model, world_joint};

/// Bytes that are no snapshot of a cell of this world.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Cut short or altered on the way.
    #[error("snapshot is damaged: its digest does not match its bytes")]
    Damaged,
    /// Written by another build.
    #[error("snapshot was made by a build with other physics")]
    Malformed(#[source] postcard::Error),
    /// Of a cell of another world.
    #[error("snapshot belongs to another world")]
    OtherWorld,
    /// Its parts do not belong together, which no cell writes.
    #[error("snapshot contradicts itself: it names bodies or joints that are not in it")]
    Contradictory,
}

#[derive(Serialize)]
struct SnapshotRef<'a> {
    physics: &'a PhysicsWorld,
    contents: &'a Contents,
}

#[derive(Deserialize)]
struct Snapshot {
    physics: PhysicsWorld,
    contents: Contents,
}

/// All that a cell holds at a moment, but for the world; made several times faster than a snapshot,
/// and good for the same process alone.
pub struct CellCopy {
    physics: PhysicsWorld,
    contents: Contents,
}

impl Cell {
    /// Returns everything that the cell needs to go on from here once more.
    pub fn copy(&mut self) -> CellCopy {
        self.settle();
        CellCopy {
            physics: copied(&self.physics),
            contents: self.contents.clone(),
        }
    }

    /// Returns the cell of a copy.
    pub fn from_copy(world: Arc<World>, copy: &CellCopy) -> Self {
        Self::from_parts(world, copied(&copy.physics), copy.contents.clone())
    }

    /// Returns everything that the cell needs to go on elsewhere, but for the world.
    ///
    /// # Panics
    /// Never: rapier's sets hold only what postcard can express.
    pub fn snapshot(&mut self) -> Vec<u8> {
        self.settle();
        let snapshot = SnapshotRef {
            physics: &self.physics,
            contents: &self.contents,
        };
        let payload = vec![0; size_of::<u128>()];
        let mut bytes = postcard::to_extend(&snapshot, payload)
            .expect("rapier's sets hold only what postcard can express");
        let digest = Digest::of_bytes(&bytes[size_of::<u128>()..]);
        bytes[..size_of::<u128>()].copy_from_slice(&digest.0.to_le_bytes());
        bytes
    }

    /// Returns the cell of a snapshot.
    ///
    /// # Errors
    /// When the bytes are damaged, contradict themselves, or were made by another build or for
    /// another world. What rapier keeps for itself alone is not looked into.
    pub fn restore(world: Arc<World>, bytes: &[u8]) -> Result<Self, RestoreError> {
        let (digest, payload) = bytes.split_first_chunk().ok_or(RestoreError::Damaged)?;
        if Digest::of_bytes(payload).0 != u128::from_le_bytes(*digest) {
            return Err(RestoreError::Damaged);
        }
        let Snapshot { physics, contents } =
            postcard::from_bytes(payload).map_err(RestoreError::Malformed)?;
        if !fits(&contents, &world) {
            return Err(RestoreError::OtherWorld);
        }
        if !is_whole(&contents, &physics) || !is_in_order(&contents, &world) {
            return Err(RestoreError::Contradictory);
        }
        Ok(Self::from_parts(world, physics, contents))
    }
}

/// Copies what a snapshot holds of a rapier world: not its workspaces.
fn copied(physics: &PhysicsWorld) -> PhysicsWorld {
    PhysicsWorld {
        gravity: physics.gravity,
        integration_parameters: physics.integration_parameters,
        islands: physics.islands.clone(),
        broad_phase: physics.broad_phase.clone(),
        narrow_phase: physics.narrow_phase.clone(),
        bodies: physics.bodies.clone(),
        colliders: physics.colliders.clone(),
        impulse_joints: physics.impulse_joints.clone(),
        multibody_joints: physics.multibody_joints.clone(),
        soft_bodies: physics.soft_bodies.clone(),
        ..PhysicsWorld::default()
    }
}

fn fits(contents: &Contents, world: &World) -> bool {
    let has_static = |index: &usize| world.models.get(*index).is_some();
    let mut joints = contents.joint_mechanisms.keys();
    contents.statics.keys().all(has_static)
        && joints.all(|number| world.joints.get(*number).is_some())
        && contents.ghosts.values().all(|ghost| ghost.fits(world))
        && contents
            .actors
            .keys()
            .all(|actor| world.actors.get(*actor).is_some())
        && contents
            .persistent_loads
            .iter()
            .all(|(performer, persistent_loads)| {
                let performer = contents.performers.get(performer);
                performer.is_some_and(|performer| persistent_loads.is_sound(performer.links.len()))
            })
        && contents.performers.values().all(|performer| {
            let model = world.models.get(performer.model);
            model.is_some_and(|model| model.links.len() == performer.links.len())
        })
}

/// Tells whether every handle leads to what it should, and no two to the same body.
fn is_whole(contents: &Contents, physics: &PhysicsWorld) -> bool {
    let is_body = |handle: RigidBodyHandle| {
        let body = physics.bodies.get(handle);
        body.is_some_and(|body| {
            let mut colliders = body.colliders().iter();
            colliders.all(|collider| physics.colliders.get(*collider).is_some())
        })
    };
    let mut seen = BTreeSet::new();
    let mut is_own =
        |handle: RigidBodyHandle| is_body(handle) && seen.insert(handle.into_raw_parts());
    let is_fixed = |handle: RigidBodyHandle| physics.bodies[handle].is_fixed();
    let mut fixed = contents.statics.values().chain([&contents.anchor]);
    let mut performers = contents.performers.values();
    let mechanisms = contents.mechanisms.values();
    let mut mechanisms = mechanisms.chain(contents.joint_mechanisms.values());
    let has_joint = |joint| physics.impulse_joints.contains(joint);
    let mut actors = contents.actors.values();
    let mut attachments = contents.attachments.values();
    attachments.all(|joint| has_joint(*joint))
        && actors.all(|body| is_own(*body) && physics.bodies[*body].is_kinematic())
        && fixed.all(|body| is_own(*body) && is_fixed(*body))
        && performers.all(|performer| {
            let label = |body: RigidBodyHandle| model::from_label(physics.bodies[body].user_data);
            let mut links = performer.links.iter().enumerate();
            links.all(|(link, body)| is_own(*body) && label(*body) == (performer.model, link))
        })
        && mechanisms.all(|mechanism| {
            let mut joints = mechanism.joints.iter();
            joints.all(|joint| has_joint(*joint)) && mechanism.bodies().all(is_body)
        })
}

/// Tells whether mechanisms hold the links of those that they are named for, and attachments two
/// links that are here, so that what leaves takes along all that holds on to it.
fn is_in_order(contents: &Contents, world: &World) -> bool {
    let is_of = |performer: &Performer, body: RigidBodyHandle| {
        body == contents.anchor || performer.links.contains(&body)
    };
    let mut mechanisms = contents.mechanisms.iter();
    let mut joint_mechanisms = contents.joint_mechanisms.iter();
    let mut attachments = contents.attachments.keys();
    let is_end = |link| world_joint::end(contents, world, link).is_some();
    mechanisms.all(|(performer, mechanism)| {
        let performer = contents.performers.get(performer);
        performer.is_some_and(|performer| mechanism.bodies().all(|body| is_of(performer, body)))
    }) && joint_mechanisms.all(|(number, mechanism)| {
        let performers = contents.performers.values();
        let joint = &world.joints[*number];
        let ends: Vec<_> = performers
            .filter(|performer| world_joint::holds(joint, performer.model))
            .collect();
        let is_held = |body| ends.iter().any(|performer| is_of(performer, body));
        mechanism.bodies().all(is_held)
    }) && attachments.all(|(parent, child)| parent != child && is_end(*parent) && is_end(*child))
}
