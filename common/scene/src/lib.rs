//! From worlds to all that is drawn of them: shapes, materials, lights, and the meshes and textures
//! that these name, by their content.
//!
//! [`Scene`] is the JSON of `/phalanx/scene`; [`Assets`] holds the files that it refers to as
//! `/assets/ID.glb` and the like. Nothing here opens a file but through an [`sdf::Resolver`], and
//! nothing knows a run: where links are comes from elsewhere, by the numbers that they have here.

mod assets;
mod build;
mod changing;
mod files;
mod geometry;
mod ground;
mod light;
mod material;
mod motion;
mod scene;
mod script;

pub use assets::{Asset, AssetId, Assets, AssetsError, MediaType, ParseAssetIdError};
pub use changing::{ChangingScene, KeptModel};
pub use geometry::Geometry;
pub use ground::{Ground, GroundLayer};
pub use light::{Attenuation, Light, LightKind, Spot};
pub use material::Material;
pub use motion::Motion;
pub use scene::{
    Collision, FRAME, Fog, FogKind, Frame, Level, Link, Model, Pose, Scene, Sensor, Sky, Visual,
    World,
};
