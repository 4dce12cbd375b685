//! `vision_msgs`: what was found in images and in space.

use super::geometry_msgs::{Pose, PoseWithCovariance, Vector3};
use super::std_msgs::Header;

super::ros_types! {
    /// A place in an image.
    Point2D("vision_msgs/msg/Point2D") {
        /// \[pixels\]
        x: f64,
        /// \[pixels\]
        y: f64,
    }
    /// A place in an image with a turn.
    Pose2D("vision_msgs/msg/Pose2D") {
        /// The place.
        position: Point2D,
        /// \[rad\]
        theta: f64,
    }
    /// A box in an image.
    BoundingBox2D("vision_msgs/msg/BoundingBox2D") {
        /// Its middle.
        center: Pose2D,
        /// \[pixels\]
        size_x: f64,
        /// \[pixels\]
        size_y: f64,
    }
    /// A box in space.
    BoundingBox3D("vision_msgs/msg/BoundingBox3D") {
        /// Its middle, and the turn of its edges.
        center: Pose,
        /// Lengths of its edges \[m\].
        size: Vector3,
    }
    /// A class that something may be of.
    ObjectHypothesis("vision_msgs/msg/ObjectHypothesis") {
        /// The class.
        class_id: String,
        /// Confidence, 0 to 1.
        score: f64,
    }
    /// A class that something may be of, and its pose then.
    ObjectHypothesisWithPose("vision_msgs/msg/ObjectHypothesisWithPose") {
        /// The class.
        hypothesis: ObjectHypothesis,
        /// The pose.
        pose: PoseWithCovariance,
    }
    /// A thing in an image.
    Detection2D("vision_msgs/msg/Detection2D") {
        /// Time and frame.
        header: Header,
        /// Classes that it may be of.
        results: Vec<ObjectHypothesisWithPose>,
        /// The box around it.
        bbox: BoundingBox2D,
        /// Its name where it is followed over time.
        id: String,
    }
    /// Things in an image.
    Detection2DArray("vision_msgs/msg/Detection2DArray") {
        /// Time and frame.
        header: Header,
        /// The things.
        detections: Vec<Detection2D>,
    }
    /// A thing in space.
    Detection3D("vision_msgs/msg/Detection3D") {
        /// Time and frame.
        header: Header,
        /// Classes that it may be of.
        results: Vec<ObjectHypothesisWithPose>,
        /// The box around it.
        bbox: BoundingBox3D,
        /// Its name where it is followed over time.
        id: String,
    }
    /// Things in space.
    Detection3DArray("vision_msgs/msg/Detection3DArray") {
        /// Time and frame.
        header: Header,
        /// The things.
        detections: Vec<Detection3D>,
    }
}
