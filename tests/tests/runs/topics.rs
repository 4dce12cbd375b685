//! Shows that what systems say reaches every subscriber and the file of messages once and in
//! order, wherever the robot is hosted. Real processes; a robot that says where it is drives from
//! the level of one secondary to that of another.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use protocol::{TopicMessage, decode, topic};
use serde_json::Value;
use tests::processes::{Process, Scratch, TIMEOUT, binary, send_signal, wait_for};
use transport::zeromq::{PeerLink, SocketOptions};
use transport::{Arrival, Endpoints, Link, Subscription};

const TOPIC: &str = "/model/rover/pose";
/// By which a process of this test knows that it is to listen, and where.
const LISTEN_AT: &str = "PHALANX_TEST_LISTEN_AT";

const WORLD: &str = "<sdf version='1.10'><world name='two_levels'>
  <gravity>0 0 0</gravity>
  <model name='rover'>
    <pose>-2 0 0.5 0 0 0</pose>
    <link name='body'>
      <inertial><mass>1</mass></inertial>
      <collision name='c'><geometry><box><size>0.5 0.5 0.5</size></box></geometry></collision>
    </link>
    <plugin filename='gz-sim-velocity-control-system' name='gz::sim::systems::VelocityControl'>
      <initial_linear>2 0 0</initial_linear>
    </plugin>
    <plugin filename='gz-sim-pose-publisher-system' name='gz::sim::systems::PosePublisher'>
      <publish_link_pose>false</publish_link_pose>
      <publish_model_pose>true</publish_model_pose>
    </plugin>
  </model>
  <model name='other'>
    <pose>3 5 0.5 0 0 0</pose>
    <link name='body'>
      <inertial><mass>1</mass></inertial>
      <collision name='c'><geometry><box><size>0.5 0.5 0.5</size></box></geometry></collision>
    </link>
  </model>
  <plugin name='gz::sim' filename='dummy'>
    <performer name='rover'>
      <ref>rover</ref><geometry><box><size>0.5 0.5 0.5</size></box></geometry>
    </performer>
    <performer name='other'>
      <ref>other</ref><geometry><box><size>0.5 0.5 0.5</size></box></geometry>
    </performer>
    <level name='west'>
      <pose>-5 0 0 0 0 0</pose><geometry><box><size>10 20 10</size></box></geometry>
      <buffer>1</buffer>
    </level>
    <level name='east'>
      <pose>5 0 0 0 0 0</pose><geometry><box><size>10 20 10</size></box></geometry>
      <buffer>1</buffer>
    </level>
  </plugin>
</world></sdf>";

/// A run of worker processes.
struct Run {
    primary: Process,
    secondaries: Vec<Process>,
    scratch: Scratch,
}

impl Run {
    fn start(secondaries: u32, iterations: u64, arguments: &[&str]) -> Self {
        let scratch = Scratch::new();
        let world = scratch.path("world.sdf");
        std::fs::write(&world, WORLD).expect("a world can be written");
        let mut command = Command::new(binary("worker"));
        if secondaries > 0 {
            command.arg("--network-role=primary");
            command.arg(format!("--network-secondaries={secondaries}"));
        }
        command.arg(format!("--bind={}", scratch.endpoint()));
        command.arg(format!("--iterations={iterations}"));
        command.args(["--balance=off", "--peer-timeout=300"]);
        // Nobody is lost because the machine is busy.
        command.arg("--heartbeat-timeout-ms=30000");
        command.args(arguments).arg(world);
        for (flag, name) in [("--messages", "messages"), ("--summary", "summary")] {
            command.arg(flag).arg(scratch.path(name));
        }
        let primary = scratch.start("primary", &mut command);
        let secondaries = (1..=secondaries).map(|number| {
            let mut command = Command::new(binary("worker"));
            command.arg("--network-role=secondary");
            command.arg(format!("--name=s{number}"));
            command.arg(format!("--connect={}", scratch.endpoint()));
            scratch.start(&format!("s{number}"), &mut command)
        });
        Self {
            secondaries: secondaries.collect(),
            primary,
            scratch,
        }
    }

    /// Has a run that goes slowly go on as fast as it can.
    fn hurries(&self) {
        let endpoint = self.scratch.endpoint();
        let words = ["ctl", endpoint.as_str(), "set-real-time-factor", "0"];
        let (code, _, stderr) = self.scratch.phalanx_says(&words);
        assert_eq!(code, 0, "{stderr}");
    }

    /// Waits for the end and returns the file of messages and how the run went.
    fn end(mut self) -> (String, Value) {
        assert_eq!(self.primary.wait(), 0, "{}", self.primary.stderr());
        for secondary in &mut self.secondaries {
            assert_eq!(secondary.wait(), 0, "{}", secondary.stderr());
        }
        let read = |name| std::fs::read_to_string(self.scratch.path(name)).expect("a file");
        let summary = serde_json::from_str(&read("summary")).expect("the summary is JSON");
        (read("messages"), summary)
    }
}

/// Someone who listens to [`TOPIC`].
struct Subscriber {
    link: PeerLink,
    /// The primary is gone.
    is_left: bool,
}

impl Subscriber {
    fn at(endpoint: &str) -> Self {
        let endpoints: Endpoints = endpoint.parse().expect("an endpoint");
        let frame = topic::of_message(TOPIC);
        let topics = Subscription::Status(&[&frame]);
        let link = PeerLink::connect(&endpoints, None, topics, &SocketOptions::default());
        Self {
            link: link.expect("connected"),
            is_left: false,
        }
    }

    /// Waits for the next message; `None` when the primary is gone.
    fn hear(&mut self) -> Option<TopicMessage> {
        let end = Instant::now() + TIMEOUT;
        while Instant::now() < end {
            match self.link.receive(Some(Duration::from_secs(1))) {
                Ok(Some(Arrival::Message { payload, .. })) => {
                    return Some(decode(&payload).expect("a message").body);
                }
                // What was published before comes by another connection.
                Ok(Some(Arrival::Disconnected)) => self.is_left = true,
                Ok(None) if self.is_left => return None,
                Ok(_) => {}
                Err(error) => panic!("the link broke: {error}"),
            }
        }
        panic!("nothing was heard for {TIMEOUT:?}");
    }
}

#[test]
fn files_of_messages_are_equal_for_any_number_of_secondaries() {
    const ITERATIONS: u64 = 2_500;
    let (expected, _) = Run::start(0, ITERATIONS, &["--real-time-factor=0"]).end();
    let of_rover = expected.lines().filter(|line| line.contains(TOPIC));
    let iterations: Vec<&str> = of_rover.filter_map(|line| line.split(' ').next()).collect();
    let all: Vec<String> = (1..=ITERATIONS).map(|number| number.to_string()).collect();
    assert_eq!(iterations, all, "one message in every iteration");
    for secondaries in [1, 2, 4] {
        let run = Run::start(secondaries, ITERATIONS, &["--real-time-factor=0"]);
        let (messages, summary) = run.end();
        assert!(messages == expected, "with {secondaries} secondaries");
        assert!(
            summary["events"]["hand_offs"].as_u64() >= Some(1),
            "{summary}"
        );
    }
}

#[test]
fn a_subscriber_hears_every_message_once_and_in_order_while_the_robot_changes_hosts() {
    const ITERATIONS: u64 = 2_500;
    // So slowly that a subscriber that waits for a busy machine has missed little, and loses none.
    let run = Run::start(2, ITERATIONS, &["--real-time-factor=0.2"]);
    let mut subscriber = Subscriber::at(&run.scratch.endpoint());
    let first = subscriber.hear().expect("the run goes on").iteration.0;
    let mut last = first;
    while last < ITERATIONS {
        let message = subscriber.hear().expect("the run goes on");
        assert_eq!(message.iteration.0, last + 1, "after {first} to {last}");
        assert_eq!(message.topic, TOPIC);
        last += 1;
    }
    let (_, summary) = run.end();
    assert!(
        first < 1_000,
        "it heard too little to say anything: from {first}"
    );
    assert!(
        summary["events"]["hand_offs"].as_u64() >= Some(1),
        "{summary}"
    );
}

#[test]
fn a_subscriber_may_come_and_go_and_others_hear_on() {
    let run = Run::start(2, 4_000, &["--real-time-factor=0.1"]);
    let endpoint = run.scratch.endpoint();
    let mut last = 0;
    for _ in 0..3 {
        let mut subscriber = Subscriber::at(&endpoint);
        let first = subscriber.hear().expect("the run goes on").iteration.0;
        assert!(first > last, "{first} was heard before {last}");
        for number in first + 1..first + 100 {
            let message = subscriber.hear().expect("the run goes on");
            assert_eq!(message.iteration.0, number);
            last = number;
        }
    }
    run.hurries();
    let (messages, _) = run.end();
    assert!(
        messages
            .lines()
            .last()
            .is_some_and(|line| line.starts_with("end "))
    );
}

/// Returns the lines of a file of messages that are of a topic.
fn on<'a>(messages: &'a str, topic: &str) -> Vec<&'a str> {
    let lines = messages.lines();
    let is_on = |line: &&str| line.split(' ').nth(1) == Some(topic);
    lines.filter(is_on).collect()
}

#[test]
fn a_sensor_that_sees_nobody_is_heard_where_it_comes_with_a_model_that_never_moves() {
    let scratch = Scratch::new();
    let sdf = "<sdf version='1.10'><model name='mast'><static>true</static><link name='l'>\
        <sensor name='s' type='imu'><topic>mast/imu</topic><always_on>true</always_on>\
        <update_rate>100</update_rate></sensor></link></model></sdf>";
    let spawn = serde_json::json!({ "iteration": 100, "command": { "spawn": {
        "sdf": sdf, "file": null, "name": null, "allow_renaming": true,
        "pose": [0, 0, 9, 0, 0, 0, 1], "relative_to": null, "world": null,
    } } });
    let commands = scratch.path("commands");
    std::fs::write(&commands, format!("{spawn}\n")).expect("it can be written");
    let commands = format!("--commands={}", commands.display());
    let arguments = ["--real-time-factor=0", &*commands];
    let (expected, _) = Run::start(0, 500, &arguments).end();
    let heard = on(&expected, "/mast/imu");
    assert!((39..=41).contains(&heard.len()), "{heard:?}");
    let (messages, _) = Run::start(2, 500, &arguments).end();
    assert_eq!(on(&messages, "/mast/imu"), heard);
    assert!(messages == expected);
}

#[test]
fn subscribers_that_are_killed_or_stopped_change_nothing() {
    let run = Run::start(2, 3_000, &["--real-time-factor=0.05"]);
    let mut listeners: Vec<Process> = ["killed", "stopped"]
        .map(|name| {
            let test = std::env::current_exe().expect("a running test has a path");
            let mut command = Command::new(test);
            let (_, module) = module_path!()
                .split_once("::")
                .expect("a module of the tests");
            let listener = format!("{module}::listen_until_killed");
            command.args(["--exact", &listener, "--ignored", "--nocapture"]);
            command.env(LISTEN_AT, run.scratch.endpoint());
            run.scratch.start(name, &mut command)
        })
        .into();
    for listener in &listeners {
        wait_for("a listener hears", || listener.stdout().contains("heard"));
    }
    send_signal(listeners[0].pid(), "KILL");
    send_signal(listeners[1].pid(), "STOP");
    let mut subscriber = Subscriber::at(&run.scratch.endpoint());
    let first = subscriber.hear().expect("the run goes on").iteration.0;
    for number in first + 1..first + 100 {
        let message = subscriber.hear().expect("the run goes on");
        assert_eq!(message.iteration.0, number);
    }
    drop(subscriber);
    run.hurries();
    let (messages, _) = run.end();
    let (expected, _) = Run::start(0, 3_000, &["--real-time-factor=0"]).end();
    assert!(messages == expected);
    listeners.clear();
}

/// No test: a process that the one above starts and kills.
#[test]
#[ignore = "it listens until it is killed"]
fn listen_until_killed() {
    let Ok(endpoint) = std::env::var(LISTEN_AT) else {
        return;
    };
    let mut subscriber = Subscriber::at(&endpoint);
    while let Some(message) = subscriber.hear() {
        let written = writeln!(std::io::stdout(), "heard {}", message.iteration);
        written.expect("its output is a file");
    }
}

#[test]
fn who_listens_to_a_topic_that_nothing_has_is_told_so_and_waits() {
    let run = Run::start(2, 4_000, &["--real-time-factor=0.1"]);
    let endpoint = run.scratch.endpoint();
    let listen = |name: &str, action: &str, topic: &str| {
        let mut command = run.scratch.phalanx();
        command.args(["topic", action, &endpoint, topic, "-n", "1"]);
        run.scratch.start(name, &mut command)
    };
    for action in ["echo", "hz"] {
        let mut misspelled = listen(action, action, "/model/rovr/pose");
        misspelled.wait_for_stderr("no system or sensor has the topic /model/rovr/pose now");
        assert_eq!(misspelled.ended(), None, "it may come later");
    }
    let mut known = listen("known", "echo", TOPIC);
    assert_eq!(known.wait(), 0);
    assert_eq!(known.stderr(), "");
    run.hurries();
    run.end();
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_before_anything_starts() {
    let scratch = Scratch::new();
    let world = scratch.path("world.sdf");
    std::fs::write(&world, WORLD).expect("a world can be written");
    let nowhere: PathBuf = scratch.path("no/such/folder");
    let mut command = Command::new(binary("worker"));
    command.arg("--messages").arg(&nowhere).arg(&world);
    let mut worker = scratch.start("worker", &mut command);
    assert_eq!(worker.wait(), 3);
    let said = worker.stderr();
    assert!(said.contains("cannot write messages to"), "{said}");
}
