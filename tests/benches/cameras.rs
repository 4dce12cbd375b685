//! Measures the images of a camera: 640 x 480 pixels with smooth edges of a world with 200 visuals
//! on a ground, a quarter of them moving, under a sun whose shadows are drawn; the camera turns and
//! travels between images.
//!
//! Prints one JSON line: the time of an image, the part of one core that ten in each second take,
//! and for how many rays of a lidar among the collisions of the same world that time would do, both
//! measured in turns in the same run. Run it with `cargo bench -p tests --bench cameras`. The bench
//! `views` of `render_gpu` compares such images with those of somebody else's renderer.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use physics::{Cell, Echo, Scan};
use protocol::PerformerId;
use render::{Camera, Intrinsics, Painter, Pose, Renderer, Stage, View};
use scene::{Assets, Scene};
use sdf::{NoFiles, World};
use serde_json::json;

const SIZE: [usize; 2] = [640, 480];
const VISUALS: u32 = 200;
const RAYS: u32 = 16_384;
const TURNS: u32 = 15;
/// Images in a second.
const RATE: f64 = 10.0;

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
    let mut assets = Assets::default();
    let scene = Scene::from_worlds(std::slice::from_ref(&*world), &NoFiles, &mut assets);
    let stage = Stage::new(&scene.worlds[0], &assets);
    let mut painter = Painter::default();
    let mut least = [f64::INFINITY; 4];
    for turn in 0..TURNS {
        cell.step(0.001);
        let links = cell.links_of_movers();
        let place = |model: usize, _: u32, start: &Pose| {
            let own = links.iter().find(|(index, _)| *index == model);
            own.map_or(Some(*start), |(_, links)| Some(numbers(&links[0])))
        };
        let camera = camera(turn);
        let view = View {
            stage: &stage,
            place: &place,
            elapsed_s: 0.0,
            camera: &camera,
            size: SIZE,
            samples: 2,
            visibility_mask: u32::MAX,
            sees_backs: false,
            has_headlight: false,
        };
        let rough = View { samples: 1, ..view };
        let times = [
            timed(|| drop(black_box(painter.paint(&view)))),
            timed(|| drop(black_box(painter.paint(&rough)))),
            timed(|| drop(black_box(painter.look(&view)))),
            timed(|| scan(&cell)),
        ];
        for (least, time) in least.iter_mut().zip(times) {
            *least = least.min(time);
        }
    }
    let [image, rough, labels, rays] = least;
    let line = json!({
        "bench": "cameras",
        "pixels": SIZE[0] * SIZE[1],
        "visuals": VISUALS,
        "image_ms": image * 1e3,
        "image_without_smooth_edges_ms": rough * 1e3,
        "labels_ms": labels * 1e3,
        "core_at_10_hz": image * RATE,
        "lidar_rays_in_that_time": image / rays * f64::from(RAYS),
        "pixels_per_lidar_ray": (SIZE[0] * SIZE[1]) as f64 / image / (f64::from(RAYS) / rays),
    });
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn timed(act: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    act();
    begin.elapsed().as_secs_f64()
}

/// Returns a camera that drives and turns a little from image to image.
fn camera(turn: u32) -> Camera {
    let intrinsics = Intrinsics {
        size: SIZE,
        focal: [554.0; 2],
        center: [320.0, 240.0],
    };
    let yaw = 0.02 * f64::from(turn);
    let pose = [
        0.1 * f64::from(turn),
        0.0,
        1.0,
        0.0,
        0.0,
        (yaw / 2.0).sin(),
        (yaw / 2.0).cos(),
    ];
    Camera::pinhole(&pose, &intrinsics, [0.1, 100.0])
}

fn numbers(pose: &sdf::Pose) -> Pose {
    let mut numbers = [0.0; 7];
    numbers[..3].copy_from_slice(&pose.position);
    numbers[3..].copy_from_slice(&pose.orientation_xyzw);
    numbers
}

/// Casts the rays of a lidar.
fn scan(cell: &Cell) {
    let scan = Scan {
        origin: [0.0, 0.0, 1.0],
        begin: 0.1,
        end: 100.0,
        own_link: None,
    };
    let direction = |ray: u32| {
        let (row, column) = (f64::from(ray / 1024), f64::from(ray % 1024));
        let (rise, turn) = (0.03 * (row - 8.0), column / 1024.0 * std::f64::consts::TAU);
        [rise.cos() * turn.cos(), rise.cos() * turn.sin(), rise.sin()]
    };
    let mut hits = 0;
    cell.cast_rays(&scan, (0..RAYS).map(direction), |echo| {
        hits += usize::from(!matches!(black_box(echo), Echo::Nothing));
    });
    black_box(hits);
}

/// Returns boxes, cylinders and balls around a place that is free, on a ground.
fn world() -> World {
    let mut models = String::new();
    for number in 0..VISUALS {
        let part = |factor: f64| (f64::from(number) * factor).sin();
        let distance = 3.0 + 30.0 * part(1.7).abs();
        let turn = f64::from(number) * 2.399_963;
        let (x, y) = (distance * turn.cos(), distance * turn.sin());
        let shape = match number % 3 {
            0 => "<box><size>0.8 0.6 1.6</size></box>",
            1 => "<cylinder><radius>0.4</radius><length>1.6</length></cylinder>",
            _ => "<sphere><radius>0.7</radius></sphere>",
        };
        let color = [1.3, 2.1, 3.7].map(|factor| 0.5 + 0.4 * part(factor));
        let _ = write!(
            models,
            "<model name='m{number}'><static>{}</static><pose>{x} {y} 0.8 0 0 {turn}</pose>\
             <link name='l'><collision name='c'><geometry>{shape}</geometry></collision>\
             <visual name='v'><geometry>{shape}</geometry><material><diffuse>{} {} {}</diffuse>\
             <specular>0.4 0.4 0.4</specular></material></visual></link></model>",
            number % 4 != 0,
            color[0],
            color[1],
            color[2],
        );
    }
    let text = format!(
        "<sdf version='1.11'><world name='w'><gravity>0 0 0</gravity><scene><sky/></scene>\
         <light name='sun' type='directional'><direction>0.3 0.2 -1</direction>\
         <cast_shadows>1</cast_shadows></light><model name='ground'><static>1</static>\
         <link name='l'><collision name='c'><geometry><plane/></geometry></collision>\
         <visual name='v'><geometry><plane><size>200 200</size></plane></geometry></visual></link>\
         </model>{models}</world></sdf>"
    );
    let read = sdf::read_worlds(&text, "bench.sdf", &NoFiles).expect("the text is a world");
    read.worlds.into_iter().next().expect("it holds one")
}
