//! Odometry, trajectories of joints, actuators, and states of joints.

use messages::basic::Header;
use messages::motion::{
    Actuators, JointTrajectory, JointTrajectoryPoint, Odometry, OdometryWithCovariance,
};
use messages::state::{Axis, Joint, Model};

use super::converts;
use super::geometry::{
    CHILD_FRAME, gazebo_pose, gazebo_pose_with_covariance, gazebo_twist,
    gazebo_twist_with_covariance, pose, pose_with_covariance, twist, twist_with_covariance,
};
use super::header::{
    add, duration, frame, gazebo_duration, gazebo_header, header as ros_header, value,
};
use crate::types::{actuator_msgs, geometry_msgs, nav_msgs, sensor_msgs, trajectory_msgs};

converts! {
    Odometry, nav_msgs::Odometry: |message| Self {
            header: ros_header(&message.header),
            child_frame_id: child_frame(&message.header),
            pose: geometry_msgs::PoseWithCovariance {
                pose: pose(&message.pose),
                ..geometry_msgs::PoseWithCovariance::default()
            },
            twist: geometry_msgs::TwistWithCovariance {
                twist: twist(&message.twist),
                ..geometry_msgs::TwistWithCovariance::default()
            },
        },
        |back| Odometry {
            pose: gazebo_pose(&back.pose.pose, Header::default()),
            twist: gazebo_twist(&back.twist.twist, Header::default()),
            header: odometry_header(back),
        };
    OdometryWithCovariance, nav_msgs::Odometry: |message| Self {
            header: ros_header(&message.header),
            child_frame_id: child_frame(&message.header),
            pose: pose_with_covariance(&message.pose_with_covariance),
            twist: twist_with_covariance(&message.twist_with_covariance),
        },
        |back| OdometryWithCovariance {
            pose_with_covariance: gazebo_pose_with_covariance(&back.pose, Header::default()),
            twist_with_covariance: gazebo_twist_with_covariance(&back.twist, Header::default()),
            header: odometry_header(back),
        };
    JointTrajectory, trajectory_msgs::JointTrajectory: |message| Self {
            header: ros_header(&message.header),
            joint_names: message.joint_names,
            points: message.points.into_iter().map(trajectory_point).collect(),
        },
        |back| JointTrajectory {
            header: gazebo_header(back.header),
            joint_names: back.joint_names,
            points: back.points.into_iter().map(gazebo_trajectory_point).collect(),
        };
    Actuators, actuator_msgs::Actuators: |message| Self {
            header: ros_header(&message.header),
            position: message.position,
            velocity: message.velocity,
            normalized: message.normalized,
        },
        |back| Actuators {
            header: gazebo_header(back.header),
            position: back.position,
            velocity: back.velocity,
            normalized: back.normalized,
        };
    Model, sensor_msgs::JointState: |message| joint_state(message), |back| gazebo_model(back);
}

/// Returns the frame of which a message says the place.
pub(crate) fn child_frame(header: &Header) -> String {
    value(header, CHILD_FRAME).map(frame).unwrap_or_default()
}

fn odometry_header(from: nav_msgs::Odometry) -> Header {
    let mut header = gazebo_header(from.header);
    add(&mut header, CHILD_FRAME, from.child_frame_id);
    header
}

fn trajectory_point(from: JointTrajectoryPoint) -> trajectory_msgs::JointTrajectoryPoint {
    trajectory_msgs::JointTrajectoryPoint {
        time_from_start: duration(&from.time_from_start),
        positions: from.positions,
        velocities: from.velocities,
        accelerations: from.accelerations,
        effort: from.effort,
    }
}

fn gazebo_trajectory_point(from: trajectory_msgs::JointTrajectoryPoint) -> JointTrajectoryPoint {
    JointTrajectoryPoint {
        time_from_start: gazebo_duration(&from.time_from_start),
        positions: from.positions,
        velocities: from.velocities,
        accelerations: from.accelerations,
        effort: from.effort,
    }
}

/// Returns the state of all joints that have an axis, by the first of each.
fn joint_state(from: Model) -> sensor_msgs::JointState {
    let mut state = sensor_msgs::JointState {
        header: ros_header(&from.header),
        ..sensor_msgs::JointState::default()
    };
    for joint in from.joint {
        if let Some(axis) = joint.axis1 {
            state.name.push(joint.name);
            state.position.push(axis.position);
            state.velocity.push(axis.velocity);
            state.effort.push(axis.force);
        }
    }
    state
}

/// Returns the joints of a state; a list that is shorter than the names leaves zeros.
fn gazebo_model(from: sensor_msgs::JointState) -> Model {
    let number = |list: &[f64], index: usize| list.get(index).copied().unwrap_or_default();
    let names = from.name.into_iter().enumerate();
    let joints = names.map(|(index, name)| Joint {
        name,
        axis1: Some(Axis {
            position: number(&from.position, index),
            velocity: number(&from.velocity, index),
            force: number(&from.effort, index),
            ..Axis::default()
        }),
        ..Joint::default()
    });
    Model {
        joint: joints.collect(),
        header: gazebo_header(from.header),
        ..Model::default()
    }
}
