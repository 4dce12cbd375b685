//! [`Rehearsal`]: a small world in one cell in which the systems of all its models act, for tests.
//!
//! Messages on a topic arrive in the next step, as in a run. Requests to the run are kept; only
//! links are attached and detached.

mod leash;

use std::sync::Arc;

use messages::Message;
use physics::{Cell, ModelRef};
use protocol::{Command, Iteration, ModelId, PerformerId, Publisher, SimTime, TopicMessage};
use sdf::{LinkReference, Pose, World};

use super::registry::{Configured, Member, members_of_model, members_of_world};
use super::{
    Audience, Configuration, ConfigureError, Context, GoneModel, Outbox, StepTime, System,
    WorldContext, WorldSystem,
};

const STEP_NS: u64 = 1_000_000;

/// A small world in which systems act.
pub(crate) struct Rehearsal {
    /// Requests to the run, in order.
    pub(crate) requests: Vec<Command>,
    cell: Cell,
    models: Vec<(ModelRef, Vec<Member>)>,
    of_world: Vec<(String, Configured<dyn WorldSystem>)>,
    audience: Audience,
    /// Messages that arrive in the next step.
    coming: Vec<TopicMessage>,
    /// All messages of systems.
    said: Vec<TopicMessage>,
    elapsed_ns: u64,
    is_paused: bool,
}

impl Rehearsal {
    /// Makes the world of what stands in a `<world>`.
    pub(crate) fn new(content: &str) -> Self {
        let text = format!("<sdf version='1.11'><world name='stage'>{content}</world></sdf>");
        let read = sdf::read_worlds(&text, "stage.sdf", &sdf::NoFiles).expect("the text is valid");
        let world = read.worlds.into_iter().next().expect("it holds a world");
        let (models, of_world) = crews(&world);
        let world = Arc::new(world);
        let mut cell = Cell::new(Arc::clone(&world));
        for (model, _) in &models {
            match model.performer {
                Some(performer) => cell.insert_performer(performer, model.index),
                None => cell.insert_static(model.index),
            }
        }
        let audience = Audience {
            publish_all: true,
            ..Audience::default()
        };
        Self {
            requests: Vec::new(),
            cell,
            models,
            of_world,
            audience,
            coming: Vec::new(),
            said: Vec::new(),
            elapsed_ns: 0,
            is_paused: false,
        }
    }

    /// Adds a system of a model that is not in the table; it does not travel.
    fn join(&mut self, model: &str, make: MakeSystem, plugin: &sdf::Plugin) {
        let index = self.model(model).index;
        let world = self.cell.world();
        let configuration = Configuration {
            world,
            has_siblings: false,
            model: Some(&world.models[index]),
            scope: "",
            plugin,
        };
        let configured = make(&configuration).expect("the example is complete");
        self.models[index].1.push(Member {
            configured,
            name: plugin.name.clone(),
            is_sensor: false,
        });
    }

    /// Says something to the systems, heard in the next step.
    pub(crate) fn say<M: Message>(&mut self, topic: &str, message: &M) {
        self.coming.push(TopicMessage {
            topic: topic.to_owned(),
            kind: M::KIND.to_owned(),
            publisher: Publisher::Client,
            iteration: Iteration(self.elapsed_ns / STEP_NS),
            sim_time: SimTime(self.elapsed_ns),
            body: messages::encode(message),
        });
    }

    /// Returns what systems said on a topic so far.
    pub(crate) fn said<M: Message>(&self, topic: &str) -> Vec<M> {
        let on_topic = self.said.iter().filter(|message| message.topic == topic);
        on_topic
            .map(|message| {
                assert_eq!(message.kind, M::KIND);
                messages::decode(&message.body).expect("systems say what they say they say")
            })
            .collect()
    }

    /// Lets time pass in steps of 1 ms.
    pub(crate) fn run(&mut self, duration_s: f64) {
        for _ in 0..(duration_s * 1e9 / STEP_NS as f64).round() as usize {
            self.step();
        }
    }

    /// Does a step in which time stands still.
    pub(crate) fn pause(&mut self) {
        self.is_paused = true;
        self.step();
        self.is_paused = false;
    }

    /// Has other systems go on from what these remember, as after a hand-off.
    pub(crate) fn travel(&mut self) {
        let (models, of_world) = crews(self.cell.world());
        let former = std::mem::replace(&mut self.models, models);
        for ((_, members), (_, former)) in self.models.iter_mut().zip(former) {
            for (member, former) in members.iter_mut().zip(former) {
                let bytes = former.configured.system.save();
                let loaded = member.configured.system.load(&bytes);
                loaded.expect("a system knows its own memory");
                assert_eq!(member.configured.system.save(), bytes);
            }
        }
        let former = std::mem::replace(&mut self.of_world, of_world);
        for ((_, member), (_, former)) in self.of_world.iter_mut().zip(former) {
            let loaded = member.system.load(&former.system.save());
            loaded.expect("a system knows its own memory");
        }
    }

    /// Has the world know of a model of one link, as after it was spawned; the cell does not.
    pub(crate) fn appear(&mut self, name: &str) {
        let mut world = self.cell.world().clone();
        let link = sdf::Link::new("link", Pose::IDENTITY);
        world
            .models
            .push(sdf::Model::new(name, vec![link], Vec::new()));
        let bytes = self.cell.snapshot();
        let restored = Cell::restore(Arc::new(world), &bytes);
        self.cell = restored.expect("a cell is restored from its own snapshot");
    }

    /// Has a model that moves gone, and another in its place, with both its numbers, while time
    /// stands still.
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
        let of_world = self.of_world.iter_mut();
        of_world.for_each(|(_, member)| member.system.forget(&gone));
        let text = format!("<sdf version='1.11'>{by}</sdf>");
        let read = sdf::read_model(&text, "by.sdf", &sdf::NoFiles).expect("the text is valid");
        let mut world = self.cell.world().clone();
        world.vacate(index, [0; 3]);
        world.place(index, read.parcel);
        self.cell.give_world(Arc::new(world));
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

    fn model(&self, name: &str) -> ModelRef {
        let models = &self.cell.world().models;
        let index = models.iter().position(|model| model.name == name);
        self.models[index.expect("there is such a model")].0
    }

    fn step(&mut self) {
        if !self.is_paused {
            self.elapsed_ns += STEP_NS;
        }
        let time = StepTime {
            iteration: Iteration(self.elapsed_ns / STEP_NS),
            sim_time: SimTime(self.elapsed_ns),
            elapsed: SimTime(self.elapsed_ns),
            step_size_s: STEP_NS as f64 / 1e9,
            seed: 0,
        };
        let heard = std::mem::take(&mut self.coming);
        let mut outbox = Outbox::default();
        self.step_of_world(time, &heard, &mut outbox);
        let is_paused = self.is_paused;
        self.each(time, &mut outbox, |member, context| {
            for message in &heard {
                let specs = member.configured.subscriptions.iter();
                let inputs = specs
                    .enumerate()
                    .filter(|(_, spec)| spec.topic == message.topic && spec.kind == message.kind);
                let inputs: Vec<usize> = inputs.map(|(input, _)| input).collect();
                for input in inputs {
                    member.configured.system.on_message(input, message, context);
                }
            }
            if !is_paused {
                member.configured.system.before_step(context);
            }
        });
        if !is_paused {
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
        self.coming.extend(outbox.messages.iter().cloned());
        self.said.extend(outbox.messages);
    }

    fn step_of_world(&mut self, time: StepTime, heard: &[TopicMessage], outbox: &mut Outbox) {
        for (part, (_, member)) in self.of_world.iter_mut().enumerate() {
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
            for message in heard {
                let specs = member.subscriptions.iter().enumerate();
                for (input, spec) in specs {
                    if spec.topic == message.topic && spec.kind == message.kind {
                        member.system.on_message(input, message, &mut context);
                    }
                }
            }
            if !self.is_paused {
                member.system.before_step(&mut context);
            }
        }
        if !self.is_paused {
            for (_, member) in &self.of_world {
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
                    outbox,
                };
                act(member, &mut context);
            }
        }
    }
}

type MakeSystem = fn(&Configuration<'_>) -> Result<Configured<dyn System>, ConfigureError>;

type Crews = (
    Vec<(ModelRef, Vec<Member>)>,
    Vec<(String, Configured<dyn WorldSystem>)>,
);

fn crews(world: &World) -> Crews {
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
    let of_world = members_of_world(world, false, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    (models, of_world)
}

#[test]
fn the_example_of_the_documents_is_the_one_that_works() {
    let document = include_str!("../../../docs/systems.md");
    let example = include_str!("rehearsal/leash.rs");
    let (_, code) = example.split_once("\n\n").expect("a header opens the file");
    assert!(
        document.contains(code),
        "docs/systems.md shows another example"
    );
    let mut rehearsal = Rehearsal::new(
        "<model name='dog'><link name='body'><gravity>false</gravity></link>\
         <plugin name='gz::sim::systems::VelocityControl' filename='none'/></model>",
    );
    let element = sdf::Content {
        name: "link_name".to_owned(),
        attributes: Vec::new(),
        nodes: vec![sdf::ContentNode::Text("body".to_owned())],
    };
    let plugin = sdf::Plugin {
        name: "Leash".to_owned(),
        filename: String::new(),
        content: sdf::Content {
            name: "plugin".to_owned(),
            attributes: Vec::new(),
            nodes: vec![sdf::ContentNode::Element(element)],
        },
    };
    rehearsal.join("dog", leash::configure, &plugin);
    rehearsal.run(0.001);
    rehearsal.shove("dog", [1.0, 0.0, 0.0]);
    // A quarter of the period: 1 kg on 10 N/m is farthest out, by the speed over the frequency.
    let frequency = 10.0_f64.sqrt();
    rehearsal.run(std::f64::consts::FRAC_PI_2 / frequency);
    let reach = rehearsal.pose("dog").position[0];
    assert!((reach - 1.0 / frequency).abs() < 2e-3, "{reach}");
    let weak = messages::Double::default();
    rehearsal.say("/model/dog/leash", &weak);
    rehearsal.run(0.1);
    assert!((rehearsal.pose("dog").position[0] - reach).abs() < 5e-3);
}
