//! [`StepperNews`]: news for the stepper: topics that observers begin or cease to listen to.

use std::time::{Duration, Instant};

use lockstep::PrimaryInput;

use super::sources::Sources;
use crate::data::ObservedTopics;
use crate::secondary::InputSender;
use crate::seldom::Seldom;

/// Time between two tellings of what observers listen to, however often that changes.
const TELLING_INTERVAL: Duration = Duration::from_millis(20);

/// The stepper, once it is known, and what it is told of.
pub(super) struct StepperNews {
    inputs: Option<InputSender<PrimaryInput>>,
    observed: ObservedTopics,
    next_telling: Instant,
    not_heeded: Seldom,
}

impl StepperNews {
    pub(super) fn new() -> Self {
        Self {
            inputs: None,
            observed: ObservedTopics::default(),
            next_telling: Instant::now(),
            not_heeded: Seldom::default(),
        }
    }

    /// Has this stepper told.
    pub(super) fn attach(&mut self, inputs: InputSender<PrimaryInput>) {
        self.inputs = Some(inputs);
    }

    /// Returns the stepper, once it is known.
    pub(super) fn inputs(&self) -> Option<&InputSender<PrimaryInput>> {
        self.inputs.as_ref()
    }

    /// Tells whether observers listen to a topic.
    pub(super) fn is_observed(&self, topic: &str) -> bool {
        self.observed.has(topic)
    }

    /// Takes note that somebody listens to topics that begin so, or nobody does any more.
    pub(super) fn on_subscription(&mut self, frame: &[u8], listens: bool) {
        if let Err(error) = self.observed.note(frame, listens) {
            let text = format!("a subscription is not heeded: {error}");
            self.not_heeded.warn(&text);
        }
    }

    /// Returns when it is to be told, if there is anything.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let is_due = self.inputs.is_some() && self.observed.has_changes();
        is_due.then_some(self.next_telling)
    }

    /// Tells it what observers begin or cease to listen to, if that is due.
    pub(super) fn tell(&mut self, now: Instant) {
        let Some(inputs) = &self.inputs else {
            return;
        };
        if !self.observed.has_changes() || now < self.next_telling {
            return;
        }
        self.next_telling = now + TELLING_INTERVAL;
        for change in self.observed.changes() {
            inputs.send(PrimaryInput::Observed(change));
        }
    }

    /// Tells it what was turned away.
    pub(super) fn tell_refused(&self, sources: &mut Sources, now: Instant, is_last: bool) {
        if let Some(inputs) = &self.inputs
            && let Some((counts, details)) = sources.take_refused(now, is_last)
        {
            inputs.send(PrimaryInput::Refused { counts, details });
        }
    }
}
