//! [`SystemTestRig`]: a small world in one cell with its systems and sensors at work, for tests.
//!
//! A step is that of a host: messages, systems of the world, systems of models, physics, then
//! whatever looks at its results. Messages of systems arrive in the next step, as in a run.
//! Requests to the run are kept; only links are attached and detached.

mod leash;

use std::cell::RefCell;
use std::sync::Arc;

use messages::Message;
use physics::{Arrival, Cell, ModelRef};
use protocol::{Command, Iteration, ModelId, PerformerId, Publisher, SimTime, TopicMessage};
use sdf::{LinkReference, Pose, World};

use super::registry::{Configured, Member, members_of_model, members_of_world};
use super::{
    Audience, Configuration, ConfigureError, Context, GoneModel, Outbox, SharedStage, StepTime,
    System, TopicSpec, WorldContext, WorldSystem,
};

/// The step size \[ns\].
const STEP_NS: u64 = 1_000_000;
/// The step size \[s\].
pub(crate) const STEP_S: f64 = 1e-3;

/// A small world in one cell; performers have the numbers of their models.
pub(crate) struct SystemTestRig {
    /// The cell.
    pub(crate) cell: Cell,
    /// Systems and sensors that cannot be made.
    pub(crate) problems: Vec<String>,
    /// Requests to the run, in order.
    pub(crate) requests: Vec<Command>,
    /// All messages of systems that were not taken.
    pub(crate) published: Vec<TopicMessage>,
    /// Topics that have subscribers; all at first.
    pub(crate) audience: Audience,
    /// The seed of random numbers.
    pub(crate) seed: u64,
    /// The time since the start \[ns\].
    pub(crate) elapsed_ns: u64,
    world_systems: Vec<(String, Configured<dyn WorldSystem>)>,
    models: Vec<(ModelRef, Vec<Member>)>,
    /// Messages that arrive in the next step.
    incoming: Vec<TopicMessage>,
    is_paused: bool,
    stage: SharedStage,
}

impl SystemTestRig {
    /// Makes the world `w` of what stands in a `<world>`.
    pub(crate) fn new(content: &str) -> Self {
        let rig = Self::of_text(content);
        assert_eq!(rig.problems, Vec::<String>::new());
        rig
    }

    /// The same, whatever problems its systems have.
    pub(crate) fn of_text(content: &str) -> Self {
        Self::of_world(&Arc::new(read(content)))
    }

    /// Makes a cell with all models of a world.
    pub(crate) fn of_world(world: &Arc<World>) -> Self {
        let mut cell = Cell::new(Arc::clone(world));
        for (index, model) in world.models.iter().enumerate() {
            if model.is_static {
                cell.insert_static(index);
            } else {
                cell.insert_performer(PerformerId(index as u32), index);
            }
        }
        Self::around(cell)
    }

    /// Makes the systems and sensors of a cell.
    pub(crate) fn around(cell: Cell) -> Self {
        let (models, world_systems, problems) = make_systems(cell.world());
        Self {
            cell,
            problems,
            requests: Vec::new(),
            published: Vec::new(),
            audience: Audience {
                publish_all: true,
                ..Audience::default()
            },
            seed: 1,
            elapsed_ns: 0,
            world_systems,
            models,
            incoming: Vec::new(),
            is_paused: false,
            stage: SharedStage::default(),
        }
    }

    /// Returns why the first system of the first model of a world cannot be made.
    pub(crate) fn problem(content: &str) -> String {
        let problems = Self::of_text(content).problems;
        problems.into_iter().next().expect("something is wrong")
    }

    /// Adds a system of a model that is not in the table; it is not renewed.
    fn join(&mut self, model: &str, make: MakeSystem, plugin: &sdf::Plugin) {
        let index = self.model(model).index;
        let world = self.cell.world();
        let configuration = Configuration {
            world,
            has_siblings: false,
            model: Some(&world.models[index]),
            scope: "",
            plugin,
            notes: &RefCell::default(),
        };
        let configured = make(&configuration).expect("the example is complete");
        self.models[index].1.push(Member {
            configured,
            name: plugin.name.clone(),
            is_sensor: false,
        });
    }

    /// Sends systems a message, which arrives in the next step.
    pub(crate) fn publish<M: Message>(&mut self, topic: &str, message: &M) {
        self.incoming.push(TopicMessage {
            topic: topic.to_owned(),
            kind: M::KIND.to_owned(),
            publisher: Publisher::Client,
            iteration: Iteration(self.elapsed_ns / STEP_NS),
            sim_time: SimTime(self.elapsed_ns),
            body: messages::encode(message),
        });
    }

    /// Returns the messages of systems on a topic that were not taken.
    pub(crate) fn published<M: Message>(&self, topic: &str) -> Vec<M> {
        let on_topic = self.published.iter();
        on_topic
            .filter(|message| message.topic == topic)
            .map(|message| {
                assert_eq!(message.kind, M::KIND);
                messages::decode(&message.body).expect("messages are of their kind")
            })
            .collect()
    }

    /// Takes the messages of systems on a topic.
    pub(crate) fn take<M: Message>(&mut self, topic: &str) -> Vec<M> {
        let taken = self.published(topic);
        self.published.retain(|message| message.topic != topic);
        taken
    }

    /// Takes the messages of systems on all topics.
    pub(crate) fn take_all(&mut self) -> Vec<TopicMessage> {
        std::mem::take(&mut self.published)
    }

    /// Returns the last message on a topic.
    pub(crate) fn last<M: Message>(&self, topic: &str) -> Option<M> {
        self.published(topic).pop()
    }

    /// Lets a time pass \[s\].
    pub(crate) fn run(&mut self, duration_s: f64) {
        self.run_steps((duration_s * 1e9 / STEP_NS as f64).round() as u32);
    }

    /// Does some steps.
    pub(crate) fn run_steps(&mut self, count: u32) {
        for _ in 0..count {
            self.step();
        }
    }

    /// Does a paused step.
    pub(crate) fn pause(&mut self) {
        self.is_paused = true;
        self.step();
        self.is_paused = false;
    }

    /// Saves all systems, makes them anew and loads them, as in a hand-off.
    pub(crate) fn renew_systems(&mut self) {
        let (models, world_systems, _) = make_systems(self.cell.world());
        let former = std::mem::replace(&mut self.models, models);
        for ((_, members), (_, former)) in self.models.iter_mut().zip(former) {
            for (member, former) in members.iter_mut().zip(former) {
                let bytes = former.configured.system.save();
                let loaded = member.configured.system.load(&bytes);
                loaded.expect("a system loads its own state");
                assert_eq!(member.configured.system.save(), bytes);
            }
        }
        let former = std::mem::replace(&mut self.world_systems, world_systems);
        for ((_, member), (_, former)) in self.world_systems.iter_mut().zip(former) {
            let loaded = member.system.load(&former.system.save());
            loaded.expect("a system loads its own state");
        }
    }

    /// Moves everything into another cell, as a hand-off does.
    pub(crate) fn hand_off(&mut self) {
        let mut fresh = Cell::new(Arc::new(self.cell.world().clone()));
        let statics: Vec<usize> = self.cell.statics().collect();
        for index in statics {
            fresh.insert_static(index);
        }
        let performers: Vec<_> = self.cell.performer_models().collect();
        let transfers = performers.iter();
        let states: Vec<_> = transfers
            .map(|(performer, _)| self.cell.transfer(*performer))
            .collect();
        let arrivals = performers.iter().zip(&states);
        let arrivals: Vec<Arrival<'_>> = arrivals
            .map(|((performer, model), state)| Arrival {
                performer: *performer,
                model: *model,
                state,
            })
            .collect();
        fresh.adopt(&arrivals).expect("a cell takes over another's");
        self.cell = fresh;
        self.renew_systems();
    }

    /// Returns the saved states of all systems of models.
    pub(crate) fn saved_states(&self) -> Vec<Vec<u8>> {
        let members = self.models.iter().flat_map(|(_, members)| members);
        members.map(|one| one.configured.system.save()).collect()
    }

    /// Gives all systems of models the saved states of others.
    pub(crate) fn load_states(&mut self, states: &[Vec<u8>]) {
        let members = self.models.iter_mut().flat_map(|(_, members)| members);
        for (member, state) in members.zip(states) {
            let loaded = member.configured.system.load(state);
            loaded.expect("a system loads the state of its like");
        }
    }

    /// Returns the topics that systems of models publish on.
    pub(crate) fn topics(&self) -> Vec<&str> {
        let members = self.models.iter().flat_map(|(_, members)| members);
        let publications = members.flat_map(|member| &member.configured.publications);
        publications.map(|spec| spec.topic.as_str()).collect()
    }

    /// Has the world know of a model of one link, as after it was spawned; the cell does not.
    pub(crate) fn appear(&mut self, name: &str) {
        let mut world = self.cell.world().clone();
        let link = sdf::Link::new("link", Pose::IDENTITY);
        let model = sdf::Model::new(name, vec![link], Vec::new());
        world.models.push(model);
        let bytes = self.cell.snapshot();
        let restored = Cell::restore(Arc::new(world), &bytes);
        self.cell = restored.expect("a cell is restored from its own snapshot");
    }

    /// Has a model that moves gone, and another in its place, with both its numbers, in a paused
    /// step.
    pub(crate) fn replace(&mut self, name: &str, by: &str) {
        let ModelRef { index, performer } = self.model(name);
        let performer = performer.expect("it moves");
        self.cell.remove_performer(performer);
        let gone = GoneModel {
            model: index,
            performer: Some(performer),
            name,
        };
        let members = self.models.iter_mut().flat_map(|(_, members)| members);
        members.for_each(|member| member.configured.system.forget(&gone));
        let world_systems = self.world_systems.iter_mut();
        world_systems.for_each(|(_, member)| member.system.forget(&gone));
        let text = format!("<sdf version='1.11'>{by}</sdf>");
        let read = sdf::read_model(&text, "by.sdf", &sdf::NoFiles).expect("the text is valid");
        let mut world = self.cell.world().clone();
        world.vacate(index, [0; 4]);
        world.place(index, read.parcel);
        self.cell.give_world(Arc::new(world));
        self.stage.renew();
        self.cell.forget_meshes();
        self.cell.insert_performer(performer, index);
        let members = members_of_model(self.cell.world(), false, index, &mut Vec::new());
        self.models[index].1 = members;
    }

    /// Has two links held together.
    pub(crate) fn attach(&mut self, parent: &str, child: &str) {
        let attached = self.cell.attach(self.link(parent), self.link(child));
        attached.expect("the two are there and move");
    }

    /// Lets a link go that another one holds.
    pub(crate) fn detach(&mut self, parent: &str, child: &str) {
        let detached = self.cell.detach(self.link(parent), self.link(child));
        detached.expect("the two are attached");
    }

    fn link(&self, name: &str) -> LinkReference {
        let (model, link) = name.split_once("::").expect("it is MODEL::LINK");
        let model = self.model(model).index;
        let mut links = self.cell.world().models[model].links.iter();
        let link = links.position(|other| other.name == link);
        LinkReference {
            model,
            link: link.expect("there is such a link"),
        }
    }

    /// Returns a model by its name.
    pub(crate) fn model(&self, name: &str) -> ModelRef {
        let models = &self.cell.world().models;
        let index = models.iter().position(|model| model.name == name);
        self.model_at(index.expect("there is such a model"))
    }

    /// Returns a model by its index.
    pub(crate) fn model_at(&self, index: usize) -> ModelRef {
        self.models[index].0
    }

    /// Returns the pose of a model.
    pub(crate) fn pose(&self, name: &str) -> Pose {
        self.cell.model_pose(self.model(name))
    }

    /// Gives a model's first link a velocity \[m/s\].
    fn shove(&mut self, name: &str, velocity: [f64; 3]) {
        let model = self.model(name);
        self.cell.set_link_velocity(model, 0, [velocity, [0.0; 3]]);
    }

    /// Returns the velocity of a model's first link.
    pub(crate) fn velocity(&self, name: &str) -> [[f64; 3]; 2] {
        self.cell.link_velocity(self.model(name), 0)
    }

    /// Returns poses and velocities of all links of performers.
    fn link_states(&self) -> Vec<(Pose, [[f64; 3]; 2])> {
        let mut states = Vec::new();
        for (performer, index) in self.cell.performer_models() {
            let model = ModelRef::moving(performer, index);
            for link in 0..self.cell.world().models[index].links.len() {
                let pose = self.cell.link_pose(model, link);
                states.push((pose, self.cell.link_velocity(model, link)));
            }
        }
        states
    }

    fn step(&mut self) {
        if !self.is_paused {
            self.elapsed_ns += STEP_NS;
        }
        let time = StepTime {
            iteration: Iteration(self.elapsed_ns / STEP_NS),
            sim_time: SimTime(self.elapsed_ns),
            elapsed: SimTime(self.elapsed_ns),
            step_size_s: STEP_S,
            seed: self.seed,
        };
        let heard = std::mem::take(&mut self.incoming);
        let mut outbox = Outbox::default();
        self.step_of_world(time, &heard, &mut outbox);
        let is_paused = self.is_paused;
        self.each(time, &mut outbox, |member, context| {
            for (message, input) in inputs(&heard, &member.configured.subscriptions) {
                member.configured.system.on_message(input, message, context);
            }
            if !is_paused {
                member.configured.system.before_step(context);
            }
        });
        if !is_paused {
            let begin = SimTime(self.elapsed_ns - STEP_NS);
            self.cell.move_actors(begin, time.elapsed);
            self.cell.step(time.step_size_s);
            self.each(time, &mut outbox, |member, context| {
                member.configured.system.after_step(context);
            });
        }
        for request in outbox.requests {
            match &request.command {
                Command::Attach { parent, child } => self.attach(parent, child),
                Command::Detach { parent, child } => self.detach(parent, child),
                _ => {}
            }
            self.requests.push(request.command);
        }
        self.incoming.extend(outbox.messages.iter().cloned());
        self.published.extend(outbox.messages);
    }

    fn step_of_world(&mut self, time: StepTime, heard: &[TopicMessage], outbox: &mut Outbox) {
        for (part, (_, member)) in self.world_systems.iter_mut().enumerate() {
            let mut context = WorldContext {
                time,
                world: self.cell.world(),
                publisher: Publisher::World {
                    world: 0,
                    part: part as u32,
                },
                audience: &self.audience,
                outbox,
            };
            for (message, input) in inputs(heard, &member.subscriptions) {
                member.system.on_message(input, message, &mut context);
            }
            if !self.is_paused {
                member.system.before_step(&mut context);
            }
        }
        if !self.is_paused {
            for (_, member) in &self.world_systems {
                member.system.act(time, &mut self.cell);
            }
        }
    }

    fn each(
        &mut self,
        time: StepTime,
        outbox: &mut Outbox,
        mut act: impl FnMut(&mut Member, &mut Context<'_>),
    ) {
        for (model, members) in &mut self.models {
            for (part, member) in members.iter_mut().enumerate() {
                let mut context = Context {
                    time,
                    cell: &mut self.cell,
                    model: *model,
                    publisher: Publisher::Model {
                        model: ModelId {
                            world: 0,
                            model: model.index as u32,
                        },
                        part: part as u32,
                    },
                    audience: &self.audience,
                    stage: &self.stage,
                    outbox,
                };
                act(member, &mut context);
            }
        }
    }
}

type MakeSystem = fn(&Configuration<'_>) -> Result<Configured<dyn System>, ConfigureError>;

type Systems = (
    Vec<(ModelRef, Vec<Member>)>,
    Vec<(String, Configured<dyn WorldSystem>)>,
    Vec<String>,
);

/// Returns the systems of models and of the world, and those that cannot be made.
fn make_systems(world: &World) -> Systems {
    let mut problems = Vec::new();
    let numbered = world.models.iter().enumerate();
    let models = numbered.map(|(index, model)| {
        let members = members_of_model(world, false, index, &mut problems);
        let reference = if model.is_static {
            ModelRef::fixed(index)
        } else {
            ModelRef::moving(PerformerId(index as u32), index)
        };
        (reference, members)
    });
    let models = models.collect();
    let world_systems = members_of_world(world, false, &mut problems);
    let problems = problems.into_iter().map(|problem| problem.message);
    (models, world_systems, problems.collect())
}

/// Returns the messages for a system with the places of their topics among its subscriptions.
fn inputs<'a>(
    heard: &'a [TopicMessage],
    specs: &'a [TopicSpec],
) -> impl Iterator<Item = (&'a TopicMessage, usize)> {
    heard.iter().flat_map(|message| {
        let numbered = specs.iter().enumerate();
        let is_for = |spec: &TopicSpec| spec.topic == message.topic && spec.kind == message.kind;
        numbered.filter_map(move |(input, spec)| is_for(spec).then_some((message, input)))
    })
}

fn read(content: &str) -> World {
    let text = format!("<sdf version='1.11'><world name='w'>{content}</world></sdf>");
    let read = sdf::read_worlds(&text, "test.sdf", &sdf::NoFiles).expect("the text is valid");
    read.worlds.into_iter().next().expect("it holds a world")
}

#[cfg(test)]
mod tests;
