//! Systems: behaviour that a world attaches to models and to itself by `<plugin>`.
//!
//! A system of a model ([`System`]) runs where the model is owned and travels with it; a system of
//! a world ([`WorldSystem`]) runs on every host alike, and acts in each of the host's cells. One
//! file per system, and below the table of their names. Sensors are systems too, made from
//! `<sensor>` ([`crate::sensors`]). `docs/systems.md` says how to write one.
//!
//! **Invariant:** all that a system remembers from step to step is in what it saves, and nothing
//! that it does depends on anything but that, its cell, the time and what it receives.

mod ackermann_steering;
mod angle;
mod apply_joint_force;
mod apply_link_wrench;
mod breadcrumbs;
mod buoyancy;
pub mod configuration;
pub mod context;
mod detachable_joint;
mod diff_drive;
mod drawn_world;
mod drive_base;
mod drive_to_pose_controller;
mod hydrodynamics;
mod joint_command;
mod joint_controller;
mod joint_position_controller;
mod joint_state_publisher;
mod joint_trajectory_controller;
mod kinetic_energy_monitor;
mod lift_drag;
mod linear_battery;
mod mecanum_drive;
mod multicopter_motor_model;
mod multicopter_velocity_control;
mod odometry_publisher;
mod performer_detector;
mod pid;
mod pose_publisher;
mod random;
pub mod registry;
mod schedule;
pub mod sensors;
mod speed_limiter;
#[cfg(test)]
pub(crate) mod test_rig;
#[cfg(test)]
mod tests;
mod thruster;
mod touch_plugin;
mod track_controller;
mod tracked_vehicle;
mod trajectory_follower;
mod triggered_publisher;
mod velocity_control;
mod wheel_slip;
mod wind_effects;

use protocol::TopicMessage;

pub use configuration::{Configuration, ConfigureError};
pub use context::{Audience, Context, Export, GoneModel, Outbox, StepTime, WorldContext};
pub use drawn_world::{MakeRenderer, SharedStage};
pub use registry::{Configured, Survey, TopicSpec, survey};

use physics::Cell;
use registry::Make;

/// The systems by the last part of their names in Gazebo (`gz::sim::systems::NAME`, and the older
/// `ignition::gazebo::systems::NAME`), in order.
const SYSTEMS: &[(&str, Make)] = &[
    (
        "AckermannSteering",
        Make::Model(ackermann_steering::configure),
    ),
    ("AirPressure", Make::BuiltIn),
    ("AirSpeed", Make::BuiltIn),
    ("Altimeter", Make::BuiltIn),
    ("ApplyJointForce", Make::Model(apply_joint_force::configure)),
    ("ApplyLinkWrench", Make::World(apply_link_wrench::configure)),
    ("Breadcrumbs", Make::Model(breadcrumbs::configure)),
    ("Buoyancy", Make::World(buoyancy::configure)),
    ("Contact", Make::BuiltIn),
    ("DetachableJoint", Make::Model(detachable_joint::configure)),
    ("DiffDrive", Make::Model(diff_drive::configure)),
    (
        "DriveToPoseController",
        Make::Model(drive_to_pose_controller::configure),
    ),
    ("ForceTorque", Make::BuiltIn),
    ("Hydrodynamics", Make::Model(hydrodynamics::configure)),
    ("Imu", Make::BuiltIn),
    ("JointController", Make::Model(joint_controller::configure)),
    (
        "JointPositionController",
        Make::Model(joint_position_controller::configure),
    ),
    (
        "JointStatePublisher",
        Make::Model(joint_state_publisher::configure),
    ),
    (
        "JointTrajectoryController",
        Make::Model(joint_trajectory_controller::configure),
    ),
    (
        "KineticEnergyMonitor",
        Make::Model(kinetic_energy_monitor::configure),
    ),
    ("Label", Make::BuiltIn),
    ("LiftDrag", Make::Model(lift_drag::configure)),
    (
        "LinearBatteryPlugin",
        Make::Model(linear_battery::configure),
    ),
    ("LogicalCamera", Make::BuiltIn),
    ("Magnetometer", Make::BuiltIn),
    ("MecanumDrive", Make::Model(mecanum_drive::configure)),
    (
        "MulticopterMotorModel",
        Make::Model(multicopter_motor_model::configure),
    ),
    (
        "MulticopterVelocityControl",
        Make::Model(multicopter_velocity_control::configure),
    ),
    ("NavSat", Make::BuiltIn),
    (
        "OdometryPublisher",
        Make::Model(odometry_publisher::configure),
    ),
    (
        "PerformerDetector",
        Make::Model(performer_detector::configure),
    ),
    ("Physics", Make::BuiltIn),
    ("PosePublisher", Make::Model(pose_publisher::configure)),
    ("SceneBroadcaster", Make::BuiltIn),
    ("Sensors", Make::BuiltIn),
    ("Thermal", Make::BuiltIn),
    ("ThermalSensor", Make::BuiltIn),
    ("Thruster", Make::Model(thruster::configure)),
    ("TouchPlugin", Make::Model(touch_plugin::configure)),
    ("TrackController", Make::Model(track_controller::configure)),
    ("TrackedVehicle", Make::Model(tracked_vehicle::configure)),
    (
        "TrajectoryFollower",
        Make::Model(trajectory_follower::configure),
    ),
    (
        "TriggeredPublisher",
        Make::Either(
            triggered_publisher::configure,
            triggered_publisher::configure_for_world,
        ),
    ),
    ("UserCommands", Make::BuiltIn),
    ("VelocityControl", Make::Model(velocity_control::configure)),
    ("WheelSlip", Make::Model(wheel_slip::configure)),
    ("WindEffects", Make::World(wind_effects::configure)),
    // What holds levels and performers.
    ("gz::sim", Make::BuiltIn),
    ("ignition::gazebo", Make::BuiltIn),
];

/// Behaviour of a model: `configure` of its file makes it, then it takes part in each step of its
/// cell that advances time.
pub trait System: Send + Sync {
    /// Hears a message on one of the topics that it listens to, by its place among them. Also while
    /// time is paused; before [`Self::before_step`] of the same step.
    fn on_message(&mut self, input: usize, message: &TopicMessage, context: &mut Context<'_>) {
        let _ = (input, message, context);
    }

    /// Acts before physics.
    fn before_step(&mut self, context: &mut Context<'_>) {
        let _ = context;
    }

    /// Looks at what physics did, and publishes.
    fn after_step(&mut self, context: &mut Context<'_>) {
        let _ = context;
    }

    /// Tells whether it is likely to look at others in a step, ghosts among them. A wrong answer
    /// costs time alone.
    fn looks_at_others(&self, time: &StepTime, audience: &Audience) -> bool {
        let _ = (time, audience);
        false
    }

    /// Takes note that a model is gone from its world, wherever it was: another may get its
    /// numbers with the next step, also while time is paused.
    fn forget(&mut self, gone: &GoneModel<'_>) {
        let _ = gone;
    }

    /// Returns its state; see [`save`].
    fn save(&self) -> Vec<u8>;

    /// Restores a state that it, or a system like it, saved; see [`load`].
    ///
    /// # Errors
    /// Fails if the bytes are damaged or of another system.
    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error>;
}

/// Behaviour of a world. It is the same on every host: nothing that it remembers may depend on the
/// cells that it acts in.
pub trait WorldSystem: Send + Sync {
    /// Hears a message on one of the topics that it listens to, by its place among them.
    fn on_message(&mut self, input: usize, message: &TopicMessage, context: &mut WorldContext<'_>) {
        let _ = (input, message, context);
    }

    /// Does what is done once per step, before physics.
    fn before_step(&mut self, context: &mut WorldContext<'_>) {
        let _ = context;
    }

    /// Takes note that a model is gone, as [`System::forget`] does.
    fn forget(&mut self, gone: &GoneModel<'_>) {
        let _ = gone;
    }

    /// Acts on what a cell owns, before physics.
    fn act(&self, time: StepTime, cell: &mut Cell) {
        let _ = (time, cell);
    }

    /// Returns its state; see [`save`].
    fn save(&self) -> Vec<u8>;

    /// Restores a state that it, or a system like it, saved; see [`load`].
    ///
    /// # Errors
    /// Fails if the bytes are damaged or of another system.
    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error>;
}

/// Returns a state as bytes.
///
/// # Panics
/// Never: memories hold only what postcard can express.
pub fn save<M: serde::Serialize>(state: &M) -> Vec<u8> {
    postcard::to_stdvec(state).expect("memories hold only what postcard can express")
}

/// Replaces a state by the one in bytes.
///
/// # Errors
/// Fails if the bytes are no such state, or longer than one; the state stays as it is then.
pub fn load<M: serde::de::DeserializeOwned>(
    state: &mut M,
    bytes: &[u8],
) -> Result<(), postcard::Error> {
    let (loaded, rest) = postcard::take_from_bytes(bytes)?;
    if !rest.is_empty() {
        return Err(postcard::Error::DeserializeBadEncoding);
    }
    *state = loaded;
    Ok(())
}
