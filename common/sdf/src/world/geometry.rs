//! Shapes.

use serde::{Deserialize, Serialize};

/// Shapes; round ones have their axis along z, all but meshes, heightmaps and polylines are centred
/// on their origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Geometry {
    /// Nothing.
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
    /// All space below a plane through the origin.
    Plane {
        /// Unit normal.
        normal: [f64; 3],
        /// Edge lengths of what is drawn of it \[m\]; collisions have no end.
        size: [f64; 2],
    },
    /// Outlines in the x-y plane, extruded from z = 0 to their height \[m\]; an outline within
    /// another is a hole.
    Polyline {
        /// Corners x, y of each closed outline.
        outlines: Vec<Vec<[f64; 2]>>,
        /// Along z.
        height: f64,
    },
    /// Triangles of a file.
    Mesh(MeshShape),
    /// Ground whose height is the brightness of an image.
    Heightmap(HeightmapShape),
}

/// Triangles of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshShape {
    /// The file as the world names it.
    pub uri: String,
    /// The node of the file that is meant; empty for all.
    pub submesh: String,
    /// True if the submesh is moved so that its box is centred on the origin.
    pub center_submesh: bool,
    /// Factors along x, y, z; applied to what is in [`super::World::meshes`].
    pub scale: [f64; 3],
    /// Shape that collides in its place.
    pub approximation: MeshApproximation,
    /// Index into [`super::World::meshes`]; `None` in visuals, and where the file was not found.
    pub mesh: Option<usize>,
    /// Least and greatest corner of the scaled triangles \[m\]; `None` where nothing has read the
    /// file, or it has none.
    pub bounds: Option<[[f64; 3]; 2]>,
}

impl MeshShape {
    /// Takes the bounds of the triangles as the file has them \[m\].
    pub(crate) fn take_bounds(&mut self, unscaled: Option<[[f64; 3]; 2]>) {
        self.bounds = unscaled.map(|corners| {
            let [a, b] = corners
                .map(|corner| -> [f64; 3] { std::array::from_fn(|i| corner[i] * self.scale[i]) });
            [
                std::array::from_fn(|i| a[i].min(b[i])),
                std::array::from_fn(|i| a[i].max(b[i])),
            ]
        });
    }
}

/// Shape that stands in for a mesh in collisions (`//mesh/@optimization`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum MeshApproximation {
    /// Not said: what physics finds best.
    #[default]
    Automatic,
    /// The triangles themselves; asked for by `mesh`, which SDFormat does not have.
    Triangles,
    /// Their convex hull.
    ConvexHull,
    /// Several convex hulls.
    ConvexDecomposition(ConvexDecomposition),
}

/// Resolution of a convex decomposition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConvexDecomposition {
    /// The most hulls; 16 by default.
    pub max_convex_hulls: u32,
    /// The number of voxels that the shape is cut into; 200,000 by default.
    pub voxel_resolution: u32,
}

/// Ground whose height is the brightness of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeightmapShape {
    /// The image as the world names it.
    pub uri: String,
    /// Edge lengths along x and y, and height of the brightest value \[m\].
    pub size: [f64; 3],
    /// Offset of the centre of its base \[m\].
    pub position: [f64; 3],
    /// Index into [`super::World::height_grids`]; `None` in visuals, and where the file was not
    /// found.
    pub grid: Option<usize>,
}
