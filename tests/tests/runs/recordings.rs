//! Shows that a recording holds what happened, whoever hosted what, and that the file alone is
//! enough to simulate it again. Real runs are recorded, and the files are read, cut, altered,
//! simulated again and shown.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use portable_pty::CommandBuilder;
use protocol::{Digest, Iteration, LinkPose, SimTime};
use recording::content::IterationDigest;
use recording::{Channel, LinkTransforms, Moment, Recording, RecordingWriter};
use tests::processes::{Scratch, binary, wait_for};
use tests::screen::Screen;

const ITERATIONS: usize = 600;

/// A model that comes during the run.
const CRATE: &str = "<sdf version='1.9'><model name='crate'><pose>0 0 3 0 0 0</pose><link name='l'>\
    <collision name='c'><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision></link>\
    </model></sdf>";

/// Returns the commands of each run: a robot drives, a ball is moved and kicked, a crate comes.
fn commands() -> String {
    let twist = serde_json::json!({ "linear": { "x": 0.5 } });
    let lines = [
        serde_json::json!({ "iteration": 50, "command": { "set-poses": {
            "poses": [{ "model": "ball", "pose": [-1, -1, 1, 0, 0, 0, 1] }],
        } } }),
        serde_json::json!({
            "iteration": 80, "topic": "/model/rover/cmd_vel", "type": "gz.msgs.Twist",
            "message": twist,
        }),
        serde_json::json!({ "iteration": 100, "command": { "spawn": {
            "sdf": CRATE, "name": null, "allow_renaming": false, "pose": null,
            "relative_to": null, "world": null,
        } } }),
        serde_json::json!({ "iteration": 120, "command": { "apply-wrench": {
            "link": "ball", "force": [5, 0, 2], "torque": [0, 0, 0], "duration_s": 0.1,
        } } }),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// Records a run of the demo's world by so many secondaries.
fn record(scratch: &Scratch, secondaries: u32, flags: &[&str]) -> PathBuf {
    let commands = scratch.path("commands.jsonl");
    std::fs::write(&commands, self::commands()).expect("a recording is written and read");
    let path = scratch.path(&format!("{secondaries}.mcap"));
    let count = ITERATIONS.to_string();
    let secondaries = secondaries.to_string();
    let mut arguments = vec![
        "run",
        "worlds/ramp.sdf",
        "--headless",
        "--iterations",
        &count,
    ];
    arguments.extend(["--real-time-factor", "0", "--secondaries", &secondaries]);
    arguments.extend([
        "--commands",
        commands.to_str().expect("a recording is written and read"),
    ]);
    arguments.extend([
        "--record",
        path.to_str().expect("a recording is written and read"),
    ]);
    arguments.extend(flags);
    let (code, _, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{stderr}");
    path
}

fn open(path: &Path) -> Recording<BufReader<File>> {
    Recording::open(BufReader::new(
        File::open(path).expect("a recording is written and read"),
    ))
    .expect("a recording is written and read")
}

fn replay(scratch: &Scratch, path: &Path, flags: &[&str]) -> (i32, String, String) {
    let mut arguments = vec![
        "replay",
        path.to_str().expect("a recording is written and read"),
    ];
    arguments.extend(flags);
    scratch.phalanx_says(&arguments)
}

/// Messages that were written on a channel, each with its time.
type Written = Vec<(SimTime, Vec<u8>)>;

/// Returns what was written on each channel that no host and no clock decides, and the order of all
/// that, as topics.
fn contents(path: &Path) -> (BTreeMap<(String, String), Written>, Vec<String>) {
    let mut recording = open(path);
    let mut contents: BTreeMap<_, Written> = BTreeMap::new();
    let mut order = Vec::new();
    for chunk in 0..recording.chunks().len() {
        for message in recording
            .messages(chunk)
            .expect("a recording is written and read")
        {
            let channel = &recording.channels()[&message.channel];
            let is_of_hosts = matches!(
                channel.own(),
                Some(
                    Channel::Affinity
                        | Channel::Events
                        | Channel::Stats
                        | Channel::Clock
                        | Channel::Links
                )
            );
            if !is_of_hosts {
                let key = (channel.topic.clone(), channel.publisher.clone());
                let entry = contents.entry(key).or_default();
                entry.push((message.sim_time, message.data));
                order.push(channel.topic.clone());
            }
        }
    }
    (contents, order)
}

/// Returns where links were as seen from their models, by their names and the time since when; each
/// chunk tells all of them again.
fn links(path: &Path) -> BTreeMap<(String, u64), LinkPose> {
    let mut links = BTreeMap::new();
    let mut take = |message: recording::Message| {
        let told: LinkTransforms = serde_json::from_slice(&message.data).expect("poses of links");
        for link in told.transforms {
            let time_ns = link.timestamp.sec * 1_000_000_000 + u64::from(link.timestamp.nsec);
            let pose = link.pose();
            links.insert((link.child_frame_id, time_ns), pose);
        }
        true
    };
    let read = open(path).each(Channel::Links, &mut take);
    read.expect("a recording is written and read");
    links
}

/// Writes a recording of the same run with another digest for an iteration.
fn with_another_digest(path: &Path, altered: &Path, iteration: usize) {
    let mut recording = open(path);
    let description = recording.description().clone();
    let worlds = recording.worlds().expect("a recording is written and read");
    let sink = File::create(altered).expect("a recording is written and read");
    let mut writer =
        RecordingWriter::new(sink, &description, &worlds).expect("a recording is written and read");
    for line in recording
        .commands()
        .expect("a recording is written and read")
        .lines()
    {
        writer
            .command(line, Moment::default())
            .expect("a recording is written and read");
    }
    let mut digests = recording
        .digests()
        .expect("a recording is written and read");
    digests[iteration - 1] = Digest(1);
    for (digest, number) in digests.into_iter().zip(1..) {
        let iteration = Iteration(number);
        writer
            .digest(IterationDigest { iteration, digest }, Moment::default())
            .expect("a recording is written and read");
    }
    writer.finish().expect("a recording is written and read");
}

#[test]
fn recordings_depend_on_no_host_and_replay_from_the_file_alone() {
    let scratch = Scratch::new();
    let alone = record(&scratch, 0, &["--record-states"]);
    let shared = record(&scratch, 2, &["--record-states"]);
    let [(first, order), (second, other_order)] = [&alone, &shared].map(|path| contents(path));
    let topics: Vec<_> = first.keys().map(|(topic, _)| topic.as_str()).collect();
    for expected in ["/phalanx/poses", "/phalanx/states", "/phalanx/commands"] {
        assert!(topics.contains(&expected), "{topics:?}");
    }
    assert!(topics.contains(&"/model/rover/odometry"), "{topics:?}");
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        second.keys().collect::<Vec<_>>()
    );
    for (channel, messages) in &first {
        assert!(messages == &second[channel], "{channel:?} differs");
    }
    // What was said in a step stands right behind its frame, whenever it arrived.
    let differs = order.iter().zip(&other_order).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the order differs");
    let wheels = links(&alone);
    assert!(wheels == links(&shared), "poses of links differ");
    let of_rover = wheels
        .keys()
        .filter(|(link, _)| link == "rover::left_wheel");
    // It drives from 80 ms on; the caster is fixed, and others have one link.
    assert!(of_rover.count() > 10, "{wheels:?}");
    assert!(wheels.keys().all(|(link, _)| link.ends_with("_wheel")));
    let digests = open(&alone).digests().unwrap();
    assert_eq!(digests.len(), ITERATIONS);
    assert_eq!(open(&alone).commands().unwrap().lines().count(), 4);
    for (path, flags) in [
        (&shared, &["--verify"][..]),
        (&alone, &["--verify", "--secondaries", "2"]),
    ] {
        let (code, stdout, stderr) = replay(&scratch, path, flags);
        assert_eq!(code, 0, "{stdout}{stderr}");
        let says = stdout.contains("all 600 iterations have the digests of the recording");
        assert!(says, "{stdout}");
    }
}

#[test]
fn a_digest_that_differs_is_named_with_its_iteration() {
    let scratch = Scratch::new();
    let path = record(&scratch, 0, &[]);
    let altered = scratch.path("altered.mcap");
    with_another_digest(&path, &altered, 321);
    for secondaries in ["0", "1"] {
        let flags = ["--verify", "--secondaries", secondaries];
        let (code, stdout, stderr) = replay(&scratch, &altered, &flags);
        assert_eq!(code, 5, "{stdout}{stderr}");
        assert!(stdout.contains("iteration 321 differs"), "{stdout}");
    }
}

#[test]
fn other_readers_find_every_message_with_its_schema_and_time() {
    let scratch = Scratch::new();
    let path = record(&scratch, 0, &["--record-rate", "0"]);
    let bytes = std::fs::read(path).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let statistics = summary.stats.unwrap();
    let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
    let mut last: BTreeMap<u16, u64> = BTreeMap::new();
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        let channel = &message.channel;
        *counts.entry(channel.id).or_default() += 1;
        let before = last.insert(channel.id, message.log_time).unwrap_or(0);
        assert!(before <= message.log_time, "{}", channel.topic);
        assert!(
            message.publish_time > 1_600_000_000_000_000_000,
            "the wall clock"
        );
        if channel.message_encoding == "json" {
            let value: serde_json::Value = serde_json::from_slice(&message.data).unwrap();
            let schema = channel.schema.as_ref().expect("JSON has a schema");
            let schema: serde_json::Value = serde_json::from_slice(&schema.data).unwrap();
            let fields = value.as_object().expect("every message is an object");
            for name in fields.keys() {
                let known = &schema["properties"][name];
                assert!(known.is_object(), "{}: {name}", channel.topic);
            }
        }
    }
    assert_eq!(counts, statistics.channel_message_counts);
    let poses = summary.channels.values();
    let poses = poses.clone().find(|one| one.topic == "/phalanx/poses");
    let poses = poses.expect("poses are recorded");
    let schema = poses.schema.as_ref().expect("poses have a schema");
    assert_eq!(schema.name, "foxglove.FrameTransforms");
    // One per iteration, that before the first, and those of the rounds of commands.
    let count = usize::try_from(counts[&poses.id]).unwrap();
    assert!((ITERATIONS + 1..ITERATIONS + 8).contains(&count), "{count}");
}

#[test]
fn a_run_that_is_killed_leaves_a_recording_up_to_then() {
    let scratch = Scratch::new();
    let path = scratch.path("killed.mcap");
    let mut command = std::process::Command::new(binary("worker"));
    command
        .current_dir(tests::repository::root())
        .arg("--record")
        .arg(&path)
        .args(["--real-time-factor", "0", "worlds/ramp.sdf"]);
    let run = scratch.start("run", &mut command);
    wait_for("iterations are in the file", || {
        let file = File::open(&path).ok();
        let read = file.and_then(|file| Recording::open(BufReader::new(file)).ok());
        let digests = read.and_then(|mut recording| recording.digests().ok());
        digests.is_some_and(|digests| digests.len() > 100)
    });
    run.signal("KILL");
    drop(run);
    let digests = open(&path).digests().unwrap();
    let (code, stdout, stderr) = replay(&scratch, &path, &["--info", "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let info: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(info["complete"], false);
    assert_eq!(info["iterations"], digests.len());
    let (code, stdout, stderr) = replay(&scratch, &path, &["--verify"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    let expected = format!("all {} iterations", digests.len());
    assert!(stdout.contains(&expected), "{stdout}");
}

#[test]
fn the_contents_of_a_cut_recording_are_listed() {
    let scratch = Scratch::new();
    let path = record(&scratch, 0, &[]);
    let (code, stdout, _) = replay(&scratch, &path, &["--info"]);
    assert_eq!(code, 0);
    for part in [
        "worlds      ramp",
        "iterations  600 of 0.001 s",
        "/model/rover/odometry",
    ] {
        assert!(stdout.contains(part), "no {part:?} in\n{stdout}");
    }
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (code, stdout, _) = replay(&scratch, &path, &["--info"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("breaks off at byte"), "{stdout}");
    assert!(stdout.contains("worlds      ramp"), "{stdout}");
}

#[test]
fn a_file_that_is_no_recording_is_refused() {
    let scratch = Scratch::new();
    let missing = scratch.path("none.mcap");
    let text = scratch.path("text.mcap");
    std::fs::write(&text, "<sdf/>").unwrap();
    for (path, expected) in [(&missing, "No such file"), (&text, "it is no MCAP file")] {
        for flag in ["--info", "--verify"] {
            let (code, stdout, stderr) = replay(&scratch, path, &[flag]);
            assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
            assert!(stderr.contains(expected), "{stderr}");
        }
    }
}

#[test]
fn a_recording_is_opened_sought_played_and_left_in_a_terminal() {
    let scratch = Scratch::new();
    let path = record(&scratch, 2, &[]);
    let mut command = CommandBuilder::new(binary("phalanx"));
    command.arg("replay");
    command.arg(&path);
    command.env("PHALANX_RUNTIME_DIR", scratch.path(""));
    command.env("PHALANX_CONFIG", "/dev/null");
    command.env("TERM", "xterm-256color");
    command.env_remove("NO_COLOR");
    let mut screen = Screen::start(command, 30, 110);
    let shown = screen.wait_for("PAUSED");
    assert!(shown.contains("recording"), "{shown}");
    screen.wait_for("0.600 s  1.00x");
    screen.press(":seek 0.3\r");
    screen.wait_for("sim 0.300 s");
    screen.press("n");
    screen.wait_for("sim 0.33");
    screen.press("b");
    screen.wait_for("sim 0.300 s");
    screen.press("<<");
    screen.wait_for("0.25x");
    screen.press(" ");
    screen.wait_for("PLAYING");
    screen.wait_for("sim 0.600 s");
    screen.wait_for("PAUSED");
    screen.press("5");
    screen.wait_for("crate");
    screen.press("x");
    screen.wait_for("this is a recording");
    screen.press("q");
    assert_eq!(screen.wait(), (0, true), "{}", screen.contents());
}
