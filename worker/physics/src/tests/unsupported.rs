//! What physics cannot do is listed, and none of it brings a cell down.

use sdf::{Axis, Geometry, Joint, JointKind, JointParent, Mimic, Pose};

use super::builder::*;
use crate::LimitationKind::{
    ContactStiffness, DegenerateInertia, DirectedFriction, EllipsoidAsPolyhedron, FluidAddedMass,
    GearboxAxes, MimicWithoutLeader, NoMass, ParallelAxes, PlaneOnMovingLink, RestitutionThreshold,
    ShapeWithoutSize, TorsionalFriction, Wind,
};
use crate::unsupported;

const BALL: Geometry = Geometry::Sphere { radius: 0.1 };

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
    let at = |x: f64| pose([x, 0.0, 1.0], [0.0; 3]);
    let mut weightless = body("weightless", at(4.0), collision(BALL, 1.0));
    weightless.links[0].inertial.mass = 0.0;
    let mut point = body("point", at(5.0), collision(BALL, 1.0));
    point.links[0].inertial.inertia = [0.0; 6];
    let mut rough = body("rough", at(8.0), collision(BALL, 1.0));
    let surface = &mut rough.links[0].collisions[0].surface;
    surface.friction2 = 0.5;
    surface.surface_radius = 2.0;
    surface.restitution = 0.5;
    surface.restitution_threshold = 0.1;
    surface.stiffness = 1e5;
    let again = rough.links[0].collisions[0].clone();
    rough.links[0].collisions.push(again);
    let mut sail = body("sail", at(9.0), collision(BALL, 1.0));
    sail.enable_wind = true;
    sail.links[0].inertial.fluid_added_mass = Some([0.0; 21]);
    let mut hinge = model("hinge", vec![link("link", at(6.0), None)], odd_joints());
    hinge.links.push(link("other", at(6.0), None));
    vec![
        ground(1.0),
        body("plane", at(1.0), collision(plane, 1.0)),
        body("ellipsoid", at(2.0), collision(ellipsoid, 1.0)),
        body("flat", at(3.0), collision(flat, 1.0)),
        weightless,
        point,
        hinge,
        model("empty", Vec::new(), Vec::new()),
        rough,
        sail,
    ]
}

fn odd_joints() -> Vec<Joint> {
    let at = [6.0, 0.0, 1.0];
    let free = || axis([0.0, 1.0, 0.0], f64::NEG_INFINITY, f64::INFINITY);
    let mimic = Mimic {
        joint: "nobody".to_owned(),
        axis: 0,
        multiplier: 1.0,
        offset: 0.0,
        reference: 0.0,
    };
    let following = Axis {
        mimic: Some(mimic),
        ..free()
    };
    let limited = axis([0.0, 1.0, 0.0], -1.0, 1.0);
    let gearbox = JointKind::Gearbox {
        axes: [free(), limited],
        ratio: 2.0,
        reference_body: None,
    };
    vec![
        joint(
            JointKind::Universal([free(), free()]),
            JointParent::World,
            0,
            at,
        ),
        joint(gearbox, JointParent::Link(0), 1, at),
        joint(JointKind::Revolute(following), JointParent::World, 1, at),
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
        ("hinge", "joint", ParallelAxes),
        ("hinge", "joint", GearboxAxes),
        ("hinge", "joint", MimicWithoutLeader),
        ("rough", "link::collision", DirectedFriction),
        ("rough", "link::collision", TorsionalFriction),
        ("rough", "link::collision", RestitutionThreshold),
        ("rough", "link::collision", ContactStiffness),
        ("sail", "link", FluidAddedMass),
        ("sail", "link", Wind),
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

/// Numbers that no reader lets through, but that a world from the wire may hold.
#[test]
fn joints_full_of_what_is_no_number_step_without_harm() {
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300] {
        let wild = Axis {
            xyz: [odd, 0.0, 0.0],
            lower: odd,
            upper: odd,
            velocity: odd,
            limit_stiffness: odd,
            limit_dissipation: odd,
            damping: odd,
            friction: odd,
            spring_reference: odd,
            spring_stiffness: odd,
            ..Axis::default()
        };
        let kinds = [
            JointKind::Revolute(wild.clone()),
            JointKind::Prismatic(wild.clone()),
            JointKind::Universal([wild.clone(), axis([0.0, 1.0, 0.0], odd, odd)]),
            JointKind::Screw {
                axis: wild.clone(),
                thread_pitch: odd,
            },
            JointKind::Gearbox {
                axes: [wild.clone(), wild],
                ratio: odd,
                reference_body: Some(0),
            },
        ];
        for kind in kinds {
            let links = vec![
                link("a", Pose::IDENTITY, None),
                link("b", pose([0.0, 0.0, 1.0], [0.0; 3]), None),
            ];
            let joints = vec![joint(kind, JointParent::Link(0), 1, [0.0; 3])];
            let mut cell = cell(vec![model("odd", links, joints)]);
            run(&mut cell, 0.05);
            assert_eq!(states(&mut cell).len(), 1);
        }
    }
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
    let mut cell = crate::Cell::new(world(models));
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
