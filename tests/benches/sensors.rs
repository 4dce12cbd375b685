//! Measures the rays of a lidar: a scan of 16 x 1024 rays among 400 static and 200 moving shapes,
//! beside parry casting the same rays at the same shapes in one tree, without any extras; and a
//! scan by each of 100 robots after a step, which must not build the trees 100 times.
//!
//! Prints one JSON line. Both are measured in turns in the same run and on one thread, so that
//! their ratio holds on a machine that is shared. Run it with `cargo bench -p tests --bench
//! sensors`.

use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use physics::{Cell, Echo, Scan};
use protocol::PerformerId;
use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::{Pose as RapierPose, Vector};
use rapier3d_f64::parry::bounding_volume::Aabb;
use rapier3d_f64::parry::partitioning::{Bvh, BvhBuildStrategy};
use rapier3d_f64::parry::query::Ray;
use sdf::{Collision, Geometry, Link, Model, Pose, World};
use serde_json::json;

const ROWS: u32 = 16;
const COLUMNS: u32 = 1024;
const RANGE: f64 = 60.0;
const STATICS: u32 = 400;
const MOVERS: u32 = 200;
const ROBOTS: usize = 100;
const TURNS: usize = 15;

fn main() {
    let world = Arc::new(world());
    let mut cell = Cell::new(Arc::clone(&world));
    for (index, model) in world.models.iter().enumerate() {
        if model.is_static {
            cell.insert_static(index);
        } else {
            cell.insert_performer(PerformerId(index as u32), index);
        }
    }
    let bare = Bare::new(&world);
    let directions = directions();
    let mut least = [f64::INFINITY; 4];
    let mut hits = [0; 2];
    for _ in 0..TURNS {
        let times = [
            timed(|| hits[0] = scan(&cell, &directions)),
            timed(|| hits[1] = bare.scan(&directions)),
        ];
        cell.step(0.001);
        let first = timed(|| {
            scan(&cell, &directions);
        });
        cell.step(0.001);
        let all = timed(|| {
            for _ in 0..ROBOTS {
                scan(&cell, &directions[..COLUMNS as usize]);
            }
        });
        for (least, time) in least.iter_mut().zip(times.into_iter().chain([first, all])) {
            *least = least.min(time);
        }
    }
    assert!(
        hits[0] > directions.len() / 4,
        "{hits:?}: the rays meet little"
    );
    let rays = directions.len() as f64;
    let [ours, bares, after_step, robots] = least;
    let line = json!({
        "bench": "sensors",
        "rays": directions.len(),
        "shapes": world.models.len(),
        "hits": hits,
        "rays_per_s": rays / ours,
        "bare_rays_per_s": rays / bares,
        "ratio": bares / ours,
        "trees_after_a_step_us": (after_step - ours).max(0.0) * 1e6,
        "scans_of_100_robots_ms": robots * 1e3,
    });
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn timed(act: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    act();
    begin.elapsed().as_secs_f64()
}

/// Returns how many rays meet something.
fn scan(cell: &Cell, directions: &[[f64; 3]]) -> usize {
    let scan = Scan {
        origin: [0.0; 3],
        begin: 0.0,
        end: RANGE,
        own_link: None,
    };
    let mut hits = 0;
    cell.cast_rays(&scan, directions.iter().copied(), |echo| {
        hits += usize::from(!matches!(black_box(echo), Echo::Nothing));
    });
    hits
}

/// The same shapes in one tree, as parry has them.
struct Bare {
    tree: Bvh,
    shapes: Vec<(SharedShape, RapierPose)>,
}

impl Bare {
    fn new(world: &World) -> Self {
        let shapes = world.models.iter().map(|model| {
            let at = Vector::from_array(model.pose.position);
            let shape = match model.links[0].collisions[0].geometry {
                Geometry::Box { size: [x, y, z] } => SharedShape::cuboid(x / 2.0, y / 2.0, z / 2.0),
                Geometry::Sphere { radius } => SharedShape::ball(radius),
                _ => unreachable!("the world has boxes and balls"),
            };
            (shape, RapierPose::from_translation(at))
        });
        let shapes: Vec<(SharedShape, RapierPose)> = shapes.collect();
        let boxes = shapes.iter().map(|(shape, at)| shape.compute_aabb(at));
        let boxes: Vec<Aabb> = boxes.collect();
        Self {
            tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes),
            shapes,
        }
    }

    fn scan(&self, directions: &[[f64; 3]]) -> usize {
        let mut hits = 0;
        for direction in directions {
            let ray = Ray::new(Vector::ZERO, Vector::from_array(*direction));
            let hit = self.tree.cast_ray(&ray, RANGE, |index, limit| {
                let (shape, at) = &self.shapes[index as usize];
                shape.cast_ray(at, &ray, limit, true)
            });
            hits += usize::from(black_box(hit).is_some());
        }
        hits
    }
}

fn directions() -> Vec<[f64; 3]> {
    let rays = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
    let direction = |(row, column): (u32, u32)| {
        let rise = (f64::from(row) / f64::from(ROWS) - 0.5) * 0.6;
        let turn = f64::from(column) / f64::from(COLUMNS) * std::f64::consts::TAU;
        [rise.cos() * turn.cos(), rise.cos() * turn.sin(), rise.sin()]
    };
    rays.map(direction).collect()
}

/// Returns boxes that never move and balls that do, around the origin but not there.
fn world() -> World {
    let mut models: Vec<Model> = Vec::new();
    for number in 0..STATICS + MOVERS {
        let part = |factor: f64| (f64::from(number) * factor).sin();
        let distance = 6.0 + 40.0 * part(1.7).abs();
        let turn = f64::from(number) * 2.399_963;
        let at = [
            distance * turn.cos(),
            distance * turn.sin(),
            4.0 * part(2.9),
        ];
        let moves = number >= STATICS;
        let geometry = if moves {
            Geometry::Sphere { radius: 0.5 }
        } else {
            Geometry::Box {
                size: [1.0, 1.5, 2.5],
            }
        };
        let pose = Pose {
            position: at,
            ..Pose::IDENTITY
        };
        let mut link = Link::new("link", pose);
        link.collisions = vec![Collision::new("shape", Pose::IDENTITY, geometry)];
        link.gravity = false;
        let mut model = Model::new(&format!("m{number}"), vec![link], Vec::new());
        model.is_static = !moves;
        models.push(model);
    }
    World {
        models,
        ..World::default()
    }
}
