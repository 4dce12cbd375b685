//! [`Look`]: a material as it is lit.

use std::sync::Arc;

use crate::light::Lamp;
use crate::raster::Sample;
use crate::region::Placing;
use crate::shadow::Shadows;
use crate::texture::Texture;

/// Part of the light that comes straight back from what is no metal.
pub const REFLECTANCE: f32 = 0.04;

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
    /// From 0, for a mirror, to 1.
    pub roughness: f32,
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
    /// Returns the colour of a sample, and its alpha.
    pub(crate) fn shade(
        &self,
        sample: &Sample,
        footprint: impl Fn() -> [f32; 2],
        tangents: impl Fn() -> Option<[[f32; 3]; 2]>,
        textures: &[Arc<Texture>],
        lighting: &Lighting<'_>,
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
            let normal = unit(sample.normal);
            let seen = of(self.normal_texture).zip(tangents());
            let leans = seen.map_or(normal, |(texel, tangents)| {
                leaning(normal, tangents, texel, self.normal_scale)
            });
            self.light(sample, [normal, leans], albedo, lighting)
        } else {
            albedo
        };
        let alpha = if self.blends { alpha } else { 1.0 };
        let [red, green, blue] = std::array::from_fn(|i| light[i] + emissive[i]);
        [red, green, blue, alpha]
    }

    /// Returns the light that comes back from a sample, by the normal of its surface and the one
    /// that its texture makes of that.
    fn light(
        &self,
        sample: &Sample,
        [mut flat, mut normal]: [[f32; 3]; 2],
        albedo: [f32; 3],
        lighting: &Lighting<'_>,
    ) -> [f32; 3] {
        let view = unit(sample.at.map(|x| -x));
        // What is seen from behind is lit from behind.
        if dot(flat, view) < 0.0 {
            (flat, normal) = (flat.map(|x| -x), normal.map(|x| -x));
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
            let shadows = &*lighting.shadows[number];
            if !shadows.is_empty() {
                amount *= unshaded(shadows, sample.at, flat);
                if amount <= 0.0 {
                    continue;
                }
            }
            let half = unit(std::array::from_fn(|i| towards[i] + view[i]));
            let highlight = power(dot(normal, half), exponent);
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
    let [along, upwards] = tangents.map(|tangent| {
        let part = dot(tangent, normal);
        unit(std::array::from_fn(|i| tangent[i] - part * normal[i]))
    });
    unit(std::array::from_fn(|i| {
        along[i] * right + upwards[i] * up + normal[i] * out
    }))
}

/// Returns the part of the light of a lamp that reaches a place on a surface with this normal, by
/// the first map that shows the place; all of it beyond the maps.
fn unshaded(shadows: &[(&Shadows, Placing)], at: [f32; 3], normal: [f32; 3]) -> f32 {
    let (at, normal) = (at.map(f64::from), normal.map(f64::from));
    let mut lights = shadows.iter();
    let light = lights.find_map(|(maps, placing)| maps.light(placing, at, normal));
    light.unwrap_or(1.0)
}

/// Returns a power of a number between 0 and 1 within a thousandth, the same on any machine: a
/// highlight needs no more, and each sample has one for each lamp.
fn power(base: f32, exponent: f32) -> f32 {
    if base <= 0.0 {
        return 0.0;
    }
    // The base is 2^whole times a number from 1 to 2, whose logarithm is an odd series.
    let bits = base.to_bits();
    let whole = (bits >> 23).cast_signed() - 127;
    let rest = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    let part = (rest - 1.0) / (rest + 1.0);
    let square = part * part;
    let terms = [1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0];
    let series = terms
        .iter()
        .fold(1.0 / 11.0, |sum, term| sum * square + term);
    let logarithm = whole as f32 + std::f32::consts::LOG2_E * 2.0 * part * series;
    let wanted = (logarithm * exponent).min(0.0);
    if wanted < -30.0 {
        return 0.0;
    }
    let floor = wanted.floor();
    let along = (wanted - floor) * std::f32::consts::LN_2;
    let factors = [1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let start = 1.0 / 120.0;
    let grown = factors
        .iter()
        .fold(start, |sum, factor| sum * along + factor);
    grown * f32::from_bits(((floor as i32 + 127) as u32) << 23)
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

    #[test]
    fn a_power_is_right_within_a_thousandth() {
        for exponent in [1.0_f32, 2.9, 40.0, 1000.0] {
            for step in 0..=1000_u16 {
                let base = f32::from(step) / 1000.0;
                let expect = base.powf(exponent);
                let found = power(base, exponent);
                assert!((found - expect).abs() < 1e-3, "{base}^{exponent}: {found}");
            }
        }
        assert_eq!(power(-1.0, 2.0), 0.0);
    }
}
