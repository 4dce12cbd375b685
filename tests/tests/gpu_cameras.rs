//! Shows that cameras see the same on a GPU, and that nothing else of a run notices: a real run of
//! `worlds/cameras.sdf` is recorded with each renderer; digests are equal and images alike. A
//! setting that cannot be met ends a run before it begins, with the reason.
//!
//! Comes after `cargo build -p worker -p orchestrator --features worker/gpu`; a build without that
//! feature, and a machine without a Vulkan driver, show the errors alone.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tests::processes::{Scratch, binary, wait_for};
use tests::repository;

/// Images of a run by topic, in the order of time: width, and all bytes.
type Images = BTreeMap<String, Vec<Vec<u8>>>;

/// The topics of images of colours.
const COLORS: [&str; 4] = [
    "/rover/image",
    "/rover/rgbd/image",
    "/rover/boxes_image",
    "/rover/wide",
];

/// Environment in which the loader of Vulkan finds no driver.
const NO_DRIVER: [(&str, &str); 2] = [
    ("VK_DRIVER_FILES", "/dev/null"),
    ("VK_ICD_FILENAMES", "/dev/null"),
];

/// Tells whether the worker was built with renderers of a GPU.
fn has_feature() -> bool {
    let output = Command::new(binary("worker")).arg("--version").output();
    let text = output.expect("the worker starts").stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    let features = text.lines().find_map(|line| line.strip_prefix("features "));
    features.is_some_and(|features| features.split(' ').any(|name| name == "gpu"))
}

/// Runs the world by a renderer; returns the exit code, what the run said, its digests and images.
fn run(renderer: &str, environment: &[(&str, &str)]) -> (i32, String, String, Images) {
    let scratch = Scratch::new();
    let [digests, record] = ["digests", "run.mcap"].map(|name| scratch.path(name));
    let mut command = scratch.phalanx();
    command.current_dir(repository::root());
    command.args(["run", "worlds/cameras.sdf", "--name", "sight", "--headless"]);
    command.args(["--secondaries", "0", "--iterations", "250"]);
    command.args(["--real-time-factor", "0", "--renderer", renderer]);
    command.arg("--digests").arg(&digests);
    command.arg("--record").arg(&record);
    command.envs(environment.iter().copied());
    let mut process = scratch.start("run", &mut command);
    let code = process.wait();
    let said = process.stdout() + &process.stderr();
    let digests = fs::read_to_string(digests).unwrap_or_default();
    let images = fs::read(record).map_or_else(|_| Images::new(), |bytes| images_of(&bytes));
    (code, said, digests, images)
}

fn images_of(recording: &[u8]) -> Images {
    let mut images = Images::new();
    for message in mcap::MessageStream::new(recording).expect("it is a recording") {
        let message = message.expect("it is whole");
        let schema = message.channel.schema.as_ref();
        if schema.is_none_or(|schema| schema.name != "gz.msgs.Image") {
            continue;
        }
        let content: Value = serde_json::from_slice(&message.data).expect("it is JSON");
        let bytes = STANDARD.decode(content["data"].as_str().expect("it has pixels"));
        let of_topic = images.entry(message.channel.topic.clone()).or_default();
        of_topic.push(bytes.expect("they are encoded"));
    }
    images
}

#[test]
fn a_gpu_draws_what_the_processor_draws_and_no_digest_tells() {
    if !has_feature() {
        let (code, said, ..) = run("gpu", &[]);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("built without renderers of a GPU"), "{said}");
        assert!(said.contains("--features worker/gpu"), "{said}");
        println!("shows nothing else: the worker has no renderers of a GPU");
        return;
    }
    let (code, said, digests, images) = run("gpu", &[]);
    if code == 3 && said.contains("there is no GPU with a Vulkan driver") {
        let is_required = std::env::var_os("PHALANX_REQUIRE_GPU").is_some();
        assert!(!is_required, "{said}");
        println!("shows nothing: {said}");
        return;
    }
    assert_eq!(code, 0, "{said}");
    let (code, said, expected_digests, expected) = run("cpu", &[]);
    assert_eq!(code, 0, "{said}");
    assert!(!digests.is_empty() && digests == expected_digests);
    assert_eq!(
        images.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>()
    );
    for (topic, all) in &expected {
        assert_eq!(all.len(), images[topic].len(), "{topic}");
        let mut sum = 0.0;
        let mut others = 0;
        let mut count = 0;
        for (one, other) in all.iter().flatten().zip(images[topic].iter().flatten()) {
            sum += f64::from(one.abs_diff(*other));
            others += usize::from(one != other);
            count += 1;
        }
        let (mean, part) = (sum / f64::from(count), others as f64 / f64::from(count));
        println!(
            "{topic}: {} images, mean {mean:.3}, other {part:.4}",
            all.len()
        );
        if COLORS.contains(&topic.as_str()) {
            // The near plane of the wide camera's view downwards is in the roof of the rover, to
            // the last bit: one renderer sees that, the other does not.
            let mean_max = if topic == "/rover/wide" { 3.0 } else { 0.5 };
            assert!(mean < mean_max, "{topic}: {mean}");
            assert!(part > 0.0, "{topic} is of another renderer");
        } else {
            // Labels and temperatures are others at edges alone.
            assert!(part < 0.02, "{topic}: {part}");
        }
    }
    assert!(COLORS.iter().all(|topic| images.contains_key(*topic)));
}

#[test]
fn a_machine_without_a_device_says_so_before_the_run_begins() {
    if !has_feature() {
        return;
    }
    let (code, said, digests, _) = run("gpu", &NO_DRIVER);
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("there is no GPU with a Vulkan driver"),
        "{said}"
    );
    assert!(said.contains("--renderer cpu"), "{said}");
    assert!(digests.lines().count() <= 1, "{digests}");
}

#[test]
fn by_auto_the_processor_draws_where_no_gpu_is_faster() {
    let (code, said, digests, images) = run("auto", &NO_DRIVER);
    assert_eq!(code, 0, "{said}");
    let (code, said, expected_digests, expected) = run("cpu", &[]);
    assert_eq!(code, 0, "{said}");
    assert!(!digests.is_empty() && digests == expected_digests);
    assert!(!images.is_empty() && images == expected);
}

#[test]
fn peers_name_the_gpu_that_draws() {
    if !has_feature() || run("gpu", &[]).0 != 0 {
        println!("shows nothing: no GPU draws here");
        return;
    }
    let by_gpu = gpu_of_secondary("gpu");
    assert!(
        by_gpu.as_str().is_some_and(|name| !name.is_empty()),
        "{by_gpu}"
    );
    assert_eq!(gpu_of_secondary("cpu"), Value::Null);
}

/// Returns the GPU that a secondary draws on by a renderer, as `phalanx show` tells it.
fn gpu_of_secondary(renderer: &str) -> Value {
    let scratch = Scratch::new();
    let mut command = scratch.phalanx();
    command.current_dir(repository::root());
    command.args([
        "run",
        "worlds/cameras.sdf",
        "--name",
        "sight",
        "--headless",
        "--paused",
    ]);
    command.args(["--secondaries", "1", "--renderer", renderer]);
    let mut process = scratch.start("run", &mut command);
    let mut peers = Value::Null;
    wait_for("the secondary is ready", || {
        let (code, out, _) = scratch.phalanx_says(&["show", "sight", "peers", "--format", "json"]);
        if code != 0 {
            return false;
        }
        peers = serde_json::from_str(&out).expect("JSON");
        peers[1]["state"] == "active" || peers[1]["state"] == "standby"
    });
    let (code, _, err) = scratch.phalanx_says(&["ctl", "sight", "stop"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(process.wait(), 0, "{}", process.stderr());
    peers[1]["gpu"].clone()
}
