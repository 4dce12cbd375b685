//! `<world>`: gravity, physics, models, joints between them, and the levels of its `gz::sim` plugin.

use super::{levels, model, world_joint};
use crate::frames::{FrameKind, Scope};
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Physics, World};

/// Gravity where a world does not say otherwise, world frame \[m/s^2\].
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.8];

/// Reads one `<world>`.
pub(super) fn read(element: &Element, report: &mut Report) -> World {
    let name = value::name(element, report).unwrap_or_default().to_owned();
    let scope = Scope::build(element, report);
    let mut world = World {
        name,
        physics: physics(element, report),
        gravity: value::numbers(element, "gravity", GRAVITY, report),
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
    (world.levels, world.performers) = levels::read(element, &world.models, report);
    world
}

/// Reads the profile marked as default, or else the first.
fn physics(world: &Element, report: &mut Report) -> Physics {
    let is_default = |physics: &&Element| {
        physics.attribute("default").and_then(value::parse_truth) == Some(true)
    };
    let profile = world
        .children_named("physics")
        .find(is_default)
        .or(world.child("physics"));
    let Some(element) = profile else {
        return Physics::default();
    };
    let [max_step_size_s] = value::positive(element, "max_step_size", [0.001], report);
    let real_time_factor = value::number_from_zero(element, "real_time_factor", 1.0, report);
    Physics {
        max_step_size_s,
        real_time_factor,
        ..Physics::default()
    }
}
