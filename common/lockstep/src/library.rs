//! [`Library`]: where the files are that spawned models name.

use std::collections::BTreeSet;

use sdf::{ConfinedPaths, NoFiles, Resolver, UsedFile};

/// Finds the files that spawned models name.
pub trait Library: Resolver + Send {
    /// Takes note that a text was read, and that what came of it rests on these files: on none
    /// when it was refused, whatever was looked at.
    fn keep(&self, files: &BTreeSet<UsedFile>) {
        let _ = files;
    }
}

impl Library for NoFiles {}

impl Library for ConfinedPaths {}
