//! Shows a run in ROS 2 to a node on Fast DDS, the engine by which ROS 2 comes: it reads odometry
//! as a reliable reader, and images of a robot that changes its secondary; it drives a robot, and
//! calls services in the mapping of `rmw_fastrtps`.
//!
//! A build without ROS 2, and a machine without Fast DDS, say so and show nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mesh::{ImageFile, ImageFormat};
use serde_json::{Value, json};
use tests::fast_dds::{self, FastPeer};
use tests::processes::{Process, Scratch, is_running, kill_all, send_signal, wait_for};
use tests::ros2_readers::{LOG_LEVEL, ReaderLog, wait_for_readers};
use tests::{repository, required, ros_domain};

/// Values of `nav_msgs/msg/Odometry`: header, child, pose, covariance, twist, covariance.
const ODOMETRY: &str = "nav_msgs/msg/Odometry=i1u1s2d7d36d6d36";
/// Place of the robot's x \[m\] among them.
const X: usize = 4;
const STEP: &str = "simulation_interfaces/srv/StepSimulation";
const STATE: &str = "simulation_interfaces/srv/GetEntityState";
/// Values of its response: result, header, pose, twist, acceleration.
const STATE_FORMAT: &str = "b1s1i1u1s1d7d6d6";
/// Iterations of the run that odometry is read from.
const ITERATIONS: u64 = 2000;
/// Number of parts in which they are done.
const TURNS: u64 = 20;
/// Iterations of 1 ms between two messages of odometry.
const INTERVAL: u64 = 10;

/// Values of `sensor_msgs/msg/CompressedImage`: header, format, data.
const COMPRESSED: &str = "sensor_msgs/msg/CompressedImage=i1u1s2x1";
/// Rules by which no image may be lost, and no other camera draws.
const IMAGE_RULES: &str = r#"
[[topic]]
topic = "/rover/image"
qos = "reliable"

[[topic]]
topic = "/rover/**"
direction = "off"
"#;

/// Time in which a publisher that is known says what it keeps, with much to spare.
const OUTDATED: Duration = Duration::from_secs(3);
/// Iterations of the run whose images are read.
const IMAGE_ITERATIONS: u64 = 3000;
/// Iterations of 1 ms between two of them.
const IMAGE_INTERVAL: usize = 100;

/// A paused run with nodes and services, and a node on Fast DDS that listens.
struct Bench {
    peer: FastPeer,
    _run: Process,
    scratch: Scratch,
}

impl Bench {
    fn start() -> Option<Self> {
        let world = repository::root().join("tests/tests/ros2_run/two_levels.sdf");
        let topics = ["r0", "r1"].map(|robot| format!("/model/{robot}/odometry={ODOMETRY}"));
        Self::of(&world, "", &topics)
    }

    /// Starts a run of a world by rules, and a node that listens to topics.
    fn of(world: &Path, rules: &str, topics: &[String]) -> Option<Self> {
        let program = fast_dds::program()?;
        let scratch = Scratch::new();
        if is_without_ros(&scratch) {
            return None;
        }
        let domain = ros_domain::take();
        let file = scratch.path("rules.toml");
        std::fs::write(&file, rules).expect("rules are written");
        let mut command = scratch.phalanx();
        command.args(["run", "--headless", "--paused", "--secondaries=2", "--ros2"]);
        command.args(["--ros-domain", &domain, "--ros-localhost-only", "on"]);
        command.args(["--name", "r", "--log-level", LOG_LEVEL]);
        command.arg("--ros-rules").arg(file);
        let run = scratch.start("run", command.arg(world));
        wait_for("a run", || {
            let (code, said, _) = scratch.phalanx_says(&["show", "stats"]);
            code == 0 && said.contains("paused")
        });
        let mut arguments = vec![&*domain, "--localhost-only"];
        arguments.extend(topics.iter().map(String::as_str));
        let mut peer = FastPeer::start(&mut Command::new(program), &arguments);
        peer.tell("wait 2 240");
        let known = peer.hear("writers", |line| line.get("known").is_some());
        assert_eq!(known["known"], 2, "not all publishers are known");
        let names = topics.iter().filter_map(|topic| topic.split('=').next());
        let readers: Vec<_> = names.map(|name| (name, 1)).collect();
        let logs = ["r/logs/s1.log", "r/logs/s2.log"];
        let logs = logs.map(|log| ReaderLog::new(scratch.path(log)));
        wait_for_readers(&logs, &readers);
        Some(Self {
            peer,
            _run: run,
            scratch,
        })
    }

    fn call(&mut self, service: &str, type_name: &str, format: &str, values: &str) -> Value {
        let response = self.peer.call(service, type_name, format, values);
        eprintln!("{service} {values}: {response}");
        response
    }
}

#[test]
fn a_node_on_fast_dds_reads_all_odometry_and_drives_a_robot() {
    let Some(mut bench) = Bench::start() else {
        return;
    };
    let mut heard: [Vec<Value>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..TURNS {
        // As nodes do, again and again: a subscription that has only begun to know the publisher
        // takes no message from it.
        let command = "publish /model/r0/cmd_vel geometry_msgs/msg/Twist 2 d1.0 d0 d0 d0 d0 d0";
        bench.peer.tell(command);
        let steps = ITERATIONS / TURNS;
        let step = format!("call /phalanx/step_simulation {STEP} b1s1 l{steps}");
        bench.peer.tell(&step);
        let (mut has_published, mut response) = (false, None);
        while response.is_none() {
            let line = bench.peer.next(tests::processes::TIMEOUT);
            let line = line.expect("odometry and a response come in time");
            has_published |= line["published"] == true;
            response = note(&line, &mut heard).or(response);
        }
        assert!(has_published, "both secondaries listen");
        assert_eq!(response, Some(json!([1, ""])));
    }
    let wanted = (ITERATIONS / INTERVAL) as usize;
    while heard.iter().any(|one| one.len() < wanted) {
        let line = bench.peer.next(tests::processes::TIMEOUT);
        note(&line.expect("odometry comes in time"), &mut heard);
    }
    for one in &heard {
        let stamps: Vec<u64> = one.iter().map(stamp_ms).collect();
        let expected: Vec<u64> = (1..=ITERATIONS / INTERVAL).map(|n| n * INTERVAL).collect();
        assert_eq!(stamps, expected);
    }
    let last = |robot: usize| heard[robot].last().unwrap()[X].as_f64().unwrap();
    assert!(last(0) > 1.0, "r0 drives, and is at {}", last(0));
    assert!(last(1).abs() < 0.1, "r1 stands, and is at {}", last(1));
    assert_eq!(heard[0][0][2], "r0/odom");
    assert!(
        bench.peer.next(Duration::from_secs(1)).is_none(),
        "nothing comes twice"
    );
}

#[test]
fn a_reliable_reader_gets_all_compressed_images_of_a_robot_that_changes_its_secondary() {
    let world = repository::root().join("worlds/cameras.sdf");
    let topics = [format!("/rover/image/compressed={COMPRESSED}")];
    let Some(mut bench) = Bench::of(&world, IMAGE_RULES, &topics) else {
        return;
    };
    // It enters the other level after 1.5 s.
    let place = ["ctl", "set-pose", "rover", "-1", "0", "0.4"];
    let (code, _, error) = bench.scratch.phalanx_says(&place);
    assert_eq!(code, 0, "{error}");
    let mut heard = Vec::new();
    let step = format!("call /phalanx/step_simulation {STEP} b1s1 l{IMAGE_ITERATIONS}");
    bench.peer.tell(&step);
    let mut is_answered = false;
    // The first is that of the first iteration.
    let wanted = IMAGE_ITERATIONS as usize / IMAGE_INTERVAL + 1;
    while !is_answered || heard.len() < wanted {
        let line = bench.peer.next(tests::processes::TIMEOUT);
        let line = line.unwrap_or_else(|| panic!("{} images came", heard.len()));
        if let Some(response) = line.get("response") {
            assert_eq!(*response, json!([1, ""]));
            is_answered = true;
        } else {
            heard.push(line);
        }
    }
    let mut stamps: Vec<u64> = heard.iter().map(|line| stamp_ms(&line["values"])).collect();
    // DDS orders the messages of one publisher; the last ones of the former can come later.
    stamps.sort_unstable();
    let due = (0..=IMAGE_ITERATIONS).step_by(IMAGE_INTERVAL).skip(1);
    let expected: Vec<u64> = [1].into_iter().chain(due).collect();
    assert_eq!(stamps, expected);
    let mut of_writers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for line in &heard {
        let writer = line["writer"].as_u64().expect("a writer has a number");
        of_writers
            .entry(writer)
            .or_default()
            .push(stamp_ms(&line["values"]));
    }
    assert_eq!(of_writers.len(), 2, "both secondaries have published");
    assert!(
        of_writers.values().all(|stamps| stamps.is_sorted()),
        "{of_writers:?}"
    );
    for line in &heard {
        let values = &line["values"];
        assert_eq!(values[3], "rgb8; jpeg compressed bgr8");
        let image = ImageFile::new(bytes_of(&values[4])).expect("it is an image");
        assert_eq!(image.format, ImageFormat::Jpeg);
        let image = image.decode().expect("it is whole");
        assert_eq!((image.width, image.height), (640, 480));
    }
}

#[test]
fn services_answer_in_the_mapping_of_fast_dds() {
    let Some(mut bench) = Bench::start() else {
        return;
    };
    for _ in 0..3 {
        let response = bench.call("/phalanx/step_simulation", STEP, "b1s1", "l100");
        assert_eq!(response, json!([1, ""]));
    }
    let state = bench.call("/phalanx/get_entity_state", STATE, STATE_FORMAT, "sr1");
    assert_eq!(state[0], 1, "{state}");
    assert_eq!(stamp_ms(&json!([state[2], state[3]])), 300);
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 0.05;
    assert!(near(&state[5], 3.0) && near(&state[6], 1.5), "{state}");
    let missing = bench.call("/phalanx/get_entity_state", STATE, STATE_FORMAT, "sr9");
    assert_eq!(missing[0], 2, "{missing}");
    let entities = "simulation_interfaces/srv/GetSimulationState";
    let response = bench.call("/phalanx/get_simulation_state", entities, "b1b1s1", "");
    assert_eq!(response, json!([2, 1, ""]), "it is paused");
    let kind = "ue_msgs/srv/DeleteEntity";
    let response = bench.call("/DeleteEntity", kind, "b1s1", "sr0");
    assert_eq!(response, json!([1, ""]));
}

/// A robot of a box and a wheel, whose links' poses are published.
const ROBOT: &str = r#"<robot name="rover">
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
    izz="1"/></inertial><collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision></link>
  <link name="wheel"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
    izz="1"/></inertial></link>
  <joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/>
    <origin xyz="0 0.3 0"/><axis xyz="0 1 0"/></joint>
  <gazebo><plugin filename="p" name="gz::sim::systems::PosePublisher">
    <publish_link_pose>true</publish_link_pose><use_pose_vector_msg>true</use_pose_vector_msg>
    <update_frequency>100</update_frequency></plugin></gazebo>
</robot>"#;

#[test]
fn a_robot_of_urdf_is_described_with_the_names_of_its_frames() {
    let Some(program) = fast_dds::program() else {
        return;
    };
    let scratch = Scratch::new();
    if is_without_ros(&scratch) {
        return;
    }
    std::fs::write(scratch.path("rover.urdf"), ROBOT).expect("a robot is written");
    let world = scratch.path("world.sdf");
    let text = "<sdf version='1.9'><world name='w'><include><uri>rover.urdf</uri><name>mars</name>\
        <pose>0 0 1 0 0 0</pose></include></world></sdf>";
    std::fs::write(&world, text).expect("a world is written");
    let domain = ros_domain::take();
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--secondaries=1", "--ros2"]);
    command.args(["--ros-domain", &domain, "--ros-localhost-only", "on"]);
    let run = scratch.start("run", command.arg(&world));
    wait_for("a run", || {
        let (code, said, _) = scratch.phalanx_says(&["show", "stats"]);
        code == 0 && said.contains("running")
    });
    // The node comes when the description has long been published.
    let arguments = [
        &domain,
        "--localhost-only",
        "--kept",
        "/robot_description=std_msgs/msg/String=s1",
        "/tf=tf2_msgs/msg/TFMessage=ni1u1s2d7",
    ];
    let mut peer = FastPeer::start(&mut Command::new(program), &arguments);
    let described = peer.hear("a description", |line| {
        line["topic"] == "/robot_description"
    });
    let text = described["values"][0].as_str().expect("it is a text");
    assert!(text.contains(r#"<link name="mars/wheel">"#), "{text}");
    assert!(text.contains(r#"<parent link="mars/base"/>"#), "{text}");
    assert!(text.contains(r#"<joint name="axle""#), "{text}");
    let frames = peer.hear("frames", |line| {
        line["topic"] == "/tf" && line.to_string().contains("mars/wheel")
    });
    let values = frames["values"].as_array().expect("frames are values");
    for child in values.iter().skip(3).step_by(11).filter_map(Value::as_str) {
        let link = format!(r#"<link name="{child}">"#);
        assert!(child == "mars" || text.contains(&link), "{child}: {text}");
    }
    drop(run);
}

/// Returns the number of the newest checkpoint of the run `r`.
fn newest_checkpoint(scratch: &Scratch) -> Option<u64> {
    let files = std::fs::read_dir(scratch.path("r/journal")).ok()?;
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.strip_prefix("checkpoint-")?.parse().ok());
    numbers.max()
}

/// Shows that a node that comes now gets the last message of each of two robots on one topic, which
/// they said at a time \[ms\], and each robot's from one publisher alone.
fn check_late_reader_of_last(program: &Path, domain: &str, said_at: u64, when: &str) {
    let topic = format!("/fleet={ODOMETRY}");
    let arguments = [domain, "--localhost-only", "--kept", &topic];
    let mut peer = FastPeer::start(&mut Command::new(program), &arguments);
    let mut heard = BTreeMap::new();
    let note = |heard: &mut BTreeMap<String, Vec<(u64, u64)>>, line: &Value| {
        let child = line["values"][3].as_str().expect("a frame is named");
        let writer = line["writer"].as_u64().expect("a writer has a number");
        let messages = heard.entry(child.to_owned()).or_default();
        messages.push((writer, stamp_ms(&line["values"])));
        let is_last = |one: &Vec<(u64, u64)>| one.iter().any(|(_, stamp)| *stamp == said_at);
        heard.len() == 2 && heard.values().all(is_last)
    };
    loop {
        let line = peer.next(tests::processes::TIMEOUT);
        let line = line.unwrap_or_else(|| panic!("not all came {when}: {heard:?}"));
        if line["topic"] == "/fleet" && note(&mut heard, &line) {
            break;
        }
    }
    // Publishers that keep something outdated would have said it by now, too.
    while let Some(line) = peer.next(OUTDATED) {
        note(&mut heard, &line);
    }
    for (child, messages) in &heard {
        let writers: BTreeSet<u64> = messages.iter().map(|(writer, _)| *writer).collect();
        assert_eq!(writers.len(), 1, "{child} {when}: {messages:?}");
        let last = messages.last().map(|(_, stamp)| *stamp);
        assert_eq!(last, Some(said_at), "{child} {when}: {messages:?}");
    }
}

/// Shows that a node that comes now gets the only message of each of two robots on one topic.
fn check_late_reader(program: &Path, domain: &str, when: &str) {
    let topic = format!("/fleet={ODOMETRY}");
    let arguments = [domain, "--localhost-only", "--kept", &topic];
    let mut peer = FastPeer::start(&mut Command::new(program), &arguments);
    let mut heard = BTreeSet::new();
    while heard.len() < 2 {
        let line = peer.hear(&format!("two messages {when}, after {heard:?}"), |line| {
            line["topic"] == "/fleet"
        });
        let child = line["values"][3].as_str().expect("a frame is named");
        heard.insert((stamp_ms(&line["values"]), child.to_owned()));
    }
    let expected = ["r0/base", "r1/base"].map(|child| (500, child.to_owned()));
    assert_eq!(heard, expected.into(), "{when}");
}

/// Writes a world of two robots that speak twice per second on one topic, and the rules by which it
/// is kept.
fn latched_fleet(scratch: &Scratch) -> [String; 2] {
    let world = repository::root().join("tests/tests/ros2_run/two_levels.sdf");
    let world = std::fs::read_to_string(world).expect("it is there");
    let often = "<odom_publish_frequency>100</odom_publish_frequency>";
    let robots = world.matches(often).count();
    assert_eq!(robots, 2, "both robots tell their odometry");
    let seldom =
        "<odom_publish_frequency>2</odom_publish_frequency><odom_topic>/fleet</odom_topic>";
    let texts = [
        ("fleet.sdf", &*world.replace(often, seldom)),
        (
            "rules.toml",
            "[[topic]]\ntopic = '/fleet'\nqos = 'latched'\n",
        ),
    ];
    texts.map(|(name, text)| {
        let path = scratch.path(name);
        std::fs::write(&path, text).expect("a file can be written");
        path.to_str().expect("a path of a test is text").to_owned()
    })
}

#[test]
fn later_readers_get_what_was_kept_by_processes_that_are_gone() {
    let Some(program) = fast_dds::program() else {
        return;
    };
    let scratch = Scratch::new();
    if is_without_ros(&scratch) {
        return;
    }
    let [path, rules] = latched_fleet(&scratch);
    let domain = ros_domain::take();
    let say = |words: &[&str]| {
        let (code, _, stderr) = scratch.phalanx_says(words);
        assert_eq!(code, 0, "{words:?}: {stderr}");
    };
    let mut begin = vec!["run", "--detach", "--paused", "--name=r", "--secondaries=2"];
    begin.extend([
        "--ros2",
        "--ros-domain",
        &domain,
        "--ros-localhost-only",
        "on",
    ]);
    begin.extend(["--checkpoint-every=400", "--ros-rules", &rules, &path]);
    say(&begin);
    say(&["ctl", "r", "step", "600"]);
    check_late_reader(&program, &domain, "before all");
    let kill_and_resume = || {
        // Once a later command is done, the journal has all that was said.
        say(&["ctl", "r", "set-real-time-factor", "1"]);
        kill_all(&scratch);
        say(&["resume", "r", "--detach"]);
    };
    wait_for("a checkpoint", || newest_checkpoint(&scratch).is_some());
    kill_and_resume();
    check_late_reader(&program, &domain, "since the checkpoint");
    let before = newest_checkpoint(&scratch);
    say(&["ctl", "r", "step", "300"]);
    wait_for("a later checkpoint", || {
        newest_checkpoint(&scratch) > before
    });
    kill_and_resume();
    check_late_reader(&program, &domain, "before the checkpoint");
    let (_, peers, _) = scratch.phalanx_says(&["show", "r", "peers", "--format", "json"]);
    let peers: Value = serde_json::from_str(&peers).expect("peers are JSON");
    let first = peers
        .as_array()
        .into_iter()
        .flatten()
        .find(|peer| peer["name"] == "s1");
    let pid = first
        .and_then(|peer| peer["pid"].as_u64())
        .expect("s1 has a process");
    send_signal(u32::try_from(pid).expect("a number of a process"), "KILL");
    wait_for("an end of s1", || !is_running(pid as u32));
    say(&["ctl", "r", "step", "1"]);
    check_late_reader(&program, &domain, "after a loss");
    say(&["ctl", "r", "stop"]);
}

#[test]
fn what_is_kept_of_a_robot_goes_with_it() {
    let Some(program) = fast_dds::program() else {
        return;
    };
    let scratch = Scratch::new();
    if is_without_ros(&scratch) {
        return;
    }
    let [path, rules] = latched_fleet(&scratch);
    let domain = ros_domain::take();
    let say = |words: &[&str]| {
        let (code, _, stderr) = scratch.phalanx_says(words);
        assert_eq!(code, 0, "{words:?}: {stderr}");
    };
    let mut begin = vec!["run", "--detach", "--paused", "--name=r", "--secondaries=2"];
    begin.extend(["--ros2", "--ros-domain", &domain]);
    begin.extend(["--ros-localhost-only", "on", "--minimum-stay=0"]);
    begin.extend(["--ros-rules", &rules, &path]);
    say(&begin);
    let hosts = || {
        let (_, shown, _) = scratch.phalanx_says(&["show", "r", "performers", "--format=json"]);
        let shown: Value = serde_json::from_str(&shown).expect("performers are JSON");
        let all = shown.as_array().into_iter().flatten();
        let host = all.map(|one| one["owner"].as_str().unwrap_or_default().to_owned());
        host.collect::<Vec<_>>()
    };
    say(&["ctl", "r", "step", "600"]);
    check_late_reader_of_last(&program, &domain, 500, "before a hand-off");
    assert_eq!(hosts().iter().collect::<BTreeSet<_>>().len(), 2);
    say(&["ctl", "r", "set-pose", "r0", "3", "-3", "0.2"]);
    say(&["ctl", "r", "step", "100"]);
    assert_eq!(hosts().iter().collect::<BTreeSet<_>>().len(), 1);
    check_late_reader_of_last(&program, &domain, 500, "after a hand-off");
    say(&["ctl", "r", "step", "400"]);
    check_late_reader_of_last(&program, &domain, 1000, "when it has spoken again");
    say(&["ctl", "r", "set-pose", "r0", "-3", "-3", "0.2"]);
    say(&["ctl", "r", "step", "100"]);
    let spread = hosts();
    assert_eq!(spread.iter().collect::<BTreeSet<_>>().len(), 2);
    say(&["ctl", "r", "drain", &spread[0]]);
    check_late_reader_of_last(&program, &domain, 1000, "when the secondary has left");
    say(&["ctl", "r", "stop"]);
}

#[test]
fn a_run_that_waits_for_its_readers_says_nothing_before_they_are_there() {
    let Some(program) = fast_dds::program() else {
        return;
    };
    let scratch = Scratch::new();
    if is_without_ros(&scratch) {
        return;
    }
    let world = repository::root().join("tests/tests/ros2_run/two_levels.sdf");
    for secondaries in ["2", "0"] {
        let domain = ros_domain::take();
        let begin = |awaited: &[&str]| {
            let mut command = scratch.phalanx();
            command.args([
                "run",
                "--headless",
                "--iterations=300",
                "--real-time-factor=0",
            ]);
            command.args([
                "--secondaries",
                secondaries,
                "--ros2",
                "--ros-domain",
                &domain,
            ]);
            command.args(["--ros-localhost-only", "on"]).args(awaited);
            scratch.start("run", command.arg(&world))
        };
        let mut nobody = begin(&["--await-reader=any", "--await-reader-timeout=0.5"]);
        assert_eq!(nobody.wait(), 6, "{}", nobody.stderr());
        let said = nobody.stderr();
        assert!(
            said.contains("no node of ROS 2 has read any topic in 0.5 s"),
            "{said}"
        );
        for (topic, why) in [
            (
                "/model/r2/odometry",
                "does not publish on /model/r2/odometry, but on /",
            ),
            ("/clock", "/clock is read by the secondaries themselves"),
            ("odometry", "is no name of a topic"),
        ] {
            let mut wrong = begin(&["--await-reader", topic]);
            assert_eq!(wrong.wait(), 3, "{}", wrong.stderr());
            assert!(wrong.stderr().contains(why), "{}", wrong.stderr());
        }
        let awaited = "--await-reader=/model/r0/odometry, /model/r1/odometry";
        let mut run = begin(&[awaited, "--await-reader-timeout=240"]);
        run.wait_for_stderr("time waits up to 240 s for nodes that read /model/r0/odometry");
        let topics = ["r0", "r1"].map(|robot| format!("/model/{robot}/odometry={ODOMETRY}"));
        let arguments = [&*domain, "--localhost-only", &topics[0], &topics[1]];
        let mut peer = FastPeer::start(&mut Command::new(&program), &arguments);
        let mut heard: [Vec<Value>; 2] = [Vec::new(), Vec::new()];
        while heard.iter().any(|one| one.len() < 30) {
            let line = peer.next(tests::processes::TIMEOUT);
            note(&line.expect("odometry comes in time"), &mut heard);
        }
        for one in &heard {
            let stamps: Vec<u64> = one.iter().map(stamp_ms).collect();
            let expected: Vec<u64> = (1..=30).map(|n| n * INTERVAL).collect();
            assert_eq!(stamps, expected);
        }
        assert_eq!(run.wait(), 0, "{}", run.stderr());
    }
}

fn is_without_ros(scratch: &Scratch) -> bool {
    let (_, _, said) = scratch.phalanx_says(&["ros2-control", "--domain=0", "no-such-run"]);
    let is_without = said.contains("built without ROS 2");
    if is_without {
        required::skip(required::ROS2, &said);
    }
    is_without
}

/// Notes odometry; returns the response, if the line is one.
fn note(line: &Value, heard: &mut [Vec<Value>; 2]) -> Option<Value> {
    match line["topic"].as_str() {
        Some("/model/r0/odometry") => heard[0].push(line["values"].clone()),
        Some(_) => heard[1].push(line["values"].clone()),
        None => return line.get("response").cloned(),
    }
    None
}

/// Returns bytes of their hexadecimal digits.
fn bytes_of(digits: &Value) -> Vec<u8> {
    let digits = digits.as_str().expect("bytes are a text").as_bytes();
    let pairs = digits.as_chunks::<2>().0.iter();
    let byte = |pair: &[u8; 2]| {
        let pair = std::str::from_utf8(pair).expect("digits are ASCII");
        u8::from_str_radix(pair, 16).expect("digits are hexadecimal")
    };
    pairs.map(byte).collect()
}

/// Returns the stamp that a message begins with \[ms\].
fn stamp_ms(values: &Value) -> u64 {
    let part = |place: usize| values[place].as_u64().expect("a stamp has numbers");
    part(0) * 1000 + part(1) / 1_000_000
}
