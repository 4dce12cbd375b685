//! [`Stage`]: what is drawn of a world, ready to be drawn from anywhere.

mod build;

use std::collections::BTreeMap;

use mesh::Image;
use mesh::color::linear;
use scene::{FogKind, World};

pub use scene::Pose;

use crate::camera::Camera;
use crate::light::{Lamp, turned};
use crate::lit::{Lighting, Look};
use crate::pixels;
use crate::raster::{Corner, Grid, NONE, Triangle, single};
use crate::shadow::ShadowMap;
use crate::shape::Surface;
use crate::texture::Texture;
use crate::vector::{Vector, add, dot, length, place, rotate, scale, subtract, then, unit_or};

/// Samples along each edge of a pixel.
const SAMPLES: usize = 2;

/// Part of a surface's light that a transparent one must hide to be drawn.
const ALPHA_MIN: f32 = 1.0 / 255.0;

/// Colours of the sky, as screens show them: at the horizon, and overhead.
const HORIZON: [f32; 3] = [0.80, 0.87, 0.93];
const ZENITH: [f32; 3] = [0.33, 0.55, 0.82];

/// Poses of links by their numbers, world frame.
pub type Poses = BTreeMap<u32, Pose>;

/// Drawn content of a world.
pub struct Stage {
    world: World,
    items: Vec<Item>,
    surfaces: Vec<Surface>,
    looks: Vec<Look>,
    textures: Vec<Texture>,
    /// Content that could not be drawn, for people.
    problems: Vec<String>,
}

/// A surface that is attached to a link.
struct Item {
    link: u32,
    /// The model of the link, as an index into those of the world.
    model: usize,
    /// Pose in the frame of the link.
    pose: Pose,
    scale: [f64; 3],
    surface: usize,
    look: usize,
    casts_shadows: bool,
    /// True if it is part of the ground: of no account for what a picture of everything shows.
    is_ground: bool,
    /// Centre and radius of a ball around it, frame of the shape, before it is scaled \[m\].
    ball: (Vector, f64),
}

impl Stage {
    /// Returns what could not be drawn, for people.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns the poses that links have at the start.
    pub fn start(&self) -> Poses {
        let links = self.world.models.iter().flat_map(|model| &model.links);
        links.map(|link| (link.id, link.pose)).collect()
    }

    /// Returns a camera that sees the whole world.
    pub fn view_of_all(&self, poses: &Poses, angle: f64, size: [usize; 2]) -> Camera {
        let items = || self.items.iter();
        let ball = self.ball_around(items().filter(|item| !item.is_ground), poses);
        let ball = ball.or_else(|| self.ball_around(items(), poses));
        let (center, radius) = ball.unwrap_or(([0.0; 3], 5.0));
        Camera::around(center, radius.max(0.1), [-1.0, -1.2, 0.8], angle, size)
    }

    /// Returns a camera that sees a model, from behind it and above; none where there is no such
    /// model.
    pub fn view_of_model(
        &self,
        name: &str,
        poses: &Poses,
        angle: f64,
        size: [usize; 2],
    ) -> Option<Camera> {
        let mut models = self.world.models.iter();
        let number = models.position(|model| model.name == name)?;
        let items = self.items.iter().filter(|item| item.model == number);
        let model = &self.world.models[number];
        let link = model.links.get(model.canonical_link);
        let pose = link.map_or(model.pose, |link| pose_of(poses, link.id, &link.pose));
        let at = [pose[0], pose[1], pose[2]];
        let (center, radius) = self.ball_around(items, poses).unwrap_or((at, 0.5));
        let ahead = rotate(&pose, [1.0, 0.0, 0.0]);
        let level = unit_or([ahead[0], ahead[1], 0.0], [1.0, 0.0, 0.0]);
        let behind = add(scale(level, -1.0), [0.0, 0.0, 0.6]);
        Some(Camera::around(
            center,
            2.5 * radius.max(0.05),
            behind,
            angle,
            size,
        ))
    }

    /// Draws the world as a camera sees it, in so many pixels; links that have no pose among
    /// `poses` are where they were at the start.
    pub fn picture(&self, poses: &Poses, camera: &Camera, size: [usize; 2]) -> Image {
        let grid_size = size.map(|edge| edge * SAMPLES);
        let lighting = self.lighting(poses, camera);
        let mut grid = Grid::new(grid_size[0], grid_size[1]);
        let (mut solid, mut clear) = (Vec::new(), Vec::new());
        for (number, item) in self.items.iter().enumerate() {
            let look = &self.looks[item.look];
            let triangles = if look.blends { &mut clear } else { &mut solid };
            let pose = self.pose_of(item, poses);
            self.put(item, number as u32, &pose, camera, grid_size, triangles);
        }
        for (number, triangle) in solid.iter().enumerate() {
            let look = &self.looks[self.items[triangle.item as usize].look];
            if look.texture.is_some() && look.cutoff > 0.0 {
                self.draw_cut_out(number as u32, triangle, look, &mut grid);
            } else {
                grid.draw(number as u32, triangle);
            }
        }
        let mut samples = Vec::with_capacity(grid_size[0] * grid_size[1]);
        for y in 0..grid_size[1] {
            for x in 0..grid_size[0] {
                let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
                let number = grid.nearest[samples.len()];
                samples.push(match solid.get(number as usize) {
                    Some(triangle) if number != NONE => {
                        let [red, green, blue, _] = self.shade(triangle, x, y, &lighting);
                        [red, green, blue]
                    }
                    _ => self.behind(camera.ray(x, y, grid_size)),
                });
            }
        }
        self.blend(clear, &grid, &lighting, &mut samples);
        pixels::image(&samples, size, SAMPLES)
    }

    /// Draws the samples of a triangle where its texture is not invisible.
    fn draw_cut_out(&self, number: u32, triangle: &Triangle, look: &Look, grid: &mut Grid) {
        let size = [grid.width, grid.height];
        let texture = look.texture.map(|texture| &self.textures[texture]);
        triangle.samples(size, |x, y, inverse| {
            let place = y * size[0] + x;
            if inverse <= grid.inverse[place] {
                return;
            }
            let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
            let texcoord = triangle.sample(x, y).texcoord;
            let texel = texture.map(|own| own.sample(texcoord, triangle.footprint(x, y)));
            if texel.is_none_or(|texel| texel[3] * look.color[3] >= look.cutoff) {
                grid.inverse[place] = inverse;
                grid.nearest[place] = number;
            }
        });
    }

    /// Draws what is transparent over what is there, from the farthest to the nearest.
    fn blend(
        &self,
        mut clear: Vec<Triangle>,
        grid: &Grid,
        lighting: &Lighting,
        samples: &mut [[f32; 3]],
    ) {
        let depth = |triangle: &Triangle| -> f32 {
            triangle.corners.iter().map(|corner| corner.at[2]).sum()
        };
        // Sorting keeps the order of those that are equally far away.
        clear.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
        for triangle in &clear {
            triangle.samples([grid.width, grid.height], |x, y, inverse| {
                let place = y * grid.width + x;
                if inverse <= grid.inverse[place] {
                    return;
                }
                let own = self.shade(triangle, x as f64 + 0.5, y as f64 + 0.5, lighting);
                if own[3] >= ALPHA_MIN {
                    for (sample, part) in samples[place].iter_mut().zip(own) {
                        *sample += (part - *sample) * own[3];
                    }
                }
            });
        }
    }

    fn shade(&self, triangle: &Triangle, x: f64, y: f64, lighting: &Lighting) -> [f32; 4] {
        let look = &self.looks[self.items[triangle.item as usize].look];
        let sample = triangle.sample(x, y);
        let footprint = || triangle.footprint(x, y);
        let own = look.shade(&sample, footprint, &self.textures, lighting);
        let fogged = self.in_fog([own[0], own[1], own[2]], sample.at);
        [fogged[0], fogged[1], fogged[2], own[3]]
    }

    /// Returns a colour as it is seen through the fog from so far away.
    fn in_fog(&self, color: [f32; 3], at: [f32; 3]) -> [f32; 3] {
        let Some(fog) = &self.world.fog else {
            return color;
        };
        let distance = length(at.map(f64::from));
        let part = match fog.kind {
            FogKind::Linear if fog.end > fog.start => {
                (distance - fog.start) / (fog.end - fog.start)
            }
            FogKind::Linear => f64::from(u8::from(distance >= fog.end)),
            FogKind::Exponential => 1.0 - libm::exp(-fog.density * distance),
            FogKind::Quadratic => {
                let depth = fog.density * distance;
                1.0 - libm::exp(-depth * depth)
            }
        };
        let part = part.clamp(0.0, 1.0) as f32;
        let other = fog.color.map(|part| linear(part as f32));
        std::array::from_fn(|i| color[i] + (other[i] - color[i]) * part)
    }

    /// Returns the colour behind everything, along a ray.
    fn behind(&self, ray: Vector) -> [f32; 3] {
        if self.world.sky.is_none() {
            return self.world.background.map(|part| linear(part as f32));
        }
        let height = ray[2].clamp(0.0, 1.0) as f32;
        let part = height.sqrt();
        std::array::from_fn(|i| linear(HORIZON[i] + (ZENITH[i] - HORIZON[i]) * part))
    }

    fn lighting(&self, poses: &Poses, camera: &Camera) -> Lighting {
        let of_link = |id: u32| {
            let links = self.world.models.iter().flat_map(|model| &model.links);
            let link = links.into_iter().find(|link| link.id == id);
            poses.get(&id).copied().or(link.map(|link| link.pose))
        };
        let lights = self.world.lights.iter();
        let mut lamps: Vec<Lamp> = lights
            .map(|light| Lamp::new(light, light.link.and_then(of_link), camera))
            .collect();
        if lamps.is_empty() {
            lamps.push(Lamp::at_camera());
        }
        let sun = Lighting::sun(&lamps).filter(|_| self.world.shadows);
        Lighting {
            ambient: self.world.ambient.map(|part| linear(part as f32)),
            shadow: sun.map(|(number, along)| (number, self.shadows(along, poses, camera))),
            lamps,
            up: single(turned(camera, [0.0, 0.0, 1.0])),
        }
    }

    /// Makes the map of shadows around what the camera looks at.
    fn shadows(&self, along: Vector, poses: &Poses, camera: &Camera) -> ShadowMap {
        let casters = || self.items.iter().filter(|item| item.casts_shadows);
        let whole = self.ball_around(casters().filter(|item| !item.is_ground), poses);
        let (mut center, mut radius) = whole.unwrap_or((camera.target(), 1.0));
        if radius > 2.0 * camera.focus() {
            (center, radius) = (camera.target(), 2.0 * camera.focus());
        }
        let mut map = ShadowMap::new(along, camera.seen(center), radius * 1.05);
        for item in casters().filter(|item| !self.looks[item.look].blends) {
            let pose = self.pose_of(item, poses);
            let surface = &self.surfaces[item.surface];
            let corner = |index: u32| camera.seen(item.place(&pose, surface, index));
            for triangle in &surface.triangles {
                map.draw(triangle.map(corner));
            }
        }
        map
    }

    /// Puts the triangles of an item on the grid.
    fn put(
        &self,
        item: &Item,
        number: u32,
        pose: &Pose,
        camera: &Camera,
        size: [usize; 2],
        triangles: &mut Vec<Triangle>,
    ) {
        let surface = &self.surfaces[item.surface];
        // A mirror image keeps its outside outside, and normals of what is stretched stay upright.
        let inverse = item
            .scale
            .map(|factor| if factor == 0.0 { 0.0 } else { 1.0 / factor });
        let corners: Vec<Corner> = (0..surface.positions.len())
            .map(|index| {
                let normal = surface.normals[index].map(f64::from);
                let normal = std::array::from_fn(|i| normal[i] * inverse[i]);
                let normal = unit_or(rotate(pose, normal), [0.0, 0.0, 1.0]);
                Corner {
                    at: single(camera.seen(item.place(pose, surface, index as u32))),
                    normal: single(turned(camera, normal)),
                    texcoord: surface.texcoords[index],
                }
            })
            .collect();
        for triangle in &surface.triangles {
            let own = triangle.map(|index| corners[index as usize]);
            Triangle::on_grid(own, number, camera, size, triangles);
        }
    }

    fn pose_of(&self, item: &Item, poses: &Poses) -> Pose {
        let links = &self.world.models[item.model].links;
        let start = links.iter().find(|link| link.id == item.link);
        let start = start.map_or([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], |link| link.pose);
        then(&pose_of(poses, item.link, &start), &item.pose)
    }

    /// Returns a ball around items, if there are any.
    fn ball_around<'i>(
        &self,
        items: impl Iterator<Item = &'i Item>,
        poses: &Poses,
    ) -> Option<(Vector, f64)> {
        let balls = items.map(|item| {
            let (center, radius) = item.ball;
            let scaled = std::array::from_fn(|i| center[i] * item.scale[i]);
            let stretch = item
                .scale
                .iter()
                .fold(0.0, |most: f64, own| most.max(own.abs()));
            (place(&self.pose_of(item, poses), scaled), radius * stretch)
        });
        let balls: Vec<(Vector, f64)> = balls.collect();
        let end = |axis: usize, sign: f64| {
            let ends = balls
                .iter()
                .map(|(center, radius)| center[axis] + sign * radius);
            ends.fold(f64::NAN, |far, own| {
                if sign < 0.0 {
                    far.min(own)
                } else {
                    far.max(own)
                }
            })
        };
        let low: Vector = std::array::from_fn(|axis| end(axis, -1.0));
        let high: Vector = std::array::from_fn(|axis| end(axis, 1.0));
        let center = scale(add(low, high), 0.5);
        let reach = |(other, radius): &(Vector, f64)| length(subtract(*other, center)) + radius;
        let radius = balls.iter().map(reach).fold(f64::NAN, f64::max);
        let is_somewhere = radius.is_finite() && dot(center, center).is_finite();
        is_somewhere.then_some((center, radius))
    }
}

impl Item {
    /// Returns where a vertex of its surface is in the world.
    fn place(&self, pose: &Pose, surface: &Surface, index: u32) -> Vector {
        let position = surface.positions[index as usize].map(f64::from);
        place(pose, std::array::from_fn(|i| position[i] * self.scale[i]))
    }
}

fn pose_of(poses: &Poses, link: u32, start: &Pose) -> Pose {
    *poses.get(&link).unwrap_or(start)
}

#[cfg(test)]
mod tests;
