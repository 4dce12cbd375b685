//! [`SavedQueue`]: commands that outlive the primary. Clients that wait do not.

use protocol::{Command, Iteration, Publisher, ScheduledCommand, TopicMessage};
use serde::{Deserialize, Serialize};

use super::{CommandQueue, PendingCommand};
use crate::primary::commands::batch::Origin;

/// Commands that outlive the primary.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::primary) struct SavedQueue {
    /// By systems.
    requested: Vec<(Command, Publisher)>,
    heard: Vec<TopicMessage>,
    /// Rest of the schedule, with what was taken from it and is not done yet.
    pub(in crate::primary) schedule: Vec<ScheduledCommand>,
    is_round_due: bool,
    next_number: u64,
    round: u32,
    told: Vec<String>,
}

impl CommandQueue {
    /// Returns the number of entries of the schedule that are not done yet.
    pub(in crate::primary) fn schedule_left(&self) -> u64 {
        let asked = self.asked.iter().map(|pending| &pending.origin);
        let askers = asked.chain(self.said.iter().map(|(_, origin)| origin));
        let waiting = askers.filter(|origin| is_schedule(origin)).count();
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

    pub(in crate::primary) fn save(&self, iteration: Iteration) -> SavedQueue {
        let requested = self
            .requested
            .iter()
            .filter_map(|pending| match pending.origin {
                Origin::System(publisher) => Some((pending.command.clone(), publisher)),
                Origin::Client { .. } | Origin::Node | Origin::Schedule => None,
            });
        let scheduled = |command| ScheduledCommand {
            iteration,
            paused_round: None,
            command,
        };
        let asked = self
            .asked
            .iter()
            .filter(|pending| is_schedule(&pending.origin));
        let said = self.said.iter().filter(|(_, origin)| is_schedule(origin));
        let said = said.map(|(message, _)| {
            scheduled(Command::Publish {
                topic: message.topic.clone(),
                kind: message.kind.clone(),
                body: message.body.clone(),
            })
        });
        SavedQueue {
            requested: requested.collect(),
            heard: self.heard.clone(),
            schedule: asked
                .map(|pending| scheduled(pending.command.clone()))
                .chain(said)
                .chain(self.schedule.iter().cloned())
                .collect(),
            is_round_due: self.is_round_due,
            next_number: self.next_number,
            round: self.round,
            told: self.told.iter().cloned().collect(),
        }
    }

    pub(in crate::primary) fn restore(saved: SavedQueue) -> Self {
        let requested = saved
            .requested
            .into_iter()
            .map(|(command, publisher)| PendingCommand {
                command,
                origin: Origin::System(publisher),
                text: None,
            });
        Self {
            requested: requested.collect(),
            heard: saved.heard,
            is_round_due: saved.is_round_due,
            next_number: saved.next_number,
            round: saved.round,
            told: saved.told.into_iter().collect(),
            ..Self::new(saved.schedule)
        }
    }
}

fn is_schedule(origin: &Origin) -> bool {
    matches!(origin, Origin::Schedule)
}
