//! Motion of single bodies against closed forms.

use protocol::PerformerId;
use rapier3d_f64::math::Vector;
use sdf::Geometry;

use super::builder::*;

const BALL: Geometry = Geometry::Sphere { radius: 0.1 };
const BOX: Geometry = Geometry::Box {
    size: [0.2, 0.2, 0.2],
};

/// Returns the mean acceleration along the slope over 2 s from rest.
fn slide(geometry: Geometry, angle: f64, friction: f64) -> f64 {
    let (incline, above) = incline(angle, friction, 0.1);
    let start = above.position;
    let mut cell = cell(vec![
        incline,
        body("slider", above, collision(geometry, friction)),
    ]);
    run(&mut cell, 2.0);
    let end = state(&mut cell, 1).position;
    let along = (end[0] - start[0]) * angle.cos() - (end[2] - start[2]) * angle.sin();
    2.0 * along / 4.0
}

#[test]
fn free_fall_follows_the_closed_form() {
    let mut cell = cell(vec![body(
        "ball",
        pose([0.0; 3], [0.0; 3]),
        collision(BALL, 1.0),
    )]);
    run(&mut cell, 2.0);
    let state = state(&mut cell, 0);
    assert!(
        (state.linear_velocity[2] + GRAVITY * 2.0).abs() < 1e-9,
        "{state:?}"
    );
    let fallen = GRAVITY * 2.0;
    assert!(
        (state.position[2] / -fallen - 1.0).abs() < 1e-3,
        "{state:?}"
    );
    assert_eq!([state.position[0], state.position[1]], [0.0, 0.0]);
}

#[test]
fn speed_has_no_cap() {
    let mut cell = cell(vec![body(
        "ball",
        pose([0.0; 3], [0.0; 3]),
        collision(BALL, 1.0),
    )]);
    run(&mut cell, 100.0);
    let speed = -state(&mut cell, 0).linear_velocity[2];
    assert!(
        (speed / (GRAVITY * 100.0) - 1.0).abs() < 1e-9,
        "{speed} m/s"
    );
}

#[test]
fn turning_has_no_cap() {
    let speed = 2000.0;
    let mut cell = cell(vec![body(
        "ball",
        pose([0.0; 3], [0.0; 3]),
        collision(BALL, 1.0),
    )]);
    let link = cell.contents.performers[&PerformerId(0)].links[0];
    cell.physics.bodies[link].set_angvel(Vector::new(0.0, 0.0, speed), true);
    run(&mut cell, 0.1);
    let turning = state(&mut cell, 0).angular_velocity[2];
    assert!((turning / speed - 1.0).abs() < 1e-9, "{turning} rad/s");
}

#[test]
fn a_link_without_gravity_floats() {
    let mut floating = body("ball", pose([0.0; 3], [0.0; 3]), collision(BALL, 1.0));
    floating.links[0].gravity = false;
    let mut cell = cell(vec![floating]);
    run(&mut cell, 1.0);
    assert_eq!(state(&mut cell, 0).position, [0.0; 3]);
}

#[test]
fn a_kinematic_link_stays_where_it_is() {
    let mut lift = body("lift", pose([0.0, 0.0, 1.0], [0.0; 3]), collision(BOX, 1.0));
    lift.links[0].kinematic = true;
    let mut cell = cell(vec![lift]);
    run(&mut cell, 1.0);
    assert_eq!(state(&mut cell, 0).position, [0.0, 0.0, 1.0]);
}

#[test]
fn a_ball_rolls_with_five_sevenths_of_the_slope() {
    let angle = 0.2_f64;
    let expected = 5.0 / 7.0 * GRAVITY * angle.sin();
    let ratio = slide(BALL, angle, 1.0) / expected;
    assert!((ratio - 1.0).abs() < 0.005, "{ratio} of the closed form");
}

#[test]
fn a_cylinder_along_its_z_axis_rolls_with_two_thirds_of_the_slope() {
    let angle = 0.2_f64;
    let (incline, above) = incline(angle, 1.0, 0.1);
    let lying = above.then(&pose([0.0; 3], [std::f64::consts::FRAC_PI_2, 0.0, 0.0]));
    let geometry = Geometry::Cylinder {
        radius: 0.1,
        length: 0.4,
    };
    let mut cell = cell(vec![
        incline,
        body("cylinder", lying, collision(geometry, 1.0)),
    ]);
    run(&mut cell, 2.0);
    let along = state(&mut cell, 1).position[0] / angle.cos();
    let start = lying.position[0] / angle.cos();
    let ratio = (along - start) / 2.0 / (2.0 / 3.0 * GRAVITY * angle.sin());
    assert!((ratio - 1.0).abs() < 0.01, "{ratio} of the closed form");
}

#[test]
fn a_cylinder_at_rest_on_a_box_stays_at_rest() {
    let (floor, above) = incline(0.0, 1.0, 0.1);
    let lying = above.then(&pose([0.0; 3], [std::f64::consts::FRAC_PI_2, 0.0, 0.3]));
    let geometry = Geometry::Cylinder {
        radius: 0.1,
        length: 0.05,
    };
    let mut cell = cell(vec![
        floor,
        body("cylinder", lying, collision(geometry, 1.0)),
    ]);
    run(&mut cell, 3.0);
    let state = state(&mut cell, 1);
    let moved = (state.position[0] - lying.position[0]).hypot(state.position[1]);
    assert!(moved < 1e-3, "moved by {moved} m");
}

#[test]
fn a_box_with_enough_friction_stays() {
    let angle = 0.3_f64;
    assert!(slide(BOX, angle, angle.tan() * 1.1).abs() < 1e-3);
}

#[test]
fn a_box_without_friction_slides_as_fast_as_the_slope_lets_it() {
    let angle = 0.3_f64;
    let ratio = slide(BOX, angle, 0.0) / (GRAVITY * angle.sin());
    assert!((ratio - 1.0).abs() < 0.005, "{ratio} of the closed form");
}

#[test]
fn the_lesser_friction_of_two_counts() {
    let angle = 0.3_f64;
    let (incline, above) = incline(angle, 0.1, 0.1);
    let mut cell = cell(vec![incline, body("box", above, collision(BOX, 5.0))]);
    run(&mut cell, 2.0);
    let along = (state(&mut cell, 1).position[0] - above.position[0]) / angle.cos();
    let ratio = along / 2.0 / (GRAVITY * (angle.sin() - 0.1 * angle.cos()));
    assert!((ratio - 1.0).abs() < 0.01, "{ratio} of the closed form");
}

#[test]
fn a_ball_bounces_to_the_height_that_its_restitution_gives() {
    let restitution = 0.7_f64;
    let mut models = vec![
        ground(0.5),
        body(
            "ball",
            pose([0.0, 0.0, 1.1], [0.0; 3]),
            collision(BALL, 0.5),
        ),
    ];
    models[0].links[0].collisions[0].surface.restitution = 1.0;
    models[1].links[0].collisions[0].surface.restitution = restitution;
    let mut cell = cell(models);
    let (mut has_bounced, mut height) = (false, 0.0_f64);
    for _ in 0..900 {
        cell.step(STEP);
        let state = state(&mut cell, 1);
        has_bounced |= state.linear_velocity[2] > 0.0;
        if has_bounced {
            height = height.max(state.position[2] - 0.1);
        }
    }
    let ratio = height / restitution.powi(2);
    assert!((ratio - 1.0).abs() < 0.02, "bounced to {height} m");
}

#[test]
fn a_slow_ball_keeps_rolling_a_kilometre_from_the_origin() {
    let far = 1000.0;
    let slope = 1e-3_f64;
    let (mut incline, above) = incline(slope, 1.0, 0.1);
    incline.links[0].pose.position[0] += far;
    let mut start = above;
    start.position[0] += far;
    let mut cell = cell(vec![incline, body("ball", start, collision(BALL, 1.0))]);
    run(&mut cell, 4.0);
    let state = state(&mut cell, 1);
    let acceleration = 5.0 / 7.0 * GRAVITY * slope.sin();
    let ratio = (state.position[0] - start.position[0]) / (acceleration * 8.0);
    assert!(state.linear_velocity[0] > 0.02, "{state:?}");
    assert!((ratio - 1.0).abs() < 0.01, "{ratio} of the closed form");
}
