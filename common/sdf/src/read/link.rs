//! `<link>`: mass, flags, and what is attached to it.

use super::{collision, inertial, light, part, plugin, sensor, visual};
use crate::frames::{Frame, Scope};
use crate::pose::Pose;
use crate::report::Report;
use crate::value;
use crate::world::Link;

/// Elements that a link keeps as they are.
const KEPT: [&str; 3] = ["battery", "particle_emitter", "projector"];

/// Reads a link; `name` and `pose` are its name within the model and its pose in the world.
///
/// The model says whether the link is static, whether wind acts on it, and whether it collides with
/// others of its model when it does not say so itself.
pub(super) fn read(
    frame: &Frame<'_>,
    scope: &Scope<'_>,
    name: String,
    pose: Pose,
    report: &mut Report,
) -> Link {
    let element = frame.element;
    let decay = element.child("velocity_decay");
    let mut velocity_decay =
        |name: &str| decay.map_or(0.0, |decay| part::number(decay, name, 0.0, report).max(0.0));
    let velocity_decay = ["linear", "angular"].map(&mut velocity_decay);
    Link {
        name,
        inertial: inertial::read(element, report),
        gravity: value::truth(element, "gravity", true, report),
        enable_wind: value::truth(element, "enable_wind", false, report),
        kinematic: value::truth(element, "kinematic", false, report),
        self_collide: value::truth(element, "self_collide", false, report),
        velocity_decay,
        collisions: collision::read_all(frame, scope, report),
        visuals: visual::read_all(frame, scope, report),
        sensors: sensor::read_all(frame, scope, report),
        lights: light::read_all(element, frame, scope, report),
        plugins: plugin::read_all(element),
        custom: part::custom(element, &KEPT),
        place: element.place().into(),
        ..Link::new("", pose)
    }
}

#[cfg(test)]
mod tests;
