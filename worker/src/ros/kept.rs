//! [`Kept`]: messages that a publisher says again since those who said them are gone, with what
//! they kept for readers who come later.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use protocol::{Publisher, TopicMessage};

use super::endpoints::Key;
use super::outbound::origin_of;

/// The last messages of each model on topics that are kept for readers who come later.
#[derive(Debug, Default)]
pub(super) struct Kept {
    last: BTreeMap<(Key, Publisher), VecDeque<TopicMessage>>,
}

impl Kept {
    /// Notes a message of a topic of which a model's last ones are kept, up to this number.
    pub(super) fn note(&mut self, message: TopicMessage, key: Key, most: usize) {
        if most == 0 {
            return;
        }
        let origin = origin_of(message.publisher);
        let last = self.last.entry((key, origin)).or_default();
        // It may be remembered both by the model and in the steps that are done again.
        if last.contains(&message) {
            return;
        }
        last.push_back(message);
        while last.len() > most {
            last.pop_front();
        }
    }

    /// Forgets the messages of models that are gone.
    pub(super) fn forget(&mut self, gone: &BTreeSet<Publisher>) {
        self.last.retain(|(_, origin), _| !gone.contains(origin));
    }

    /// Tells whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Takes all, in the order in which they were said.
    pub(super) fn take(&mut self) -> Vec<TopicMessage> {
        let last = std::mem::take(&mut self.last).into_values();
        let mut messages: Vec<TopicMessage> = last.flatten().collect();
        messages.sort_by_key(|message| (message.iteration, message.publisher));
        messages
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Iteration, ModelId, SimTime};

    use super::*;

    fn message(model: u32, iteration: u64) -> TopicMessage {
        let model = ModelId { world: 0, model };
        TopicMessage {
            topic: "/fleet".to_owned(),
            kind: "gz.msgs.Odometry".to_owned(),
            publisher: Publisher::Model { model, part: 0 },
            iteration: Iteration(iteration),
            sim_time: SimTime(iteration),
            body: Vec::new(),
        }
    }

    #[test]
    fn messages_are_said_once_and_not_after_their_model_has_left() {
        let mut kept = Kept::default();
        for (model, iteration) in [(0, 10), (1, 10), (0, 10), (0, 20)] {
            let key = ("/fleet".to_owned(), "gz.msgs.Odometry");
            kept.note(message(model, iteration), key, 3);
        }
        let model = ModelId { world: 0, model: 1 };
        kept.forget(&[Publisher::Model { model, part: 0 }].into());
        assert_eq!(kept.take(), [message(0, 10), message(0, 20)]);
    }

    #[test]
    fn each_publisher_of_a_topic_has_its_own_last_messages() {
        let mut kept = Kept::default();
        let note = |kept: &mut Kept, model, iteration, most| {
            let key = ("/fleet".to_owned(), "gz.msgs.Odometry");
            kept.note(message(model, iteration), key, most);
        };
        for (model, iteration) in [(1, 10), (0, 10), (1, 20), (0, 30), (1, 40)] {
            note(&mut kept, model, iteration, 2);
        }
        note(&mut kept, 2, 5, 0);
        let said = [(0, 10), (1, 20), (0, 30), (1, 40)];
        assert_eq!(kept.take(), said.map(|(model, at)| message(model, at)));
        assert_eq!(kept.take(), [], "they are taken once");
    }
}
