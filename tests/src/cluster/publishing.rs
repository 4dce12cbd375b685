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
            if let Some(tamper) = &mut self.setup.tamper.step {
                tamper(Arc::make_mut(step));
            }
            self.setup.trace.note(self.schedule.now, || {
                let (ahead, batch_number) = (step.ahead, step.batch_number);
                let (sequence, iteration) = (step.sequence, step.iteration);
                format!(
                    "step {sequence} to iteration {iteration}, {ahead} ahead, grant {batch_number}"
                )
            });
            self.checks.barrier.on_published(step);
            self.checks.witness.checks_ghosts = true;
            self.begin_step(step);
        }
        for index in 0..self.processes.len() {
            self.send_to_secondary(index, Stream::Step, message.clone());
        }
    }

    /// A step begins that all have done ahead.
    pub(super) fn go_on(&mut self, step: &Step) {
        self.setup.trace.note(self.schedule.now, || {
            let (sequence, iteration) = (step.sequence, step.iteration);
            format!("step {sequence} to iteration {iteration} was done ahead")
        });
        self.checks.witness.checks_ghosts = self.checks.barrier.on_ahead(step);
        self.begin_step(step);
    }

    fn begin_step(&mut self, step: &Step) {
        self.checks.commits.on_published(step);
        self.checks.publishers.on_step(step);
        self.checks.delivery.on_step(step);
        self.checks.witness.on_published(&self.primary, step);
        if let Some(outputs) = &mut self.saved.outputs {
            outputs.on_step(step);
        }
        if let Some(journal) = &mut self.saved.journal {
            journal.on_step(step);
            let ownership = &self.checks.witness.ownership;
            self.saved.past.note(step, ownership, &self.checks.barrier);
        }
    }
}
