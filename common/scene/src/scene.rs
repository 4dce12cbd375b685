//! [`Scene`]: all that is drawn of a run's worlds, as JSON.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::assets::AssetId;
use crate::geometry::Geometry;
use crate::light::Light;
use crate::material::Material;
use crate::motion::Motion;

/// Axes and units of all numbers of a scene.
pub const FRAME: &str = "z-up, metres, radians; quaternions x,y,z,w";

/// A position \[m\], x, y, z, and an orientation as a unit quaternion, x, y, z, w.
pub type Pose = [f64; 7];

/// All that is drawn of a run's worlds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Axes and units: [`FRAME`].
    pub frame: String,
    /// The worlds, in the order of the run.
    pub worlds: Vec<World>,
    /// Content that could not be drawn, for people: files that are not found or not read.
    pub problems: Vec<String>,
    /// The numbers that the next model and the next link get.
    #[serde(skip)]
    pub(crate) next_model: u32,
    #[serde(skip)]
    pub(crate) next_link: u32,
}

impl Scene {
    /// Returns the assets that it refers to.
    pub fn assets(&self) -> BTreeSet<AssetId> {
        let models = self.worlds.iter().flat_map(|world| &world.models);
        models.flat_map(Model::assets).collect()
    }
}

impl Model {
    /// Returns the assets that it refers to.
    pub(crate) fn assets(&self) -> BTreeSet<AssetId> {
        let links = self.links.iter();
        let mut found = BTreeSet::new();
        let mut add = |path: &str| found.extend(path.parse::<AssetId>().ok());
        for link in links {
            let visuals = link.visuals.iter().map(|visual| &visual.geometry);
            let collisions = link.collisions.iter().map(|collision| &collision.geometry);
            for geometry in visuals.chain(collisions) {
                if let Geometry::Mesh { asset, .. } | Geometry::Heightmap { asset } = geometry {
                    add(asset);
                }
            }
            let materials = link
                .visuals
                .iter()
                .filter_map(|visual| visual.material.as_ref());
            for map in materials.flat_map(Material::maps) {
                add(map);
            }
        }
        found
    }
}

/// All that is drawn of one world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Its name.
    pub world: String,
    /// Gravity, world frame \[m/s^2\].
    pub gravity: [f64; 3],
    /// Light that comes from everywhere: red, green, blue, 0 to 1.
    pub ambient: [f64; 3],
    /// Colour behind everything.
    pub background: [f64; 3],
    /// The sky, if the world has one; it is drawn instead of the background.
    pub sky: Option<Sky>,
    /// Fog, if there is any.
    pub fog: Option<Fog>,
    /// True if a grid is drawn on the ground.
    pub grid: bool,
    /// True if shadows are drawn at all.
    pub shadows: bool,
    /// The lights of the world and of its links.
    pub lights: Vec<Light>,
    /// The models that are there, by number; the actors of the world stand after its models, and
    /// before those that came later.
    pub models: Vec<Model>,
    /// The levels.
    pub levels: Vec<Level>,
    /// The frames that have names: the world's own, and those of models that never move.
    #[serde(default)]
    pub frames: Vec<Frame>,
}

/// A frame with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Its name; those of models are named `model::frame`.
    pub name: String,
    /// Pose at the start, world frame.
    pub pose: Pose,
    /// Number of the link that it is fixed to; `None` for the world.
    pub link: Option<u32>,
}

/// The sky of a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sky {
    /// Hour of the day, 0 to 24.
    pub time: f64,
    /// Hour at which the sun rises.
    pub sunrise: f64,
    /// Hour at which it sets.
    pub sunset: f64,
}

/// Fog of a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fog {
    /// Growth of the fog with distance.
    #[serde(rename = "type")]
    pub kind: FogKind,
    /// Its colour.
    pub color: [f64; 3],
    /// Distance at which linear fog begins \[m\].
    pub start: f64,
    /// Distance at which linear fog hides everything \[m\].
    pub end: f64,
    /// Density of exponential fog \[1/m\].
    pub density: f64,
}

/// Growth of fog with distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FogKind {
    /// From its start to its end.
    Linear,
    /// 1 - exp(-density distance).
    Exponential,
    /// 1 - exp(-(density distance)^2).
    Quadratic,
}

/// A model, or an actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Its number, which no other model of the run has while it is there.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// True if it moves, or is declared a performer.
    pub performer: bool,
    /// True if it never moves.
    #[serde(rename = "static")]
    pub is_static: bool,
    /// True if it came after the start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spawned: bool,
    /// Pose of its origin at the start, world frame.
    pub pose: Pose,
    /// The link that its origin is attached to, as an index into `links`.
    pub canonical_link: usize,
    /// Its links; those of nested models are named `nested::link`.
    pub links: Vec<Link>,
    /// The script that it goes by, if it is an actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<Motion>,
}

/// A link of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its number, by which poses refer to it; no other link of the run has it.
    pub id: u32,
    /// Its name within the model.
    pub name: String,
    /// Pose at the start, world frame.
    pub pose: Pose,
    /// Shapes that are drawn.
    pub visuals: Vec<Visual>,
    /// Shapes that collide, to be drawn on request.
    pub collisions: Vec<Collision>,
    /// The sensors that it carries.
    pub sensors: Vec<Sensor>,
}

/// A sensor of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensor {
    /// Its name within the link.
    pub name: String,
    /// Its type: `imu`, `gpu_lidar`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Pose, link frame.
    pub pose: Pose,
    /// The topic that the file names; `None` for the one that follows from its name.
    pub topic: Option<String>,
}

/// A shape that is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visual {
    /// Its name within the link.
    pub name: String,
    /// Pose, link frame.
    pub pose: Pose,
    /// Its shape.
    pub geometry: Geometry,
    /// Its material; `None` has a mesh drawn with its own, and any other shape in grey.
    pub material: Option<Material>,
    /// Part of the light that passes through, whatever the material: 0 is opaque, 1 invisible.
    pub transparency: f64,
    /// True if it casts shadows.
    pub cast_shadows: bool,
    /// Bits of the cameras that see it.
    pub visibility_flags: u32,
}

/// A shape that collides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collision {
    /// Its name within the link.
    pub name: String,
    /// Pose, link frame.
    pub pose: Pose,
    /// Its shape.
    pub geometry: Geometry,
    /// Corners with the least and the greatest coordinates, frame of the shape \[m\]; `None` for
    /// planes, which have none, and for what touches nothing.
    #[serde(default)]
    pub extent: Option<[[f64; 3]; 2]>,
}

/// A level: an axis-aligned box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Its name as reports have it.
    pub name: String,
    /// Centre of its box, world frame.
    pub pose: Pose,
    /// Edge lengths \[m\]; zero for the default level, which is everywhere.
    pub size: [f64; 3],
    /// Width of the buffer around it \[m\].
    pub buffer: f64,
    /// True for the level of everything that no other has.
    pub default: bool,
}
