//! [`ModelParcel`]: a model with all the data that it refers to, to be put into a running world.

use serde::{Deserialize, Serialize};

use crate::pose::Pose;
use crate::world::{Geometry, Model, World};

/// A model with the meshes and height grids of its collisions, which count from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelParcel {
    /// The model; its poses are in the world frame.
    pub model: Model,
    /// The meshes that its collisions refer to.
    pub meshes: Vec<mesh::TriangleMesh>,
    /// The height grids that its collisions refer to.
    pub height_grids: Vec<mesh::HeightGrid>,
}

impl ModelParcel {
    /// Returns it as bytes, for the wire.
    ///
    /// # Panics
    /// Never: models hold only what `MessagePack` can express.
    pub fn encode(&self) -> Vec<u8> {
        rmp_serde::to_vec(self).expect("models hold only what MessagePack can express")
    }

    /// Returns the parcel in bytes made by [`Self::encode`].
    ///
    /// # Errors
    /// When the bytes are no parcel, or its parts do not belong together.
    pub fn decode(bytes: &[u8]) -> Result<Self, rmp_serde::decode::Error> {
        let parcel: Self = rmp_serde::from_slice(bytes)?;
        if parcel.model.joints_hold_links() && parcel.has_its_data() {
            return Ok(parcel);
        }
        let message = format!("model {:?} refers to what it has not", parcel.model.name);
        Err(serde::de::Error::custom(message))
    }

    /// Returns the model under another name, and at another pose \[m\] with everything in it.
    #[must_use]
    pub fn placed(mut self, name: Option<String>, pose: Option<Pose>) -> Self {
        if let Some(name) = name {
            self.model.name = name;
        }
        if let Some(pose) = pose {
            let way = pose.then(&self.model.pose.inverse());
            move_model(&mut self.model, &way);
            self.model.pose = pose;
        }
        self
    }

    fn has_its_data(&self) -> bool {
        let mut collisions = self.model.links.iter().flat_map(|link| &link.collisions);
        collisions.all(|collision| match &collision.geometry {
            Geometry::Mesh(shape) => shape.mesh.is_none_or(|mesh| mesh < self.meshes.len()),
            Geometry::Heightmap(shape) => {
                shape.grid.is_none_or(|grid| grid < self.height_grids.len())
            }
            _ => true,
        })
    }
}

/// Moves everything of a model that is in the world frame.
fn move_model(model: &mut Model, way: &Pose) {
    for link in &mut model.links {
        link.pose = way.then(&link.pose);
    }
    for frame in &mut model.frames {
        frame.pose = way.then(&frame.pose);
    }
    for nested in &mut model.nested {
        nested.pose = way.then(&nested.pose);
    }
    for joint in &mut model.joints {
        joint.pose = way.then(&joint.pose);
        for axis in joint.kind.axes_mut() {
            axis.xyz = way.rotate(axis.xyz);
        }
    }
}

impl World {
    /// Adds a model at the end of the world's models, with its data, and returns its index.
    pub fn append(&mut self, parcel: ModelParcel) -> usize {
        let (first_mesh, first_grid) = (self.meshes.len(), self.height_grids.len());
        let mut model = parcel.model;
        let collisions = model.links.iter_mut().flat_map(|link| &mut link.collisions);
        for collision in collisions {
            match &mut collision.geometry {
                Geometry::Mesh(shape) => shape.mesh = shape.mesh.map(|mesh| mesh + first_mesh),
                Geometry::Heightmap(shape) => {
                    shape.grid = shape.grid.map(|grid| grid + first_grid);
                }
                _ => {}
            }
        }
        self.meshes.extend(parcel.meshes);
        self.height_grids.extend(parcel.height_grids);
        self.models.push(model);
        self.models.len() - 1
    }
}
