//! Measures images of both renderers, in turns in the same run: with smooth edges, of a world with
//! 200 visuals on a ground under a sun whose shadows are drawn, in 640 x 480 and in 1920 x 1080
//! pixels; the camera turns and travels between images. The first size is drawn again with two
//! point and two spot lights besides, which cast no shadows, and which do.
//!
//! Prints one JSON line: the device, and for each size and light images in a second by the
//! processor and by the GPU, and images of labels by the GPU. Run it
//! with `cargo bench -p render_gpu`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use render::{Camera, Intrinsics, Painter, Renderer, Stage, View};
use render_gpu::Gpu;
use scene::{Assets, Scene};
use sdf::NoFiles;
use serde_json::{Value, json};

const VISUALS: u32 = 200;
const SIZES: [[usize; 2]; 2] = [[640, 480], [1920, 1080]];

/// Images of the processor.
const TURNS: u32 = 15;

/// Time for which the GPU draws after each of them \[s\]: one image of a slow one.
const TURN_TIME: f64 = 0.1;

fn main() {
    let gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(error) => {
            let line = json!({"bench": "views", "error": error.to_string()});
            return say(&line);
        }
    };
    let stage = stage_under("");
    let lit = ["false", "true"].map(|casts| stage_under(&lamps(casts)));
    say(&json!({
        "bench": "views",
        "device": gpu.name(),
        "visuals": VISUALS,
        "sizes": SIZES.map(|size| compare(&stage, gpu.renderer().as_mut(), size)),
        "with_lamps": compare(&lit[0], gpu.renderer().as_mut(), SIZES[0]),
        "with_shadows_of_lamps": compare(&lit[1], gpu.renderer().as_mut(), SIZES[0]),
    }));
}

fn say(line: &Value) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Returns the figures of a size.
fn compare(stage: &Stage, of_gpu: &mut dyn Renderer, size: [usize; 2]) -> Value {
    let mut of_processor = Painter::default();
    let mut times = [const { Vec::new() }; 3];
    let mut image = 0;
    for _ in 0..TURNS {
        times[0].push(timed(stage, size, image, |view| {
            drop(black_box(of_processor.paint(view)));
        }));
        let begin = Instant::now();
        loop {
            times[1].push(timed(stage, size, image, |view| {
                drop(black_box(of_gpu.paint(view)));
            }));
            times[2].push(timed(stage, size, image, |view| {
                drop(black_box(of_gpu.look(view)));
            }));
            image += 1;
            if begin.elapsed().as_secs_f64() > TURN_TIME {
                break;
            }
        }
        assert_eq!(of_gpu.take_problem(), None);
    }
    let [processor, images, labels] = times.map(median);
    json!({
        "width": size[0],
        "height": size[1],
        "processor_images_per_s": 1.0 / processor,
        "gpu_images_per_s": 1.0 / images,
        "gpu_labels_per_s": 1.0 / labels,
        "times_as_fast": processor / images,
    })
}

/// Returns the time that something takes with a view of the world \[s\].
fn timed(stage: &Stage, size: [usize; 2], image: u32, draw: impl FnOnce(&View<'_>)) -> f64 {
    let camera = camera(image, size);
    let view = View {
        stage,
        place: &|_, _, start| Some(*start),
        elapsed_s: 0.0,
        camera: &camera,
        size,
        samples: 2,
        visibility_mask: u32::MAX,
        sees_backs: false,
        has_headlight: false,
    };
    let begin = Instant::now();
    draw(&view);
    begin.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns a camera that drives and turns a little from image to image.
fn camera(image: u32, size: [usize; 2]) -> Camera {
    let center = size.map(|edge| edge as f64 / 2.0);
    let intrinsics = Intrinsics {
        size,
        focal: [1.73 * center[0]; 2],
        center,
    };
    let half = 0.001 * f64::from(image);
    let turn = half.sin_cos();
    let x = 0.01 * f64::from(image);
    Camera::pinhole(
        &[x, 0.0, 1.0, 0.0, 0.0, turn.0, turn.1],
        &intrinsics,
        [0.1, 100.0],
    )
}

/// Returns two lamps to all sides and two with cones, where the camera travels.
fn lamps(casts_shadows: &str) -> String {
    let lamp = |kind: &str, x: f64, y: f64, more: &str| {
        format!(
            "<light name='{kind} {x}' type='{kind}'><pose>{x} {y} 4 0 0 0</pose><attenuation>\
             <range>20</range><constant>0.6</constant></attenuation>{more}\
             <cast_shadows>{casts_shadows}</cast_shadows></light>"
        )
    };
    let cone = "<direction>0 0 -1</direction><spot><inner_angle>0.8</inner_angle>\
                <outer_angle>1.2</outer_angle></spot>";
    lamp("point", 3.0, 2.0, "")
        + &lamp("point", 8.0, -3.0, "")
        + &lamp("spot", 4.0, -1.0, cone)
        + &lamp("spot", 9.0, 1.0, cone)
}

/// Returns boxes, cylinders and balls around a place that is free, on a ground; a quarter may move.
fn stage_under(lamps: &str) -> Stage {
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
        let [red, green, blue] = [1.3, 2.1, 3.7].map(|factor| 0.5 + 0.4 * part(factor));
        let _ = write!(
            models,
            "<model name='m{number}'><static>{}</static><pose>{x} {y} 0.8 0 0 {turn}</pose>\
             <link name='l'><visual name='v'><geometry>{shape}</geometry><material><diffuse>{red} \
             {green} {blue}</diffuse></material></visual></link></model>",
            number % 4 != 0,
        );
    }
    let text = format!(
        "<sdf version='1.11'><world name='w'><scene><sky/></scene>\
         <light name='sun' type='directional'><direction>0.3 0.2 -1</direction>\
         <cast_shadows>1</cast_shadows></light>{lamps}<model name='ground'><static>1</static>\
         <link name='l'><visual name='v'><geometry><plane><size>200 200</size></plane></geometry>\
         </visual></link></model>{models}</world></sdf>"
    );
    let read = sdf::read_worlds(&text, "bench.sdf", &NoFiles).expect("the text is a world");
    let mut assets = Assets::default();
    let scene = Scene::from_worlds(&read.worlds, &NoFiles, &mut assets);
    Stage::new(&scene.worlds[0], &assets)
}
