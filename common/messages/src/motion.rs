//! Motion of robots, commanded and measured: twists, odometry, wrenches, trajectories, actuators.

use crate::basic::{Header, Time};
use crate::geometry::{Pose, Vector3d};
use crate::message::messages;

messages! {
    /// Velocities.
    Twist("gz.msgs.Twist") {
        /// Time when it was made.
        header: Header,
        /// \[m/s\]
        linear: Vector3d,
        /// \[rad/s\]
        angular: Vector3d,
    }
    /// Pose and velocity of a robot, as it estimates them.
    Odometry("gz.msgs.Odometry") {
        /// Time when it was made; `frame_id` and `child_frame_id`.
        header: Header,
        /// In the odometry frame.
        pose: Pose,
        /// In the robot's frame.
        twist: Twist,
    }
    /// Single-precision numbers.
    FloatV("gz.msgs.Float_V") {
        /// Time when it was made.
        header: Header,
        /// The values.
        data: Vec<f32>,
    }
    /// A pose with its covariance.
    PoseWithCovariance("gz.msgs.PoseWithCovariance") {
        /// The pose.
        pose: Pose,
        /// 36 numbers by rows: x, y, z, roll, pitch, yaw.
        covariance: FloatV,
    }
    /// A twist with its covariance.
    TwistWithCovariance("gz.msgs.TwistWithCovariance") {
        /// Time when it was made.
        header: Header,
        /// The twist.
        twist: Twist,
        /// 36 numbers by rows.
        covariance: FloatV,
    }
    /// Odometry with covariances.
    OdometryWithCovariance("gz.msgs.OdometryWithCovariance") {
        /// Time when it was made; `frame_id` and `child_frame_id`.
        header: Header,
        /// In the odometry frame.
        pose_with_covariance: PoseWithCovariance,
        /// In the robot's frame.
        twist_with_covariance: TwistWithCovariance,
    }
    /// A force with a torque.
    Wrench("gz.msgs.Wrench") {
        /// Time when it was made.
        header: Header,
        /// \[N\]
        force: Vector3d,
        /// \[N m\]
        torque: Vector3d,
        /// Point at which the force acts, in the frame of the link \[m\].
        force_offset: Vector3d,
    }
    /// One moment of a trajectory of joints.
    JointTrajectoryPoint("gz.msgs.JointTrajectoryPoint") {
        /// \[rad or m\], per joint.
        positions: Vec<f64>,
        /// \[rad/s or m/s\], per joint.
        velocities: Vec<f64>,
        /// \[rad/s^2 or m/s^2\], per joint.
        accelerations: Vec<f64>,
        /// \[N m or N\], per joint.
        effort: Vec<f64>,
        /// Since the start of the trajectory.
        time_from_start: Time,
    }
    /// Positions that joints are to reach, and the times for them.
    JointTrajectory("gz.msgs.JointTrajectory") {
        /// Time when it was made.
        header: Header,
        /// The joints, in the order of the numbers below.
        joint_names: Vec<String>,
        /// The moments, in order.
        points: Vec<JointTrajectoryPoint>,
    }
    /// Commands to actuators.
    Actuators("gz.msgs.Actuators") {
        /// Time when it was made.
        header: Header,
        /// \[rad or m\], per actuator.
        position: Vec<f64>,
        /// \[rad/s or m/s\], per actuator.
        velocity: Vec<f64>,
        /// From 0 to 1, per actuator.
        normalized: Vec<f64>,
    }
}
