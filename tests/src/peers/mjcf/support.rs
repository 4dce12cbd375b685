//! Parts of a world that every engine can be given; anything else is an error that names it.

use sdf::{Axis, Collision, Geometry, Link, Surface, World};

use super::super::Unsupported;

/// Tells whether a world has nothing but what is written.
///
/// Friction is the same everywhere, since engines combine that of two shapes in different ways.
///
/// # Errors
/// With the place of the first thing that is not.
pub(super) fn check(world: &World) -> Result<(), Unsupported> {
    if let Some(joint) = world.joints.first() {
        return Err(Unsupported::new(&joint.name, "links of two models"));
    }
    if let Some(actor) = world.actors.first() {
        return Err(Unsupported::new(&actor.name, "the looks of an actor"));
    }
    let mut friction = None;
    for model in &world.models {
        for link in &model.links {
            let place = format!("{}::{}", model.name, link.name);
            if !model.is_static
                && let Some(what) = strange_link(link)
            {
                return Err(Unsupported::new(place, what));
            }
            for collision in &link.collisions {
                if let Some(what) = strange_collision(collision, model.is_static) {
                    return Err(Unsupported::new(place, what));
                }
                let own = collision.surface.friction;
                if *friction.get_or_insert(own) != own {
                    return Err(Unsupported::new(place, "a friction of its own"));
                }
            }
        }
        for joint in &model.joints {
            if let Some(what) = joint.kind.axes().iter().find_map(strange_axis) {
                let place = format!("{}::{}", model.name, joint.name);
                return Err(Unsupported::new(place, what));
            }
        }
    }
    Ok(())
}

fn strange_link(link: &Link) -> Option<&'static str> {
    let inertial = &link.inertial;
    [
        (link.is_static, "a place that never moves"),
        (link.kinematic, "motion as it is told"),
        (!link.gravity, "no weight"),
        (link.self_collide, "contact with its own model"),
        (link.velocity_decay != [0.0; 2], "a decay of velocity"),
        (link.enable_wind, "wind"),
        (inertial.fluid_added_mass.is_some(), "an added mass"),
        (inertial.mass <= 0.0, "no mass"),
    ]
    .into_iter()
    .find_map(|(is_so, what)| is_so.then_some(what))
}

fn strange_collision(collision: &Collision, is_static: bool) -> Option<&'static str> {
    let surface = &collision.surface;
    let usual = Surface::default();
    let masks = |surface: &Surface| [surface.collide_bitmask, surface.category_bitmask];
    [
        (masks(surface) != masks(&usual), "a bitmask"),
        (
            surface.collide_without_contact,
            "collisions without contact",
        ),
        (surface.restitution != 0.0, "restitution"),
        (surface.friction2 != surface.friction, "two frictions"),
    ]
    .into_iter()
    .find_map(|(is_so, what)| is_so.then_some(what))
    .or_else(|| strange_geometry(&collision.geometry, is_static))
}

fn strange_geometry(geometry: &Geometry, is_static: bool) -> Option<&'static str> {
    match geometry {
        Geometry::Box { .. } | Geometry::Sphere { .. } | Geometry::Cylinder { .. } => None,
        Geometry::Plane { normal, .. } if is_static && *normal == [0.0, 0.0, 1.0] => None,
        Geometry::Plane { .. } => Some("a plane that moves or is not level in its own frame"),
        Geometry::Empty => Some("an empty shape"),
        Geometry::Capsule { .. } => Some("a capsule"),
        Geometry::Ellipsoid { .. } => Some("an ellipsoid"),
        Geometry::Cone { .. } => Some("a cone"),
        Geometry::Polyline { .. } => Some("a polyline"),
        Geometry::Mesh(_) => Some("a mesh"),
        Geometry::Heightmap(_) => Some("a heightmap"),
    }
}

fn strange_axis(axis: &Axis) -> Option<&'static str> {
    [
        (
            axis.lower.is_finite() != axis.upper.is_finite(),
            "a limit on one side",
        ),
        (axis.damping != 0.0, "damping"),
        (axis.friction != 0.0, "friction"),
        (axis.spring_stiffness != 0.0, "a spring"),
        (axis.mimic.is_some(), "an axis that follows another"),
        (axis.effort.is_finite(), "a greatest effort"),
        (axis.velocity.is_finite(), "a greatest speed"),
    ]
    .into_iter()
    .find_map(|(is_so, what)| is_so.then_some(what))
}
