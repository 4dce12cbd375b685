//! [`ModelParcel`]: a model with all the data that it refers to, to be put into a running world.

use serde::{Deserialize, Serialize};

use crate::pose::Pose;
use crate::world::{Geometry, Joint, Model, World};

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

    /// Has a joint start at a position along or about its first axis \[rad or m\], and those that
    /// mimic it where that puts them.
    ///
    /// # Errors
    /// When there is no such joint, it has no position, or that is no finite number.
    pub fn start_joint(&mut self, name: &str, position: f64) -> Result<(), StartJointError> {
        let joints = &mut self.model.joints;
        let error = |what| StartJointError {
            joint: name.to_owned(),
            what,
        };
        let Some(joint) = joints.iter_mut().find(|joint| joint.name == name) else {
            let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
            return Err(error(format!("there are {}", names.join(", "))));
        };
        let kind = joint.kind.name();
        let Some(axis) = joint.kind.axes_mut().first_mut() else {
            return Err(error(format!("it is {kind} and has no position")));
        };
        if !position.is_finite() {
            return Err(error("its position is no finite number".to_owned()));
        }
        axis.initial_position = position;
        lead(joints, name);
        Ok(())
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

/// A joint that cannot start where it is to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the joint {joint:?} cannot start elsewhere: {what}")]
pub struct StartJointError {
    /// Its name.
    pub joint: String,
    /// Why not, and what there is.
    pub what: String,
}

/// Starts the joints that mimic a joint, and those that mimic them, where it puts them.
fn lead(joints: &mut [Joint], leader: &str) {
    let mut leaders = vec![leader.to_owned()];
    // A ring of them ends with the joints.
    for _ in 0..joints.len() {
        let Some(leader) = leaders.pop() else { return };
        for index in 0..joints.len() {
            for axis in 0..joints[index].kind.axes().len() {
                let follower = joints[index].kind.axes()[axis].mimic.as_ref();
                let follows = follower.is_some_and(|mimic| mimic.joint == leader);
                let start = start_of_follower(joints, index, axis).filter(|_| follows);
                if let Some(start) = start {
                    joints[index].kind.axes_mut()[axis].initial_position = start;
                    leaders.push(joints[index].name.clone());
                }
            }
        }
    }
}

/// Returns where an axis that mimics another starts if it does what that says \[rad or m\].
pub(crate) fn start_of_follower(joints: &[Joint], index: usize, axis: usize) -> Option<f64> {
    let mimic = joints[index].kind.axes()[axis].mimic.as_ref()?;
    let leader = joints.iter().find(|joint| joint.name == mimic.joint)?;
    let lead = leader.kind.axes().get(mimic.axis)?.initial_position;
    let start = mimic.multiplier * (lead - mimic.reference) + mimic.offset;
    start.is_finite().then_some(start)
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
