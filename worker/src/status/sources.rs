//! [`Sources`]: the secondaries from which data is taken, by the addresses that they alone know.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use protocol::report::RefusedCounts;
use protocol::{PeerName, RoutingId};

use crate::seldom::Seldom;

/// Number of addresses that are known; the oldest are forgotten.
const SOURCES_MAX: usize = 4096;

/// Time between two tellings of what was turned away.
const TELLING_INTERVAL: Duration = Duration::from_secs(1);

/// The secondaries that were let in, also those that are lost: what they sent before may come late.
#[derive(Debug, Default)]
pub(super) struct Sources {
    names: BTreeMap<RoutingId, PeerName>,
    in_order: VecDeque<RoutingId>,
    /// Count of what was turned away since that was told.
    pub(super) refused: RefusedCounts,
    /// Lines of the log about it.
    pub(super) warnings: Seldom,
    told_at: Option<Instant>,
}

impl Sources {
    /// Takes data from an address in a name.
    pub(super) fn admit(&mut self, address: RoutingId, name: PeerName) {
        if self.names.insert(address.clone(), name).is_none() {
            self.in_order.push_back(address);
        }
        while self.in_order.len() > SOURCES_MAX
            && let Some(first) = self.in_order.pop_front()
        {
            self.names.remove(&first);
        }
    }

    /// Returns the name of who has an address.
    pub(super) fn name(&self, address: &RoutingId) -> Option<&PeerName> {
        self.names.get(address)
    }

    /// Returns what was turned away since the last time, if there is anything and it is time to
    /// tell; what comes late is only counted with the rest.
    pub(super) fn take_refused(
        &mut self,
        now: Instant,
        is_last: bool,
    ) -> Option<(RefusedCounts, String)> {
        let is_early = |at: Instant| now.saturating_duration_since(at) < TELLING_INTERVAL;
        let forged = self.refused.foreign + self.refused.malformed;
        if forged == 0 || (!is_last && self.told_at.is_some_and(is_early)) {
            return None;
        }
        self.told_at = Some(now);
        let details = "data of nobody who takes part, or that is no message".to_owned();
        Some((std::mem::take(&mut self.refused), details))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_addresses_takes_bounded_room() {
        let mut sources = Sources::default();
        let address = |number: usize| RoutingId(number.to_be_bytes().to_vec());
        for number in 0..=SOURCES_MAX {
            sources.admit(address(number), "s1".parse().unwrap());
        }
        assert_eq!(sources.names.len(), SOURCES_MAX);
        assert_eq!(sources.name(&address(0)), None);
        assert!(sources.name(&address(SOURCES_MAX)).is_some());
    }

    #[test]
    fn refused_observers_are_reported_once_per_second() {
        let (mut sources, now) = (Sources::default(), Instant::now());
        assert_eq!(sources.take_refused(now, true), None);
        sources.refused.foreign = 2;
        assert!(sources.take_refused(now, false).is_some());
        sources.refused.foreign = 3;
        assert_eq!(sources.take_refused(now, false), None);
        let (counts, _) = sources.take_refused(now, true).unwrap();
        assert_eq!(counts.foreign, 3);
    }
}
