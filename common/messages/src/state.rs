//! States of joints, models, batteries and wind.

use crate::basic::Header;
use crate::geometry::{Pose, Vector3d};
use crate::message::messages;

messages! {
    /// A joint's axis.
    Axis("gz.msgs.Axis") {
        /// Unit vector.
        xyz: Vector3d,
        /// \[rad or m\]
        position: f64,
        /// \[rad/s or m/s\]
        velocity: f64,
        /// \[N m or N\]
        force: f64,
        /// \[rad or m\]
        limit_lower: f64,
        /// \[rad or m\]
        limit_upper: f64,
        /// \[N m or N\]
        limit_effort: f64,
        /// \[rad/s or m/s\]
        limit_velocity: f64,
        /// \[N m s/rad or N s/m\]
        damping: f64,
        /// \[N m or N\]
        friction: f64,
    }
    /// A joint.
    Joint("gz.msgs.Joint") {
        /// Time when it was made.
        header: Header,
        /// Its name.
        name: String,
        /// Its number.
        id: u32,
        /// Its parent link.
        parent: String,
        /// Its child link.
        child: String,
        /// Its pose in the parent.
        pose: Pose,
        /// Its first axis, if it has one.
        axis1: Option<Axis>,
        /// Its second axis, if it has one.
        axis2: Option<Axis>,
    }
    /// A model with its joints.
    Model("gz.msgs.Model") {
        /// Time when it was made.
        header: Header,
        /// Its name.
        name: String,
        /// Its number.
        id: u32,
        /// World frame.
        pose: Pose,
        /// Its joints.
        joint: Vec<Joint>,
    }
    /// A battery.
    BatteryState("gz.msgs.BatteryState") {
        /// Time when it was made.
        header: Header,
        /// \[V\]
        voltage: f64,
        /// Negative while it discharges \[A\].
        current: f64,
        /// \[A h\]
        charge: f64,
        /// \[A h\]
        capacity: f64,
        /// From 0 to 1.
        percentage: f64,
        /// `UNKNOWN`, `CHARGING`, `DISCHARGING`, `NOT_CHARGING`, `FULL`.
        power_supply_status: String,
    }
    /// Wind.
    Wind("gz.msgs.Wind") {
        /// Time when it was made.
        header: Header,
        /// World frame \[m/s\].
        linear_velocity: Vector3d,
        /// True if it blows.
        enable_wind: bool,
    }
    /// The figures of a running world.
    WorldStatistics("gz.msgs.WorldStatistics") {
        /// Time when it was made.
        header: Header,
        /// Simulated time.
        sim_time: crate::basic::Time,
        /// Real time.
        real_time: crate::basic::Time,
        /// True if time is paused.
        paused: bool,
        /// The last completed iteration.
        iterations: u64,
        /// Simulated over real time.
        real_time_factor: f64,
        /// Simulated time per iteration.
        step_size: crate::basic::Time,
    }
}
