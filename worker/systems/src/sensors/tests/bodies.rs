//! Tests measurements of the motion of bodies, and of the forces on them.

use std::f64::consts::FRAC_PI_2;

use messages::motion::Wrench;
use messages::sensor::{
    AirSpeedSensor, Altimeter, Contacts, FluidPressure, Imu, LaserScan, Magnetometer, NavSat,
};
use sdf::Pose;

use super::rig::{GRAVITY, assert_near, cuboid, fixed, measure, model, rig_of, sensor};

fn imu() -> String {
    sensor("imu", "")
}

fn vector(message: &messages::Vector3d) -> [f64; 3] {
    message.into()
}

#[test]
fn an_imu_at_rest_reads_gravity_in_its_own_frame() {
    let tilted = fixed("robot", "0 0 0 0.3 0 0", &imu());
    let read: Imu = measure(&mut rig_of(&tilted));
    let expected = [0.0, GRAVITY * 0.3_f64.sin(), GRAVITY * 0.3_f64.cos()];
    assert_near(vector(&read.linear_acceleration), expected, 1e-12);
    assert_near(vector(&read.angular_velocity), [0.0; 3], 0.0);
    assert!(
        (read.orientation.w - 1.0).abs() < 1e-12,
        "it has not turned"
    );
    assert_eq!(read.entity_name, "robot::link::s");
    let floor = fixed("floor", "0 0 -0.5 0 0 0", &cuboid("9 9 1"));
    let on_floor = model("robot", "0 0 0.25 0 0 0", &(cuboid("0.5 0.5 0.5") + &imu()));
    let mut rig = rig_of(&(floor + &on_floor));
    rig.run_steps(500);
    let read: Imu = measure(&mut rig);
    assert_near(vector(&read.linear_acceleration), [0.0, 0.0, GRAVITY], 0.02);
}

#[test]
fn an_imu_in_free_fall_reads_nothing() {
    let mut rig = rig_of(&model("robot", "0 0 9 0.4 0.2 1", &imu()));
    rig.run_steps(100);
    let read: Imu = measure(&mut rig);
    assert_near(vector(&read.linear_acceleration), [0.0; 3], 1e-9);
}

/// Returns an arm that turns about z, with a sensor 2 m from the axis.
fn arm(kind: &str) -> String {
    let sensor = sensor(kind, "<pose>2 0 0 0 0 0</pose>");
    let arm = model("robot", "0 0 1 0 0 0", &sensor);
    let joint = r#"<joint name="axle" type="continuous"><parent>world</parent><child>link</child>
        <axis><xyz>0 0 1</xyz></axis></joint></model>"#;
    arm.replace("</model>", joint)
}

#[test]
fn an_imu_on_a_turning_arm_reads_centripetal_acceleration() {
    let mut rig = rig_of(&arm("imu"));
    let rate = 3.0;
    let robot = physics::ModelRef::moving(protocol::PerformerId(0), 0);
    rig.cell
        .set_link_velocity(robot, 0, [[0.0; 3], [0.0, 0.0, rate]]);
    rig.run_steps(100);
    let read: Imu = measure(&mut rig);
    assert_near(vector(&read.angular_velocity), [0.0, 0.0, rate], 1e-3);
    let expected = [-rate * rate * 2.0, 0.0, GRAVITY];
    assert_near(vector(&read.linear_acceleration), expected, 0.02);
    let turned = Pose {
        orientation_xyzw: read.orientation.xyzw(),
        ..Pose::IDENTITY
    };
    let yaw = turned.roll_pitch_yaw()[2];
    assert!((yaw - rate * 0.101).abs() < 1e-3, "{yaw}");
}

#[test]
fn orientations_are_against_the_frame_that_is_named() {
    let yaw = |frame: &str| {
        let content = format!(
            "<imu><orientation_reference_frame>{frame}</orientation_reference_frame></imu>"
        );
        let robot = fixed("robot", "0 0 0 0 0 0.5", &sensor("imu", &content));
        let read: Imu = measure(&mut rig_of(&robot));
        let turned = Pose {
            orientation_xyzw: read.orientation.xyzw(),
            ..Pose::IDENTITY
        };
        turned.roll_pitch_yaw()
    };
    let custom = |attribute: &str| {
        format!("<localization>CUSTOM</localization><custom_rpy {attribute}>0 0 0.2</custom_rpy>")
    };
    assert_near(
        yaw("<localization>ENU</localization>"),
        [0.0, 0.0, 0.5],
        1e-12,
    );
    assert_near(
        yaw("<localization>NWU</localization>"),
        [0.0, 0.0, 0.5 - FRAC_PI_2],
        1e-12,
    );
    assert_near(
        yaw(&custom(r#"parent_frame="world""#)),
        [0.0, 0.0, 0.3],
        1e-12,
    );
    assert_near(yaw(&custom("")), [0.0, 0.0, -0.2], 1e-12);
    let [roll, _, heading] = yaw("<localization>NED</localization>");
    assert!((roll.abs() - std::f64::consts::PI).abs() < 1e-12);
    assert!((heading - (FRAC_PI_2 - 0.5)).abs() < 1e-12, "{heading}");
}

#[test]
fn an_altimeter_counts_from_where_it_was() {
    let mut rig = rig_of(&model("robot", "0 0 50 0 0 0", &sensor("altimeter", "")));
    rig.run_steps(999);
    let read: Altimeter = measure(&mut rig);
    assert_eq!(read.vertical_reference, 50.0);
    assert!(
        (read.vertical_position + GRAVITY / 2.0).abs() < 0.01,
        "{read:?}"
    );
    assert!((read.vertical_velocity + GRAVITY).abs() < 1e-9, "{read:?}");
}

#[test]
fn air_thins_with_height() {
    let content = "<air_pressure><reference_altitude>900</reference_altitude></air_pressure>";
    let robot = fixed("robot", "0 0 100 0 0 0", &sensor("air_pressure", content));
    let read: FluidPressure = measure(&mut rig_of(&robot));
    assert!((read.pressure - 89_876.0).abs() < 1.0, "{read:?}");
}

#[test]
fn a_tube_that_falls_head_first_meets_air() {
    let down = "0 0 0 0 1.5707963267948966 0";
    let mut rig = rig_of(&model("robot", down, &sensor("air_speed", "")));
    rig.run_steps(999);
    let read: AirSpeedSensor = measure(&mut rig);
    // Half a step of fall is in dispute between integrators: a thousandth of the pressure.
    let expected = 0.5 * 1.225 * GRAVITY * GRAVITY;
    let part = read.diff_pressure / expected;
    assert!((part - 1.0).abs() < 3e-3, "{read:?}");
    assert_eq!(read.pressure_noise.r#type, "NONE");
    let mut rig = rig_of(&model("robot", "0 0 0 0 0 0", &sensor("air_speed", "")));
    rig.run_steps(999);
    let read: AirSpeedSensor = measure(&mut rig);
    assert!(read.diff_pressure.abs() < 1e-9, "it meets no air: {read:?}");
}

#[test]
fn a_magnetometer_turns_against_the_field() {
    let robot = fixed(
        "robot",
        "0 0 0 0 0 1.5707963267948966",
        &sensor("magnetometer", ""),
    );
    let read: Magnetometer = measure(&mut rig_of(&robot));
    assert_near(vector(&read.field_tesla), [0.0, -2e-5, -4e-5], 1e-18);
}

#[test]
fn a_receiver_tells_where_on_earth_it_is_and_how_it_moves() {
    let earth = "<spherical_coordinates><surface_model>EARTH_WGS84</surface_model>
        <latitude_deg>47</latitude_deg><longitude_deg>8</longitude_deg>
        <elevation>400</elevation><heading_deg>0</heading_deg></spherical_coordinates>";
    let robot = model("robot", "0 100 30 0 0 0", &sensor("navsat", ""));
    let mut rig = rig_of(&format!("{earth}{robot}"));
    rig.run_steps(99);
    let read: NavSat = measure(&mut rig);
    // 111,167.6 m per degree of the meridian at 47 degrees, at a height of 400 m.
    let north = (read.latitude_deg - 47.0) * 111_175.0;
    assert!((north - 100.0).abs() < 0.05, "{north}");
    assert!((read.longitude_deg - 8.0).abs() < 1e-12);
    assert!(
        (read.altitude - 430.0 + GRAVITY * 0.005).abs() < 0.01,
        "{read:?}"
    );
    assert!((read.velocity_up + GRAVITY * 0.1).abs() < 1e-9, "{read:?}");
    let problems = rig_of(&model("robot", "0 0 0 0 0 0", &sensor("navsat", ""))).problems;
    assert!(
        problems[0].contains("<spherical_coordinates>"),
        "{problems:?}"
    );
}

#[test]
fn contacts_carry_the_weight_of_what_rests() {
    let content = "<contact><collision>shape</collision></contact>";
    let floor = fixed("floor", "0 0 -0.5 0 0 0", &cuboid("9 9 1"));
    let robot = cuboid("0.5 0.5 0.5") + &sensor("contact", content);
    let mut rig = rig_of(&(floor + &model("robot", "0 0 0.3 0 0 0", &robot)));
    rig.run_steps(20);
    assert!(rig.take::<Contacts>("/t").is_empty(), "it is still falling");
    rig.run_steps(1000);
    let read: Contacts = measure(&mut rig);
    let contact = &read.contact[0];
    assert_eq!(contact.collision1.name, "robot::link::shape");
    assert_eq!(contact.collision2.name, "floor::link::shape");
    let forces = contact
        .wrench
        .iter()
        .map(|wrench| wrench.body_1_wrench.force.z);
    let weight: f64 = forces.sum();
    assert!((weight - 2.0 * GRAVITY).abs() < 0.02, "{weight}");
    assert!(
        contact.position.iter().all(|at| at.z.abs() < 1e-2),
        "{contact:?}"
    );
}

/// Returns a weight of 2 kg at a place on a joint to the world at a height of 5 m, which a sensor
/// measures.
fn hanging(kind: &str, place: &str, content: &str) -> String {
    let link = model("robot", place, "");
    let axis = if kind == "fixed" {
        ""
    } else {
        "<axis><xyz>0 1 0</xyz></axis>"
    };
    let sensor = sensor("force_torque", content);
    let joint = format!(
        r#"<joint name="j" type="{kind}"><pose relative_to="__model__">0 0 0 0 0 0</pose>
        <parent>world</parent><child>link</child>{axis}{sensor}</joint></model>"#
    );
    link.replace("</model>", &joint)
}

fn load(content: &str, center: &str) -> Wrench {
    let inertial = format!("<inertial><pose>{center}</pose>");
    let robot = hanging("fixed", "0 0 5 0 0 0", content).replace("<inertial>", &inertial);
    let mut rig = rig_of(&robot);
    rig.run_steps(200);
    measure(&mut rig)
}

#[test]
fn a_joint_carries_the_weight_that_hangs_on_it() {
    let read = load("", "0 0 -1 0 0 0");
    assert_near(vector(&read.force), [0.0, 0.0, -2.0 * GRAVITY], 1e-3);
    assert_near(vector(&read.torque), [0.0; 3], 1e-3);
    let content = "<force_torque><measure_direction>parent_to_child</measure_direction>
        </force_torque>";
    let read = load(content, "0 0 -1 0 0 0");
    assert_near(vector(&read.force), [0.0, 0.0, 2.0 * GRAVITY], 1e-3);
}

#[test]
fn a_lever_has_the_moment_of_its_weight() {
    let read = load("", "1.5 0 0 0 0 0");
    assert_near(vector(&read.force), [0.0, 0.0, -2.0 * GRAVITY], 1e-2);
    // What the child exerts: (1.5, 0, 0) x (0, 0, -m g).
    assert_near(vector(&read.torque), [0.0, 2.0 * GRAVITY * 1.5, 0.0], 1e-2);
    let content = "<pose>0 0 0 1.5707963267948966 0 0</pose><force_torque><frame>sensor</frame>
        </force_torque>";
    let read = load(content, "1.5 0 0 0 0 0");
    assert_near(vector(&read.force), [0.0, -2.0 * GRAVITY, 0.0], 1e-2);
}

#[test]
fn measurements_come_at_the_rate_and_only_to_listeners() {
    let rated = imu().replace("<topic>", "<update_rate>50</update_rate><topic>");
    let mut rig = rig_of(&model("robot", "0 0 9 0 0 0", &rated));
    rig.run_steps(1000);
    let read: Vec<Imu> = rig.take("/t");
    assert_eq!(read.len(), 51);
    assert_eq!(read[1].header.stamp.nsec, 20_000_000);
    let sequence = &read[50].header.data[1];
    assert_eq!(
        (sequence.key.as_str(), sequence.value[0].as_str()),
        ("seq", "50")
    );
    rig.audience.publish_all = false;
    rig.run_steps(100);
    assert!(rig.take_all().is_empty());
}

#[test]
fn topics_and_frames_follow_from_names_as_in_gazebo() {
    let plain = |kind: &str, content: &str| sensor(kind, content).replace("<topic>t</topic>", "");
    let lidar = "<lidar><scan><horizontal><samples>3</samples></horizontal></scan>
        <range><min>0.1</min><max>9</max></range></lidar>";
    let depth = plain("rgbd_camera", "<camera/>").replace("\"s\"", "\"eye\"");
    let sensors = plain("gpu_lidar", lidar) + &depth;
    let inner = format!(
        r#"<model name="inner"><link name="l">{}</link></model></model>"#,
        plain("imu", "<gz_frame_id>frame</gz_frame_id>")
    );
    let robot = fixed("my robot", "0 0 0 0 0 0", &sensors).replace("</model>", &inner);
    let mut rig = rig_of(&robot);
    let base = "/world/w/model/my_robot/link/link/sensor";
    let nested = "/world/w/model/my_robot/model/inner/link/l/sensor/s/imu";
    let expected = [
        format!("{base}/s/scan"),
        format!("{base}/s/scan/points"),
        format!("{base}/eye/depth_image"),
        format!("{base}/eye/camera_info"),
        format!("{base}/eye/points"),
        format!("{base}/eye/image"),
        nested.to_owned(),
    ];
    assert_eq!(rig.topics(), expected);
    rig.run_steps(1);
    let scan: LaserScan = rig.take(&expected[0]).remove(0);
    assert_eq!(scan.frame, "my robot::link::s");
    let imu: Imu = rig.take(nested).remove(0);
    assert_eq!(imu.header.data[0].value, ["frame"]);
    assert_eq!(imu.entity_name, "my robot::inner::l::s");
}

#[test]
fn impossible_parameters_of_sensors_are_named() {
    let problem = |sensor: String| {
        let problems = rig_of(&fixed("robot", "0 0 0 0 0 0", &sensor)).problems;
        problems.join("; ")
    };
    let lidar = |samples: &str| {
        sensor(
            "lidar",
            &format!(
                "<lidar><scan><horizontal><samples>{samples}</samples></horizontal></scan>
            <range><min>0.1</min><max>9</max></range></lidar>"
            ),
        )
    };
    assert!(problem(lidar("4000000000")).contains("4194304"));
    assert!(problem(lidar("0")).contains("must be 1 to"));
    assert!(
        problem(sensor(
            "contact",
            "<contact><collision>x</collision></contact>"
        ))
        .contains("has no collision")
    );
    assert!(problem(sensor("force_torque", "")).contains("belongs on a <joint>"));
}
