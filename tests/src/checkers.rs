//! Invariants of a run, asked after every iteration of a simulated cluster.

use std::collections::BTreeMap;

use lockstep::Primary;
use protocol::secondary_to_primary::StepAck;
use protocol::{CellId, Iteration, PeerName, PerformerId};

/// No secondary is ever more than one iteration ahead of another.
#[derive(Debug, Default)]
pub struct Barrier {
    last: BTreeMap<PeerName, Iteration>,
}

impl Barrier {
    /// Takes an ack as a secondary sends it.
    ///
    /// # Panics
    /// When the barrier did not hold.
    pub fn on_ack(&mut self, name: &PeerName, ack: &StepAck) {
        self.last.insert(name.clone(), ack.iteration);
        let least = self.last.values().min().expect("one was just inserted");
        let greatest = self.last.values().max().expect("one was just inserted");
        assert!(
            greatest.0 - least.0 <= 1,
            "secondaries are apart: {:?}",
            self.last
        );
    }
}

/// Every performer is in exactly one cell, and that cell is hosted.
///
/// # Panics
/// When a performer is in no cell, in two, or in one that nobody hosts.
pub fn conservation(primary: &Primary) {
    let mut seen = BTreeMap::new();
    for cell in (0..primary.plan().cells.len() as u32).map(CellId) {
        for performer in primary.owned(cell) {
            let other = seen.insert(*performer, cell);
            assert_eq!(other, None, "performer {performer} is in two cells");
            assert!(
                primary.host(cell).is_some(),
                "cell {cell} has performers and no host"
            );
        }
    }
    let all: Vec<PerformerId> = (0..primary.plan().performers.len() as u32)
        .map(PerformerId)
        .collect();
    assert!(
        seen.keys().eq(all.iter()),
        "a performer is in no cell: {seen:?}"
    );
}
