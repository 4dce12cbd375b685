//! `trajectory_msgs`: trajectories of joints.

use super::builtin_interfaces::Duration;
use super::std_msgs::Header;

super::ros_types! {
    /// One moment of a trajectory.
    JointTrajectoryPoint("trajectory_msgs/msg/JointTrajectoryPoint") {
        /// \[rad or m\], per joint.
        positions: Vec<f64>,
        /// \[rad/s or m/s\], per joint.
        velocities: Vec<f64>,
        /// \[rad/s^2 or m/s^2\], per joint.
        accelerations: Vec<f64>,
        /// \[N m or N\], per joint.
        effort: Vec<f64>,
        /// Since the start of the trajectory.
        time_from_start: Duration,
    }
    /// Positions that joints are to reach, and the times for them.
    JointTrajectory("trajectory_msgs/msg/JointTrajectory") {
        /// Time and frame.
        header: Header,
        /// The joints, in the order of the numbers.
        joint_names: Vec<String>,
        /// The moments, in order.
        points: Vec<JointTrajectoryPoint>,
    }
}
