//! [`ExportRates`]: which messages of a model's or a world's systems leave the run.
//!
//! The time of the last message of a topic with a limited rate is part of what systems remember: it
//! travels with the model, so that hosts leave out the same ones.

use std::collections::BTreeMap;

use protocol::{Rate, SimTime};
use systems::{Audience, Outbox};

/// Time of the last message that left on each topic with a limit.
#[derive(Clone, Debug, Default)]
pub(super) struct ExportRates {
    last: BTreeMap<String, SimTime>,
}

impl ExportRates {
    /// Has messages leave the run that were added to an outbox, from its `from`-th on.
    pub(super) fn export(&mut self, outbox: &mut Outbox, from: usize, audience: &Audience) {
        if audience.exported.is_empty() {
            return;
        }
        for message in &outbox.messages[from..] {
            let Some(export) = audience.exported.get(&message.topic) else {
                continue;
            };
            let mut rate = Rate::after(export.max_rate_hz, self.last.get(&message.topic).copied());
            if rate.admits(message.sim_time) {
                if export.max_rate_hz.is_some() {
                    self.last.insert(message.topic.clone(), message.sim_time);
                }
                outbox.exported.push(message.clone());
            } else if export.is_read_whole {
                outbox.beyond_rate.push(message.clone());
            }
        }
    }

    /// Returns what is to be remembered, if anything is.
    pub(super) fn save(&self) -> Option<Vec<u8>> {
        let has_some = !self.last.is_empty();
        has_some.then(|| {
            postcard::to_stdvec(&self.last).expect("names and times are what postcard can express")
        })
    }

    /// Goes on from what was remembered; `None` when it is something else.
    pub(super) fn load(memory: Option<&[u8]>) -> Option<Self> {
        let Some(memory) = memory else {
            return Some(Self::default());
        };
        let last = postcard::from_bytes(memory).ok()?;
        Some(Self { last })
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Iteration, Publisher, TopicMessage};
    use systems::Export;

    use super::*;

    fn audience(is_read_whole: bool) -> Audience {
        let export = |max_rate_hz| Export {
            max_rate_hz,
            is_read_whole,
        };
        let exported = [("/limited", Some(10.0)), ("/free", None)];
        Audience {
            exported: exported
                .map(|(topic, hz)| (topic.to_owned(), export(hz)))
                .into(),
            ..Audience::default()
        }
    }

    fn say(outbox: &mut Outbox, topic: &str, ms: u64) {
        outbox.messages.push(TopicMessage {
            topic: topic.to_owned(),
            kind: String::new(),
            publisher: Publisher::Client,
            iteration: Iteration(ms),
            sim_time: SimTime(ms * 1_000_000),
            body: Vec::new(),
        });
    }

    fn times(messages: &[TopicMessage]) -> Vec<u64> {
        messages.iter().map(|one| one.iteration.0).collect()
    }

    #[test]
    fn a_limit_goes_on_where_the_model_goes() {
        let mut outbox = Outbox::default();
        let mut rates = ExportRates::default();
        for ms in (0..500).step_by(40) {
            let from = outbox.messages.len();
            say(&mut outbox, "/limited", ms);
            rates.export(&mut outbox, from, &audience(true));
            // The next host knows no more than what the former one remembers.
            rates = ExportRates::load(rates.save().as_deref()).expect("it is a memory");
        }
        assert_eq!(times(&outbox.exported), [0, 120, 200, 320, 400]);
        assert_eq!(outbox.beyond_rate.len(), 8);
    }

    #[test]
    fn what_has_no_limit_leaves_nothing_to_remember() {
        let mut outbox = Outbox::default();
        let mut rates = ExportRates::default();
        say(&mut outbox, "/free", 1);
        say(&mut outbox, "/other", 1);
        rates.export(&mut outbox, 0, &audience(false));
        assert_eq!(times(&outbox.exported), [1]);
        assert_eq!(rates.save(), None);
        assert!(ExportRates::load(Some(&[7])).is_none());
    }

    #[test]
    fn several_messages_of_one_step_are_one_too_many() {
        let mut outbox = Outbox::default();
        let mut rates = ExportRates::default();
        say(&mut outbox, "/limited", 5);
        say(&mut outbox, "/limited", 5);
        rates.export(&mut outbox, 0, &audience(false));
        assert_eq!(times(&outbox.exported), [5]);
        assert!(outbox.beyond_rate.is_empty(), "nobody needs it");
    }
}
