//! Nobody runs ahead: iteration n + 1 begins when every secondary has acknowledged n.

use std::collections::BTreeMap;

use protocol::secondary_to_primary::StepAck;
use protocol::{Iteration, PeerName};

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

    /// Forgets a secondary that is gone.
    pub fn forget(&mut self, name: &PeerName) {
        self.last.remove(name);
    }
}
