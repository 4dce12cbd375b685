//! Which shapes touch, where, and which pass through each other.

use std::f64::consts::FRAC_PI_2;

use sdf::{Geometry, JointKind, JointParent, Pose};

use super::builder::*;

const BALL: Geometry = Geometry::Sphere { radius: 0.1 };
const BOX: Geometry = Geometry::Box {
    size: [0.2, 0.2, 0.2],
};

/// Returns the height at which a shape of 1 kg comes to rest on the ground.
fn rest_height(geometry: Geometry, rpy: [f64; 3]) -> f64 {
    let start = pose([0.0, 0.0, 0.6], rpy);
    let mut cell = cell(vec![
        ground(1.0),
        body("body", start, collision(geometry, 1.0)),
    ]);
    run(&mut cell, 2.0);
    state(&mut cell, 1).position[2]
}

fn assert_rests_at(geometry: &Geometry, rpy: [f64; 3], expected: f64) {
    let height = rest_height(geometry.clone(), rpy);
    assert!(
        (height - expected).abs() < 2e-3,
        "{geometry:?} rests at {height}, not {expected}"
    );
}

#[test]
fn every_shape_rests_at_its_height() {
    assert_rests_at(
        &Geometry::Box {
            size: [1.0, 1.0, 0.5],
        },
        [0.0; 3],
        0.25,
    );
    assert_rests_at(&Geometry::Sphere { radius: 0.2 }, [0.0; 3], 0.2);
    assert_rests_at(
        &Geometry::Cylinder {
            radius: 0.4,
            length: 0.5,
        },
        [0.0; 3],
        0.25,
    );
    assert_rests_at(
        &Geometry::Cylinder {
            radius: 0.4,
            length: 0.5,
        },
        [FRAC_PI_2, 0.0, 0.0],
        0.4,
    );
    assert_rests_at(
        &Geometry::Capsule {
            radius: 0.1,
            length: 0.5,
        },
        [FRAC_PI_2, 0.0, 0.0],
        0.1,
    );
    assert_rests_at(
        &Geometry::Ellipsoid {
            radii: [0.5, 0.5, 0.2],
        },
        [0.0; 3],
        0.2,
    );
    assert_rests_at(
        &Geometry::Cone {
            radius: 0.4,
            length: 0.4,
        },
        [0.0; 3],
        0.2,
    );
}

#[test]
fn a_stack_of_ten_cubes_stays_as_high_as_it_is() {
    let cube = Geometry::Box {
        size: [1.0, 1.0, 1.0],
    };
    let mut models = vec![ground(1.0)];
    models.extend((0..10).map(|level| {
        let at = pose([0.0, 0.0, 0.5 + f64::from(level)], [0.0; 3]);
        body("cube", at, collision(cube.clone(), 1.0))
    }));
    let mut cell = cell(models);
    run(&mut cell, 3.0);
    let sunk = 9.5 - state(&mut cell, 10).position[2];
    assert!(sunk.abs() < 1e-4, "sunk by {sunk} m");
}

/// A ball set 0.3 m beside the axis meets a cone only where its wide end is.
#[test]
fn a_cone_has_its_tip_up() {
    let cone = Geometry::Cone {
        radius: 0.5,
        length: 1.0,
    };
    let ball_at = |height: f64| {
        let cone = fixed(body("cone", Pose::IDENTITY, collision(cone.clone(), 0.0)));
        let mut ball = body(
            "ball",
            pose([0.3, 0.0, height], [0.0; 3]),
            collision(BALL, 0.0),
        );
        ball.links[0].gravity = false;
        let mut cell = cell(vec![cone, ball]);
        run(&mut cell, 0.1);
        let [x, _, z] = state(&mut cell, 1).position;
        (x - 0.3).hypot(z - height) > 1e-3
    };
    assert!(!ball_at(0.35), "nothing is there beside the tip");
    assert!(ball_at(-0.35), "the wide end is there");
}

#[test]
fn shapes_meet_when_their_masks_share_a_bit() {
    for (mask, meets) in [(0b01, true), (0b11, true), (0b10, false), (0, false)] {
        let mut floor = fixed(body("floor", Pose::IDENTITY, collision(BOX, 1.0)));
        floor.links[0].collisions[0].surface.collide_bitmask = 0b01;
        let mut faller = body("box", pose([0.0, 0.0, 0.3], [0.0; 3]), collision(BOX, 1.0));
        faller.links[0].collisions[0].surface.collide_bitmask = mask;
        let mut cell = cell(vec![floor, faller]);
        run(&mut cell, 1.0);
        let height = state(&mut cell, 1).position[2];
        assert_eq!(height > 0.0, meets, "mask {mask:#b} at {height} m");
    }
}

/// Returns how far two overlapping links, joined by a ball joint or not, push each other away.
fn overlapping(self_collide: bool, joined: bool) -> f64 {
    let left = link("left", pose([0.0; 3], [0.0; 3]), Some(collision(BOX, 1.0)));
    let right = link(
        "right",
        pose([0.19, 0.0, 0.0], [0.0; 3]),
        Some(collision(BOX, 1.0)),
    );
    let ball = JointKind::Ball;
    let joints = if joined {
        vec![joint(ball, JointParent::Link(0), 1, [5.0; 3])]
    } else {
        Vec::new()
    };
    let mut pair = model("pair", vec![left, right], joints);
    pair.self_collide = self_collide;
    for link in &mut pair.links {
        link.gravity = false;
    }
    let mut cell = cell(vec![pair]);
    run(&mut cell, 0.5);
    state(&mut cell, 0).position[0].abs()
}

#[test]
fn links_of_a_model_pass_through_each_other() {
    assert_eq!(overlapping(false, false), 0.0);
}

#[test]
fn links_of_a_model_that_collides_with_itself_push_each_other_away() {
    assert!(overlapping(true, false) > 1e-3);
}

#[test]
fn a_joints_two_links_never_push_each_other_away() {
    assert!(overlapping(true, true) < 1e-9);
    assert!(overlapping(false, true) < 1e-9);
}

#[test]
fn links_of_different_models_collide_though_neither_collides_with_itself() {
    let two = |name: &str, z: f64| {
        let far = link(
            "far",
            pose([5.0, 0.0, z], [0.0; 3]),
            Some(collision(BOX, 1.0)),
        );
        let near = link(
            "near",
            pose([0.0, 0.0, z], [0.0; 3]),
            Some(collision(BOX, 1.0)),
        );
        model(name, vec![near, far], Vec::new())
    };
    let mut lower = two("lower", 0.1);
    for link in &mut lower.links {
        link.kinematic = true;
    }
    let mut cell = cell(vec![lower, two("upper", 0.4)]);
    run(&mut cell, 1.0);
    let height = state(&mut cell, 1).position[2];
    assert!((height - 0.3).abs() < 5e-3, "upper model is at {height}");
}
