//! Shows that the run file for Nav2 in `docs/examples` is valid, and that the topics which it names
//! are those of the robots that its first lines have one generate. No build with ROS 2 is needed.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tests::processes::Scratch;
use tests::repository;

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
