//! [`Geometry`]: shapes, those of files as the assets that hold them.

use serde::{Deserialize, Serialize};

/// A shape; round ones have their axis along z, all but meshes and heightmaps are centred on their
/// origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Geometry {
    /// Nothing: a mesh or image that is not found, among others.
    Empty,
    /// Edge lengths \[m\].
    Box {
        /// Along x, y, z.
        size: [f64; 3],
    },
    /// A ball \[m\].
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A cylinder \[m\].
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Its length.
        length: f64,
    },
    /// A cylinder with half a ball at each end \[m\].
    Capsule {
        /// Radius of cylinder and balls.
        radius: f64,
        /// Length of the cylinder alone.
        length: f64,
    },
    /// An ellipsoid \[m\].
    Ellipsoid {
        /// Half axes along x, y, z.
        radii: [f64; 3],
    },
    /// A cone with its tip at +z \[m\].
    Cone {
        /// Radius of its base.
        radius: f64,
        /// From base to tip.
        length: f64,
    },
    /// A rectangle around the origin.
    Plane {
        /// Unit normal.
        normal: [f64; 3],
        /// Edge lengths \[m\].
        size: [f64; 2],
    },
    /// Triangles of a file, or an outline that is extruded.
    Mesh {
        /// The asset: `/assets/ID.glb`. Its axes are those of the link, whatever glTF says.
        asset: String,
        /// Factors along x, y, z.
        scale: [f64; 3],
    },
    /// Ground as triangles, where it is in its link's frame already.
    Heightmap {
        /// The asset: `/assets/ID.glb`.
        asset: String,
    },
}
