//! `<collision>`: shape, place and surface.

use super::{part, shape, surface};
use crate::frames::{Frame, Scope};
use crate::report::Report;
use crate::world::{Collision, Geometry};

/// Reads the collisions of the link at `owner`; poses are in its frame. Files are read later, by
/// [`super::complete`].
pub(super) fn read_all(
    owner: &Frame<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Vec<Collision> {
    let mut collisions = Vec::new();
    for (name, collision) in part::named(owner.element, "collision") {
        collisions.push(Collision {
            name: name.to_owned(),
            pose: part::pose(collision, owner, scope, report),
            geometry: collision
                .child("geometry")
                .map_or(Geometry::Empty, |geometry| shape::read(geometry, report)),
            surface: surface::read(collision, report),
            laser_retro: part::number(collision, "laser_retro", 0.0, report),
            custom: part::custom(collision, &[]),
        });
    }
    collisions
}
