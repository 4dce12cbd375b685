//! Shows that the run file for Nav2 in `docs/examples` is valid, that the topics which it names are
//! those of the robots that its first lines have one generate, and that the launch file starts what
//! `phalanx run` takes. No build with ROS 2 is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use tests::processes::Scratch;
use tests::{python, repository};

/// Settings of `[ros2]` that are no rules.
const SETTINGS: [&str; 1] = ["enabled"];

#[test]
fn the_run_file_for_nav2_names_topics_of_the_fleet() {
    let scratch = Scratch::new();
    let text = fs::read_to_string(repository::root().join("docs/examples/nav2.toml"));
    let text = text.expect("the example is there");
    let [file, world, rules] = ["nav2.toml", "fleet.sdf", "rules.toml"].map(|name| {
        let path = scratch.path(name);
        path.to_str().expect("paths of tests are text").to_owned()
    });
    fs::write(&file, &text).expect("a file can be written");
    let (code, fleet, stderr) =
        scratch.phalanx_says(&["generate", "fleet", "--robots", "4", "--levels", "1x1"]);
    assert_eq!(code, 0, "{stderr}");
    fs::write(&world, fleet).expect("a file can be written");
    let (code, _, stderr) = scratch.phalanx_says(&["config", "check", &file]);
    assert_eq!(code, 0, "{stderr}");

    // The same rules as a file of their own.
    let run: toml::Table = text.parse().expect("it is TOML");
    let mut own = run["ros2"].as_table().expect("a section").clone();
    own.retain(|key, _| !SETTINGS.contains(&key));
    fs::write(&rules, own.to_string()).expect("a file can be written");
    let words = ["check", &world, "--ros2", "--ros-rules", &rules];
    let (code, told, stderr) = scratch.phalanx_says(&[&words[..], &["--format", "json"]].concat());
    assert_eq!(code, 0, "{stderr}");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let topics = told["ros2"]["topics"].as_array().expect("topics");
    let named: BTreeMap<&str, &str> = topics
        .iter()
        .filter_map(|topic| {
            Some((
                topic["ros"]["name"].as_str()?,
                topic["ros"]["type"].as_str()?,
            ))
        })
        .collect();
    for (name, type_name) in [
        ("cmd_vel", "geometry_msgs/msg/Twist"),
        ("odom", "nav_msgs/msg/Odometry"),
        ("scan", "sensor_msgs/msg/LaserScan"),
        ("tf", "tf2_msgs/msg/TFMessage"),
    ] {
        for robot in 1..=4 {
            let topic = format!("/robot_000{robot}/{name}");
            assert_eq!(named.get(&*topic), Some(&type_name), "{topic}: {named:?}");
        }
    }
    assert!(
        !named.keys().any(|name| name.ends_with("/points")),
        "{named:?}"
    );
}

/// Loads the launch file with arguments, in an environment whose middleware has a name, if there is
/// a Python.
fn launched(middleware: &str, arguments: &[&str]) -> Option<Value> {
    let root = repository::root();
    let mut command = python::of_machine()?;
    command
        .arg(root.join("tests/tests/ros2_examples/launch_file.py"))
        .arg(root.join("docs/examples/phalanx.launch.py"))
        .args(arguments)
        .env("RMW_IMPLEMENTATION", middleware);
    let output = command.output().expect("python3 starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// Returns the words of the command that a launch starts.
fn words(launched: &Value) -> Vec<&str> {
    let words = launched["command"].as_array().expect("a command");
    words.iter().filter_map(Value::as_str).collect()
}

#[test]
fn the_launch_file_starts_a_run_and_ends_with_it() {
    let Some(told) = launched("", &[]) else {
        return;
    };
    let expected = "phalanx run --headless --ros2 --ros-service-mapping=fastrtps --secondaries=2";
    assert_eq!(words(&told).join(" "), expected);
    assert_eq!(told["ends_launch"], true);
    assert_eq!(told["nodes"], serde_json::json!([]));
}

#[test]
fn the_launch_file_gives_flags_that_there_are() {
    let arguments = [
        "world:=a.sdf,b.sdf",
        "phalanx:=/opt/phalanx",
        "secondaries:=0",
        "name:=r",
        "paused:=true",
        "rules:=rules.toml",
        "real_time_factor:=0.5",
        "rviz:=true",
    ];
    let Some(told) = launched("rmw_cyclonedds_cpp", &arguments) else {
        return;
    };
    let words = words(&told);
    assert_eq!(words[..4], ["/opt/phalanx", "run", "a.sdf", "b.sdf"]);
    assert_eq!(told["nodes"][0], "rviz2");
    let flags: BTreeMap<&str, &str> = words[4..]
        .iter()
        .map(|word| word.split_once('=').unwrap_or((word, "")))
        .collect();
    let expected = [
        ("--headless", ""),
        ("--name", "r"),
        ("--paused", ""),
        ("--real-time-factor", "0.5"),
        ("--ros-rules", "rules.toml"),
        ("--ros-service-mapping", "cyclonedds"),
        ("--ros2", ""),
        ("--secondaries", "0"),
    ];
    assert_eq!(flags, BTreeMap::from(expected));
    let (code, help, stderr) = Scratch::new().phalanx_says(&["run", "--help"]);
    assert_eq!(code, 0, "{stderr}");
    let known: BTreeSet<&str> = help
        .split(|letter: char| letter.is_whitespace() || "[]=,".contains(letter))
        .filter(|word| word.starts_with("--"))
        .collect();
    for flag in flags.keys() {
        assert!(known.contains(flag), "`phalanx run` has no {flag}");
    }
}
