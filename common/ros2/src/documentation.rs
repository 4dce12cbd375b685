//! Holds the tables of `docs/ros2.md` to the code; `UPDATE_EXPECT=1` writes them anew.

use std::fmt::Write as _;

use crate::convert::PAIRS;
use crate::rules::{Profile, Rules};
use crate::{Mapping, Qos, Reliability, Used};

const DOCUMENT: &str = include_str!("../../../docs/ros2.md");

/// Replaces what is between the mark of a table and the next end.
fn with_table(document: &str, mark: &str, table: &str) -> String {
    let mark = format!("<!-- {mark}: made by a test, UPDATE_EXPECT=1 writes it anew -->\n");
    let (before, rest) = document
        .split_once(&mark)
        .expect("the document has the mark");
    let end = rest.find("<!-- end -->").expect("the table has an end");
    format!("{before}{mark}{table}{}", &rest[end..])
}

/// Returns the table of all kinds with their types.
fn types() -> String {
    let mapping = Mapping::new(&Rules::default()).expect("no rules are right");
    let mut table = "| Gazebo | ROS 2 | other types | profile |\n|---|---|---|---|\n".to_owned();
    let mut kinds: Vec<&str> = PAIRS.iter().map(|pair| pair.kind).collect();
    kinds.dedup();
    for kind in kinds {
        let of_kind = PAIRS.iter().filter(|pair| pair.kind == kind);
        let names: Vec<String> = of_kind
            .map(|pair| {
                let name = pair.ros_type.name.replace("/msg/", "/");
                let remark = if pair.has_inbound { "" } else { " (out)" };
                format!("`{name}`{remark}")
            })
            .collect();
        let (first, others) = names.split_first().expect("a kind has a type");
        let ways = mapping.ways(&Used {
            topic: "/topic",
            kind,
            is_published: true,
            is_subscribed: false,
        });
        let qos = ways.outbound.expect("it is published").qos;
        let profile = match qos.reliability {
            Reliability::BestEffort => "`sensor`",
            Reliability::Reliable => "`reliable`",
        };
        let (kind, others) = (kind.replace("gz.msgs.", ""), others.join(", "));
        let _ = writeln!(table, "| `{kind}` | {first} | {others} | {profile} |");
    }
    table
}

/// Returns the table of profiles.
fn profiles() -> String {
    let mut table = "| `qos` | reliability | durability | depth |\n|---|---|---|---|\n".to_owned();
    for (name, profile) in [
        ("reliable", Profile::Reliable),
        ("sensor", Profile::Sensor),
        ("best_effort", Profile::BestEffort),
        ("latched", Profile::Latched),
    ] {
        let Qos {
            reliability,
            durability,
            depth,
        } = Qos::of(profile);
        let (reliability, durability) = (words(&reliability), words(&durability));
        let _ = writeln!(
            table,
            "| `{name}` | {reliability} | {durability} | {depth} |"
        );
    }
    table
}

/// Returns the name of a choice as words: `BestEffort` is "best effort".
fn words(choice: &impl std::fmt::Debug) -> String {
    let mut words = String::new();
    for c in format!("{choice:?}").chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

#[test]
fn the_tables_of_types_and_profiles_are_those_of_the_code() {
    let document = with_table(DOCUMENT, "types", &types());
    let document = with_table(&document, "profiles", &profiles());
    expect_test::expect_file!["../../../docs/ros2.md"].assert_eq(&document);
}

#[test]
fn the_rules_in_the_document_are_read_and_hold() {
    let (_, rest) = DOCUMENT.split_once("```toml\n").expect("there are rules");
    let (text, _) = rest.split_once("```").expect("they have an end");
    let rules: Rules = toml::from_str(text).expect("they are rules");
    assert_eq!(rules.topics.len(), 4);
    let mapping = Mapping::new(&rules).expect("they hold");
    let twist = mapping.inbound("/model/rover/cmd_vel", "gz.msgs.Twist");
    let twist = twist.expect("it comes in");
    assert_eq!(twist.name, "/sim/rover/cmd_vel");
    assert_eq!(twist.type_name, "geometry_msgs/msg/TwistStamped");
    let scan = mapping.outbound("/lidar", "gz.msgs.LaserScan");
    let scan = scan.expect("it goes out");
    assert_eq!(
        (scan.name.as_str(), scan.max_rate_hz),
        ("/sim/scan", Some(10.0))
    );
    assert_eq!(
        mapping.outbound("/model/rover/pose", "gz.msgs.Pose_V"),
        None
    );
    assert!(
        mapping
            .frames("/model/rover/pose", "gz.msgs.Pose_V")
            .is_some()
    );
    assert_eq!(mapping.outbound("/debug/a/b", "gz.msgs.Double"), None);
}
