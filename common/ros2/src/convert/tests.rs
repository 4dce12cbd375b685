//! Tests of conversions.

use messages::{Header, Message};
use serde_json::{Value, json};

use super::*;

/// Returns a message as CDR of a type, and read back as JSON.
fn there_and_back(kind: &str, type_name: &str, message: Value) -> Value {
    let kind = messages::find(kind).unwrap();
    let payload = kind.from_json(message).unwrap();
    let cdr = encode(kind.name, &payload, type_name).unwrap();
    let back = decode_to(kind.name, type_name, &cdr).unwrap();
    kind.to_json(&back).unwrap()
}

#[test]
fn every_pair_takes_a_message_of_defaults_both_ways() {
    for pair in PAIRS.iter().filter(|pair| pair.kind != "gz.msgs.Image") {
        let kind = messages::find(pair.kind).unwrap();
        let payload = kind.from_json(json!({})).unwrap();
        let type_name = pair.ros_type.name;
        let cdr = encode(kind.name, &payload, type_name).unwrap();
        let back = decode_to(kind.name, type_name, &cdr);
        assert_eq!(back.is_ok(), pair.has_inbound, "{type_name}: {back:?}");
        assert!(crate::types::find(type_name).is_some(), "{type_name}");
    }
}

#[test]
fn every_kind_of_the_topics_of_systems_has_a_type() {
    let without = messages::kind::KINDS.iter().map(|kind| kind.name);
    let without: Vec<&str> = without.filter(|kind| pair(kind, None).is_none()).collect();
    // Parts of messages, requests of services, and what no message of ROS 2 is like.
    let expected = [
        "AirSpeedSensor",
        "Axis",
        "AxisAligned2DBox",
        "EntityFactory",
        "EntityFactory_V",
        "Joint",
        "JointTrajectoryPoint",
        "Oriented3DBox",
        "Physics",
        "ServerControl",
        "Vector2d",
        "WorldControl",
        "WorldReset",
    ];
    let expected: Vec<String> = expected.map(|name| format!("gz.msgs.{name}")).into();
    assert_eq!(without, expected);
}

#[test]
fn boxes_are_detections_of_their_labels() {
    let header = Header::at(3_000_000_000).with("frame_id", "cam::eye");
    let header = serde_json::to_value(header).unwrap();
    let corners = json!({ "min_corner": { "x": 10, "y": 20 }, "max_corner": { "x": 30, "y": 26 } });
    let boxes = json!({ "header": header, "annotated_box": [{ "box": corners, "label": 7 }] });
    let kind = messages::find("gz.msgs.AnnotatedAxisAligned2DBox_V").unwrap();
    let payload = kind.from_json(boxes.clone()).unwrap();
    let type_name = "vision_msgs/msg/Detection2DArray";
    let cdr = encode(kind.name, &payload, type_name).unwrap();
    let mut array: vision_msgs::Detection2DArray = from_cdr(&cdr).unwrap();
    let detection = &array.detections[0];
    assert_eq!(detection.header, array.header, "that of all boxes");
    assert_eq!(array.header.frame_id, "cam/eye");
    let middle = &detection.bbox.center.position;
    assert_eq!([middle.x, middle.y], [20.0, 23.0]);
    assert_eq!([detection.bbox.size_x, detection.bbox.size_y], [20.0, 6.0]);
    let class = &detection.results[0].hypothesis;
    assert_eq!((&*class.class_id, class.score), ("7", 1.0));
    let back = there_and_back(kind.name, type_name, boxes);
    assert_eq!(back["annotated_box"][0]["label"], 7);
    assert_eq!(back["annotated_box"][0]["box"]["max_corner"]["y"], 26.0);

    array.detections[0].results[0].hypothesis.class_id = "cat".to_owned();
    let error = decode_to(kind.name, type_name, &to_cdr(&array)).unwrap_err();
    assert!(
        error.to_string().contains("class \"cat\" is no label"),
        "{error}"
    );
}

#[test]
fn boxes_in_space_keep_their_turn() {
    let turned = json!({
        "center": { "x": 1, "y": 2, "z": 3 }, "boxsize": { "x": 4, "y": 5, "z": 6 },
        "orientation": { "z": 1, "w": 0 },
    });
    let boxes = json!({ "annotated_box": [{ "box": turned, "label": 9 }] });
    let (kind, type_name) = (
        "gz.msgs.AnnotatedOriented3DBox_V",
        "vision_msgs/msg/Detection3DArray",
    );
    let back = there_and_back(kind, type_name, boxes);
    let back = &back["annotated_box"][0];
    assert_eq!(back["label"], 9);
    assert_eq!(back["box"]["center"]["z"], 3.0);
    assert_eq!(back["box"]["boxsize"]["y"], 5.0);
    assert_eq!(back["box"]["orientation"]["z"], 1.0);
}

#[test]
fn odometry_keeps_frames_and_covariances() {
    let header = Header::at(2_000_000_001)
        .with("frame_id", "robot::odom")
        .with("child_frame_id", "robot::base");
    let mut odometry = move_::OdometryWithCovariance {
        header,
        ..move_::OdometryWithCovariance::default()
    };
    odometry.pose_with_covariance.pose.position.x = 1.5;
    odometry.pose_with_covariance.covariance.data = (0..36_u8).map(f32::from).collect();
    odometry.twist_with_covariance.twist.angular.z = -0.25;
    // A matrix of another size says nothing.
    odometry.twist_with_covariance.covariance.data = vec![1.0; 9];
    let type_name = nav_msgs::Odometry::TYPE.name;
    let kind = move_::OdometryWithCovariance::KIND;
    let cdr = encode(kind, &messages::encode(&odometry), type_name).unwrap();
    let ros: nav_msgs::Odometry = from_cdr(&cdr).unwrap();
    assert_eq!(ros.header.frame_id, "robot/odom");
    assert_eq!(ros.child_frame_id, "robot/base");
    assert_eq!((ros.header.stamp.sec, ros.header.stamp.nanosec), (2, 1));
    assert_eq!(ros.pose.pose.position.x, 1.5);
    assert_eq!(ros.pose.pose.orientation.w, 1.0);
    assert_eq!(ros.pose.covariance[35], 35.0);
    assert_eq!(ros.twist.twist.angular.z, -0.25);
    assert_eq!(ros.twist.covariance, [0.0; 36]);
    let (first, _) = decode(type_name, &cdr).unwrap();
    assert_eq!(first, "gz.msgs.Odometry");
}

#[test]
fn a_scan_of_many_rows_is_its_middle_row() {
    let scan = messages::sensor::LaserScan {
        frame: "robot::lidar".to_owned(),
        count: 2,
        vertical_count: 3,
        ranges: vec![1.0, 2.0, 3.0, f64::INFINITY, 5.0, 6.0],
        intensities: vec![1.0, 2.0, 3.0],
        ..messages::sensor::LaserScan::default()
    };
    let ros = sensor_msgs::LaserScan::from_gazebo(scan.clone()).unwrap();
    assert_eq!(ros.header.frame_id, "robot/lidar");
    assert_eq!(ros.ranges, [3.0, f32::INFINITY]);
    // Fewer numbers than it says are no reason to fail.
    assert_eq!(ros.intensities, [3.0]);
    let range = sensor_msgs::Range::from_gazebo(scan).unwrap();
    assert_eq!(range.range, 1.0);
}

#[test]
fn joints_without_an_axis_have_no_state() {
    let back = there_and_back(
        "gz.msgs.Model",
        "sensor_msgs/msg/JointState",
        json!({ "joint": [
            { "name": "fixed" },
            { "name": "wheel", "axis1": { "position": 1.5, "velocity": 2.0, "force": -3.0 } },
        ]}),
    );
    assert_eq!(back["joint"].as_array().map(Vec::len), Some(1));
    assert_eq!(back["joint"][0]["name"], "wheel");
    assert_eq!(back["joint"][0]["axis1"]["force"], -3.0);
    let short = sensor_msgs::JointState {
        name: vec!["a".to_owned(), "b".to_owned()],
        position: vec![1.0],
        ..sensor_msgs::JointState::default()
    };
    let model: state::Model = short.into_gazebo().unwrap();
    assert_eq!(
        model.joint[1].axis1.as_ref().map(|axis| axis.position),
        Some(0.0)
    );
}

#[test]
fn pixels_without_a_name_in_ros_are_an_error_that_says_so() {
    let image = messages::sensor::Image {
        pixel_format_type: "THERMAL".to_owned(),
        ..messages::sensor::Image::default()
    };
    let bytes = messages::encode(&image);
    let error = encode("gz.msgs.Image", &bytes, "sensor_msgs/msg/Image").unwrap_err();
    assert_eq!(
        error.to_string(),
        "a gz.msgs.Image cannot be sent as sensor_msgs/msg/Image: the other side has no name for \
         pixels in the format \"THERMAL\""
    );
}

#[test]
fn a_type_of_another_kind_is_refused_with_those_that_fit() {
    let error = encode("gz.msgs.Twist", &[], "std_msgs/msg/Bool").unwrap_err();
    assert_eq!(
        error.to_string(),
        "gz.msgs.Twist is not sent as std_msgs/msg/Bool; it goes with geometry_msgs/msg/Twist, \
         geometry_msgs/msg/TwistStamped"
    );
    let error = decode("sensor_msgs/msg/Joy", &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no message of a run is made of sensor_msgs/msg/Joy"
    );
    let error = decode("std_msgs/msg/Bool", &[0, 1, 0, 0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the bytes are no std_msgs/msg/Bool: the bytes end at 0, within a value that begins at 0"
    );
}

#[test]
fn compressed_images_are_named_as_image_transport_does() {
    let image = |encoding: &str, format: &str| {
        let message = messages::foxglove::CompressedImage {
            timestamp: messages::Time { sec: 1, nsec: 5 },
            frame_id: "rover::camera".to_owned(),
            data: vec![7, 8].into(),
            format: format.to_owned(),
            encoding: encoding.to_owned(),
        };
        let bytes = messages::encode(&message);
        let cdr = encode(
            "foxglove.CompressedImage",
            &bytes,
            "sensor_msgs/msg/CompressedImage",
        );
        let image: sensor_msgs::CompressedImage = from_cdr(&cdr.unwrap()).unwrap();
        assert_eq!(image.header.frame_id, "rover/camera");
        assert_eq!((image.header.stamp.sec, image.header.stamp.nanosec), (1, 5));
        (image.format, image.data)
    };
    for (encoding, format, expected) in [
        ("rgb8", "jpeg", "rgb8; jpeg compressed bgr8"),
        ("bgr8", "png", "bgr8; png compressed bgr8"),
        ("mono16", "png", "mono16; png compressed "),
        ("bayer_rggb8", "jpeg", "bayer_rggb8; jpeg compressed "),
    ] {
        assert_eq!(image(encoding, format), (expected.to_owned(), vec![7, 8]));
    }
    let (format, data) = image("16UC1", "png");
    assert_eq!(format, "16UC1; compressedDepth png");
    assert_eq!(data, [&[0; 12][..], &[7, 8]].concat());
}
