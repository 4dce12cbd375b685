//! `[process.NAME]`: environment and CPUs of single processes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The process whose settings are those of all.
const DEFAULT: &str = "default";

/// Environment and CPUs of processes, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processes(pub BTreeMap<String, Process>);

/// Environment and CPUs of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Variables of its environment.
    #[serde(rename = "env", default)]
    pub environment: BTreeMap<String, String>,
    /// CPUs that it may run on; `None` is all that the launcher has.
    #[serde(default)]
    pub cpus: Option<Vec<u32>>,
}

impl Processes {
    /// Returns the settings of a process: its own, else those of `default`; variables of both, its
    /// own winning.
    pub fn of(&self, name: &str) -> Process {
        let mut given = self.0.get(DEFAULT).cloned().unwrap_or_default();
        if let Some(own) = self.0.get(name) {
            given.environment.extend(own.environment.clone());
            given.cpus = own.cpus.clone().or(given.cpus);
        }
        given
    }
}
