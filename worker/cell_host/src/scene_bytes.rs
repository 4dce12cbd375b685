//! A scene as bytes, from which another host goes on.
//!
//! Layout: what is not as at the start, in postcard, then the digest of that, little-endian. The
//! worlds of the start are not in it: every host has them from its welcome.

use std::collections::BTreeSet;

use protocol::action::Action;
use protocol::primary_to_secondary::Step;
use protocol::{Digest, StampedAction};
use serde::{Deserialize, Serialize};

use super::action_check;
use super::scene::Scene;
use super::step_error::StepError;
use super::world_systems::WorldSystems;

/// Bytes that are no snapshot of the scene.
#[derive(Debug, thiserror::Error)]
pub enum RestoreSceneError {
    /// Cut short or altered on the way.
    #[error("the snapshot of the scene is damaged")]
    Damaged,
    /// Written by another build.
    #[error("the snapshot of the scene was made by another build")]
    Malformed(#[source] postcard::Error),
    /// The actions on the worlds cannot be replayed.
    #[error("what the snapshot of the scene has done to the worlds does not fit them")]
    Actions(#[source] Box<StepError>),
    /// The systems of a world are others.
    #[error("the snapshot of the scene has other systems of worlds")]
    Systems,
}

/// Saved differences of a scene from the start.
#[derive(Serialize, Deserialize)]
struct SavedScene {
    seed: u64,
    step_size_s: f64,
    publish_all: bool,
    observed: BTreeSet<String>,
    participants: BTreeSet<String>,
    /// They bring about what is not as at the start, each by itself.
    actions: Vec<Action>,
    /// For each world, its saved systems.
    world_systems: Vec<Vec<Vec<u8>>>,
}

impl Scene {
    /// Returns everything that a host with the same worlds needs to go on from here.
    pub(super) fn snapshot(&self) -> Vec<u8> {
        let audience = self.listeners.audience();
        let saved = SavedScene {
            seed: self.seed,
            step_size_s: self.step_size_s,
            publish_all: audience.publish_all,
            observed: audience.observed.iter().cloned().collect(),
            participants: audience.participants.clone(),
            actions: self.changes(),
            world_systems: self.save_systems(),
        };
        let mut bytes = postcard::to_stdvec(&saved)
            .expect("numbers, names and lists are what postcard can express");
        let digest = Digest::of_bytes(&bytes);
        bytes.extend_from_slice(&digest.0.to_le_bytes());
        bytes
    }

    /// Saves the systems of each world.
    pub(super) fn save_systems(&self) -> Vec<Vec<Vec<u8>>> {
        self.world_systems.iter().map(WorldSystems::save).collect()
    }

    /// Goes on from a snapshot; the scene must be as at the start.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<(), RestoreSceneError> {
        let (saved, digest) = bytes.split_last_chunk().ok_or(RestoreSceneError::Damaged)?;
        if Digest::of_bytes(saved).0 != u128::from_le_bytes(*digest) {
            return Err(RestoreSceneError::Damaged);
        }
        let saved: SavedScene =
            postcard::from_bytes(saved).map_err(RestoreSceneError::Malformed)?;
        for action in saved.actions {
            let step = Step {
                actions: vec![StampedAction { number: 0, action }],
                ..Step::default()
            };
            let parcels = action_check::check_past(&step, self)
                .map_err(|error| RestoreSceneError::Actions(Box::new(error)))?;
            self.prepare(&step, parcels);
            self.conclude(&step);
        }
        self.seed = saved.seed;
        self.step_size_s = saved.step_size_s;
        self.listeners
            .restore_observers(saved.publish_all, saved.observed);
        self.listeners.set_participants(saved.participants);
        if saved.world_systems.len() != self.world_systems.len() {
            return Err(RestoreSceneError::Systems);
        }
        for (systems, saved) in self.world_systems.iter_mut().zip(&saved.world_systems) {
            systems.restore(saved).ok_or(RestoreSceneError::Systems)?;
        }
        Ok(())
    }
}
