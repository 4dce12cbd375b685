//! Recordings: what they tell at each place, whichever way it is reached.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recording::Recording;
use serde_json::{Value, json};
use tests::processes::Scratch;

use super::{Peer, ROVER, Server, link_id, link_id_of_pose, list, number, topic_of};

/// Records a run of the ramp, of so many iterations on so many secondaries, that does the commands
/// of a file; returns the recording.
fn record(
    scratch: &Scratch,
    name: &str,
    [iterations, secondaries]: [u32; 2],
    commands: &Path,
) -> PathBuf {
    let file = scratch.path(name);
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "worlds/ramp.sdf",
        "--headless",
        "--real-time-factor=0",
    ]);
    command.arg(format!("--iterations={iterations}"));
    command.arg(format!("--secondaries={secondaries}"));
    command.arg("--commands").arg(commands);
    command.arg("--record").arg(&file);
    let ended = command.output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    file
}

#[test]
fn a_recording_is_played_sought_and_paused() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let file = scratch.path("demo.mcap");
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "--headless",
        "--iterations=2000",
        "--real-time-factor=0",
        "--record",
    ]);
    let ended = command.arg(&file).output().expect("phalanx starts");
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let server = Server::start(&scratch, "web", &[file.to_str().expect("a plain path")]);
    let info = peer.connect(&server);
    let abilities = list(&info["capabilities"]);
    assert!(
        abilities.iter().any(|one| one == "playbackControl"),
        "{info}"
    );
    for topic in ["/phalanx/scene", "/phalanx/run", "/phalanx/poses"] {
        peer.subscribe(topic);
    }
    let scene = peer.last("/phalanx/scene");
    let models = list(&scene["worlds"][0]["models"]);
    assert!(
        models.iter().any(|model| model["name"] == "rover"),
        "{scene}"
    );
    let sought = peer.call("/phalanx/seek", &json!({ "sim_time_s": 1.0 }));
    assert_eq!(sought["ok"], true, "{sought}");
    let there = |run: &Value| (number(&run["recording"]["now_s"]) - 1.0).abs() < 0.1;
    let run = peer.wait("/phalanx/run", there);
    assert_eq!(run["state"], "paused");
    assert_eq!(run["recording"]["end_s"].as_f64(), Some(2.0));
    assert_eq!(peer.call("/phalanx/play", &json!({}))["ok"], true);
    peer.wait("/phalanx/run", |run| {
        number(&run["recording"]["now_s"]) > 1.5
    });
    peer.wait("/phalanx/run", |run| run["state"] == "paused");
    let first = peer.last("/phalanx/poses");
    assert!(!list(&first["links"]).is_empty(), "{first}");
    peer.call("/phalanx/seek", &json!({ "sim_time_s": 0.0 }));
    peer.wait("/phalanx/poses", |poses| {
        poses["iteration"].as_u64().expect("as the protocol has it") < 100
    });
}

#[test]
fn wheels_turn_in_a_recording() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let commands = scratch.path("commands.jsonl");
    let drives = json!({
        "iteration": 10, "topic": ROVER, "type": "gz.msgs.Twist",
        "message": { "linear": { "x": 0.5 } },
    });
    std::fs::write(&commands, format!("{drives}\n")).expect("a file of commands");
    let file = record(&scratch, "driven.mcap", [2000, 2], &commands);
    let server = Server::start(&scratch, "web", &[file.to_str().expect("a plain path")]);
    peer.connect(&server);
    for topic in ["/phalanx/scene", "/phalanx/run", "/phalanx/poses"] {
        peer.subscribe(topic);
    }
    let scene = peer.last("/phalanx/scene");
    let models = list(&scene["worlds"][0]["models"]);
    let rover = models.iter().find(|model| model["name"] == "rover");
    let links = list(&rover.expect("there is a rover")["links"]);
    let id_of = |name: &str| {
        let link = links.iter().find(|link| link["name"] == name);
        link_id(link.expect("a link of the rover"))
    };
    let (body, wheel) = (id_of("body"), id_of("left_wheel"));
    // Its rim moves by half a metre in a second: a radius of 0.1 m turns by 5 rad.
    let mut turns = Vec::new();
    // While it plays, what is on the way to the second place is near it.
    let paused = peer.call("/phalanx/pause", &json!({}));
    assert_eq!(paused["ok"], true, "{paused}");
    for time in [1.0, 1.1] {
        peer.call("/phalanx/seek", &json!({ "sim_time_s": time }));
        let is_there = |poses: &Value| {
            let iteration = poses["iteration"].as_f64().expect("a number");
            (iteration / 1000.0 - time).abs() < 0.05
        };
        let poses = peer.wait("/phalanx/poses", is_there);
        let pose = |id: u64| {
            let links = list(&poses["links"]);
            let found = links.iter().find(|pose| link_id_of_pose(pose) == id);
            let found = found.unwrap_or_else(|| panic!("{id} is not in {poses}"));
            let numbers = list(&found["orientation"]).iter().map(number);
            numbers.collect::<Vec<f64>>()
        };
        let (body, wheel) = (pose(body), pose(wheel));
        turns.push(body.iter().zip(&wheel).map(|(a, b)| a * b).sum::<f64>());
    }
    assert!((turns[0] - turns[1]).abs() > 0.05, "it turns: {turns:?}");
}

#[test]
fn models_come_and_leave_in_a_recording_whichever_way_it_is_sought() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let crate_text = "<sdf version='1.11'><model name='crate'><pose>0 0 3 0 0 0</pose>\
        <link name='l'><collision name='c'><geometry><box><size>0.2 0.2 0.2</size></box>\
        </geometry></collision></link></model></sdf>";
    let spawn = json!({
        "sdf": crate_text, "name": null, "allow_renaming": false, "pose": null,
        "relative_to": null, "world": null,
    });
    let changes = [
        json!({ "iteration": 300, "command": { "spawn": spawn } }),
        json!({ "iteration": 600, "command": { "remove": { "model": "barrel" } } }),
        json!({ "iteration": 900, "command": { "remove": { "model": "crate" } } }),
    ];
    let commands = scratch.path("commands.jsonl");
    let text = changes.map(|line| format!("{line}\n")).concat();
    std::fs::write(&commands, text).expect("a file of commands");
    let file = record(&scratch, "changing.mcap", [1200, 1], &commands);
    let server = Server::start(&scratch, "web", &[file.to_str().expect("a plain path")]);
    peer.connect(&server);
    for topic in ["/phalanx/scene", "/phalanx/run", "/phalanx/poses"] {
        peer.subscribe(topic);
    }
    let link_of = |scene: &Value, name: &str| {
        let mut models = list(&scene["worlds"][0]["models"]).iter();
        let model = models.find(|model| model["name"] == name)?;
        Some(link_id(&list(&model["links"])[0]))
    };
    // Is the crate there, and is the barrel?
    for (time, expected) in [
        (0.5, (true, true)),
        (0.1, (false, true)),
        (1.1, (false, false)),
        (0.7, (true, false)),
        (0.2, (false, true)),
        (0.8, (true, false)),
    ] {
        let sought = peer.call("/phalanx/seek", &json!({ "sim_time_s": time }));
        assert_eq!(sought["ok"], true, "{sought}");
        let scene = peer.wait("/phalanx/scene", |scene| {
            let found = ["crate", "barrel"].map(|name| link_of(scene, name).is_some());
            (found[0], found[1]) == expected
        });
        let Some(link) = link_of(&scene, "crate") else {
            continue;
        };
        // It falls from where it came.
        let poses = peer.wait("/phalanx/poses", |poses| {
            let links = list(&poses["links"]);
            links.iter().any(|pose| link_id_of_pose(pose) == link)
        });
        let links = list(&poses["links"]);
        let pose = links.iter().find(|pose| link_id_of_pose(pose) == link);
        let z = number(&pose.expect("it is there")["position"][2]);
        assert!(z < 3.0, "{time} {z}");
    }
}

/// A lidar and cameras, one of whose images fills a part of a recording, before a box.
const RECORDED_EYES: &str = "<sdf version='1.11'><world name='w'>
  <light name='sun' type='directional'><direction>-0.5 0.3 -1</direction></light>
  <model name='box'><static>true</static><pose>3 0 0.5 0 0 0.4</pose><link name='l'>
    <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>
    <visual name='v'><geometry><box><size>1 1 1</size></box></geometry></visual></link></model>
  <model name='eyes'><static>true</static><pose>0 0 0.6 0 0 0</pose><link name='l'>
    <sensor name='eye' type='camera'><topic>eye</topic><update_rate>10</update_rate>
      <camera><image><width>640</width><height>480</height></image></camera></sensor>
    <sensor name='far' type='depth_camera'><topic>far</topic><update_rate>10</update_rate>
      <camera><image><width>64</width><height>48</height></image></camera></sensor>
    <sensor name='around' type='gpu_lidar'><topic>scan</topic><update_rate>2</update_rate>
      <lidar><scan><horizontal><samples>60</samples><min_angle>-3</min_angle>
      <max_angle>3</max_angle></horizontal></scan><range><min>0.1</min><max>9</max></range>
      </lidar></sensor>
  </link></model></world></sdf>";

/// Records a second of the world of [`RECORDED_EYES`], with images in a form.
fn recorded_eyes(scratch: &Scratch, form: &str) -> String {
    let world = scratch.path("eyes.sdf");
    std::fs::write(&world, RECORDED_EYES).expect("a world");
    let file = scratch.path(&format!("{form}.mcap"));
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--iterations=1000"]);
    command.args(["--real-time-factor=0", "--secondaries=1", "--record-images"]);
    command.args([form, "--record"]).arg(&file).arg(&world);
    let ended = command.output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    file.to_str().expect("a plain path").to_owned()
}

/// Returns the times of the messages on a topic of a recording, in the order of the file \[s\].
fn recorded_times(file: &str, topic: &str) -> Vec<f64> {
    let file = std::fs::File::open(file).expect("it is there");
    let mut recording = Recording::open(std::io::BufReader::new(file)).expect("it is one");
    let channels = recording.channels().iter();
    let ids = channels.filter(|(_, channel)| channel.topic == topic);
    let ids: BTreeSet<u16> = ids.map(|(id, _)| *id).collect();
    let chunks = 0..recording.chunks().len();
    let messages = chunks.flat_map(|chunk| recording.messages(chunk).expect("it is read"));
    let meant = messages.filter(|message| ids.contains(&message.channel));
    meant.map(|message| message.sim_time.seconds()).collect()
}

#[test]
fn what_sensors_saw_in_a_recording_is_told_of_its_place_and_none_is_lost() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    // Topics with that on which it is recorded, and whether all is told: what the server compresses
    // is the newest.
    let scans = ("/foxglove/scan", "/scan", true);
    let raw = [
        ("/foxglove/eye", "/eye", true),
        ("/foxglove/far", "/far", true),
        ("/eye/compressed", "/eye", false),
        scans,
    ];
    let jpeg = [
        ("/eye/compressed", "/eye/compressed", true),
        ("/far/compressedDepth", "/far/compressedDepth", true),
        scans,
    ];
    for (form, topics, other) in [
        ("raw", &raw[..], "/far/compressedDepth"),
        ("jpeg", &jpeg[..], "/foxglove/eye"),
    ] {
        let file = recorded_eyes(&scratch, form);
        let server = Server::start(&scratch, "web", &[&file]);
        peer.connect(&server);
        peer.subscribe("/phalanx/run");
        for (topic, _, _) in topics {
            peer.subscribe(topic);
        }
        let channels = peer.ask("channels", json!({ "above": 0 }));
        let is_other = |channel: &Value| topic_of(channel) == other;
        assert!(!list(&channels).iter().any(is_other), "{form}: {other}");
        // Whichever way it is sought, what was seen last before is told.
        for place in [0.75, 0.35, 0.95, 0.05] {
            let sought = peer.call("/phalanx/seek", &json!({ "sim_time_s": place }));
            assert_eq!(sought["ok"], true, "{sought}");
            let now = |run: &Value| number(&run["recording"]["now_s"]);
            let is_there = |run: &Value| (place - 0.05..place + 1e-6).contains(&now(run));
            let now = now(&peer.wait("/phalanx/run", is_there));
            for (topic, recorded, _) in topics {
                let times = recorded_times(&file, recorded);
                let last = times.iter().rfind(|time| **time <= now + 1e-6);
                let last = last.expect("it has begun to see");
                peer.wait(topic, |said| (seconds(said) - last).abs() < 1e-6);
            }
        }
        for (topic, recorded, _) in topics {
            let said = peer.last(topic);
            let name = ["eye", "far"]
                .into_iter()
                .find(|one| recorded.contains(one));
            let frame = name.map_or("world".to_owned(), |name| format!("eyes::l::{name}"));
            assert_eq!(said["frame_id"], frame, "{topic}");
        }
        peer.call("/phalanx/seek", &json!({ "sim_time_s": 0.0 }));
        peer.call("/phalanx/play", &json!({}));
        for (topic, recorded, _) in topics.iter().filter(|(_, _, is_whole)| *is_whole) {
            let times = recorded_times(&file, recorded);
            assert!(times.len() > 1, "{recorded}");
            peer.wait_for_each(topic, |all| {
                let heard = all[all.len().saturating_sub(times.len())..].iter();
                let pairs: Vec<(f64, f64)> = heard.map(seconds).zip(times.clone()).collect();
                pairs.len() == times.len()
                    && pairs.iter().all(|(one, other)| (one - other).abs() < 1e-6)
            });
        }
    }
}

/// Returns the time of a message of Foxglove \[s\].
fn seconds(message: &Value) -> f64 {
    let time = &message["timestamp"];
    number(&time["sec"]) + number(&time["nsec"]) / 1e9
}
