//! A cell with the sensors of its models, without a host around it.

use std::sync::Arc;

use messages::Message;
use physics::{Cell, ModelRef};
use protocol::{Iteration, ModelId, PerformerId, Publisher, SimTime, TopicMessage};
use sdf::World;

use crate::registry::{Member, members_of_model};
use crate::{Audience, Context, Outbox, StepTime};

pub(super) const STEP_NS: u64 = 1_000_000;
pub(super) const GRAVITY: f64 = 9.8;

/// A cell with the sensors of its models.
pub(super) struct Rig {
    pub(super) cell: Cell,
    pub(super) audience: Audience,
    pub(super) seed: u64,
    pub(super) elapsed_ns: u64,
    pub(super) problems: Vec<String>,
    crews: Vec<(ModelRef, Vec<Member>)>,
    said: Vec<TopicMessage>,
}

/// Reads a world of what is in it.
pub(super) fn world(content: &str) -> Arc<World> {
    let text = format!(
        r#"<sdf version="1.11"><world name="w"><gravity>0 0 -{GRAVITY}</gravity>
        <magnetic_field>2e-5 0 -4e-5</magnetic_field>{content}</world></sdf>"#
    );
    let read = sdf::read_worlds(&text, "test.sdf", &sdf::NoFiles);
    Arc::new(read.unwrap().worlds.remove(0))
}

/// Returns a model of one link that holds some elements.
pub(super) fn model(name: &str, pose: &str, content: &str) -> String {
    format!(
        r#"<model name="{name}"><pose>{pose}</pose><link name="link"><inertial><mass>2</mass>
        <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
        {content}</link></model>"#
    )
}

/// The same for one that never moves.
pub(super) fn fixed(name: &str, pose: &str, content: &str) -> String {
    let moving = model(name, pose, content);
    moving.replace("<link name", "<static>true</static><link name")
}

/// Returns a collision of a shape.
pub(super) fn collision(shape: &str) -> String {
    format!(r#"<collision name="shape"><geometry>{shape}</geometry></collision>"#)
}

/// Returns a box of a size.
pub(super) fn cuboid(size: &str) -> String {
    collision(&format!("<box><size>{size}</size></box>"))
}

/// Returns a sensor `s` of a kind with some elements, on the topic `t`.
pub(super) fn sensor(kind: &str, content: &str) -> String {
    format!(r#"<sensor name="s" type="{kind}"><topic>t</topic>{content}</sensor>"#)
}

impl Rig {
    /// Makes a cell of all models of a world; performers' ids are their models' indices.
    pub(super) fn new(content: &str) -> Self {
        let world = world(content);
        let mut cell = Cell::new(Arc::clone(&world));
        for (index, model) in world.models.iter().enumerate() {
            if model.is_static {
                cell.insert_static(index);
            } else {
                cell.insert_performer(PerformerId(index as u32), index);
            }
        }
        Self::around(cell)
    }

    /// Makes the sensors of the models that a cell owns.
    pub(super) fn around(cell: Cell) -> Self {
        let mut problems = Vec::new();
        let fixed = cell.statics().map(ModelRef::fixed);
        let moving = cell
            .performer_models()
            .map(|(id, model)| ModelRef::moving(id, model));
        let mut models: Vec<ModelRef> = fixed.chain(moving).collect();
        models.sort_by_key(|model| model.index);
        let crews = models.into_iter().map(|model| {
            let members = members_of_model(cell.world(), false, model.index, &mut problems);
            (model, members)
        });
        let crews = crews.collect();
        Self {
            crews,
            cell,
            audience: Audience {
                publish_all: true,
                ..Audience::default()
            },
            seed: 1,
            elapsed_ns: 0,
            problems,
            said: Vec::new(),
        }
    }

    /// Does some steps.
    pub(super) fn run(&mut self, steps: u32) {
        for _ in 0..steps {
            self.elapsed_ns += STEP_NS;
            self.each(|member, context| member.configured.system.before_step(context));
            self.cell.step(STEP_NS as f64 / 1e9);
            self.each(|member, context| member.configured.system.after_step(context));
        }
    }

    /// Returns what all sensors remember.
    pub(super) fn memories(&self) -> Vec<Vec<u8>> {
        let members = self.crews.iter().flat_map(|(_, members)| members);
        members.map(|one| one.configured.system.save()).collect()
    }

    /// Lets all sensors go on from what others remembered.
    pub(super) fn recall(&mut self, memories: &[Vec<u8>]) {
        let members = self.crews.iter_mut().flat_map(|(_, members)| members);
        for (member, state) in members.zip(memories) {
            member.configured.system.load(state).unwrap();
        }
    }

    /// Returns the topics that sensors publish on.
    pub(super) fn topics(&self) -> Vec<&str> {
        let members = self.crews.iter().flat_map(|(_, members)| members);
        let publications = members.flat_map(|member| &member.configured.publications);
        publications.map(|spec| spec.topic.as_str()).collect()
    }

    /// Takes what was said on a topic since the last time.
    pub(super) fn take<M: Message>(&mut self, topic: &str) -> Vec<M> {
        let said = self.said.iter().filter(|message| message.topic == topic);
        let messages = said.map(|message| messages::decode(&message.body).unwrap());
        let messages = messages.collect();
        self.said.retain(|message| message.topic != topic);
        messages
    }

    /// Does a step and returns what was said in it on the topic `/t`.
    pub(super) fn measure<M: Message>(&mut self) -> M {
        self.said.clear();
        self.run(1);
        self.take("/t").remove(0)
    }

    /// Takes everything that was said.
    pub(super) fn take_all(&mut self) -> Vec<TopicMessage> {
        std::mem::take(&mut self.said)
    }

    fn each(&mut self, act: impl Fn(&mut Member, &mut Context<'_>)) {
        let mut outbox = Outbox::default();
        let time = StepTime {
            iteration: Iteration(self.elapsed_ns / STEP_NS),
            sim_time: SimTime(self.elapsed_ns),
            elapsed: SimTime(self.elapsed_ns),
            step_size_s: STEP_NS as f64 / 1e9,
            seed: self.seed,
        };
        for (model, members) in &mut self.crews {
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
                    outbox: &mut outbox,
                };
                act(member, &mut context);
            }
        }
        self.said.append(&mut outbox.messages);
    }
}

/// Checks that numbers are near others.
#[track_caller]
pub(super) fn assert_near(found: impl Into<[f64; 3]>, expected: [f64; 3], tolerance: f64) {
    let found = found.into();
    for axis in 0..3 {
        let error = (found[axis] - expected[axis]).abs();
        assert!(error <= tolerance, "{found:?} is not {expected:?}");
    }
}
