//! Robots on wheels go where they are told, and know where they are.

use std::f64::consts::TAU;

use messages::basic::{Boolean, Double};
use messages::geometry::PoseV;
use messages::motion::{Odometry, Twist};

use crate::test_rig::{STEP_S, SystemTestRig};

/// An acceleration that wheels hold, and the way that it costs until 0.5 m/s \[m\].
const GENTLE: &str = "<max_linear_acceleration>2</max_linear_acceleration>";
const RAMP: f64 = 0.5 * 0.5 / 2.0 / 2.0;

fn ground() -> &'static str {
    "<model name='ground'><static>true</static><link name='link'><collision name='c'><geometry>\
     <plane><normal>0 0 1</normal><size>100 100</size></plane></geometry></collision></link>\
     </model>"
}

fn link(name: &str, pose: &str, mass: f64, inertia: f64, geometry: &str, friction: f64) -> String {
    format!(
        "<link name='{name}'><pose>{pose}</pose><inertial><mass>{mass}</mass><inertia>\
         <ixx>{inertia}</ixx><iyy>{inertia}</iyy><izz>{inertia}</izz></inertia></inertial>\
         <collision name='c'><geometry>{geometry}</geometry><surface><friction><ode>\
         <mu>{friction}</mu><mu2>{friction}</mu2></ode></friction></surface></collision></link>"
    )
}

fn wheel(name: &str, pose: [f64; 2]) -> String {
    let [x, y] = pose;
    let pose = format!("{x} {y} 0.1 -1.5707963267948966 0 0");
    let shape = "<cylinder><radius>0.1</radius><length>0.04</length></cylinder>";
    link(name, &pose, 0.5, 0.002, shape, 1.0)
}

fn hinge(name: &str, parent: &str, child: &str, axis: &str) -> String {
    format!(
        "<joint name='{name}' type='revolute'><parent>{parent}</parent><child>{child}</child>\
         <axis><xyz expressed_in='__model__'>{axis}</xyz></axis></joint>"
    )
}

/// A robot of 5 kg on two wheels 0.4 m apart and a smooth ball, with a system.
fn robot(parameters: &str) -> String {
    let body = "<box><size>0.3 0.2 0.1</size></box>";
    let ball = "<sphere><radius>0.05</radius></sphere>";
    [
        "<model name='robot'>".to_owned(),
        link("body", "-0.05 0 0.12 0 0 0", 4.0, 0.04, body, 1.0),
        link("caster", "-0.2 0 0.05 0 0 0", 0.1, 1e-3, ball, 0.0),
        wheel("left", [0.0, 0.2]),
        wheel("right", [0.0, -0.2]),
        hinge("l", "body", "left", "0 1 0"),
        hinge("r", "body", "right", "0 1 0"),
        "<joint name='c' type='fixed'><parent>body</parent><child>caster</child></joint>"
            .to_owned(),
        format!(
            "<plugin name='gz::sim::systems::DiffDrive' filename='gz-sim-diff-drive-system'>\
             <left_joint>l</left_joint><right_joint>r</right_joint>\
             <wheel_separation>0.4</wheel_separation><wheel_radius>0.1</wheel_radius>{parameters}\
             </plugin></model>"
        ),
    ]
    .concat()
}

fn twist(ahead: f64, turning: f64) -> Twist {
    Twist {
        linear: [ahead, 0.0, 0.0].into(),
        angular: [0.0, 0.0, turning].into(),
        ..Twist::default()
    }
}

fn place(rig: &SystemTestRig) -> [f64; 3] {
    let pose = rig.cell.model_pose(rig.model_at(1));
    let [x, y, _] = pose.position;
    [x, y, pose.roll_pitch_yaw()[2]]
}

#[test]
fn a_robot_goes_straight_and_its_odometry_agrees() {
    let mut rig = SystemTestRig::new(&(ground().to_owned() + &robot(GENTLE)));
    rig.run(0.5);
    let start = place(&rig);
    rig.take::<Odometry>("/model/robot/odometry");
    rig.publish("/model/robot/cmd_vel", &twist(0.5, 0.0));
    rig.run(4.0);
    let end = place(&rig);
    let way = end[0] - start[0];
    assert!((way / (2.0 - RAMP) - 1.0).abs() < 0.01, "{way} m");
    assert!((end[1] - start[1]).abs() < 0.01, "{end:?}");
    let told = rig.take::<Odometry>("/model/robot/odometry");
    assert_eq!(told.len(), 200, "50 Hz for 4 s");
    let last = &told[199];
    assert!((last.pose.position.x - way).abs() < 0.01, "{last:?}");
    assert!((last.twist.linear.x - 0.5).abs() < 1e-3, "{last:?}");
    assert_eq!(last.header.data[0].value, ["robot/odom"]);
    assert_eq!(last.header.data[1].value, ["robot/body"]);
    let tf = rig.take::<PoseV>("/model/robot/tf");
    assert_eq!(tf.last().unwrap().pose[0].position, last.pose.position);
}

#[test]
fn a_robot_goes_round_a_circle_of_its_speed_over_its_turning() {
    let mut rig = SystemTestRig::new(&(ground().to_owned() + &robot("")));
    rig.run(0.2);
    let start = place(&rig);
    let (speed, turning) = (0.4, 0.8);
    rig.publish("/model/robot/cmd_vel", &twist(speed, turning));
    let mut farthest = 0.0_f64;
    let period = TAU / turning;
    for _ in 0..(period / STEP_S) as usize {
        rig.run_steps(1);
        let [x, y, _] = place(&rig);
        farthest = farthest.max((x - start[0]).hypot(y - start[1]));
    }
    let end = place(&rig);
    let gap = (end[0] - start[0]).hypot(end[1] - start[1]);
    let diameter = 2.0 * speed / turning;
    println!("gap {gap} m, diameter {farthest} m of {diameter} m");
    assert!(
        (farthest / diameter - 1.0).abs() < 0.02,
        "{farthest} m, not {diameter} m"
    );
    assert!(gap < 0.05, "{gap} m from the start after a period");
}

#[test]
fn a_robot_that_is_not_enabled_stands_until_it_is() {
    let mut rig = SystemTestRig::new(
        &(ground().to_owned() + &robot(&format!("<topic>drive</topic>{GENTLE}"))),
    );
    rig.run(0.2);
    let start = place(&rig);
    let enable = |data| Boolean {
        data,
        ..Boolean::default()
    };
    rig.publish("/drive/enable", &enable(false));
    rig.publish("/drive", &twist(0.5, 0.0));
    rig.run(0.5);
    assert!((place(&rig)[0] - start[0]).abs() < 1e-3);
    rig.publish("/drive/enable", &enable(true));
    rig.publish("/drive", &twist(0.5, 0.0));
    rig.run(0.5);
    let way = place(&rig)[0] - start[0];
    assert!((way / (0.25 - RAMP) - 1.0).abs() < 0.02, "{way} m");
}

#[test]
fn limits_of_acceleration_make_a_ramp() {
    let limits = "<max_linear_acceleration>0.5</max_linear_acceleration>\
                  <max_linear_velocity>0.6</max_linear_velocity>";
    let mut rig = SystemTestRig::new(&(ground().to_owned() + &robot(limits)));
    rig.run(0.2);
    let start = place(&rig);
    rig.publish("/model/robot/cmd_vel", &twist(2.0, 0.0));
    rig.run(1.0);
    let way = place(&rig)[0] - start[0];
    assert!((way / 0.25 - 1.0).abs() < 0.02, "{way} m after 1 s");
    rig.run(1.0);
    let way = place(&rig)[0] - start[0];
    let expected = 0.36 + 0.6 * 0.8;
    assert!(
        (way / expected - 1.0).abs() < 0.02,
        "{way} m after 2 s, not {expected} m"
    );
}

#[test]
fn a_robot_that_moves_to_another_cell_goes_on() {
    let mut rig = SystemTestRig::new(&(ground().to_owned() + &robot(GENTLE)));
    rig.run(0.2);
    let start = place(&rig);
    rig.publish("/model/robot/cmd_vel", &twist(0.5, 0.0));
    rig.run(1.0);
    rig.hand_off();
    rig.run(1.0);
    let way = place(&rig)[0] - start[0];
    assert!((way / (1.0 - RAMP) - 1.0).abs() < 0.01, "{way} m");
    let told = rig.take::<Odometry>("/model/robot/odometry");
    let x = told.last().unwrap().pose.position.x;
    assert!((x - way).abs() < 0.01, "odometry has {x} m of {way} m");
}

#[test]
fn missing_and_impossible_parameters_of_a_drive_are_named() {
    let lame = robot("").replace("<left_joint>l</left_joint>", "");
    let problem = SystemTestRig::problem(&lame);
    assert!(problem.contains("<left_joint> is missing"), "{problem}");
    let flat = robot("<wheel_radius>0</wheel_radius>");
    let flat = flat.replacen("<wheel_radius>0.1</wheel_radius>", "", 1);
    let problem = SystemTestRig::problem(&flat);
    assert!(
        problem.contains("<wheel_radius> must be above 0"),
        "{problem}"
    );
}

/// Four wheels on hinges of a body that hangs in the air.
fn frame(joints: &str, plugin: &str) -> String {
    let body = "<box><size>0.1 0.1 0.1</size></box>";
    let mut text = "<model name='car'>".to_owned();
    text += &link("body", "0 0 1 0 0 0", 4.0, 0.04, body, 1.0);
    text += "<joint name='hung' type='fixed'><parent>world</parent><child>body</child></joint>";
    for name in ["fl", "fr", "bl", "br"] {
        let pose = "0 0 1 0 0 0";
        text += &link(&format!("w{name}"), pose, 0.5, 0.002, body, 1.0);
        text += &hinge(name, "body", &format!("w{name}"), "0 1 0");
    }
    text + joints + plugin + "</model>"
}

#[test]
fn mecanum_wheels_turn_as_the_way_asks() {
    let plugin = "<plugin name='gz::sim::systems::MecanumDrive' filename='none'>\
        <front_left_joint>fl</front_left_joint><front_right_joint>fr</front_right_joint>\
        <back_left_joint>bl</back_left_joint><back_right_joint>br</back_right_joint>\
        <wheel_separation>0.6</wheel_separation><wheelbase>0.8</wheelbase>\
        <wheel_radius>0.1</wheel_radius></plugin>";
    let mut rig = SystemTestRig::new(&frame("", plugin));
    let (ahead, left, turning) = (0.3, -0.2, 0.5);
    let asked = Twist {
        linear: [ahead, left, 0.0].into(),
        angular: [0.0, 0.0, turning].into(),
        ..Twist::default()
    };
    rig.publish("/model/car/cmd_vel", &asked);
    rig.run(0.5);
    let swing = turning * 0.7;
    let expected = [
        ahead - left - swing,
        ahead + left + swing,
        ahead + left - swing,
        ahead - left + swing,
    ];
    for (wheel, expected) in expected.into_iter().enumerate() {
        let rate = rig.cell.joint_velocity(rig.model_at(0), 1 + wheel, 0);
        assert!(
            (rate - expected / 0.1).abs() < 1e-3,
            "wheel {wheel}: {rate} rad/s"
        );
    }
    let told = rig.take::<Odometry>("/model/car/odometry");
    let [vx, vy, wz] = told
        .last()
        .map(|last| {
            let twist = &last.twist;
            [twist.linear.x, twist.linear.y, twist.angular.z]
        })
        .unwrap();
    assert!(
        (vx - ahead).abs() < 1e-3 && (vy - left).abs() < 1e-3,
        "{vx} {vy}"
    );
    assert!((wz - turning).abs() < 1e-3, "{wz}");
}

/// A chassis on mecanum wheels, whose friction acts along a diagonal of the chassis.
fn mecanum() -> String {
    let body = "<box><size>0.6 0.4 0.1</size></box>";
    let mut text = "<model name='car'>".to_owned();
    text += &link("body", "0 0 0.2 0 0 0", 4.0, 0.04, body, 1.0);
    let wheels = [
        ("fl", [0.4, 0.3], -1),
        ("fr", [0.4, -0.3], 1),
        ("bl", [-0.4, 0.3], 1),
        ("br", [-0.4, -0.3], -1),
    ];
    for (name, [x, y], side) in wheels {
        let pose = format!("{x} {y} 0.1 -1.5707963267948966 0 0");
        let shape = "<cylinder><radius>0.1</radius><length>0.04</length></cylinder>";
        let plain = link(&format!("w{name}"), &pose, 0.5, 0.002, shape, 1.0);
        let along = format!("<mu2>0</mu2><fdir1 gz:expressed_in='body'>1 {side} 0</fdir1>");
        text += &plain.replace("<mu2>1</mu2>", &along);
        text += &hinge(name, "body", &format!("w{name}"), "0 1 0");
    }
    text + "<plugin name='gz::sim::systems::MecanumDrive' filename='none'>\
        <front_left_joint>fl</front_left_joint><front_right_joint>fr</front_right_joint>\
        <back_left_joint>bl</back_left_joint><back_right_joint>br</back_right_joint>\
        <wheel_separation>0.6</wheel_separation><wheelbase>0.8</wheelbase>\
        <wheel_radius>0.1</wheel_radius><max_linear_acceleration>1</max_linear_acceleration>\
        <min_linear_acceleration>-1</min_linear_acceleration></plugin></model>"
}

#[test]
fn mecanum_wheels_carry_their_chassis_any_way() {
    for (ahead, left) in [(0.3, 0.0), (0.0, 0.3), (0.0, -0.3), (0.2, 0.2)] {
        let mut rig = SystemTestRig::new(&(ground().to_owned() + &mecanum()));
        rig.run(0.2);
        let start = place(&rig);
        let asked = Twist {
            linear: [ahead, left, 0.0].into(),
            ..Twist::default()
        };
        rig.publish("/model/car/cmd_vel", &asked);
        rig.run(3.0);
        let end = place(&rig);
        // It takes 0.3 s up to 0.3 m/s, at half of that in the mean.
        let seconds = |speed: f64| speed * (3.0 - 0.5 * speed.abs());
        for (axis, speed) in [ahead, left].into_iter().enumerate() {
            let way = end[axis] - start[axis];
            let expected = seconds(speed);
            assert!((way - expected).abs() < 0.02, "{ahead} {left}: {end:?}");
        }
        assert!(end[2].abs() < 0.01, "turned to {}", end[2]);
    }
}

fn ackermann(parameters: &str) -> String {
    let steering = "<joint name='sl' type='revolute'><parent>body</parent><child>wsl</child>\
        <axis><xyz>0 0 1</xyz></axis></joint><joint name='sr' type='revolute'>\
        <parent>body</parent><child>wsr</child><axis><xyz>0 0 1</xyz></axis></joint>";
    let shape = "<box><size>0.1 0.1 0.1</size></box>";
    let links = link("wsl", "0 0 1 0 0 0", 0.5, 0.002, shape, 1.0)
        + &link("wsr", "0 0 1 0 0 0", 0.5, 0.002, shape, 1.0);
    let plugin = format!(
        "<plugin name='gz::sim::systems::AckermannSteering' filename='none'>\
         <left_joint>bl</left_joint><right_joint>br</right_joint>\
         <left_steering_joint>sl</left_steering_joint>\
         <right_steering_joint>sr</right_steering_joint><wheel_separation>1.2</wheel_separation>\
         <kingpin_width>1.0</kingpin_width><wheel_base>1.9</wheel_base>\
         <wheel_radius>0.3</wheel_radius><steer_p_gain>10</steer_p_gain>{parameters}</plugin>"
    );
    frame(&(links + steering), &plugin)
}

#[test]
fn a_cars_wheels_meet_the_circle_that_it_drives() {
    let mut rig = SystemTestRig::new(&ackermann(""));
    let (speed, turning) = (1.0, 0.2);
    rig.publish("/model/car/cmd_vel", &twist(speed, turning));
    rig.run(3.0);
    let radius = speed / turning;
    let (cell, car) = (&rig.cell, rig.model_at(0));
    for (joint, side) in [(5, -0.5), (6, 0.5)] {
        let angle = cell.joint_position(car, joint, 0);
        let expected = (1.9 / (radius + side * 1.0_f64)).atan();
        assert!(
            (angle - expected).abs() < 1e-3,
            "{angle} rad, not {expected}"
        );
    }
    for (joint, side) in [(3, -0.5), (4, 0.5)] {
        let rate = cell.joint_velocity(car, joint, 0);
        let expected = turning * (radius + side * 1.2) / 0.3;
        assert!(
            (rate - expected).abs() < 1e-3,
            "{rate} rad/s, not {expected}"
        );
    }
    let told = rig.take::<Odometry>("/model/car/odometry");
    let last = &told.last().unwrap().twist;
    assert!((last.linear.x - speed).abs() < 0.01, "{last:?}");
    assert!((last.angular.z - turning).abs() < 0.01, "{last:?}");
}

#[test]
fn a_car_turns_no_tighter_than_its_steering_limit() {
    let limit = 0.4_f64;
    let mut rig = SystemTestRig::new(&ackermann("<steering_limit>0.4</steering_limit>"));
    rig.publish("/model/car/cmd_vel", &twist(0.5, -9.0));
    rig.run(3.0);
    let radius = 1.9 / limit.sin();
    let angle = rig.cell.joint_position(rig.model_at(0), 6, 0);
    let expected = -(1.9 / (radius - 0.5)).atan();
    assert!(
        (angle - expected).abs() < 1e-3,
        "{angle} rad, not {expected}"
    );
}

#[test]
fn a_car_that_only_steers_goes_by_an_angle() {
    let mut rig = SystemTestRig::new(&ackermann("<steering_only>true</steering_only>"));
    let angle = 0.3_f64;
    let asked = Double {
        data: angle,
        ..Double::default()
    };
    rig.publish("/model/car/steer_angle", &asked);
    rig.run(3.0);
    let radius = 1.9 / angle.tan();
    for (joint, side) in [(5, -0.6), (6, 0.6)] {
        let angle = rig.cell.joint_position(rig.model_at(0), joint, 0);
        let expected = (1.9 / (radius + side)).atan();
        assert!(
            (angle - expected).abs() < 1e-3,
            "{angle} rad, not {expected}"
        );
    }
}
