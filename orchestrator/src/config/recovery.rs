//! [`RecoveryConfig`]: what happens when a process of a run is lost.

use serde::{Deserialize, Serialize};

use crate::cli::PeerLossPolicy;

/// Reactions to the loss of a process of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryConfig {
    /// Reaction to the loss of a secondary.
    pub on_peer_loss: PeerLossPolicy,
    /// Iterations from one checkpoint of all cells to the next; 0 makes none but those asked for.
    pub checkpoint_every: u64,
    /// Number of secondaries that may join beyond those that the run needs.
    pub stand_bys: u32,
    /// True if secondaries of this machine that are lost are started again.
    pub restarts: bool,
    /// Number of times per minute that one secondary may be started again.
    pub restarts_per_minute: u32,
}

impl Default for RecoveryConfig {
    fn default() -> Self {
        Self {
            on_peer_loss: PeerLossPolicy::Recover,
            checkpoint_every: lockstep::CHECKPOINT_EVERY,
            stand_bys: 16,
            restarts: true,
            restarts_per_minute: 5,
        }
    }
}
