//! Shows that a recording in ROS 2's format holds what the usual recording of the same run holds:
//! real runs of a rover with one of each sensor are recorded both ways, and the packages `rosbags`
//! and `mcap-ros2-support` of `PyPI` read the messages, their times and their values.
//!
//! Without `PyPI` the test says so and shows nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recording::Recording;
use ros2::{Frames, Mapping, Rules};
use serde_json::{Value, json};
use tests::processes::Scratch;
use tests::python::{Package, Python};
use tests::{repository, required};

const PACKAGES: [Package; 2] = [
    Package {
        name: "rosbags",
        version: "0.11.9",
        module: "rosbags",
    },
    Package {
        name: "mcap-ros2-support",
        version: "0.6.0",
        module: "mcap_ros2",
    },
];
/// Patience with the packages.
const TIMEOUT: Duration = Duration::from_mins(3);
/// Number of iterations of each run, of 1 ms each.
const ITERATIONS: &str = "1000";

/// A message: simulated time \[ns\] and content.
type Message = (u64, Value);
/// Messages by topic and kind.
type Topics = BTreeMap<(String, String), Vec<Message>>;

/// Records a run in which the rover drives.
fn record(scratch: &Scratch, secondaries: &str, format: &str) -> PathBuf {
    let drive = json!({
        "iteration": 100, "topic": "/model/rover/cmd_vel", "type": "gz.msgs.Twist",
        "message": { "linear": { "x": 0.5 }, "angular": { "z": 0.25 } },
    });
    let commands = scratch.path("commands.jsonl");
    std::fs::write(&commands, format!("{drive}\n")).expect("commands are written");
    let path = scratch.path(&format!("{format}{secondaries}.mcap"));
    let world = repository::root().join("tests/tests/ros2_recording/yard.sdf");
    let [world, commands, file] =
        [&world, &commands, &path].map(|path| path.to_str().expect("paths are texts"));
    let (code, _, stderr) = scratch.phalanx_says(&[
        "run",
        world,
        "--headless",
        "--iterations",
        ITERATIONS,
        "--real-time-factor",
        "0",
        "--secondaries",
        secondaries,
        "--commands",
        commands,
        "--record",
        file,
        "--record-format",
        format,
    ]);
    assert_eq!(code, 0, "{stderr}");
    path
}

/// Reads the topics of the world from a usual recording.
fn usual(path: &Path) -> Topics {
    let file = File::open(path).expect("the recording is there");
    let mut recording = Recording::open(BufReader::new(file)).expect("it is one");
    let mut topics = Topics::new();
    for chunk in 0..recording.chunks().len() {
        for message in recording.messages(chunk).expect("chunks are whole") {
            let channel = &recording.channels()[&message.channel];
            if channel.own().is_none() {
                let content = serde_json::from_slice(&message.data).expect("messages are JSON");
                let key = (channel.topic.clone(), channel.schema.clone());
                let messages = topics.entry(key).or_default();
                messages.push((message.sim_time.0, content));
            }
        }
    }
    topics
}

/// Reads a recording in ROS 2's format.
fn read(python: &Python, scratch: &Scratch, path: &Path) -> BTreeMap<String, Value> {
    let program = repository::root().join("tests/tests/ros2_recording/reader.py");
    let answer = scratch.path("answer.json");
    let said = python.run(scratch, &program, &[path, &answer], TIMEOUT);
    said.unwrap_or_else(|error| panic!("{error}"));
    let answer = std::fs::read(answer).expect("an answer is written");
    serde_json::from_slice(&answer).expect("an answer is JSON")
}

fn messages(topic: &Value) -> Vec<Message> {
    let messages = topic["messages"].as_array().into_iter().flatten();
    let message = |message: &Value| {
        let time = message[0].as_u64().expect("times are numbers");
        (time, message[1].clone())
    };
    messages.map(message).collect()
}

/// Returns values of a message that both sides must have alike.
fn essence(kind: &str, usual: &Value, ros: &Value) -> Option<[Value; 2]> {
    let stamp = |message: &Value, nanoseconds: &str| {
        let stamp = &message["header"]["stamp"];
        json!([stamp["sec"], stamp[nanoseconds]])
    };
    let single = |list: &Value| -> Value {
        let numbers = list.as_array().into_iter().flatten();
        let single = |number: &Value| match number.as_f64() {
            Some(number) => json!(f64::from(number as f32)),
            None => number.clone(),
        };
        numbers.map(single).collect()
    };
    let (of_usual, of_ros) = match kind {
        "gz.msgs.Odometry" => (
            json!([
                usual["pose"]["position"]["x"],
                usual["twist"]["angular"]["z"]
            ]),
            json!([
                ros["pose"]["pose"]["position"]["x"],
                ros["twist"]["twist"]["angular"]["z"]
            ]),
        ),
        "gz.msgs.LaserScan" => (single(&usual["ranges"]), ros["ranges"].clone()),
        "gz.msgs.Model" => {
            let joints = usual["joint"].as_array().into_iter().flatten();
            let moving = joints.filter(|joint| !joint["axis1"].is_null());
            let positions = moving.map(|joint| joint["axis1"]["position"].clone());
            (positions.collect(), ros["position"].clone())
        }
        "gz.msgs.IMU" => {
            let part = |message: &Value| message["linear_acceleration"]["z"].clone();
            (part(usual), part(ros))
        }
        "gz.msgs.NavSat" => (usual["latitude_deg"].clone(), ros["latitude"].clone()),
        "gz.msgs.FluidPressure" => (usual["pressure"].clone(), ros["fluid_pressure"].clone()),
        "gz.msgs.Altimeter" => {
            let part = |message: &Value| message["vertical_velocity"].clone();
            (part(usual), part(ros))
        }
        "gz.msgs.Magnetometer" => (
            usual["field_tesla"]["x"].clone(),
            ros["magnetic_field"]["x"].clone(),
        ),
        "gz.msgs.Image" | "gz.msgs.PointCloudPacked" => {
            let bytes = usual["data"].as_str().map(str::len);
            // Base64 has four characters for three bytes, hexadecimal six.
            let hexadecimal = ros["data"].as_str().map(|text| text.len().div_ceil(6) * 4);
            (
                json!([usual["width"], bytes]),
                json!([ros["width"], hexadecimal]),
            )
        }
        _ => return None,
    };
    Some([
        json!([stamp(usual, "nsec"), of_usual]),
        json!([stamp(ros, "nanosec"), of_ros]),
    ])
}

#[test]
fn both_formats_hold_the_same_messages_at_the_same_times_with_the_same_values() {
    let scratch = Scratch::new();
    let python = Python::prepare("ros2-python", &scratch).and_then(|python| {
        let mut packages = PACKAGES.iter();
        let required = packages.try_for_each(|package| python.require(package, &scratch));
        required.map(|()| python)
    });
    let python = match python {
        Ok(python) => python,
        Err(error) => return required::skip(required::ROSBAGS, &error),
    };
    let usual = usual(&record(&scratch, "0", "phalanx"));
    let ros = read(&python, &scratch, &record(&scratch, "0", "ros2"));
    let mapping = Mapping::new(&Rules::default()).expect("no rules are right");
    let (mut compared, mut kinds) = (0, Vec::new());
    for ((topic, kind), said) in &usual {
        let name = match mapping.outbound(topic, kind) {
            Some(mapped) => mapped.name,
            None => panic!("{topic} of {kind} has no type in ROS"),
        };
        let heard = messages(&ros[&name]);
        assert_eq!(said.len(), heard.len(), "{topic}");
        assert_eq!(
            ros[&name]["type"],
            mapping.outbound(topic, kind).unwrap().type_name
        );
        for ((said_at, said), (heard_at, heard)) in said.iter().zip(&heard) {
            assert_eq!(said_at, heard_at, "{topic}");
            if let Some([said, heard]) = essence(kind, said, heard) {
                assert_eq!(said, heard, "{topic} at {said_at} ns");
                compared += 1;
            }
        }
        kinds.push(kind.as_str());
    }
    eprintln!(
        "{compared} messages have the same values, of {} topics",
        usual.len()
    );
    assert!(compared > 1000, "{compared} messages were compared");
    assert!(kinds.contains(&"gz.msgs.Twist"), "{kinds:?}");
    let own = ["/clock", "/tf", "/tf_static"];
    assert_eq!(ros.len(), usual.len() + own.len());
    check_clock_and_frames(&ros, &mapping);
    // Who hosted the rover makes no difference.
    let shared = read(&python, &scratch, &record(&scratch, "2", "ros2"));
    assert!(
        ros == shared,
        "a run of two secondaries is recorded differently"
    );
}

/// Checks topics that are no topics of the world.
fn check_clock_and_frames(ros: &BTreeMap<String, Value>, mapping: &Mapping) {
    for (time, clock) in messages(&ros["/clock"]) {
        let nanoseconds = clock["clock"]["sec"]
            .as_u64()
            .zip(clock["clock"]["nanosec"].as_u64());
        assert_eq!(
            nanoseconds,
            Some((time / 1_000_000_000, time % 1_000_000_000))
        );
    }
    assert_eq!(messages(&ros["/clock"]).len(), 31);
    let frames = |name: &str| -> Vec<[String; 2]> {
        let mut found: Vec<[String; 2]> = Vec::new();
        for (_, message) in messages(&ros[name]) {
            for frame in message["transforms"].as_array().into_iter().flatten() {
                let names = [&frame["header"]["frame_id"], &frame["child_frame_id"]];
                let names = names.map(|name| name.as_str().unwrap_or_default().to_owned());
                if !found.contains(&names) {
                    found.push(names);
                }
            }
        }
        found.sort();
        found
    };
    let names = |pairs: &[[&str; 2]]| -> Vec<[String; 2]> {
        pairs.iter().map(|pair| pair.map(str::to_owned)).collect()
    };
    let moving = [["rover/odom", "rover/body"], ["world", "rover/odom"]];
    assert_eq!(frames("/tf"), names(&moving));
    let fixed = frames("/tf_static");
    assert!(
        fixed.contains(&names(&[["rover/body", "rover/body/lidar"]])[0]),
        "{fixed:?}"
    );
    // Frames that stay are written once.
    assert_eq!(ros["/tf_static"]["count"], 1);
    let qos = mapping.transforms(Frames::Fixed).qos;
    let offered = json!([qos.depth, "RELIABLE", "TRANSIENT_LOCAL"]);
    assert_eq!(ros["/tf_static"]["qos"], offered);
    assert_eq!(ros["/lidar"]["qos"], json!([5, "BEST_EFFORT", "VOLATILE"]));
}
