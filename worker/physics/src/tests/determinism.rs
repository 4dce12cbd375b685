//! The same calls give the same bits, and a restored cell goes on with the same bits.

use std::sync::Arc;

use mesh::HeightGrid;
use protocol::{Digest, DigestBuilder};
use sdf::{
    Axis, Geometry, HeightmapShape, JointEnd, JointKind, JointParent, LinkReference,
    MeshApproximation, MeshShape, Mimic, Model, World, WorldJoint,
};

use super::builder::*;
use crate::{Cell, RestoreError};

/// A heap of boxes, balls, cylinders and ellipsoids, and robots that fall into it.
pub(super) fn heap() -> Arc<World> {
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
pub(super) fn robot([x, y, z]: [f64; 3]) -> Model {
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

/// A machine with every kind of joint and of what acts along their axes, on its way down.
pub(super) fn machine([x, y, z]: [f64; 3]) -> Model {
    let free = |xyz| axis(xyz, f64::NEG_INFINITY, f64::INFINITY);
    let busy = |xyz| Axis {
        damping: 0.02,
        friction: 0.05,
        velocity: 3.0,
        spring_stiffness: 2.0,
        spring_reference: 0.5,
        ..axis(xyz, -5.0, 1.0)
    };
    let follow = Mimic {
        joint: "revolute".to_owned(),
        axis: 0,
        multiplier: -2.0,
        offset: 0.1,
        reference: 0.0,
    };
    let following = Axis {
        mimic: Some(follow),
        ..free([0.0, 1.0, 0.0])
    };
    let soft = Axis {
        limit_stiffness: 100.0,
        ..axis([0.0, 0.0, 1.0], -0.1, 0.1)
    };
    let gearbox = JointKind::Gearbox {
        axes: [free([0.0, 1.0, 0.0]), free([0.0, 1.0, 0.0])],
        ratio: 1.5,
        reference_body: Some(0),
    };
    let screw = JointKind::Screw {
        axis: free([0.0, 0.0, 1.0]),
        thread_pitch: 0.3,
    };
    let kinds = [
        ("revolute", JointKind::Revolute(busy([0.0, 1.0, 0.0])), 0, 1),
        (
            "universal",
            JointKind::Universal([busy([1.0, 0.0, 0.0]), free([0.0, 1.0, 0.0])]),
            0,
            2,
        ),
        ("screw", screw, 0, 3),
        ("mimic", JointKind::Revolute(following), 0, 4),
        ("soft", JointKind::Prismatic(soft), 0, 5),
        ("gear", JointKind::Continuous(free([0.0, 1.0, 0.0])), 0, 6),
        ("gears", gearbox, 1, 6),
    ];
    let part = Geometry::Box {
        size: [0.1, 0.15, 0.3],
    };
    let at = |number: usize| [x + 0.3 * number as f64, y, z];
    let links = (0..7).map(|number| {
        let shape = (number % 2 == 0).then(|| collision(part.clone(), 0.5));
        link("part", pose(at(number), [0.1, 0.2, 0.0]), shape)
    });
    let joints = kinds.map(|(name, kind, parent, child)| sdf::Joint {
        name: name.to_owned(),
        ..joint(kind, JointParent::Link(parent), child, at(child))
    });
    model("machine", links.collect(), joints.to_vec())
}

/// Machines and meshes of every kind that fall onto hills, one machine held by the world.
pub(super) fn workshop() -> Arc<World> {
    let prism = |size: f64| {
        let outline = vec![
            [0.0, 0.0],
            [size, 0.0],
            [size, 0.3 * size],
            [0.3 * size, size],
        ];
        mesh::TriangleMesh::extrude(&[outline], 0.2).unwrap()
    };
    let decomposition = sdf::ConvexDecomposition {
        max_convex_hulls: 4,
        voxel_resolution: 5000,
    };
    let approximations = [
        MeshApproximation::Automatic,
        MeshApproximation::Triangles,
        MeshApproximation::ConvexHull,
        MeshApproximation::ConvexDecomposition(decomposition),
    ];
    let mut models = vec![fixed(body(
        "hills",
        pose([0.0; 3], [0.0; 3]),
        collision(
            Geometry::Heightmap(HeightmapShape {
                uri: String::new(),
                size: [20.0, 20.0, 0.5],
                position: [0.0; 3],
                grid: Some(0),
            }),
            0.8,
        ),
    ))];
    for (number, approximation) in approximations.into_iter().enumerate() {
        let geometry = Geometry::Mesh(MeshShape {
            uri: String::new(),
            submesh: String::new(),
            center_submesh: false,
            scale: [1.0, 1.0, 0.8],
            approximation,
            mesh: Some(0),
            bounds: None,
        });
        let at = pose([0.2, 0.1, 1.0 + number as f64 * 0.4], [0.2, 0.1, 0.0]);
        models.push(body("mesh", at, collision(geometry, 0.6)));
    }
    models.push(machine([-1.0, 0.3, 2.5]));
    models.push(machine([-1.0, 3.0, 2.0]));
    let held = WorldJoint {
        name: "held".to_owned(),
        kind: JointKind::Universal([
            axis([1.0, 0.0, 0.0], -1.0, 1.0),
            axis([0.0, 1.0, 0.0], -9.0, 9.0),
        ]),
        parent: JointEnd::World,
        child: LinkReference { model: 5, link: 0 },
        pose: pose([-1.0, 3.0, 3.0], [0.0; 3]),
    };
    let height = |sample: usize| (sample * 7 % 11) as f32 / 11.0;
    Arc::new(World {
        meshes: vec![prism(0.6)],
        height_grids: vec![HeightGrid {
            columns: 9,
            rows: 7,
            heights: (0..63).map(height).collect(),
        }],
        joints: vec![held],
        ..World::clone(&world(models))
    })
}

pub(super) fn digest(cell: &mut Cell) -> Digest {
    let mut builder = DigestBuilder::default();
    for state in states(cell) {
        assert!(state.is_finite(), "{state:?}");
        builder.digest(state.digest);
    }
    builder.finish()
}

#[test]
fn the_same_calls_give_the_same_digests() {
    for world in [heap(), workshop()] {
        let (mut first, mut second) = (fill(&world), fill(&world));
        for step in 0..1500 {
            first.step(STEP);
            second.step(STEP);
            assert_eq!(digest(&mut first), digest(&mut second), "step {step}");
        }
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

/// What must be prepared before each step is in a snapshot as well: turns counted, forces of
/// ratios and friction, speeds that are braked.
#[test]
fn a_restored_workshop_goes_on_bit_for_bit() {
    let world = workshop();
    let mut original = fill(&world);
    for (phase, duration_s) in [0.0, 0.001, 0.4, 1.0].into_iter().enumerate() {
        run(&mut original, duration_s);
        let mut restored = Cell::restore(Arc::clone(&world), &original.snapshot()).unwrap();
        for step in 0..300 {
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
