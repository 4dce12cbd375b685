//! Publishing by a primary's driver: all parts that keep something of a step learn of it first.

use std::time::Duration;

use protocol::primary_to_secondary::Step;
use protocol::{Action, PrimaryToSecondary};
use transport::{Destination, Link};

use super::PrimaryDriver;
use crate::trace::StepMark;

impl<L: Link> PrimaryDriver<L> {
    /// Hands a message to all secondaries.
    pub(super) fn publish(&mut self, message: PrimaryToSecondary) {
        let begun = self.trace_time();
        let mark = begun.and_then(|_| StepMark::of(&message));
        if let PrimaryToSecondary::Step(step) = &message {
            self.status.step_published(step);
            self.begin_step(step);
        }
        let topic = message.topic();
        self.send(Destination::EverySecondary, topic, message);
        if let Some((mark, begun)) = mark.zip(begun) {
            self.trace_published(mark, begun);
        }
    }

    /// Has a step kept that all have done ahead.
    pub(super) fn go_on(&mut self, step: &Step) {
        self.status.step_begun(step);
        self.begin_step(step);
    }

    fn begin_step(&mut self, step: &Step) {
        self.proof.on_step(step);
        self.recordings.on_step(step);
        if let Some(journal) = &mut self.journal {
            journal.on_step(step);
        }
        self.note_actions(step);
    }

    /// Keeps what people are shown in step with what is spawned and removed.
    fn note_actions(&mut self, step: &Step) {
        if step.anew {
            self.reporter.reset();
            self.primary.set_topics(self.topics_at_start.clone());
        }
        for stamped in &step.actions {
            match &stamped.action {
                Action::Spawn(spawn) => {
                    let topics = self.primary.settings().topics.clone();
                    let survey = self.reporter.add_model(spawn, topics);
                    for problem in survey.problems {
                        tracing::warn!("{problem}");
                    }
                    self.primary.set_topics(survey.topics);
                }
                Action::Remove { model } => {
                    let topics = self.primary.settings().topics.clone();
                    let topics = self.reporter.remove_model(*model, topics);
                    self.primary.set_topics(topics);
                }
                Action::SetStepSize(step_size_ns) => {
                    self.meter
                        .set_step_size(Duration::from_nanos(*step_size_ns));
                }
                Action::SetPose { .. }
                | Action::Wrench { .. }
                | Action::SetJoint { .. }
                | Action::SetCollisions { .. }
                | Action::Attach { .. }
                | Action::Detach { .. }
                | Action::SetSeed(_) => {}
            }
        }
    }
}
