//! [`DataOutlet`]: which data of a secondary go to the primary when their way takes less than is
//! said.
//!
//! Acks are few and small, so that steps go on however much data wait behind. Data that are kept
//! for good wait for as long as they must: the primary then holds its steps. Those for observers
//! come too late after a while, and what is not sent leaves the way to those that do not.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use transport::{Arrival, Link, LinkError, WaitingData};

use crate::seldom::Seldom;

/// Time after which data for observers are not worth sending, as a primary awaits those of a step
/// for twice as long.
const AGE_MAX: Duration = Duration::from_secs(1);

/// Size of data for observers that may wait, that of what a primary keeps of them \[bytes\].
const BYTES_MAX: usize = crate::data::BYTES_MAX;

/// Size of data that are kept for good and may wait; while more do, so do answers, and with them
/// the run \[bytes\].
const KEPT_BYTES_MAX: usize = 256 << 20;

/// Time for which an answer waits so at most: less than a step may take.
const HOLD_MAX: Duration = Duration::from_secs(5);

/// Time between two looks at what waits.
const GLANCE: Duration = Duration::from_millis(5);

/// Judge of the data of a secondary, who tells of those that are lost.
#[derive(Debug, Default)]
pub(crate) struct DataOutlet {
    lost: Seldom,
    held: Seldom,
    /// Arrivals while an answer waited, in their order.
    arrived: VecDeque<Arrival>,
}

impl DataOutlet {
    /// Tells whether more data go out while so much waits; `are_kept` says that none may be lost.
    pub(crate) fn admits(&mut self, waiting: WaitingData, are_kept: bool) -> bool {
        let is_admitted = are_kept || waiting.age < AGE_MAX && waiting.bytes < BYTES_MAX;
        if !is_admitted {
            let (mebibytes, seconds) = (waiting.bytes >> 20, waiting.age.as_secs_f64());
            self.lost.warn(&format!(
                "observers lose messages: the way to the primary takes less than is said; \
                 {mebibytes} MiB wait, for {seconds:.1} s"
            ));
        }
        is_admitted
    }

    /// Waits, before a step is answered, while more data wait than may that are kept for good: the
    /// primary begins no step without the answer, so that memory does not grow with each.
    ///
    /// # Errors
    /// Fails if the link does.
    pub(crate) fn hold_answer<L: Link>(&mut self, link: &mut L) -> Result<(), LinkError> {
        let until = Instant::now() + HOLD_MAX;
        loop {
            let waiting = link.waiting_data();
            let left = until.saturating_duration_since(Instant::now());
            if waiting.bytes <= KEPT_BYTES_MAX || left.is_zero() {
                return Ok(());
            }
            self.held.warn(&format!(
                "the run waits: the way to the primary takes less than is said and kept for good; \
                 {} MiB wait, for {:.1} s",
                waiting.bytes >> 20,
                waiting.age.as_secs_f64()
            ));
            let Some(arrival) = link.receive(Some(left.min(GLANCE)))? else {
                continue;
            };
            let is_over = arrival == Arrival::Disconnected;
            // A step that is not answered comes again and again.
            if self.arrived.back() != Some(&arrival) {
                self.arrived.push_back(arrival);
            }
            if is_over {
                return Ok(());
            }
        }
    }

    /// Takes what came first while an answer waited.
    pub(crate) fn take_arrived(&mut self) -> Option<Arrival> {
        self.arrived.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use transport::{Destination, Waker};

    use super::*;

    /// A way that takes 64 MiB with each look, at which something arrives.
    struct Narrow {
        waiting: usize,
        arrivals: VecDeque<Arrival>,
    }

    struct Deaf;

    impl Waker for Deaf {
        fn wake(&self) {}
    }

    impl Link for Narrow {
        fn send(&mut self, _: Destination<'_>, _: &str, _: &[u8]) -> Result<(), LinkError> {
            Ok(())
        }

        fn receive(&mut self, _: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
            self.waiting = self.waiting.saturating_sub(64 << 20);
            Ok(self.arrivals.pop_front())
        }

        fn waker(&self) -> Arc<dyn Waker> {
            Arc::new(Deaf)
        }

        fn waiting_data(&self) -> WaitingData {
            WaitingData {
                bytes: self.waiting,
                age: Duration::ZERO,
            }
        }
    }

    /// Holds an answer while so much waits, and returns what is left, with what arrived.
    fn hold(waiting: usize, arrivals: &[Arrival]) -> (usize, Vec<Arrival>) {
        let arrivals = arrivals.iter().cloned().collect();
        let mut link = Narrow { waiting, arrivals };
        let mut outlet = DataOutlet::default();
        outlet.hold_answer(&mut link).expect("the link is sound");
        let arrived = std::iter::from_fn(|| outlet.take_arrived());
        (link.waiting, arrived.collect())
    }

    #[test]
    fn an_answer_waits_while_too_much_waits_that_is_kept_and_nothing_that_comes_is_lost() {
        let most = KEPT_BYTES_MAX;
        assert_eq!(hold(0, &[Arrival::Woken]), (0, Vec::new()), "there is room");
        assert_eq!(hold(most, &[Arrival::Woken]), (most, Vec::new()), "just so");
        let (left, arrived) = hold(most + (200 << 20), &[Arrival::Connected, Arrival::Woken]);
        assert!(left <= most && left > most - (64 << 20), "{left}");
        assert_eq!(arrived, [Arrival::Connected, Arrival::Woken]);
        let again = [Arrival::Woken, Arrival::Woken, Arrival::Connected];
        let (_, arrived) = hold(most * 2, &again);
        assert_eq!(arrived, [Arrival::Woken, Arrival::Connected], "each once");
    }

    #[test]
    fn nobody_waits_for_a_way_that_is_gone() {
        let waiting = usize::MAX;
        let (left, arrived) = hold(waiting, &[Arrival::Disconnected, Arrival::Woken]);
        assert_eq!(left, waiting - (64 << 20));
        assert_eq!(arrived, [Arrival::Disconnected]);
    }

    fn check(bytes: usize, age_ms: u64, expected: [bool; 2]) {
        let age = Duration::from_millis(age_ms);
        let waiting = WaitingData { bytes, age };
        let mut outlet = DataOutlet::default();
        let found = [false, true].map(|are_kept| outlet.admits(waiting, are_kept));
        assert_eq!(found, expected, "{waiting:?}");
    }

    #[test]
    fn observers_lose_what_would_come_late_and_those_who_keep_all_nothing() {
        check(0, 0, [true, true]);
        check(BYTES_MAX - 1, 999, [true, true]);
        check(1, 1_000, [false, true]);
        check(BYTES_MAX, 10, [false, true]);
        check(usize::MAX, u64::MAX, [false, true]);
    }
}
