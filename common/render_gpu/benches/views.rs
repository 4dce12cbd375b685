//! Measures images of both renderers, in turns in the same run: with smooth edges, of a world with
//! 200 visuals on a ground under a sun whose shadows are drawn, in 640 x 480 and in 1920 x 1080
//! pixels; the camera turns and travels between images. The first size is drawn again with two
//! point and two spot lights besides, which cast no shadows, and which do.
//!
//! Both are compared in a process of its own, too: the processor's renderer with Mesa's lavapipe,
//! which somebody else has written for the same processor. It has one thread there and is given the
//! same scene, with its shadows, shading and samples; what counts is the time of a core.
//!
//! Prints one JSON line: the device, for each size and light images in a second by the processor
//! and by the GPU, and images of labels by the GPU; of the reference, milliseconds of a core for an
//! image with smooth edges, without and of labels by both, and how many times as fast our own is.
//! Run it with `cargo bench -p render_gpu`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use render::{Camera, Intrinsics, Painter, Renderer, Stage, View};
use render_gpu::Gpu;
use scene::{Assets, Scene};
use sdf::NoFiles;
use serde_json::{Value, json};

const VISUALS: u32 = 200;
const SIZES: [[usize; 2]; 2] = [[640, 480], [1920, 1080]];

/// Images of the processor beside a GPU, and beside the reference, which takes long for each.
const TURNS: u32 = 15;
const TURNS_OF_REFERENCE: u32 = 7;

/// Time for which the GPU draws after each of them \[s\]: one image of a slow one.
const TURN_TIME: f64 = 0.1;

/// Argument of the process that compares with the reference.
const REFERENCE: &str = "--reference";

/// Variable by which lavapipe knows how many threads it may start.
const THREADS: &str = "LP_NUM_THREADS";

fn main() {
    if std::env::args().any(|argument| argument == REFERENCE) {
        return say(&reference());
    }
    let reference = reference_apart();
    let gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(error) => {
            let error = error.to_string();
            return say(&json!({"bench": "views", "error": error, "reference": reference}));
        }
    };
    let stage = stage_under("");
    let lit = ["false", "true"].map(|casts| stage_under(&lamps(casts)));
    let compare = |stage: &Stage, size| {
        let [own, of_gpu] = times(stage, &|| gpu.renderer(), size, (TURNS, wall_s));
        json!({
            "width": size[0],
            "height": size[1],
            "processor_images_per_s": 1.0 / own.smooth,
            "gpu_images_per_s": 1.0 / of_gpu.smooth,
            "gpu_labels_per_s": 1.0 / of_gpu.labels,
            "times_as_fast": own.smooth / of_gpu.smooth,
        })
    };
    say(&json!({
        "bench": "views",
        "device": gpu.name(),
        "visuals": VISUALS,
        "sizes": SIZES.map(|size| compare(&stage, size)),
        "with_lamps": compare(&lit[0], SIZES[0]),
        "with_shadows_of_lamps": compare(&lit[1], SIZES[0]),
        "reference": reference,
    }));
}

fn say(line: &Value) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Returns the figures of a process in which the reference starts no threads.
fn reference_apart() -> Value {
    let own = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new(own);
    command.arg(REFERENCE).env(THREADS, "0");
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.expect("the same program starts once more");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        let error = format!("it ended with {}", output.status);
        json!({ "error": error })
    })
}

/// Returns what both take of a core.
fn reference() -> Value {
    let gpu = match Gpu::open_software() {
        Ok(gpu) => gpu,
        Err(error) => return json!({"error": error.to_string()}),
    };
    let stage = stage_under("");
    let lit = stage_under(&lamps("true"));
    let compare = |stage: &Stage, size| {
        let both = times(
            stage,
            &|| gpu.renderer(),
            size,
            (TURNS_OF_REFERENCE, core_s),
        );
        let [own, reference] = both.map(|times| [times.smooth, times.rough, times.labels]);
        let times_as_fast: [f64; 3] = std::array::from_fn(|kind| reference[kind] / own[kind]);
        json!({
            "width": size[0],
            "height": size[1],
            "own_core_ms": own.map(|time| 1e3 * time),
            "reference_core_ms": reference.map(|time| 1e3 * time),
            "own_times_as_fast": times_as_fast,
        })
    };
    json!({
        "device": gpu.name(),
        "driver": gpu.driver(),
        "kinds": ["smooth edges", "without", "labels"],
        "sizes": SIZES.map(|size| compare(&stage, size)),
        "with_shadows_of_lamps": compare(&lit, SIZES[0]),
    })
}

/// Times of an image \[s\].
struct Times {
    /// With smooth edges.
    smooth: f64,
    /// Without.
    rough: f64,
    /// Of labels.
    labels: f64,
}

/// Returns the median times of the processor's renderer and of another one, in turns.
fn times(
    stage: &Stage,
    other: &dyn Fn() -> Box<dyn Renderer>,
    size: [usize; 2],
    (turns, now): (u32, Clock),
) -> [Times; 2] {
    let own = || -> Box<dyn Renderer> { Box::new(Painter::default()) };
    let mut drawn = [Drawn::by(&own), Drawn::by(other)];
    let mut image = 0;
    for _ in 0..turns {
        drawn[0].draw(stage, size, image, now);
        let begin = Instant::now();
        loop {
            drawn[1].draw(stage, size, image, now);
            image += 1;
            if begin.elapsed().as_secs_f64() > TURN_TIME {
                break;
            }
        }
    }
    drawn.map(|drawn| {
        let [smooth, rough, labels] = drawn.times.map(median);
        Times {
            smooth,
            rough,
            labels,
        }
    })
}

/// Images of a renderer.
struct Drawn {
    /// Draws smooth edges and labels.
    smooth: Box<dyn Renderer>,
    /// Draws without smooth edges: a camera has one or the other, and what is for it is kept.
    rough: Box<dyn Renderer>,
    /// Times of smooth images, others and labels \[s\].
    times: [Vec<f64>; 3],
}

impl Drawn {
    fn by(renderer: &dyn Fn() -> Box<dyn Renderer>) -> Self {
        Self {
            smooth: renderer(),
            rough: renderer(),
            times: [const { Vec::new() }; 3],
        }
    }

    /// Draws an image in each way and adds the times.
    fn draw(&mut self, stage: &Stage, size: [usize; 2], image: u32, now: Clock) {
        let camera = camera(image, size);
        let smooth = View {
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
        let rough = View {
            samples: 1,
            ..smooth
        };
        let begin = now();
        drop(black_box(self.smooth.paint(&smooth)));
        let painted = now();
        drop(black_box(self.rough.paint(&rough)));
        let roughly = now();
        drop(black_box(self.smooth.look(&smooth)));
        let looked = now();
        self.times[0].push(painted - begin);
        self.times[1].push(roughly - painted);
        self.times[2].push(looked - roughly);
        for renderer in [&mut self.smooth, &mut self.rough] {
            assert_eq!(renderer.take_problem(), None);
        }
    }
}

/// Returns a time from some beginning \[s\].
type Clock = fn() -> f64;

/// Returns what clocks show.
fn wall_s() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Returns how long cores have worked for this process, all its threads together.
fn core_s() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system counts for its processes");
    let times = [usage.user_time(), usage.system_time()];
    times
        .map(|time| time.num_microseconds() as f64 * 1e-6)
        .iter()
        .sum()
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
