//! [`Context`]: what a system sees and may do in a step.

use std::collections::{BTreeMap, BTreeSet};

use messages::{Header, Message};
use protocol::secondary_to_primary::SystemRequest;
use protocol::{Command, Iteration, PerformerId, Publisher, SimTime, TopicMessage};
use sdf::{Model, World};

use physics::{Cell, ModelRef};

use crate::drawn_world::SharedStage;

/// Time of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTime {
    /// The iteration at the end of the step.
    pub iteration: Iteration,
    /// Simulated time at the end of the step, as messages show it; it may be set back.
    pub sim_time: SimTime,
    /// Simulated time that has passed at the end of the step, which never goes back: intervals and
    /// random numbers use it.
    pub elapsed: SimTime,
    /// Simulated time that passes in the step \[s\].
    pub step_size_s: f64,
    /// The seed of random numbers.
    pub seed: u64,
}

/// Topics that have listeners.
#[derive(Clone, Debug, Default)]
pub struct Audience {
    /// Topics that systems of any model listen to.
    pub heard: BTreeSet<String>,
    /// Topics that observers listen to.
    pub observed: BTreeSet<String>,
    /// Topics that leave the run for others, whoever listens there, and how.
    pub exported: BTreeMap<String, Export>,
    /// Topics that programs which take part in lockstep listen to.
    pub participants: BTreeSet<String>,
    /// True if everything is published all the same.
    pub publish_all: bool,
}

/// Way in which a topic leaves the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Export {
    /// The most messages per second of simulated time, if there is a limit \[Hz\].
    pub max_rate_hz: Option<f64>,
    /// True if others need all messages, those beyond the limit for what is in them alone.
    pub is_read_whole: bool,
    /// Number of the last messages of each publisher that readers who come later get.
    pub kept: usize,
}

impl Audience {
    /// Tells whether anyone listens to a topic.
    pub fn wants(&self, topic: &str) -> bool {
        self.publish_all
            || self.heard.contains(topic)
            || self.observed.contains(topic)
            || self.exported.contains_key(topic)
            || self.participants.contains(topic)
    }
}

/// Messages and requests of systems in a step, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outbox {
    /// Messages.
    pub messages: Vec<TopicMessage>,
    /// Requests.
    pub requests: Vec<SystemRequest>,
    /// Copies of the messages that leave the run.
    pub exported: Vec<TopicMessage>,
    /// Copies of those beyond the limit of their topic that are needed all the same.
    pub beyond_rate: Vec<TopicMessage>,
}

/// A model that is gone.
#[derive(Clone, Copy, Debug)]
pub struct GoneModel<'a> {
    /// Its index in the world.
    pub model: usize,
    /// Its number as a performer, if it was one.
    pub performer: Option<PerformerId>,
    /// Its name.
    pub name: &'a str,
}

/// View of a step for a system of a model: state, messages and requests.
pub struct Context<'a> {
    /// Time of the step.
    pub time: StepTime,
    /// The cell that its model is in.
    pub cell: &'a mut Cell,
    /// Its model.
    pub model: ModelRef,
    /// Sender of its messages and requests.
    pub publisher: Publisher,
    /// Topics that have listeners.
    pub audience: &'a Audience,
    /// The world as it is drawn.
    pub stage: &'a SharedStage,
    /// Messages and requests of the step so far.
    pub outbox: &'a mut Outbox,
}

impl Context<'_> {
    /// Returns the world.
    pub fn world(&self) -> &World {
        self.cell.world()
    }

    /// Returns the description of its model.
    pub fn description(&self) -> &Model {
        &self.cell.world().models[self.model.index]
    }

    /// Tells whether anyone listens to a topic; what nobody hears need not be made.
    pub fn is_wanted(&self, topic: &str) -> bool {
        self.audience.wants(topic)
    }

    /// Returns a header with the simulated time.
    pub fn header(&self) -> Header {
        Header::at(self.time.sim_time.0)
    }

    /// Says something on a topic, if anyone listens.
    pub fn publish<M: Message>(&mut self, topic: &str, message: &M) {
        say(
            self.outbox,
            self.audience,
            self.publisher,
            self.time,
            topic,
            message,
        );
    }

    /// Says a message that is encoded already, if anyone listens; `kind` is what it is.
    pub fn publish_encoded(&mut self, topic: &str, kind: &'static str, body: &[u8]) {
        say_encoded(
            self.outbox,
            self.audience,
            self.publisher,
            self.time,
            topic,
            (kind, body),
        );
    }

    /// Asks something of the run; it is done in the next step.
    pub fn request(&mut self, command: Command) {
        self.outbox.requests.push(SystemRequest {
            publisher: self.publisher,
            command,
        });
    }
}

/// View of a step for a system of a world, once for the whole world.
pub struct WorldContext<'a> {
    /// Time of the step.
    pub time: StepTime,
    /// The world.
    pub world: &'a World,
    /// Sender of its messages and requests.
    pub publisher: Publisher,
    /// Topics that have listeners.
    pub audience: &'a Audience,
    /// Messages and requests of the step so far.
    pub outbox: &'a mut Outbox,
}

impl WorldContext<'_> {
    /// Returns a header with the simulated time.
    pub fn header(&self) -> Header {
        Header::at(self.time.sim_time.0)
    }

    /// Says something on a topic, if anyone listens.
    pub fn publish<M: Message>(&mut self, topic: &str, message: &M) {
        say(
            self.outbox,
            self.audience,
            self.publisher,
            self.time,
            topic,
            message,
        );
    }

    /// Says a message that is encoded already, if anyone listens; `kind` is what it is.
    pub fn publish_encoded(&mut self, topic: &str, kind: &'static str, body: &[u8]) {
        say_encoded(
            self.outbox,
            self.audience,
            self.publisher,
            self.time,
            topic,
            (kind, body),
        );
    }

    /// Asks something of the run; it is done in the next step.
    pub fn request(&mut self, command: Command) {
        self.outbox.requests.push(SystemRequest {
            publisher: self.publisher,
            command,
        });
    }
}

fn say<M: Message>(
    outbox: &mut Outbox,
    audience: &Audience,
    publisher: Publisher,
    time: StepTime,
    topic: &str,
    message: &M,
) {
    if audience.wants(topic) {
        let body = messages::encode(message);
        let message = (M::KIND, body.as_slice());
        say_encoded(outbox, audience, publisher, time, topic, message);
    }
}

fn say_encoded(
    outbox: &mut Outbox,
    audience: &Audience,
    publisher: Publisher,
    time: StepTime,
    topic: &str,
    (kind, body): (&'static str, &[u8]),
) {
    if audience.wants(topic) {
        outbox.messages.push(TopicMessage {
            topic: topic.to_owned(),
            kind: kind.to_owned(),
            publisher,
            iteration: time.iteration,
            sim_time: time.sim_time,
            body: body.to_vec(),
        });
    }
}
