//! Shows that Foxglove and Lichtblick can read all that they are offered, whichever version of the
//! protocol they speak, that no viewer misses anything because of others, and that meshes reach
//! them. Their rules for schemas are those of the client in `peer.mjs`.

use super::*;

#[test]
fn viewers_read_all_that_they_are_offered_by_either_version_of_the_protocol() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let _run = start_run(&scratch, "read", &["--secondaries=1", "worlds/cameras.sdf"]);
    let server = Server::start(&scratch, "web", &["read"]);
    let both = [WEB_SOCKET, SDK];
    for (offered, agreed) in [
        (None, WEB_SOCKET),
        (Some(&both[..1]), WEB_SOCKET),
        (Some(&both[1..]), SDK),
        (Some(&both[..]), SDK),
    ] {
        let (info, protocol) = peer.connect_by(&server, offered);
        assert_eq!(protocol, agreed);
        assert_eq!(info["metadata"]["protocol"], agreed, "{info}");
        let unreadable = peer.ask("unreadable", json!({ "above": OWN_CHANNELS }));
        assert_eq!(unreadable, json!({}));
        let channels = peer.ask("channels", json!({}));
        let topics: Vec<&str> = list(&channels).iter().map(topic_of).collect();
        for topic in ["/scene", "/tf", "/phalanx/run", "/rover/image"] {
            assert!(topics.contains(&topic), "{topics:?}");
        }
        for topic in ["/phalanx/scene", "/phalanx/poses"] {
            assert!(!topics.contains(&topic), "{topics:?}");
        }
        the_layout_fits(&mut peer);
        for topic in ["/scene", "/tf", "/phalanx/run"] {
            peer.subscribe(topic);
            peer.last(topic);
        }
        let stepped = peer.call("/phalanx/step", &json!({}));
        assert_eq!(stepped["ok"], true, "{stepped}");
        assert_eq!(peer.ask("errors", json!({})), json!([]));
    }
    // A channel that is not offered is none.
    let poses = json!({ "op": "subscribe", "subscriptions": [{ "id": 900, "channelId": 2 }] });
    peer.ask("raw", json!({ "text": poses.to_string() }));
    peer.ask("status", json!({ "part": "channel 2 does not exist" }));
}

#[test]
fn messages_about_the_run_have_the_fields_of_their_schema() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let _run = start_run(
        &scratch,
        "fields",
        &["--secondaries=2", "worlds/crossing.sdf"],
    );
    let server = Server::start(&scratch, "web", &["fields"]);
    peer.connect(&server);
    for topic in ["/phalanx/run", "/phalanx/groups"] {
        peer.subscribe(topic);
    }
    peer.call("/phalanx/step", &json!({ "count": 200 }));
    let told = peer.wait("/phalanx/run", |run| {
        let performers = run["performers"].as_array();
        run["iteration"] == 200 && performers.is_some_and(|all| !all.is_empty())
    });
    assert_eq!(list(&told["secondaries"]).len(), 2, "{told}");
    let groups = peer.last("/phalanx/groups");
    assert!(groups["groups"].is_array(), "{groups}");
    for (topic, message) in [("/phalanx/run", told), ("/phalanx/groups", groups)] {
        let channel = peer.ask("channel", json!({ "topic": topic }));
        let schema = channel["schema"].as_str().expect("a text");
        let schema: Value = serde_json::from_str(schema).expect("it is JSON");
        assert_fits(topic, &message, &schema);
    }
}

/// Checks that a value is as a schema says, and has no field that the schema does not name.
fn assert_fits(path: &str, value: &Value, schema: &Value) {
    let fits = match schema["type"].as_str().expect("a type") {
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    assert!(fits || value.is_null(), "{path} is {value}, no {schema}");
    for (name, field) in value.as_object().into_iter().flatten() {
        let schema = &schema["properties"][name];
        assert!(schema.is_object(), "{path}.{name} is in no schema");
        assert_fits(&format!("{path}.{name}"), field, schema);
    }
    for item in value.as_array().into_iter().flatten() {
        assert_fits(path, item, &schema["items"]);
    }
}

#[test]
fn a_recording_is_told_in_the_words_of_either_version() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let file = scratch.path("short.mcap");
    let mut command = scratch.phalanx();
    command.args(["run", "worlds/ramp.sdf", "--headless", "--iterations=200"]);
    command.args(["--real-time-factor=0", "--secondaries=0", "--record"]);
    let ended = command.arg(&file).output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    let server = Server::start(&scratch, "web", &[file.to_str().expect("a plain path")]);
    for (protocol, controls) in [(SDK, true), (WEB_SOCKET, false)] {
        let (info, _) = peer.connect_by(&server, Some(&[protocol]));
        let abilities = list(&info["capabilities"]);
        let has = abilities.iter().any(|one| one == "playbackControl");
        assert_eq!(has, controls, "{info}");
        assert_eq!(info.get("dataStartTime").is_some(), controls, "{info}");
        assert_eq!(peer.ask("unreadable", json!({})), json!({}));
        // A request to play: command, speed, no time, an empty name.
        let mut play = vec![3, 0];
        play.extend(1.0_f32.to_le_bytes());
        play.extend([0; 13]);
        peer.ask("raw", json!({ "bytes": play }));
        if !controls {
            peer.ask("status", json!({ "part": "has no control of players" }));
            assert_eq!(peer.ask("errors", json!({})), json!([]));
        }
    }
}

/// A box that falls, with sensors of the same rate.
const FALLING: &str = "<sdf version='1.11'><world name='w'><model name='box'><link name='l'>
  <sensor name='a' type='imu'><topic>counted</topic><update_rate>250</update_rate></sensor>
  <sensor name='b' type='imu'><topic>one</topic><update_rate>250</update_rate></sensor>
  <sensor name='c' type='imu'><topic>two</topic><update_rate>250</update_rate></sensor>
  <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>
</link></model></world></sdf>";

#[test]
fn nobody_misses_a_message_because_others_change_their_topics() {
    let scratch = Scratch::new();
    let (Some(mut stays), Some(mut changes)) = (Peer::start(&scratch), Peer::start(&scratch))
    else {
        return;
    };
    let world = scratch.path("falling.sdf");
    std::fs::write(&world, FALLING).expect("a world");
    let world = world.to_str().expect("a plain path");
    // A viewer that is too slow for all of it may miss some, also on a busy machine.
    let slowly = ["--secondaries=1", "--real-time-factor=0.2", world];
    let _run = start_run(&scratch, "changing", &slowly);
    let server = Server::start(&scratch, "web", &["changing"]);
    stays.connect(&server);
    changes.connect(&server);
    stays.subscribe("/counted");
    stays.call("/phalanx/play", &json!({}));
    stays.last("/counted");
    for round in 0..40 {
        let topic = ["/one", "/two"][round % 2];
        changes.subscribe(topic);
        changes.last(topic);
        changes.ask("unsubscribe", json!({ "topic": topic }));
    }
    stays.last_after("/counted", 100);
    let times = stays.ask("times", json!({ "topic": "/counted" }));
    let times: Vec<u64> = list(&times).iter().filter_map(Value::as_u64).collect();
    println!(
        "{} messages, and another changed its topics 80 times",
        times.len()
    );
    assert!(times.len() > 100, "{times:?}");
    // The first one of all may be of any step.
    let gaps = times[1..].windows(2).map(|pair| pair[1] - pair[0]);
    let lost: Vec<u64> = gaps.filter(|gap| *gap != 4_000_000).collect();
    assert!(lost.is_empty(), "{lost:?} of {}", times.len());
}

/// Returns a mesh in STL's binary form: a strip of triangles.
fn strip(triangles: u32) -> Vec<u8> {
    let mut file = vec![0; 80];
    file.extend(triangles.to_le_bytes());
    for number in 0..triangles {
        let (x, up) = (f64::from(number) as f32 * 1e-4, (number % 2) as f32);
        let corners = [[x, 0.0, up], [x + 1e-4, 0.0, 1.0 - up], [x + 1e-4, 1.0, up]];
        let numbers = [[0.0, 0.0, 1.0]].iter().chain(&corners).flatten();
        file.extend(numbers.flat_map(|number: &f32| number.to_le_bytes()));
        file.extend([0, 0]);
    }
    file
}

#[test]
fn a_mesh_of_many_models_is_told_once_and_a_missing_one_is_named() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    std::fs::write(scratch.path("strip.stl"), strip(20_000)).expect("a mesh");
    let model = |name: &str, mesh: &str, x: u32| {
        format!(
            "<model name='{name}'><static>true</static><pose>{x} 0 0 0 0 0</pose><link name='l'>\
             <visual name='v'><geometry><mesh><uri>{mesh}</uri></mesh></geometry></visual>\
             </link></model>"
        )
    };
    let models = (0..60).map(|number| model(&format!("m{number}"), "strip.stl", number));
    let models: String = models.chain([model("gap", "none.stl", 0)]).collect();
    let world = scratch.path("meshes.sdf");
    let text = format!("<sdf version='1.11'><world name='w'>{models}</world></sdf>");
    std::fs::write(&world, text).expect("a world");
    let world = world.to_str().expect("a plain path");
    let _run = start_run(&scratch, "meshes", &["--secondaries=0", world]);
    let server = Server::start(&scratch, "web", &["meshes"]);
    let _ = peer.connect_by(&server, None);
    peer.subscribe("/scene");
    let scene = peer.last("/scene");
    let entities = list(&scene["entities"]).iter();
    let drawn: Vec<&Value> = entities.flat_map(|one| list(&one["models"])).collect();
    assert_eq!(drawn.len(), 60);
    let bytes = scene.to_string().len();
    assert!(bytes < 100_000, "{bytes} bytes");
    let address = drawn[0]["url"].as_str().expect("an address");
    assert!(address.starts_with("package://"), "{address}");
    assert!(drawn.iter().all(|one| one["url"] == address), "{drawn:?}");
    let asset = peer.ask("asset", json!({ "uri": address }));
    println!(
        "60 models: {bytes} bytes of scene, {} of mesh",
        asset["bytes"]
    );
    assert_eq!(
        (&asset["status"], &asset["magic"]),
        (&json!(0), &json!("glTF"))
    );
    assert!(
        asset["bytes"].as_u64().is_some_and(|count| count > 500_000),
        "{asset}"
    );
    // More is asked for at once than may wait for a client: it is not taken for one that is stuck.
    let at_once = peer.ask("assets", json!({ "uri": address, "count": 60 }));
    assert_eq!(at_once, 60);
    // People are told, here and where the server runs.
    let said = peer.ask("status", json!({ "part": "none.stl" }));
    assert_eq!(said["level"], 1, "{said}");
    wait_for("the server says so", || {
        server.process.stderr().contains("none.stl")
    });
}
