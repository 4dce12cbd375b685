//! [`WorkerRecord`]: a process of a run, as its run directory tells of it.

use protocol::Role;
use serde::{Deserialize, Serialize};

/// A process of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerRecord {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its process id.
    pub pid: u32,
}
