//! Meshes, heightmaps and polylines against the shapes that they stand for.

use mesh::{HeightGrid, TriangleMesh};
use sdf::{
    ConvexDecomposition, Geometry, HeightmapShape, MeshApproximation, MeshShape, Model, World,
};

use super::builder::*;
use crate::Cell;
use std::sync::Arc;

/// Outlines of a square of 1 m, extruded by 1 m from z = 0.
fn block(size: f64) -> TriangleMesh {
    let half = size / 2.0;
    let square = vec![[-half, -half], [half, -half], [half, half], [-half, half]];
    TriangleMesh::extrude(&[square], size).unwrap()
}

/// An L of 3 x 3 m with legs of 1 m, 1 m thick: a notch of 2 x 2 m over its lower right.
fn angle() -> TriangleMesh {
    let outline = vec![
        [0.0, 0.0],
        [3.0, 0.0],
        [3.0, 1.0],
        [1.0, 1.0],
        [1.0, 3.0],
        [0.0, 3.0],
    ];
    TriangleMesh::extrude(&[outline], 1.0).unwrap()
}

fn shape(scale: [f64; 3], approximation: MeshApproximation) -> Geometry {
    Geometry::Mesh(MeshShape {
        uri: "mesh.stl".to_owned(),
        submesh: String::new(),
        center_submesh: false,
        scale,
        approximation,
        mesh: Some(0),
        bounds: None,
    })
}

fn with_mesh(mesh: TriangleMesh, models: Vec<Model>) -> Cell {
    fill(&Arc::new(World {
        meshes: vec![mesh],
        ..World::clone(&world(models))
    }))
}

const DECOMPOSITION: MeshApproximation =
    MeshApproximation::ConvexDecomposition(ConvexDecomposition {
        max_convex_hulls: 16,
        voxel_resolution: 50_000,
    });

/// A cube as a mesh falls onto the ground and lies still on it within 2 mm, as a box does.
#[test]
fn a_mesh_cube_rests_as_a_box_does() {
    for approximation in [
        MeshApproximation::Automatic,
        MeshApproximation::Triangles,
        MeshApproximation::ConvexHull,
        DECOMPOSITION,
    ] {
        // Half as large, with the base at its origin.
        let geometry = shape([0.5; 3], approximation);
        let start = pose([0.0, 0.0, 0.3], [0.0; 3]);
        let faller = body("cube", start, collision(geometry, 1.0));
        let mut cell = with_mesh(block(1.0), vec![ground(1.0), faller]);
        run(&mut cell, 3.0);
        let state = state(&mut cell, 1);
        let [x, y, z] = state.position;
        assert!(
            z.abs() < 2e-3 && x.hypot(y) < 2e-3,
            "{approximation:?}: {state:?}"
        );
        assert!(
            state.orientation_xyzw[3] > 1.0 - 1e-4,
            "{approximation:?}: {state:?}"
        );
    }
}

/// Two cubes as meshes, one on the other, on ground that is a mesh too.
#[test]
fn meshes_stack_on_meshes() {
    let cube = |z: f64| {
        let geometry = shape([0.5; 3], MeshApproximation::Triangles);
        body(
            "cube",
            pose([0.0, 0.0, z], [0.0; 3]),
            collision(geometry, 1.0),
        )
    };
    let slab = shape([10.0, 10.0, 1.0], MeshApproximation::Triangles);
    let slab_pose = pose([0.0, 0.0, -1.0], [0.0; 3]);
    let floor = fixed(body("floor", slab_pose, collision(slab, 1.0)));
    let mut cell = with_mesh(block(1.0), vec![floor, cube(0.05), cube(0.6)]);
    run(&mut cell, 3.0);
    for (model, expected) in [(1, 0.0), (2, 0.5)] {
        let height = state(&mut cell, model).position[2];
        assert!((height - expected).abs() < 5e-3, "cube {model} at {height}");
    }
}

/// A ball slides over a floor of triangles as over one plane: no inner edge throws it up.
#[test]
fn nothing_trips_over_inner_edges() {
    let count = 20;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for row in 0..=count {
        for column in 0..=count {
            vertices.push([f64::from(column), f64::from(row) - 10.0, 0.0]);
        }
    }
    for row in 0..count {
        for column in 0..count {
            let [a, b] = [row, row + 1].map(|row| row * (count + 1) + column);
            triangles.extend([[a, a + 1, b + 1], [a, b + 1, b]].map(|t| t.map(|i| i as u32)));
        }
    }
    let floor = fixed(body(
        "floor",
        pose([0.0; 3], [0.0; 3]),
        collision(shape([1.0; 3], MeshApproximation::Triangles), 0.0),
    ));
    let cube = Geometry::Box { size: [0.4; 3] };
    let start = pose([0.5, 0.13, 0.2], [0.0; 3]);
    let mut cell = with_mesh(
        TriangleMesh {
            vertices,
            triangles,
        },
        vec![floor, body("cube", start, collision(cube, 0.0))],
    );
    cell.step(STEP);
    let link = cell.contents.performers[&protocol::PerformerId(1)].links[0];
    let forward = rapier3d_f64::math::Vector::new(5.0, 0.0, 0.0);
    cell.physics.bodies[link].set_linvel(forward, true);
    let mut highest = 0.0_f64;
    for _ in 0..3000 {
        cell.step(STEP);
        highest = highest.max(state(&mut cell, 1).position[2]);
    }
    let state = state(&mut cell, 1);
    assert!(highest < 0.201, "thrown up to {highest}");
    assert!((state.linear_velocity[0] - 5.0).abs() < 0.01, "{state:?}");
}

/// A ball finds its way into the notch of an L of several hulls, and stays on the one hull of an L.
#[test]
fn a_decomposition_leaves_a_notch_open() {
    let height = |approximation, duration_s| {
        // Upright: the L's plane is x-z.
        let upright = pose([0.0, 0.5, 0.0], [std::f64::consts::FRAC_PI_2, 0.0, 0.0]);
        let geometry = shape([1.0; 3], approximation);
        let angle_model = fixed(body("angle", upright, collision(geometry, 1.0)));
        let ball = collision(Geometry::Sphere { radius: 0.3 }, 1.0);
        let start = pose([1.4, 0.0, 3.4], [0.0; 3]);
        let mut cell = with_mesh(angle(), vec![angle_model, body("ball", start, ball)]);
        run(&mut cell, duration_s);
        state(&mut cell, 1).position[2]
    };
    let rest = height(DECOMPOSITION, 1.5);
    assert!((rest - 1.3).abs() < 0.03, "{rest}");
    let rest = height(MeshApproximation::Triangles, 1.5);
    assert!((rest - 1.3).abs() < 0.01, "{rest}");
    // The hull's slope is met at 3.02 m; free fall is at 2.2 m by then.
    assert!(height(MeshApproximation::ConvexHull, 0.5) > 2.4);
}

/// A ramp as a heightmap: white at the greatest y, black at the least; a ball rolls down towards -y
/// with 5/7 of the slope, within 1 %.
#[test]
fn a_ball_rolls_down_a_heightmap() {
    let (columns, rows) = (9_usize, 17_usize);
    let height = |row: usize| 1.0 - row as f32 / (rows - 1) as f32;
    let grid = HeightGrid {
        columns,
        rows,
        heights: (0..rows)
            .flat_map(|row| vec![height(row); columns])
            .collect(),
    };
    let map = HeightmapShape {
        uri: "ramp.png".to_owned(),
        size: [4.0, 8.0, 2.0],
        position: [1.0, 2.0, -0.5],
        grid: Some(0),
    };
    let slope = (2.0_f64 / 8.0).atan();
    let ramp = fixed(body(
        "ramp",
        pose([0.0; 3], [0.0; 3]),
        collision(Geometry::Heightmap(map), 1.0),
    ));
    // On the middle of the ramp, at half its height.
    let normal = [0.0, -slope.sin(), slope.cos()];
    let start = pose(
        [1.0, 2.0 + 0.1 * normal[1], 0.5 + 0.1 * normal[2]],
        [0.0; 3],
    );
    let ball = body(
        "ball",
        start,
        collision(Geometry::Sphere { radius: 0.1 }, 1.0),
    );
    let mut cell = fill(&Arc::new(World {
        height_grids: vec![grid],
        ..World::clone(&world(vec![ramp, ball]))
    }));
    run(&mut cell, 1.2);
    let state = state(&mut cell, 1);
    let way = (start.position[1] - state.position[1]) / slope.cos();
    let expected = 5.0 / 14.0 * GRAVITY * slope.sin() * 1.44;
    assert!((way / expected - 1.0).abs() < 0.01, "{way}, not {expected}");
    assert!((state.position[0] - 1.0).abs() < 1e-3, "{state:?}");
}

/// A prism with a hole: a ball over the hole falls through, one over the rim rests on it.
#[test]
fn a_polyline_is_a_prism_with_its_holes() {
    let square = |half: f64| vec![[-half, -half], [half, -half], [half, half], [-half, half]];
    let prism = Geometry::Polyline {
        outlines: vec![square(2.0), square(1.0)],
        height: 0.5,
    };
    let rest = |x: f64| {
        let frame = fixed(body(
            "frame",
            pose([0.0; 3], [0.0; 3]),
            collision(prism.clone(), 1.0),
        ));
        let ball = collision(Geometry::Sphere { radius: 0.2 }, 1.0);
        let start = pose([x, 0.0, 1.0], [0.0; 3]);
        let mut cell = cell(vec![frame, body("ball", start, ball)]);
        run(&mut cell, 0.6);
        state(&mut cell, 1).position[2]
    };
    assert!((rest(1.5) - 0.7).abs() < 2e-3, "{}", rest(1.5));
    assert!(rest(0.0) < -0.5, "{}", rest(0.0));
}

#[test]
fn nothing_touches_where_nothing_is() {
    let ball = collision(Geometry::Sphere { radius: 0.2 }, 1.0);
    let start = pose([0.0, 0.0, 0.3], [0.0; 3]);
    let empty = fixed(body(
        "empty",
        pose([0.0; 3], [0.0; 3]),
        collision(Geometry::Empty, 1.0),
    ));
    let mut cell = cell(vec![empty, body("ball", start, ball)]);
    run(&mut cell, 0.5);
    assert!(state(&mut cell, 1).position[2] < -0.5);
}

/// A model of many collisions with one mesh builds it once.
#[test]
fn a_shared_mesh_is_built_once() {
    let geometry = shape([0.5; 3], MeshApproximation::ConvexHull);
    let mut many = body("many", pose([0.0; 3], [0.0; 3]), collision(geometry, 1.0));
    let again = many.links[0].collisions[0].clone();
    many.links[0].collisions.push(again);
    let cell = with_mesh(block(1.0), vec![fixed(many)]);
    let shapes: Vec<_> = cell
        .physics
        .colliders
        .iter()
        .map(|(_, c)| c.shared_shape())
        .collect();
    assert_eq!(shapes.len(), 2);
    assert!(std::ptr::addr_eq(
        &raw const *shapes[0].0,
        &raw const *shapes[1].0
    ));
}

/// A wheel of triangles with a rim that is not convex, at rest on a level floor, stays at rest.
#[test]
fn a_mesh_wheel_at_rest_stays_at_rest() {
    let rim = |radius: f64| -> Vec<[f64; 2]> {
        let angle = |corner: u32| f64::from(corner) * std::f64::consts::TAU / 48.0;
        (0..48)
            .map(|corner| [radius * angle(corner).cos(), radius * angle(corner).sin()])
            .collect()
    };
    let ring = TriangleMesh::extrude(&[rim(0.2), rim(0.15)], 0.1).unwrap();
    // On one of its 48 flat sides.
    let side = std::f64::consts::TAU / 96.0;
    let upright = pose(
        [0.0, 0.0, 0.2 * side.cos()],
        [std::f64::consts::FRAC_PI_2, 0.0, 0.0],
    )
    .then(&pose([0.0; 3], [0.0, 0.0, side]));
    let geometry = shape([1.0; 3], MeshApproximation::Triangles);
    let mut wheel = body("wheel", upright, collision(geometry, 1.0));
    wheel.links[0].inertial.pose.position = [0.0, 0.0, 0.05];
    let mut cell = with_mesh(ring, vec![ground(1.0), wheel]);
    run(&mut cell, 3.0);
    let [x, y, z] = state(&mut cell, 1).position;
    let moved = x.hypot(y).hypot(z - 0.2 * side.cos());
    assert!(moved < 5e-3, "moved by {moved}: {x} {y} {z}");
}

/// A thin bracket falls freely past a post in its notch, which would push its whole hull away.
#[test]
fn a_moving_bracket_keeps_its_notch() {
    let outline = vec![
        [0.0, 0.0],
        [0.3, 0.0],
        [0.3, 3.0],
        [-3.0, 3.0],
        [-3.0, 2.7],
        [0.0, 2.7],
    ];
    let bracket = TriangleMesh::extrude(&[outline], 1.0).unwrap();
    let aside = |approximation| {
        // Upright: the plane of the outline is x-z.
        let upright = pose([0.0, 0.5, 0.2], [std::f64::consts::FRAC_PI_2, 0.0, 0.0]);
        let geometry = shape([1.0; 3], approximation);
        let bracket_model = body("bracket", upright, collision(geometry, 1.0));
        let post = Geometry::Box {
            size: [0.4, 0.4, 2.0],
        };
        let post_pose = pose([-1.0, 0.0, 1.0], [0.0; 3]);
        let post = fixed(body("post", post_pose, collision(post, 1.0)));
        let mut cell = with_mesh(bracket.clone(), vec![post, bracket_model]);
        run(&mut cell, 0.1);
        let state = state(&mut cell, 1);
        let [x, y, z] = state.position;
        let along = state.orientation_xyzw[0].hypot(state.orientation_xyzw[3]);
        let turned = (1.0 - along * along).max(0.0).sqrt();
        x.hypot(y - 0.5).hypot(z - 0.2 + GRAVITY / 2.0 * 0.01) + turned
    };
    for approximation in [MeshApproximation::Automatic, MeshApproximation::Triangles] {
        let aside = aside(approximation);
        assert!(aside < 1e-3, "{approximation:?}: {aside}");
    }
    assert!(aside(MeshApproximation::ConvexHull) > 1e-2);
}

/// A mesh that moves and says nothing of it is a few hulls, one that stands still its triangles.
#[test]
fn meshes_that_move_are_convex() {
    use rapier3d_f64::parry::shape::ShapeType;
    let colliders = |is_fixed: bool, approximation| {
        let model = body(
            "angle",
            pose([0.0; 3], [0.0; 3]),
            collision(shape([1.0; 3], approximation), 1.0),
        );
        let model = if is_fixed { fixed(model) } else { model };
        let cell = with_mesh(angle(), vec![model]);
        let (_, collider) = cell.physics.colliders.iter().next().unwrap();
        collider.shape().shape_type()
    };
    let automatic = MeshApproximation::Automatic;
    assert_eq!(colliders(true, automatic), ShapeType::TriMesh);
    assert_eq!(colliders(false, automatic), ShapeType::Compound);
    let asked = MeshApproximation::Triangles;
    assert_eq!(colliders(false, asked), ShapeType::TriMesh);
}

/// A round peg of many corners stands on its end, on a plane and on a box, also when its middle is
/// above a part of its sole alone.
#[test]
fn a_round_sole_stands() {
    let rim = (0..48).map(|corner| {
        let angle = f64::from(corner) * std::f64::consts::TAU / 48.0;
        [0.1 * angle.cos(), 0.1 * angle.sin()]
    });
    let peg = TriangleMesh::extrude(&[rim.collect()], 0.4).unwrap();
    let slab = Geometry::Box {
        size: [4.0, 4.0, 1.0],
    };
    let slab = fixed(body(
        "slab",
        pose([0.0, 0.0, -0.5], [0.0; 3]),
        collision(slab, 1.0),
    ));
    for floor in [ground(1.0), slab] {
        let geometry = shape([1.0; 3], MeshApproximation::Automatic);
        let mut peg_model = body("peg", pose([0.0; 3], [0.0; 3]), collision(geometry, 1.0));
        peg_model.links[0].inertial.pose.position = [0.05, 0.05, 0.2];
        let mut cell = with_mesh(peg.clone(), vec![floor.clone(), peg_model]);
        run(&mut cell, 2.0);
        let state = state(&mut cell, 1);
        assert!(
            state.orientation_xyzw[3] > 1.0 - 1e-4,
            "{}: {state:?}",
            floor.name
        );
    }
}

#[test]
fn boxes_around_shapes_are_those_of_parry() {
    use rapier3d_f64::geometry::{ColliderBuilder, SharedShape};
    use rapier3d_f64::math::{Pose, Rotation, Vector};
    let corners = [
        [0.0, 0.0, 0.0],
        [0.3, 0.0, 0.1],
        [0.0, 0.4, 0.0],
        [0.1, 0.2, 0.5],
    ];
    let corners = corners.map(Vector::from_array);
    let hull = SharedShape::convex_hull(&corners).unwrap();
    let shapes = [
        SharedShape::cylinder(0.02, 0.1),
        SharedShape::cylinder(2.0, 0.3),
        hull,
    ];
    let turns = [
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [0.0, -2.0, 0.0],
        [0.3, 1.7, -0.4],
        [0.0, 0.0, 1e-9],
    ];
    for shape in shapes {
        for turn in turns {
            let rotation = Rotation::from_scaled_axis(Vector::from_array(turn));
            let pose = Pose::from_parts(Vector::new(30.0, -4.0, 0.5), rotation);
            let collider = ColliderBuilder::new(shape.clone()).position(pose).build();
            let (own, of_parry) = (
                collider.compute_collision_aabb(0.0),
                shape.compute_aabb(&pose),
            );
            for (own, other) in [(own.mins, of_parry.mins), (own.maxs, of_parry.maxs)] {
                assert!((own - other).length() < 1e-12, "{own} for {other}");
            }
        }
    }
}
