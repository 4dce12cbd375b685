//! [`Memory`]: what the rules of a primary remember at the end of a step, as bytes.
//!
//! With the scene and the cells of the same step it is all that a run needs to go on bit for bit.
//! Peers and clients are not kept: they come anew. What follows from other notes is found again.
//! **Invariant:** bytes that are no memory of these worlds are an error, never a panic.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use protocol::report::{EventCounts, RefusedCounts, TopicReport};
use protocol::{Command, Digest, Iteration, LinkId, RequestId, Sequence, SimTime};
use sdf::World;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::membership::Membership;
use crate::membership::memory::MembershipMemory;
use crate::pace::Pace;
use crate::plan::memory::PlanMemory;
use crate::primary::commands::queue::Wishes;
use crate::primary::commands::queue::memory::WishesMemory;
use crate::primary::commands::services::Calls;
use crate::primary::placement::host_map::{Distribution, DistributionMemory};
use crate::primary::resume::replay::Redo;
use crate::primary::world::latest::{Known, KnownMemory};
use crate::primary::{Goal, Primary, Settings, Until, Waiter};
use crate::register::RegisterMemory;

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

/// What is remembered.
#[derive(Debug, Serialize, Deserialize)]
struct Memory {
    sequence: Sequence,
    iteration: Iteration,
    digest: Digest,
    sim_time: SimTime,
    elapsed: SimTime,
    is_fresh: bool,
    goal: Goal,
    seed: u64,
    step_size: Duration,
    real_time_factor: f64,
    topics: Vec<TopicReport>,
    events: EventCounts,
    refused: RefusedCounts,
    plan: PlanMemory,
    register: RegisterMemory,
    attachments: BTreeSet<(LinkId, LinkId)>,
    known: KnownMemory,
    membership: MembershipMemory,
    distribution: DistributionMemory,
    wishes: WishesMemory,
    calls: CallsMemory,
}

/// What systems called for and is not done yet.
#[derive(Debug, Serialize, Deserialize)]
struct CallsMemory {
    next: u64,
    under_way: Vec<(u64, VecDeque<Command>)>,
    waiting: Vec<VecDeque<Command>>,
    /// Which of those under way wait for what.
    waiters: Vec<(RequestId, Until)>,
}

impl Primary {
    /// Returns what the rules remember, for [`Self::resume`]; to be asked at the end of a step.
    ///
    /// # Panics
    /// When changes wait for states that were asked for: there is no end of a step then.
    pub fn remember(&self) -> Vec<u8> {
        assert!(
            self.pending.is_none(),
            "a run is remembered between steps, not while one is prepared"
        );
        let memory = Memory {
            sequence: self.sequence,
            iteration: self.iteration,
            digest: self.digest,
            sim_time: self.sim_time,
            elapsed: self.elapsed,
            is_fresh: self.is_fresh,
            goal: self.goal_asked_for(),
            seed: self.settings.seed,
            step_size: self.settings.step_size,
            real_time_factor: self.settings.real_time_factor,
            topics: self.settings.topics.clone(),
            events: self.events,
            refused: self.refused,
            plan: self.plan.remember(&self.plan_at_start),
            register: self.register.remember(&self.register_at_start),
            attachments: self.attachments.clone(),
            known: self.known.remember(&self.plan),
            membership: self.membership.remember(&self.plan),
            distribution: self.distribution.remember(&self.plan),
            wishes: self.wishes.remember(self.iteration),
            calls: self.remember_calls(),
        };
        let mut bytes = vec![VERSION];
        rmp_serde::encode::write(&mut bytes, &memory)
            .expect("a memory holds only what MessagePack can express");
        bytes
    }

    fn remember_calls(&self) -> CallsMemory {
        let waiters = self.waiters.iter();
        CallsMemory {
            next: self.calls.next,
            under_way: self.calls.of_systems_under_way(),
            waiting: self.calls.of_systems.clone(),
            waiters: waiters
                .filter(|waiter| self.calls.awaits(&waiter.to, waiter.request))
                .map(|waiter| (waiter.request, waiter.until))
                .collect(),
        }
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
        redo: Redo,
    ) -> Result<Self, ResumeError> {
        let mut primary = Self::new(settings, worlds);
        primary.recall(&checkpoint.primary)?;
        if primary.sequence != checkpoint.sequence || primary.iteration != checkpoint.iteration {
            return Err(ResumeError::Unfit("it is of another step"));
        }
        primary.begin_redo(redo);
        primary.resumed = Some(Box::new(checkpoint));
        Ok(primary)
    }

    fn recall(&mut self, bytes: &[u8]) -> Result<(), ResumeError> {
        let memory: Memory = match bytes {
            [] => return Err(ResumeError::Empty),
            [VERSION, body @ ..] => rmp_serde::from_slice(body).map_err(ResumeError::Malformed)?,
            [version, ..] => return Err(ResumeError::Version(*version)),
        };
        self.recall_rules(memory).map_err(ResumeError::Unfit)
    }

    fn recall_rules(&mut self, memory: Memory) -> Result<(), &'static str> {
        if memory.step_size.is_zero() || !memory.real_time_factor.is_finite() {
            return Err("time cannot pass in it");
        }
        self.plan.recall(memory.plan)?;
        self.register.recall(memory.register)?;
        self.by_name = self.plan.performers_by_name();
        self.known = Known::recall(&self.plan, memory.known)?;
        self.membership = Membership::recall(&self.plan, self.settings.rules, memory.membership)?;
        self.distribution =
            Distribution::recall(&self.plan, &self.membership, memory.distribution)?;
        self.wishes = Wishes::recall(memory.wishes);
        self.recall_calls(memory.calls);
        self.attachments = memory.attachments;
        self.settings.seed = memory.seed;
        self.settings.step_size = memory.step_size;
        self.settings.real_time_factor = memory.real_time_factor;
        self.settings.topics = memory.topics;
        self.pace = Pace::new(memory.step_size, memory.real_time_factor);
        self.sequence = memory.sequence;
        self.iteration = memory.iteration;
        self.digest = memory.digest;
        self.sim_time = memory.sim_time;
        self.elapsed = memory.elapsed;
        self.is_fresh = memory.is_fresh;
        self.goal = memory.goal;
        self.events = memory.events;
        self.refused = memory.refused;
        Ok(())
    }

    fn recall_calls(&mut self, memory: CallsMemory) {
        self.calls.next = memory.next;
        self.calls.of_systems = memory.waiting;
        for (number, rest) in memory.under_way {
            self.calls.take_up(number, rest);
        }
        let waiters = memory.waiters.into_iter().map(|(request, until)| Waiter {
            to: Calls::address(),
            request,
            until,
        });
        self.waiters = waiters.collect();
    }
}

#[cfg(test)]
pub(crate) mod tests;
