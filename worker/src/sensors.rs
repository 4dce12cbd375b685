//! Sensors: what `<sensor>` elements measure and publish, as systems of their models.
//!
//! One file per kind. They measure after physics, at their own rate of simulated time, what is in
//! the cell of their model, ghosts included.

use sdf::World;

use crate::systems::registry::Member;

/// Adds the sensors of a model to its systems, in the order of links, then of joints.
pub(crate) fn add_members(
    world: &World,
    has_siblings: bool,
    model: usize,
    members: &mut Vec<Member>,
    problems: &mut Vec<String>,
) {
    let _ = (world, has_siblings, model, members, problems);
}
