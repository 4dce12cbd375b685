//! [`Stage`]: a world in one cell with its systems at work, for tests of them.

use std::sync::Arc;

use messages::Message;
use physics::{Cell, ModelRef};
use protocol::{Iteration, ModelId, PerformerId, Publisher, SimTime, TopicMessage};

use super::registry::{Member, members_of_model};
use super::{Audience, Context, Outbox, StepTime};

pub(super) const STEP_NS: u64 = 1_000_000;
pub(super) const STEP_S: f64 = 1e-3;

/// A world in one cell with the systems of its models.
pub(super) struct Stage {
    pub(super) cell: Cell,
    models: Vec<(ModelRef, Vec<Member>)>,
    audience: Audience,
    heard: Vec<TopicMessage>,
    said: Vec<TopicMessage>,
    steps: u64,
}

impl Stage {
    /// Sets up the world with what is in a text, gravity as on earth.
    pub(super) fn new(content: &str) -> Self {
        let text = format!("<sdf version='1.11'><world name='w'>{content}</world></sdf>");
        let read = sdf::read_worlds(&text, "stage.sdf", &sdf::NoFiles).expect("the text is valid");
        let world = read.worlds.into_iter().next().expect("it holds a world");
        let mut cell = Cell::new(Arc::new(world.clone()));
        let mut models = Vec::new();
        for (index, model) in world.models.iter().enumerate() {
            let mut problems = Vec::new();
            let members = members_of_model(&world, false, index, &mut problems);
            assert!(problems.is_empty(), "{problems:?}");
            if model.is_static {
                cell.insert_static(index);
                models.push((ModelRef::fixed(index), members));
            } else {
                let performer = PerformerId(index as u32);
                cell.insert_performer(performer, index);
                models.push((ModelRef::moving(performer, index), members));
            }
        }
        let publish_all = Audience {
            publish_all: true,
            ..Audience::default()
        };
        Self {
            cell,
            models,
            audience: publish_all,
            heard: Vec::new(),
            said: Vec::new(),
            steps: 0,
        }
    }

    /// Returns why the first system of the first model of a world cannot be made.
    pub(super) fn problem(content: &str) -> String {
        let text = format!("<sdf version='1.11'><world name='w'>{content}</world></sdf>");
        let read = sdf::read_worlds(&text, "stage.sdf", &sdf::NoFiles).expect("the text is valid");
        let mut problems = Vec::new();
        members_of_model(&read.worlds[0], false, 0, &mut problems);
        problems
            .into_iter()
            .next()
            .expect("something is wrong with it")
    }

    /// Returns a model by its index.
    pub(super) fn model(&self, index: usize) -> ModelRef {
        self.models[index].0
    }

    /// Says something before the next step.
    pub(super) fn say<M: Message>(&mut self, topic: &str, message: &M) {
        self.heard.push(TopicMessage {
            topic: topic.to_owned(),
            kind: M::KIND.to_owned(),
            publisher: publisher(0, 0),
            iteration: Iteration(self.steps),
            sim_time: SimTime(self.steps * STEP_NS),
            body: messages::encode(message),
        });
    }

    /// Takes what was said on a topic so far.
    pub(super) fn said<M: Message>(&mut self, topic: &str) -> Vec<M> {
        let said = self.said.iter().filter(|said| said.topic == topic);
        let decoded = said.map(|said| messages::decode(&said.body));
        let list = decoded.collect::<Result<_, _>>();
        let list = list.expect("what systems say is of its kind");
        self.said.retain(|said| said.topic != topic);
        list
    }

    /// Goes on for a time \[s\].
    pub(super) fn run(&mut self, duration_s: f64) {
        for _ in 0..(duration_s / STEP_S).round() as u64 {
            self.step();
        }
    }

    /// Does one step.
    pub(super) fn step(&mut self) {
        self.steps += 1;
        let heard = std::mem::take(&mut self.heard);
        self.each(|member, context| {
            for message in &heard {
                for (input, spec) in member.configured.subscriptions.iter().enumerate() {
                    if spec.topic == message.topic {
                        assert_eq!(spec.kind, message.kind, "{}", spec.topic);
                        member.configured.system.on_message(input, message, context);
                    }
                }
            }
        });
        self.each(|member, context| member.configured.system.before_step(context));
        self.cell.step(STEP_S);
        self.each(|member, context| member.configured.system.after_step(context));
    }

    /// Moves everything into another cell, as a hand-off does.
    pub(super) fn move_on(&mut self) {
        let world = self.cell.world().clone();
        let mut fresh = Self::of(&world);
        let statics: Vec<usize> = self.cell.statics().collect();
        for index in statics {
            fresh.insert_static(index);
        }
        let performers: Vec<_> = self.cell.performer_models().collect();
        let states: Vec<_> = performers
            .iter()
            .map(|(performer, _)| self.cell.transfer(*performer))
            .collect();
        let arrivals = performers.iter().zip(&states);
        let arrivals: Vec<_> = arrivals
            .map(|((performer, model), state)| physics::Arrival {
                performer: *performer,
                model: *model,
                state,
            })
            .collect();
        fresh
            .adopt(&arrivals)
            .expect("a cell takes what another gave");
        self.cell = fresh;
        for (model, members) in &mut self.models {
            let anew = members_of_model(&world, false, model.index, &mut Vec::new());
            for (member, mut other) in members.iter_mut().zip(anew) {
                let state = member.configured.system.save();
                let system = &mut other.configured.system;
                system.load(&state).expect("a system loads what it saved");
                *member = other;
            }
        }
    }

    fn of(world: &sdf::World) -> Cell {
        Cell::new(Arc::new(world.clone()))
    }

    fn each(&mut self, act: impl Fn(&mut Member, &mut Context<'_>)) {
        let mut outbox = Outbox::default();
        let time = StepTime {
            iteration: Iteration(self.steps),
            sim_time: SimTime(self.steps * STEP_NS),
            elapsed: SimTime(self.steps * STEP_NS),
            step_size_s: STEP_S,
            seed: 42,
        };
        for (model, members) in &mut self.models {
            for (part, member) in members.iter_mut().enumerate() {
                let mut context = Context {
                    time,
                    cell: &mut self.cell,
                    model: *model,
                    publisher: publisher(model.index, part),
                    audience: &self.audience,
                    outbox: &mut outbox,
                };
                act(member, &mut context);
            }
        }
        self.said.extend(outbox.messages);
    }
}

fn publisher(model: usize, part: usize) -> Publisher {
    Publisher::Model {
        model: ModelId {
            world: 0,
            model: model as u32,
        },
        part: part as u32,
    }
}
