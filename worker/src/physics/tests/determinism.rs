//! The same calls give the same bits, and a restored cell goes on with the same bits.

use std::sync::Arc;

use protocol::{Digest, DigestBuilder};
use sdf::{Geometry, JointKind, JointParent, Model, World};

use super::builder::*;
use crate::physics::{Cell, RestoreError};

/// A heap of boxes, balls, cylinders and ellipsoids, and robots that fall into it.
fn heap() -> Arc<World> {
    let mut models = vec![ground(0.8)];
    for index in 0..40_u32 {
        let spread = f64::from(index);
        let at = [spread * 0.7 % 0.5, spread * 0.3 % 0.4, 0.3 + 0.15 * spread];
        let geometry = match index % 4 {
            0 => Geometry::Box {
                size: [0.2, 0.3, 0.1],
            },
            1 => Geometry::Sphere { radius: 0.1 },
            2 => Geometry::Cylinder {
                radius: 0.1,
                length: 0.2,
            },
            _ => Geometry::Ellipsoid {
                radii: [0.1, 0.15, 0.2],
            },
        };
        let tilted = pose(at, [spread, 0.5 * spread, 0.1]);
        models.push(body("piece", tilted, collision(geometry, 0.6)));
    }
    models.extend((0..3).map(|index| robot([0.1 * f64::from(index), 0.2, 7.0])));
    models.push(fixed(body(
        "table",
        pose([0.0, 0.0, 0.1], [0.0; 3]),
        collision(
            Geometry::Box {
                size: [0.5, 0.5, 0.2],
            },
            0.5,
        ),
    )));
    world(models)
}

/// A chassis with two wheels.
fn robot([x, y, z]: [f64; 3]) -> Model {
    let chassis = Geometry::Box {
        size: [0.4, 0.2, 0.1],
    };
    let wheel = Geometry::Cylinder {
        radius: 0.1,
        length: 0.05,
    };
    let mut links = vec![link(
        "chassis",
        pose([x, y, z], [0.0; 3]),
        Some(collision(chassis, 0.5)),
    )];
    let mut joints = Vec::new();
    for (child, side) in [(1, -0.15), (2, 0.15)] {
        let at = [x, y + side, z];
        let turned = pose(at, [std::f64::consts::FRAC_PI_2, 0.0, 0.0]);
        links.push(link("wheel", turned, Some(collision(wheel.clone(), 1.0))));
        let mut spin = axis([0.0, 1.0, 0.0], f64::NEG_INFINITY, f64::INFINITY);
        spin.damping = 0.01;
        joints.push(joint(
            JointKind::Revolute(spin),
            JointParent::Link(0),
            child,
            at,
        ));
    }
    model("robot", links, joints)
}

fn digest(cell: &mut Cell) -> Digest {
    let mut builder = DigestBuilder::default();
    for state in states(cell) {
        assert!(state.is_finite(), "{state:?}");
        builder.digest(state.digest);
    }
    builder.finish()
}

#[test]
fn the_same_calls_give_the_same_digests() {
    let (mut first, mut second) = (fill(&heap()), fill(&heap()));
    for step in 0..1500 {
        first.step(STEP);
        second.step(STEP);
        assert_eq!(digest(&mut first), digest(&mut second), "step {step}");
    }
}

#[test]
fn another_order_of_insertion_gives_other_digests() {
    let world = heap();
    let mut cell = fill(&world);
    let mut other = Cell::new(Arc::clone(&world));
    for (index, model) in world.models.iter().enumerate().rev() {
        if model.is_static {
            other.insert_static(index);
        } else {
            other.insert_performer(protocol::PerformerId(index as u32), index);
        }
    }
    let order = |cell: &mut Cell| states(cell).iter().map(|s| s.performer).collect::<Vec<_>>();
    assert_eq!(order(&mut cell), order(&mut other));
    run(&mut cell, 1.5);
    run(&mut other, 1.5);
    assert_ne!(digest(&mut cell), digest(&mut other));
}

/// Snapshots are taken while things fly, while they pile up, and when many sleep.
#[test]
fn a_restored_cell_goes_on_bit_for_bit() {
    let world = heap();
    let mut original = fill(&world);
    let table = world.models.len() - 1;
    for phase in 0..4 {
        run(&mut original, 1.3);
        let snapshot = original.snapshot();
        let mut restored = Cell::restore(Arc::clone(&world), &snapshot).unwrap();
        assert!(
            restored.snapshot() == snapshot,
            "phase {phase}: snapshots differ at once"
        );
        if phase == 2 {
            original.remove_static(table);
            restored.remove_static(table);
        }
        for step in 0..500 {
            original.step(STEP);
            restored.step(STEP);
            assert_eq!(
                digest(&mut original),
                digest(&mut restored),
                "phase {phase}, step {step}"
            );
        }
        original = restored;
    }
}

#[test]
fn a_restored_cell_takes_new_models_as_the_original_does() {
    let world = heap();
    let mut original = Cell::new(Arc::clone(&world));
    for index in 0..20 {
        if index == 0 {
            original.insert_static(0);
        } else {
            original.insert_performer(protocol::PerformerId(index as u32), index);
        }
    }
    run(&mut original, 1.0);
    let mut restored = Cell::restore(Arc::clone(&world), &original.snapshot()).unwrap();
    for index in 20..44 {
        original.insert_performer(protocol::PerformerId(index as u32), index);
        restored.insert_performer(protocol::PerformerId(index as u32), index);
    }
    for step in 0..1000 {
        original.step(STEP);
        restored.step(STEP);
        assert_eq!(digest(&mut original), digest(&mut restored), "step {step}");
    }
}

#[test]
fn damaged_and_foreign_snapshots_are_refused() {
    let world = heap();
    let mut snapshot = fill(&world).snapshot();
    let restore = |bytes: &[u8]| Cell::restore(Arc::clone(&world), bytes).err();
    assert!(restore(&snapshot).is_none());
    for length in [0, 15, 16, snapshot.len() / 2, snapshot.len() - 1] {
        assert!(
            matches!(restore(&snapshot[..length]), Some(RestoreError::Damaged)),
            "{length}"
        );
    }
    let empty = super::builder::world(vec![ground(1.0)]);
    let foreign = Cell::restore(empty, &snapshot).err();
    assert!(matches!(foreign, Some(RestoreError::OtherWorld)));
    let middle = snapshot.len() / 2;
    snapshot[middle] ^= 1;
    assert!(matches!(restore(&snapshot), Some(RestoreError::Damaged)));
}

#[test]
fn a_cell_moves_between_threads() {
    fn assert_send<T: Send>() {}
    assert_send::<Cell>();
}
