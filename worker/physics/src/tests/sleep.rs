//! Bodies at rest fall asleep, slow ones do not, and losing the ground wakes.

use sdf::{Geometry, JointKind, JointParent, Pose};

use super::builder::*;

const BOX: Geometry = Geometry::Box {
    size: [0.2, 0.2, 0.2],
};

fn is_asleep(cell: &crate::Cell, performer: u32) -> bool {
    let performer = &cell.contents.performers[&protocol::PerformerId(performer)];
    performer
        .links
        .iter()
        .all(|link| cell.physics.bodies[*link].is_sleeping())
}

#[test]
fn a_stack_at_rest_falls_asleep_and_removing_what_it_lies_on_wakes_it() {
    let table = Geometry::Box {
        size: [1.0, 1.0, 1.0],
    };
    let mut models = vec![fixed(body("table", Pose::IDENTITY, collision(table, 1.0)))];
    for level in 0..3 {
        let height = 0.6 + 0.2 * f64::from(level);
        models.push(body(
            "box",
            pose([0.0, 0.0, height], [0.0; 3]),
            collision(BOX, 1.0),
        ));
    }
    let mut cell = cell(models);
    run(&mut cell, 5.0);
    assert!(
        (1..4).all(|model| is_asleep(&cell, model)),
        "the stack does not come to rest"
    );
    let before = state(&mut cell, 3).position[2];
    cell.remove_static(0);
    run(&mut cell, 0.5);
    let fallen = before - state(&mut cell, 3).position[2];
    let expected = 0.5 * GRAVITY * 0.25;
    assert!(
        (fallen / expected - 1.0).abs() < 0.01,
        "fell {fallen} m, not {expected} m"
    );
}

#[test]
fn removing_a_static_model_wakes_even_what_did_not_touch_it() {
    let far = pose([5.0, 0.0, 3.0], [0.0; 3]);
    let mut cell = cell(vec![
        ground(1.0),
        body("box", pose([0.0, 0.0, 0.1], [0.0; 3]), collision(BOX, 1.0)),
        fixed(body("shelf", far, collision(BOX, 1.0))),
    ]);
    run(&mut cell, 2.0);
    assert!(is_asleep(&cell, 1));
    cell.remove_static(2);
    cell.step(STEP);
    assert!(!is_asleep(&cell, 1));
}

#[test]
fn a_removed_static_can_come_back() {
    let table = Geometry::Box {
        size: [1.0, 1.0, 1.0],
    };
    let mut cell = cell(vec![
        fixed(body("table", Pose::IDENTITY, collision(table, 1.0))),
        body("box", pose([0.0, 0.0, 1.6], [0.0; 3]), collision(BOX, 1.0)),
    ]);
    cell.remove_static(0);
    run(&mut cell, 0.1);
    cell.insert_static(0);
    run(&mut cell, 2.0);
    let height = state(&mut cell, 1).position[2];
    assert!((height - 0.6).abs() < 2e-3, "rests at {height}");
}

#[test]
fn a_pendulum_of_small_amplitude_does_not_fall_asleep() {
    let mut bob = link("bob", pose([0.0; 3], [0.0, 0.01, 0.0]), None);
    bob.inertial.pose.position = [0.0, 0.0, -1.0];
    let kind = JointKind::Continuous(axis([0.0, 1.0, 0.0], 0.0, 0.0));
    let joints = vec![joint(kind, JointParent::World, 0, [0.0; 3])];
    let mut cell = cell(vec![model("pendulum", vec![bob], joints)]);
    for _ in 0..10_000 {
        cell.step(STEP);
        assert!(!is_asleep(&cell, 0));
    }
}
