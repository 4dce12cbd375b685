//! [`Material`]: look of a surface.

use serde::{Deserialize, Serialize};

use crate::files::Files;
use crate::ground::Ground;
use crate::script;

/// Look of a surface. Textures are assets: `/assets/ID.png`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Colour under light from everywhere: red, green, blue, alpha, 0 to 1.
    pub ambient: [f64; 4],
    /// Colour under light from somewhere; it multiplies the texture.
    pub diffuse: [f64; 4],
    /// Factors of highlights, red, green, blue; the fourth says nothing.
    pub specular: [f64; 4],
    /// Exponent of the cosine in highlights, whose colour is `specular` alone; 0 where roughness
    /// and metalness say how they look.
    #[serde(default)]
    pub shininess: f64,
    /// Colour that it sends out by itself.
    pub emissive: [f64; 4],
    /// 0 for plastic, 1 for metal.
    pub metalness: f64,
    /// 0 for a mirror, 1 for chalk.
    pub roughness: f64,
    /// Part of the light that passes through: 1 minus the alpha of `diffuse`.
    pub transparency: f64,
    /// Texture of colours.
    pub texture: Option<String>,
    /// Times that the texture repeats along u and v.
    pub texture_repeat: [f64; 2],
    /// Texture of normals, in the tangent frame.
    pub normal_map: Option<String>,
    /// Texture of roughness.
    pub roughness_map: Option<String>,
    /// Texture of metalness.
    pub metalness_map: Option<String>,
    /// Texture of the light that it sends out by itself.
    pub emissive_map: Option<String>,
    /// True if it is seen from behind, too.
    pub double_sided: bool,
    /// False if lights do not matter: it has its diffuse colour everywhere.
    pub lighting: bool,
    /// Layers over the texture, of a heightmap that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<Ground>,
}

impl Material {
    /// Returns the assets of all its textures.
    pub fn maps(&self) -> impl Iterator<Item = &str> {
        let maps = [
            &self.texture,
            &self.normal_map,
            &self.roughness_map,
            &self.metalness_map,
            &self.emissive_map,
        ];
        let maps = maps.into_iter().filter_map(|map| map.as_deref());
        maps.chain(self.ground.iter().flat_map(Ground::maps))
    }
}

/// Colour of what says none, red, green and blue.
const GREY: [f64; 3] = [0.7; 3];

/// Roughness of what says none, as in Gazebo.
const ROUGHNESS: f64 = 0.5;

/// Factors of highlights of what has none, and of what is physically based and says nothing else.
const BLACK: [f64; 4] = [0.0, 0.0, 0.0, 1.0];
const WHITE: [f64; 4] = [1.0; 4];

/// Makes the material of a visual that stands in a file; `visual` is its scoped name.
///
/// A colour that is left out is that of the script, if it names a known one. A diffuse colour that
/// is said nowhere is white under a texture, else the ambient one, else grey.
pub(crate) fn of(
    material: &sdf::Material,
    file: &str,
    visual: &str,
    files: &mut Files<'_>,
) -> Material {
    let script = script::colors(&material.script);
    if script.is_none() && !material.script.is_empty() {
        let name = &material.script;
        files.tell(format!(
            "{visual} has a material {name:?} that is not known: it is grey"
        ));
    }
    let opaque = |[red, green, blue]: [f64; 3]| [red, green, blue, 1.0];
    let pbr = material.pbr.as_ref();
    let mut map = |uri: fn(&sdf::Pbr) -> &String| {
        let uri = pbr.map(uri)?;
        files.image(uri, file, visual)
    };
    let texture = map(|pbr| &pbr.albedo_map);
    let of_script = script.map(|script| {
        let [red, green, blue] = script.diffuse;
        [red, green, blue, script.opacity]
    });
    let plain = || texture.as_ref().map(|_| [1.0; 4]).or(material.ambient);
    let diffuse = material.diffuse.or(of_script).or_else(plain);
    let diffuse = diffuse.unwrap_or(opaque(GREY));
    let emissive_map = map(|pbr| &pbr.emissive_map);
    let emissive = if emissive_map.is_some() {
        [1.0; 3]
    } else {
        [0.0; 3]
    };
    let shininess = if pbr.is_some() {
        0.0
    } else {
        material.shininess
    };
    let roughness = match pbr {
        Some(pbr) => pbr.roughness,
        // That of a highlight as wide.
        None if shininess > 0.0 => (2.0 / (shininess + 2.0)).sqrt().sqrt(),
        None => ROUGHNESS,
    };
    let plain_specular = if pbr.is_some() { WHITE } else { BLACK };
    Material {
        ambient: material
            .ambient
            .or(script.map(|script| opaque(script.ambient)))
            .unwrap_or(diffuse),
        specular: material
            .specular
            .or(script.map(|script| opaque(script.specular)))
            .unwrap_or(plain_specular),
        shininess,
        emissive: material
            .emissive
            .or(script.map(|script| opaque(script.emissive)))
            .unwrap_or(opaque(emissive)),
        metalness: pbr.map_or(0.0, |pbr| pbr.metalness),
        roughness,
        transparency: 1.0 - diffuse[3],
        diffuse,
        normal_map: map(|pbr| &pbr.normal_map),
        roughness_map: map(|pbr| &pbr.roughness_map),
        metalness_map: map(|pbr| &pbr.metalness_map),
        emissive_map,
        texture,
        texture_repeat: [1.0; 2],
        double_sided: material.double_sided,
        lighting: material.lighting,
        ground: None,
    }
}

/// Makes the material of ground with layers over its texture, if that was found.
pub(crate) fn of_ground(texture: Option<String>, ground: Ground) -> Material {
    let [red, green, blue] = GREY;
    let diffuse = if texture.is_some() {
        WHITE
    } else {
        [red, green, blue, 1.0]
    };
    Material {
        ambient: diffuse,
        diffuse,
        specular: BLACK,
        shininess: 0.0,
        emissive: BLACK,
        metalness: 0.0,
        roughness: 1.0,
        transparency: 0.0,
        texture,
        texture_repeat: [1.0; 2],
        normal_map: None,
        roughness_map: None,
        metalness_map: None,
        emissive_map: None,
        double_sided: false,
        lighting: true,
        ground: Some(ground),
    }
}
