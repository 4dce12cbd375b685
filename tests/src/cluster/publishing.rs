//! Publications of a simulated primary: checkers and the journal hear of them, then the
//! secondaries.

use std::sync::Arc;

use protocol::PrimaryToSecondary;
use protocol::primary_to_secondary::Step;

use super::Cluster;
use super::network::Stream;

impl Cluster {
    /// A step, or what else all are to hear, is published.
    pub(super) fn publish(&mut self, mut message: PrimaryToSecondary) {
        if let PrimaryToSecondary::Step(step) = &mut message {
            if let Some(tamper) = &mut self.tamper.step {
                tamper(Arc::make_mut(step));
            }
            self.trace.note(self.now, || {
                let (ahead, batch_number) = (step.ahead, step.batch_number);
                let (sequence, iteration) = (step.sequence, step.iteration);
                format!(
                    "step {sequence} to iteration {iteration}, {ahead} ahead, grant {batch_number}"
                )
            });
            self.barrier.on_published(step);
            self.witness.checks_ghosts = true;
            self.begin_step(step);
        }
        for index in 0..self.processes.len() {
            self.send_to_secondary(index, Stream::Step, message.clone());
        }
    }

    /// A step begins that all have done ahead.
    pub(super) fn go_on(&mut self, step: &Step) {
        self.trace.note(self.now, || {
            let (sequence, iteration) = (step.sequence, step.iteration);
            format!("step {sequence} to iteration {iteration} was done ahead")
        });
        self.witness.checks_ghosts = self.barrier.on_ahead(step);
        self.begin_step(step);
    }

    fn begin_step(&mut self, step: &Step) {
        self.commits.on_published(step);
        self.publishers.on_step(step);
        self.delivery.on_step(step);
        self.witness.on_published(&self.primary, step);
        if let Some(outputs) = &mut self.outputs {
            outputs.on_step(step);
        }
        if let Some(journal) = &mut self.journal {
            journal.on_step(step);
            let ownership = &self.witness.ownership;
            self.past.note(step, ownership, &self.barrier);
        }
    }
}
