//! [`SystemSet`]: the systems and sensors of the models that a cell owns, in the order of models.
//!
//! **Invariant:** what they do in a step is a function of what they save, of the cell, of the
//! step and of the order of models; it never matters when they joined.

use std::collections::BTreeMap;

use physics::{Cell, ModelRef};
use protocol::{ModelId, Publisher, TopicMessage};
use systems::registry::{Member, members_of_model};
use systems::{Audience, Context, GoneModel, Outbox, SharedStage, StepTime};

use super::export_state::ExportState;
use super::scene::Scene;

/// The systems of the models of a cell.
#[derive(Default)]
pub(super) struct SystemSet {
    models: BTreeMap<usize, ModelSystems>,
    /// By topic, who listens: model, part, and place among the part's topics.
    listeners: BTreeMap<String, Vec<(usize, usize, usize)>>,
    /// Number of sensors.
    sensor_count: usize,
}

/// Kind of a member of a model's systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A system.
    System,
    /// A sensor, which looks at what systems did.
    Sensor,
}

struct ModelSystems {
    id: ModelId,
    model: ModelRef,
    members: Vec<Member>,
    exported: ExportState,
}

/// Context in which systems work in a step.
pub(super) struct StepContext<'a> {
    pub(super) time: StepTime,
    pub(super) cell: &'a mut Cell,
    pub(super) audience: &'a Audience,
    pub(super) stage: &'a SharedStage,
    pub(super) outbox: &'a mut Outbox,
}

impl SystemSet {
    /// Tells whether no model has any.
    pub(super) fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Tells whether any model has sensors.
    pub(super) fn has_sensors(&self) -> bool {
        self.sensor_count > 0
    }

    /// Returns the models that have systems, ascending.
    pub(super) fn models(&self) -> impl Iterator<Item = usize> {
        self.models.keys().copied()
    }

    /// Makes the systems of a model.
    pub(super) fn join(&mut self, scene: &Scene, world: usize, model: ModelRef) {
        let has_siblings = scene.worlds.len() > 1;
        let mut told_at_load = Vec::new();
        let index = model.index;
        let members =
            members_of_model(&scene.worlds[world], has_siblings, index, &mut told_at_load);
        if members.is_empty() {
            return;
        }
        for (part, member) in members.iter().enumerate() {
            for (input, spec) in member.configured.subscriptions.iter().enumerate() {
                let list = self.listeners.entry(spec.topic.clone()).or_default();
                let listener = (index, part, input);
                list.insert(list.partition_point(|other| *other < listener), listener);
            }
        }
        self.sensor_count += members.iter().filter(|one| one.is_sensor).count();
        let id = ModelId {
            world: world as u32,
            model: index as u32,
        };
        let exported = ExportState::default();
        let systems = ModelSystems {
            id,
            model,
            members,
            exported,
        };
        self.models.insert(index, systems);
    }

    /// Drops the systems of a model.
    pub(super) fn leave(&mut self, model: usize) {
        if let Some(systems) = self.models.remove(&model) {
            self.sensor_count -= systems.members.iter().filter(|one| one.is_sensor).count();
            self.listeners.retain(|_, list| {
                list.retain(|(other, _, _)| *other != model);
                !list.is_empty()
            });
        }
    }

    /// Has all systems take note that a model is gone.
    pub(super) fn forget(&mut self, gone: &GoneModel<'_>) {
        let members = self
            .models
            .values_mut()
            .flat_map(|systems| &mut systems.members);
        members.for_each(|member| member.configured.system.forget(gone));
    }

    /// Saves the systems of a model, in their order, then the messages that are kept of their
    /// topics, if there are any.
    pub(super) fn save(&self, model: usize) -> Vec<Vec<u8>> {
        let Some(systems) = self.models.get(&model) else {
            return Vec::new();
        };
        let members = systems.members.iter();
        let saved = members.map(|one| one.configured.system.save());
        saved.chain(systems.exported.save()).collect()
    }

    /// Returns the messages of all models that readers who come later are to get, oldest first of
    /// each topic of a model.
    pub(super) fn kept(&self) -> impl Iterator<Item = &TopicMessage> {
        self.models
            .values()
            .flat_map(|systems| systems.exported.kept())
    }

    /// Returns the models of which such messages are kept, ascending.
    pub(super) fn keepers(&self) -> impl Iterator<Item = ModelId> {
        let keepers = self
            .models
            .values()
            .filter(|systems| systems.exported.keeps());
        keepers.map(|systems| systems.id)
    }

    /// Returns the messages that are kept of a model for readers who come later.
    pub(super) fn kept_of(&self, model: ModelId) -> impl Iterator<Item = &TopicMessage> {
        let systems = self.models.get(&(model.model as usize));
        let systems = systems.filter(|systems| systems.id == model);
        systems
            .into_iter()
            .flat_map(|systems| systems.exported.kept())
    }

    /// Saves all systems, by model.
    pub(super) fn save_all(&self) -> BTreeMap<usize, Vec<Vec<u8>>> {
        let models = self.models.keys();
        models.map(|model| (*model, self.save(*model))).collect()
    }

    /// Restores the systems of a model from what they, or others like them, saved; `None` when
    /// those were others.
    pub(super) fn restore<B: AsRef<[u8]>>(&mut self, model: usize, saved: &[B]) -> Option<()> {
        let Some(systems) = self.models.get_mut(&model) else {
            return saved.is_empty().then_some(());
        };
        let (saved, exported) = saved.split_at_checked(systems.members.len())?;
        if exported.len() > 1 {
            return None;
        }
        for (member, memory) in systems.members.iter_mut().zip(saved) {
            member.configured.system.load(memory.as_ref()).ok()?;
        }
        systems.exported = ExportState::load(exported.first().map(AsRef::as_ref))?;
        Some(())
    }

    /// Lets systems hear messages, in their order.
    pub(super) fn deliver(&mut self, messages: &[TopicMessage], shift: &mut StepContext<'_>) {
        for message in messages {
            let Some(listeners) = self.listeners.get(&message.topic) else {
                continue;
            };
            for (model, part, input) in listeners {
                let systems = self.models.get_mut(model);
                let systems = systems.expect("who listens is a system of a model");
                systems.with(*part, shift, |member, context| {
                    let system = &mut member.configured.system;
                    if member.configured.subscriptions[*input].kind == message.kind {
                        system.on_message(*input, message, context);
                    }
                });
            }
        }
    }

    /// Lets all act before physics.
    pub(super) fn before_step(&mut self, shift: &mut StepContext<'_>) {
        self.each(shift, |member, context| {
            member.configured.system.before_step(context);
        });
    }

    /// Lets all systems, or all sensors, look at what physics did.
    pub(super) fn after_step(&mut self, shift: &mut StepContext<'_>, part: Part) {
        self.each(shift, |member, context| {
            if member.is_sensor == (part == Part::Sensor) {
                member.configured.system.after_step(context);
            }
        });
    }

    /// Tells whether any is likely to look at others in a step.
    pub(super) fn look_at_others(&self, time: &StepTime, audience: &Audience) -> bool {
        let members = self.models.values().flat_map(|systems| &systems.members);
        let mut systems = members.map(|member| &member.configured.system);
        systems.any(|system| system.looks_at_others(time, audience))
    }

    fn each(&mut self, shift: &mut StepContext<'_>, act: impl Fn(&mut Member, &mut Context<'_>)) {
        for systems in self.models.values_mut() {
            for part in 0..systems.members.len() {
                systems.with(part, shift, &act);
            }
        }
    }
}

impl ModelSystems {
    fn with(
        &mut self,
        part: usize,
        shift: &mut StepContext<'_>,
        act: impl FnOnce(&mut Member, &mut Context<'_>),
    ) {
        let said_before = shift.outbox.messages.len();
        let mut context = Context {
            time: shift.time,
            cell: shift.cell,
            model: self.model,
            publisher: Publisher::Model {
                model: self.id,
                part: part as u32,
            },
            audience: shift.audience,
            stage: shift.stage,
            outbox: shift.outbox,
        };
        act(&mut self.members[part], &mut context);
        self.exported
            .export(shift.outbox, said_before, shift.audience);
    }
}
