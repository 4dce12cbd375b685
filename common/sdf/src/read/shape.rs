//! `<collision>`: shape and surface.

use crate::frames::{Frame, Scope};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Collision, Geometry, Surface};

/// Collisions touch all others of this mask unless they say otherwise.
const COLLIDE_BITMASK: u16 = 0xFF;

/// Reads a collision of the link at `frame`; none where its shape is wrong or not supported.
pub(super) fn read(
    element: &Element,
    name: &str,
    frame: &Frame<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Option<Collision> {
    let pose = pose_in_link(element, frame, scope, report);
    let surface = surface(element, report);
    let Some(geometry) = element.child("geometry") else {
        let message = format!("the collision {name:?} needs a <geometry>");
        report.error("ELEMENT_MISSING", element, message);
        return None;
    };
    let geometry = read_geometry(geometry, report)?;
    Some(Collision {
        surface,
        ..Collision::new(name, pose, geometry)
    })
}

fn pose_in_link(
    element: &Element,
    frame: &Frame<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Pose {
    let (pose, relative_to) = value::pose(element, report);
    let Some(relative_to) = relative_to else {
        return pose;
    };
    if let Some(base) = scope.pose_of(relative_to) {
        return frame.pose.inverse().then(&base).then(&pose);
    }
    let message = format!("the model has no frame {relative_to:?}");
    report.error("POSE_RELATIVE_TO_INVALID", element, message);
    pose
}

fn read_geometry(geometry: &Element, report: &mut Report) -> Option<Geometry> {
    let shape = geometry.children().find(|child| !child.is_foreign())?;
    let radius_and_length = |report: &mut Report| {
        let [radius] = value::positive(shape, "radius", [0.5], report);
        let [length] = value::positive(shape, "length", [1.0], report);
        (radius, length)
    };
    Some(match shape.name.as_str() {
        "box" => Geometry::Box {
            size: value::positive(shape, "size", [1.0; 3], report),
        },
        "sphere" => Geometry::Sphere {
            radius: value::positive(shape, "radius", [1.0], report)[0],
        },
        "cylinder" => {
            let (radius, length) = radius_and_length(report);
            Geometry::Cylinder { radius, length }
        }
        "capsule" => {
            let (radius, length) = radius_and_length(report);
            Geometry::Capsule { radius, length }
        }
        "cone" => {
            let (radius, length) = radius_and_length(report);
            Geometry::Cone { radius, length }
        }
        "ellipsoid" => Geometry::Ellipsoid {
            radii: value::positive(shape, "radii", [1.0; 3], report),
        },
        "plane" => Geometry::Plane {
            normal: unit(shape, "normal", [0.0, 0.0, 1.0], report),
            size: value::positive(shape, "size", [1.0; 2], report),
        },
        // The survey of the vocabulary has named it already.
        _ => return None,
    })
}

/// Reads a direction, scaled to length one; a vector of zeros is an error.
pub(super) fn unit(
    parent: &Element,
    name: &str,
    default: [f64; 3],
    report: &mut Report,
) -> [f64; 3] {
    let vector = value::numbers(parent, name, default, report);
    let norm = vector.iter().map(|c| c * c).sum::<f64>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        return vector.map(|coordinate| coordinate / norm);
    }
    let element = parent.child(name).unwrap_or(parent);
    let message = format!("<{name}> is a direction and must have a length");
    report.error("ELEMENT_INVALID", element, message);
    default
}

fn surface(collision: &Element, report: &mut Report) -> Surface {
    let mut surface = Surface::default();
    let Some(element) = collision.child("surface") else {
        return surface;
    };
    if let Some(ode) = element.descendant(&["friction", "ode"]) {
        surface.friction = value::number_from_zero(ode, "mu", 1.0, report);
        warn_of_directed_friction(ode, surface.friction, report);
    }
    if let Some(bounce) = element.child("bounce") {
        surface.restitution =
            value::number_from_zero(bounce, "restitution_coefficient", 0.0, report);
    }
    if let Some(mask) = element.descendant(&["contact", "collide_bitmask"]) {
        surface.collide_bitmask = bitmask(mask, report);
    }
    surface
}

fn warn_of_directed_friction(ode: &Element, mu: f64, report: &mut Report) {
    for (name, neutral) in [("mu2", mu), ("slip1", 0.0), ("slip2", 0.0)] {
        let value = value::number(ode, name, neutral, report);
        if value != neutral {
            report.warn_once("UNSUPPORTED_ELEMENT", name, ode, || {
                format!("friction by direction (<{name}>) is not supported: <mu> holds for all")
            });
        }
    }
}

fn bitmask(element: &Element, report: &mut Report) -> u16 {
    let text = element.text();
    let parsed = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u16::from_str_radix(digits, 16),
        None if text.is_empty() => Ok(COLLIDE_BITMASK),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|_| {
        let message = format!("<collide_bitmask> is a number of 16 bits, and {text:?} is not");
        report.error("ELEMENT_INVALID", element, message);
        COLLIDE_BITMASK
    })
}
