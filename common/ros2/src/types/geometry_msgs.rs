//! `geometry_msgs`: vectors, poses, motion and forces.

use super::std_msgs::Header;

super::ros_types! {
    /// Three numbers.
    Vector3("geometry_msgs/msg/Vector3") {
        /// Along x.
        x: f64,
        /// Along y.
        y: f64,
        /// Along z.
        z: f64,
    }
    /// A vector with its time and frame.
    Vector3Stamped("geometry_msgs/msg/Vector3Stamped") {
        /// Time and frame.
        header: Header,
        /// The vector.
        vector: Vector3,
    }
    /// A place.
    Point("geometry_msgs/msg/Point") {
        /// \[m\]
        x: f64,
        /// \[m\]
        y: f64,
        /// \[m\]
        z: f64,
    }
    /// A place with its time and frame.
    PointStamped("geometry_msgs/msg/PointStamped") {
        /// Time and frame.
        header: Header,
        /// The place.
        point: Point,
    }
    /// An orientation as a unit quaternion.
    Quaternion("geometry_msgs/msg/Quaternion") {
        /// Along x.
        x: f64,
        /// Along y.
        y: f64,
        /// Along z.
        z: f64,
        /// The real part.
        w: f64,
    }
    /// A place with an orientation.
    Pose("geometry_msgs/msg/Pose") {
        /// The place.
        position: Point,
        /// The orientation.
        orientation: Quaternion,
    }
    /// A pose with its time and frame.
    PoseStamped("geometry_msgs/msg/PoseStamped") {
        /// Time and frame.
        header: Header,
        /// The pose.
        pose: Pose,
    }
    /// Poses.
    PoseArray("geometry_msgs/msg/PoseArray") {
        /// Time and frame of all.
        header: Header,
        /// The poses.
        poses: Vec<Pose>,
    }
    /// A pose with its covariance.
    PoseWithCovariance("geometry_msgs/msg/PoseWithCovariance") {
        /// The pose.
        pose: Pose,
        /// By rows: x, y, z, and rotations about them.
        covariance: [f64; 36],
    }
    /// A pose with its covariance, time and frame.
    PoseWithCovarianceStamped("geometry_msgs/msg/PoseWithCovarianceStamped") {
        /// Time and frame.
        header: Header,
        /// The pose.
        pose: PoseWithCovariance,
    }
    /// A change of frame.
    Transform("geometry_msgs/msg/Transform") {
        /// \[m\]
        translation: Vector3,
        /// The rotation.
        rotation: Quaternion,
    }
    /// The place of a frame in another.
    TransformStamped("geometry_msgs/msg/TransformStamped") {
        /// Time, and the outer frame.
        header: Header,
        /// The inner frame.
        child_frame_id: String,
        /// The inner frame in the outer one.
        transform: Transform,
    }
    /// Accelerations.
    Accel("geometry_msgs/msg/Accel") {
        /// \[m/s^2\]
        linear: Vector3,
        /// \[rad/s^2\]
        angular: Vector3,
    }
    /// Velocities.
    Twist("geometry_msgs/msg/Twist") {
        /// \[m/s\]
        linear: Vector3,
        /// \[rad/s\]
        angular: Vector3,
    }
    /// Velocities with their time and frame.
    TwistStamped("geometry_msgs/msg/TwistStamped") {
        /// Time and frame.
        header: Header,
        /// The velocities.
        twist: Twist,
    }
    /// Velocities with their covariance.
    TwistWithCovariance("geometry_msgs/msg/TwistWithCovariance") {
        /// The velocities.
        twist: Twist,
        /// By rows: along x, y, z, and about them.
        covariance: [f64; 36],
    }
    /// Velocities with their covariance, time and frame.
    TwistWithCovarianceStamped("geometry_msgs/msg/TwistWithCovarianceStamped") {
        /// Time and frame.
        header: Header,
        /// The velocities.
        twist: TwistWithCovariance,
    }
    /// A force with a torque.
    Wrench("geometry_msgs/msg/Wrench") {
        /// \[N\]
        force: Vector3,
        /// \[N m\]
        torque: Vector3,
    }
    /// A force with a torque, their time and frame.
    WrenchStamped("geometry_msgs/msg/WrenchStamped") {
        /// Time and frame.
        header: Header,
        /// Force and torque.
        wrench: Wrench,
    }
}
