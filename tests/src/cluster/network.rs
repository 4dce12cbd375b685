//! The links of the simulated cluster: how long a message is under way, and what becomes of it.
//!
//! As with ZeroMQ, messages of one socket to another keep their order, and what cannot be sent now
//! waits. Only what is published to a process that is not subscribed yet is lost, and what is under
//! way when a connection breaks.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::SessionTime;

use super::random::Random;

/// Effects of the network on messages.
#[derive(Clone, Copy, Debug)]
pub struct NetworkFaults {
    /// The longest that a message is under way \[us\]; the least is 1.
    pub delay_us_max: u64,
    /// Number of published messages in 1,000 that a secondary misses.
    pub lost_permille: u64,
    /// Number of messages in 1,000 that arrive twice.
    pub doubled_permille: u64,
}

impl NetworkFaults {
    /// Messages overtake each other, and none is lost.
    pub const SHUFFLED: Self = Self {
        delay_us_max: 500,
        lost_permille: 0,
        doubled_permille: 0,
    };
    /// Messages overtake each other, are missed and doubled.
    pub const HOSTILE: Self = Self {
        delay_us_max: 500,
        lost_permille: 20,
        doubled_permille: 50,
    };
}

/// A socket of a process, and the direction: what keeps its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stream {
    /// Messages that the primary publishes.
    Step,
    /// Messages of the primary to one secondary.
    FromPrimary,
    /// Messages of a secondary.
    ToPrimary,
    /// Messages of its cells on topics.
    Data,
    /// Its heartbeats.
    Beats,
    /// Their echoes.
    Echoes,
    /// Messages of the primary to all observers.
    Status,
    /// State of the secondary's subscription.
    Presence,
}

impl Stream {
    /// Tells whether the primary is the receiver.
    pub(super) fn is_to_primary(self) -> bool {
        match self {
            Self::ToPrimary | Self::Data | Self::Beats | Self::Presence => true,
            Self::Step | Self::FromPrimary | Self::Echoes | Self::Status => false,
        }
    }
}

/// Directions of a link that are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// From the secondary to the primary.
    pub to_primary: bool,
    /// From the primary to the secondary.
    pub to_secondary: bool,
}

/// All links, each between the primary and one process.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) faults: NetworkFaults,
    /// For each stream of a process, when its last message arrives.
    arrivals: BTreeMap<(usize, Stream), SessionTime>,
    /// Directions that are cut of the link of a process, by the number of the fault that did it.
    cuts: BTreeMap<(usize, usize), Ways>,
}

impl Network {
    pub(super) fn new(faults: NetworkFaults) -> Self {
        Self {
            faults,
            arrivals: BTreeMap::new(),
            cuts: BTreeMap::new(),
        }
    }

    /// Cuts ways of a link, by a fault.
    pub(super) fn cut(&mut self, process: usize, fault: usize, ways: Ways) {
        self.cuts.insert((process, fault), ways);
    }

    /// Mends what a fault has cut of a link.
    pub(super) fn mend(&mut self, process: usize, fault: usize) {
        self.cuts.remove(&(process, fault));
    }

    /// Tells whether a message that would arrive now cannot.
    pub(super) fn is_cut(&self, process: usize, stream: Stream) -> bool {
        let cuts = self.cuts.range((process, 0)..=(process, usize::MAX));
        cuts.into_iter().any(|(_, ways)| {
            if stream.is_to_primary() {
                ways.to_primary
            } else {
                ways.to_secondary
            }
        })
    }

    /// Draws when a message arrives, after all earlier ones of its stream.
    pub(super) fn arrival(
        &mut self,
        process: usize,
        stream: Stream,
        sent_at: SessionTime,
        random: &mut Random,
    ) -> SessionTime {
        // What is only for observers has to wait for the rest.
        let slowness = if stream == Stream::Data { 20 } else { 1 };
        let delay = 1 + random.below(slowness * self.faults.delay_us_max.max(1));
        let last = self.arrivals.entry((process, stream)).or_default();
        *last = (*last).max(sent_at + Duration::from_micros(delay));
        *last
    }

    /// Draws how often a message arrives.
    pub(super) fn copies(&self, stream: Stream, random: &mut Random) -> u32 {
        if stream == Stream::Step && random.chance(self.faults.lost_permille) {
            return 0;
        }
        let is_doubled = stream != Stream::Presence && random.chance(self.faults.doubled_permille);
        1 + u32::from(is_doubled)
    }
}
