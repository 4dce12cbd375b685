//! [`DueAnswers`]: answers that nobody waits for and that may come.
//!
//! A secondary that was slow, and not lost, answers each copy of a step that was sent again; and
//! who is at work on a step that is dropped, since the run ends, answers it. That is in order, and
//! no message to be refused.

use std::collections::{BTreeMap, VecDeque};

use protocol::Sequence;

use crate::peer_numbers::PeerNumber;

/// The most steps that are remembered for one secondary.
const STEPS_MAX: usize = 4;

/// Answers that are due besides those that are waited for.
#[derive(Debug, Default)]
pub(crate) struct DueAnswers {
    /// Steps in order, with how many more answers each may have.
    due: BTreeMap<PeerNumber, VecDeque<(Sequence, u32)>>,
}

impl DueAnswers {
    /// Notes that a secondary may answer a step without being waited for, once more.
    pub(crate) fn note(&mut self, to: PeerNumber, sequence: Sequence) {
        let steps = self.due.entry(to).or_default();
        match steps.back_mut() {
            Some((last, count)) if *last == sequence => *count += 1,
            _ => steps.push_back((sequence, 1)),
        }
        if steps.len() > STEPS_MAX {
            steps.pop_front();
        }
    }

    /// Takes an answer that nobody waits for; returns whether it was due.
    pub(super) fn take(&mut self, from: PeerNumber, sequence: Sequence) -> bool {
        let Some(steps) = self.due.get_mut(&from) else {
            return false;
        };
        // Answers come in order: what is due to earlier steps never comes.
        while steps.front().is_some_and(|(step, _)| *step < sequence) {
            steps.pop_front();
        }
        let is_due = match steps.front_mut() {
            Some((step, count)) if *step == sequence => {
                *count -= 1;
                true
            }
            _ => false,
        };
        if steps.front().is_some_and(|(_, count)| *count == 0) {
            steps.pop_front();
        }
        if steps.is_empty() {
            self.due.remove(&from);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer_numbers::PeerNumbers;

    #[test]
    fn as_many_answers_are_due_as_copies_were_sent() {
        let mut known = PeerNumbers::default();
        let [one, other] = ["s1", "s2"].map(|name| known.number(&name.parse().unwrap()));
        let mut due = DueAnswers::default();
        assert!(!due.take(one, Sequence(3)));
        due.note(one, Sequence(3));
        due.note(one, Sequence(3));
        due.note(one, Sequence(5));
        assert!(!due.take(other, Sequence(3)), "another was sent none");
        assert!(!due.take(one, Sequence(2)), "an earlier step");
        assert!(due.take(one, Sequence(3)));
        assert!(due.take(one, Sequence(5)), "a copy was lost");
        for sequence in [3, 5] {
            assert!(!due.take(one, Sequence(sequence)), "once each");
        }
        assert!(due.due.is_empty());
    }
}
