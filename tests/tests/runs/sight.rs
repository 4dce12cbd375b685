//! Shows that sensors see across levels where they see by range: the same, bit for bit, for any
//! number of secondaries, across hand-offs and after a run is taken up again, and what they see in
//! the same world without levels. Real processes; scans and images are read from recordings.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use recording::Recording;
use serde_json::Value;
use tests::processes::{Scratch, kill_all_to_resume, wait_for};

/// Number of rays of a scan.
const RAYS: usize = 360;
/// Distance within which ranges are alike: farther than anything moves in a step \[m\].
const ALIKE: f64 = 0.01;
/// Number of rays and of pixels beside edges that a step of motion may turn.
const RAYS_AT_EDGES: usize = 3;
const PIXELS_AT_EDGES: usize = 40;

/// A robot with a lidar and a camera drives along x from the first of three levels into the second.
/// Others stand 8 m and 16 m before it, in the second and in the third one.
fn world(has_levels: bool) -> String {
    let inertia = "<inertial><mass>1</mass></inertial>";
    let cube = "<geometry><box><size>0.6 0.6 0.6</size></box></geometry>";
    let model = |name: &str, at: &str, way: &str, sensors: &str| {
        format!(
            "<model name='{name}'><pose>{at} 0 0 0</pose><link name='l'><gravity>false</gravity>\
             {inertia}<collision name='c'>{cube}</collision><visual name='v'>{cube}<material>\
             <ambient>1 1 0 1</ambient></material></visual>{sensors}</link>\
             <plugin filename='f' name='gz::sim::systems::VelocityControl'>\
             <initial_linear>{way}</initial_linear></plugin></model>"
        )
    };
    let sensors = "<sensor name='scan' type='gpu_lidar'><topic>scan</topic>\
        <update_rate>20</update_rate><lidar><scan><horizontal><samples>360</samples>\
        <min_angle>-3.14159</min_angle><max_angle>3.12414</max_angle></horizontal></scan>\
        <range><min>0.1</min><max>30</max></range></lidar></sensor>\
        <sensor name='eye' type='camera'><topic>eye</topic><pose>0.4 0 0 0 0 0</pose>\
        <update_rate>20</update_rate><camera><horizontal_fov>1.2</horizontal_fov><image>\
        <width>80</width><height>60</height></image><clip><near>0.1</near><far>40</far></clip>\
        </camera></sensor>";
    let level = |name: &str, x: f64| {
        format!(
            "<level name='{name}'><pose>{x} 0 0 0 0 0</pose><geometry><box><size>8 20 20</size>\
             </box></geometry><buffer>0.5</buffer></level>"
        )
    };
    let levels = ["west", "middle", "east"].iter().zip([-8.0, 0.0, 8.0]);
    let levels: String = levels.map(|(name, x)| level(name, x)).collect();
    let levels = format!("<plugin name='gz::sim' filename='none'>{levels}</plugin>");
    format!(
        "<sdf version='1.10'><world name='seen'><scene><background>0 0 0</background>\
         <ambient>1 1 1</ambient></scene>{}{}{}{}</world></sdf>",
        model("rover", "-7 0 0", "3 0 0", sensors),
        model("near", "1 1.5 0", "0 0.2 0", ""),
        model("far", "9 -2 0", "0 -0.2 0", ""),
        if has_levels { &levels } else { "" },
    )
}

/// A tetrahedron that reaches 1 m towards -x.
const WEDGE: &str = "v 0 -1 -1\nv 0 1 -1\nv 0 0 1\nv -1 0 0\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n";

/// A robot with a camera that sees 27 m far, and 47 m before it, in another level, one that reaches
/// 40 m towards it with what is drawn of it, and 0.2 m with what collides.
fn long_world(has_levels: bool) -> String {
    let model = |name: &str, x: f64, inner: &str| {
        format!(
            "<model name='{name}'><pose>{x} 0 0 0 0 0</pose><link name='l'><gravity>false</gravity>\
             <inertial><mass>1</mass></inertial><collision name='c'><geometry><sphere>\
             <radius>0.2</radius></sphere></geometry></collision>{inner}</link></model>"
        )
    };
    let eye = "<sensor name='eye' type='camera'><topic>eye</topic><pose>0.3 0 0 0 0 0</pose>\
        <update_rate>20</update_rate><camera><horizontal_fov>1.2</horizontal_fov><image>\
        <width>80</width><height>60</height></image><clip><near>0.1</near><far>20</far></clip>\
        </camera></sensor>";
    let wedge = "<visual name='v'><geometry><mesh><uri>wedge.obj</uri><scale>40 8 8</scale></mesh>\
        </geometry><material><ambient>1 1 0 1</ambient></material></visual>";
    let levels = "<plugin name='gz::sim' filename='none'><level name='west'>\
        <pose>-7 0 0 0 0 0</pose><geometry><box><size>8 20 20</size></box></geometry>\
        <buffer>0.5</buffer></level><level name='east'><pose>40 0 0 0 0 0</pose><geometry><box>\
        <size>8 20 20</size></box></geometry><buffer>0.5</buffer></level></plugin>";
    format!(
        "<sdf version='1.10'><world name='long'><scene><background>0 0 0</background>\
         <ambient>1 1 1</ambient></scene>{}{}{}</world></sdf>",
        model("rover", -7.0, eye),
        model("crane", 40.0, wedge),
        if has_levels { levels } else { "" },
    )
}

/// Scans and images of a recording, with the simulated time of each \[ns\].
#[derive(Default)]
struct Seen {
    /// Ranges of each scan \[m\].
    scans: Vec<(u64, Vec<f64>)>,
    /// Pixels of each image, in base64: four characters each.
    images: Vec<(u64, String)>,
}

impl Seen {
    fn read(path: &Path) -> Self {
        let file = File::open(path).expect("the recording is there");
        let mut recording = Recording::open(BufReader::new(file)).expect("it is one");
        let mut seen = Self::default();
        for chunk in 0..recording.chunks().len() {
            for message in recording.messages(chunk).expect("chunks are whole") {
                let topic = recording.channels()[&message.channel].topic.as_str();
                if !["/scan", "/eye"].contains(&topic) {
                    continue;
                }
                let content: Value =
                    serde_json::from_slice(&message.data).expect("messages are JSON");
                let time = message.sim_time.0;
                if topic == "/eye" {
                    let data = content["data"].as_str().expect("pixels are a text");
                    seen.images.push((time, data.to_owned()));
                    continue;
                }
                let ranges = content["ranges"].as_array().cloned().unwrap_or_default();
                let range = |value: &Value| value.as_f64().unwrap_or(f64::INFINITY);
                seen.scans.push((time, ranges.iter().map(range).collect()));
            }
        }
        assert!(seen.scans.iter().all(|(_, scan)| scan.len() == RAYS));
        seen
    }

    /// Returns how many rays of a scan meet something.
    fn met(&self, scan: usize) -> usize {
        let rays = self.scans[scan].1.iter();
        rays.filter(|range| range.is_finite()).count()
    }

    /// Returns how many pixels of an image show something.
    fn shown(&self, image: usize) -> usize {
        let pixels = self.images[image].1.as_bytes().chunks(4);
        pixels.filter(|pixel| *pixel != b"AAAA").count()
    }
}

/// A run that has ended.
struct Ended {
    seen: Seen,
    /// A digest of each message.
    messages: String,
    hand_offs: u64,
}

fn run(has_levels: bool, arguments: &[&str]) -> Ended {
    let arguments = [&["--iterations", "2000"], arguments].concat();
    let ended = run_text(&world(has_levels), &arguments);
    let counts = [ended.seen.scans.len(), ended.seen.images.len()];
    assert_eq!(counts, [41, 41], "20 a second, and one of the first step");
    ended
}

/// Runs a world beside which there is a mesh.
fn run_text(world: &str, arguments: &[&str]) -> Ended {
    let scratch = Scratch::new();
    fs::write(scratch.path("w.sdf"), world).expect("it can be written");
    fs::write(scratch.path("wedge.obj"), WEDGE).expect("it can be written");
    let [messages, recorded] = ["messages", "run.mcap"].map(|name| scratch.path(name));
    let mut command = scratch.phalanx();
    command.args(["run", "--name", "r", "--headless"]);
    command.args(["--real-time-factor", "0", "--format", "json", "--messages"]);
    command.arg(&messages).arg("--record").arg(&recorded);
    command.args(arguments).arg(scratch.path("w.sdf"));
    let mut process = scratch.start("run", &mut command);
    assert_eq!(process.wait(), 0, "{}", process.stderr());
    let summary: Value = serde_json::from_str(&process.stdout()).expect("it is JSON");
    Ended {
        seen: Seen::read(&recorded),
        messages: fs::read_to_string(messages).expect("the run has written it"),
        hand_offs: summary["events"]["hand_offs"].as_u64().unwrap_or_default(),
    }
}

/// Checks that what two runs saw is alike, but for what moves in a step.
fn check_alike(one: &Seen, other: &Seen) {
    for (scan, beside) in one.scans.iter().zip(&other.scans) {
        let rays = scan.1.iter().zip(&beside.1);
        let differ = rays.filter(|(one, other)| {
            let is_near = one.is_finite() && (**one - **other).abs() < ALIKE;
            !is_near && one.to_bits() != other.to_bits()
        });
        let differ = differ.count();
        assert!(differ <= RAYS_AT_EDGES, "{differ} rays at {} ns", scan.0);
    }
    for (image, beside) in one.images.iter().zip(&other.images) {
        let [pixels, others] = [image, beside].map(|(_, image)| image.as_bytes().chunks(4));
        let differ = pixels.zip(others).filter(|(one, other)| one != other);
        let differ = differ.count();
        assert!(
            differ <= PIXELS_AT_EDGES,
            "{differ} pixels at {} ns",
            image.0
        );
    }
}

#[test]
fn by_range_all_is_seen_as_without_levels_and_by_buffer_it_is_not() {
    let whole = run(false, &["--secondaries", "0"]).seen;
    assert!(whole.met(0) >= 4 && whole.shown(0) > 10, "both are seen");
    let by_buffer = run(true, &["--secondaries", "0"]).seen;
    assert_eq!((by_buffer.met(0), by_buffer.shown(0)), (0, 0));
    let by_range = run(true, &["--secondaries", "0", "--sight", "range"]);
    assert!(by_range.hand_offs >= 1, "the robot changes cell");
    check_alike(&whole, &by_range.seen);
    for (secondaries, threads) in [("1", "1"), ("3", "2")] {
        let arguments = ["--secondaries", secondaries, "--threads", threads];
        let other = run(true, &[&arguments[..], &["--sight", "range"]].concat());
        let lines = by_range.messages.lines().zip(other.messages.lines());
        for (one, other) in lines {
            assert_eq!(one, other, "with {secondaries} secondaries");
        }
        assert!(other.messages == by_range.messages, "{secondaries}");
        assert!(other.seen.images == by_range.seen.images, "{secondaries}");
    }
}

#[test]
fn what_a_visual_alone_makes_long_is_seen_as_far_as_it_reaches() {
    let images = |has_levels: bool, arguments: &[&str]| {
        let arguments = [&["--iterations", "120"], arguments].concat();
        run_text(&long_world(has_levels), &arguments).seen
    };
    let whole = images(false, &["--secondaries", "0"]);
    assert!(whole.images.len() >= 3 && whole.shown(0) > 10, "it is seen");
    for secondaries in ["0", "2"] {
        let by_range = ["--sight", "range", "--secondaries", secondaries];
        let by_range = images(true, &by_range);
        assert!(by_range.images == whole.images, "{}", by_range.shown(0));
    }
}

#[test]
fn images_after_a_run_is_taken_up_again_are_those_of_an_undisturbed_one() {
    let whole = run(true, &["--secondaries", "0", "--sight", "range"]).seen;
    let scratch = Scratch::new();
    fs::write(scratch.path("w.sdf"), world(true)).expect("it can be written");
    let mut command = scratch.phalanx();
    command.args(["run", "--detach", "--name", "r", "--secondaries", "2"]);
    command.args(["--iterations", "2000", "--real-time-factor", "0.2"]);
    command.args(["--sight", "range", "--checkpoint-every", "100", "--record"]);
    let recorded = scratch.path("run.mcap");
    command.arg(&recorded).arg(scratch.path("w.sdf"));
    assert_eq!(scratch.start("run", &mut command).wait(), 0);
    wait_for("a checkpoint and some steps", || {
        let (_, stdout, _) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
        let stats: Value = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        stats["iteration"].as_u64().is_some_and(|now| now >= 250)
    });
    kill_all_to_resume(&scratch);
    let resume = ["resume", "r", "--headless", "--secondaries", "3"];
    let (code, _, stderr) = scratch.phalanx_says(&resume);
    assert_eq!(code, 0, "{stderr}");
    let again = Seen::read(&scratch.path("run-resumed-1.mcap"));
    let after = again.images.first().expect("images are recorded").0;
    assert!(after > 0, "the rest alone is recorded");
    let rest = whole.images.iter().filter(|(time, _)| *time >= after);
    let rest: Vec<&(u64, String)> = rest.collect();
    assert!(
        again.images.iter().eq(rest),
        "{} images after {after} ns",
        again.images.len()
    );
    let rest = whole.scans.iter().filter(|(time, _)| *time >= after);
    assert!(again.scans.iter().eq(rest), "scans after {after} ns");
}
