//! The immutable description of a world: SI units, radians, all frames resolved.
//!
//! [`World`] is what one `<world>` means; its parts are in the modules below. Numbers that the file
//! leaves out have the defaults of the SDFormat specification. Big data that several shapes share
//! (meshes, heightmaps) is kept once per world and referred to by index.

mod actor;
mod appearance;
mod content;
mod environment;
mod geometry;
mod joint;
mod link;
mod model;
mod script;
mod surface;

use serde::{Deserialize, Serialize};

use crate::visual_files::VisualFile;

pub use actor::{Actor, Animation, Skin};
pub use appearance::{
    Color, Fog, GroundBlend, GroundTexture, Light, Material, Pbr, Sky, Surroundings, Visual,
};
pub use content::{Content, ContentNode, Plugin, Sensor};
pub use environment::{Atmosphere, Physics, Solver, SphericalCoordinates};
pub use geometry::{ConvexDecomposition, Geometry, HeightmapShape, MeshApproximation, MeshShape};
pub use joint::{Axis, Joint, JointEnd, JointKind, JointParent, LinkReference, Mimic, WorldJoint};
pub use link::{Collision, Inertial, Link};
pub use model::{Model, NamedFrame, NestedModel};
pub use script::{Progress, Script, Trajectory, Waypoint};
pub use surface::Surface;

/// One `<world>`, or the world made around the only model of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Its name.
    pub name: String,
    /// Step size, pace and engine settings.
    pub physics: Physics,
    /// Gravity, world frame \[m/s^2\].
    pub gravity: [f64; 3],
    /// The earth's magnetic field, world frame \[T\].
    pub magnetic_field: [f64; 3],
    /// Wind, world frame \[m/s\].
    pub wind: [f64; 3],
    /// Air.
    pub atmosphere: Atmosphere,
    /// Place of the origin on earth, if the file says so.
    pub spherical_coordinates: Option<SphericalCoordinates>,
    /// Its explicit frames, in file order.
    pub frames: Vec<NamedFrame>,
    /// Top-level models in file order; nested models are part of them.
    pub models: Vec<Model>,
    /// Joints between models, in file order.
    pub joints: Vec<WorldJoint>,
    /// Lights in file order.
    pub lights: Vec<Light>,
    /// Actors in file order.
    pub actors: Vec<Actor>,
    /// Plugins of the world, in file order.
    pub plugins: Vec<Plugin>,
    /// Custom elements (`name:space`) of the world.
    pub custom: Vec<Content>,
    /// The meshes that collisions refer to.
    pub meshes: Vec<mesh::TriangleMesh>,
    /// The height grids that collisions refer to.
    pub height_grids: Vec<mesh::HeightGrid>,
    /// Levels in file order.
    pub levels: Vec<Level>,
    /// Declared performers in file order.
    pub performers: Vec<Performer>,
    /// Light and colours around everything.
    pub surroundings: Surroundings,
    /// The meshes and images that visuals and skins name, where a sensor draws them.
    #[serde(default)]
    pub visual_files: Vec<VisualFile>,
    /// Number of performers above which a level is split into parts; `None` splits none.
    #[serde(default)]
    pub split_above: Option<u32>,
}

/// A region of a world; its box is axis-aligned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// Centre of its box, world frame \[m\].
    pub center: [f64; 3],
    /// Edge lengths of its box \[m\].
    pub size: [f64; 3],
    /// Width of the buffer around the box \[m\].
    pub buffer: f64,
    /// Names of the models that it refers to.
    pub models: Vec<String>,
}

/// A model declared to be a performer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Performer {
    /// Its name as a performer.
    pub name: String,
    /// The name of the model.
    pub model: String,
    /// Edge lengths of the box around it, centred on the model's origin \[m\].
    pub size: [f64; 3],
}

/// Returns worlds as bytes, for the wire and for digests.
///
/// # Panics
/// Never: worlds hold only what `MessagePack` can express.
pub fn encode_worlds(worlds: &[World]) -> Vec<u8> {
    msgpack::to_vec(worlds).expect("worlds hold only what MessagePack can express")
}

/// Returns the worlds in bytes made by [`encode_worlds`].
///
/// # Errors
/// Fails if the bytes are not such worlds, or an index in them leads to nothing: bytes may come
/// from another machine, or from a file that somebody made.
pub fn decode_worlds(bytes: &[u8]) -> Result<Vec<World>, msgpack::Error> {
    let worlds: Vec<World> = msgpack::from_slice(bytes)?;
    match worlds.iter().find_map(World::dangling) {
        Some(what) => Err(serde::de::Error::custom(what)),
        None => Ok(worlds),
    }
}

impl World {
    /// Says which index leads to nothing, if any does.
    fn dangling(&self) -> Option<String> {
        let data = [self.meshes.len(), self.height_grids.len()];
        let of_models = self.models.iter().find_map(|model| model.dangling(data));
        of_models.or_else(|| {
            let is_there = |link: LinkReference| {
                let model = self.models.get(link.model);
                model.is_some_and(|model| link.link < model.links.len())
            };
            let holds_links = |joint: &&WorldJoint| {
                let parent = match joint.parent {
                    JointEnd::World => true,
                    JointEnd::Link(link) => is_there(link),
                };
                parent && is_there(joint.child)
            };
            let mut joints = self.joints.iter();
            let joint = joints.find(|joint| !holds_links(joint))?;
            let (joint, world) = (&joint.name, &self.name);
            Some(format!(
                "the joint {joint:?} of the world {world:?} holds no link of it"
            ))
        })
    }
}

#[cfg(test)]
mod tests;
