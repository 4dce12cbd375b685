//! `actuator_msgs`: commands to actuators.

use super::std_msgs::Header;

super::ros_types! {
    /// Commands to actuators.
    Actuators("actuator_msgs/msg/Actuators") {
        /// Time and frame.
        header: Header,
        /// \[rad or m\], per actuator.
        position: Vec<f64>,
        /// \[rad/s or m/s\], per actuator.
        velocity: Vec<f64>,
        /// From -1 to 1, per actuator.
        normalized: Vec<f64>,
    }
}
