//! How a primary's driver publishes: everyone who keeps something of a step hears of it first.

use protocol::PrimaryToSecondary;
use protocol::primary_to_secondary::Step;
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
}
