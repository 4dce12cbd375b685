//! Elements that are written of a robot, and those that are refused.

use super::*;
use crate::peers::drive::{Twist, motors};
use crate::peers::scene::read;

const TWIST: Twist = Twist {
    ahead: 0.3,
    turning: 1.0,
};

fn robot() -> World {
    let mut world = read("fleet.sdf", &sdf::generate_fleet(1, [1, 1]));
    for model in &mut world.models {
        for link in &mut model.links {
            link.sensors.clear();
        }
    }
    world
}

fn written(world: &World) -> String {
    let motors = motors(world, |_| TWIST).unwrap();
    write(world, &motors, 0.001).unwrap()
}

/// Expects a robot that was changed to be refused, with these words.
fn check_refused(change: impl FnOnce(&mut Model), words: &str) {
    let mut world = robot();
    let robot = world.models.iter_mut().find(|model| !model.is_static);
    change(robot.unwrap());
    let error = write(&world, &[], 0.001).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn a_robot_is_one_free_body_with_its_wheels_in_it() {
    let text = written(&robot());
    let count = |what: &str| text.matches(what).count();
    assert_eq!(count("<body "), 4, "{text}");
    assert_eq!(count("<freejoint/>"), 1, "{text}");
    assert_eq!(count("type=\"hinge\""), 2, "{text}");
    assert_eq!(count("type=\"ball\""), 1, "{text}");
    assert_eq!(count("<velocity "), 2, "{text}");
    assert_eq!(count("<exclude "), 6, "{text}");
    assert_eq!(count("<body "), count("</body>"), "{text}");
}

#[test]
fn written_models_are_well_formed() {
    let text = written(&robot());
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut elements = 0;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            _ => elements += 1,
        }
    }
    assert!(elements > 30, "{elements}");
}

#[test]
fn a_wheel_turns_about_its_own_z_axis_through_its_middle() {
    let world = robot();
    let text = written(&world);
    let line = text.lines().find(|line| line.contains("hinge")).unwrap();
    let attribute = |name: &str| -> Vec<f64> {
        let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap();
        let (numbers, _) = rest.split_once('"').unwrap();
        let numbers = numbers.split(' ').map(|number| number.parse().unwrap());
        numbers.collect()
    };
    for (a, b) in attribute("axis").into_iter().zip([0.0, 0.0, 1.0]) {
        assert!((a - b).abs() < 1e-12, "{line}");
    }
    assert!(attribute("pos").iter().all(|c| c.abs() < 1e-12), "{line}");
    assert!(!line.contains("range"), "it has no limits: {line}");
}

#[test]
fn unsupported_parts_are_named() {
    check_refused(
        |robot| {
            let capsule = Geometry::Capsule {
                radius: 0.1,
                length: 0.1,
            };
            robot.links[0].collisions[0].geometry = capsule;
        },
        "robot_0001::chassis has a capsule",
    );
    check_refused(
        |robot| robot.joints[0].kind = JointKind::Prismatic(sdf::Axis::default()),
        "robot_0001::left_axle has the type prismatic",
    );
    check_refused(
        |robot| robot.links[1].collisions[0].surface.restitution = 0.5,
        "robot_0001::left_wheel has restitution",
    );
    check_refused(
        |robot| robot.links[1].collisions[0].surface.friction = 0.5,
        "two frictions",
    );
    check_refused(
        |robot| robot.links[2].velocity_decay = [0.1, 0.0],
        "robot_0001::right_wheel has a decay of velocity",
    );
}

#[test]
fn a_loop_of_joints_is_refused_and_not_followed() {
    check_refused(
        |robot| robot.joints[0].parent = JointParent::Link(robot.joints[0].child),
        "a place in a loop of joints",
    );
    check_refused(
        |robot| {
            let again = robot.joints[0].clone();
            robot.joints.push(again);
        },
        "more than one joint above it",
    );
}
