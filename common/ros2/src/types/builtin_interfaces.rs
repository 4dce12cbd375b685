//! `builtin_interfaces`: moments and spans of time.

super::ros_types! {
    /// A moment.
    Time("builtin_interfaces/msg/Time") {
        /// \[s\]
        sec: i32,
        /// \[ns\], below a second.
        nanosec: u32,
    }
    /// A span of time.
    Duration("builtin_interfaces/msg/Duration") {
        /// \[s\]
        sec: i32,
        /// \[ns\], added to the seconds.
        nanosec: u32,
    }
}
