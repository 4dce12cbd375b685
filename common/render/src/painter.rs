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
        let half = edge as f64 / 2.0;
        let mut pixels = vec![[0; 4]; width * height];
        let mut waiting = Waiting::default();
        for y in 0..height {
            for x in 0..width {
                let corner = (y * edge * self.size[0]) + x * edge;
                let at = [(x * edge) as f64, (y * edge) as f64];
                let middle = at.map(|place| place + half);
                let numbers = [0, 1, self.size[0], self.size[0] + 1]
                    .map(|offset| if edge == 1 { corner } else { corner + offset })
                    .map(|place| grid.nearest[place]);
                let place = y * width + x;
                if numbers != [numbers[0]; 4] {
                    pixels[place] = screen.shown.pixel(self.pixel(numbers, at, solid));
                } else if let Some(triangle) = solid.get(numbers[0] as usize) {
                    let spot = Spot {
                        triangle,
                        at: middle,
                        edge: edge as f64,
                    };
                    waiting.add(place, spot, self, |place, color| {
                        pixels[place] = screen.shown.pixel(color);
                    });
                } else if let Some(background) = self.background {
                    pixels[place] = screen.shown.pixel(background);
                } else {
                    let part = Sky::part(self.ray(middle));
                    pixels[place] = screen.sky.pixel(part, &screen.shown);
                }
            }
        }
        waiting.light(self, |place, color| {
            pixels[place] = screen.shown.pixel(color);
        });
        pixels
    }

    /// Returns the light of a pixel by the triangles of its samples.
    fn pixel(&self, numbers: [u32; 4], at: [f64; 2], solid: &[Triangle]) -> [f32; 3] {
        let edge = self.view.samples as f64;
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
    fn color(&self, number: u32, at: [f64; 2], edge: f64, solid: &[Triangle]) -> [f32; 3] {
        match solid.get(number as usize) {
            Some(triangle) => {
                let [[red, green, blue, _]] = self.shade(&[Spot { triangle, at, edge }]);
                [red, green, blue]
            }
            None => self.behind(at),
        }
    }

    /// Returns the light behind everything at a place of the grid.
    fn behind(&self, at: [f64; 2]) -> [f32; 3] {
        let sky = || Sky::light(Sky::part(self.ray(at)));
        self.background.unwrap_or_else(sky)
    }

    /// Returns the ray through a place of the grid.
    fn ray(&self, [x, y]: [f64; 2]) -> Vector {
        self.view.camera.ray(x, y, self.size)
    }

    /// Lights all samples of what is solid.
    fn samples(&self, grid: &Grid, solid: &[Triangle], samples: &mut Vec<[f32; 3]>) {
        samples.clear();
        samples.resize(grid.nearest.len(), [0.0; 3]);
        let mut waiting = Waiting::default();
        for y in 0..self.size[1] {
            for x in 0..self.size[0] {
                let place = y * self.size[0] + x;
                let at = [x as f64 + 0.5, y as f64 + 0.5];
                if let Some(triangle) = solid.get(grid.nearest[place] as usize) {
                    let edge = 1.0;
                    let spot = Spot { triangle, at, edge };
                    waiting.add(place, spot, self, |place, color| samples[place] = color);
                } else {
                    samples[place] = self.behind(at);
                }
            }
        }
        waiting.light(self, |place, color| samples[place] = color);
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
                let (at, edge) = ([x as f64 + 0.5, y as f64 + 0.5], 1.0);
                let [own] = self.shade(&[Spot { triangle, at, edge }]);
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

    /// Returns the material of a triangle.
    fn look(&self, triangle: &Triangle) -> &Look {
        let stage = self.view.stage;
        &stage.looks[stage.items[triangle.item as usize].look]
    }

    /// Returns the light at places whose triangles have the same material, and its alpha.
    fn shade<const N: usize>(&self, spots: &[Spot<'_>; N]) -> [[f32; 4]; N] {
        let stage = self.view.stage;
        let look = self.look(spots[0].triangle);
        let samples = spots.map(|Spot { triangle, at, .. }| triangle.sample(at[0], at[1]));
        let footprint = |i: usize| {
            let Spot { triangle, at, edge } = spots[i];
            triangle.footprint(at[0], at[1], edge)
        };
        let tangents = |i: usize| spots[i].triangle.tangents();
        let (textures, lighting) = (&*stage.textures, &self.lighting);
        let own = look.shade(&samples, footprint, tangents, textures, lighting);
        std::array::from_fn(|i| {
            let [red, green, blue, alpha] = own[i];
            let [red, green, blue] = stage.in_fog([red, green, blue], samples[i].at);
            [red, green, blue, alpha]
        })
    }
}

/// A place of a triangle on the grid.
#[derive(Clone, Copy)]
struct Spot<'a> {
    triangle: &'a Triangle,
    at: [f64; 2],
    /// Samples along the edge of the square that it stands for.
    edge: f64,
}

/// Number of places that are lit together.
const TOGETHER: usize = 8;

/// Places with the same material that are to be lit, with the numbers under which they are put.
#[derive(Default)]
struct Waiting<'a>(Vec<(usize, Spot<'a>)>);

impl<'a> Waiting<'a> {
    /// Adds a place; first lights what waits if it has another material, and then all of it if
    /// there are as many as are lit together.
    fn add(
        &mut self,
        place: usize,
        spot: Spot<'a>,
        canvas: &Canvas<'_>,
        mut put: impl FnMut(usize, [f32; 3]),
    ) {
        let first = self.0.first();
        let is_other = first.is_some_and(|(_, first)| {
            let looks = [first, &spot].map(|spot| canvas.look(spot.triangle));
            !std::ptr::eq(looks[0], looks[1])
        });
        if is_other {
            self.light(canvas, &mut put);
        }
        self.0.push((place, spot));
        if self.0.len() == TOGETHER {
            self.light(canvas, &mut put);
        }
    }

    /// Lights all places.
    fn light(&mut self, canvas: &Canvas<'_>, mut put: impl FnMut(usize, [f32; 3])) {
        let mut put = |place, [red, green, blue, _]: [f32; 4]| put(place, [red, green, blue]);
        if let Ok(all) = <&[_; TOGETHER]>::try_from(&*self.0) {
            let colors = canvas.shade(&all.map(|(_, spot)| spot));
            for ((place, _), color) in all.iter().zip(colors) {
                put(*place, color);
            }
        } else {
            for (place, spot) in &self.0 {
                let [color] = canvas.shade(&[*spot]);
                put(*place, color);
            }
        }
        self.0.clear();
    }
}
