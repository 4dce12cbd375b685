//! `DriveToPoseController`: drives a robot that takes velocities to the pose that it is told.
//!
//! It hears where the robot is from an odometry publisher, and tells a drive how fast to go: first
//! it turns to the goal, then it drives there, then it turns as the goal looks. Source: gz-sim,
//! `drive_to_pose_controller/DriveToPoseController.hh`.

use messages::geometry::PoseV;
use messages::motion::Twist;
use messages::{Pose, Vector3d};
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::angle::{normalized, yaw};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct DriveToPoseController {
    linear_gain: f64,
    angular_gain: f64,
    /// Within which the goal counts as reached \[m\].
    linear_deviation: f64,
    /// Within which the robot looks as it should \[rad\].
    angular_deviation: f64,
    velocity_topic: String,
    reached_topic: String,
    state: State,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Pose of the robot, as last received.
    current: Option<sdf::Pose>,
    target: Option<sdf::Pose>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let path = format!("/model/{}", configuration.model_path());
    let topic = |name: &str| configuration.topic(&format!("{path}/{name}"));
    Ok(Configured {
        system: Box::new(DriveToPoseController {
            linear_gain: configuration.number("linear_p_gain", 1.0)?,
            angular_gain: configuration.number("angular_p_gain", 2.0)?,
            linear_deviation: configuration.number("linear_deviation", 0.1)?,
            angular_deviation: configuration.number("angular_deviation", 0.05)?,
            velocity_topic: topic("cmd_vel"),
            reached_topic: topic("reached_pose"),
            state: State::default(),
        }),
        subscriptions: vec![
            TopicSpec::of::<PoseV>(topic("pose")),
            TopicSpec::of::<PoseV>(topic("cmd_pose")),
        ],
        publications: vec![
            TopicSpec::of::<Twist>(topic("cmd_vel")),
            TopicSpec::of::<Pose>(topic("reached_pose")),
        ],
    })
}

impl System for DriveToPoseController {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _: &mut Context<'_>) {
        let Ok(poses) = messages::decode::<PoseV>(&message.body) else {
            return;
        };
        let Some(pose) = poses.pose.first().and_then(read) else {
            return;
        };
        if input == 0 {
            self.state.current = Some(pose);
        } else {
            self.state.target = Some(pose);
        }
    }

    fn after_step(&mut self, context: &mut Context<'_>) {
        let (Some(current), Some(target)) = (self.state.current, self.state.target) else {
            return;
        };
        let [linear, angular] = self.errors(&current, &target);
        let velocity = Twist {
            header: context.header(),
            linear: Vector3d::from([self.linear_gain * linear, 0.0, 0.0]),
            angular: Vector3d::from([0.0, 0.0, self.angular_gain * angular]),
        };
        context.publish(&self.velocity_topic, &velocity);
        if linear == 0.0 && angular == 0.0 {
            self.state.target = None;
            let reached = Pose {
                header: context.header(),
                position: current.position.into(),
                orientation: messages::Quaternion::from_xyzw(current.orientation_xyzw),
                ..Pose::default()
            };
            context.publish(&self.reached_topic, &reached);
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

impl DriveToPoseController {
    /// Returns how far it is to drive \[m\] and to turn \[rad\]; both 0 at the goal.
    fn errors(&self, current: &sdf::Pose, target: &sdf::Pose) -> [f64; 2] {
        let [x, y] = [0, 1].map(|axis| target.position[axis] - current.position[axis]);
        let distance = (x * x + y * y).sqrt();
        let heading = yaw(current.orientation_xyzw);
        let settle = |angle: f64| {
            if angle.abs() <= self.angular_deviation {
                0.0
            } else {
                angle
            }
        };
        if distance <= self.linear_deviation {
            let turn = normalized(yaw(target.orientation_xyzw) - heading);
            return [0.0, settle(turn)];
        }
        let turn = settle(normalized(libm::atan2(y, x) - heading));
        [if turn == 0.0 { distance } else { 0.0 }, turn]
    }
}

/// Returns the pose in a message; `None` for one that is no pose.
fn read(pose: &Pose) -> Option<sdf::Pose> {
    let position: [f64; 3] = (&pose.position).into();
    let parts = pose.orientation.xyzw();
    let norm = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    let is_pose = position.iter().all(|part| part.is_finite()) && norm.is_finite() && norm > 0.0;
    is_pose.then(|| sdf::Pose {
        position,
        orientation_xyzw: parts.map(|part| part / norm),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    fn robot() -> SystemTestRig {
        SystemTestRig::new(
            "<model name='robot'><pose>1 1 0 0 0 0</pose><link name='base'>\
             <gravity>false</gravity></link>\
             <plugin name='gz::sim::systems::VelocityControl' filename='none'/>\
             <plugin name='gz::sim::systems::DriveToPoseController' filename='none'/></model>",
        )
    }

    fn poses(position: [f64; 3], heading: f64) -> PoseV {
        let turn = sdf::Pose::from_xyz_rpy(position, [0.0, 0.0, heading]);
        PoseV {
            pose: vec![Pose {
                position: position.into(),
                orientation: messages::Quaternion::from_xyzw(turn.orientation_xyzw),
                ..Pose::default()
            }],
            ..PoseV::default()
        }
    }

    #[test]
    fn it_drives_to_the_pose_and_tells_that_it_is_there() {
        let mut rig = robot();
        rig.publish("/model/robot/cmd_pose", &poses([-1.0, 3.0, 0.0], 1.0));
        for step in 0..20_000 {
            let at = rig.pose("robot");
            let odometry = poses(at.position, yaw(at.orientation_xyzw));
            rig.publish("/model/robot/pose", &odometry);
            rig.run(0.001);
            if step == 2_000 {
                rig.renew_systems();
            }
            if !rig
                .published::<Pose>("/model/robot/reached_pose")
                .is_empty()
            {
                let at = rig.pose("robot");
                let distance = (at.position[0] + 1.0).hypot(at.position[1] - 3.0);
                assert!(distance < 0.1 + 1e-6, "{distance}");
                assert!((yaw(at.orientation_xyzw) - 1.0).abs() < 0.05 + 1e-3);
                return;
            }
        }
        panic!("it is at {:?}", rig.pose("robot"));
    }

    #[test]
    fn it_turns_before_it_drives_with_the_gains_given() {
        let mut rig = robot();
        rig.publish("/model/robot/cmd_pose", &poses([1.0, 3.0, 0.0], 0.0));
        rig.publish("/model/robot/pose", &poses([1.0, 1.0, 0.0], 0.0));
        rig.run(0.001);
        let said = rig.published::<Twist>("/model/robot/cmd_vel");
        assert_eq!(said[0].linear.x, 0.0);
        assert!((said[0].angular.z - std::f64::consts::PI).abs() < 1e-12);
        rig.publish("/model/robot/pose", &poses([1.0, 1.0, 0.0], 1.57));
        rig.run(0.001);
        let said = rig.published::<Twist>("/model/robot/cmd_vel");
        assert_eq!([said[1].linear.x, said[1].angular.z], [2.0, 0.0]);
    }

    #[test]
    fn without_a_goal_or_a_place_it_says_nothing() {
        let mut rig = robot();
        rig.publish("/model/robot/cmd_pose", &poses([1.0, 3.0, 0.0], 0.0));
        rig.publish("/model/robot/pose", &PoseV::default());
        rig.run(0.01);
        assert!(rig.published::<Twist>("/model/robot/cmd_vel").is_empty());
    }
}
