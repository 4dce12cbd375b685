//! `<visual>`: shape and colour for viewers; no file that it names is opened.

use super::{part, shape};
use crate::frames::{Frame, Scope};
use crate::report::Report;
use crate::tree::Element;
use crate::world::{Geometry, Visual};

/// Reads the visuals of the link at `owner`; poses are in its frame.
pub(super) fn read_all(owner: &Frame<'_>, scope: &Scope<'_>, report: &mut Report) -> Vec<Visual> {
    let mut visuals = Vec::new();
    for (name, visual) in part::named(owner.element, "visual") {
        let transparency = part::number(visual, "transparency", 0.0, report);
        visuals.push(Visual {
            name: name.to_owned(),
            pose: part::pose(visual, owner, scope, report),
            geometry: visual
                .child("geometry")
                .map_or(Geometry::Empty, |geometry| {
                    shape::read_visual(geometry, report)
                }),
            color: visual.child("material").and_then(color),
            transparency: transparency.clamp(0.0, 1.0),
        });
    }
    visuals
}

/// Returns the diffuse colour red, green, blue, alpha, if the material names one.
fn color(material: &Element) -> Option<[f64; 4]> {
    let text = part::text(material, "diffuse")?;
    let mut color = [0.0, 0.0, 0.0, 1.0];
    for (value, word) in color.iter_mut().zip(text.split_whitespace()) {
        let number: f64 = word.parse().ok()?;
        *value = number.clamp(0.0, 1.0);
    }
    Some(color)
}
