//! `<visual>`: shape and colour for viewers; no file that it names is opened.

use super::{material, part, shape};
use crate::frames::{Frame, Scope};
use crate::report::Report;
use crate::world::{Geometry, Visual};

/// Reads the visuals of the link at `owner`; poses are in its frame.
pub(super) fn read_all(owner: &Frame<'_>, scope: &Scope<'_>, report: &mut Report) -> Vec<Visual> {
    let mut visuals = Vec::new();
    for (name, visual) in part::named(owner.element, "visual", report) {
        let material = visual.child("material");
        if let Some(material) = material {
            material::check(material, report);
        }
        let transparency = part::number(visual, "transparency", 0.0, report);
        visuals.push(Visual {
            name: name.to_owned(),
            pose: part::pose(visual, owner, scope, report),
            geometry: visual
                .child("geometry")
                .map_or(Geometry::Empty, |geometry| shape::read(geometry, report)),
            color: material.and_then(material::color),
            transparency: transparency.clamp(0.0, 1.0),
        });
    }
    visuals
}
