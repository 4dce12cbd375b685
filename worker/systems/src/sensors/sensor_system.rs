//! [`SensorSystem`]: what all sensors have in common: where they are, when they measure, and that
//! they do so only while someone listens.

use std::ops::Range;

use messages::{Boolean, Header};
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::mount::Mount;
use super::schedule::Schedule;
use crate::registry::TopicSpec;
use crate::{Audience, Context, StepTime, System, load, save};

/// A kind of measurement.
pub(super) trait SensorModel: Send + Sync {
    /// Returns the topics that it listens to.
    fn subscriptions(&self) -> Vec<TopicSpec> {
        Vec::new()
    }

    /// Takes note that there was a message on one of them.
    fn on_message(&mut self) {}

    /// Looks at every step that advances time, also while nobody listens, before physics.
    fn before_step(&mut self, mount: &Mount, context: &Context<'_>) {
        let _ = (mount, context);
    }

    /// The same after physics.
    fn after_step(&mut self, mount: &Mount, context: &Context<'_>) {
        let _ = (mount, context);
    }

    /// Measures, and publishes under a header.
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>);

    /// Goes on as if it had measured: what it says later must not depend on who listened before.
    fn skip(&mut self, context: &Context<'_>) {
        let _ = context;
    }

    /// Returns all that it remembers; see [`save`].
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Goes on from what one like it saved; see [`load`].
    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        if bytes.is_empty() {
            Ok(())
        } else {
            Err(postcard::Error::DeserializeBadEncoding)
        }
    }
}

/// A model of a sensor with what it publishes.
pub(super) struct Made {
    pub(super) sensor_model: Box<dyn SensorModel>,
    /// Topics that it publishes on; it measures while someone listens to any of them.
    pub(super) publications: Vec<TopicSpec>,
}

/// A sensor at work.
pub(super) struct SensorSystem {
    mount: Mount,
    schedule: Schedule,
    topics: Vec<String>,
    sensor_model: Box<dyn SensorModel>,
    /// Place of its batteries among its inputs, after those of the model.
    batteries: Range<usize>,
    /// Of each battery.
    is_empty: Vec<bool>,
    /// Number of times that it was due.
    sequence: u64,
    sees_others: bool,
}

#[derive(Serialize, Deserialize, Default)]
struct State {
    sequence: u64,
    is_empty: Vec<bool>,
    sensor_model: Vec<u8>,
}

impl SensorSystem {
    /// Makes the sensor of a model that measures at a rate \[Hz\], while none of the batteries is
    /// empty that tell it on these inputs.
    pub(super) fn new(made: Made, update_rate: f64, mount: Mount, batteries: Range<usize>) -> Self {
        Self {
            mount,
            schedule: Schedule::new(update_rate),
            topics: made
                .publications
                .into_iter()
                .map(|spec| spec.topic)
                .collect(),
            sensor_model: made.sensor_model,
            is_empty: vec![false; batteries.len()],
            batteries,
            sequence: 0,
            sees_others: false,
        }
    }

    /// Has it known that what it measures depends on what else is around it.
    pub(super) fn that_sees_others(self, sees_others: bool) -> Self {
        Self {
            sees_others,
            ..self
        }
    }

    /// Tells whether it has no power.
    fn is_off(&self) -> bool {
        self.is_empty.contains(&true)
    }
}

impl System for SensorSystem {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _context: &mut Context<'_>) {
        if self.batteries.contains(&input) {
            if let Ok(is_empty) = messages::decode::<Boolean>(&message.body) {
                self.is_empty[input - self.batteries.start] = is_empty.data;
            }
        } else if !self.is_off() {
            self.sensor_model.on_message();
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        self.sensor_model.before_step(&self.mount, context);
    }

    fn after_step(&mut self, context: &mut Context<'_>) {
        self.sensor_model.after_step(&self.mount, context);
        let is_wanted = |topic: &String| context.is_wanted(topic);
        if !self.schedule.is_due(&context.time) {
            return;
        }
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        if self.is_off() || !self.topics.iter().any(is_wanted) {
            return self.sensor_model.skip(context);
        }
        let header = context.header();
        let header = header
            .with("frame_id", &self.mount.frame_id)
            .with("seq", &sequence.to_string());
        self.sensor_model.measure(&self.mount, header, context);
    }

    fn looks_at_others(&self, time: &StepTime, audience: &Audience) -> bool {
        let is_wanted = |topic: &String| audience.wants(topic);
        self.sees_others
            && self.schedule.is_due(time)
            && !self.is_off()
            && self.topics.iter().any(is_wanted)
    }

    fn save(&self) -> Vec<u8> {
        save(&State {
            sequence: self.sequence,
            is_empty: self.is_empty.clone(),
            sensor_model: self.sensor_model.save(),
        })
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        let mut state = State::default();
        load(&mut state, bytes)?;
        if state.is_empty.len() != self.is_empty.len() {
            return Err(postcard::Error::DeserializeBadEncoding);
        }
        self.is_empty = state.is_empty;
        self.sensor_model.load(&state.sensor_model)?;
        self.sequence = state.sequence;
        Ok(())
    }
}
