//! Shows that a recording is published again in ROS 2: a node on Fast DDS reads each message of
//! odometry once and in order, at the speed that is asked for, with the time of the simulation. The
//! view publishes what it plays, and nothing while it is paused.
//!
//! A build without ROS 2, and a machine without Fast DDS, say so and show nothing.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use serde_json::Value;
use tests::fast_dds::{self, FastPeer};
use tests::processes::{Scratch, TIMEOUT, binary};
use tests::screen::Screen;
use tests::{repository, required, ros_domain};

const ODOMETRY: &str = "nav_msgs/msg/Odometry=i1u1s2d7d36d6d36";
const TOPICS: [&str; 2] = ["/model/r0/odometry", "/model/r1/odometry"];
const ITERATIONS: u64 = 8000;
/// Iterations of 1 ms between two messages of odometry.
const INTERVAL: u64 = 10;
const SPEED: u64 = 4;

#[test]
fn a_recording_is_published_again_at_the_speed_that_is_asked_for() {
    check("phalanx");
}

#[test]
fn so_is_one_for_programs_of_ros() {
    check("ros2");
}

/// Shows it of a recording in a format.
fn check(format: &str) {
    let Some(program) = fast_dds::program() else {
        return;
    };
    let scratch = Scratch::new();
    let file = scratch.path("run.mcap");
    record(&scratch, &file, format, ITERATIONS);
    let domain = ros_domain::take();
    let mut command = scratch.phalanx();
    command
        .arg("replay")
        .arg(&file)
        .args(["--ros2", "--headless"]);
    command.args(["--ros-domain", &domain, "--ros-localhost-only", "on"]);
    command.args(["--speed", &SPEED.to_string(), "--await-reader", "/clock"]);
    command.args(TOPICS.map(|topic| format!("--await-reader={topic}")));
    let mut replay = scratch.start("replay", &mut command);
    let topics = TOPICS.map(|topic| format!("{topic}={ODOMETRY}"));
    let clock = "/clock=rosgraph_msgs/msg/Clock=i1u1";
    let arguments = [&domain, "--localhost-only", clock, &topics[0], &topics[1]];
    if replay.ended().is_some() || is_without_ros(&scratch) {
        return required::skip(required::ROS2, &replay.stderr());
    }
    let mut peer = FastPeer::start(&mut Command::new(program), &arguments);
    let mut heard: [Vec<u64>; 3] = Default::default();
    let mut began = None;
    let wanted = (ITERATIONS / INTERVAL) as usize;
    while heard[..2].iter().any(|one| one.len() < wanted) {
        let line = peer.next(TIMEOUT).expect("messages come in time");
        began.get_or_insert_with(Instant::now);
        let topic = line["topic"].as_str().expect("each has a topic");
        let place = TOPICS.iter().position(|one| *one == topic).unwrap_or(2);
        heard[place].push(stamp_ms(&line["values"]));
    }
    let took = began.expect("it began").elapsed().as_millis() as u64;
    assert_eq!(replay.wait(), 0, "{}", replay.stderr());
    let expected: Vec<u64> = (1..=ITERATIONS / INTERVAL).map(|n| n * INTERVAL).collect();
    assert_eq!(heard[0], expected);
    assert_eq!(heard[1], expected);
    let time = &heard[2];
    assert!(time.is_sorted_by(|one, next| one < next), "{time:?}");
    assert!(time.len() > 100, "time is told often: {time:?}");
    // Not as fast as it can: the machine may make it slower, and the first message late.
    let least = ITERATIONS / SPEED / 2;
    assert!(took >= least, "it took {took} ms, and not {least} ms");
}

/// Records a run of two robots.
fn record(scratch: &Scratch, file: &Path, format: &str, iterations: u64) {
    let mut record = Command::new(binary("worker"));
    record.args(["--record-format", format, "--record-rate", "100"]);
    record.args(["--real-time-factor", "0", "--iterations"]);
    record.arg(iterations.to_string()).arg("--record").arg(file);
    record.arg(repository::root().join("tests/tests/ros2_run/two_levels.sdf"));
    let mut record = scratch.start("record", &mut record);
    assert_eq!(record.wait(), 0, "{}", record.stderr());
}

/// Listens until a message with this stamp \[ms\], and returns the stamps of all until then.
fn listen_until(peer: &mut FastPeer, end: u64) -> Vec<u64> {
    let mut stamps = Vec::new();
    while stamps.last() != Some(&end) {
        let line = peer.next(TIMEOUT).expect("messages come in time");
        stamps.push(stamp_ms(&line["values"]));
    }
    stamps
}

#[test]
fn the_view_of_a_recording_publishes_what_it_plays() {
    const END: u64 = 3000;
    let Some(program) = fast_dds::program() else {
        return;
    };
    let scratch = Scratch::new();
    let file = scratch.path("run.mcap");
    record(&scratch, &file, "phalanx", END);
    if is_without_ros(&scratch) {
        return required::skip(required::ROS2, "built without ROS 2");
    }
    let domain = ros_domain::take();
    let mut command = CommandBuilder::new(binary("phalanx"));
    command.arg("replay");
    command.arg(&file);
    command.args(["--ros2", "--ros-domain", &domain]);
    command.args(["--ros-localhost-only", "on"]);
    command.env("PHALANX_RUNTIME_DIR", scratch.path(""));
    command.env("PHALANX_CONFIG", "/dev/null");
    command.env("TERM", "xterm-256color");
    let mut screen = Screen::start(command, 30, 110);
    screen.wait_for("PAUSED");
    let topic = format!("{}={ODOMETRY}", TOPICS[0]);
    let arguments = [&domain, "--localhost-only", &topic];
    let mut peer = FastPeer::start(&mut Command::new(program), &arguments);
    peer.tell(&format!("wait 1 {}", TIMEOUT.as_secs()));
    peer.hear("a publisher", |line| line["known"] == 1);
    // It may lack the first messages, while the publisher does not know it yet.
    screen.press(" ");
    listen_until(&mut peer, END);
    screen.wait_for("PAUSED");

    screen.press(":seek 0\r");
    screen.wait_for("sim 0.000 s");
    screen.press(" ");
    let mut stamps = listen_until(&mut peer, END / 3);
    screen.press(" ");
    screen.wait_for("PAUSED");
    // What was on its way comes, and then nothing.
    while let Some(line) = peer.next(Duration::from_millis(500)) {
        stamps.push(stamp_ms(&line["values"]));
    }
    assert!(stamps.last() < Some(&END), "it has stopped: {stamps:?}");
    screen.press(" ");
    stamps.extend(listen_until(&mut peer, END));
    let expected: Vec<u64> = (1..=END / INTERVAL).map(|n| n * INTERVAL).collect();
    assert_eq!(stamps, expected);
    screen.press("q");
    assert_eq!(screen.wait(), (0, true), "{}", screen.contents());
}

fn is_without_ros(scratch: &Scratch) -> bool {
    let (_, _, said) = scratch.phalanx_says(&["ros2-control", "--domain=0", "no-such-run"]);
    said.contains("built without ROS 2")
}

/// Returns the stamp that a message begins with \[ms\].
fn stamp_ms(values: &Value) -> u64 {
    let part = |place: usize| values[place].as_u64().expect("a stamp has numbers");
    part(0) * 1000 + part(1) / 1_000_000
}
