//! Compares the solver with closed forms and with what never changes: energy, momentum, rest. Each
//! scene is stepped as a cell would, with contacts that the test makes by itself.

use std::f64::consts::PI;

use dynamics::{
    Axis, AxisBounds, Body, Contact, Frame, Friction, JointKind, Link, Scene, Term, Tree,
};
use glam::{DMat3, DQuat, DVec3};

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

fn body(mass: f64, moments: DVec3, place: DVec3) -> Body {
    Body {
        frame: Frame::new(place, DQuat::IDENTITY),
        local_center: DVec3::ZERO,
        linear: DVec3::ZERO,
        angular: DVec3::ZERO,
        mass,
        inertia: DMat3::from_diagonal(moments),
        inverse_inertia: DMat3::from_diagonal(moments.recip()),
        force: GRAVITY * mass,
        torque: DVec3::ZERO,
        control_force: DVec3::ZERO,
        control_torque: DVec3::ZERO,
        is_isotropic: moments.x == moments.y && moments.y == moments.z,
    }
}

fn box_body(mass: f64, size: DVec3, place: DVec3) -> Body {
    let [x, y, z] = (size * size).to_array();
    let moments = DVec3::new(y + z, x + z, x + y) * (mass / 12.0);
    body(mass, moments, place)
}

/// A frame whose x axis is the y axis of the outside.
fn along_y(position: DVec3) -> Frame {
    Frame::new(position, DQuat::from_rotation_z(0.5 * PI))
}

/// A rod of 1 m that hangs on a hinge about y, level at first.
fn pendulum(link: usize, parent: Option<usize>, hinge_in_parent: DVec3) -> Link {
    Link {
        parent,
        kind: JointKind::Revolute,
        body: Some(link),
        joint_in_parent: along_y(hinge_in_parent),
        link_in_joint: along_y(DVec3::new(-0.5, 0.0, 0.0)).inverse(),
    }
}

fn rod(place: DVec3) -> Body {
    body(1.0, DVec3::new(1e-4, 1.0 / 12.0, 1.0 / 12.0), place)
}

fn energy(scene: &Scene) -> f64 {
    let of = |body: &Body| {
        let axes = DMat3::from_quat(body.frame.rotation);
        let inertia = axes * body.inertia * axes.transpose();
        let kinetic =
            body.mass * body.linear.length_squared() + body.angular.dot(inertia * body.angular);
        0.5 * kinetic + body.mass * 9.81 * body.center().z
    };
    scene.bodies.iter().map(of).sum()
}

fn pendulums(count: usize) -> Scene {
    let mut scene = Scene::default();
    let mut links = Vec::new();
    for number in 0..count {
        scene
            .bodies
            .push(rod(DVec3::new(0.5 + number as f64, 0.0, 0.0)));
        let (parent, hinge) = match number {
            0 => (None, DVec3::ZERO),
            _ => (Some(number - 1), DVec3::new(0.5, 0.0, 0.0)),
        };
        links.push(pendulum(number, parent, hinge));
    }
    scene.trees.push(Tree::new(links));
    scene
}

#[test]
fn pendulums_keep_their_energy_for_a_minute() {
    for count in [1, 2, 3] {
        let mut scene = pendulums(count);
        let before = energy(&scene);
        for _ in 0..60_000 {
            scene.step(1e-3);
        }
        let range = 9.81 * (count * count) as f64 / 2.0;
        let error = (energy(&scene) - before) / range;
        assert!(
            error.abs() < 1e-5,
            "{count} rods: {error:e} of the energy is gone"
        );
    }
}

#[test]
fn a_pendulum_held_by_friction_of_nothing_swings_as_one_that_flies() {
    // Friction without a limit to speak of has the substeps solve the tree, and not the flight.
    let mut scene = pendulums(2);
    let mut flying = pendulums(2);
    for _ in 0..1000 {
        scene.axes = vec![Axis {
            joint: Some((0, 0, 1.0)),
            friction: 1e-12,
            ..Axis::new(
                vec![Term {
                    body: 0,
                    linear: DVec3::ZERO,
                    angular: DVec3::Y,
                }],
                0.0,
            )
        }];
        scene.step(1e-3);
        flying.step(1e-3);
    }
    let apart = (scene.bodies[1].center() - flying.bodies[1].center()).length();
    assert!(apart < 2e-2, "{apart}");
}

#[test]
fn a_small_swing_takes_its_period() {
    // T = 2 pi sqrt(2 L / 3 g) (1 + a^2 / 16) for a rod of length L (Landau, Mechanics, 11).
    let mut scene = pendulums(1);
    let angle: f64 = 0.1;
    let down = DVec3::new(angle.sin(), 0.0, -angle.cos()) * 0.5;
    scene.bodies[0].frame = Frame::new(down, DQuat::from_rotation_y(0.5 * PI - angle));
    let period = 2.0 * PI * (2.0 / (3.0 * 9.81_f64)).sqrt() * (1.0 + angle * angle / 16.0);
    let steps = 10_000;
    let step = 10.0 * period / f64::from(steps);
    for _ in 0..steps {
        scene.step(step);
    }
    let angle_now = (scene.bodies[0].center().x / 0.5).asin();
    assert!((angle_now - angle).abs() < 1e-5, "{angle_now}");
}

/// Lays a box with its corners on the ground, as far as they are near.
fn ground_contacts(scene: &mut Scene, number: usize, size: DVec3, friction: f64, restitution: f64) {
    let before: Vec<Contact> = std::mem::take(&mut scene.contacts);
    let body = scene.bodies[number];
    for corner in 0..4 {
        let sign = |bit: usize| if corner & bit == 0 { 1.0 } else { -1.0 };
        let local = DVec3::new(sign(1), sign(2), -1.0) * size * 0.5;
        let point = body.frame.position + body.frame.rotation * local;
        if point.z > 0.02 {
            continue;
        }
        let known = before.get(corner);
        scene.contacts.push(Contact {
            bodies: [Some(number), None],
            manifold: 0,
            normal: DVec3::Z,
            points: [point, DVec3::new(point.x, point.y, 0.0)],
            friction: Friction::isotropic(friction),
            restitution,
            is_new: known.is_none_or(|known| known.total_pressure == 0.0),
            surface_velocity: DVec3::ZERO,
            pressure: known.map_or(0.0, |known| known.pressure),
            drag: known.map_or(DVec3::ZERO, |known| known.drag),
            twist: 0.0,
            total_pressure: 0.0,
            total_drag: DVec3::ZERO,
        });
    }
}

#[test]
fn an_oblong_box_slides_straight_and_as_far_as_it_must() {
    // v^2 / (2 mu g), against the slip whatever the inertia (Coulomb).
    let size = DVec3::new(0.8, 0.1, 0.3);
    let mut scene = Scene::default();
    scene
        .bodies
        .push(box_body(1.0, size, DVec3::new(0.0, 0.0, 0.15)));
    scene.bodies[0].linear = DVec3::new(1.0, 1.0, 0.0) * 0.5_f64.sqrt() * 2.0;
    for _ in 0..2000 {
        ground_contacts(&mut scene, 0, size, 0.2, 0.0);
        scene.step(1e-3);
    }
    let way = scene.bodies[0].center();
    let far = 4.0 / (2.0 * 0.2 * 9.81);
    assert!(
        (way.truncate().length() - far).abs() < 0.005 * far,
        "{way} {far}"
    );
    assert!((way.y.atan2(way.x) - PI / 4.0).abs() < 1e-3, "{way}");
    assert!((way.z - 0.15).abs() < 1e-4, "{way}");
}

#[test]
fn a_cube_that_lands_flat_stays() {
    for step in [1e-3, 4e-3] {
        let size = DVec3::splat(0.2);
        let mut scene = Scene::default();
        scene
            .bodies
            .push(box_body(1.0, size, DVec3::new(0.0, 0.0, 0.6)));
        let mut fastest: f64 = 0.0;
        let steps = (2.0 / step) as usize;
        for number in 0..steps {
            ground_contacts(&mut scene, 0, size, 0.8, 0.0);
            scene.step(step);
            if number as f64 * step > 0.35 {
                let body = &scene.bodies[0];
                fastest = fastest.max(body.linear.z).max(body.angular.length());
            }
        }
        assert!(fastest < 1e-3, "rises at {fastest} with steps of {step} s");
        let height = scene.bodies[0].center().z;
        assert!((height - 0.1).abs() < 1e-5, "{height}");
    }
}

#[test]
fn a_cube_bounces_as_high_as_its_restitution_says() {
    for step in [1e-3, 4e-3] {
        let size = DVec3::splat(0.2);
        let mut scene = Scene::default();
        scene
            .bodies
            .push(box_body(1.0, size, DVec3::new(0.0, 0.0, 1.1)));
        let mut landed = false;
        let mut top: f64 = 0.0;
        for _ in 0..(1.2 / step) as usize {
            ground_contacts(&mut scene, 0, size, 0.8, 0.5);
            scene.step(step);
            landed |= scene.bodies[0].linear.z > 1.0;
            if landed {
                top = top.max(scene.bodies[0].center().z - 0.1);
            }
        }
        assert!((top - 0.25).abs() < 0.005, "{top} with steps of {step} s");
    }
}

#[test]
fn a_heavy_body_on_a_light_jointed_foot_stands() {
    // 50 kg on a foot of 1 kg, with a hinge between them that its bounds hold.
    let (foot, trunk) = (DVec3::new(0.2, 0.2, 0.1), DVec3::new(0.2, 0.2, 0.5));
    let mut scene = Scene::default();
    scene
        .bodies
        .push(box_body(1.0, foot, DVec3::new(0.0, 0.0, 0.07)));
    scene
        .bodies
        .push(box_body(50.0, trunk, DVec3::new(0.0, 0.0, 0.37)));
    scene.trees.push(Tree::new(vec![
        Link {
            parent: None,
            kind: JointKind::Free,
            body: Some(0),
            joint_in_parent: Frame::IDENTITY,
            link_in_joint: Frame::IDENTITY,
        },
        Link {
            parent: Some(0),
            kind: JointKind::Revolute,
            body: Some(1),
            joint_in_parent: along_y(DVec3::new(0.0, 0.0, 0.05)),
            link_in_joint: along_y(DVec3::new(0.0, 0.0, -0.25)).inverse(),
        },
    ]));
    let before = energy(&scene);
    let mut impulses = [0.0; 5];
    for number in 0..3000 {
        ground_contacts(&mut scene, 0, foot, 0.8, 0.0);
        let hinge = Axis {
            joint: Some((0, 1, 1.0)),
            bounds: AxisBounds {
                lower: -0.1,
                upper: 0.1,
                ..AxisBounds::NONE
            },
            impulses,
            ..Axis::new(
                vec![
                    Term {
                        body: 0,
                        linear: DVec3::ZERO,
                        angular: DVec3::NEG_Y,
                    },
                    Term {
                        body: 1,
                        linear: DVec3::ZERO,
                        angular: DVec3::Y,
                    },
                ],
                0.0,
            )
        };
        scene.axes = vec![Axis {
            position: hinge_angle(&scene),
            ..hinge
        }];
        scene.step(1e-3);
        impulses = scene.axes[0].impulses;
        assert!(
            energy(&scene) < before + 1e-6,
            "gains energy after {number} steps"
        );
        assert!(hinge_angle(&scene).abs() < 0.11, "{}", hinge_angle(&scene));
    }
    let height = scene.bodies[0].center().z;
    assert!((height - 0.05).abs() < 1e-4, "{height}");
}

fn hinge_angle(scene: &Scene) -> f64 {
    let turn = scene.bodies[0].frame.rotation.conjugate() * scene.bodies[1].frame.rotation;
    2.0 * turn.y.atan2(turn.w)
}

#[test]
fn a_chain_of_fixed_links_does_not_sag() {
    let mut scene = Scene::default();
    let mut links = Vec::new();
    for number in 0..10_usize {
        scene
            .bodies
            .push(rod(DVec3::new(0.5 + number as f64, 0.0, 0.0)));
        links.push(Link {
            parent: number.checked_sub(1),
            kind: JointKind::Fixed,
            body: Some(number),
            joint_in_parent: Frame::new(
                DVec3::new(if number == 0 { 0.0 } else { 0.5 }, 0.0, 0.0),
                DQuat::IDENTITY,
            ),
            link_in_joint: Frame::new(DVec3::new(0.5, 0.0, 0.0), DQuat::IDENTITY),
        });
    }
    scene.trees.push(Tree::new(links));
    for _ in 0..1000 {
        scene.step(1e-3);
    }
    assert!(scene.bodies[9].center().z.abs() < 1e-12);
}

/// The semi-implicit method of Euler keeps `x^2 + (v / w)^2 - h x v` of an oscillator (Hairer,
/// Lubich and Wanner, *Geometric Numerical Integration*, section I.1): its amplitude stays.
#[test]
fn a_controller_that_follows_a_position_feeds_no_energy() {
    let stiffness = 10_000.0;
    let mut scene = Scene::default();
    scene.bodies.push(body(1.0, DVec3::splat(0.1), DVec3::X));
    let mut most: f64 = 0.0;
    for number in 0..20_000 {
        let place = scene.bodies[0].center().x;
        scene.bodies[0].force = DVec3::ZERO;
        scene.bodies[0].control_force = DVec3::X * (-stiffness * place);
        scene.step(1e-3);
        if number > 19_000 {
            most = most.max(scene.bodies[0].center().x);
        }
    }
    assert!((most - 1.0).abs() < 0.01, "{most}");
}

#[test]
fn a_free_body_keeps_energy_and_angular_momentum() {
    let mut scene = Scene::default();
    let mut tumbling = body(2.0, DVec3::new(0.1, 0.2, 0.25), DVec3::ZERO);
    tumbling.force = DVec3::ZERO;
    tumbling.angular = DVec3::new(0.1, 5.0, 0.1);
    scene.bodies.push(tumbling);
    let momentum = |body: &Body| {
        let axes = DMat3::from_quat(body.frame.rotation);
        axes * body.inertia * axes.transpose() * body.angular
    };
    let spin = |body: &Body| 0.5 * body.angular.dot(momentum(body));
    let (before, kinetic) = (momentum(&scene.bodies[0]), spin(&scene.bodies[0]));
    for _ in 0..60_000 {
        scene.step(1e-3);
    }
    let apart = (momentum(&scene.bodies[0]) - before).length() / before.length();
    assert!(apart < 1e-9, "{apart}");
    assert!((spin(&scene.bodies[0]) / kinetic - 1.0).abs() < 1e-8);
}

/// A level top on a ball joint goes round at `m g l / (I3 w3)`, and stays level.
#[test]
fn a_level_top_precesses_and_stays_level() {
    let (arm, rate) = (0.1, 100.0);
    let moments = DVec3::new(0.005, 0.0026, 0.0026);
    let mut top = body(1.0, moments, DVec3::ZERO);
    top.local_center = DVec3::X * arm;
    let precession = 9.81 * arm / (moments.x * rate);
    top.angular = DVec3::new(rate, 0.0, precession);
    top.linear = top.angular.cross(DVec3::X * arm);
    let pivot = Link {
        parent: None,
        kind: JointKind::Ball,
        body: Some(0),
        joint_in_parent: Frame::IDENTITY,
        link_in_joint: Frame::IDENTITY,
    };
    let mut scene = Scene::default();
    scene.bodies.push(top);
    scene.trees.push(Tree::new(vec![pivot]));
    for _ in 0..3000 {
        scene.step(1e-3);
        scene.bodies[0].force = GRAVITY;
    }
    let axis = scene.bodies[0].frame.rotation * DVec3::X;
    let angle = axis.y.atan2(axis.x);
    assert!(axis.z.abs() < 1e-6, "tilt {}", axis.z);
    let expected = (precession * 3.0 + PI).rem_euclid(2.0 * PI) - PI;
    assert!(
        (angle - expected).abs() < 1e-5,
        "{angle} instead of {expected}"
    );
}
