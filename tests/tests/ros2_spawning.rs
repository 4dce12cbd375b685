//! Shows that the topics of robots come and go with them in ROS 2: robots from URDF are spawned
//! into a run of real processes and removed, while a node on Cyclone DDS counts the publishers of
//! their topics and hears their descriptions.

use std::process::Command;

use serde_json::{Value, json};
use tests::cyclone_dds;
use tests::json_process::JsonProcess;
use tests::processes::{Scratch, TIMEOUT, wait_for};
use tests::{repository, required, ros_domain};

const WORLD: &str = "<sdf version='1.9'><world name='yard'><model name='ground'>\
    <static>true</static><link name='l'/></model></world></sdf>";
/// A robot of a box that tells where it is.
const ROBOT: &str = r#"<robot name="rover">
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
    izz="1"/></inertial></link>
  <gazebo><plugin filename="p" name="gz::sim::systems::OdometryPublisher">
    <odom_publish_frequency>100</odom_publish_frequency></plugin></gazebo>
</robot>"#;

/// Description of a robot that is the only one.
const ALONE: &str = "/robot_description";
const OF_MARS: &str = "/model/mars/robot_description";
const OF_VENUS: &str = "/model/venus/robot_description";
const ODOMETRY: &str = "/model/mars/odometry";
/// Those of a robot in a namespace.
const OF_LUNA: &str = "/sky/luna/robot_description";
const LUNAR_ODOMETRY: &str = "/sky/luna/odometry";

/// A node of ROS 2.
struct Peer {
    process: JsonProcess,
    /// Messages that came before they were asked for.
    early: Vec<Value>,
}

impl Peer {
    /// Waits until the topics have so many publishers.
    fn wait_for(&mut self, expected: &[(&str, u64)]) {
        let mut last = Value::Null;
        wait_for(&format!("{expected:?}"), || {
            self.process.tell(&json!({ "count": true }));
            last = self.hear("counts", |line| line.get("counts").is_some());
            expected
                .iter()
                .all(|(topic, count)| last["counts"][*topic] == *count)
        });
    }

    /// Returns the next line that fits, and keeps those before it.
    fn hear(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.early.iter().position(&fits) {
            return self.early.remove(index);
        }
        let early = &mut self.early;
        self.process.hear(what, |line| {
            let does_fit = fits(line);
            if !does_fit {
                early.push(line.clone());
            }
            does_fit
        })
    }

    /// Returns the next message on a topic.
    fn message(&mut self, topic: &str) -> Value {
        self.hear(topic, |line| line["topic"] == topic)
    }

    /// Returns the next description on a topic.
    fn description(&mut self, topic: &str) -> String {
        let line = self.message(topic);
        let text = line["text"].as_str().expect("a description is a text");
        text.to_owned()
    }
}

#[test]
fn topics_of_a_robot_that_is_spawned_come_and_go_with_it() {
    let (scratch, domain) = (Scratch::new(), ros_domain::take());
    let (_, _, said) = scratch.phalanx_says(&["ros2-control", "--domain=0", "no-such-run"]);
    if said.contains("built without ROS 2") {
        return required::skip(required::ROS2, &said);
    }
    let Some(python) = cyclone_dds::python("ros2-peers", &scratch) else {
        return;
    };
    let [world, robot] = [("yard.sdf", WORLD), ("rover.urdf", ROBOT)].map(|(name, text)| {
        let path = scratch.path(name);
        std::fs::write(&path, text).expect("a file can be written");
        path.to_str().expect("paths of tests are text").to_owned()
    });
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "--headless",
        "--paused",
        "--name=r",
        "--secondaries=2",
    ]);
    command.args(["--ros2", "--ros-domain", &domain]);
    command.args(["--ros-localhost-only", "on"]);
    let mut run = scratch.start("run", command.arg(&world));
    wait_for("a run", || {
        let (code, said, _) = scratch.phalanx_says(&["show", "r", "stats"]);
        code == 0 && said.contains("paused")
    });
    let script = repository::root().join("tests/tests/ros2_run/peer.py");
    let mut command = Command::new(python.program());
    command.arg(script).arg(&domain);
    command.args([ALONE, OF_MARS, OF_VENUS, OF_LUNA].map(|topic| format!("{topic}=String")));
    command.args([ODOMETRY, LUNAR_ODOMETRY].map(|topic| format!("{topic}=Odometry")));
    command.env("PEER_CONFIGURATION", cyclone_dds::CONFIGURATION);
    let mut peer = Peer {
        process: JsonProcess::start(&mut command),
        early: Vec::new(),
    };
    let ctl = |words: &[&str]| {
        let (code, _, stderr) = scratch.phalanx_says(&[&["ctl", "r"], words].concat());
        assert_eq!(code, 0, "{words:?}: {stderr}");
    };
    let spawn = |name: &str, pose: &str| {
        ctl(&["spawn", &robot, "--name", name, "--pose", pose]);
    };
    // All secondaries publish what models say; one of them describes the robots.
    spawn("mars", "0 0 1 0 0 0");
    peer.wait_for(&[(ALONE, 1), (OF_MARS, 0), (OF_VENUS, 0), (ODOMETRY, 2)]);
    let text = peer.description(ALONE);
    assert!(text.contains(r#"<link name="mars/base">"#), "{text}");
    ctl(&["play"]);
    let told = peer.message(ODOMETRY);
    assert_eq!(told["child"], "mars/base_footprint", "{told}");
    ctl(&["pause"]);

    spawn("venus", "5 0 1 0 0 0");
    peer.wait_for(&[(ALONE, 0), (OF_MARS, 1), (OF_VENUS, 1), (ODOMETRY, 2)]);
    let text = peer.description(OF_VENUS);
    assert!(text.contains(r#"<link name="venus/base">"#), "{text}");

    ctl(&["remove", "mars"]);
    peer.wait_for(&[(ALONE, 1), (OF_MARS, 0), (OF_VENUS, 0), (ODOMETRY, 0)]);
    let text = peer.description(ALONE);
    assert!(text.contains(r#"<link name="venus/base">"#), "{text}");
    ctl(&["remove", "venus"]);
    peer.wait_for(&[(ALONE, 0), (OF_MARS, 0), (OF_VENUS, 0), (ODOMETRY, 0)]);
    check_namespace(&mut peer, &robot, &ctl);
    ctl(&["stop"]);
    assert_eq!(run.wait_for_long(TIMEOUT), 0, "{}", run.stderr());
}

/// Shows that a robot in a namespace has its topics there, and is not described as the only one.
fn check_namespace(peer: &mut Peer, robot: &str, ctl: &impl Fn(&[&str])) {
    let namespace = ["--name", "luna", "--namespace", "/sky/luna"];
    ctl(&[&["spawn", robot][..], &namespace].concat());
    peer.wait_for(&[(ALONE, 0), (OF_LUNA, 1), (LUNAR_ODOMETRY, 2)]);
    let text = peer.description(OF_LUNA);
    assert!(text.contains(r#"<link name="luna/base">"#), "{text}");
    ctl(&["play"]);
    let told = peer.message(LUNAR_ODOMETRY);
    assert_eq!(told["child"], "luna/base_footprint", "{told}");
    ctl(&["pause"]);
    ctl(&["remove", "luna"]);
    peer.wait_for(&[(OF_LUNA, 0), (LUNAR_ODOMETRY, 0)]);
}
