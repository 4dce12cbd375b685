//! [`Material`]: look of a surface.

use serde::{Deserialize, Serialize};

/// Look of a surface. Textures are assets: `/assets/ID.png`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Colour under light from everywhere: red, green, blue, alpha, 0 to 1.
    pub ambient: [f64; 4],
    /// Colour under light from somewhere; it multiplies the texture.
    pub diffuse: [f64; 4],
    /// Colour of highlights.
    pub specular: [f64; 4],
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
}
