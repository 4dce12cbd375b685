//! [`Look`]: a material as it is lit.

use std::sync::Arc;

use crate::lanes::{Lanes, Vectors, dot, each, lane, lanes_of, power, unit, vectors};
use crate::light::Lamp;
use crate::raster::Sample;
use crate::region::Placing;
use crate::shadow::Shadows;
use crate::texture::Texture;

/// Part of the light that comes straight back from what is no metal.
const REFLECTANCE: f32 = 0.04;

/// Part of the light from everywhere that pictures show: worlds are made for viewers in which a
/// white wall in the sun and full ambient light is not yet blinding.
pub const AMBIENT_PART: f32 = 0.4;

/// Part of the light from lamps that pictures show.
pub const LAMP_PART: f32 = 0.8;

/// A material in amounts of light.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Red, green, blue, and alpha.
    pub color: [f32; 4],
    /// Light of its own: red, green, blue.
    pub emissive: [f32; 3],
    /// From 0 to 1, for a metal.
    pub metalness: f32,
    /// Light that comes straight back from it.
    pub highlight: Highlight,
    /// The texture that its colour is multiplied by, as an index into those of its stage.
    pub texture: Option<usize>,
    /// The same for light of its own.
    pub emissive_texture: Option<usize>,
    /// The texture by which normals lean.
    pub normal_texture: Option<usize>,
    /// Factor of how far they do.
    pub normal_scale: f32,
    /// Alpha of the texture below which nothing is drawn, unless it blends.
    pub cutoff: f32,
    /// True if it blends with what is behind it.
    pub blends: bool,
    /// False if lights do not matter.
    pub is_lit: bool,
    /// True if it is seen from behind, too, by whoever does not see all backs.
    pub(crate) has_back: bool,
    /// Layers over its texture, of ground that has some.
    pub layers: Option<Layers>,
}

/// Textures that cover the one below by their shares. All are indices into those of the stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// The texture of the shares: red of the first layer, green of the second, blue of the third.
    pub shares: usize,
    /// Factors of coordinates along u and v, and what is added, for a place in that.
    pub shares_at: [f32; 4],
    /// Textures of layers, with factors of coordinates.
    pub textures: [Option<(usize, f32)>; 3],
}

impl Layers {
    /// Returns a colour as the layers leave it.
    fn over(
        &self,
        below: [f32; 4],
        [u, v]: [f32; 2],
        footprint: [f32; 2],
        textures: &[Arc<Texture>],
    ) -> [f32; 4] {
        let [along, down, first, top] = self.shares_at;
        let covered = [footprint[0] * along, footprint[1] * down];
        let at = [u * along + first, v * down + top];
        let shares = textures[self.shares].sample(at, covered);
        let mut color = below;
        for (layer, share) in self.textures.iter().zip(shares) {
            let Some((texture, repeat)) = layer else {
                continue;
            };
            let covered = footprint.map(|edge| edge * repeat);
            let own = textures[*texture].sample([u * repeat, v * repeat], covered);
            for (part, own) in color.iter_mut().zip(own) {
                *part += (own - *part) * share;
            }
        }
        color
    }
}

/// Light that comes straight back from a surface: by Blinn and Phong, a power of the cosine between
/// the normal and the direction halfway from the light to the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Highlight {
    /// Exponent of that cosine.
    pub exponent: f32,
    /// Red, green and blue of what has no metal.
    pub plain: [f32; 3],
    /// Factors of the colour of the surface: what metals add.
    pub of_color: [f32; 3],
}

impl Highlight {
    /// Makes that of a surface by its roughness and metalness, as bright as it is narrow; `tint`
    /// multiplies it.
    pub(crate) fn of_roughness(roughness: f32, metalness: f32, tint: [f32; 3]) -> Self {
        let width = (roughness * roughness).max(0.02);
        let exponent = (2.0 / (width * width) - 2.0).clamp(1.0, 1000.0);
        let strength = (exponent + 8.0) / 8.0;
        Self {
            exponent,
            plain: tint.map(|part| part * strength * REFLECTANCE * (1.0 - metalness)),
            of_color: tint.map(|part| part * strength * metalness),
        }
    }

    /// Makes one of a colour and an exponent, as SDFormat has them.
    pub(crate) fn of_shininess(shininess: f32, color: [f32; 3]) -> Self {
        Self {
            exponent: shininess.clamp(0.1, 1000.0),
            plain: color,
            of_color: [0.0; 3],
        }
    }

    /// Tells whether nothing is to be seen of it.
    fn is_none(&self) -> bool {
        self.plain == [0.0; 3] && self.of_color == [0.0; 3]
    }
}

/// The lights of a picture.
pub(crate) struct Lighting<'a> {
    /// Light from everywhere.
    pub(crate) ambient: [f32; 3],
    pub(crate) lamps: Vec<Lamp>,
    /// The maps of shadows of each lamp, with how places come onto them; none of those that cast
    /// none.
    pub(crate) shadows: Vec<Vec<(&'a Shadows, Placing)>>,
    /// The direction that is up, frame of the camera.
    pub(crate) up: [f32; 3],
}

impl Look {
    /// Returns the colours of samples, and their alpha; the rest tells of a sample by its number.
    pub(crate) fn shade<const N: usize>(
        &self,
        samples: &[Sample; N],
        footprint: impl Fn(usize) -> [f32; 2],
        tangents: impl Fn(usize) -> Option<[[f32; 3]; 2]>,
        textures: &[Arc<Texture>],
        lighting: &Lighting<'_>,
    ) -> [[f32; 4]; N] {
        let of = |texture: Option<usize>, i: usize| {
            texture.map(|texture| textures[texture].sample(samples[i].texcoord, footprint(i)))
        };
        let colors: [[f32; 4]; N] = std::array::from_fn(|i| {
            let own = match of(self.texture, i) {
                Some(texel) => std::array::from_fn(|part| self.color[part] * texel[part]),
                None => self.color,
            };
            let layers = self.layers.as_ref();
            layers.map_or(own, |layers| {
                layers.over(own, samples[i].texcoord, footprint(i), textures)
            })
        });
        let albedo = vectors(|part, i| colors[i][part]);
        let light = if self.is_lit {
            let normals = unit(&lanes_of(|i| samples[i].normal));
            let leans = self.normal_texture.map(|_| {
                lanes_of(|i| {
                    let normal = lane(&normals, i);
                    let texel = of(self.normal_texture, i);
                    let seen = texel.and_then(|texel| Some((texel, tangents(i)?)));
                    seen.map_or(normal, |(texel, tangents)| {
                        leaning(normal, tangents, texel, self.normal_scale)
                    })
                })
            });
            self.light(samples, normals, leans, &albedo, lighting)
        } else {
            albedo
        };
        std::array::from_fn(|i| {
            let alpha = colors[i][3];
            if !self.blends && alpha < self.cutoff {
                return [0.0; 4];
            }
            let own = of(self.emissive_texture, i).unwrap_or([1.0; 4]);
            let [red, green, blue] =
                std::array::from_fn(|part| light[part][i] + self.emissive[part] * own[part]);
            [red, green, blue, if self.blends { alpha } else { 1.0 }]
        })
    }

    /// Returns the light that comes back from samples, by the normals of their surface and those
    /// that its texture makes of them.
    fn light<const N: usize>(
        &self,
        samples: &[Sample; N],
        mut flat: Vectors<N>,
        leans: Option<Vectors<N>>,
        albedo: &Vectors<N>,
        lighting: &Lighting<'_>,
    ) -> Vectors<N> {
        let view = unit(&lanes_of(|i| samples[i].at.map(|x| -x)));
        let mut normal = leans.unwrap_or(flat);
        // What is seen from behind is lit from behind.
        let away = dot(&flat, &view);
        for part in flat.iter_mut().chain(&mut normal) {
            for (part, away) in part.iter_mut().zip(away) {
                *part = if away < 0.0 { -*part } else { *part };
            }
        }
        let dull = 1.0 - 0.6 * self.metalness;
        let up = dot(&normal, &lighting.up.map(|part| [part; N]));
        let mut sum: Vectors<N> = vectors(|part, i| {
            let above = 0.85 + 0.15 * up[i];
            AMBIENT_PART * albedo[part][i] * lighting.ambient[part] * above
        });
        let shine = Some(self.highlight).filter(|highlight| !highlight.is_none());
        for (number, lamp) in lighting.lamps.iter().enumerate() {
            let (towards, mut amount) = lamp.at(samples);
            let facing = dot(&normal, &towards);
            let shadows = &*lighting.shadows[number];
            for (i, sample) in samples.iter().enumerate() {
                if amount[i] <= 0.0 || facing[i] <= 0.0 {
                    amount[i] = 0.0;
                } else if !shadows.is_empty() {
                    amount[i] *= unshaded(shadows, sample.at, lane(&flat, i));
                }
            }
            if amount.iter().all(|amount| *amount <= 0.0) {
                continue;
            }
            let lit: Lanes<N> = each(|i| LAMP_PART * amount[i] * facing[i]);
            sum = vectors(|part, i| {
                let more = lit[i] * (lamp.color[part] * dull * albedo[part][i]);
                let sum = sum[part][i];
                if amount[i] > 0.0 { sum + more } else { sum }
            });
            if let Some(shine) = shine {
                let between = vectors(|part, i| towards[part][i] + view[part][i]);
                let powers = power(&dot(&normal, &unit(&between)), shine.exponent);
                sum = vectors(|part, i| {
                    let mirror = shine.plain[part] + shine.of_color[part] * albedo[part][i];
                    let more = lit[i] * powers[i] * (lamp.specular[part] * mirror);
                    let sum = sum[part][i];
                    if amount[i] > 0.0 { sum + more } else { sum }
                });
            }
        }
        sum
    }
}

/// Length of the mean of normals below which they say nothing.
pub const LEAN_MIN: f32 = 0.1;

/// Returns the normal that a texel makes of another: its parts along u, against v and outwards,
/// from -1 as 0 to 1 as 1.
fn leaning(normal: [f32; 3], tangents: [[f32; 3]; 2], texel: [f32; 4], scale: f32) -> [f32; 3] {
    let [right, up, out] = [texel[0], texel[1], texel[2]].map(|part| 2.0 * part - 1.0);
    let [right, up] = [right * scale, up * scale];
    if (right * right + up * up + out * out).sqrt() < LEAN_MIN {
        return normal;
    }
    // Both are brought onto the surface, whose normal is interpolated.
    let one = |vector| -> Vectors<1> { lanes_of(|_| vector) };
    let [along, upwards] = tangents.map(|tangent| {
        let [part] = dot(&one(tangent), &one(normal));
        let within = std::array::from_fn(|i| tangent[i] - part * normal[i]);
        lane(&unit(&one(within)), 0)
    });
    let leans = std::array::from_fn(|i| along[i] * right + upwards[i] * up + normal[i] * out);
    lane(&unit(&one(leans)), 0)
}

/// Returns the part of the light of a lamp that reaches a place on a surface with this normal, by
/// the first map that shows the place; all of it beyond the maps.
fn unshaded(shadows: &[(&Shadows, Placing)], at: [f32; 3], normal: [f32; 3]) -> f32 {
    let (at, normal) = (at.map(f64::from), normal.map(f64::from));
    let mut lights = shadows.iter();
    let light = lights.find_map(|(maps, placing)| maps.light(placing, at, normal));
    light.unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_that_are_no_normals_change_nothing() {
        let tangents = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let normal = [0.0, 0.0, 1.0];
        let of = |texel: [f32; 3], scale| {
            let [x, y, z] = texel;
            leaning(normal, tangents, [x, y, z, 1.0], scale)
        };
        assert_eq!(of([0.5; 3], 1.0), normal);
        assert_eq!(of([0.5, 0.5, 1.0], 1.0), normal);
        assert_eq!(of([1.0, 0.5, 0.5], 1.0), [1.0, 0.0, 0.0]);
        assert_eq!(of([0.5, 1.0, 0.5], 2.0), [0.0, 1.0, 0.0]);
        assert_eq!(of([0.9, 0.1, 1.0], 0.0), normal);
        // Tangents need not be on a surface that is smooth.
        let slanted = leaning(
            normal,
            [[0.6, 0.0, 0.8], [0.0; 3]],
            [1.0, 0.5, 0.5, 1.0],
            1.0,
        );
        assert_eq!(slanted, [1.0, 0.0, 0.0]);
    }
}
