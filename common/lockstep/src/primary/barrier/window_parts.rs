//! [`WindowParts`]: answers to the further steps of a window, which come while the primary goes
//! through the first.
//!
//! An example: two secondaries each do 79 steps of 1.6 ms after the one that was published, in
//! parts of 7.9 ms. The primary has the answers to five of them after 9.6 ms, and those to five
//! more every 8 ms; it goes through them in a fraction of that time while the next are done. Once
//! the last have come, only these four are left to go through before the next window is published.
//! 2,047 steps of 4 us come in sixteen parts, too.

use std::time::Duration;

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::StepsAhead;
use protocol::{Iteration, Sequence, SessionTime};

use crate::peer_numbers::{ByPeer, PeerNumber};
use crate::primary::barrier::state_reader::AckError;

/// Time for which a part is waited for; then the step is published instead.
const PART_TIMEOUT: Duration = Duration::from_millis(250);
/// Time that a part takes at most, unless there are many secondaries.
const PART_MAX: Duration = Duration::from_millis(8);
/// Time that a part takes at least for each secondary: the primary reads a message of each.
const PART_OF_EACH: Duration = Duration::from_micros(200);
/// Number of parts of a window that takes as long as expected, unless they would be too short or
/// too long.
const PARTS: u32 = 16;

/// Returns how long the parts are in which so many secondaries answer a window that should take
/// them so long.
pub(super) fn part_time(secondaries: usize, window: Duration) -> Duration {
    let count = u32::try_from(secondaries).unwrap_or(u32::MAX);
    let least = PART_OF_EACH.saturating_mul(count);
    (window / PARTS).min(PART_MAX).max(least)
}

/// Parts that are still to come.
#[derive(Debug, Default)]
pub(super) struct WindowParts {
    owed: ByPeer<Option<Owed>>,
    /// Time when an answer to steps of a window came last.
    heard_at: SessionTime,
}

/// The next step that somebody answers, and the number of steps that it may answer.
#[derive(Clone, Copy, Debug)]
struct Owed {
    sequence: Sequence,
    iteration: Iteration,
    left: u32,
}

impl WindowParts {
    /// Forgets what is to come.
    pub(super) fn clear(&mut self) {
        self.owed.clear();
    }

    /// Takes note that the first answer of somebody brought so many steps of a window, and whether
    /// more follow.
    pub(super) fn begin(
        &mut self,
        (number, step): (PeerNumber, &Step),
        (done, goes_on): (usize, bool),
        now: SessionTime,
    ) {
        let next = done as u64 + 1;
        self.heard_at = now;
        *self.owed.entry(number) = goes_on.then(|| Owed {
            sequence: Sequence(step.sequence.0 + next),
            iteration: Iteration(step.iteration.0 + next),
            left: step.ahead.saturating_sub(done as u32),
        });
    }

    /// Tells whether more steps of a window come from somebody.
    pub(super) fn owes(&self, number: PeerNumber) -> bool {
        self.owed.get(number).is_some_and(Option::is_some)
    }

    /// Takes note of a part; returns whether it was to come. One that comes twice is not, nor is
    /// one before which another was lost: then no more are to come.
    ///
    /// # Errors
    /// Fails when it is about steps that do not follow each other, or of no window.
    pub(super) fn take(
        &mut self,
        number: PeerNumber,
        part: &StepsAhead,
        now: SessionTime,
    ) -> Result<bool, AckError> {
        let entry = self.owed.entry(number);
        let Some(owed) = entry else {
            return Ok(false);
        };
        let first = part.acks.first().ok_or(AckError::StepsAhead)?;
        for (count, ack) in (0..).zip(&part.acks) {
            let follows = ack.sequence.0.checked_sub(first.sequence.0) == Some(count)
                && ack.iteration.0.checked_sub(first.iteration.0) == Some(count)
                && ack.ahead.is_empty()
                && !ack.goes_on;
            if !follows {
                return Err(AckError::StepsAhead);
            }
        }
        if first.sequence != owed.sequence {
            if first.sequence > owed.sequence {
                *entry = None;
            }
            return Ok(false);
        }
        if first.iteration != owed.iteration {
            return Err(AckError::StepsAhead);
        }
        let count = part.acks.len() as u32;
        owed.left = owed.left.checked_sub(count).ok_or(AckError::TooManySteps)?;
        owed.sequence.0 += u64::from(count);
        owed.iteration.0 += u64::from(count);
        if !part.goes_on {
            *entry = None;
        }
        self.heard_at = now;
        Ok(true)
    }

    /// Returns until when parts are waited for.
    pub(super) fn until(&self) -> SessionTime {
        self.heard_at + PART_TIMEOUT
    }

    /// Waits longer by a time in which the primary itself did nothing.
    pub(super) fn postpone(&mut self, by: Duration) {
        self.heard_at = self.heard_at + by;
    }
}

#[cfg(test)]
mod tests {
    use protocol::PeerName;
    use protocol::secondary_to_primary::StepAck;

    use super::*;
    use crate::peer_numbers::PeerNumbers;

    fn acks(sequences: std::ops::Range<u64>) -> Vec<StepAck> {
        let ack = |sequence: u64| StepAck {
            sequence: Sequence(sequence),
            iteration: Iteration(sequence - 1),
            ..StepAck::default()
        };
        sequences.map(ack).collect()
    }

    fn part(sequences: std::ops::Range<u64>, goes_on: bool) -> StepsAhead {
        StepsAhead {
            batch_number: 1,
            acks: acks(sequences),
            goes_on,
        }
    }

    /// Step 3 with a window of 6 steps, of which 2 came with the first answer.
    fn begun() -> (WindowParts, PeerNumber) {
        let name: PeerName = "s1".parse().unwrap();
        let number = PeerNumbers::default().number(&name);
        let step = Step {
            sequence: Sequence(3),
            iteration: Iteration(2),
            ahead: 6,
            ..Step::default()
        };
        let mut parts = WindowParts::default();
        parts.begin((number, &step), (2, true), SessionTime(0));
        (parts, number)
    }

    #[test]
    fn parts_follow_each_other_until_one_is_the_last() {
        let (mut parts, number) = begun();
        assert!(parts.owes(number));
        assert!(
            parts
                .take(number, &part(6..8, true), SessionTime(1))
                .unwrap()
        );
        assert!(parts.owes(number));
        assert!(
            parts
                .take(number, &part(8..10, false), SessionTime(2))
                .unwrap()
        );
        assert!(!parts.owes(number));
        let more = parts.take(number, &part(10..11, false), SessionTime(3));
        assert!(!more.unwrap(), "nothing more was to come");
    }

    #[test]
    fn a_part_of_other_steps_is_an_error() {
        let nested = StepsAhead {
            acks: vec![StepAck {
                ahead: acks(7..8),
                ..acks(6..7).remove(0)
            }],
            ..part(6..6, true)
        };
        let mut gap = part(6..8, true);
        gap.acks[1].sequence = Sequence(8);
        let mut late = part(6..8, true);
        for ack in &mut late.acks {
            ack.iteration.0 += 1;
        }
        let mut endless = part(6..8, true);
        endless.acks[0].sequence = Sequence(u64::MAX);
        for (wrong, error) in [
            (endless, AckError::StepsAhead),
            (part(6..6, true), AckError::StepsAhead),
            (gap, AckError::StepsAhead),
            (late, AckError::StepsAhead),
            (nested, AckError::StepsAhead),
            (part(6..11, true), AckError::TooManySteps),
        ] {
            let (mut parts, number) = begun();
            let found = parts.take(number, &wrong, SessionTime(1)).unwrap_err();
            assert_eq!(found.to_string(), error.to_string());
        }
    }

    #[test]
    fn a_part_that_comes_twice_is_left_out_and_after_one_that_was_lost_no_more_come() {
        let (mut parts, number) = begun();
        assert!(
            parts
                .take(number, &part(6..7, true), SessionTime(1))
                .unwrap()
        );
        assert!(
            !parts
                .take(number, &part(6..7, true), SessionTime(2))
                .unwrap()
        );
        assert!(parts.owes(number));
        assert!(
            !parts
                .take(number, &part(8..9, true), SessionTime(3))
                .unwrap()
        );
        assert!(!parts.owes(number), "step 7 does not come");
    }

    #[test]
    fn many_secondaries_answer_in_fewer_parts() {
        let times = [1, 20, 1_000].map(|count| part_time(count, Duration::from_millis(128)));
        assert_eq!(times, [8, 8, 200].map(Duration::from_millis));
        let times = [1, 4].map(|count| part_time(count, Duration::from_millis(8)));
        assert_eq!(times, [500, 800].map(Duration::from_micros), "a short one");
    }
}
