//! A quadcopter with motors flies as it is told.

use super::*;
use crate::test_rig::SystemTestRig;

fn copter() -> String {
    use std::fmt::Write as _;
    let mut links = String::new();
    let mut motors = String::new();
    let mut rotors = String::new();
    let places = [
        (1, -1, "ccw", 1),
        (-1, 1, "ccw", 1),
        (1, 1, "cw", -1),
        (-1, -1, "cw", -1),
    ];
    for (number, (x, y, word, direction)) in places.into_iter().enumerate() {
        let (x, y) = (0.15 * f64::from(x), 0.2 * f64::from(y));
        write!(
            links,
            "<link name='r{number}'><pose>{x} {y} 0.05 0 0 0</pose><inertial><mass>0.005</mass>
            <inertia><ixx>1e-5</ixx><iyy>1e-5</iyy><izz>2e-5</izz></inertia></inertial></link>
            <joint name='j{number}' type='revolute'><parent>base</parent><child>r{number}</child>
            <axis><xyz>0 0 1</xyz></axis></joint>"
        )
        .unwrap();
        write!(
            motors,
            "<plugin name='gz::sim::systems::MulticopterMotorModel' filename='m'>
            <robotNamespace>X3</robotNamespace><jointName>j{number}</jointName>
            <linkName>r{number}</linkName><turningDirection>{word}</turningDirection>
            <commandSubTopic>command/motor_speed</commandSubTopic>
            <motorNumber>{number}</motorNumber><maxRotVelocity>1500</maxRotVelocity></plugin>"
        )
        .unwrap();
        write!(
            rotors,
            "<rotor><jointName>j{number}</jointName><forceConstant>8.54858e-06</forceConstant>
            <momentConstant>0.016</momentConstant><direction>{direction}</direction></rotor>"
        )
        .unwrap();
    }
    format!(
        "<gravity>0 0 -9.8</gravity><model name='copter'><pose>0 0 5 0 0 0</pose>
        <link name='base'><inertial><mass>1.5</mass><inertia><ixx>0.0347563</ixx>
        <iyy>0.07</iyy><izz>0.0977</izz></inertia></inertial></link>{links}{motors}
        <plugin name='gz::sim::systems::MulticopterVelocityControl' filename='c'>
        <robotNamespace>X3</robotNamespace><commandSubTopic>gazebo/command/twist</commandSubTopic>
        <enableSubTopic>enable</enableSubTopic><comLinkName>base</comLinkName>
        <velocityGain>2.7 2.7 2.7</velocityGain><attitudeGain>2 3 0.15</attitudeGain>
        <angularRateGain>0.4 0.52 0.18</angularRateGain>
        <maximumLinearAcceleration>2 2 2</maximumLinearAcceleration>
        <rotorConfiguration>{rotors}</rotorConfiguration></plugin></model>"
    )
}

fn fly(rig: &mut SystemTestRig, linear: [f64; 3], yaw: f64) {
    let twist = Twist {
        linear: linear.into(),
        angular: [0.0, 0.0, yaw].into(),
        ..Twist::default()
    };
    rig.publish("/X3/gazebo/command/twist", &twist);
}

fn velocity(rig: &SystemTestRig) -> [[f64; 3]; 2] {
    rig.cell.link_velocity(rig.model("copter"), 0)
}

#[test]
fn it_hovers_with_the_turning_that_carries_its_weight() {
    let mut rig = SystemTestRig::new(&copter());
    fly(&mut rig, [0.0; 3], 0.0);
    rig.run(4.0);
    rig.renew_systems();
    rig.run(4.0);
    let height = rig.cell.link_pose(rig.model("copter"), 0).position[2];
    rig.run(1.0);
    let [linear, _] = velocity(&rig);
    assert!(linear.iter().all(|speed| speed.abs() < 0.02), "{linear:?}");
    let now = rig.cell.link_pose(rig.model("copter"), 0).position[2];
    assert!((now - height).abs() < 0.02, "{height} m, then {now} m");
    let told: Actuators = rig.last("/model/copter/actuators").unwrap();
    let expected = (1.52 * 9.8 / 4.0 / 8.54858e-6_f64).sqrt();
    for turning in told.velocity {
        assert!(
            (turning / expected - 1.0).abs() < 0.01,
            "{turning} but {expected} rad/s"
        );
    }
}

#[test]
fn it_climbs_flies_ahead_and_turns_as_fast_as_it_is_told() {
    let mut rig = SystemTestRig::new(&copter());
    fly(&mut rig, [0.0, 0.0, 1.0], 0.0);
    rig.run(6.0);
    let [linear, _] = velocity(&rig);
    assert!((linear[2] - 1.0).abs() < 0.05, "{linear:?}");
    fly(&mut rig, [0.5, 0.0, 0.0], 0.0);
    rig.run(8.0);
    let [linear, _] = velocity(&rig);
    // The gain on what is missing carries the drag of four rotors: k (v0 - v) = 4 w c v.
    let drag = 4.0 * (1.52 * 9.8 / 4.0 / 8.54858e-6_f64).sqrt() * 1e-4;
    let expected = 0.5 * 2.7 / (2.7 + drag);
    let error = (linear[0] - expected).abs();
    assert!(
        error < 0.02 && linear[2].abs() < 0.05,
        "{linear:?} but {expected} m/s"
    );
    fly(&mut rig, [0.0; 3], 0.3);
    rig.run(6.0);
    let [_, turning] = velocity(&rig);
    assert!((turning[2] - 0.3).abs() < 0.03, "{turning:?}");
}

#[test]
fn disabled_it_stops_its_rotors_and_waits_for_a_new_command() {
    let mut rig = SystemTestRig::new(&copter());
    fly(&mut rig, [0.0; 3], 0.0);
    rig.run(1.0);
    rig.publish("/X3/enable", &Boolean::default());
    rig.run(1.0);
    let told: Actuators = rig.last("/model/copter/actuators").unwrap();
    assert_eq!(told.velocity, [0.0; 4]);
    let [linear, _] = velocity(&rig);
    assert!(linear[2] < -7.0, "{linear:?}");
    let enable = Boolean {
        data: true,
        ..Boolean::default()
    };
    rig.publish("/X3/enable", &enable);
    rig.run(0.1);
    assert!(velocity(&rig)[0][2] < linear[2] - 0.9);
}

#[test]
fn rotors_in_a_row_control_nothing() {
    let rotor = |x: f64, direction: f64| Rotor {
        place: [x, 0.0],
        thrust_factor: 1e-5,
        moment_factor: 0.02,
        direction,
    };
    let vehicle = Vehicle {
        mass: 1.0,
        inertia: Matrix::IDENTITY,
        gravity: Vector::new(0.0, 0.0, -9.8),
    };
    let gains = Gains {
        velocity: Vector::ONE,
        attitude: Vector::ONE,
        turning: Vector::ONE,
        acceleration_max: Vector::ONE,
    };
    let row = [
        rotor(1.0, 1.0),
        rotor(0.5, -1.0),
        rotor(-0.5, 1.0),
        rotor(-1.0, -1.0),
    ];
    assert!(Lee::new(&vehicle, gains, &row).is_none());
}
