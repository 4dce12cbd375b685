//! A divided scene does what the whole one does, bit for bit.

use glam::{DMat3, DQuat, DVec3};

use super::super::Scene;
use crate::axis::{Axis, AxisBounds, AxisSpring, Lock, Term};
use crate::body::Body;
use crate::contact::{Contact, Friction};
use crate::spatial::Frame;
use crate::tree::{JointKind, Link, Tree};

const STEP_S: f64 = 1e-3;
const GRAVITY: f64 = 9.8;
/// Half of the edge of each box \[m\].
const HALF: f64 = 0.1;
const TOWERS: usize = 12;

/// The numbers of the bodies whose motion is prescribed: a lift under the first six towers, and a
/// crane that a tower hangs on and another one leans on.
const LIFT: usize = 0;
const CRANE: usize = 1;
const PRESCRIBED: usize = 2;

fn body(mass: f64, position: DVec3, linear: DVec3) -> Body {
    let moment = mass * HALF * HALF * 2.0 / 3.0;
    let inverse = if mass > 0.0 { 1.0 / moment } else { 0.0 };
    Body {
        frame: Frame::new(position, DQuat::IDENTITY),
        local_center: DVec3::ZERO,
        linear,
        angular: DVec3::new(0.1, 0.2, 0.3) * mass,
        mass,
        inertia: DMat3::IDENTITY * moment,
        inverse_inertia: DMat3::IDENTITY * inverse,
        force: DVec3::NEG_Z * (GRAVITY * mass),
        torque: DVec3::ZERO,
        control_force: DVec3::ZERO,
        control_torque: DVec3::ZERO,
        is_isotropic: true,
    }
}

/// Towers of two boxes, then carts of two links each, which stand apart.
fn yard() -> Scene {
    let mut scene = Scene::default();
    let still = DVec3::ZERO;
    scene
        .bodies
        .push(body(0.0, DVec3::NEG_Z * 0.05, DVec3::Z * 0.1));
    scene.bodies.push(body(0.0, DVec3::Z * 2.0, DVec3::X * 0.2));
    for tower in 0..TOWERS {
        for height in 0..2 {
            let place = DVec3::new(
                tower as f64,
                0.01 * tower as f64,
                HALF * f64::from(1 + 2 * height),
            );
            scene
                .bodies
                .push(body(1.0 + 0.1 * tower as f64, place, still));
        }
    }
    for cart in 0..4 {
        let first = scene.bodies.len();
        let link = |parent, kind, body| Link {
            parent,
            kind,
            body: Some(body),
            joint_in_parent: Frame::new(DVec3::X * 0.3, DQuat::IDENTITY),
            link_in_joint: Frame::IDENTITY,
        };
        let place = DVec3::new(f64::from(cart), 5.0, HALF);
        scene.bodies.push(body(1.0, place, still));
        scene.bodies.push(body(0.5, place + DVec3::X * 0.3, still));
        scene.trees.push(Tree::new(vec![
            link(None, JointKind::Free, first),
            link(Some(0), JointKind::Revolute, first + 1),
        ]));
    }
    scene
}

/// Returns the contacts of the lower corners of a box with something.
fn corners(scene: &Scene, manifold: u32, bodies: [Option<usize>; 2]) -> Vec<Contact> {
    let upper = &scene.bodies[bodies[0].expect("the upper one is a box")];
    let top = bodies[1].map_or(0.0, |lower| {
        let lower = &scene.bodies[lower];
        lower.frame.position.z + if lower.mass > 0.0 { HALF } else { 0.05 }
    });
    let signs = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
    let contact = |[x, y]: [f64; 2]| {
        let corner = DVec3::new(x, y, -1.0) * HALF;
        let point = upper.frame.position + upper.frame.rotation * corner;
        Contact {
            bodies,
            manifold,
            normal: DVec3::Z,
            points: [point, DVec3::new(point.x, point.y, top)],
            friction: Friction::isotropic(0.6),
            restitution: 0.2,
            is_new: false,
            surface_velocity: DVec3::X * 0.05,
            pressure: 0.0,
            drag: DVec3::ZERO,
            twist: 0.0,
            total_pressure: 0.0,
            total_drag: DVec3::ZERO,
        }
    };
    signs.map(contact).to_vec()
}

/// Finds contacts and axes anew, as a cell does before each step.
fn gather(scene: &mut Scene) {
    let mut contacts = Vec::new();
    let mut add = |scene: &Scene, bodies| {
        let number = contacts
            .last()
            .map_or(0, |last: &Contact| last.manifold + 1);
        contacts.extend(corners(scene, number, bodies));
    };
    for tower in 0..TOWERS {
        let lower = PRESCRIBED + 2 * tower;
        // The towers take turns, so that contacts of different parts stand between each other.
        let ground = if tower < TOWERS / 2 { Some(LIFT) } else { None };
        add(scene, [Some(lower), ground]);
    }
    for tower in 0..TOWERS {
        let lower = PRESCRIBED + 2 * tower;
        add(scene, [Some(lower + 1), Some(lower)]);
    }
    add(scene, [Some(PRESCRIBED + 9), Some(CRANE)]);
    for cart in 0..scene.trees.len() {
        add(scene, [Some(PRESCRIBED + 2 * TOWERS + 2 * cart), None]);
    }
    scene.contacts = contacts;
    scene.axes.clear();
    let hung = PRESCRIBED + 3;
    for number in 0..3 {
        let lock = Lock {
            bodies: [Some(CRANE), Some(hung)],
            frames: [Frame::IDENTITY; 2],
            number,
        };
        scene.axes.push(Axis::locked(lock, &scene.bodies));
    }
    for tree in 0..scene.trees.len() {
        let link = PRESCRIBED + 2 * TOWERS + 2 * tree + 1;
        let turn = |body, angular| Term {
            body,
            linear: DVec3::ZERO,
            angular,
        };
        let mut axis = Axis::new(
            vec![turn(link - 1, DVec3::NEG_X), turn(link, DVec3::X)],
            0.1,
        );
        axis.joint = Some((tree, 1, 1.0));
        axis.bounds = AxisBounds {
            lower: -1.0,
            upper: 0.12,
            speed: 5.0,
        };
        axis.spring = AxisSpring {
            stiffness: 1.0,
            damping: 0.1,
            reference: 0.0,
        };
        axis.friction = 0.01;
        axis.servo = (tree % 2 == 0).then_some([1.0, 0.5]);
        scene.axes.push(axis);
    }
}

fn step(scene: &mut Scene, threads: usize) -> usize {
    gather(scene);
    scene.find_links();
    scene.find_unions();
    if scene.divide_for(threads, 1) {
        scene.step_parts(STEP_S);
    } else {
        scene.work.parts.leave();
        scene.advance_all(STEP_S);
    }
    scene.part_count()
}

#[test]
fn a_divided_scene_does_what_the_whole_one_does() {
    let [mut whole, mut divided] = [yard(), yard()];
    for number in 0..60 {
        assert_eq!(step(&mut whole, 1), 1);
        assert!(step(&mut divided, 3) > 6, "step {number}");
        assert!(whole.bodies == divided.bodies, "bodies of step {number}");
        assert!(
            whole.contacts == divided.contacts,
            "contacts of step {number}"
        );
        for (one, other) in whole.axes.iter().zip(&divided.axes) {
            assert_eq!(one.totals, other.totals, "step {number}");
            assert_eq!(one.impulses, other.impulses, "step {number}");
        }
        let links = |scene: &Scene| {
            scene
                .trees
                .iter()
                .flat_map(|tree| tree.links.clone())
                .collect::<Vec<_>>()
        };
        assert!(links(&whole) == links(&divided), "links of step {number}");
        let is_free = |scene: &Scene| {
            (0..scene.bodies.len())
                .map(|body| scene.is_free(body))
                .collect::<Vec<_>>()
        };
        assert_eq!(is_free(&whole), is_free(&divided), "step {number}");
    }
    assert!(
        !divided.work.parts.copies.is_empty(),
        "parts share the lift"
    );
}
