//! `tf2_msgs`: trees of frames.

use super::geometry_msgs::TransformStamped;

super::ros_types! {
    /// Frames in others.
    TFMessage("tf2_msgs/msg/TFMessage") {
        /// The frames.
        transforms: Vec<TransformStamped>,
    }
}
