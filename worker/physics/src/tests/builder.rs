//! Small worlds, built without a file, and cells that hold all of one.

use std::sync::Arc;

use protocol::{PerformerId, PerformerState};
use sdf::{
    Axis, Collision, Content, Geometry, Inertial, Joint, JointKind, JointParent, Link, Model,
    Plugin, Pose, Surface, World,
};

use crate::{Cell, PerformerStates};

pub(super) const GRAVITY: f64 = 9.8;
pub(super) const STEP: f64 = 0.001;

pub(super) fn world(models: Vec<Model>) -> Arc<World> {
    Arc::new(World {
        name: "test".to_owned(),
        gravity: [0.0, 0.0, -GRAVITY],
        models,
        ..World::default()
    })
}

/// Returns a cell with all models of a world; performers' ids are their models' indices.
pub(super) fn cell(models: Vec<Model>) -> Cell {
    fill(&world(models))
}

pub(super) fn fill(world: &Arc<World>) -> Cell {
    let mut cell = Cell::new(Arc::clone(world));
    for (index, model) in world.models.iter().enumerate() {
        if model.is_static {
            cell.insert_static(index);
        } else {
            cell.insert_performer(PerformerId(index as u32), index);
        }
    }
    cell
}

pub(super) fn run(cell: &mut Cell, duration_s: f64) {
    for _ in 0..(duration_s / STEP).round() as usize {
        cell.step(STEP);
    }
}

pub(super) fn states(cell: &mut Cell) -> Vec<PerformerState> {
    let mut performer_states = PerformerStates::default();
    cell.read(STEP, true, &mut performer_states);
    performer_states.states().to_vec()
}

/// Returns the state of the performer made from a model.
pub(super) fn state(cell: &mut Cell, model: u32) -> PerformerState {
    let found = states(cell)
        .into_iter()
        .find(|state| state.performer == PerformerId(model));
    found.expect("the model is a performer in the cell")
}

pub(super) fn pose(position: [f64; 3], rpy: [f64; 3]) -> Pose {
    Pose::from_xyz_rpy(position, rpy)
}

pub(super) fn collision(geometry: Geometry, friction: f64) -> Collision {
    Collision {
        surface: Surface {
            friction,
            friction2: friction,
            ..Surface::default()
        },
        ..Collision::new("collision", Pose::IDENTITY, geometry)
    }
}

/// Returns a link of 1 kg with the inertia of its shape, or of a small ball without one.
pub(super) fn link(name: &str, pose: Pose, collision: Option<Collision>) -> Link {
    let inertia = collision
        .as_ref()
        .map_or([0.01; 3], |collision| moments(&collision.geometry));
    Link {
        inertial: Inertial {
            inertia: [inertia[0], 0.0, 0.0, inertia[1], 0.0, inertia[2]],
            ..Inertial::default()
        },
        collisions: collision.into_iter().collect(),
        ..Link::new(name, pose)
    }
}

/// Returns the moments about x, y and z of 1 kg of a shape.
fn moments(geometry: &Geometry) -> [f64; 3] {
    match *geometry {
        Geometry::Box { size: [x, y, z] } => {
            [y * y + z * z, x * x + z * z, x * x + y * y].map(|sum| sum / 12.0)
        }
        Geometry::Sphere { radius } => [0.4 * radius * radius; 3],
        Geometry::Cylinder { radius, length } | Geometry::Cone { radius, length } => {
            let across = (3.0 * radius * radius + length * length) / 12.0;
            [across, across, radius * radius / 2.0]
        }
        Geometry::Empty
        | Geometry::Ellipsoid { .. }
        | Geometry::Capsule { .. }
        | Geometry::Plane { .. }
        | Geometry::Polyline { .. }
        | Geometry::Mesh(_)
        | Geometry::Heightmap(_) => [0.01; 3],
    }
}

/// Returns a model that moves; its origin is that of its first link.
pub(super) fn model(name: &str, links: Vec<Link>, joints: Vec<Joint>) -> Model {
    Model::new(name, links, joints)
}

/// Returns a model of one link with one shape.
pub(super) fn body(name: &str, pose: Pose, collision: Collision) -> Model {
    model(name, vec![link("link", pose, Some(collision))], Vec::new())
}

pub(super) fn fixed(mut model: Model) -> Model {
    model.is_static = true;
    model
}

/// Returns level ground at height 0.
pub(super) fn ground(friction: f64) -> Model {
    let plane = Geometry::Plane {
        normal: [0.0, 0.0, 1.0],
        size: [1.0; 2],
    };
    fixed(body("ground", Pose::IDENTITY, collision(plane, friction)))
}

/// Returns a plane that falls towards +x, and the pose of something at a height above it.
pub(super) fn incline(angle: f64, friction: f64, height: f64) -> (Model, Pose) {
    let turn = pose([0.0; 3], [0.0, angle, 0.0]);
    let plane = Geometry::Plane {
        normal: [0.0, 0.0, 1.0],
        size: [1.0; 2],
    };
    let above = turn.then(&pose([0.0, 0.0, height], [0.0; 3]));
    (
        fixed(body("incline", turn, collision(plane, friction))),
        above,
    )
}

pub(super) fn axis(xyz: [f64; 3], lower: f64, upper: f64) -> Axis {
    Axis {
        xyz,
        lower,
        upper,
        ..Axis::default()
    }
}

pub(super) fn joint(kind: JointKind, parent: JointParent, child: usize, at: [f64; 3]) -> Joint {
    Joint::new("joint", kind, parent, child, pose(at, [0.0; 3]))
}

/// Adds a plugin to a model, so that systems may drive its joints.
pub(super) fn driven(mut model: Model) -> Model {
    model.plugins.push(Plugin {
        name: "gz::sim::systems::Physics".to_owned(),
        filename: String::new(),
        content: Content::default(),
    });
    model
}
