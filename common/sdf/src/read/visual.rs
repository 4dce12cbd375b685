//! `<visual>`: shape and look for viewers; no file that it names is opened.

use super::{look, material, part, plugin, shape};
use crate::frames::{Frame, Scope};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::world::{Geometry, GroundBlend, GroundTexture, Visual};

/// Edge length of a ground texture where the file does not say it \[m\].
const GROUND_TEXTURE_SIZE: f64 = 10.0;

/// Reads the visuals of the link at `owner`; poses are in its frame.
pub(super) fn read_all(owner: &Frame<'_>, scope: &Scope<'_>, report: &mut Report) -> Vec<Visual> {
    let mut visuals = Vec::new();
    for (name, element) in part::named(owner.element, "visual") {
        let pose = part::pose(element, owner, scope, report);
        visuals.push(read(element, name, pose, report));
    }
    visuals
}

/// Reads a visual, of which the name and the pose are known.
pub(super) fn read(element: &Element, name: &str, pose: Pose, report: &mut Report) -> Visual {
    let transparency = part::number(element, "transparency", 0.0, report);
    let shape = element.child("geometry");
    let geometry = shape.map_or(Geometry::Empty, |geometry| {
        shape::read_visual(geometry, report)
    });
    let mut visual = Visual {
        name: name.to_owned(),
        pose,
        ground: ground(&geometry, shape),
        geometry,
        material: element.child("material").map(material::read),
        transparency: transparency.clamp(0.0, 1.0),
        cast_shadows: look::truth(element, "cast_shadows", true),
        visibility_flags: visibility_flags(element),
        file: String::new(),
        plugins: plugin::read_all(element),
    };
    if names_files(&visual) {
        visual.file = element.file.to_string();
    }
    visual
}

/// Tells whether a visual is of no use without files.
fn names_files(visual: &Visual) -> bool {
    let is_shape = matches!(visual.geometry, Geometry::Mesh(_) | Geometry::Heightmap(_));
    let material = visual.material.as_ref();
    is_shape || material.is_some_and(|material| material.pbr.is_some())
}

fn visibility_flags(visual: &Element) -> u32 {
    let text = part::text(visual, "visibility_flags").unwrap_or_default();
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let flags = digits.map_or_else(|| text.parse(), |digits| u32::from_str_radix(digits, 16));
    flags.unwrap_or(u32::MAX)
}

/// Reads the textures of a heightmap.
fn ground(geometry: &Geometry, shape: Option<&Element>) -> Vec<GroundTexture> {
    let heightmap = shape.and_then(|shape| shape.child("heightmap"));
    let (Geometry::Heightmap(_), Some(heightmap)) = (geometry, heightmap) else {
        return Vec::new();
    };
    let textures = heightmap.children_named("texture");
    // The first is that of the second texture.
    let mut blends = heightmap.children_named("blend");
    let blends = std::iter::once(None).chain(std::iter::from_fn(|| Some(blends.next())));
    let texture = |(texture, blend): (&Element, Option<&Element>)| GroundTexture {
        size: look::number(texture, "size")
            .filter(|size| *size > 0.0)
            .unwrap_or(GROUND_TEXTURE_SIZE),
        diffuse: look::uri(texture, "diffuse"),
        normal: look::uri(texture, "normal"),
        blend: blend.map(|blend| GroundBlend {
            min_height: look::number(blend, "min_height").unwrap_or(0.0),
            fade_distance: look::size(blend, "fade_dist", 0.0),
        }),
    };
    textures.zip(blends).map(texture).collect()
}
