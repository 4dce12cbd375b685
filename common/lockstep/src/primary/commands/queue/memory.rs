//! [`WishesMemory`]: what of the wishes outlives the primary. Clients that wait do not.

use protocol::{Command, Iteration, Publisher, ScheduledCommand, TopicMessage};
use serde::{Deserialize, Serialize};

use super::{Asker, Wish, Wishes};

/// What of the wishes outlives the primary.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::primary) struct WishesMemory {
    /// By systems.
    requested: Vec<(Command, Publisher)>,
    heard: Vec<TopicMessage>,
    /// What is left of the schedule, with what was taken from it and is not done yet.
    pub(in crate::primary) schedule: Vec<ScheduledCommand>,
    is_round_due: bool,
    next_number: u64,
    round: u32,
    told: Vec<String>,
}

impl Wishes {
    /// Returns how many entries of the schedule are not done yet.
    pub(in crate::primary) fn schedule_left(&self) -> u64 {
        let asked = self.asked.iter().map(|wish| &wish.asker);
        let askers = asked.chain(self.said.iter().map(|(_, asker)| asker));
        let waiting = askers.filter(|asker| is_schedule(asker)).count();
        (waiting + self.schedule.len()) as u64
    }

    /// Has the schedule begin with what was done since, and end with this many of its entries.
    pub(in crate::primary) fn repeat(&mut self, done: Vec<ScheduledCommand>, left: u64) {
        let known = self.schedule.len();
        let left = usize::try_from(left).unwrap_or(known).min(known);
        self.schedule.drain(..known - left);
        let rest = std::mem::take(&mut self.schedule);
        self.schedule = done.into_iter().chain(rest).collect();
    }

    pub(in crate::primary) fn remember(&self, iteration: Iteration) -> WishesMemory {
        let requested = self.requested.iter().filter_map(|wish| match wish.asker {
            Asker::System(publisher) => Some((wish.command.clone(), publisher)),
            Asker::Client { .. } | Asker::Schedule => None,
        });
        let scheduled = |command| ScheduledCommand {
            iteration,
            paused_round: None,
            command,
        };
        let asked = self.asked.iter().filter(|wish| is_schedule(&wish.asker));
        let said = self.said.iter().filter(|(_, asker)| is_schedule(asker));
        let said = said.map(|(message, _)| {
            scheduled(Command::Publish {
                topic: message.topic.clone(),
                kind: message.kind.clone(),
                body: message.body.clone(),
            })
        });
        WishesMemory {
            requested: requested.collect(),
            heard: self.heard.clone(),
            schedule: asked
                .map(|wish| scheduled(wish.command.clone()))
                .chain(said)
                .chain(self.schedule.iter().cloned())
                .collect(),
            is_round_due: self.is_round_due,
            next_number: self.next_number,
            round: self.round,
            told: self.told.iter().cloned().collect(),
        }
    }

    pub(in crate::primary) fn recall(memory: WishesMemory) -> Self {
        let requested = memory
            .requested
            .into_iter()
            .map(|(command, publisher)| Wish {
                command,
                asker: Asker::System(publisher),
            });
        Self {
            requested: requested.collect(),
            heard: memory.heard,
            is_round_due: memory.is_round_due,
            next_number: memory.next_number,
            round: memory.round,
            told: memory.told.into_iter().collect(),
            ..Self::new(memory.schedule)
        }
    }
}

fn is_schedule(asker: &Asker) -> bool {
    matches!(asker, Asker::Schedule)
}
