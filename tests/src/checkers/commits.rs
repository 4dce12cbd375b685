//! Durability: an iteration that is complete stays so, with the digest that it had.

use std::collections::BTreeMap;

use protocol::primary_to_secondary::Step;
use protocol::{Digest, Iteration};

/// The iterations that are complete.
#[derive(Debug, Default)]
pub struct Commits {
    digests: Vec<Digest>,
    /// Digests of iterations since models were set back to the start after them, once or again: a
    /// resumed run may begin between.
    reset: BTreeMap<Iteration, Vec<Digest>>,
    is_reset: bool,
}

impl Commits {
    /// Takes a step as it is published. One that sets models back to the start leaves the last
    /// iteration with a digest of its own from then on.
    pub fn on_published(&mut self, step: &Step) {
        self.is_reset = step.reset;
    }

    /// Takes a step that is done; one in which time stood still repeats its iteration.
    ///
    /// # Panics
    /// Panics if an iteration is left out, or has another digest than before.
    pub fn on_done(&mut self, iteration: Iteration, digest: Digest) {
        let next = self.digests.len() as u64;
        assert!(
            iteration.0 <= next,
            "iteration {iteration} is done before {next}"
        );
        let Some(before) = self.digests.get(iteration.0 as usize) else {
            self.digests.push(digest);
            return;
        };
        let reset = self.reset.entry(iteration).or_default();
        if self.is_reset {
            reset.push(digest);
        }
        assert!(
            *before == digest || reset.contains(&digest),
            "iteration {iteration} was complete with digest {before} and now has {digest}"
        );
    }

    /// The run is taken up again after its last iteration that was written; those after it were not
    /// complete for anybody.
    ///
    /// # Panics
    /// Panics if one that was complete is not there.
    pub fn on_resumed(&mut self, iteration: Iteration) {
        let count = iteration.0 as usize + 1;
        assert!(
            count <= self.digests.len().max(1),
            "iteration {iteration} was never complete"
        );
        self.digests.truncate(count);
        self.reset.split_off(&iteration.next());
    }

    /// Returns the digests of all complete iterations, from 0 on.
    pub fn digests(&self) -> &[Digest] {
        &self.digests
    }

    /// Looks at where the run has ended.
    ///
    /// # Panics
    /// Panics if a complete iteration is lost.
    pub fn check_end(&self, iteration: Iteration) {
        let last = self.digests.len().saturating_sub(1);
        assert_eq!(
            last as u64, iteration.0,
            "the run ends with its last complete iteration"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commits() -> Commits {
        let mut commits = Commits::default();
        commits.on_done(Iteration(0), Digest(1));
        commits.on_done(Iteration(1), Digest(2));
        commits
    }

    #[test]
    fn an_iteration_may_be_done_again() {
        let mut commits = commits();
        commits.on_done(Iteration(1), Digest(2));
        commits.on_done(Iteration(2), Digest(3));
        commits.check_end(Iteration(2));
    }

    #[test]
    fn a_resumed_run_may_begin_after_a_reset() {
        let mut commits = commits();
        commits.on_published(&Step {
            reset: true,
            ..Step::default()
        });
        commits.on_done(Iteration(1), Digest(1));
        commits.on_published(&Step::default());
        commits.on_done(Iteration(2), Digest(3));
        commits.on_resumed(Iteration(2));
        commits.on_done(Iteration(1), Digest(1));
        commits.on_done(Iteration(2), Digest(3));
    }

    #[test]
    #[should_panic(expected = "was complete with digest")]
    fn an_iteration_that_changes_its_digest_is_seen() {
        commits().on_done(Iteration(1), Digest(3));
    }

    #[test]
    #[should_panic(expected = "is done before")]
    fn an_iteration_that_is_left_out_is_seen() {
        commits().on_done(Iteration(3), Digest(3));
    }

    #[test]
    #[should_panic(expected = "ends with its last complete iteration")]
    fn an_iteration_that_is_lost_is_seen() {
        commits().check_end(Iteration(0));
    }
}
