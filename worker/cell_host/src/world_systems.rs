//! [`WorldSystems`]: the systems of one world, the same on every host.

use protocol::primary_to_secondary::Step;
use protocol::{Publisher, TopicMessage};
use sdf::World;

use physics::Cell;
use systems::registry::{Configured, TopicSpec, members_of_world};
use systems::{Audience, GoneModel, Outbox, StepTime, WorldContext, WorldSystem};

use super::export_state::ExportState;

/// The systems of one world.
pub(super) struct WorldSystems {
    world: u32,
    members: Vec<Configured<dyn WorldSystem>>,
    exported: ExportState,
}

impl WorldSystems {
    /// Makes the systems of a world by its index.
    pub(super) fn new(index: usize, world: &World, has_siblings: bool) -> Self {
        let mut told_at_load = Vec::new();
        let members = members_of_world(world, has_siblings, &mut told_at_load);
        Self {
            world: index as u32,
            members: members.into_iter().map(|(_, member)| member).collect(),
            exported: ExportState::default(),
        }
    }

    /// Tells whether the world has no systems.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns, for each, the topics that it subscribes to and those that it publishes on.
    pub(super) fn topics(&self) -> impl Iterator<Item = (&[TopicSpec], &[TopicSpec])> {
        let members = self.members.iter();
        members.map(|member| (&*member.subscriptions, &*member.publications))
    }

    /// Lets them hear what a step says and, when time advances, do what is done once.
    pub(super) fn begin_step(
        &mut self,
        step: &Step,
        time: StepTime,
        world: &World,
        audience: &Audience,
        outbox: &mut Outbox,
    ) {
        let said_before = outbox.messages.len();
        for (part, member) in self.members.iter_mut().enumerate() {
            let mut context = WorldContext {
                time,
                world,
                publisher: Publisher::World {
                    world: self.world,
                    part: part as u32,
                },
                audience,
                outbox,
            };
            for message in &step.messages {
                let heard = member
                    .subscriptions
                    .iter()
                    .position(|spec| spec.topic == message.topic);
                if let Some(input) = heard
                    && member.subscriptions[input].kind == message.kind
                {
                    member.system.on_message(input, message, &mut context);
                }
            }
            if !step.paused {
                member.system.before_step(&mut context);
            }
        }
        self.exported.export(outbox, said_before, audience);
    }

    /// Has them take note that a model is gone.
    pub(super) fn forget(&mut self, gone: &GoneModel<'_>) {
        let members = self.members.iter_mut();
        members.for_each(|member| member.system.forget(gone));
    }

    /// Returns the messages that readers who come later are to get, oldest first of each topic.
    pub(super) fn kept(&self) -> impl Iterator<Item = &TopicMessage> {
        self.exported.kept()
    }

    /// Saves them, in their order, then the messages that are kept of their topics, if there are
    /// any.
    pub(super) fn save(&self) -> Vec<Vec<u8>> {
        let members = self.members.iter();
        let saved = members.map(|member| member.system.save());
        saved.chain(self.exported.save()).collect()
    }

    /// Restores them from what they, or others like them, saved; `None` when those were others.
    pub(super) fn restore(&mut self, saved: &[Vec<u8>]) -> Option<()> {
        let (saved, exported) = saved.split_at_checked(self.members.len())?;
        if exported.len() > 1 {
            return None;
        }
        for (member, memory) in self.members.iter_mut().zip(saved) {
            member.system.load(memory).ok()?;
        }
        self.exported = ExportState::load(exported.first().map(Vec::as_slice))?;
        Some(())
    }

    /// Lets them act on what a cell owns.
    pub(super) fn act(&self, time: StepTime, cell: &mut Cell) {
        for member in &self.members {
            member.system.act(time, cell);
        }
    }
}
