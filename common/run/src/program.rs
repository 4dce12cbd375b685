//! `[[program]]`: programs beside the simulation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use protocol::PeerName;
use serde::{Deserialize, Serialize};

/// A program to be run beside a simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its name, that of its log.
    pub name: String,
    /// The program: a path, or a name that is looked up in `PATH`.
    pub command: PathBuf,
    /// Its arguments.
    #[serde(rename = "args")]
    pub arguments: Vec<String>,
    /// Variables of its environment besides those of the run.
    #[serde(rename = "env")]
    pub environment: BTreeMap<String, String>,
    /// Its working directory; `None` is that of the launcher.
    #[serde(rename = "working_directory")]
    pub folder: Option<PathBuf>,
    /// The world that it is for.
    pub world: Option<String>,
    /// The name under which it takes part in lockstep: the run waits for that before its first
    /// iteration.
    #[serde(default)]
    pub joins: Option<PeerName>,
    /// True if the run ends when it fails.
    #[serde(rename = "critical")]
    pub is_critical: bool,
}

impl Program {
    /// Returns the program that a command names: a path is relative to a folder, a name is looked
    /// up in `PATH`.
    pub fn resolve_command(command: &str, folder: &Path) -> PathBuf {
        if !command.contains('/') {
            return command.into();
        }
        let path = folder.join(command);
        std::path::absolute(&path).unwrap_or(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_file_and_names_are_looked_up() {
        let resolve = |command: &str| Program::resolve_command(command, Path::new("/configs"));
        assert_eq!(resolve("./joy"), Path::new("/configs/joy"));
        assert_eq!(resolve("python3"), Path::new("python3"));
    }
}
