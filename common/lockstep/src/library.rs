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

    /// Tells what the files of visuals of whatever is spawned are read for. Those of what sees
    /// visuals itself are kept with it in any case.
    fn visual_use(&self) -> VisualUse {
        VisualUse::None
    }
}

/// Purpose for which the meshes and images that visuals name are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisualUse {
    /// None: they are not read.
    None,
    /// They are found in the recording of the run, and no part of the model.
    Recording,
    /// Sensors may see them, so that they travel with the model.
    Sensors,
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
