//! Settings of who may connect.

use std::path::PathBuf;

use crate::key_files::KEYS_VARIABLE;

/// Access to a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecurityConfig {
    /// The folder of the user's keys; `None` is the one of every user.
    pub keys: Option<PathBuf>,
    /// True if nothing is encrypted, and anybody may connect who reaches the primary.
    pub is_insecure: bool,
}

impl SecurityConfig {
    /// Returns the folder of the user's keys that is named by the environment or a file.
    pub fn keys_folder(&self) -> Option<PathBuf> {
        let variable = std::env::var_os(KEYS_VARIABLE).filter(|path| !path.is_empty());
        variable.map(PathBuf::from).or_else(|| self.keys.clone())
    }
}
