//! Links that stay, sleep, decay and pass through, and joints between models.

use protocol::PerformerId;
use rapier3d_f64::math::Vector;
use sdf::{
    Geometry, JointEnd, JointKind, JointParent, LinkReference, Model, NestedModel, World,
    WorldJoint,
};
use std::sync::Arc;

use super::builder::*;
use crate::{Cell, ModelRef};

const BOX: Geometry = Geometry::Box {
    size: [0.2, 0.2, 0.2],
};

fn body_of(cell: &Cell, performer: u32, link: usize) -> &rapier3d_f64::dynamics::RigidBody {
    let performer = &cell.contents.performers[&PerformerId(performer)];
    &cell.physics.bodies[performer.links[link]]
}

/// Velocity after a second is `exp(-rate)` of what it was, within the 0.1 % of first-order steps.
#[test]
fn velocities_decay_at_their_rates() {
    let mut floating = body("box", pose([0.0; 3], [0.0; 3]), collision(BOX, 1.0));
    floating.links[0].gravity = false;
    floating.links[0].velocity_decay = [0.5, 1.5];
    let mut cell = cell(vec![floating]);
    cell.step(STEP);
    let link = cell.contents.performers[&PerformerId(0)].links[0];
    cell.physics.bodies[link].set_linvel(Vector::X, true);
    cell.physics.bodies[link].set_angvel(Vector::Z, true);
    run(&mut cell, 1.0);
    let state = state(&mut cell, 0);
    let linear = state.linear_velocity[0] / (-0.5_f64).exp();
    let angular = state.angular_velocity[2] / (-1.5_f64).exp();
    assert!(
        (linear - 1.0).abs() < 1e-3 && (angular - 1.0).abs() < 2e-3,
        "{state:?}"
    );
}

#[test]
fn bodies_that_may_not_sleep_stay_awake() {
    let mut still = body("box", pose([0.0, 0.0, 0.1], [0.0; 3]), collision(BOX, 1.0));
    still.allow_auto_disable = false;
    let other = pose([1.0, 0.0, 0.1], [0.0; 3]);
    let mut cell = cell(vec![
        ground(1.0),
        still,
        body("box", other, collision(BOX, 1.0)),
    ]);
    run(&mut cell, 5.0);
    assert!(!body_of(&cell, 1, 0).is_sleeping());
    assert!(body_of(&cell, 2, 0).is_sleeping());
}

/// A plane on a static link of a model that moves is solid, and the link stays.
#[test]
fn a_static_link_of_a_moving_model_stays() {
    let plane = Geometry::Plane {
        normal: [0.0, 0.0, 1.0],
        size: [1.0; 2],
    };
    let mut base = link(
        "nested::base",
        pose([0.0; 3], [0.0; 3]),
        Some(collision(plane, 1.0)),
    );
    base.is_static = true;
    let free = link(
        "box",
        pose([0.0, 0.0, 0.5], [0.0; 3]),
        Some(collision(BOX, 1.0)),
    );
    let mut pair = model("pair", vec![free, base], Vec::new());
    pair.self_collide = true;
    let mut cell = cell(vec![pair]);
    run(&mut cell, 1.0);
    assert!((body_of(&cell, 0, 0).translation().z - 0.1).abs() < 2e-3);
    assert_eq!(body_of(&cell, 0, 1).translation(), Vector::ZERO);
}

#[test]
fn links_of_a_nested_model_that_collides_with_itself_push_each_other_away() {
    let apart = |self_collide| {
        let at = |x: f64| pose([x, 0.0, 0.0], [0.0; 3]);
        let mut links = vec![
            link("n::a", at(0.0), Some(collision(BOX, 1.0))),
            link("n::b", at(0.19), Some(collision(BOX, 1.0))),
        ];
        for link in &mut links {
            link.gravity = false;
        }
        let mut outer = model("outer", links, Vec::new());
        outer.nested.push(NestedModel {
            self_collide,
            ..nested("n")
        });
        let mut cell = cell(vec![outer]);
        run(&mut cell, 0.5);
        body_of(&cell, 0, 0).translation().x.abs()
    };
    assert!(apart(true) > 1e-3);
    assert_eq!(apart(false), 0.0);
}

/// Boxes in nested models: the upper rests on the lower, unless a joint holds it to something in
/// that.
#[test]
fn a_nested_model_rests_on_another() {
    let height = |is_joined: bool| {
        let at = |z: f64| pose([0.0, 0.0, z], [0.0; 3]);
        let mut base = link("lower::base", at(0.0), Some(collision(BOX, 1.0)));
        base.kinematic = true;
        let mut far = link("lower::far", at(5.0), None);
        far.kinematic = true;
        let links = vec![
            base,
            far,
            link("upper::box", at(0.3), Some(collision(BOX, 1.0))),
        ];
        let free = JointKind::Prismatic(sdf::Axis {
            xyz: [0.0, 0.0, 1.0],
            ..sdf::Axis::default()
        });
        let joints = if is_joined {
            vec![joint(free, JointParent::Link(1), 2, [0.0; 3])]
        } else {
            Vec::new()
        };
        let mut outer = model("outer", links, joints);
        outer.nested = ["lower", "upper"].map(nested).to_vec();
        let mut cell = cell(vec![outer]);
        run(&mut cell, 0.5);
        body_of(&cell, 0, 2).translation().z
    };
    assert!((height(false) - 0.2).abs() < 2e-3, "{}", height(false));
    assert!(height(true) < -0.5);
}

fn nested(name: &str) -> NestedModel {
    NestedModel {
        name: name.to_owned(),
        is_static: false,
        self_collide: false,
        pose: sdf::Pose::IDENTITY,
        canonical_link: Some(0),
        plugins: Vec::new(),
    }
}

#[test]
fn a_collision_without_contact_is_passed_through() {
    let mut ghost = fixed(body("ghost", pose([0.0; 3], [0.0; 3]), collision(BOX, 1.0)));
    ghost.links[0].collisions[0].surface.collide_without_contact = true;
    let falling = body("box", pose([0.0, 0.0, 0.5], [0.0; 3]), collision(BOX, 1.0));
    let mut cell = cell(vec![ghost, falling]);
    run(&mut cell, 0.5);
    assert!(state(&mut cell, 1).position[2] < -0.5);
}

/// Categories are who one is, masks whom one meets: one way is enough.
#[test]
fn a_category_is_met_by_those_whose_mask_has_it() {
    for (category, mask, meets) in [(0b10, 0b100, true), (0b1000, 0b100, false)] {
        let mut floor = fixed(body("floor", pose([0.0; 3], [0.0; 3]), collision(BOX, 1.0)));
        floor.links[0].collisions[0].surface.collide_bitmask = 0b10;
        floor.links[0].collisions[0].surface.category_bitmask = 0b1;
        let mut faller = body("box", pose([0.0, 0.0, 0.3], [0.0; 3]), collision(BOX, 1.0));
        faller.links[0].collisions[0].surface.collide_bitmask = mask;
        faller.links[0].collisions[0].surface.category_bitmask = category;
        let mut cell = cell(vec![floor, faller]);
        run(&mut cell, 1.0);
        let height = state(&mut cell, 1).position[2];
        assert_eq!(height > 0.0, meets, "category {category:#b} at {height} m");
    }
}

fn reference(model: usize) -> LinkReference {
    LinkReference { model, link: 0 }
}

fn world_joint(kind: JointKind, parent: JointEnd, child: usize, at: [f64; 3]) -> WorldJoint {
    WorldJoint {
        name: "joint".to_owned(),
        kind,
        parent,
        child: reference(child),
        pose: pose(at, [0.0; 3]),
    }
}

fn with_joints(models: Vec<Model>, joints: Vec<WorldJoint>) -> Arc<World> {
    Arc::new(World {
        joints,
        ..World::clone(&world(models))
    })
}

/// A box welded to another that is welded to a static model hangs in the air; a third, on a hinge
/// of the world, swings.
#[test]
fn joints_of_the_world_hold_models_together() {
    let at = |x: f64| pose([x, 0.0, 2.0], [0.0; 3]);
    let models = vec![
        fixed(body("wall", at(0.0), collision(BOX, 1.0))),
        body("near", at(0.2), collision(BOX, 1.0)),
        body("far", at(0.4), collision(BOX, 1.0)),
        body("swing", at(3.0), collision(BOX, 1.0)),
    ];
    let hinge = JointKind::Continuous(axis([0.0, 1.0, 0.0], 0.0, 0.0));
    let joints = vec![
        world_joint(
            JointKind::Fixed,
            JointEnd::Link(reference(2)),
            1,
            [0.3, 0.0, 2.0],
        ),
        world_joint(
            JointKind::Fixed,
            JointEnd::Link(reference(0)),
            1,
            [0.1, 0.0, 2.0],
        ),
        world_joint(hinge, JointEnd::World, 3, [2.0, 0.0, 2.0]),
    ];
    let mut cell = fill(&with_joints(models, joints));
    run(&mut cell, 1.0);
    for (model, x) in [(1, 0.2), (2, 0.4)] {
        let position = state(&mut cell, model).position;
        let off = (position[0] - x).hypot(position[2] - 2.0);
        assert!(off < 2e-3, "model {model} at {position:?}");
    }
    let [x, _, z] = state(&mut cell, 3).position;
    assert!(
        z < 1.9 && ((x - 2.0).hypot(z - 2.0) - 1.0).abs() < 1e-3,
        "{x} {z}"
    );
}

/// A joint between models comes with the second of them, whichever that is.
#[test]
fn a_joint_of_the_world_waits_for_both_ends() {
    let at = |x: f64| pose([x, 0.0, 2.0], [0.0; 3]);
    let mut kept = body("kept", at(0.0), collision(BOX, 1.0));
    kept.links[0].kinematic = true;
    let models = vec![kept, body("held", at(0.3), collision(BOX, 1.0))];
    let weld = world_joint(
        JointKind::Fixed,
        JointEnd::Link(reference(0)),
        1,
        [0.1, 0.0, 2.0],
    );
    let world = with_joints(models, vec![weld]);
    for order in [[0, 1], [1, 0]] {
        let mut cell = Cell::new(Arc::clone(&world));
        for model in order {
            assert_eq!(cell.physics.impulse_joints.len(), 0);
            cell.insert_performer(PerformerId(model as u32), model);
        }
        assert_eq!(cell.physics.impulse_joints.len(), 1);
        run(&mut cell, 0.5);
        assert!((state(&mut cell, 1).position[2] - 2.0).abs() < 1e-3);
    }
}

/// A screw between two models of 1 kg: they share what gravity does to one of them.
#[test]
fn a_screw_of_the_world_couples_two_models() {
    let mut base = body("base", pose([0.0; 3], [0.0; 3]), collision(BOX, 1.0));
    base.links[0].kinematic = true;
    let nut = model(
        "nut",
        vec![link("nut", pose([0.0; 3], [0.0; 3]), None)],
        Vec::new(),
    );
    let kind = JointKind::Screw {
        axis: axis([0.0, 0.0, 1.0], f64::NEG_INFINITY, f64::INFINITY),
        thread_pitch: 0.5,
    };
    let joint = world_joint(kind, JointEnd::Link(reference(0)), 1, [0.0; 3]);
    let mut cell = fill(&with_joints(vec![base, nut], vec![joint]));
    run(&mut cell, 1.0);
    let per_turn = std::f64::consts::TAU / 0.5;
    let expected = GRAVITY / (1.0 + 0.01 * per_turn * per_turn) / 2.0;
    let way = -state(&mut cell, 1).position[2];
    assert!(
        (way / expected - 1.0).abs() < 0.005,
        "{way}, not {expected}"
    );
}

/// Two driven wheels of 0.1 m, 0.5 m apart, and a ball without friction: at wheel speeds 4 and
/// 6 rad/s the robot drives 0.5 m/s in a circle of 1.25 m, within 3 %. The wheels are thin, since
/// wide ones scrub.
#[test]
fn a_robot_on_two_wheels_drives_the_circle_of_its_wheel_speeds() {
    let wheel = Geometry::Sphere { radius: 0.1 };
    let at = |x: f64, y: f64, z: f64| pose([x, y, z], [0.0; 3]);
    let mut chassis = link("chassis", at(0.0, 0.0, 0.1), None);
    chassis.inertial.inertia = [0.1, 0.0, 0.0, 0.1, 0.0, 0.1];
    let caster = collision(Geometry::Sphere { radius: 0.05 }, 0.0);
    let mut caster_link = link("caster", at(-0.2, 0.0, 0.05), Some(caster));
    caster_link.inertial.mass = 0.1;
    let links = vec![
        chassis,
        link(
            "left",
            at(0.0, 0.25, 0.1),
            Some(collision(wheel.clone(), 1.0)),
        ),
        link("right", at(0.0, -0.25, 0.1), Some(collision(wheel, 1.0))),
        caster_link,
    ];
    let spin = |child, y| {
        let kind = JointKind::Continuous(axis([0.0, 1.0, 0.0], 0.0, 0.0));
        joint(kind, JointParent::Link(0), child, [0.0, y, 0.1])
    };
    let weld = joint(JointKind::Fixed, JointParent::Link(0), 3, [-0.2, 0.0, 0.05]);
    let robot = model("robot", links, vec![spin(1, 0.25), spin(2, -0.25), weld]);
    let mut cell = cell(vec![ground(1.0), driven(robot)]);
    for _ in 0..2000 {
        for (joint, speed) in [(0, 4.0), (1, 6.0)] {
            cell.drive_joint(ModelRef::moving(PerformerId(1), 1), joint, 0, speed);
        }
        cell.step(STEP);
    }
    let state = state(&mut cell, 1);
    let speed = state.linear_velocity[0].hypot(state.linear_velocity[1]);
    let radius = speed / state.angular_velocity[2];
    assert!((speed / 0.5 - 1.0).abs() < 0.03, "{speed} m/s");
    assert!((radius / 1.25 - 1.0).abs() < 0.03, "{radius} m");
}
