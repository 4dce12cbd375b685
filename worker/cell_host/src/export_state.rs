//! [`ExportState`]: state of the messages of a model's or a world's systems that leave the run.
//!
//! The time of the last message of a topic with a limited rate, and the last messages of a topic
//! that readers who come later get, are part of what systems save: they travel with the model,
//! so that hosts leave out the same ones, and whoever restores it from a checkpoint can say again
//! what went with the process that said it.

use std::collections::{BTreeMap, VecDeque};

use protocol::{Rate, SimTime, TopicMessage};
use serde::{Deserialize, Serialize};
use systems::{Audience, Outbox};

/// Most bytes of one topic's messages that are kept; of more, the oldest are dropped.
pub const KEPT_BYTES_MAX: usize = 256 << 10;

/// State of the messages that left the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ExportState {
    /// Time of the last message that left on each topic with a limit.
    last: BTreeMap<String, SimTime>,
    /// The last messages of each topic that is kept for readers who come later, oldest first.
    kept: BTreeMap<String, VecDeque<TopicMessage>>,
}

impl ExportState {
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
                self.keep(message, export.kept);
                outbox.exported.push(message.clone());
            } else if export.is_read_whole {
                outbox.beyond_rate.push(message.clone());
            }
        }
    }

    /// Keeps a message of a topic of which so many are kept.
    fn keep(&mut self, message: &TopicMessage, most: usize) {
        if most == 0 {
            return;
        }
        let kept = self.kept.entry(message.topic.clone()).or_default();
        kept.push_back(message.clone());
        let mut bytes: usize = kept.iter().map(|one| one.body.len()).sum();
        while kept.len() > most || bytes > KEPT_BYTES_MAX {
            let Some(oldest) = kept.pop_front() else {
                break;
            };
            bytes -= oldest.body.len();
        }
    }

    /// Returns the messages that readers who come later are to get, oldest first of each topic.
    pub(super) fn kept(&self) -> impl Iterator<Item = &TopicMessage> {
        self.kept.values().flatten()
    }

    /// Tells whether there are such messages.
    pub(super) fn keeps(&self) -> bool {
        self.kept.values().any(|kept| !kept.is_empty())
    }

    /// Saves it, if there is anything to save.
    pub(super) fn save(&self) -> Option<Vec<u8>> {
        let has_some = !(self.last.is_empty() && self.kept.is_empty());
        has_some.then(|| {
            postcard::to_stdvec(self).expect("names, times and bytes are what postcard can express")
        })
    }

    /// Goes on from what was saved; `None` when it is something else.
    pub(super) fn load(state: Option<&[u8]>) -> Option<Self> {
        let Some(state) = state else {
            return Some(Self::default());
        };
        postcard::from_bytes(state).ok()
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Iteration, Publisher};
    use systems::Export;

    use super::*;

    fn audience(is_read_whole: bool) -> Audience {
        let export = |max_rate_hz| Export {
            max_rate_hz,
            is_read_whole,
            kept: 0,
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
        let mut state = ExportState::default();
        for ms in (0..500).step_by(40) {
            let from = outbox.messages.len();
            say(&mut outbox, "/limited", ms);
            state.export(&mut outbox, from, &audience(true));
            // The next host knows no more than what the former one saves.
            state = ExportState::load(state.save().as_deref()).expect("it was saved");
        }
        assert_eq!(times(&outbox.exported), [0, 120, 200, 320, 400]);
        assert_eq!(outbox.beyond_rate.len(), 8);
    }

    #[test]
    fn messages_without_a_limit_leave_nothing_to_save() {
        let mut outbox = Outbox::default();
        let mut state = ExportState::default();
        say(&mut outbox, "/free", 1);
        say(&mut outbox, "/other", 1);
        state.export(&mut outbox, 0, &audience(false));
        assert_eq!(times(&outbox.exported), [1]);
        assert_eq!(state.save(), None);
        assert!(ExportState::load(Some(&[7])).is_none());
    }

    #[test]
    fn several_messages_of_one_step_are_one_too_many() {
        let mut outbox = Outbox::default();
        let mut state = ExportState::default();
        say(&mut outbox, "/limited", 5);
        say(&mut outbox, "/limited", 5);
        state.export(&mut outbox, 0, &audience(false));
        assert_eq!(times(&outbox.exported), [5]);
        assert!(outbox.beyond_rate.is_empty(), "nobody needs it");
    }

    #[test]
    fn the_last_messages_are_kept_up_to_their_number_and_their_bytes() {
        let export = |kept| Export {
            kept,
            ..Export::default()
        };
        let exported = [("/two", export(2)), ("/none", export(0))];
        let audience = Audience {
            exported: exported.map(|(name, one)| (name.to_owned(), one)).into(),
            ..Audience::default()
        };
        let mut outbox = Outbox::default();
        let mut state = ExportState::default();
        for ms in [1, 2, 3] {
            say(&mut outbox, "/two", ms);
            say(&mut outbox, "/none", ms);
        }
        state.export(&mut outbox, 0, &audience);
        let kept = |state: &ExportState| state.kept().cloned().collect::<Vec<_>>();
        state = ExportState::load(state.save().as_deref()).expect("it was saved");
        assert_eq!(times(&kept(&state)), [2, 3]);
        say(&mut outbox, "/two", 4);
        let last = outbox.messages.len() - 1;
        outbox.messages[last].body = vec![0; KEPT_BYTES_MAX];
        state.export(&mut outbox, last, &audience);
        assert_eq!(times(&kept(&state)), [3, 4]);
        say(&mut outbox, "/two", 5);
        outbox.messages[last + 1].body = vec![0];
        state.export(&mut outbox, last + 1, &audience);
        assert_eq!(times(&kept(&state)), [5], "both are too large together");
        say(&mut outbox, "/two", 6);
        outbox.messages[last + 2].body = vec![0; KEPT_BYTES_MAX + 1];
        state.export(&mut outbox, last + 2, &audience);
        assert_eq!(kept(&state), [], "a larger one cannot be kept");
    }
}
