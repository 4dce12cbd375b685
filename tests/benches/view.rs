//! Measures what the view costs: time and bytes per frame that changes, with 1,000 performers on 8
//! peers; processor use of a view of a run at 1,000 steps per second; and what five views that
//! watch a run cost its steps.
//!
//! Prints one JSON line. The run and its views are real processes in real pseudo-terminals; runs
//! with and without views are measured in turns. Run it with `cargo bench -p tests --bench view`,
//! after `cargo build --release --workspace`.

// The root of a bench looks for modules beside itself, where Cargo would take them for benches.
#[path = "view/scene.rs"]
mod scene;

use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use client::feed::Feed;
use portable_pty::CommandBuilder;
use protocol::SessionTime;
use serde_json::{Value, json};
use tests::processes::{Process, Scratch, binary, wait_for};
use tests::screen::Screen;
use view::app::event::{Event, Key};
use view::app::model::Model;
use view::app::update::update;
use view::ui::painting::Painting;

/// The screen on which frames are measured: columns and rows.
const SIZE: (u16, u16) = (120, 40);
/// Frames per panel.
const FRAMES: u64 = 60;
/// The panels, by their keys.
const PANELS: [(char, &str); 9] = [
    ('1', "overview"),
    ('2', "peers"),
    ('3', "levels"),
    ('4', "map"),
    ('5', "performers"),
    ('6', "latency"),
    ('7', "topics"),
    ('8', "events"),
    ('9', "logs"),
];
/// Number of views that watch the run.
const VIEWS: usize = 5;
/// Number of times that runs with and without views are measured.
const TURNS: usize = 3;
/// Time that one measurement takes; the figures of a run are those of its last second.
const MEASURED: Duration = Duration::from_secs(4);
/// Number of times that the run is asked within it.
const SAMPLES: u32 = 4;
/// Ticks of the kernel's clock per second, as in `/proc/PID/stat`.
const TICKS_PER_S: f64 = 100.0;

fn main() {
    let frames: Vec<(&str, Frames)> = PANELS
        .iter()
        .map(|(key, name)| (*name, measure_frames(*key)))
        .collect();
    let worst = |figure: fn(&Frames) -> f64| {
        frames
            .iter()
            .map(|(_, one)| figure(one))
            .fold(0.0, f64::max)
    };
    let (worst_ms, worst_bytes) = (worst(|one| one.frame_ms), worst(|one| one.frame_bytes));
    let panels: Vec<Value> = frames.iter().map(|(name, one)| one.report(name)).collect();
    let cost = measure_run();
    let line = json!({
        "bench": "view",
        "frame_ms_worst": worst_ms,
        "frame_bytes_worst": worst_bytes,
        "view_cpu": cost.view_cpu,
        "steps_per_s": cost.steps_per_s,
        "step_us_alone": cost.step_us_alone,
        "step_us_watched": cost.step_us_watched,
        "step_watched_over_alone": cost.step_us_watched / cost.step_us_alone,
        "panels": panels,
    });
    let _ = writeln!(io::stdout(), "{line}");
}

/// Medians over the frames of a panel.
struct Frames {
    frame_ms: f64,
    frame_bytes: f64,
}

impl Frames {
    fn report(&self, name: &str) -> Value {
        json!({ "panel": name, "frame_ms": self.frame_ms, "frame_bytes": self.frame_bytes })
    }
}

/// Counts what is written.
#[derive(Clone, Default)]
struct Counter(Rc<std::cell::Cell<usize>>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shows a fleet that moves, in frames of a tenth of a second; news counts as part of the frame.
fn measure_frames(panel: char) -> Frames {
    let mut model = Model::new("bench".to_owned(), false);
    for feed in scene::start() {
        update(&mut model, Event::Feed(feed), SessionTime(0));
    }
    update(&mut model, Event::Key(Key::Char(panel)), SessionTime(0));
    let counter = Counter::default();
    let mut painting = Painting::new(counter.clone(), SIZE).expect("a counter takes all");
    painting.draw(&mut model).expect("a counter takes all");
    let (mut times, mut bytes) = (Vec::new(), Vec::new());
    for frame in 1..=FRAMES {
        let news: Vec<Feed> = scene::tenth(frame);
        let before = counter.0.get();
        let begin = Instant::now();
        for feed in news {
            update(
                &mut model,
                Event::Feed(feed),
                SessionTime(frame * 100_000_000),
            );
        }
        painting.draw(&mut model).expect("a counter takes all");
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        bytes.push((counter.0.get() - before) as f64);
    }
    Frames {
        frame_ms: median(times),
        frame_bytes: median(bytes),
    }
}

/// Cost of views to a run.
struct Cost {
    view_cpu: f64,
    steps_per_s: f64,
    step_us_alone: f64,
    step_us_watched: f64,
}

fn measure_run() -> Cost {
    let scratch = Scratch::new();
    let run = start_run(&scratch);
    let (mut cpu, mut rates) = (Vec::new(), Vec::new());
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        alone.extend(samples(&scratch).iter().map(|one| one.step_us));
        let mut views: Vec<Screen> = (0..VIEWS).map(|_| attach(&scratch)).collect();
        for view in &mut views {
            view.wait_for("RUNNING");
        }
        let before: f64 = views.iter().map(|view| cpu_time_s(view.pid())).sum();
        let begin = Instant::now();
        let measured = samples(&scratch);
        let after: f64 = views.iter().map(|view| cpu_time_s(view.pid())).sum();
        let elapsed = begin.elapsed().as_secs_f64();
        cpu.push((after - before) / elapsed / VIEWS as f64);
        watched.extend(measured.iter().map(|one| one.step_us));
        rates.extend(measured.iter().map(|one| one.steps_per_s));
    }
    drop(run);
    Cost {
        view_cpu: median(cpu),
        steps_per_s: median(rates),
        step_us_alone: median(alone),
        step_us_watched: median(watched),
    }
}

fn start_run(scratch: &Scratch) -> Process {
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "--name",
        "r",
        "--headless",
        "--real-time-factor",
        "1",
    ]);
    let run = scratch.start("run", &mut command);
    wait_for("the run goes on", || {
        stats(scratch).is_some_and(|stats| stats["iteration"].as_u64() > Some(1000))
    });
    run
}

fn attach(scratch: &Scratch) -> Screen {
    let mut command = CommandBuilder::new(binary("phalanx"));
    command.args(["attach", "r"]);
    command.env("PHALANX_RUNTIME_DIR", scratch.path(""));
    command.env("PHALANX_CONFIG", "/dev/null");
    command.env("TERM", "xterm-256color");
    command.env("LANG", "C.UTF-8");
    Screen::start(command, SIZE.1, SIZE.0)
}

/// A run's figures of one second.
struct Sample {
    step_us: f64,
    steps_per_s: f64,
}

/// Asks the run several times; the first second, in which views come, does not count.
fn samples(scratch: &Scratch) -> Vec<Sample> {
    std::thread::sleep(Duration::from_secs(1));
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        std::thread::sleep(MEASURED / SAMPLES);
        let stats = stats(scratch).expect("the run answers");
        samples.push(Sample {
            step_us: stats["recent_step_us"]["p50"].as_f64().expect("a number"),
            steps_per_s: stats["steps_per_s"].as_f64().expect("a number"),
        });
    }
    samples
}

fn stats(scratch: &Scratch) -> Option<Value> {
    let mut command = scratch.phalanx();
    let output = command
        .args(["show", "r", "stats", "--format", "json"])
        .output()
        .expect("phalanx starts");
    serde_json::from_slice(&output.stdout).ok()
}

/// Returns the processor time that a process has used \[s\].
fn cpu_time_s(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the view runs");
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // By proc(5), user and system time are fields 14 and 15; the first here is 3.
    let ticks = |field: usize| fields[field - 3].parse::<f64>().expect("a number");
    (ticks(14) + ticks(15)) / TICKS_PER_S
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
