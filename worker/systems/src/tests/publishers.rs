//! Tests published poses of models against their true poses.

use messages::geometry::{Pose, PoseV};
use messages::motion::{Odometry, OdometryWithCovariance, Twist};
use messages::state::Model;

use crate::test_rig::SystemTestRig;

/// Two links on a hinge about z that turns by itself, as the model moves by velocity control.
fn arm(plugins: &str) -> String {
    let link = |name: &str, x: f64| {
        format!(
            "<link name='{name}'><pose>{x} 0 0 0 0 0</pose><visual name='v'><pose>0 0 0.5 0 0 0\
             </pose><geometry><sphere><radius>0.1</radius></sphere></geometry></visual></link>"
        )
    };
    format!(
        "<gravity>0 0 0</gravity><model name='arm'><pose>1 2 0 0 0 0</pose>{}{}\
         <joint name='j' type='revolute'><pose>-0.5 0 0 0 0 0</pose><parent>base</parent>\
         <child>tip</child><axis><xyz>0 0 1</xyz><limit><lower>-9</lower><upper>9</upper>\
         <effort>5</effort></limit></axis></joint>{plugins}</model>",
        link("base", 0.0),
        link("tip", 1.0)
    )
}

fn plugin(name: &str, parameters: &str) -> String {
    format!("<plugin name='gz::sim::systems::{name}' filename='none'>{parameters}</plugin>")
}

fn turning() -> String {
    plugin(
        "JointController",
        "<joint_name>j</joint_name><initial_velocity>0.5</initial_velocity>",
    )
}

fn moving(linear: [f64; 3], angular: [f64; 3]) -> String {
    let text = |v: [f64; 3]| v.map(|number| number.to_string()).join(" ");
    plugin(
        "VelocityControl",
        &format!(
            "<initial_linear>{}</initial_linear><initial_angular>{}</initial_angular>",
            text(linear),
            text(angular)
        ),
    )
}

#[test]
fn joint_states_say_where_joints_are_and_how_fast() {
    let mut rig = SystemTestRig::new(&arm(&(plugin("JointStatePublisher", "") + &turning())));
    rig.run(1.0);
    let told = rig.take::<Model>("/world/w/model/arm/joint_state");
    assert_eq!(told.len(), 1000, "in each step");
    let last = told.last().unwrap();
    assert_eq!(last.name, "arm");
    assert_eq!((last.header.stamp.sec, last.header.stamp.nsec), (1, 0));
    let joint = &last.joint[0];
    assert_eq!(
        [&joint.name, &joint.parent, &joint.child],
        ["j", "base", "tip"]
    );
    let axis = joint.axis1.as_ref().unwrap();
    // The effort limit costs it some time at first.
    assert!((axis.position - 0.5).abs() < 0.02, "{axis:?}");
    assert!((axis.velocity - 0.5).abs() < 1e-3, "{axis:?}");
    assert_eq!((axis.limit_upper, axis.limit_effort), (9.0, 5.0));
    assert!(joint.axis2.is_none());
    assert_eq!(joint.pose.position.x, -0.5);
}

#[test]
fn joint_states_are_of_the_joints_and_on_the_topic_asked_for() {
    let some = plugin(
        "JointStatePublisher",
        "<topic>states</topic><joint_name>j</joint_name><joint_name>j</joint_name>",
    );
    let mut rig = SystemTestRig::new(&arm(&some));
    rig.run(0.01);
    assert_eq!(rig.take::<Model>("/states")[0].joint.len(), 1);
    let problem = SystemTestRig::problem(&arm(&plugin(
        "JointStatePublisher",
        "<joint_name>k</joint_name>",
    )));
    assert!(problem.contains("no joint \"k\""), "{problem}");
}

#[test]
fn joint_states_are_told_without_the_joints_that_are_missing() {
    let some = plugin(
        "JointStatePublisher",
        "<topic>states</topic><joint_name>k</joint_name><joint_name>j</joint_name>",
    );
    let mut rig = SystemTestRig::of_text(&arm(&some));
    let [problem] = &rig.problems[..] else {
        panic!("{:?}", rig.problems);
    };
    assert!(
        problem.contains("no joint \"k\"; it works without"),
        "{problem}"
    );
    rig.run(0.01);
    assert_eq!(rig.take::<Model>("/states")[0].joint.len(), 1);
}

#[test]
fn poses_are_in_the_frames_of_what_they_are_on() {
    let all = plugin(
        "PosePublisher",
        "<publish_nested_model_pose>true</publish_nested_model_pose>\
         <publish_visual_pose>true</publish_visual_pose>\
         <use_pose_vector_msg>true</use_pose_vector_msg><update_frequency>100</update_frequency>",
    );
    let mut rig = SystemTestRig::new(&arm(&(all + &turning())));
    rig.run(1.0);
    let told = rig.take::<PoseV>("/model/arm/pose");
    assert_eq!(told.len(), 100, "100 Hz for 1 s");
    let frames = |pose: &Pose| [0, 1].map(|at| pose.header.data[at].value[0].clone());
    let names: Vec<_> = told[99].pose.iter().map(frames).collect();
    let expected = [
        ["w", "arm"],
        ["arm", "arm::base"],
        ["arm::base", "arm::base::v"],
        ["arm", "arm::tip"],
        ["arm::tip", "arm::tip::v"],
    ];
    assert_eq!(names, expected);
    let tip = &told[99].pose[3];
    let own = rig.cell.link_pose(rig.model_at(0), 1);
    let base = rig.cell.model_pose(rig.model_at(0));
    let relative = base.inverse().then(&own);
    let told = &tip.position;
    for (told, at) in [told.x, told.y, told.z].into_iter().zip(relative.position) {
        assert!((told - at).abs() < 1e-12, "{tip:?}");
    }
    assert_eq!(tip.name, "arm::tip");
}

#[test]
fn poses_that_do_not_change_are_told_apart() {
    let apart = plugin(
        "PosePublisher",
        "<static_publisher>true</static_publisher><publish_visual_pose>true\
         </publish_visual_pose><static_update_frequency>10</static_update_frequency>",
    );
    let mut rig = SystemTestRig::new(&arm(&apart));
    rig.run(0.5);
    let moving = rig.take::<Pose>("/model/arm/pose");
    assert_eq!(moving.len(), 500);
    assert!(moving.iter().all(|pose| pose.name == "arm::tip"));
    let fixed = rig.take::<Pose>("/model/arm/pose_static");
    assert_eq!(fixed.len(), 15, "three at 10 Hz for 0.5 s");
    assert_eq!(fixed[0].name, "arm::base");
}

#[test]
fn odometry_says_where_a_model_really_is() {
    let system = plugin(
        "OdometryPublisher",
        "<dimensions>3</dimensions><odom_publish_frequency>20</odom_publish_frequency>",
    );
    let motion = moving([0.3, 0.0, 0.1], [0.0, 0.0, 0.4]);
    let mut rig = SystemTestRig::new(&arm(&(system + &motion)));
    rig.run(0.5);
    rig.hand_off();
    rig.run(0.5);
    let told = rig.take::<Odometry>("/model/arm/odometry");
    assert_eq!(told.len(), 20);
    let last = told.last().unwrap();
    let at = rig.cell.model_pose(rig.model_at(0)).position;
    assert!((last.pose.position.x - at[0]).abs() < 1e-12, "{last:?}");
    assert!((last.pose.position.z - 0.1).abs() < 1e-3, "{last:?}");
    let Twist {
        linear, angular, ..
    } = &last.twist;
    assert!(
        (linear.x - 0.3).abs() < 2e-3 && linear.y.abs() < 2e-3,
        "{linear:?}"
    );
    assert!((linear.z - 0.1).abs() < 1e-3, "{linear:?}");
    assert!((angular.z - 0.4).abs() < 1e-3, "{angular:?}");
    assert_eq!(last.header.data[1].value, ["arm/base_footprint"]);
    let tf = rig.take::<PoseV>("/model/arm/pose");
    assert_eq!(tf.last().unwrap().pose[0].position, last.pose.position);
}

#[test]
fn flat_odometry_knows_nothing_of_height() {
    let system = plugin("OdometryPublisher", "");
    let motion = moving([0.3, 0.0, 0.1], [0.0; 3]);
    let mut rig = SystemTestRig::new(&arm(&(system + &motion)));
    rig.run(1.0);
    let told = rig.take::<Odometry>("/model/arm/odometry");
    assert_eq!(told.len(), 50, "50 Hz unless said otherwise");
    let last = told.last().unwrap();
    assert_eq!([last.pose.position.z, last.twist.linear.z], [0.0; 2]);
    assert!((last.twist.linear.x - 0.3).abs() < 1e-3, "{last:?}");
}

#[test]
fn noise_has_its_deviation_and_covariances_say_so() {
    let system = plugin(
        "OdometryPublisher",
        "<gaussian_noise>0.2</gaussian_noise><odom_publish_frequency>0</odom_publish_frequency>",
    );
    let run = || {
        let mut rig = SystemTestRig::new(&arm(&system));
        rig.run(2.0);
        rig
    };
    let mut rig = run();
    let told = rig.take::<Odometry>("/model/arm/odometry");
    let noise = told.iter().flat_map(|one| {
        let Twist {
            linear, angular, ..
        } = &one.twist;
        [
            linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
        ]
    });
    let noise: Vec<f64> = noise.collect();
    let count = noise.len() as f64;
    let mean = noise.iter().sum::<f64>() / count;
    let variance = noise.iter().map(|number| number * number).sum::<f64>() / count;
    assert!(mean.abs() < 4.0 * 0.2 / count.sqrt(), "{mean}");
    assert!(
        (variance / 0.04 - 1.0).abs() < 4.0 * (2.0 / count).sqrt(),
        "{variance}"
    );
    assert_eq!(told, run().take::<Odometry>("/model/arm/odometry"));
    let topic = "/model/arm/odometry_with_covariance";
    let told = rig.take::<OdometryWithCovariance>(topic);
    let covariance = &told[0].twist_with_covariance.covariance.data;
    assert_eq!(covariance.len(), 36);
    for (place, number) in covariance.iter().enumerate() {
        let expected = if place % 7 == 0 { 0.04 } else { 0.0 };
        assert!((number - expected).abs() < 1e-7, "{place}: {number}");
    }
}

#[test]
fn velocity_control_moves_a_model_as_one_and_its_links_alone() {
    let motion = moving([0.3, 0.0, 0.0], [0.0, 0.0, 0.5]);
    let mut rig = SystemTestRig::new(&arm(&motion));
    rig.run(1.0);
    let at = rig.cell.model_pose(rig.model_at(0));
    let yaw = at.roll_pitch_yaw()[2];
    assert!((yaw - 0.5).abs() < 2e-3, "{yaw} rad");
    let radius = 0.3 / 0.5;
    let expected = [1.0 + radius * yaw.sin(), 2.0 + radius * (1.0 - yaw.cos())];
    for (at, expected) in at.position.into_iter().zip(expected) {
        assert!((at - expected).abs() < 2e-3, "{at} m, not {expected}");
    }
    assert!(rig.cell.joint_position(rig.model_at(0), 0, 0).abs() < 2e-3);
    let stop = Twist::default();
    rig.publish("/model/arm/cmd_vel", &stop);
    rig.run(0.5);
    let after = rig.cell.model_pose(rig.model_at(0));
    assert!(
        (after.position[0] - at.position[0]).abs() < 1e-3,
        "it stops"
    );
    let links = plugin("VelocityControl", "<link_name>tip</link_name>");
    let mut rig = SystemTestRig::new(&arm(&links));
    let spin = Twist {
        angular: [0.0, 0.0, 0.7].into(),
        ..Twist::default()
    };
    rig.publish("/model/arm/link/tip/cmd_vel", &spin);
    rig.run(0.01);
    let [_, angular] = rig.cell.link_velocity(rig.model_at(0), 1);
    assert!(angular[2] > 0.1, "{angular:?}");
}
