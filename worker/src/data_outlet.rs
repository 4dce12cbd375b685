//! [`DataOutlet`]: which data of a secondary go to the primary when their way takes less than is
//! said.
//!
//! Acks are few and small, so that steps go on however much data wait behind. Data that are kept
//! for good wait for as long as they must: the primary then holds its steps. Those for observers
//! come too late after a while, and what is not sent leaves the way to those that do not.

use std::time::Duration;

use transport::WaitingData;

use crate::seldom::Seldom;

/// Time after which data for observers are not worth sending, as a primary awaits those of a step
/// for twice as long.
const AGE_MAX: Duration = Duration::from_secs(1);

/// Size of data for observers that may wait, that of what a primary keeps of them \[bytes\].
const BYTES_MAX: usize = crate::data::BYTES_MAX;

/// Judge of the data of a secondary, who tells of those that are lost.
#[derive(Debug, Default)]
pub(crate) struct DataOutlet {
    lost: Seldom,
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
