//! `<world>`: what surrounds models, the models, and joints between them.

use super::{actor, environment, light, model, part, plugin, surroundings, world_joint};
use crate::frames::{FrameKind, Scope};
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::World;

/// Gravity where a world does not say otherwise, world frame \[m/s^2\].
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.8];
/// The earth's magnetic field where a world does not say otherwise, world frame \[T\].
const MAGNETIC_FIELD: [f64; 3] = [5.5645e-6, 22.8758e-6, -42.3884e-6];

/// Reads one `<world>`.
pub(super) fn read(element: &Element, report: &mut Report) -> World {
    let name = value::name(element, report).unwrap_or_default().to_owned();
    let scope = Scope::build(element, report);
    let mut world = World {
        name,
        physics: environment::physics(element, report),
        gravity: value::numbers(element, "gravity", GRAVITY, report),
        magnetic_field: value::numbers(element, "magnetic_field", MAGNETIC_FIELD, report),
        wind: element.child("wind").map_or([0.0; 3], |wind| {
            value::numbers(wind, "linear_velocity", [0.0; 3], report)
        }),
        atmosphere: environment::atmosphere(element, report),
        spherical_coordinates: environment::spherical_coordinates(element, report),
        lights: light::read_all(element, &scope.frames[0], &scope, report),
        actors: actor::read_all(element, &scope.frames[0], &scope, report),
        plugins: plugin::read_all(element),
        custom: part::custom(element, &[]),
        surroundings: surroundings::read(element),
        models: Vec::with_capacity(scope.nested.len()),
        ..World::default()
    };
    for frame in &scope.frames {
        match frame.kind {
            FrameKind::Model(nested) => {
                let model = model::read(frame, &scope.nested[nested], report);
                world.models.push(model);
            }
            FrameKind::Free => {
                let named = model::named_frame(frame, frame.name.to_owned(), frame.pose);
                world.frames.push(named);
            }
            FrameKind::Scope | FrameKind::Link | FrameKind::Joint => {}
        }
    }
    world.joints = world_joint::read_all(&scope, &world.models, report);
    world
}
