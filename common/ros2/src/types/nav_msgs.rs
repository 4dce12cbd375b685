//! `nav_msgs`: odometry.

use super::geometry_msgs::{PoseWithCovariance, TwistWithCovariance};
use super::std_msgs::Header;

super::ros_types! {
    /// Pose and velocity of a robot, as it estimates them.
    Odometry("nav_msgs/msg/Odometry") {
        /// Time and odometry frame.
        header: Header,
        /// The robot's frame.
        child_frame_id: String,
        /// In the odometry frame.
        pose: PoseWithCovariance,
        /// In the robot's frame.
        twist: TwistWithCovariance,
    }
}
