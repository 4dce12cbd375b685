//! `ros_gz_interfaces`: messages of Gazebo that ROS itself has not.

use super::builtin_interfaces::Time;
use super::geometry_msgs::{Pose, Vector3, Wrench};
use super::std_msgs::{self, Header};

super::ros_types! {
    /// A height.
    Altimeter("ros_gz_interfaces/msg/Altimeter") {
        /// Time and frame.
        header: Header,
        /// Above the start \[m\].
        vertical_position: f64,
        /// \[m/s\]
        vertical_velocity: f64,
        /// World height at the start \[m\].
        vertical_reference: f64,
    }
    /// An entity: by number, or by name and type.
    Entity("ros_gz_interfaces/msg/Entity") [
        NONE: u8 = 0;
        LIGHT: u8 = 1;
        MODEL: u8 = 2;
        LINK: u8 = 3;
        VISUAL: u8 = 4;
        COLLISION: u8 = 5;
        SENSOR: u8 = 6;
        JOINT: u8 = 7;
    ] {
        /// Its number; 0 for none.
        id: u64,
        /// Its scoped name.
        name: String,
        /// Its kind.
        r#type: u8,
    }
    /// A wrench on an entity.
    EntityWrench("ros_gz_interfaces/msg/EntityWrench") {
        /// Time and frame.
        header: Header,
        /// A link, or a model, whose canonical link is meant.
        entity: Entity,
        /// World frame.
        wrench: Wrench,
    }
    /// Wrenches of a contact on both bodies.
    JointWrench("ros_gz_interfaces/msg/JointWrench") {
        /// Time and frame.
        header: Header,
        /// The first.
        body_1_name: std_msgs::String,
        /// Number of the first.
        body_1_id: std_msgs::UInt32,
        /// The second.
        body_2_name: std_msgs::String,
        /// Number of the second.
        body_2_id: std_msgs::UInt32,
        /// On the first.
        body_1_wrench: Wrench,
        /// On the second.
        body_2_wrench: Wrench,
    }
    /// Contact of two collisions; one entry per point in the lists.
    Contact("ros_gz_interfaces/msg/Contact") {
        /// The first.
        collision1: Entity,
        /// The second.
        collision2: Entity,
        /// World frame \[m\].
        positions: Vec<Vector3>,
        /// World frame, from the second to the first.
        normals: Vec<Vector3>,
        /// Depth to which they are in each other \[m\].
        depths: Vec<f64>,
        /// Wrenches that they exert.
        wrenches: Vec<JointWrench>,
    }
    /// Contacts.
    Contacts("ros_gz_interfaces/msg/Contacts") {
        /// Time and frame.
        header: Header,
        /// The contacts.
        contacts: Vec<Contact>,
    }
    /// Numbers of single precision.
    Float32Array("ros_gz_interfaces/msg/Float32Array") {
        /// The values.
        data: Vec<f32>,
    }
    /// Texts.
    StringVec("ros_gz_interfaces/msg/StringVec") {
        /// Time and frame.
        header: Header,
        /// The texts.
        data: Vec<String>,
    }
    /// A model in sight.
    LogicalCameraImageModel("ros_gz_interfaces/msg/LogicalCameraImageModel") {
        /// Its name.
        name: String,
        /// In the frame of the camera.
        pose: Pose,
    }
    /// Models that are in sight.
    LogicalCameraImage("ros_gz_interfaces/msg/LogicalCameraImage") {
        /// Time and frame.
        header: Header,
        /// The camera, world frame.
        pose: Pose,
        /// The models.
        model: Vec<LogicalCameraImageModel>,
    }
    /// The figures of a log that is played.
    LogPlaybackStatistics("ros_gz_interfaces/msg/LogPlaybackStatistics") {
        /// Time.
        header: Header,
        /// Its start.
        start_time: Time,
        /// Its end.
        end_time: Time,
    }
    /// The figures of a running world.
    WorldStatistics("ros_gz_interfaces/msg/WorldStatistics") {
        /// Time.
        header: Header,
        /// Simulated time.
        sim_time: Time,
        /// Time that it was paused.
        pause_time: Time,
        /// Time that it has been running.
        real_time: Time,
        /// True if time is paused.
        paused: bool,
        /// The last completed iteration.
        iterations: u64,
        /// Number of models; 0 if it is not told.
        model_count: i32,
        /// Of a log that is played.
        log_playback_statistics: LogPlaybackStatistics,
        /// Simulated over real time.
        real_time_factor: f64,
        /// Simulated time per iteration.
        step_size: Time,
        /// True if it was asked for single iterations.
        stepping: bool,
    }
}
