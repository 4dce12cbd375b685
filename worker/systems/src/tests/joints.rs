//! Controllers of joints against simulated closed forms.

use messages::basic::{Double, Float, Time};
use messages::motion::{Actuators, JointTrajectory, JointTrajectoryPoint};

use crate::test_rig::{STEP_S, SystemTestRig};

/// A disc of 0.1 kg m^2 on a hinge along z, without gravity, with systems.
fn disc(limits: &str, plugins: &str) -> String {
    format!(
        "<gravity>0 0 0</gravity><model name='rig'><link name='disc'><inertial><mass>1</mass>\
         <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>\
         <joint name='j' type='revolute'><parent>world</parent><child>disc</child><axis>\
         <xyz>0 0 1</xyz>{limits}</axis></joint>{plugins}</model>"
    )
}

fn plugin(name: &str, parameters: &str) -> String {
    format!(
        "<plugin name='gz::sim::systems::{name}' filename='none'><joint_name>j</joint_name>\
         {parameters}</plugin>"
    )
}

fn number(data: f64) -> Double {
    Double {
        data,
        ..Double::default()
    }
}

fn motion(rig: &SystemTestRig) -> [f64; 2] {
    let model = rig.model_at(0);
    let position = rig.cell.joint_position(model, 0, 0);
    [position, rig.cell.joint_velocity(model, 0, 0)]
}

/// Simulates a disc under a force that is a function of its motion, as a step does it.
fn simulate(duration_s: f64, mut force: impl FnMut([f64; 2]) -> f64) -> [f64; 2] {
    let mut motion = [0.0; 2];
    for _ in 0..(duration_s / STEP_S).round() as usize {
        // The semi-implicit method of Euler, as in Gazebo.
        motion[1] += force(motion) / 0.1 * STEP_S;
        motion[0] += motion[1] * STEP_S;
    }
    motion
}

#[test]
fn a_joint_controller_keeps_the_velocity_that_it_is_told() {
    let mut rig = SystemTestRig::new(&disc("", &plugin("JointController", "")));
    rig.run(0.1);
    assert_eq!(motion(&rig), [0.0; 2]);
    rig.publish("/model/rig/joint/j/cmd_vel", &number(2.5));
    rig.run(0.4);
    let [position, velocity] = motion(&rig);
    assert!((velocity - 2.5).abs() < 1e-6, "{velocity} rad/s");
    assert!((position - 1.0).abs() < 2e-3, "{position} rad");
}

#[test]
fn a_joint_controller_with_forces_approaches_as_an_exponential() {
    let parameters = "<use_force_commands>true</use_force_commands><p_gain>0.5</p_gain>\
                      <initial_velocity>3</initial_velocity>";
    let mut rig = SystemTestRig::new(&disc("", &plugin("JointController", parameters)));
    rig.run(0.3);
    let velocity = motion(&rig)[1];
    let expected = 3.0 * (1.0 - (-0.5_f64 / 0.1 * 0.3).exp());
    assert!(
        (velocity / expected - 1.0).abs() < 5e-3,
        "{velocity} rad/s, not {expected}"
    );
}

#[test]
fn a_controller_takes_its_number_from_actuators() {
    let parameters = "<use_actuator_msg>true</use_actuator_msg>\
                      <actuator_number>1</actuator_number>";
    let mut rig = SystemTestRig::new(&disc("", &plugin("JointController", parameters)));
    let actuators = Actuators {
        velocity: vec![9.0, -1.5],
        ..Actuators::default()
    };
    rig.publish("/actuators", &actuators);
    rig.run(0.1);
    assert!((motion(&rig)[1] + 1.5).abs() < 1e-6);
    rig.publish("/actuators", &Actuators::default());
    rig.run(0.1);
    assert!(
        (motion(&rig)[1] + 1.5).abs() < 1e-6,
        "a message without it says nothing"
    );
}

#[test]
fn a_position_controller_steps_as_its_gains_say() {
    let parameters = "<p_gain>8</p_gain><i_gain>2</i_gain><d_gain>0.9</d_gain>\
                      <i_max>0.5</i_max><i_min>-0.5</i_min><cmd_max>3</cmd_max>\
                      <cmd_min>-3</cmd_min>";
    let system = plugin("JointPositionController", parameters);
    let (mut integral, mut last) = (0.0_f64, 0.0);
    let force = |[position, _]: [f64; 2]| {
        let error = position - 1.2;
        integral = (integral + 2.0 * error * STEP_S).clamp(-0.5, 0.5);
        let rate = (error - last) / STEP_S;
        last = error;
        (-8.0 * error - integral - 0.9 * rate).clamp(-3.0, 3.0)
    };
    let expected = simulate(0.4, force);
    let mut rig = SystemTestRig::new(&disc("", &system));
    rig.publish("/model/rig/joint/j/0/cmd_pos", &number(1.2));
    rig.run(0.2);
    rig.hand_off();
    rig.run(0.2);
    let reached = motion(&rig);
    for (reached, expected) in reached.into_iter().zip(expected) {
        assert!(
            (reached - expected).abs() < 1e-3,
            "{reached}, not {expected}"
        );
    }
    rig.run(6.0);
    assert!((motion(&rig)[0] - 1.2).abs() < 0.02, "{:?}", motion(&rig));
}

#[test]
fn a_position_controller_by_velocity_goes_straight_there_and_stays() {
    let parameters = "<use_velocity_commands>true</use_velocity_commands>\
                      <cmd_max>2</cmd_max><topic>pos</topic>";
    let system = plugin("JointPositionController", parameters);
    let mut rig = SystemTestRig::new(&disc("", &system));
    rig.publish("/pos", &number(-1.0));
    rig.run(0.25);
    assert!((motion(&rig)[0] + 0.5).abs() < 5e-3, "{:?}", motion(&rig));
    rig.run(0.5);
    assert!((motion(&rig)[0] + 1.0).abs() < 1e-6, "{:?}", motion(&rig));
}

#[test]
fn a_joint_force_acts_until_it_is_told_otherwise() {
    let mut rig = SystemTestRig::new(&disc(
        "<limit><effort>0.4</effort></limit>",
        &plugin("ApplyJointForce", ""),
    ));
    rig.publish("/model/rig/joint/j/cmd_force", &number(0.2));
    rig.run(0.5);
    assert!((motion(&rig)[1] - 1.0).abs() < 1e-9, "{:?}", motion(&rig));
    rig.publish("/model/rig/joint/j/cmd_force", &number(-7.0));
    rig.run(0.25);
    assert!(
        motion(&rig)[1].abs() < 1e-9,
        "the limit is kept: {:?}",
        motion(&rig)
    );
}

fn point(at_ns: u64, position: f64, velocity: f64) -> JointTrajectoryPoint {
    JointTrajectoryPoint {
        positions: vec![7.0, position],
        velocities: vec![7.0, velocity],
        time_from_start: Time::from_ns(at_ns),
        ..JointTrajectoryPoint::default()
    }
}

#[test]
fn a_joint_of_a_trajectory_has_its_own_parameters_though_one_before_it_is_missing() {
    let parameters = "<initial_position>9</initial_position>\
         <initial_position>0.4</initial_position>\
         <position_p_gain>0</position_p_gain><position_p_gain>20</position_p_gain>\
         <velocity_p_gain>0</velocity_p_gain><velocity_p_gain>2</velocity_p_gain>";
    let system = plugin("JointTrajectoryController", parameters);
    let system = system.replace("<joint_name>", "<joint_name>other</joint_name><joint_name>");
    let mut rig = SystemTestRig::of_text(&disc("", &system));
    assert_eq!(rig.problems.len(), 1, "{:?}", rig.problems);
    assert!(rig.problems[0].contains("no joint \"other\"; it works without"));
    rig.run(6.0);
    let [position, _] = motion(&rig);
    assert!((position - 0.4).abs() < 0.05, "{position} rad, not 0.4 rad");
}

#[test]
fn a_trajectory_is_followed_point_by_point() {
    let gains = "<position_p_gain>20</position_p_gain><velocity_p_gain>2</velocity_p_gain>";
    let system = plugin("JointTrajectoryController", gains);
    let goal = |time: f64| match time {
        time if time < 0.3 => [0.5, 0.2],
        time if time < 0.7 => [1.0, 0.0],
        _ => [-0.4, 0.0],
    };
    let mut step = 0.0;
    let expected = simulate(0.9, |[position, velocity]| {
        let [wanted, rate] = goal(step * STEP_S - 1.5 * STEP_S);
        step += 1.0;
        20.0 * (wanted - position) + 2.0 * (rate - velocity)
    });
    let mut rig = SystemTestRig::new(&disc("", &system));
    let trajectory = JointTrajectory {
        joint_names: vec!["other".to_owned(), "j".to_owned()],
        points: vec![
            point(300_000_000, 0.5, 0.2),
            point(700_000_000, 1.0, 0.0),
            point(1_500_000_000, -0.4, 0.0),
        ],
        ..JointTrajectory::default()
    };
    rig.publish("/model/rig/joint_trajectory", &trajectory);
    rig.run(0.5);
    rig.hand_off();
    rig.run(0.4);
    let reached = motion(&rig);
    for (reached, expected) in reached.into_iter().zip(expected) {
        assert!(
            (reached - expected).abs() < 0.02 + 0.02 * expected.abs(),
            "{reached}, not {expected}"
        );
    }
    let progress = rig.take::<Float>("/model/rig/joint_trajectory_progress");
    let progress: Vec<f32> = progress.iter().map(|float| float.data).collect();
    assert_eq!(progress, [1.0 / 3.0, 2.0 / 3.0, 1.0]);
}

#[test]
fn joints_that_are_not_there_are_named() {
    for (name, parameters) in [
        ("JointController", "<joint_name>k</joint_name>"),
        ("JointPositionController", "<joint_index>1</joint_index>"),
        ("ApplyJointForce", ""),
    ] {
        let system = plugin(name, parameters);
        let system = if parameters.is_empty() {
            system.replace("<joint_name>j", "<joint_name>nowhere")
        } else {
            system
        };
        let problem = SystemTestRig::problem(&disc("", &system));
        assert!(problem.contains("no "), "{problem}");
    }
}
