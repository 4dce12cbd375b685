//! Looks of things, which physics does not touch: visuals with their materials, lights, and the
//! surroundings of a world.

use serde::{Deserialize, Serialize};

use super::{Content, Geometry, Plugin};
use crate::pose::Pose;

/// Red, green, blue, alpha, 0 to 1.
pub type Color = [f64; 4];

/// A `<visual>` of a link, for viewers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visual {
    /// Its name within the link.
    pub name: String,
    /// Pose, link frame.
    pub pose: Pose,
    /// Its shape; the files of meshes are named and not read.
    pub geometry: Geometry,
    /// Its material, if it has one.
    pub material: Option<Material>,
    /// 0 is opaque, 1 invisible.
    pub transparency: f64,
    /// True if it casts shadows.
    pub cast_shadows: bool,
    /// Bits of the cameras that see it.
    pub visibility_flags: u32,
    /// Textures of a heightmap, the lowest first.
    pub ground: Vec<GroundTexture>,
    /// The file that it stands in, beside which the files that it names are looked for; empty
    /// where it names none.
    pub file: String,
    /// Plugins that say what it is, such as its label.
    #[serde(default)]
    pub plugins: Vec<Plugin>,
}

impl Visual {
    /// Returns the diffuse colour of its material, if that has one.
    pub fn color(&self) -> Option<Color> {
        self.material.as_ref()?.diffuse
    }
}

/// A `<material>`; colours that the file leaves out are `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// The name of the script that it is from: `Gazebo/Red`; empty without one.
    pub script: String,
    /// Colour under light from everywhere.
    pub ambient: Option<Color>,
    /// Colour under light from somewhere.
    pub diffuse: Option<Color>,
    /// Colour of highlights.
    pub specular: Option<Color>,
    /// Colour that it sends out by itself.
    pub emissive: Option<Color>,
    /// Width of highlights: the exponent of the cosine, 0 where it is not said.
    pub shininess: f64,
    /// False if lights do not matter.
    pub lighting: bool,
    /// True if it is seen from behind, too.
    pub double_sided: bool,
    /// Its physically based part, if it has one.
    pub pbr: Option<Pbr>,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            script: String::new(),
            ambient: None,
            diffuse: None,
            specular: None,
            emissive: None,
            shininess: 0.0,
            lighting: true,
            double_sided: false,
            pbr: None,
        }
    }
}

/// The `<metal>` of a `<pbr>`, or its `<specular>` with what that says of metalness and roughness.
/// Maps are URIs of images, empty where there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pbr {
    /// Colours.
    pub albedo_map: String,
    /// Normals.
    pub normal_map: String,
    /// Roughness.
    pub roughness_map: String,
    /// Metalness.
    pub metalness_map: String,
    /// Light that it sends out by itself.
    pub emissive_map: String,
    /// 0 for plastic, 1 for metal.
    pub metalness: f64,
    /// 0 for a mirror, 1 for chalk.
    pub roughness: f64,
}

/// A texture of a heightmap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundTexture {
    /// Edge length of one copy of it \[m\].
    pub size: f64,
    /// URI of its colours.
    pub diffuse: String,
    /// URI of its normals; empty without.
    pub normal: String,
    /// Heights at which it covers the textures before it; `None` for the first, and for what has no
    /// `<blend>`.
    #[serde(default)]
    pub blend: Option<GroundBlend>,
}

/// A `<blend>` of a heightmap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundBlend {
    /// Height above the base from which a texture is seen \[m\].
    pub min_height: f64,
    /// Height above that at which it covers all before it \[m\].
    pub fade_distance: f64,
}

impl GroundBlend {
    /// Returns the part of the ground at a height above the base that the texture covers.
    pub fn share(&self, height: f64) -> f64 {
        let above = height - self.min_height;
        if above < 0.0 {
            0.0
        } else if above < self.fade_distance {
            above / self.fade_distance
        } else {
            1.0
        }
    }
}

/// A `<light>` of a world or link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Light {
    /// Its name.
    pub name: String,
    /// `point`, `directional` or `spot`.
    pub kind: String,
    /// Pose: world frame in a world, link frame in a link.
    pub pose: Pose,
    /// Colour of its light on dull surfaces.
    pub diffuse: Color,
    /// Colour of its highlights.
    pub specular: Color,
    /// Factor of its colours.
    pub intensity: f64,
    /// Vector along which it shines, frame of the light.
    pub direction: [f64; 3],
    /// Distance beyond which it lights nothing \[m\].
    pub range: f64,
    /// Factors c, l, q of its decrease 1 / (c + l d + q d^2) with the distance d \[m\].
    pub attenuation: [f64; 3],
    /// Inner and outer full angle of the cone of a spot light \[rad\], and the exponent of the
    /// decrease between both.
    pub spot: [f64; 3],
    /// True if what it lights casts shadows.
    pub cast_shadows: bool,
    /// True if it shines.
    pub is_on: bool,
    /// The element with its parameters.
    pub content: Content,
}

/// Surroundings of a world: its `<scene>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Light that comes from everywhere.
    pub ambient: Color,
    /// Colour behind everything.
    pub background: Color,
    /// The sky, if there is one.
    pub sky: Option<Sky>,
    /// Fog, if there is any.
    pub fog: Option<Fog>,
    /// True if shadows are drawn.
    pub shadows: bool,
    /// True if a grid is drawn on the ground.
    pub grid: bool,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            ambient: [0.4, 0.4, 0.4, 1.0],
            background: [0.7, 0.7, 0.7, 1.0],
            sky: None,
            fog: None,
            shadows: true,
            grid: true,
        }
    }
}

/// A `<sky>`; hours of a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sky {
    /// The time.
    pub time: f64,
    /// Sunrise.
    pub sunrise: f64,
    /// Sunset.
    pub sunset: f64,
}

/// A `<fog>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fog {
    /// `linear`, `exp` or `exp2`.
    pub kind: String,
    /// Its colour.
    pub color: Color,
    /// Distance at which linear fog begins \[m\].
    pub start: f64,
    /// Distance at which linear fog hides everything \[m\].
    pub end: f64,
    /// Density of the others \[1/m\].
    pub density: f64,
}
