//! `<link>`: mass, flags and collisions.

use std::collections::BTreeSet;

use super::shape;
use crate::frames::{Frame, Scope};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Inertial, Link};

/// Reads a link; `name` and `pose` are its name within the model and its pose in the world.
pub(super) fn read(
    frame: &Frame<'_>,
    scope: &Scope<'_>,
    name: String,
    pose: Pose,
    report: &mut Report,
) -> Link {
    let element = frame.element;
    let mut collisions = Vec::new();
    let mut names = BTreeSet::new();
    for collision in element.children_named("collision") {
        let Some(name) = value::name(collision, report) else {
            continue;
        };
        if !names.insert(name) {
            let message = format!("two collisions of the link are named {name:?}");
            report.error("DUPLICATE_NAME", collision, message);
        }
        collisions.extend(shape::read(collision, name, frame, scope, report));
    }
    Link {
        inertial: inertial(element, report),
        gravity: value::truth(element, "gravity", true, report),
        kinematic: value::truth(element, "kinematic", false, report),
        collisions,
        ..Link::new(&name, pose)
    }
}

fn inertial(link: &Element, report: &mut Report) -> Inertial {
    let default = Inertial::default();
    let Some(element) = link.child("inertial") else {
        return default;
    };
    let (pose, _) = value::pose(element, report);
    let mass = value::number(element, "mass", default.mass, report);
    let mut inertia = default.inertia;
    if let Some(tensor) = element.child("inertia") {
        let names = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"];
        for (value, name) in inertia.iter_mut().zip(names) {
            *value = value::number(tensor, name, *value, report);
        }
    }
    let inertial = Inertial {
        mass,
        pose,
        inertia,
        fluid_added_mass: None,
    };
    if let Err(what) = check(&inertial) {
        let name = link.attribute("name").unwrap_or_default();
        let message = format!("the link {name:?} has an invalid inertia: {what}");
        report.error("LINK_INERTIA_INVALID", element, message);
        return default;
    }
    inertial
}

/// Tells why no body can have this inertia: it must be positive definite, and each diagonal moment
/// at most the sum of the others (to rounding of the file's decimals).
fn check(inertial: &Inertial) -> Result<(), &'static str> {
    let [ixx, ixy, ixz, iyy, iyz, izz] = inertial.inertia;
    if inertial.mass <= 0.0 {
        return Err("the mass must be greater than zero");
    }
    let minor = ixx * iyy - ixy * ixy;
    let determinant = ixx * (iyy * izz - iyz * iyz) - ixy * (ixy * izz - iyz * ixz)
        + ixz * (ixy * iyz - iyy * ixz);
    if ixx <= 0.0 || minor <= 0.0 || determinant <= 0.0 {
        return Err("the tensor must be positive definite");
    }
    let slack = 1e-6 * (ixx + iyy + izz);
    if ixx + iyy + slack < izz || iyy + izz + slack < ixx || izz + ixx + slack < iyy {
        return Err("each moment must be at most the sum of the other two");
    }
    Ok(())
}
