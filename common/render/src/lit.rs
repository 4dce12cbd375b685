//! [`Look`]: a material as it is lit.

use crate::light::{Lamp, Reach};
use crate::raster::Sample;
use crate::shadow::ShadowMap;
use crate::texture::Texture;

/// Part of the light that comes straight back from what is no metal.
const REFLECTANCE: f32 = 0.04;

/// Parts of the light from everywhere, and of that from lamps, that pictures show: worlds are made
/// for viewers in which a white wall in the sun and full ambient light is not yet blinding.
const AMBIENT_PART: f32 = 0.4;
const LAMP_PART: f32 = 0.8;

/// A material in amounts of light; textures are numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Look {
    /// Red, green, blue, and alpha.
    pub(crate) color: [f32; 4],
    pub(crate) emissive: [f32; 3],
    pub(crate) metalness: f32,
    pub(crate) roughness: f32,
    pub(crate) texture: Option<usize>,
    pub(crate) emissive_texture: Option<usize>,
    /// Alpha of the texture below which nothing is drawn, unless it blends.
    pub(crate) cutoff: f32,
    /// True if it blends with what is behind it.
    pub(crate) blends: bool,
    /// False if lights do not matter.
    pub(crate) is_lit: bool,
}

/// The lights of a picture.
pub(crate) struct Lighting {
    /// Light from everywhere.
    pub(crate) ambient: [f32; 3],
    pub(crate) lamps: Vec<Lamp>,
    /// The number of the lamp that casts shadows, with its map.
    pub(crate) shadow: Option<(usize, ShadowMap)>,
    /// The direction that is up, frame of the camera.
    pub(crate) up: [f32; 3],
}

impl Look {
    /// Returns the colour of a sample, and its alpha.
    pub(crate) fn shade(
        &self,
        sample: &Sample,
        footprint: impl Fn() -> [f32; 2],
        textures: &[Texture],
        lighting: &Lighting,
    ) -> [f32; 4] {
        let of = |number: Option<usize>| {
            number.map(|number| textures[number].sample(sample.texcoord, footprint()))
        };
        let mut color = self.color;
        if let Some(texel) = of(self.texture) {
            color = std::array::from_fn(|i| color[i] * texel[i]);
        }
        if !self.blends && color[3] < self.cutoff {
            return [0.0; 4];
        }
        let [red, green, blue, alpha] = color;
        let albedo = [red, green, blue];
        let own = of(self.emissive_texture).unwrap_or([1.0; 4]);
        let emissive: [f32; 3] = std::array::from_fn(|i| self.emissive[i] * own[i]);
        let light = if self.is_lit {
            self.light(sample, albedo, lighting)
        } else {
            albedo
        };
        let alpha = if self.blends { alpha } else { 1.0 };
        let [red, green, blue] = std::array::from_fn(|i| light[i] + emissive[i]);
        [red, green, blue, alpha]
    }

    /// Returns the light that comes back from a sample.
    fn light(&self, sample: &Sample, albedo: [f32; 3], lighting: &Lighting) -> [f32; 3] {
        let view = unit(sample.at.map(|x| -x));
        let mut normal = unit(sample.normal);
        // What is seen from behind is lit from behind.
        if dot(normal, view) < 0.0 {
            normal = normal.map(|x| -x);
        }
        let dull = 1.0 - 0.6 * self.metalness;
        let above = 0.85 + 0.15 * dot(normal, lighting.up);
        let mut sum: [f32; 3] =
            std::array::from_fn(|i| AMBIENT_PART * albedo[i] * lighting.ambient[i] * above);
        let width = (self.roughness * self.roughness).max(0.02);
        let exponent = (2.0 / (width * width) - 2.0).clamp(1.0, 1000.0);
        for (number, lamp) in lighting.lamps.iter().enumerate() {
            let (towards, mut amount) = lamp.at(sample.at);
            let facing = dot(normal, towards);
            if amount <= 0.0 || facing <= 0.0 {
                continue;
            }
            if let Some((shaded, map)) = &lighting.shadow
                && *shaded == number
            {
                amount *= map.light(sample.at.map(f64::from), normal.map(f64::from));
            }
            let half = unit(std::array::from_fn(|i| towards[i] + view[i]));
            let highlight = libm::powf(dot(normal, half).max(0.0), exponent);
            let highlight = highlight * (exponent + 8.0) / 25.0;
            for i in 0..3 {
                let mirror = REFLECTANCE + (albedo[i] - REFLECTANCE) * self.metalness;
                let back = dull * albedo[i] + mirror * highlight;
                sum[i] += LAMP_PART * lamp.color[i] * amount * facing * back;
            }
        }
        sum
    }
}

impl Lighting {
    /// Returns the lamp whose shadows are drawn, with the direction of its light.
    pub(crate) fn sun(lamps: &[Lamp]) -> Option<(usize, [f64; 3])> {
        let mut numbered = lamps.iter().enumerate();
        numbered.find_map(|(number, lamp)| match lamp.reach {
            Reach::Far(along) if lamp.casts_shadows => Some((number, along)),
            Reach::Far(_) | Reach::Near { .. } => None,
        })
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(a: [f32; 3]) -> [f32; 3] {
    let length = dot(a, a).sqrt();
    if length > 0.0 {
        a.map(|x| x / length)
    } else {
        a
    }
}
