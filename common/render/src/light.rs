//! [`Lamp`]: a light, in the frame of the camera and in amounts of light.

use mesh::color::linear;
use scene::{Attenuation, Light, LightKind};

use crate::camera::Camera;
use crate::lanes::{Lanes, Vectors, dot, each, vectors};
use crate::raster::{Sample, single};
use crate::vector::{Vector, add, place, rotate, scale, then};
use crate::view::View;

/// A light as it falls on samples.
pub struct Lamp {
    /// Red, green and blue as amounts of light.
    pub color: [f32; 3],
    /// The same in highlights.
    pub specular: [f32; 3],
    /// Extent, frame of the camera.
    pub reach: Reach,
    /// Unit vector along it, world frame.
    pub(crate) along: Vector,
    /// Its place, world frame \[m\].
    pub(crate) origin: Vector,
    pub(crate) casts_shadows: bool,
}

/// Extent of a light, frame of the camera.
pub enum Reach {
    /// From far away, along a unit vector.
    Far(Vector),
    /// From a place.
    Near {
        /// Its place \[m\].
        at: [f32; 3],
        /// Distance beyond which nothing is lit \[m\].
        range: f32,
        /// Decrease with distance.
        attenuation: Attenuation,
        /// The unit vector along the middle of its cone, the cosines of half its inner and its
        /// outer angle, and the exponent of the decrease between both.
        cone: Option<([f32; 3], [f32; 2], f32)>,
    },
}

impl Lamp {
    /// Brings a light into the frame of a camera; `link` is the pose of the link that has it.
    pub(crate) fn new(light: &Light, link: Option<scene::Pose>, camera: &Camera) -> Self {
        let pose = link.map_or(light.pose, |link| then(&link, &light.pose));
        let in_world = rotate(&pose, light.direction);
        let along = turned(camera, in_world);
        let color = light
            .diffuse
            .map(|part| linear(part as f32) * light.intensity as f32);
        // Plain factors, as in Gazebo: how bright a highlight is, and no colour of a screen.
        let specular = light.specular.map(|part| (part * light.intensity) as f32);
        let reach = if light.kind == LightKind::Directional {
            Reach::Far(along)
        } else {
            let cone = light.spot.map(|spot| {
                let cosines = [spot.inner_angle, spot.outer_angle.max(spot.inner_angle)]
                    .map(|angle| libm::cos((angle / 2.0).min(std::f64::consts::PI)) as f32);
                (single(along), cosines, spot.falloff as f32)
            });
            Reach::Near {
                at: single(camera.seen(place(&pose, [0.0; 3]))),
                range: light.range as f32,
                attenuation: light.attenuation,
                cone,
            }
        };
        Self {
            color,
            specular,
            reach,
            along: in_world,
            origin: place(&pose, [0.0; 3]),
            casts_shadows: light.cast_shadows,
        }
    }

    /// Returns the distance from the camera to where a lamp shines \[m\], unless no light of it can
    /// be seen.
    pub(crate) fn distance_to_lit(&self, view: &View<'_>) -> Option<f64> {
        let Reach::Near { at, range, .. } = &self.reach else {
            return None;
        };
        let (at, range) = (at.map(f64::from), f64::from(*range));
        let size = view.size.map(|edge| edge * view.samples);
        let may_be_seen = view.camera.may_see(at, range, size);
        may_be_seen.then(|| (crate::vector::length(at) - range).max(0.0))
    }

    /// A light at the camera, of worlds without any.
    pub(crate) fn at_camera() -> Self {
        Self {
            color: [0.7; 3],
            specular: [0.2; 3],
            reach: Reach::Far([0.2, 0.3, 0.932_737_9]),
            along: [0.0, 0.0, -1.0],
            origin: [0.0; 3],
            casts_shadows: false,
        }
    }

    /// Returns the unit vectors from samples to the light, and the amounts of light there.
    pub(crate) fn at<const N: usize>(&self, samples: &[Sample; N]) -> (Vectors<N>, Lanes<N>) {
        let (at, range, attenuation, cone) = match &self.reach {
            Reach::Far(along) => return (along.map(|x| [-x as f32; N]), [1.0; N]),
            Reach::Near {
                at,
                range,
                attenuation,
                cone,
            } => (at, *range, attenuation, cone),
        };
        let way: Vectors<N> = vectors(|part, i| at[part] - samples[i].at[part]);
        let square = dot(&way, &way);
        let distance: Lanes<N> = each(|i| square[i].sqrt());
        let is_lit = |i: usize| distance[i] <= range && distance[i] > 0.0;
        let towards: Vectors<N> = vectors(|part, i| {
            let part = way[part][i] / distance[i];
            if is_lit(i) { part } else { 0.0 }
        });
        let Attenuation {
            constant,
            linear,
            quadratic,
        } = *attenuation;
        let mut amount = each(|i| {
            let d = f64::from(distance[i]);
            let divisor = constant + linear * d + quadratic * d * d;
            let divisor = if divisor > 1e-3 { divisor } else { 1e-3 };
            let amount = (1.0 / divisor) as f32;
            if is_lit(i) { amount } else { 0.0 }
        });
        if let Some((along, [inner, outer], falloff)) = cone {
            let against = dot(&along.map(|part| [part; N]), &towards);
            for (amount, against) in amount.iter_mut().zip(against) {
                let cosine = -against;
                let part = if inner > outer {
                    ((cosine - outer) / (inner - outer)).clamp(0.0, 1.0)
                } else {
                    f32::from(u8::from(cosine >= *outer))
                };
                *amount *= match *falloff {
                    falloff if falloff > 0.0 && falloff != 1.0 && *amount > 0.0 => {
                        libm::powf(part, falloff)
                    }
                    _ => part,
                };
            }
        }
        (towards, amount)
    }
}

/// Returns a direction as seen from the camera.
pub(crate) fn turned(camera: &Camera, direction: Vector) -> Vector {
    camera.seen(add(camera.position(), scale(direction, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_decreases_with_distance_and_ends_with_its_cone() {
        let lamp = |cone| Lamp {
            color: [1.0; 3],
            specular: [1.0; 3],
            reach: Reach::Near {
                at: [0.0; 3],
                range: 4.0,
                attenuation: Attenuation {
                    constant: 1.0,
                    linear: 0.0,
                    quadratic: 1.0,
                },
                cone,
            },
            along: [0.0, 0.0, 1.0],
            origin: [0.0; 3],
            casts_shadows: false,
        };
        let sample = |at| Sample {
            at,
            normal: [0.0; 3],
            texcoord: [0.0; 2],
        };
        let places = [[0.0, 0.0, 2.0], [0.0, 0.0, 5.0], [0.0; 3]].map(sample);
        let (towards, amounts) = lamp(None).at(&places);
        assert_eq!(towards, [[0.0; 3], [0.0; 3], [-1.0, 0.0, 0.0]]);
        assert_eq!(amounts, [0.2, 0.0, 0.0]);
        for falloff in [0.0, 1.0, 2.0] {
            let spot = lamp(Some(([0.0, 0.0, 1.0], [0.9, 0.8], falloff)));
            let places = [[0.0, 0.0, 2.0], [0.0, 0.0, -2.0], [2.0, 0.0, 1.0]].map(sample);
            assert_eq!(spot.at(&places).1, [0.2, 0.0, 0.0]);
        }
    }
}
