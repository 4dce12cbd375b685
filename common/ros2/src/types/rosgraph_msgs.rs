//! `rosgraph_msgs`: simulated time.

use super::builtin_interfaces::Time;

super::ros_types! {
    /// The time of all nodes that use simulated time.
    Clock("rosgraph_msgs/msg/Clock") {
        /// Simulated time.
        clock: Time,
    }
}
