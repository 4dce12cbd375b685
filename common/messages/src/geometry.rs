//! Vectors, orientations and poses.

use crate::basic::Header;
use crate::message::messages;

messages! {
    /// Three numbers.
    Vector3d("gz.msgs.Vector3d") {
        /// Time when it was made.
        header: Header,
        /// Along x.
        x: f64,
        /// Along y.
        y: f64,
        /// Along z.
        z: f64,
    }
    /// Two numbers.
    Vector2d("gz.msgs.Vector2d") {
        /// Time when it was made.
        header: Header,
        /// Along x.
        x: f64,
        /// Along y.
        y: f64,
    }
    /// A place with an orientation, perhaps of something with a name.
    Pose("gz.msgs.Pose") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Of what it is the pose.
        name: String,
        /// The number of that; 0 for none.
        id: u32,
        /// \[m\]
        position: Vector3d,
        /// A unit quaternion.
        orientation: Quaternion,
    }
    /// Poses.
    PoseV("gz.msgs.Pose_V") {
        /// Time when it was made.
        header: Header,
        /// The poses.
        pose: Vec<Pose>,
    }
}

/// An orientation as a unit quaternion.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quaternion {
    /// Time when it was made.
    pub header: Header,
    /// Along x.
    pub x: f64,
    /// Along y.
    pub y: f64,
    /// Along z.
    pub z: f64,
    /// The real part.
    pub w: f64,
}

impl Default for Quaternion {
    fn default() -> Self {
        Self {
            header: Header::default(),
            x: 0.0,
            y: 0.0,
            z: 0.0,
            w: 1.0,
        }
    }
}

crate::message::message!(Quaternion, "gz.msgs.Quaternion");

impl From<[f64; 3]> for Vector3d {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self {
            x,
            y,
            z,
            ..Self::default()
        }
    }
}

impl From<&Vector3d> for [f64; 3] {
    fn from(vector: &Vector3d) -> Self {
        [vector.x, vector.y, vector.z]
    }
}

impl Quaternion {
    /// Makes an orientation of x, y, z, w.
    pub fn from_xyzw([x, y, z, w]: [f64; 4]) -> Self {
        Self {
            x,
            y,
            z,
            w,
            ..Self::default()
        }
    }

    /// Returns x, y, z, w.
    pub fn xyzw(&self) -> [f64; 4] {
        [self.x, self.y, self.z, self.w]
    }
}
