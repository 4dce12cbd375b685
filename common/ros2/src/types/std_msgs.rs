//! `std_msgs`: headers and single values.

use super::builtin_interfaces::Time;

super::ros_types! {
    /// Time and frame in which a message was made.
    Header("std_msgs/msg/Header") {
        /// Simulated time.
        stamp: Time,
        /// Frame of what it says.
        frame_id: std::string::String,
    }
    /// Nothing but that it was sent.
    Empty("std_msgs/msg/Empty") {
    }
    /// A truth value.
    Bool("std_msgs/msg/Bool") {
        /// The value.
        data: bool,
    }
    /// A whole number.
    Int32("std_msgs/msg/Int32") {
        /// The value.
        data: i32,
    }
    /// A whole number.
    Int64("std_msgs/msg/Int64") {
        /// The value.
        data: i64,
    }
    /// A natural number.
    UInt32("std_msgs/msg/UInt32") {
        /// The value.
        data: u32,
    }
    /// A natural number.
    UInt64("std_msgs/msg/UInt64") {
        /// The value.
        data: u64,
    }
    /// A number of single precision.
    Float32("std_msgs/msg/Float32") {
        /// The value.
        data: f32,
    }
    /// A number.
    Float64("std_msgs/msg/Float64") {
        /// The value.
        data: f64,
    }
    /// A text.
    String("std_msgs/msg/String") {
        /// The text.
        data: std::string::String,
    }
    /// A colour with its opacity.
    ColorRGBA("std_msgs/msg/ColorRGBA") {
        /// Red, from 0 to 1.
        r: f32,
        /// Green, from 0 to 1.
        g: f32,
        /// Blue, from 0 to 1.
        b: f32,
        /// Opacity, from 0 to 1.
        a: f32,
    }
    /// A dimension of an array.
    MultiArrayDimension("std_msgs/msg/MultiArrayDimension") {
        /// Its name.
        label: std::string::String,
        /// Number of entries.
        size: u32,
        /// Number of values in this and all inner dimensions.
        stride: u32,
    }
    /// The dimensions of an array.
    MultiArrayLayout("std_msgs/msg/MultiArrayLayout") {
        /// From the outermost on.
        dim: Vec<MultiArrayDimension>,
        /// Number of values before the first.
        data_offset: u32,
    }
    /// Whole numbers.
    Int32MultiArray("std_msgs/msg/Int32MultiArray") {
        /// Their dimensions.
        layout: MultiArrayLayout,
        /// The values.
        data: Vec<i32>,
    }
    /// Numbers of single precision.
    Float32MultiArray("std_msgs/msg/Float32MultiArray") {
        /// Their dimensions.
        layout: MultiArrayLayout,
        /// The values.
        data: Vec<f32>,
    }
    /// Numbers.
    Float64MultiArray("std_msgs/msg/Float64MultiArray") {
        /// Their dimensions.
        layout: MultiArrayLayout,
        /// The values.
        data: Vec<f64>,
    }
}
