//! [`Library`]: where the files are that spawned models name.

use std::collections::BTreeSet;
use std::sync::Arc;

use sdf::{ConfinedPaths, NoFiles, Resolver, UsedFile};

/// Finds the files that spawned models name.
pub trait Library: Resolver + Send + Sync {
    /// Returns one of the same files for a text of its own, which may be read while others are.
    fn another(&self) -> Arc<dyn Library>;

    /// Takes note that a text was read, and that what came of it rests on these files: on none
    /// when it was refused, whatever was looked at.
    fn keep(&self, files: &BTreeSet<UsedFile>) {
        let _ = files;
    }

    /// Tells whether sensors may see whatever is spawned, so that the files of its visuals are
    /// read. Those of what sees visuals itself are read in any case.
    fn is_for_sensors(&self) -> bool {
        false
    }
}

impl Library for NoFiles {
    fn another(&self) -> Arc<dyn Library> {
        Arc::new(NoFiles)
    }
}

impl Library for ConfinedPaths {
    fn another(&self) -> Arc<dyn Library> {
        Arc::new(self.clone())
    }
}
