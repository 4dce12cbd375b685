//! [`SavedState`]: the state that the rules of a primary save at the end of a step, as bytes.
//!
//! With the scene and the cells of the same step it is all that a run needs to go on bit for bit.
//! Peers and clients are not kept: they come anew. State that follows from other state is found
//! again.
//! **Invariant:** bytes that are no saved state of these worlds are an error, never a panic.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::report::{EventCounts, RefusedCounts, TopicReport};
use protocol::{Digest, Iteration, LinkId, Sequence, SimTime};
use serde::{Deserialize, Serialize};

use crate::partition::saved::SavedPartition;
use crate::primary::commands::queue::saved::SavedQueue;
use crate::primary::commands::services::SavedCalls;
use crate::primary::placement::host_map::SavedHostMap;
use crate::primary::run_clock::{ClockMode, SavedClock};
use crate::primary::settings::Settings;
use crate::primary::world::SavedWorld;
use crate::primary::world::latest::SavedStates;
use crate::registry::SavedRegistry;
use crate::saved_state_error::SavedStateError;
use crate::topology::saved::SavedTopology;

/// The format of the bytes, which come after it.
const VERSION: u8 = 5;

/// A run that cannot be taken up again.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is nothing.
    #[error("the memory of the primary is empty")]
    Empty,
    /// It was written by another version of this program.
    #[error("the memory of the primary has format {0}, and this program reads {VERSION}")]
    Version(u8),
    /// The bytes are no memory.
    #[error("the memory of the primary cannot be read")]
    Malformed(#[source] msgpack::Error),
    /// It does not fit the worlds or itself.
    #[error("the memory of the primary does not fit the run: {0}")]
    Unfit(SavedStateError),
}

/// Saved state in the order of its bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedState {
    sequence: Sequence,
    iteration: Iteration,
    digest: Digest,
    sim_time: SimTime,
    elapsed: SimTime,
    is_fresh: bool,
    mode: ClockMode,
    seed: u64,
    step_size: Duration,
    real_time_factor: f64,
    topics: Vec<TopicReport>,
    events: EventCounts,
    refused: RefusedCounts,
    topology: SavedTopology,
    registry: SavedRegistry,
    attachments: BTreeSet<(LinkId, LinkId)>,
    latest: SavedStates,
    partition: SavedPartition,
    host_map: SavedHostMap,
    queue: SavedQueue,
    calls: SavedCalls,
}

/// Saved state of the rules by component.
#[derive(Debug)]
pub(crate) struct SavedParts {
    pub(crate) clock: SavedClock,
    pub(crate) settings: SavedSettings,
    pub(crate) refused: RefusedCounts,
    pub(crate) world: SavedWorld,
    pub(crate) host_map: SavedHostMap,
    pub(crate) queue: SavedQueue,
    pub(crate) calls: SavedCalls,
}

/// Settings that commands change.
#[derive(Debug)]
pub(crate) struct SavedSettings {
    seed: u64,
    step_size: Duration,
    real_time_factor: f64,
    topics: Vec<TopicReport>,
}

impl SavedSettings {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            seed: settings.seed,
            step_size: settings.pace.step_size,
            real_time_factor: settings.pace.real_time_factor,
            topics: settings.outputs.topics.clone(),
        }
    }

    /// Checks that time can pass with them.
    ///
    /// # Errors
    /// Fails when it cannot.
    pub(crate) fn check(&self) -> Result<(), SavedStateError> {
        if self.step_size.is_zero() || !self.real_time_factor.is_finite() {
            return Err(SavedStateError::NoTime);
        }
        Ok(())
    }

    /// Puts them in the place of others.
    pub(crate) fn restore(self, settings: &mut Settings) {
        settings.seed = self.seed;
        settings.pace.step_size = self.step_size;
        settings.pace.real_time_factor = self.real_time_factor;
        settings.outputs.topics = self.topics;
    }
}

impl SavedState {
    /// Returns it as bytes, with their format.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        msgpack::write(&mut bytes, self)
            .expect("saved state holds only what MessagePack can express");
        bytes
    }

    /// Reads it from bytes.
    ///
    /// # Errors
    /// Fails when they are no saved state of this format.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, ResumeError> {
        match bytes {
            [] => Err(ResumeError::Empty),
            [VERSION, body @ ..] => msgpack::from_slice(body).map_err(ResumeError::Malformed),
            [version, ..] => Err(ResumeError::Version(*version)),
        }
    }
}

impl From<SavedParts> for SavedState {
    fn from(parts: SavedParts) -> Self {
        let SavedParts {
            clock,
            settings,
            world,
            ..
        } = parts;
        Self {
            sequence: clock.sequence,
            iteration: clock.iteration,
            digest: world.digest,
            sim_time: clock.sim_time,
            elapsed: clock.elapsed,
            is_fresh: world.is_fresh,
            mode: clock.mode,
            seed: settings.seed,
            step_size: settings.step_size,
            real_time_factor: settings.real_time_factor,
            topics: settings.topics,
            events: world.events,
            refused: parts.refused,
            topology: world.topology,
            registry: world.registry,
            attachments: world.attachments,
            latest: world.latest,
            partition: world.partition,
            host_map: parts.host_map,
            queue: parts.queue,
            calls: parts.calls,
        }
    }
}

impl From<SavedState> for SavedParts {
    fn from(saved: SavedState) -> Self {
        Self {
            clock: SavedClock {
                iteration: saved.iteration,
                sim_time: saved.sim_time,
                elapsed: saved.elapsed,
                sequence: saved.sequence,
                mode: saved.mode,
            },
            settings: SavedSettings {
                seed: saved.seed,
                step_size: saved.step_size,
                real_time_factor: saved.real_time_factor,
                topics: saved.topics,
            },
            refused: saved.refused,
            world: SavedWorld {
                is_fresh: saved.is_fresh,
                digest: saved.digest,
                events: saved.events,
                topology: saved.topology,
                registry: saved.registry,
                attachments: saved.attachments,
                latest: saved.latest,
                partition: saved.partition,
            },
            host_map: saved.host_map,
            queue: saved.queue,
            calls: saved.calls,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
