//! [`Painter`]: draws views, with the memory of what it drew before.

use mesh::Image;
use mesh::color::linear;

use crate::light::Lamp;
use crate::lit::{Lighting, Look};
use crate::pixels::Shown;
use crate::raster::{Corner, Grid, NONE, Triangle, single};
use crate::region::{Placing, Region};
use crate::renderer::{NO_VISUAL, Renderer, Seen};
use crate::shadow::Shadows;
use crate::shape::Surface;
use crate::sky::Sky;
use crate::stage::{Item, Pose, Stage};
use crate::vector::{Vector, rotate, unit_or};
use crate::view::View;

/// Part of a surface's light that a transparent one must hide to be drawn.
const ALPHA_MIN: f32 = 1.0 / 255.0;

/// A painter of one stage, on the processor. What it drew before changes no bit of what it draws,
/// only how fast.
#[derive(Default)]
pub struct Painter {
    grid: Grid,
    corners: Vec<Corner>,
    solid: Vec<Triangle>,
    clear: Vec<Triangle>,
    samples: Vec<[f32; 3]>,
    /// Poses of items, world frame; of those that are not there, none.
    poses: Vec<Option<Pose>>,
    /// Surfaces of items that bones move; of the others, none.
    moved: Vec<Option<Surface>>,
    /// Vertices of an item in the frame of a map.
    placed: Vec<Vector>,
    /// Maps of shadows, as many as were drawn last.
    shadows: Vec<Shadows>,
    screen: Screen,
}

/// Colours as screens show them.
struct Screen {
    shown: Shown,
    sky: Sky,
}

impl Default for Screen {
    fn default() -> Self {
        let shown = Shown::default();
        Self {
            sky: Sky::new(&shown),
            shown,
        }
    }
}

impl Renderer for Painter {
    fn paint(&mut self, view: &View<'_>) -> Image {
        self.find_poses(view);
        let lamps = view.stage.lamps(view);
        let placings = self.draw_shadows(view, &lamps);
        self.draw(view, true);
        let mut shadows: Vec<Vec<_>> = lamps.iter().map(|_| Vec::new()).collect();
        for ((lamp, placing), maps) in placings.into_iter().zip(&self.shadows) {
            shadows[lamp].push((maps, placing));
        }
        let canvas = Canvas {
            view,
            lighting: Lighting {
                ambient: view.stage.world.ambient.map(|part| linear(part as f32)),
                shadows,
                lamps,
                up: single(crate::light::turned(view.camera, [0.0, 0.0, 1.0])),
            },
            background: view.stage.background(),
            size: self.grid.size,
        };
        let pixels = if self.clear.is_empty() {
            canvas.pixels(&self.grid, &self.solid, &self.screen)
        } else {
            canvas.samples(&self.grid, &self.solid, &mut self.samples);
            canvas.blend(&mut self.clear, &self.grid, &mut self.samples);
            canvas.mean(&self.samples, &self.screen.shown)
        };
        let [width, height] = view.size;
        Image {
            width,
            height,
            pixels,
        }
    }

    fn look(&mut self, view: &View<'_>) -> Seen {
        let view = View {
            samples: 1,
            ..*view
        };
        self.find_poses(&view);
        self.draw(&view, false);
        let visual = |number: &u32| match self.solid.get(*number as usize) {
            Some(triangle) if *number != NONE => view.stage.items[triangle.item as usize].visual,
            _ => NO_VISUAL,
        };
        let visuals: Vec<u32> = self.grid.nearest.iter().map(visual).collect();
        let depths = self.grid.inverse.iter().zip(&visuals);
        let depths = depths.map(|(inverse, visual)| match *visual {
            NO_VISUAL => f32::INFINITY,
            _ => 1.0 / inverse,
        });
        Seen {
            depths: depths.collect(),
            visuals,
        }
    }
}

impl Painter {
    /// Notes where all items are, and how bones move them.
    fn find_poses(&mut self, view: &View<'_>) {
        self.poses.clear();
        self.poses.extend(view.poses());
        self.moved.clear();
        let items = view.stage.items.iter().zip(&self.poses);
        let moved = items.map(|(item, pose)| {
            pose.as_ref()?;
            view.stage.moved(item, view.elapsed_s)
        });
        self.moved.extend(moved);
    }

    /// Puts all that a camera may see on the grid; what is transparent is kept apart on request.
    fn draw(&mut self, view: &View<'_>, keeps_clear: bool) {
        let (stage, camera) = (view.stage, view.camera);
        let size = view.size.map(|edge| edge * view.samples);
        self.grid.begin(size, camera.clip()[1]);
        self.solid.clear();
        self.clear.clear();
        for (number, (item, pose)) in stage.items.iter().zip(&self.poses).enumerate() {
            let Some(pose) = pose.as_ref().filter(|pose| view.may_see(item, pose)) else {
                continue;
            };
            let look = &stage.looks[item.look];
            let triangles = if look.blends && keeps_clear {
                &mut self.clear
            } else {
                &mut self.solid
            };
            let shape = Shape {
                surface: surface_of(stage, item, self.moved[number].as_ref()),
                item,
                pose,
                number: number as u32,
                fronts_only: view.hides_back(look),
            };
            shape.put(view, size, &mut self.corners, triangles);
        }
        for (number, triangle) in self.solid.iter().enumerate() {
            let look = &stage.looks[stage.items[triangle.item as usize].look];
            if look.texture.is_some() && look.cutoff > 0.0 {
                draw_cut_out(number as u32, triangle, look, stage, &mut self.grid);
            } else {
                self.grid.draw(number as u32, triangle);
            }
        }
    }

    /// Draws the shadows of lamps; returns for each of the maps the lamp that it is of, with how
    /// places that the camera sees come onto it.
    fn draw_shadows(&mut self, view: &View<'_>, lamps: &[Lamp]) -> Vec<(usize, Placing)> {
        let camera = view.camera;
        let regions = Region::of_view(view, lamps, &self.poses);
        self.shadows.resize_with(regions.len(), Shadows::default);
        let placings = regions
            .into_iter()
            .enumerate()
            .map(|(map, (lamp, region))| {
                self.draw_map(view.stage, map, &region);
                let turned = |unit| camera.turned_out(unit);
                (lamp, region.placing(camera.position(), turned))
            });
        placings.collect()
    }

    /// Draws what casts shadows on the maps of a region, as far as it is not there.
    fn draw_map(&mut self, stage: &Stage, map: usize, region: &Region) {
        let shadows = &mut self.shadows[map];
        let is_new = shadows.begin(*region);
        let in_world = region.placing([0.0; 3], |unit| unit);
        for ((item, pose), moved) in stage.items.iter().zip(&self.poses).zip(&self.moved) {
            let is_fixed = item.traits.is_fixed;
            let blends = stage.looks[item.look].blends;
            let Some(pose) = pose else { continue };
            let is_due = item.traits.casts_shadows && !blends && (is_new || !is_fixed);
            if !is_due || !region.may_show(item.ball_at(pose)) {
                continue;
            }
            let surface = surface_of(stage, item, moved.as_ref());
            let vertices = 0..surface.positions.len() as u32;
            let vertices = vertices.map(|index| item.place(pose, surface, index));
            self.placed.clear();
            self.placed
                .extend(vertices.map(|vertex| in_world.turned(vertex)));
            for triangle in &surface.triangles {
                let placed = triangle.map(|index| self.placed[index as usize]);
                shadows.draw(is_fixed, &in_world, placed);
            }
        }
    }
}

/// An item whose triangles are put on a grid.
struct Shape<'a> {
    surface: &'a Surface,
    item: &'a Item,
    /// World frame.
    pose: &'a Pose,
    number: u32,
    /// True if it is not seen from behind.
    fronts_only: bool,
}

impl Shape<'_> {
    fn put(
        &self,
        view: &View<'_>,
        size: [usize; 2],
        corners: &mut Vec<Corner>,
        triangles: &mut Vec<Triangle>,
    ) {
        let (item, camera, surface) = (self.item, view.camera, self.surface);
        // A mirror image keeps its outside outside, and normals of what is stretched stay upright.
        let inverse = item
            .scale
            .map(|factor| if factor == 0.0 { 0.0 } else { 1.0 / factor });
        let is_mirrored = item.scale.iter().product::<f64>() < 0.0;
        corners.clear();
        corners.extend((0..surface.positions.len()).map(|index| {
            let normal = surface.normals[index].map(f64::from);
            let normal = std::array::from_fn(|i| normal[i] * inverse[i]);
            let normal = unit_or(rotate(self.pose, normal), [0.0, 0.0, 1.0]);
            Corner {
                at: single(camera.seen(item.place(self.pose, surface, index as u32))),
                normal: single(crate::light::turned(camera, normal)),
                texcoord: surface.texcoords[index],
            }
        }));
        for triangle in &surface.triangles {
            let mut own = triangle.map(|index| corners[index as usize]);
            if is_mirrored {
                own.swap(1, 2);
            }
            let backs = self.fronts_only;
            Triangle::on_grid(own, self.number, camera, size, backs, triangles);
        }
    }
}

/// Returns the surface of an item, which bones may move.
fn surface_of<'a>(stage: &'a Stage, item: &Item, moved: Option<&'a Surface>) -> &'a Surface {
    moved.unwrap_or(&stage.surfaces[item.surface])
}

/// Draws the samples of a triangle where its texture is not invisible.
fn draw_cut_out(number: u32, triangle: &Triangle, look: &Look, stage: &Stage, grid: &mut Grid) {
    let width = grid.size[0];
    let texture = look.texture.map(|texture| &stage.textures[texture]);
    triangle.samples(grid.size, |x, y, inverse| {
        let place = y * width + x;
        if inverse <= grid.inverse[place] {
            return;
        }
        let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
        let texcoord = triangle.sample(x, y).texcoord;
        let texel = texture.map(|own| own.sample(texcoord, triangle.footprint(x, y, 1.0)));
        if texel.is_none_or(|texel| texel[3] * look.color[3] >= look.cutoff) {
            grid.inverse[place] = inverse;
            grid.nearest[place] = number;
        }
    });
}

/// A view that is being coloured.
struct Canvas<'a> {
    view: &'a View<'a>,
    lighting: Lighting<'a>,
    /// Light behind everything, unless there is a sky.
    background: Option<[f32; 3]>,
    /// Columns and rows of the grid of samples.
    size: [usize; 2],
}

impl Canvas<'_> {
    /// Returns the pixels of what is solid. A triangle is lit once in each pixel that it is in.
    fn pixels(&self, grid: &Grid, solid: &[Triangle], screen: &Screen) -> Vec<[u8; 4]> {
        let [width, height] = self.view.size;
        let edge = self.view.samples;
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let corner = (y * edge * self.size[0]) + x * edge;
                let at = [(x * edge) as f64, (y * edge) as f64];
                let numbers = [0, 1, self.size[0], self.size[0] + 1]
                    .map(|offset| if edge == 1 { corner } else { corner + offset })
                    .map(|place| grid.nearest[place]);
                pixels.push(if numbers == [NONE; 4] && self.background.is_none() {
                    let half = edge as f64 / 2.0;
                    let part = Sky::part(self.ray([at[0] + half, at[1] + half]));
                    screen.sky.pixel(part, &screen.shown)
                } else {
                    screen.shown.pixel(self.pixel(numbers, at, solid))
                });
            }
        }
        pixels
    }

    /// Returns the light of a pixel by the triangles of its samples.
    fn pixel(&self, numbers: [u32; 4], at: [f64; 2], solid: &[Triangle]) -> [f32; 3] {
        let edge = self.view.samples as f64;
        if numbers.iter().all(|number| *number == numbers[0]) {
            let middle = [at[0] + edge / 2.0, at[1] + edge / 2.0];
            return self.color(numbers[0], middle, edge, solid);
        }
        let mut sum = [0.0; 3];
        for (i, number) in numbers.iter().enumerate() {
            if numbers[..i].contains(number) {
                continue;
            }
            // The middle of those samples that are of it, so that it is not lit beside itself.
            let own = (0..4).filter(|sample| numbers[*sample] == *number);
            let (mut place, mut count) = ([0.0; 2], 0.0);
            for sample in own {
                place[0] += (sample % 2) as f64 + 0.5;
                place[1] += (sample / 2) as f64 + 0.5;
                count += 1.0;
            }
            let place = [at[0] + place[0] / count, at[1] + place[1] / count];
            let color = self.color(*number, place, edge, solid);
            for (sum, part) in sum.iter_mut().zip(color) {
                *sum += part.clamp(0.0, 1.0) * (count / 4.0) as f32;
            }
        }
        sum
    }

    /// Returns the light of a place of the grid, by its triangle.
    fn color(&self, number: u32, [x, y]: [f64; 2], edge: f64, solid: &[Triangle]) -> [f32; 3] {
        match solid.get(number as usize) {
            Some(triangle) if number != NONE => {
                let [red, green, blue, _] = self.shade(triangle, x, y, edge);
                [red, green, blue]
            }
            _ => {
                let sky = || Sky::light(Sky::part(self.ray([x, y])));
                self.background.unwrap_or_else(sky)
            }
        }
    }

    /// Returns the ray through a place of the grid.
    fn ray(&self, [x, y]: [f64; 2]) -> Vector {
        self.view.camera.ray(x, y, self.size)
    }

    /// Lights all samples of what is solid.
    fn samples(&self, grid: &Grid, solid: &[Triangle], samples: &mut Vec<[f32; 3]>) {
        samples.clear();
        for y in 0..self.size[1] {
            for x in 0..self.size[0] {
                let number = grid.nearest[samples.len()];
                let place = [x as f64 + 0.5, y as f64 + 0.5];
                samples.push(self.color(number, place, 1.0, solid));
            }
        }
    }

    /// Draws what is transparent over what is there, from the farthest to the nearest.
    fn blend(&self, clear: &mut [Triangle], grid: &Grid, samples: &mut [[f32; 3]]) {
        let depth = |triangle: &Triangle| -> f32 {
            triangle.corners.iter().map(|corner| corner.at[2]).sum()
        };
        // Sorting keeps the order of those that are equally far away.
        clear.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
        for triangle in clear {
            triangle.samples(grid.size, |x, y, inverse| {
                let place = y * grid.size[0] + x;
                if inverse <= grid.inverse[place] {
                    return;
                }
                let own = self.shade(triangle, x as f64 + 0.5, y as f64 + 0.5, 1.0);
                if own[3] >= ALPHA_MIN {
                    for (sample, part) in samples[place].iter_mut().zip(own) {
                        *sample += (part - *sample) * own[3];
                    }
                }
            });
        }
    }

    /// Returns the pixels as means of their samples.
    fn mean(&self, samples: &[[f32; 3]], shown: &Shown) -> Vec<[u8; 4]> {
        let [width, height] = self.view.size;
        let edge = self.view.samples;
        let count = (edge * edge) as f32;
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let mut sum = [0.0_f32; 3];
                for row in 0..edge {
                    let first = (y * edge + row) * self.size[0] + x * edge;
                    for sample in &samples[first..first + edge] {
                        for (sum, part) in sum.iter_mut().zip(sample) {
                            *sum += part.clamp(0.0, 1.0);
                        }
                    }
                }
                pixels.push(shown.pixel(sum.map(|sum| sum / count)));
            }
        }
        pixels
    }

    /// Returns the light of a triangle at a place of the grid, for a square of so many samples, and
    /// its alpha.
    fn shade(&self, triangle: &Triangle, x: f64, y: f64, edge: f64) -> [f32; 4] {
        let stage = self.view.stage;
        let look = &stage.looks[stage.items[triangle.item as usize].look];
        let sample = triangle.sample(x, y);
        let footprint = || triangle.footprint(x, y, edge);
        let tangents = || triangle.tangents();
        let (textures, lighting) = (&*stage.textures, &self.lighting);
        let own = look.shade(&sample, footprint, tangents, textures, lighting);
        let fogged = stage.in_fog([own[0], own[1], own[2]], sample.at);
        [fogged[0], fogged[1], fogged[2], own[3]]
    }
}
