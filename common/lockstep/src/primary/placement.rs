//! Placement: which secondary hosts which cell, and cells that migrate.

pub(crate) mod host_map;
pub(crate) mod migration;
