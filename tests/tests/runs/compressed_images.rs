//! Shows that images of sensors are compressed for those who ask and nobody else is told of it:
//! real runs are recorded in each form and asked for images, and a decoder of others, Pillow in a
//! Python environment of its own, says what is in the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tests::processes::{Scratch, wait_for};
use tests::python::{Package, Python};

const PILLOW: Package = Package {
    name: "pillow",
    version: "12.0.0",
    module: "PIL",
};

/// A camera, one for distances and one for heat before a box and a ball.
const WORLD: &str = "<sdf version='1.11'><world name='w'>
  <light name='sun' type='directional'><direction>-0.5 0.3 -1</direction></light>
  <scene><background>0.2 0.4 0.8</background><ambient>0.4 0.4 0.4</ambient></scene>
  <model name='box'><static>true</static><pose>3 0.5 0.5 0 0 0.4</pose><link name='l'>
    <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>
    <visual name='v'><geometry><box><size>1 1 1</size></box></geometry>
      <material><diffuse>0.9 0.2 0.1</diffuse></material></visual></link></model>
  <model name='ball'><static>true</static><pose>2.5 -0.6 0.4 0 0 0</pose><link name='l'>
    <collision name='c'><geometry><sphere><radius>0.4</radius></sphere></geometry></collision>
    <visual name='v'><geometry><sphere><radius>0.4</radius></sphere></geometry>
      <material><diffuse>0.1 0.8 0.3</diffuse></material></visual></link></model>
  <model name='eyes'><static>true</static><pose>0 0 0.6 0 0 0</pose><link name='l'>
    <sensor name='eye' type='camera'><topic>eye</topic><update_rate>10</update_rate>
      <camera><image><width>160</width><height>120</height></image></camera></sensor>
    <sensor name='far' type='depth_camera'><topic>far</topic><update_rate>10</update_rate>
      <camera><image><width>80</width><height>60</height></image></camera></sensor>
    <sensor name='heat' type='thermal_camera'><topic>heat</topic><update_rate>10</update_rate>
      <camera><image><width>80</width><height>60</height><format>L16</format></image></camera>
    </sensor></link></model>
</world></sdf>";

/// Compares files with the pixels that they were made of: says format, mode, size, and how much
/// values differ at most and in the mean.
const COMPARE: &str = "
import array, base64, io, json, sys
from PIL import Image
for line in open(sys.argv[1]):
    one = json.loads(line)
    image = Image.open(io.BytesIO(base64.b64decode(one['file'])))
    image.load()
    data = base64.b64decode(one['pixels'])
    if one['format'] == 'R_FLOAT32':
        metres = array.array('f', data)
        expected = [int(x * 1000 + 0.5) if x < 65.535 else 0 for x in metres]
    elif one['format'] == 'L_INT16':
        expected = list(array.array('H', data))
    else:
        expected = list(data)
    parts = [one if isinstance(one, tuple) else (one,) for one in image.getdata()]
    found = [value for part in parts for value in part]
    assert len(found) == len(expected), (len(found), len(expected))
    gaps = [abs(a - b) for a, b in zip(found, expected)]
    print(json.dumps([image.format, image.mode, image.size, max(gaps), sum(gaps) / len(gaps)]))
";

/// Images of a recording: JSON by topic.
type Images = BTreeMap<String, Vec<Value>>;

fn world(scratch: &Scratch) -> PathBuf {
    let world = scratch.path("eyes.sdf");
    fs::write(&world, WORLD).expect("a world can be written");
    world
}

/// Records a run, and returns its digests and its images.
fn record(scratch: &Scratch, form: &str, flags: &[&str]) -> (String, Images) {
    let world = world(scratch);
    let [digests, file] = ["digests", "mcap"].map(|end| scratch.path(&format!("{form}.{end}")));
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--secondaries=0", "--iterations=250"]);
    command.args(["--real-time-factor=0", "--record-images", form]);
    command.args(flags).arg("--record").arg(&file);
    command.arg("--digests").arg(&digests).arg(&world);
    let ended = command.output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    let bytes = fs::read(&file).expect("a recording");
    let mut images = Images::new();
    for message in mcap::MessageStream::new(&bytes).expect("it is a recording") {
        let message = message.expect("it is whole");
        let schema = message.channel.schema.as_ref();
        let is_image = schema.is_some_and(|schema| schema.name.ends_with("Image"));
        if is_image {
            let content = serde_json::from_slice(&message.data).expect("it is JSON");
            let of_topic = images.entry(message.channel.topic.clone()).or_default();
            of_topic.push(content);
        }
    }
    let digests = fs::read_to_string(digests).expect("digests");
    (digests, images)
}

/// Has Pillow compare compressed images with those that they were made of.
fn compare(scratch: &Scratch, pairs: &[(&Value, &Value)]) -> Option<Vec<Value>> {
    let lines = pairs.iter().map(|(raw, compressed)| {
        let line = json!({
            "format": raw["pixel_format_type"], "pixels": raw["data"], "file": compressed["data"],
        });
        format!("{line}\n")
    });
    let [script, input] = ["compare.py", "images.jsonl"].map(|name| scratch.path(name));
    fs::write(&script, COMPARE).expect("a script can be written");
    fs::write(&input, lines.collect::<String>()).expect("images can be written");
    let python = Python::prepare("images-python", scratch)
        .and_then(|python| python.require(&PILLOW, scratch).map(|()| python));
    let python = match python {
        Ok(python) => python,
        Err(reason) => {
            eprintln!("nothing more is shown without Pillow: {reason}");
            return None;
        }
    };
    let input: &[&Path] = &[&input];
    let said = python.run(scratch, &script, input, Duration::from_mins(2));
    let said = said.unwrap_or_else(|error| panic!("{error}"));
    let each = said.lines().map(serde_json::from_str);
    Some(each.map(|one| one.expect("it says JSON")).collect())
}

#[test]
fn recordings_have_images_in_the_form_that_is_asked_for_and_others_read_them() {
    let scratch = Scratch::new();
    let (digests, raw) = record(&scratch, "raw", &[]);
    let (with_jpeg, jpeg) = record(&scratch, "jpeg", &["--jpeg-quality=90"]);
    let (with_png, png) = record(&scratch, "png", &[]);
    assert!(!digests.is_empty() && digests == with_jpeg && digests == with_png);
    let length = |image: &Value| image["data"].as_str().expect("it is base64").len();
    let [plain, small] = [&raw["/eye"][0], &jpeg["/eye/compressed"][0]].map(length);
    assert!(small < plain / 5, "{small} of {plain}");
    let topics = |images: &Images| images.keys().cloned().collect::<Vec<_>>();
    assert_eq!(topics(&raw), ["/eye", "/far", "/heat"]);
    let expected = [
        "/eye/compressed",
        "/far/compressedDepth",
        "/heat/compressed",
    ];
    assert_eq!(topics(&jpeg), expected);
    assert_eq!(topics(&png), expected);
    let mut pairs = Vec::new();
    for images in [&jpeg, &png] {
        for ((topic, of_topic), compressed) in raw.iter().zip(images.values()) {
            assert_eq!(of_topic.len(), compressed.len(), "{topic}");
            assert!(of_topic.len() >= 2, "{topic}");
            let (last, made) = (of_topic.last(), compressed.last());
            let (last, made) = (last.expect("an image"), made.expect("an image"));
            let stamp = &last["header"]["stamp"];
            assert_eq!(made["timestamp"]["nsec"], stamp["nsec"]);
            pairs.push((last, made));
        }
    }
    let formats: Vec<&Value> = pairs.iter().map(|(_, made)| &made["format"]).collect();
    assert_eq!(formats, ["jpeg", "png", "png", "png", "png", "png"]);
    let Some(found) = compare(&scratch, &pairs) else {
        return;
    };
    let [colours, rest @ ..] = found.as_slice() else {
        panic!("Pillow says something of each image");
    };
    assert_eq!(colours[0], "JPEG");
    assert_eq!(colours[2], json!([160, 120]));
    let mean = colours[4].as_f64().expect("a mean");
    assert!(mean < 2.0, "{colours}");
    for one in rest {
        assert_eq!((&one[0], &one[3]), (&json!("PNG"), &json!(0)), "{one}");
    }
}

#[test]
fn whoever_asks_a_run_for_compressed_images_gets_them() {
    let scratch = Scratch::new();
    let mut command = scratch.phalanx();
    command.args(["run", "--name", "r", "--headless", "--secondaries=1"]);
    command.arg(world(&scratch));
    let _run = scratch.start("run", &mut command);
    wait_for("the run runs", || {
        let (_, text, _) = scratch.phalanx_says(&["show", "r", "stats", "--format", "json"]);
        let stats: Option<Value> = serde_json::from_str(&text).ok();
        stats.is_some_and(|stats| stats["state"] == "running")
    });
    for (topic, start) in [
        ("/eye/compressed", &b"\xff\xd8\xff"[..]),
        ("/far/compressedDepth", b"\x89PNG"),
        ("/eye", b"\x89PNG"),
    ] {
        let mut command = scratch.phalanx();
        let shown = command
            .args(["show", "r", "image", "--topic", topic])
            .output();
        let shown = shown.expect("phalanx starts");
        let said = String::from_utf8_lossy(&shown.stderr);
        assert!(shown.status.success(), "{topic}: {said}");
        assert!(shown.stdout.starts_with(start), "{topic}");
    }
    let echo = |topic: &str| scratch.phalanx_says(&["topic", "echo", "r", topic, "-n", "1"]);
    let (code, text, error) = echo("/eye/compressed");
    assert_eq!(code, 0, "{error}");
    let said: Value = serde_json::from_str(&text).expect("a line of JSON");
    assert_eq!(said["topic"], "/eye/compressed");
    assert_eq!(said["type"], "foxglove.CompressedImage");
    assert_eq!(said["message"]["format"], "jpeg");
    assert_eq!(said["message"]["encoding"], "rgb8");
    for (topic, expected) in [
        ("/far/compressed", "/far/compressedDepth"),
        ("/eye/compressedDepth", "/eye/compressed,"),
    ] {
        let (code, _, error) = echo(topic);
        assert!(code == 2 && error.contains(expected), "{code}: {error}");
    }
    let (_, text, _) = scratch.phalanx_says(&["topic", "list", "r"]);
    assert!(
        !text.contains("compressed"),
        "no sensor publishes there: {text}"
    );
}
