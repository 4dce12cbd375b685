//! Shows that messages of ROS 2 are what other programs take them for: the package `rosbags` of
//! `PyPI` reads all definitions, has the same fingerprints, writes random messages of every type
//! that are read and written again byte for byte, and reads what conversions make. Bytes that are
//! cut or altered are refused without a panic and without memory beyond what was sent.
//!
//! Without `PyPI` the tests that need it say so and show nothing.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use expect_test::expect_file;
use ros2::Type;
use ros2::convert::{PAIRS, Pair};
use serde_json::{Value, json};
use tests::processes::Scratch;
use tests::python::{Package, Python};
use tests::{repository, required};

const ROSBAGS: Package = Package {
    name: "rosbags",
    version: "0.11.9",
    module: "rosbags",
};
/// Patience with the oracle.
const TIMEOUT: Duration = Duration::from_mins(3);
/// Number of random messages of each type.
const DRAWN: usize = 40;
/// Number of altered messages of each drawn one.
const ALTERED: usize = 200;
/// Memory that a message takes while it is read, by its size: a text in memory is six times as
/// large as on the wire, where it has a length alone.
const MEMORY_FACTOR: u64 = 8;
/// Memory beyond that \[bytes\].
const MEMORY_MORE: u64 = 1024;

/// The package that answers.
struct Oracle {
    python: Python,
    scratch: Scratch,
}

impl Oracle {
    /// Finds it, or says why it is not there.
    fn find() -> Option<Self> {
        let scratch = Scratch::new();
        let python = Python::prepare("ros2-python", &scratch)
            .and_then(|python| python.require(&ROSBAGS, &scratch).map(|()| python));
        match python {
            Ok(python) => Some(Self { python, scratch }),
            Err(error) => {
                required::skip(required::ROSBAGS, &error);
                None
            }
        }
    }

    fn ask(&self, mode: &str, question: &Value) -> Value {
        let [source, target] = ["question.json", "answer.json"].map(|name| self.scratch.path(name));
        std::fs::write(&source, question.to_string()).expect("a question is written");
        let program = repository::root().join("tests/tests/ros2_encoding/oracle.py");
        let arguments = [Path::new(mode), &source, &target];
        let said = self
            .python
            .run(&self.scratch, &program, &arguments, TIMEOUT);
        said.unwrap_or_else(|error| panic!("{error}"));
        let answer = std::fs::read(target).expect("an answer is read");
        serde_json::from_slice(&answer).expect("an answer is JSON")
    }

    /// Returns random messages of every type, with the seed that draws them again.
    fn draw(&self) -> Vec<(&'static Type, Vec<u8>)> {
        let seed = seed();
        let question = json!({ "seed": seed, "count": DRAWN, "definitions": definitions() });
        let drawn = self.ask("draw", &question);
        let drawn = drawn.as_array().expect("messages are a list").iter();
        let drawn = drawn.map(|message| {
            let name = message["type"].as_str().expect("a type has a name");
            let cdr = message["cdr"].as_str().expect("bytes are hexadecimal");
            (ros2::types::find(name).expect("it is known"), bytes(cdr))
        });
        drawn.collect()
    }
}

/// Returns a seed and prints it; `ROS2_SEED` repeats one.
fn seed() -> u64 {
    let given = std::env::var("ROS2_SEED").ok();
    let given = given.and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(1, |now| u64::from(now.subsec_nanos()))
    });
    eprintln!("seed {seed}; ROS2_SEED={seed} repeats it");
    seed
}

fn definitions() -> Value {
    let types = ros2::types::all();
    types
        .map(|known| json!({ "name": known.name, "definition": known.definition() }))
        .collect()
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).expect("it is hexadecimal") as u8;
    let pairs = hexadecimal.as_bytes().chunks_exact(2);
    pairs
        .map(|pair| digit(&pair[0]) << 4 | digit(&pair[1]))
        .collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[test]
fn definitions_are_read_and_have_the_fingerprints_of_ros() {
    let Some(oracle) = Oracle::find() else {
        return;
    };
    let answer = oracle.ask("describe", &definitions());
    let (mut compared, mut beyond) = (0, Vec::new());
    // Parts of services and actions are compared by their bytes alone: the package has no names of
    // theirs, and a fingerprint holds the name.
    let messages = ros2::types::all().filter(|known| known.name.contains("/msg/"));
    for known in messages {
        let fingerprint = known.fingerprint();
        let answer = &answer[known.name];
        assert_eq!(answer["own"], fingerprint.as_str(), "{}", known.name);
        if answer["jazzy"].is_null() {
            beyond.push(known.name);
        } else {
            assert_eq!(answer["jazzy"], fingerprint.as_str(), "{}", known.name);
            compared += 1;
        }
    }
    eprintln!(
        "{compared} types are those of Jazzy, {} beyond it",
        beyond.len()
    );
    assert!(compared > 50, "{compared} types were compared");
    let others = [
        "ros_gz_",
        "actuator_",
        "vision_msgs/",
        "simulation_interfaces/",
        "ue_msgs/",
        "phalanx_msgs/",
        "action_msgs/srv/",
    ];
    let is_ours = |name: &&str| !others.iter().any(|other| name.starts_with(other));
    assert_eq!(beyond.iter().find(|name| is_ours(name)), None);
}

#[test]
fn random_messages_of_every_type_are_read_and_written_again_byte_for_byte() {
    let Some(oracle) = Oracle::find() else {
        return;
    };
    let drawn = oracle.draw();
    assert_eq!(drawn.len(), ros2::types::all().count() * DRAWN);
    for (known, cdr) in drawn {
        let name = known.name;
        let again = known.normalized(&cdr);
        let again = again.unwrap_or_else(|error| panic!("{name}: {error}: {}", hexadecimal(&cdr)));
        // Payloads are padded to multiples of 4 bytes, which is not part of the message.
        let padding = cdr.strip_prefix(again.as_slice());
        let is_padded = padding.is_some_and(|rest| rest.len() < 4 && rest.iter().all(|b| *b == 0));
        assert!(
            is_padded,
            "{name}: {} became {}",
            hexadecimal(&cdr),
            hexadecimal(&again)
        );
    }
}

/// Draws numbers by xorshift.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }

    /// Alters bytes: cuts them, flips bits, or puts a large count somewhere.
    fn alter(&mut self, cdr: &mut Vec<u8>) {
        for _ in 0..=self.roll(3) {
            let at = self.roll(cdr.len());
            match self.roll(4) {
                0 => cdr.truncate(at),
                1 => cdr[at] ^= 1 << self.roll(8),
                2 => {
                    let count = [u32::MAX, 0x7fff_ffff, 1 << 20, 257][self.roll(4)].to_le_bytes();
                    for (place, byte) in cdr[at & !3..].iter_mut().zip(count) {
                        *place = byte;
                    }
                }
                _ => cdr.extend((0..self.roll(64)).map(|_| 0xff)),
            }
            if cdr.is_empty() {
                cdr.push(0);
            }
        }
    }
}

#[test]
fn altered_messages_are_refused_without_a_panic_and_without_memory_that_nobody_sent() {
    // Conversions of messages that are full, so that this needs no other program.
    let seed = seed();
    let mut dice = Dice(seed | 1);
    let (mut refused, mut read) = (0, 0);
    for pair in PAIRS {
        let full = encode(pair, &sample(pair));
        for _ in 0..ALTERED {
            let mut cdr = full.clone();
            dice.alter(&mut cdr);
            let mut result = None;
            let memory = allocation_counter::measure(|| {
                result = Some(pair.ros_type.normalized(&cdr).is_ok());
            });
            // The message that is written again is twice as large at most.
            let bound = (MEMORY_FACTOR + 2) * cdr.len() as u64 + MEMORY_MORE;
            let name = pair.ros_type.name;
            assert!(
                memory.bytes_max <= bound,
                "{name} took {} bytes for {}: {}",
                memory.bytes_max,
                cdr.len(),
                hexadecimal(&cdr)
            );
            match result {
                Some(true) => read += 1,
                _ => refused += 1,
            }
            let _ = ros2::decode_to(pair.kind, name, &cdr);
        }
    }
    eprintln!("{refused} altered messages were refused, {read} are others");
    assert!(
        refused > 1000 && read > 1000,
        "{refused} refused, {read} read"
    );
}

/// Returns a message of a pair's kind in which no two numbers and texts are equal.
fn sample(pair: &Pair) -> Value {
    let kind = messages::find(pair.kind).expect("kinds of pairs are known");
    let mut sample = filled("", &kind.schema(), &mut 0);
    match pair.kind {
        "gz.msgs.LaserScan" => {
            sample["count"] = json!(2);
            sample["vertical_count"] = json!(1);
        }
        // Their headers are where the frames of poses are.
        "gz.msgs.Pose_V" => {
            for pose in sample["pose"].as_array_mut().into_iter().flatten() {
                pose["header"] = header(77);
            }
        }
        "gz.msgs.PoseWithCovariance" => sample["pose"]["header"] = header(78),
        _ => {}
    }
    if sample.get("header").is_some() {
        sample["header"] = header(79);
    }
    sample
}

fn header(nanoseconds: u32) -> Value {
    json!({
        "stamp": { "sec": 12, "nsec": nanoseconds },
        "data": [
            { "key": "frame_id", "value": ["robot::odom"] },
            { "key": "child_frame_id", "value": ["robot::base"] },
        ],
    })
}

/// Returns a value of a field of a schema; numbers and texts count on. Headers are empty.
fn filled(field: &str, schema: &Value, next: &mut u32) -> Value {
    match (field, schema["type"].as_str()) {
        ("header", _) => json!({}),
        ("type", _) => json!("COLLISION"),
        ("pixel_format_type", _) => json!("R_FLOAT32"),
        ("power_supply_status", _) => json!("CHARGING"),
        // That of a camera.
        ("model", Some("string")) => json!("EQUIDISTANT"),
        (_, Some("object")) => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let filled = |(name, schema): (&String, _)| (name.clone(), filled(name, schema, next));
            // The numbers of a covariance are a message of their own.
            match field {
                "covariance" => json!({ "data": list(36, &json!({ "type": "number" }), next) }),
                _ => fields.map(filled).collect(),
            }
        }
        ("k" | "rectification_matrix", Some("array")) => list(9, &schema["items"], next),
        ("p", Some("array")) => list(12, &schema["items"], next),
        (_, Some("array")) => list(2, &schema["items"], next),
        (_, Some("boolean")) => json!(true),
        (_, Some("string")) if schema["contentEncoding"] == "base64" => json!([1, 2, 3, 255]),
        (_, kind) => {
            *next += 1;
            match kind {
                Some("string") => json!(format!("text{next}")),
                Some("integer") => json!(*next),
                _ => json!(f64::from(*next) + 0.5),
            }
        }
    }
}

fn list(length: usize, items: &Value, next: &mut u32) -> Value {
    (0..length).map(|_| filled("", items, next)).collect()
}

fn encode(pair: &Pair, message: &Value) -> Vec<u8> {
    let kind = messages::find(pair.kind).expect("kinds of pairs are known");
    let payload = kind.from_json(message.clone());
    let payload = payload.unwrap_or_else(|error| panic!("{}: {error:?}: {message}", pair.kind));
    ros2::encode(pair.kind, &payload, pair.ros_type.name)
        .unwrap_or_else(|error| panic!("{}: {error}", pair.kind))
}

#[test]
fn conversions_are_read_as_expected() {
    let Some(oracle) = Oracle::find() else {
        return;
    };
    let samples: Vec<Value> = PAIRS.iter().map(sample).collect();
    let of_pairs = || PAIRS.iter().zip(&samples);
    let encoded: Vec<Value> = of_pairs()
        .map(|(pair, sample)| {
            let cdr = hexadecimal(&encode(pair, sample));
            json!({ "type": pair.ros_type.name, "cdr": cdr })
        })
        .collect();
    let question = json!({ "definitions": definitions(), "messages": encoded });
    let answer = oracle.ask("read", &question);
    let mut text = String::new();
    for ((pair, sample), read) in of_pairs().zip(answer.as_array().into_iter().flatten()) {
        let (kind, name) = (pair.kind, pair.ros_type.name);
        let _ = writeln!(text, "{kind}\n{sample}\n{name}\n{read}\n");
    }
    expect_file!["ros2_encoding/conversions.txt"].assert_eq(&text);
}
