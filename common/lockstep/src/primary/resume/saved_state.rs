//! [`SavedState`]: what the rules of a primary save at the end of a step, as bytes.
//!
//! With the scene and the cells of the same step it is all that a run needs to go on bit for bit.
//! Peers and clients are not kept: they come anew. What follows from other notes is found again.
//! **Invariant:** bytes that are no memory of these worlds are an error, never a panic.

use crate::primary::commands::Commands;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use protocol::report::{EventCounts, RefusedCounts, TopicReport};
use protocol::{Command, Digest, Iteration, LinkId, RequestId, Sequence, SimTime};
use sdf::World;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::pace::Pace;
use crate::partition::Partition;
use crate::partition::saved::SavedPartition;
use crate::primary::commands::queue::CommandQueue;
use crate::primary::commands::queue::saved::SavedQueue;
use crate::primary::commands::services::Calls;
use crate::primary::placement::host_map::{HostMap, SavedHostMap};
use crate::primary::resume::replay::Replay;
use crate::primary::world::latest::{LatestStates, SavedStates};
use crate::primary::{ClockMode, Primary, Settings, Until, Waiter};
use crate::registry::SavedRegistry;
use crate::topology::saved::SavedTopology;

/// The format of the bytes, which come after it.
const VERSION: u8 = 3;

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
    Malformed(#[source] rmp_serde::decode::Error),
    /// It does not fit the worlds or itself.
    #[error("the memory of the primary does not fit the run: {0}")]
    Unfit(&'static str),
}

/// What is saved.
#[derive(Debug, Serialize, Deserialize)]
struct SavedState {
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
    plan: SavedTopology,
    register: SavedRegistry,
    attachments: BTreeSet<(LinkId, LinkId)>,
    known: SavedStates,
    partition: SavedPartition,
    host_map: SavedHostMap,
    queue: SavedQueue,
    calls: SavedCalls,
}

/// What systems called for and is not done yet.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedCalls {
    next: u64,
    under_way: Vec<(u64, VecDeque<Command>)>,
    waiting: Vec<VecDeque<Command>>,
    /// Which of those under way wait for what.
    waiters: Vec<(RequestId, Until)>,
}

impl Commands {
    pub(crate) fn save_calls(&self) -> SavedCalls {
        let waiters = self.waiters.iter();
        SavedCalls {
            next: self.calls.next,
            under_way: self.calls.of_systems_under_way(),
            waiting: self.calls.of_systems.clone(),
            waiters: waiters
                .filter(|waiter| self.calls.awaits(&waiter.to, waiter.request))
                .map(|waiter| (waiter.request, waiter.until))
                .collect(),
        }
    }

    pub(crate) fn restore_calls(&mut self, saved: SavedCalls) {
        self.calls.next = saved.next;
        self.calls.of_systems = saved.waiting;
        for (number, rest) in saved.under_way {
            self.calls.take_up(number, rest);
        }
        let waiters = saved.waiters.into_iter().map(|(request, until)| Waiter {
            to: Calls::address(),
            request,
            until,
        });
        self.waiters = waiters.collect();
    }
}

impl Primary {
    /// Returns what the rules save, for [`Self::resume`]; to be asked at the end of a step.
    ///
    /// # Panics
    /// When changes wait for states that were asked for: there is no end of a step then.
    pub fn save(&self) -> Vec<u8> {
        assert!(
            self.commands.pending.is_none(),
            "a run is remembered between steps, not while one is prepared"
        );
        let saved = SavedState {
            sequence: self.clock.sequence,
            iteration: self.clock.iteration,
            digest: self.world.digest,
            sim_time: self.clock.sim_time,
            elapsed: self.clock.elapsed,
            is_fresh: self.world.is_fresh,
            mode: self.mode_asked_for(),
            seed: self.settings.seed,
            step_size: self.settings.step_size,
            real_time_factor: self.settings.real_time_factor,
            topics: self.settings.topics.clone(),
            events: self.events,
            refused: self.peers.refused,
            plan: self.world.topology.save(&self.start.topology),
            register: self.world.registry.save(&self.start.registry),
            attachments: self.world.attachments.clone(),
            known: self.world.latest.save(&self.world.topology),
            partition: self.world.partition.save(&self.world.topology),
            host_map: self.placement.host_map.save(&self.world.topology),
            queue: self.commands.queue.save(self.clock.iteration),
            calls: self.commands.save_calls(),
        };
        let mut bytes = vec![VERSION];
        rmp_serde::encode::write(&mut bytes, &saved)
            .expect("a memory holds only what MessagePack can express");
        bytes
    }

    /// Makes a primary that waits for secondaries, does again what was done since a checkpoint, and
    /// goes on. The schedule of the settings is not asked: the checkpoint has what is left of it.
    ///
    /// # Errors
    /// When the checkpoint is none of these worlds.
    ///
    /// # Panics
    /// When the settings ask for no secondaries.
    pub fn resume(
        settings: Settings,
        worlds: &[World],
        checkpoint: Checkpoint,
        redo: Replay,
    ) -> Result<Self, ResumeError> {
        let mut primary = Self::new(settings, worlds);
        primary.restore(&checkpoint.primary)?;
        if primary.clock.sequence != checkpoint.sequence
            || primary.clock.iteration != checkpoint.iteration
        {
            return Err(ResumeError::Unfit("it is of another step"));
        }
        primary.begin_redo(redo);
        primary.resume.checkpoint = Some(Box::new(checkpoint));
        Ok(primary)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), ResumeError> {
        let saved: SavedState = match bytes {
            [] => return Err(ResumeError::Empty),
            [VERSION, body @ ..] => rmp_serde::from_slice(body).map_err(ResumeError::Malformed)?,
            [version, ..] => return Err(ResumeError::Version(*version)),
        };
        self.restore_rules(saved).map_err(ResumeError::Unfit)
    }

    fn restore_rules(&mut self, saved: SavedState) -> Result<(), &'static str> {
        if saved.step_size.is_zero() || !saved.real_time_factor.is_finite() {
            return Err("time cannot pass in it");
        }
        self.world.topology.restore(saved.plan)?;
        self.world.registry.restore(saved.register)?;
        self.world.by_name = self.world.topology.performers_by_name();
        self.world.latest = LatestStates::restore(&self.world.topology, saved.known)?;
        self.world.partition =
            Partition::restore(&self.world.topology, self.settings.rules, saved.partition)?;
        self.placement.host_map =
            HostMap::restore(&self.world.topology, &self.world.partition, saved.host_map)?;
        self.commands.queue = CommandQueue::restore(saved.queue);
        self.commands.restore_calls(saved.calls);
        self.world.attachments = saved.attachments;
        self.settings.seed = saved.seed;
        self.settings.step_size = saved.step_size;
        self.settings.real_time_factor = saved.real_time_factor;
        self.settings.topics = saved.topics;
        self.clock.pace = Pace::new(saved.step_size, saved.real_time_factor);
        self.clock.sequence = saved.sequence;
        self.clock.iteration = saved.iteration;
        self.world.digest = saved.digest;
        self.clock.sim_time = saved.sim_time;
        self.clock.elapsed = saved.elapsed;
        self.world.is_fresh = saved.is_fresh;
        self.clock.mode = saved.mode;
        self.events = saved.events;
        self.peers.refused = saved.refused;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
