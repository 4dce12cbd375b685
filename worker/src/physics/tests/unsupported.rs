//! What physics cannot do is listed, and none of it brings a cell down.

use sdf::{Axis, Geometry, JointKind, JointParent, Pose};

use super::builder::*;
use crate::physics::LimitationKind::{
    DegenerateInertia, EllipsoidAsPolyhedron, JointFriction, NoMass, PlaneOnMovingLink,
    ShapeWithoutSize, WideJointLimits,
};
use crate::physics::unsupported;

fn odd_models() -> Vec<sdf::Model> {
    let plane = Geometry::Plane {
        normal: [0.0, 0.0, 1.0],
        size: [1.0; 2],
    };
    let ellipsoid = Geometry::Ellipsoid {
        radii: [0.1, 0.1, 0.2],
    };
    let flat = Geometry::Box {
        size: [0.1, 0.1, 0.0],
    };
    let ball = Geometry::Sphere { radius: 0.1 };
    let at = |x: f64| pose([x, 0.0, 1.0], [0.0; 3]);
    let mut weightless = body("weightless", at(4.0), collision(ball.clone(), 1.0));
    weightless.links[0].inertial.mass = 0.0;
    let mut point = body("point", at(5.0), collision(ball, 1.0));
    point.links[0].inertial.inertia = [0.0; 6];
    let wide = Axis {
        friction: 0.1,
        ..axis([0.0, 1.0, 0.0], -4.0, 4.0)
    };
    let joints = vec![joint(
        JointKind::Revolute(wide),
        JointParent::World,
        0,
        [6.0, 0.0, 1.0],
    )];
    vec![
        ground(1.0),
        body("plane", at(1.0), collision(plane, 1.0)),
        body("ellipsoid", at(2.0), collision(ellipsoid, 1.0)),
        body("flat", at(3.0), collision(flat, 1.0)),
        weightless,
        point,
        model("hinge", vec![link("link", at(6.0), None)], joints),
        model("empty", Vec::new(), Vec::new()),
    ]
}

#[test]
fn everything_ignored_or_approximated_is_listed_once() {
    let world = world(odd_models());
    let found: Vec<_> = unsupported(&world)
        .into_iter()
        .map(|limitation| (limitation.model, limitation.part, limitation.kind))
        .collect();
    let expected = [
        ("plane", "link::collision", PlaneOnMovingLink),
        ("ellipsoid", "link::collision", EllipsoidAsPolyhedron),
        ("flat", "link::collision", ShapeWithoutSize),
        ("weightless", "link", NoMass),
        ("point", "link", DegenerateInertia),
        ("hinge", "joint", JointFriction),
        ("hinge", "joint", WideJointLimits),
    ]
    .map(|(model, part, kind)| (model.to_owned(), part.to_owned(), kind));
    assert_eq!(found, expected);
}

#[test]
fn an_ordinary_world_has_nothing_to_list() {
    let unlimited = axis([0.0, 1.0, 0.0], -1e16, 1e16);
    let kind = JointKind::Revolute(unlimited);
    let joints = vec![joint(kind, JointParent::World, 0, [0.0; 3])];
    let hinge = model("hinge", vec![link("link", Pose::IDENTITY, None)], joints);
    assert_eq!(unsupported(&world(vec![ground(1.0), hinge])), Vec::new());
}

#[test]
fn odd_models_step_without_harm() {
    let mut cell = cell(odd_models());
    run(&mut cell, 2.0);
    for state in states(&mut cell) {
        assert!(state.is_finite(), "{state:?}");
    }
    assert_eq!(
        state(&mut cell, 4).position,
        [4.0, 0.0, 1.0],
        "without mass nothing falls"
    );
    assert!(
        (state(&mut cell, 5).position[2] - 0.1).abs() < 2e-3,
        "a point mass falls"
    );
    assert_eq!(
        state(&mut cell, 7).position,
        [0.0; 3],
        "a model without links has a pose"
    );
}

#[test]
fn a_static_model_as_performer_stays() {
    let table = Geometry::Box {
        size: [1.0, 1.0, 1.0],
    };
    let models = vec![fixed(body(
        "table",
        pose([0.0, 0.0, 2.0], [0.0; 3]),
        collision(table, 1.0),
    ))];
    let mut cell = crate::physics::Cell::new(world(models));
    cell.insert_performer(protocol::PerformerId(0), 0);
    run(&mut cell, 0.5);
    assert_eq!(state(&mut cell, 0).position, [0.0, 0.0, 2.0]);
}

#[test]
#[should_panic(expected = "inserted once")]
fn inserting_a_static_model_twice_is_refused() {
    let mut cell = cell(vec![ground(1.0)]);
    cell.insert_static(0);
}
