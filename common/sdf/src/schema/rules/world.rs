//! `<world>`: physics profiles, lights and actors with names of their own, the atmosphere and
//! where on a planet the world lies.

use super::{free_name, text_is_one_of, unique_names};
use crate::report::Report;
use crate::tree::Element;

/// Reports what is wrong with a world.
pub(super) fn check(world: &Element, report: &mut Report) {
    free_name(world, report);
    unique_names(world, "physics", "default_physics", report);
    unique_names(world, "actor", "", report);
    unique_names(world, "light", "", report);
    for child in world.children() {
        match child.name.as_str() {
            "model" => super::model(child, report),
            "joint" => super::joint(child, report),
            "light" => super::light(child, report),
            "actor" => super::actor(child, report),
            "physics" => free_name(child, report),
            _ => {}
        }
    }
    if let Some(atmosphere) = world.child("atmosphere") {
        let kind = atmosphere.filled_attribute("type");
        if let Some(kind) = kind.filter(|kind| *kind != "adiabatic") {
            let message = format!("{kind:?} is no type of <atmosphere>; there is adiabatic");
            report.error("ELEMENT_INVALID", atmosphere, message);
        }
    }
    if let Some(coordinates) = world.child("spherical_coordinates") {
        spherical_coordinates(coordinates, report);
    }
}

fn spherical_coordinates(element: &Element, report: &mut Report) {
    let models = ["EARTH_WGS84", "MOON_SCS", "CUSTOM_SURFACE"];
    text_is_one_of(element, "surface_model", &models, report);
    text_is_one_of(element, "world_frame_orientation", &["ENU"], report);
    let model = element.child("surface_model").map(Element::text);
    if model.as_deref() == Some("CUSTOM_SURFACE") {
        for name in ["surface_axis_equatorial", "surface_axis_polar"] {
            if element.child(name).is_none() {
                let message = format!("a custom surface needs a <{name}>");
                report.error("ELEMENT_MISSING", element, message);
            }
        }
    }
}
