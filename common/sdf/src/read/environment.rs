//! Environment of models: the physics profile in use, air, and the place on earth.

use super::part;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Atmosphere, Physics, SphericalCoordinates};

/// The most contacts between two collisions that a file may ask for.
const CONTACTS_MAX: f64 = 1e6;

/// Reads the profile marked as default, or else the first.
pub(super) fn physics(world: &Element, report: &mut Report) -> Physics {
    let default = Physics::default();
    let profile = world
        .children_named("physics")
        .find(|physics| is_default(physics))
        .or(world.child("physics"));
    let Some(element) = profile else {
        return default;
    };
    let contacts = f64::from(default.max_contacts);
    let contacts = part::number(element, "max_contacts", contacts, report);
    let mut pace = |name: &str, default: f64, may_be_zero: bool| {
        let value = part::number(element, name, default, report);
        if (value > 0.0 && value < f64::MAX) || (may_be_zero && value == 0.0) {
            return value;
        }
        let child = element.child(name).unwrap_or(element);
        report.warn_once("ELEMENT_INVALID", name, child, || {
            format!("<{name}> is {value}, which is no pace to simulate at: {default} is used")
        });
        default
    };
    Physics {
        name: element
            .filled_attribute("name")
            .unwrap_or(&default.name)
            .to_owned(),
        kind: element
            .filled_attribute("type")
            .unwrap_or(&default.kind)
            .to_owned(),
        max_step_size_s: pace("max_step_size", default.max_step_size_s, false),
        real_time_factor: pace("real_time_factor", default.real_time_factor, true),
        max_contacts: contacts.clamp(0.0, CONTACTS_MAX) as u32,
        solver: default.solver,
    }
}

fn is_default(physics: &Element) -> bool {
    physics.attribute("default").and_then(value::parse_truth) == Some(true)
}

/// Reads the air.
pub(super) fn atmosphere(world: &Element, report: &mut Report) -> Atmosphere {
    let default = Atmosphere::default();
    let Some(element) = world.child("atmosphere") else {
        return default;
    };
    let mut number = |name: &str, default: f64| value::number(element, name, default, report);
    Atmosphere {
        temperature: number("temperature", default.temperature),
        temperature_gradient: number("temperature_gradient", default.temperature_gradient),
        pressure: number("pressure", default.pressure),
    }
}

/// Reads where on earth the origin is.
pub(super) fn spherical_coordinates(
    world: &Element,
    report: &mut Report,
) -> Option<SphericalCoordinates> {
    let element = world.child("spherical_coordinates")?;
    let surface_model =
        part::text(element, "surface_model").unwrap_or_else(|| "EARTH_WGS84".to_owned());
    let mut number = |name: &str| value::number(element, name, 0.0, report);
    let (latitude, longitude) = (number("latitude_deg"), number("longitude_deg"));
    let (elevation, heading) = (number("elevation"), number("heading_deg"));
    let axes = [
        number("surface_axis_equatorial"),
        number("surface_axis_polar"),
    ];
    Some(SphericalCoordinates {
        axes: (surface_model == "CUSTOM_SURFACE").then_some(axes),
        surface_model,
        latitude: latitude.to_radians(),
        longitude: longitude.to_radians(),
        elevation,
        heading: heading.to_radians(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn world(content: &str) -> Element {
        parse(&format!("<world>{content}</world>"), "f").unwrap()
    }

    fn check_physics(content: &str, step: f64, warnings: usize) {
        let mut report = Report::default();
        let physics = physics(&world(content), &mut report);
        assert_eq!(physics.max_step_size_s, step, "{content}");
        assert_eq!(report.warnings.len(), warnings, "{content}");
    }

    #[test]
    fn the_profile_marked_as_default_holds_or_else_the_first() {
        let profile = |attributes: &str, step: &str| {
            format!("<physics {attributes}><max_step_size>{step}</max_step_size></physics>")
        };
        check_physics("", 0.001, 0);
        check_physics(&profile("name='a'", "0.1"), 0.1, 0);
        let two = profile("name='a'", "0.1") + &profile("name='b' default='1'", "0.2");
        check_physics(&two, 0.2, 0);
        let both = profile("default='1'", "0.1") + &profile("name='b' default='1'", "0.2");
        check_physics(&both, 0.1, 0);
    }

    #[test]
    fn steps_that_go_nowhere_are_replaced_with_a_warning() {
        let step = |text: &str| format!("<physics><max_step_size>{text}</max_step_size></physics>");
        check_physics(&step("0"), 0.001, 1);
        check_physics(&step("-1"), 0.001, 1);
    }

    #[test]
    fn places_on_earth_are_in_radians() {
        let content = "<spherical_coordinates><latitude_deg>-90</latitude_deg>\
                       <heading_deg>180</heading_deg></spherical_coordinates>";
        let mut report = Report::default();
        let place = spherical_coordinates(&world(content), &mut report).unwrap();
        assert_eq!(place.surface_model, "EARTH_WGS84");
        assert_eq!(place.latitude, -std::f64::consts::FRAC_PI_2);
        assert_eq!(place.heading, std::f64::consts::PI);
        assert_eq!(place.axes, None);
    }
}
