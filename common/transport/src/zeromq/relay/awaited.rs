//! [`Awaited`]: the secondaries whose answers to a step wait for each other.
//!
//! Those are waited for that answered the step before: one that has just joined, reads the world or
//! stands by is subscribed, too, and does not answer.

use std::collections::BTreeSet;

use protocol::RoutingId;

/// Secondaries whose answers go up together.
#[derive(Debug, Default)]
pub(super) struct Awaited {
    /// Those that have not answered.
    missing: BTreeSet<RoutingId>,
    /// Those that have.
    answered: BTreeSet<RoutingId>,
    /// True if something was published while answers were awaited.
    was_passed_over: bool,
}

impl Awaited {
    /// Takes in that something was published to which secondaries may answer.
    pub(super) fn on_published(&mut self) {
        // The next step comes when all have answered; what comes earlier is for those who join. But
        // nobody is awaited for a second time who takes no part any more.
        if self.missing.is_empty() || self.was_passed_over {
            self.missing = std::mem::take(&mut self.answered);
            self.was_passed_over = false;
        } else {
            self.was_passed_over = true;
        }
    }

    /// Takes in an answer; true if it is the last one.
    pub(super) fn on_answer(&mut self, secondary: &RoutingId) -> bool {
        self.missing.remove(secondary);
        self.answered.insert(secondary.clone());
        self.missing.is_empty()
    }

    /// Takes in that a secondary is gone.
    pub(super) fn on_gone(&mut self, secondary: &RoutingId) {
        self.missing.remove(secondary);
        self.answered.remove(secondary);
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has something published, and these answer; returns at whose answers all were there.
    fn step(awaited: &mut Awaited, names: &[&str]) -> Vec<bool> {
        awaited.on_published();
        let answers = names.iter().map(|name| RoutingId::from(*name));
        answers.map(|name| awaited.on_answer(&name)).collect()
    }

    #[test]
    fn those_are_awaited_who_answered_the_step_before() {
        let mut awaited = Awaited::default();
        assert_eq!(step(&mut awaited, &["a", "b"]), [true, true]);
        assert_eq!(step(&mut awaited, &["a", "b"]), [false, true]);
        // Who is new is not waited for at first, and is from then on.
        assert_eq!(step(&mut awaited, &["b", "c", "a"]), [false, false, true]);
        assert_eq!(step(&mut awaited, &["a", "b", "c"]), [false, false, true]);
        awaited.on_gone(&RoutingId::from("c"));
        assert_eq!(step(&mut awaited, &["b", "a"]), [false, true]);
    }

    #[test]
    fn who_takes_no_part_any_more_is_waited_for_in_two_steps_at_most() {
        let mut awaited = Awaited::default();
        step(&mut awaited, &["a", "b"]);
        assert_eq!(step(&mut awaited, &["a"]), [false]);
        assert_eq!(step(&mut awaited, &["a"]), [false]);
        for _ in 0..3 {
            assert_eq!(step(&mut awaited, &["a"]), [true]);
        }
    }

    #[test]
    fn what_is_published_for_others_changes_nothing() {
        let mut awaited = Awaited::default();
        let [a, b] = ["a", "b"].map(RoutingId::from);
        step(&mut awaited, &["a", "b"]);
        awaited.on_published();
        assert!(!awaited.on_answer(&a));
        awaited.on_published();
        assert!(awaited.on_answer(&b));
        awaited.on_published(); // Between two steps.
        assert_eq!(step(&mut awaited, &["a", "b"]), [false, true]);
        assert_eq!(step(&mut awaited, &["a", "b"]), [false, true]);
    }
}
