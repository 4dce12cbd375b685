//! [`DataOutlet`]: which data of a secondary go to the primary when their way takes less than is
//! said.
//!
//! Acks are few and small, so that steps go on however much data wait behind. Data that are kept
//! for good wait for as long as they must: the primary then holds its steps. Those for observers
//! come too late after a while, and what is not sent leaves the way to those that do not. At the
//! end of a run, a secondary stays until the primary has what is kept.

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

/// Time without any progress after which the last data are given up, as a primary awaits them no
/// longer, and for which a link that closes tries to deliver the last of them.
const STANDSTILL_MAX: Duration = Duration::from_mins(1);

/// Sign that the last data of a secondary have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveredBy {
    /// The primary closes its end, as the run ends.
    Close,
    /// None by then: the run goes on, and the link tries for long when it closes.
    Linger,
}

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

    /// Delivers what waits and is kept for good, when a secondary is about to end: until `until`
    /// says so, nothing moves any more, or the primary closes its end, which has it all then or
    /// wants no more. `is_over` is asked whenever another thread wakes the link.
    ///
    /// # Errors
    /// Fails if the link does.
    pub(crate) fn deliver<L: Link>(
        link: &mut L,
        until: DeliveredBy,
        mut is_over: impl FnMut() -> bool,
    ) -> Result<(), LinkError> {
        let (mut least, mut since) = (usize::MAX, Instant::now());
        loop {
            let waiting = link.waiting_data().bytes;
            if waiting < least {
                (least, since) = (waiting, Instant::now());
            }
            // Queues of the system may still have some, which nobody sees leave.
            let is_handed_over = until == DeliveredBy::Linger && waiting == 0;
            if is_handed_over || since.elapsed() >= STANDSTILL_MAX {
                return link.set_data_linger(STANDSTILL_MAX);
            }
            match link.receive(Some(GLANCE))? {
                Some(Arrival::Disconnected) => break,
                Some(Arrival::Woken) if is_over() => break,
                _ => {}
            }
        }
        // There is nobody left to take the rest.
        link.set_data_linger(Duration::ZERO)
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
        linger: Duration,
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

        fn set_data_linger(&mut self, linger: Duration) -> Result<(), LinkError> {
            self.linger = linger;
            Ok(())
        }
    }

    /// Holds an answer while so much waits, and returns what is left, with what arrived.
    fn hold(waiting: usize, arrivals: &[Arrival]) -> (usize, Vec<Arrival>) {
        let arrivals = arrivals.iter().cloned().collect();
        let mut link = Narrow {
            waiting,
            arrivals,
            linger: Duration::ZERO,
        };
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

    /// Delivers the last data, and returns what is left.
    fn deliver(waiting: usize, until: DeliveredBy, arrivals: &[Arrival]) -> (usize, Duration) {
        let arrivals = arrivals.iter().cloned().collect();
        let mut link = Narrow {
            waiting,
            arrivals,
            linger: Duration::from_secs(2),
        };
        let delivered = DataOutlet::deliver(&mut link, until, || true);
        delivered.expect("the link is sound");
        (link.waiting, link.linger)
    }

    #[test]
    fn a_secondary_that_ends_stays_until_the_primary_has_what_is_kept() {
        let news = [
            Arrival::Connected,
            Arrival::Connected,
            Arrival::Disconnected,
        ];
        let left = (200 << 20) - (192 << 20);
        let close = DeliveredBy::Close;
        assert_eq!(deliver(200 << 20, close, &news), (left, Duration::ZERO));
        assert_eq!(deliver(1, close, &news), (0, Duration::ZERO));
        let woken = [Arrival::Woken, Arrival::Connected];
        let left = usize::MAX - (64 << 20);
        assert_eq!(deliver(usize::MAX, close, &woken), (left, Duration::ZERO));
        let drained = DeliveredBy::Linger;
        assert_eq!(deliver(200 << 20, drained, &[]), (0, STANDSTILL_MAX));
        let gone = [Arrival::Disconnected];
        assert_eq!(deliver(usize::MAX, drained, &gone), (left, Duration::ZERO));
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
