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
        the_layouts_fit(&mut peer, &server);
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

/// A mast with a camera, a lidar and a receiver of places on earth, before a wall; all stand still.
const MAST: &str = "<sdf version='1.11'><world name='w'>
  <spherical_coordinates><surface_model>EARTH_WGS84</surface_model><latitude_deg>47.5</latitude_deg>
    <longitude_deg>8.25</longitude_deg><elevation>400</elevation></spherical_coordinates>
  <model name='wall'><static>true</static><pose>3 0 1 0 0 0</pose><link name='l'>
    <collision name='c'><geometry><box><size>1 4 2</size></box></geometry></collision>
    <visual name='v'><geometry><box><size>1 4 2</size></box></geometry></visual></link></model>
  <model name='mast'><static>true</static><pose>0 1 0 0 0 0</pose><link name='l'>
    <pose>0 0 1 0 0 0</pose>
    <sensor name='eye' type='camera'><topic>mast/image</topic><update_rate>10</update_rate>
      <pose>0 0 0.5 0 0 0</pose>
      <camera><image><width>64</width><height>48</height></image></camera></sensor>
    <sensor name='around' type='gpu_lidar'><topic>scan</topic><update_rate>10</update_rate>
      <gz_frame_id>mast_lidar</gz_frame_id>
      <lidar><scan><horizontal><samples>8</samples><min_angle>-1</min_angle><max_angle>1</max_angle>
      </horizontal></scan><range><min>0.1</min><max>20</max></range></lidar></sensor>
    <sensor name='place' type='navsat'><topic>fix</topic><update_rate>10</update_rate></sensor>
  </link></model></world></sdf>";

#[test]
fn sensors_come_in_forms_that_viewers_draw_in_frames_that_viewers_know() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let world = scratch.path("mast.sdf");
    std::fs::write(&world, MAST).expect("a world");
    let world = world.to_str().expect("a plain path");
    let _run = start_run(&scratch, "mast", &["--secondaries=1", world]);
    let server = Server::start(&scratch, "web", &["mast"]);
    // The layout is for this run although nobody has looked at it yet.
    let request = format!(
        "GET /foxglove.json HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.address()
    );
    let layout = server.body(request.as_bytes());
    for part in ["/foxglove/scan", "/mast/image/compressed", "\"Map\""] {
        assert!(layout.contains(part), "{part} is not in {layout}");
    }
    peer.connect_by(&server, None);
    let topics = [
        "/tf",
        "/foxglove/mast/camera_info",
        "/foxglove/mast/image",
        "/foxglove/scan",
        "/foxglove/fix",
    ];
    for topic in topics {
        peer.subscribe(topic);
    }
    the_layouts_fit(&mut peer, &server);
    peer.call("/phalanx/step", &json!({ "count": 300 }));
    // A camera looks along z of its frame, to the right and down along x and y.
    let told = peer.wait("/tf", |told| told["transforms"] != json!([]));
    let frames = list(&told["transforms"]);
    let frame = |name: &str| {
        let found = frames.iter().find(|one| one["child_frame_id"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {told}"))
    };
    let eye = frame("mast::l::eye");
    assert_eq!(eye["parent_frame_id"], "world");
    let place = ["x", "y", "z"].map(|axis| number(&eye["translation"][axis]));
    assert_eq!(place, [0.0, 1.0, 1.5]);
    let turn = ["x", "y", "z", "w"].map(|part| number(&eye["rotation"][part]));
    assert_eq!(turn, [-0.5, 0.5, -0.5, 0.5]);
    let camera = peer.last("/foxglove/mast/camera_info");
    let image = peer.last("/foxglove/mast/image");
    assert_eq!(camera["frame_id"], "mast::l::eye");
    assert_eq!(image["frame_id"], camera["frame_id"]);
    assert_eq!(
        (&camera["width"], list(&camera["K"]).len()),
        (&json!(64), 9)
    );
    let scan = peer.last("/foxglove/scan");
    assert_eq!(scan["frame_id"], "world", "what stands has no frame");
    assert_eq!(scan["pose"]["position"]["z"], 1.0);
    let fix = peer.last("/foxglove/fix");
    let near = |one: &Value, other: f64| (number(one) - other).abs() < 1e-3;
    assert!(
        near(&fix["latitude"], 47.5) && near(&fix["longitude"], 8.25),
        "{fix}"
    );
    for topic in topics {
        let channel = peer.ask("channel", json!({ "topic": topic }));
        let schema = channel["schema"].as_str().expect("a text");
        let schema: Value = serde_json::from_str(schema).expect("it is JSON");
        assert_fits(topic, &peer.last(topic), &schema);
    }
}

/// Robots that each publish on three topics.
const CROWD: usize = 260;

#[test]
fn more_topics_than_a_connection_may_listen_to_are_all_heard() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let model = |number: usize| {
        let (x, y) = (number % 20, number / 20);
        format!(
            "<model name='m{number}'><pose>{x} {y} 0 0 0 0</pose><link name='l'/>\
             <plugin filename='o' name='gz::sim::systems::OdometryPublisher'/></model>"
        )
    };
    let models: Vec<String> = (0..CROWD).map(model).collect();
    let models = models.concat();
    let text = format!(
        "<sdf version='1.11'><world name='w'><gravity>0 0 0</gravity>{models}</world></sdf>"
    );
    let world = scratch.path("crowd.sdf");
    std::fs::write(&world, text).expect("a world");
    let world = world.to_str().expect("a plain path");
    let _run = start_run(&scratch, "crowd", &["--secondaries=1", world]);
    let server = Server::start(&scratch, "web", &["crowd"]);
    peer.connect(&server);
    let channels = peer.ask("channels", json!({ "above": OWN_CHANNELS + 3 * CROWD }));
    let topics: Vec<&str> = list(&channels).iter().map(topic_of).collect();
    let topics = topics
        .into_iter()
        .filter(|topic| topic.starts_with("/model/"));
    let topics: Vec<&str> = topics.collect();
    assert!(topics.len() > 512, "{}", topics.len());
    for topic in &topics {
        peer.subscribe(topic);
    }
    // A message of each is on its way at once, which is more than waits for a client.
    let end = Instant::now() + TIMEOUT;
    loop {
        let stepped = peer.call("/phalanx/step", &json!({ "count": 50 }));
        assert_eq!(stepped["ok"], true, "{stepped}");
        let heard = peer.ask("heard", json!({}));
        let silent = topics
            .iter()
            .filter(|topic| !list(&heard).contains(&json!(topic)));
        let silent: Vec<&&str> = silent.collect();
        if silent.is_empty() {
            break;
        }
        assert!(
            Instant::now() < end,
            "{} are silent: {silent:?}",
            silent.len()
        );
    }
}

#[test]
fn events_and_lines_of_processes_are_a_log_also_for_who_comes_later() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let _run = start_run(&scratch, "logged", &["--secondaries=2"]);
    let server = Server::start(&scratch, "web", &["logged"]);
    for _ in 0..2 {
        peer.connect(&server);
        peer.subscribe("/phalanx/log");
        // Each secondary says at its start who it is, and the primary tells that it has joined.
        peer.wait_for_each("/phalanx/log", |logged| {
            let has = |name: &str| logged.iter().any(|one| one["name"] == name);
            has("peer") && has("s1")
        });
    }
    let before = peer.ask("all", json!({ "topic": "/phalanx/log" }));
    let stepped = peer.call("/phalanx/step", &json!({ "count": 7 }));
    assert_eq!(stepped["ok"], true, "{stepped}");
    let known = list(&before).len();
    peer.wait_for_each("/phalanx/log", |logged| {
        let mut new = logged[known..].iter();
        new.any(|one| one["message"] == "step 7")
    });
    let channel = peer.ask("channel", json!({ "topic": "/phalanx/log" }));
    assert_eq!(channel["schemaName"], "foxglove.Log");
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

#[test]
fn actors_are_among_the_poses_where_their_script_says() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let world = scratch.path("actors.sdf");
    let text = "<sdf version='1.11'><world name='w'><actor name='walker'><link name='l'/><script>\
                <trajectory id='0' type='walk' tension='1'><waypoint><time>0</time>\
                <pose>0 0 0 0 0 0</pose></waypoint><waypoint><time>1</time><pose>4 0 0 0 0 0</pose>\
                </waypoint></trajectory></script></actor></world></sdf>";
    std::fs::write(&world, text).expect("it can be written");
    let world = world.to_str().expect("a plain path");
    let _run = start_run(&scratch, "acted", &["--secondaries=1", world]);
    let server = Server::start(&scratch, "web", &["acted"]);
    peer.connect(&server);
    peer.subscribe("/phalanx/scene");
    peer.subscribe("/phalanx/poses");
    let scene = peer.last("/phalanx/scene");
    let walker = &scene["worlds"][0]["models"][0];
    assert_eq!(walker["name"], "walker");
    let link = link_id(&walker["links"][0]);
    let mut at = |x: f64| {
        peer.wait("/phalanx/poses", |poses| {
            let found = list(&poses["links"])
                .iter()
                .find(|one| link_id_of_pose(one) == link);
            found.is_some_and(|found| (number(&found["position"][0]) - x).abs() < 1e-6)
        });
    };
    at(0.0);
    let (code, _, error) = scratch.phalanx_says(&["ctl", "acted", "step", "500"]);
    assert_eq!(code, 0, "{error}");
    at(2.0);
}

#[test]
fn a_run_in_the_place_of_another_is_drawn_alone() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let world = |model: &str| {
        let text = format!(
            "<sdf version='1.11'><world name='w'><model name='{model}'><static>true</static>\
             <link name='l'><visual name='v'><geometry><box><size>1 1 1</size></box></geometry>\
             </visual></link></model></world></sdf>"
        );
        let path = scratch.path(&format!("{model}.sdf"));
        std::fs::write(&path, text).expect("a world");
        path.to_str().expect("a plain path").to_owned()
    };
    let start = |model: &str| start_run(&scratch, "place", &["--secondaries=0", &world(model)]);
    let is_of = |scene: &Value, model: &str| {
        let entities = list(&scene["entities"]).iter();
        let own = format!("{model}::");
        let mut names = entities.filter_map(|one| one["id"].as_str());
        names.any(|name| name.starts_with(&own))
    };
    let run = start("crane");
    let server = Server::start(&scratch, "web", &["place"]);
    peer.connect(&server);
    peer.subscribe("/scene");
    peer.wait("/scene", |scene| is_of(scene, "crane"));
    let mut told = peer.last_after("/scene", 0).0;
    let mut last = run;
    // Another world, and then the same one once more: it is told, too.
    for model in ["rover", "rover"] {
        let (code, _, errors) = scratch.phalanx_says(&["ctl", "place", "stop"]);
        assert_eq!(code, 0, "{errors}");
        drop(last);
        last = start(model);
        let after = told;
        let mut is_drawn = false;
        while !is_drawn {
            let scene;
            (told, scene) = peer.last_after("/scene", told);
            is_drawn = is_of(&scene, model);
        }
        let all = peer.ask("all", json!({ "topic": "/scene" }));
        // Until its world is known, nothing is drawn.
        for scene in &list(&all)[after as usize..] {
            let is_empty = list(&scene["entities"]).is_empty();
            assert!(is_empty || is_of(scene, model), "{scene}");
        }
    }
}
