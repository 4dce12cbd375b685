//! `<light>`: what worlds show and physics does not touch.

use super::{look, part};
use crate::frames::{Frame, Scope};
use crate::report::Report;
use crate::tree::Element;
use crate::world::{Content, Light};

/// Reads the lights of a world or link; poses are in the frame of `owner`.
pub(super) fn read_all(
    parent: &Element,
    owner: &Frame<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Vec<Light> {
    let mut lights = Vec::new();
    for (name, light) in part::named(parent, "light") {
        let kind = light.filled_attribute("type").unwrap_or("point");
        let factors = light.child("attenuation");
        let factor = |name: &str, default: f64| {
            factors.map_or(default, |factors| look::size(factors, name, default))
        };
        let spot = light.child("spot");
        let of_spot = |name: &str| spot.map_or(0.0, |spot| look::size(spot, name, 0.0));
        lights.push(Light {
            name: name.to_owned(),
            kind: kind.to_owned(),
            pose: part::pose(light, owner, scope, report),
            diffuse: look::color(light, "diffuse").unwrap_or([1.0; 4]),
            specular: look::color(light, "specular").unwrap_or([0.1, 0.1, 0.1, 1.0]),
            intensity: look::size(light, "intensity", 1.0),
            direction: look::vector(light, "direction").unwrap_or([0.0, 0.0, -1.0]),
            range: factor("range", 10.0),
            attenuation: [
                factor("constant", 1.0),
                factor("linear", 1.0),
                factor("quadratic", 0.0),
            ],
            spot: ["inner_angle", "outer_angle", "falloff"].map(of_spot),
            cast_shadows: look::truth(light, "cast_shadows", false),
            is_on: look::truth(light, "light_on", true),
            content: Content::from(light),
        });
    }
    lights
}
