//! Tests of the mapping.

use super::*;
use crate::rules::Rule;

fn mapping(rules: &Rules) -> Mapping {
    Mapping::new(rules).unwrap()
}

fn used<'a>(topic: &'a str, kind: &'a str, published: bool, subscribed: bool) -> Used<'a> {
    Used {
        topic,
        kind,
        is_published: published,
        is_subscribed: subscribed,
    }
}

#[test]
fn a_topic_has_its_own_name_and_the_usual_type() {
    let mapping = mapping(&Rules::default());
    let twist = mapping
        .inbound("/model/r-1/cmd_vel", "gz.msgs.Twist")
        .unwrap();
    assert_eq!(twist.name, "/model/r_1/cmd_vel");
    assert_eq!(twist.type_name, "geometry_msgs/msg/Twist");
    assert_eq!(twist.qos, Qos::of(Profile::Reliable));
    let scan = mapping.outbound("/scan", "gz.msgs.LaserScan").unwrap();
    assert_eq!(scan.qos, Qos::of(Profile::Sensor));
    assert_eq!(mapping.outbound("/x", "gz.msgs.WorldControl"), None);
}

#[test]
fn what_is_soon_outdated_is_not_kept_long_where_it_is_reliable() {
    let rule = |depth| Rule {
        topic: "/**".to_owned(),
        qos: Some(Profile::Reliable),
        depth,
        ..Rule::default()
    };
    let depth_of = |kind: &str, depth| {
        let rules = Rules {
            topics: vec![rule(depth)],
            ..Rules::default()
        };
        mapping(&rules).outbound("/a", kind).unwrap().qos
    };
    for kind in ["Image", "LaserScan", "PointCloudPacked"] {
        let kind = format!("gz.msgs.{kind}");
        let qos = depth_of(&kind, None);
        assert_eq!((qos.reliability, qos.depth), (Reliability::Reliable, 5));
        assert_eq!(depth_of(&kind, Some(30)).depth, 30);
    }
    assert_eq!(depth_of("gz.msgs.Odometry", None).depth, 10);
}

#[test]
fn what_systems_publish_goes_out_and_what_they_only_hear_comes_in() {
    let mapping = mapping(&Rules::default());
    let ways = |published, subscribed| {
        let ways = mapping.ways(&used("/a", "gz.msgs.Twist", published, subscribed));
        (ways.outbound.is_some(), ways.inbound.is_some())
    };
    assert_eq!(ways(true, false), (true, false));
    assert_eq!(ways(false, true), (false, true));
    assert_eq!(ways(true, true), (true, false));
    assert_eq!(ways(false, false), (false, false));
}

#[test]
fn robots_may_have_namespaces() {
    let rules = Rules {
        namespace: "/sim".to_owned(),
        robot_namespaces: true,
        ..Rules::default()
    };
    let mapping = mapping(&rules);
    let name = |topic: &str| mapping.outbound(topic, "gz.msgs.Twist").unwrap().name;
    assert_eq!(name("/model/r1/cmd_vel"), "/sim/r1/cmd_vel");
    assert_eq!(name("/world/w/model/r1/imu"), "/sim/r1/imu");
    assert_eq!(name("/world/w/wind"), "/sim/world/w/wind");
    assert_eq!(mapping.clock().name, "/clock");
    let description = mapping.robot_description("/model/r1/robot_description", true);
    let description = description.unwrap();
    assert_eq!(description.name, "/sim/r1/robot_description");
    assert_eq!(description.qos.durability, Durability::TransientLocal);
}

#[test]
fn the_only_robot_is_described_where_ros_looks_first() {
    let rules = Rules {
        topics: vec![Rule {
            topic: "/model/hidden/*".to_owned(),
            direction: Some(Direction::Off),
            ..Rule::default()
        }],
        ..Rules::default()
    };
    let mapping = mapping(&rules);
    let name = |robot: &str, is_only_one| {
        let topic = format!("/model/{robot}/robot_description");
        let found = mapping.robot_description(&topic, is_only_one);
        found.map(|topic| topic.name)
    };
    assert_eq!(name("a", true).as_deref(), Some("/robot_description"));
    assert_eq!(
        name("a", false).as_deref(),
        Some("/model/a/robot_description")
    );
    assert_eq!(name("hidden", true), None);
    assert_eq!(mapping.frame_prefix("a"), "a/");
}

#[test]
fn the_first_rule_that_fits_holds() {
    let rules = Rules {
        topics: vec![
            Rule {
                topic: "/model/*/cmd_vel".to_owned(),
                name: Some("/{1}/cmd_vel".to_owned()),
                type_name: Some("geometry_msgs/msg/TwistStamped".to_owned()),
                direction: Some(Direction::Both),
                qos: Some(Profile::Sensor),
                depth: Some(3),
                rate_hz: Some(20.0),
                tf: None,
            },
            Rule {
                topic: "/model/**".to_owned(),
                direction: Some(Direction::Off),
                ..Rule::default()
            },
        ],
        ..Rules::default()
    };
    let mapping = mapping(&rules);
    let ways = mapping.ways(&used("/model/1a/cmd_vel", "gz.msgs.Twist", false, true));
    assert_eq!(ways.outbound, ways.inbound);
    let topic = ways.inbound.unwrap();
    assert_eq!(topic.name, "/_1a/cmd_vel");
    assert_eq!(topic.type_name, "geometry_msgs/msg/TwistStamped");
    assert_eq!((topic.qos.depth, topic.max_rate_hz), (3, Some(20.0)));
    assert_eq!(topic.qos.reliability, Reliability::BestEffort);
    assert_eq!(
        mapping.outbound("/model/r1/odometry", "gz.msgs.Odometry"),
        None
    );
    assert_eq!(mapping.frames("/model/r1/pose", "gz.msgs.Pose_V"), None);
    assert!(mapping.outbound("/scan", "gz.msgs.LaserScan").is_some());
}

#[test]
fn poses_have_frames_and_odometry_has_them_if_asked() {
    let tf = |topic: &str, tf: bool| Rule {
        topic: topic.to_owned(),
        tf: Some(tf),
        ..Rule::default()
    };
    let rules = Rules {
        topics: vec![tf("/odometry", true), tf("/pose", false), tf("/scan", true)],
        ..Rules::default()
    };
    let mapping = mapping(&rules);
    let check = |topic: &str, kind: &str, expected: Option<Frames>| {
        assert_eq!(mapping.frames(topic, kind), expected, "{topic}");
    };
    check("/model/r/tf", "gz.msgs.Pose_V", Some(Frames::Moving));
    check("/model/r/pose_static", "gz.msgs.Pose", Some(Frames::Fixed));
    check("/model/r/odometry", "gz.msgs.Odometry", None);
    check("/odometry", "gz.msgs.Odometry", Some(Frames::Moving));
    check("/pose", "gz.msgs.Pose", None);
    check("/scan", "gz.msgs.LaserScan", None);
}

#[test]
fn users_are_told_of_names_that_change_or_clash_and_of_types_that_do_not_fit() {
    let rules = Rules {
        topics: vec![Rule {
            topic: "/wrong".to_owned(),
            type_name: Some("std_msgs/msg/Bool".to_owned()),
            ..Rule::default()
        }],
        ..Rules::default()
    };
    let topics = [
        used("/a_b", "gz.msgs.Twist", true, false),
        used("/a-b", "gz.msgs.Twist", true, false),
        used("/wrong", "gz.msgs.Twist", true, false),
        used("/control", "gz.msgs.WorldControl", true, false),
    ];
    let notes = mapping(&rules).notes(&topics);
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "topics /a_b and /a-b are both /a_b in ROS: give one another `name` by a rule, in \
             the file of `ros2.rules` or as [[ros2.topic]]",
            "topic /a-b is /a_b in ROS, which does not take its name",
            "topic /wrong has messages gz.msgs.Twist, which are not sent as std_msgs/msg/Bool; it \
             is left out",
        ]
    );
}

#[test]
fn compressed_images_are_beside_the_images_whatever_a_rule_calls_these() {
    let rules = "[[topic]]\ntopic = \"/rover/*\"\nname = \"/cam_{1}\"\nqos = \"reliable\"\n\
                 rate_hz = 5.0\n[[topic]]\ntopic = \"/secret\"\ndirection = \"off\"\n";
    let mapping = Mapping::new(&toml::from_str(rules).unwrap()).unwrap();
    let kind = "foxglove.CompressedImage";
    let name = |topic: &str| mapping.outbound(topic, kind).map(|ros| ros.name);
    let found = mapping.outbound("/rover/image/compressed", kind).unwrap();
    assert_eq!(found.name, "/cam_image/compressed");
    assert_eq!(found.type_name, "sensor_msgs/msg/CompressedImage");
    assert_eq!(
        (found.qos.reliability, found.max_rate_hz),
        (Reliability::Reliable, Some(5.0))
    );
    assert_eq!(
        name("/far/compressedDepth").as_deref(),
        Some("/far/compressedDepth")
    );
    assert_eq!(name("/secret/compressed"), None);
    assert_eq!(mapping.inbound("/far/compressed", kind), None);
}

#[test]
fn a_rule_for_all_topics_does_not_part_compressed_images_from_the_images() {
    let rules = "[[topic]]\ntopic = \"/eye/compressed\"\nname = \"/small\"\n\
                 [[topic]]\ntopic = \"/image\"\nname = \"/camera/image_raw\"\n\
                 [[topic]]\ntopic = \"/secret\"\ndirection = \"off\"\n\
                 [[topic]]\ntopic = \"/**\"\nqos = \"reliable\"\n";
    let mapping = Mapping::new(&toml::from_str(rules).unwrap()).unwrap();
    let kind = "foxglove.CompressedImage";
    let name = |topic: &str| mapping.outbound(topic, kind).map(|ros| ros.name);
    assert_eq!(
        name("/image/compressed").as_deref(),
        Some("/camera/image_raw/compressed")
    );
    assert_eq!(name("/secret/compressed"), None);
    assert_eq!(name("/eye/compressed").as_deref(), Some("/small"));
    assert_eq!(name("/far/compressed").as_deref(), Some("/far/compressed"));
}
