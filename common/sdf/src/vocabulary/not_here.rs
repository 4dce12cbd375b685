//! The systems of Gazebo that do nothing here, each with the reason that people are told.

/// Reasons by the last part of the systems' names, in order.
const REASONS: &[(&str, &str)] = &[
    ("AcousticComms", COMMS),
    (
        "BuoyancyEngine",
        "bladders that change their volume are not modelled",
    ),
    ("CameraVideoRecorder", PICTURES),
    ("ColladaWorldExporter", "worlds are not written as Collada"),
    ("CommsEndpoint", COMMS),
    (
        "DopplerVelocityLogSystem",
        "Doppler velocity logs do not measure",
    ),
    ("Elevator", "lifts are not modelled"),
    ("EnvironmentPreload", ENVIRONMENT),
    ("EnvironmentalSystem", ENVIRONMENT),
    ("FollowActor", "actors go by their scripts alone"),
    (
        "FreeSpaceExplorer",
        "where to explore is decided by the programs that drive robots",
    ),
    ("LedPlugin", LOOKS),
    ("LensFlare", LOOKS),
    (
        "LighterThanAirDynamics",
        "the air around airships is not modelled",
    ),
    ("LogPlayback", RECORDS),
    ("LogRecord", RECORDS),
    ("LogVideoRecorder", PICTURES),
    ("LogicalAudioSensorPlugin", "sound is not modelled"),
    (
        "LookupWheelSlip",
        "wheels slip as WheelSlip and their surfaces say, on all ground alike",
    ),
    ("ModelPhotoShoot", PICTURES),
    ("OpticalTactilePlugin", PICTURES),
    ("ParticleEmitter", LOOKS),
    ("ParticleEmitter2", LOOKS),
    ("PerfectComms", COMMS),
    ("PythonSystemLoader", "systems in Python are not loaded"),
    ("RFComms", COMMS),
    ("ShaderParam", LOOKS),
    ("VisualizationCapabilities", LOOKS),
];

const COMMS: &str = "radio and acoustic communication is not modelled";
const ENVIRONMENT: &str = "data of the environment are not loaded";
const LOOKS: &str = "it changes only how things look, and they look as the file says";
const PICTURES: &str = "pictures are made by <sensor>s alone, for whoever listens";
const RECORDS: &str =
    "runs are recorded and repeated by --record-commands, --states and --messages";

/// Reasons by parts of the names of plugins and libraries of ROS; the first that fits holds.
const REASONS_OF_ROS: &[(&str, &str)] = &[
    ("ros2_control", CONTROLLERS),
    ("ros_control", CONTROLLERS),
    ("Ros2Control", CONTROLLERS),
    ("ROS2Control", CONTROLLERS),
    (
        "gazebo_ros_diff_drive",
        "use gz::sim::systems::DiffDrive instead",
    ),
    (
        "gazebo_ros_skid_steer_drive",
        "use gz::sim::systems::DiffDrive instead",
    ),
    (
        "gazebo_ros_ackermann_drive",
        "use gz::sim::systems::AckermannSteering instead",
    ),
    (
        "gazebo_ros_planar_move",
        "use gz::sim::systems::VelocityControl instead",
    ),
    (
        "gazebo_ros_joint_state_publisher",
        "use gz::sim::systems::JointStatePublisher instead",
    ),
    (
        "gazebo_ros_joint_pose_trajectory",
        "use gz::sim::systems::JointTrajectoryController instead",
    ),
    (
        "gazebo_ros_p3d",
        "use gz::sim::systems::OdometryPublisher instead",
    ),
    ("gazebo_ros_camera", SENSORS),
    ("gazebo_ros_imu", SENSORS),
    ("gazebo_ros_ray", SENSORS),
    ("gazebo_ros_laser", SENSORS),
    ("gazebo_ros_bumper", SENSORS),
    ("gazebo_ros_ft_sensor", SENSORS),
    ("gazebo_ros_gps", SENSORS),
    ("gazebo_ros", "plugins of ROS are not loaded"),
];

/// Replaces controllers of ROS, for whom comes with them.
pub(crate) const CONTROLLERS: &str = "controllers of ROS are not here; to drive joints, add \
     gz::sim::systems::JointPositionController or JointTrajectoryController as a <plugin>, or use \
     `phalanx ctl set-joint`";
const SENSORS: &str = "a <sensor> measures and publishes without it";

/// Returns why a plugin of ROS does nothing here; any of its names may tell.
pub(super) fn reason_of_ros(names: [&str; 2]) -> Option<&'static str> {
    let mut reasons = REASONS_OF_ROS.iter();
    let found = reasons.find(|(part, _)| names.iter().any(|name| name.contains(part)));
    found.map(|(_, reason)| *reason)
}

/// Returns why a system does nothing here, if it is known to; its name is without namespace.
pub(super) fn reason(name: &str) -> Option<&'static str> {
    let found = REASONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_once() {
        assert!(REASONS.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!(reason("ModelPhotoShoot"), Some(PICTURES));
        assert_eq!(reason("DiffDrive"), None);
    }
}
