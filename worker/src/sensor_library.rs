//! [`SensorLibrary`]: a library of files for runs in which sensors draw what they see.

use std::collections::BTreeSet;
use std::sync::Arc;

use lockstep::{Library, VisualUse};
use sdf::{ResolveError, ResolvedData, ResolvedFile, Resolver, UsedFile};

/// Finds files as another library does, and has the files of the visuals of whatever is spawned
/// read, too.
pub(crate) struct SensorLibrary(Arc<dyn Library>);

impl SensorLibrary {
    /// Makes a library of the files of another one.
    pub(crate) fn new(files: Box<dyn Library>) -> Self {
        Self(Arc::from(files))
    }
}

impl Library for SensorLibrary {
    fn another(&self) -> Arc<dyn Library> {
        Arc::new(Self(self.0.another()))
    }

    fn keep(&self, files: &BTreeSet<UsedFile>) {
        self.0.keep(files);
    }

    fn visual_use(&self) -> VisualUse {
        VisualUse::Sensors
    }
}

impl Resolver for SensorLibrary {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        self.0.read(uri, from_file)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        self.0.read_data(uri, from_file)
    }

    fn read_side(&self, name: &str, mesh_file: &str) -> Result<ResolvedData, ResolveError> {
        self.0.read_side(name, mesh_file)
    }
}
