//! The last pass over a world, once all frames are solved: the files that collisions name, and the
//! inertias that follow from collisions.

use std::collections::BTreeMap;

use super::files::{Asker, Files};
use super::{auto_inertia, inertial, part};
use crate::report::Report;
use crate::resolve::Resolver;
use crate::tree::Element;
use crate::world::{Geometry, Link, World};

/// Reads files and computes inertias; `parent` is the element that holds the models of the world.
pub(super) fn complete(
    parent: &Element,
    world: &mut World,
    resolver: &dyn Resolver,
    report: &mut Report,
) {
    let mut files = Files::new(resolver);
    let mut elements: BTreeMap<&str, &Element> = BTreeMap::new();
    for element in parent.children_named("model") {
        elements.insert(element.attribute("name").unwrap_or_default(), element);
    }
    for model in &mut world.models {
        let Some(element) = elements.get(model.name.as_str()) else {
            continue;
        };
        let mut wanting = BTreeMap::new();
        gather(element, "", &mut wanting);
        for link in &mut model.links {
            if let Some(element) = wanting.get(&link.name) {
                complete_link(element, &model.name, link, &mut files, report);
            }
        }
    }
    files.tell_missing(report);
    world.meshes = files.meshes;
    world.height_grids = files.height_grids;
}

/// Gathers the links of a model, and of those in it, that need this pass.
fn gather<'t>(model: &'t Element, prefix: &str, wanting: &mut BTreeMap<String, &'t Element>) {
    for child in model.children() {
        let name = || format!("{prefix}{}", child.attribute("name").unwrap_or_default());
        match child.name.as_str() {
            "link" if is_wanting(child) => {
                wanting.insert(name(), child);
            }
            "model" => gather(child, &format!("{}::", name()), wanting),
            _ => {}
        }
    }
}

fn is_wanting(link: &Element) -> bool {
    let names_files = |collision: &Element| {
        let shapes = collision.child("geometry").map(Element::children);
        shapes
            .into_iter()
            .flatten()
            .any(|shape| matches!(shape.name.as_str(), "mesh" | "heightmap" | "polyline"))
    };
    inertial::is_automatic(link) || link.children_named("collision").any(names_files)
}

fn complete_link(
    element: &Element,
    model: &str,
    link: &mut Link,
    files: &mut Files<'_>,
    report: &mut Report,
) {
    let geometries: BTreeMap<_, _> = part::named(element, "collision")
        .into_iter()
        .map(|(name, collision)| (name, collision.child("geometry")))
        .collect();
    for shape in &mut link.collisions {
        let Some(Some(geometry)) = geometries.get(shape.name.as_str()).copied() else {
            continue;
        };
        let name = format!("{model}::{}::{}", link.name, shape.name);
        let asker = |shape: &str| Asker {
            element: geometry.child(shape).unwrap_or(geometry),
            collision: &name,
        };
        match &mut shape.geometry {
            Geometry::Mesh(mesh) => files.attach_mesh(mesh, asker("mesh"), report),
            Geometry::Heightmap(map) => files.attach_heights(map, asker("heightmap"), report),
            Geometry::Polyline { outlines, height } => {
                files.check_outlines(outlines, *height, asker("polyline"), report);
            }
            Geometry::Empty
            | Geometry::Box { .. }
            | Geometry::Sphere { .. }
            | Geometry::Cylinder { .. }
            | Geometry::Capsule { .. }
            | Geometry::Ellipsoid { .. }
            | Geometry::Cone { .. }
            | Geometry::Plane { .. } => {}
        }
    }
    if inertial::is_automatic(element) && !link.is_static {
        auto_inertia::resolve(element, link, files, report);
    }
}

#[cfg(test)]
mod tests;
