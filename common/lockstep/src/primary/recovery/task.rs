//! [`Task`]: the purpose of a job.

use protocol::primary_to_secondary::DataAgain;
use protocol::{CellId, PeerName};

/// Purpose of a job.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Replay the steps of a lost secondary.
    Replay {
        /// The number of the loss.
        loss: u64,
        lost: PeerName,
        /// Ascending.
        cells: Vec<CellId>,
        speaks: bool,
        /// Topic data of the lost one that observers may lack.
        again: Option<DataAgain>,
    },
    /// Bring who joins up to date; with `holds` the next step waits for it.
    Introduce { holds: bool },
}
