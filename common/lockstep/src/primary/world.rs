//! The world as the primary knows it: last states, and what changes with the next step.

pub(crate) mod latest;
pub(crate) mod reset;
pub(crate) mod step_builder;

use std::collections::BTreeSet;

use protocol::{Digest, LinkId, PerformerId};
use sdf::NoFiles;

use crate::library::Library;
use crate::partition::{Partition, Rules};
use crate::registry::EntityRegistry;
use crate::topology::Topology;
use latest::LatestStates;

/// The worlds as they are now.
#[derive(Debug)]
pub(crate) struct WorldState {
    pub(crate) topology: Topology,
    pub(crate) registry: EntityRegistry,
    pub(crate) library: Files,
    /// Links that commands hold together, parent first.
    pub(crate) attachments: BTreeSet<(LinkId, LinkId)>,
    /// All performers in order of their names.
    pub(crate) by_name: Vec<PerformerId>,
    pub(crate) latest: LatestStates,
    pub(crate) partition: Partition,
    /// True if no step has followed the one that built the cells of the start.
    pub(crate) is_fresh: bool,
    /// Digest of all performers after the last iteration.
    pub(crate) digest: Digest,
}

/// Where files are found that spawned models refer to.
pub(crate) struct Files(pub(crate) Box<dyn Library>);

impl std::fmt::Debug for Files {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Files")
    }
}

impl WorldState {
    /// Makes the state of worlds that begin.
    pub(crate) fn new(topology: Topology, registry: EntityRegistry, rules: Rules) -> Self {
        Self {
            library: Files(Box::new(NoFiles)),
            attachments: BTreeSet::new(),
            by_name: topology.performers_by_name(),
            latest: LatestStates::new(&topology),
            partition: Partition::new(&topology, rules),
            is_fresh: true,
            digest: Digest::default(),
            topology,
            registry,
        }
    }
}
