//! Readings of contacts, against weights and slopes.

use protocol::PerformerId;
use sdf::{Geometry, Pose};

use super::builder::*;
use crate::{Cell, CollisionRef, Contact, ModelRef};

const CUBE: Geometry = Geometry::Box {
    size: [0.2, 0.2, 0.2],
};

fn contacts(cell: &Cell, model: u32) -> Vec<Contact> {
    let of = ModelRef::moving(PerformerId(model), model as usize);
    cell.contacts(of, None)
}

fn force(contact: &Contact) -> [f64; 3] {
    let forces = contact.points.iter().map(|point| point.force);
    forces.fold([0.0; 3], |sum, force| {
        std::array::from_fn(|axis| sum[axis] + force[axis])
    })
}

fn assert_near(found: [f64; 3], expected: [f64; 3], tolerance: f64) {
    let error = (0..3).map(|axis| (found[axis] - expected[axis]).abs());
    let error = error.fold(0.0, f64::max);
    assert!(error < tolerance, "{found:?} and not {expected:?}");
}

fn cube(name: &str, height: f64) -> sdf::Model {
    let at = pose([0.0, 0.0, height], [0.0; 3]);
    body(name, at, collision(CUBE, 1.0))
}

#[test]
fn a_body_at_rest_is_held_up_by_its_weight() {
    let mut cell = cell(vec![ground(1.0), cube("cube", 0.1)]);
    run(&mut cell, 0.5);
    let found = contacts(&cell, 1);
    let [contact] = found.as_slice() else {
        panic!("one contact and not {found:?}");
    };
    let other = CollisionRef {
        model: 0,
        link: 0,
        collision: 0,
    };
    assert_eq!(contact.other, other);
    assert_eq!(contact.own.name(cell.world()), "cube::link::collision");
    assert_near(force(contact), [0.0, 0.0, GRAVITY], 0.01);
    for point in &contact.points {
        assert_near(point.normal, [0.0, 0.0, 1.0], 1e-6);
        assert!(point.position[2].abs() < 2e-3, "{point:?}");
        assert!(point.depth.abs() < 2e-3, "{point:?}");
    }
}

#[test]
fn both_sides_of_a_contact_read_the_same_with_opposite_forces() {
    let mut cell = cell(vec![ground(1.0), cube("low", 0.1), cube("high", 0.3)]);
    run(&mut cell, 0.5);
    let low = contacts(&cell, 1);
    let others: Vec<usize> = low.iter().map(|contact| contact.other.model).collect();
    assert_eq!(others, [0, 2]);
    assert_near(force(&low[0]), [0.0, 0.0, 2.0 * GRAVITY], 0.05);
    assert_near(force(&low[1]), [0.0, 0.0, -GRAVITY], 0.05);
    let high = contacts(&cell, 2);
    assert_eq!(high[0].own, low[1].other);
    assert_near(force(&high[0]), force(&low[1]).map(|part| -part), 1e-12);
    let of_ground = cell.contacts(ModelRef::fixed(0), None);
    assert_eq!(of_ground.len(), 1);
    assert_near(
        force(&of_ground[0]),
        force(&low[0]).map(|part| -part),
        1e-12,
    );
}

#[test]
fn friction_holds_a_body_on_a_slope() {
    let (slope, at) = incline(0.3, 1.0, 0.1);
    let mut cell = cell(vec![slope, body("cube", at, collision(CUBE, 1.0))]);
    run(&mut cell, 0.5);
    let found = contacts(&cell, 1);
    assert_near(force(&found[0]), [0.0, 0.0, GRAVITY], 0.05);
}

#[test]
fn a_body_in_the_air_touches_nothing_and_one_may_ask_for_one_collision() {
    let mut cell = cell(vec![ground(1.0), cube("cube", 0.1), cube("far", 5.0)]);
    run(&mut cell, 0.1);
    assert!(contacts(&cell, 2).is_empty());
    let cube = ModelRef::moving(PerformerId(1), 1);
    assert_eq!(cell.contacts(cube, Some((0, None))).len(), 1);
    assert_eq!(cell.contacts(cube, Some((0, Some(0)))).len(), 1);
    assert!(cell.contacts(cube, Some((0, Some(1)))).is_empty());
}

#[test]
fn a_restored_cell_reads_the_same_contacts() {
    let mut cell = cell(vec![ground(1.0), cube("cube", 0.1)]);
    run(&mut cell, 0.05);
    let world = std::sync::Arc::new(cell.world().clone());
    let restored = Cell::restore(world, &cell.snapshot()).unwrap();
    assert_eq!(contacts(&restored, 1), contacts(&cell, 1));
    assert_eq!(cell.world().models[0].pose, Pose::IDENTITY);
}
