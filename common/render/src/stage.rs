//! [`Stage`]: what is drawn of a world, ready to be drawn from anywhere.

mod build;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mesh::Image;
use mesh::color::linear;
use scene::{FogKind, World};

pub use scene::Pose;

use build::Sources;

use crate::camera::Camera;
use crate::light::Lamp;
use crate::limbs::Limbs;
use crate::lit::Look;
use crate::painter::Painter;
use crate::renderer::Renderer;
use crate::shape::Surface;
use crate::texture::Texture;
use crate::vector::{Vector, add, dot, length, place, rotate, scale, subtract, then, unit_or};
use crate::view::{PlaceLink, View};

/// Colour of the sky at the horizon, as screens show it.
pub const HORIZON: [f32; 3] = [0.80, 0.87, 0.93];

/// Colour of the sky overhead, as screens show it.
pub const ZENITH: [f32; 3] = [0.33, 0.55, 0.82];

/// Farthest place, and largest extent, of what is drawn \[m\].
const REACH_MAX: f64 = 1e15;

/// Poses of links by their numbers, world frame.
pub type Poses = BTreeMap<u32, Pose>;

/// Data that a renderer keeps with a stage.
type Kept = Arc<dyn Any + Send + Sync>;

/// Drawn content of a world.
pub struct Stage {
    pub(crate) world: World,
    pub(crate) items: Vec<Item>,
    pub(crate) surfaces: Vec<Arc<Surface>>,
    pub(crate) looks: Vec<Look>,
    pub(crate) textures: Vec<Arc<Texture>>,
    /// Bones of surfaces, by the numbers of these.
    limbs: BTreeMap<usize, Arc<Limbs>>,
    /// Meshes and images that were read for it.
    sources: Sources,
    /// Content that could not be drawn, for people.
    problems: Vec<String>,
    /// Data that a renderer keeps with it.
    kept: OnceLock<Kept>,
    /// Data that a renderer kept with the stage before, until it makes that of this one.
    kept_before: Mutex<Option<Kept>>,
}

/// A surface that is attached to a link.
pub(crate) struct Item {
    pub(crate) link: u32,
    /// The model of the link, as an index into those of the world.
    pub(crate) model: usize,
    /// The visual that it is of, counted over all links of all models.
    pub(crate) visual: u32,
    /// Pose of the link at the start, world frame.
    pub(crate) start: Pose,
    /// Pose in the frame of the link.
    pub(crate) pose: Pose,
    pub(crate) scale: [f64; 3],
    pub(crate) surface: usize,
    pub(crate) look: usize,
    pub(crate) traits: Traits,
    /// Centre and radius of a ball around it, frame of the shape, before it is scaled \[m\].
    pub(crate) ball: (Vector, f64),
}

/// Properties of an item besides its place and look.
pub(crate) struct Traits {
    pub(crate) casts_shadows: bool,
    /// True if it is part of the ground: of no account for what a picture of everything shows.
    pub(crate) is_ground: bool,
    /// True if it never moves.
    pub(crate) is_fixed: bool,
    /// Bits of the cameras that see it.
    pub(crate) visibility_flags: u32,
}

impl Stage {
    /// Returns what could not be drawn, for people.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns the surfaces of which everything is made. Those that a stage has in common with the
    /// one before are the same in memory.
    pub fn surfaces(&self) -> &[Arc<Surface>] {
        &self.surfaces
    }

    /// Returns the looks that items have.
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Returns the textures of looks, which are shared as surfaces are.
    pub fn textures(&self) -> &[Arc<Texture>] {
        &self.textures
    }

    /// Returns what a renderer keeps with the stage for as long as that exists, such as its meshes
    /// on a device; the first to ask makes it, from what was kept with the stage before. `None` if
    /// data of another type is kept.
    pub fn kept<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce(Option<Arc<T>>) -> T,
    ) -> Option<Arc<T>> {
        let kept = self.kept.get_or_init(|| {
            let before = self.kept_before().take();
            Arc::new(make(before.and_then(|before| before.downcast().ok())))
        });
        Arc::clone(kept).downcast().ok()
    }

    /// Returns what a renderer keeps with the stage, or with the one before while it has not made
    /// that of this one.
    fn last_kept(&self) -> Option<Kept> {
        let own = self.kept.get().cloned();
        own.or_else(|| self.kept_before().clone())
    }

    fn kept_before(&self) -> MutexGuard<'_, Option<Kept>> {
        let before = self.kept_before.lock();
        before.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the poses that links have at the start.
    pub fn start(&self) -> Poses {
        let links = self.world.models.iter().flat_map(|model| &model.links);
        links.map(|link| (link.id, link.pose)).collect()
    }

    /// Returns a camera that sees the whole world.
    pub fn view_of_all(&self, poses: &Poses, angle: f64, size: [usize; 2]) -> Camera {
        let items = || self.items.iter();
        let ball = ball_around(items().filter(|item| !item.traits.is_ground), poses);
        let ball = ball.or_else(|| ball_around(items(), poses));
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
        let (center, radius) = ball_around(items, poses).unwrap_or((at, 0.5));
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

    /// Draws the world as a camera sees it at an elapsed simulated time \[s\], in so many pixels;
    /// links that have no pose among `poses` are where they were at the start.
    pub fn picture(
        &self,
        poses: &Poses,
        elapsed_s: f64,
        camera: &Camera,
        size: [usize; 2],
    ) -> Image {
        let view = View {
            stage: self,
            place: &|_, link, start| Some(pose_of(poses, link, start)),
            elapsed_s,
            camera,
            size,
            samples: 2,
            visibility_mask: u32::MAX,
            sees_backs: true,
            has_headlight: true,
        };
        Painter::default().paint(&view)
    }

    /// Returns the surface of an item where bones move it at an elapsed simulated time \[s\];
    /// `None` where none do.
    pub(crate) fn moved(&self, item: &Item, elapsed_s: f64) -> Option<Surface> {
        let limbs = self.limbs.get(&item.surface)?;
        let motion = self.world.models[item.model].motion.as_ref()?;
        let moment = motion.limbs(&limbs.skeleton, elapsed_s);
        Some(limbs.moved(&self.surfaces[item.surface], moment.as_ref()))
    }

    /// Visits the corners of all triangles of the wanted visuals that are there at an elapsed
    /// simulated time \[s\], world frame \[m\].
    pub fn visit_vertices(
        &self,
        place: &PlaceLink<'_>,
        elapsed_s: f64,
        is_wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, [f64; 3]),
    ) {
        for item in self.items.iter().filter(|item| is_wanted(item.visual)) {
            let Some(pose) = item.pose_in(place) else {
                continue;
            };
            let moved = self.moved(item, elapsed_s);
            let surface = moved.as_ref().unwrap_or(&self.surfaces[item.surface]);
            for index in 0..surface.positions.len() {
                visit(item.visual, item.place(&pose, surface, index as u32));
            }
        }
    }

    /// Returns the light behind everything where there is no sky.
    pub(crate) fn background(&self) -> Option<[f32; 3]> {
        let background = self.world.background;
        let is_seen = self.world.sky.is_none();
        is_seen.then(|| background.map(|part| linear(part as f32)))
    }

    /// Returns a colour as it is seen through the fog from so far away.
    pub(crate) fn in_fog(&self, color: [f32; 3], at: [f32; 3]) -> [f32; 3] {
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

    /// Returns the lights of a view, and whether shadows are drawn at all.
    pub(crate) fn lamps(&self, view: &View<'_>) -> Vec<Lamp> {
        let pose_of_link = |id: u32| {
            let models = self.world.models.iter().enumerate();
            let mut links = models.flat_map(|(model, own)| {
                let links = own.links.iter();
                links.map(move |link| (model, link))
            });
            let (model, link) = links.find(|(_, link)| link.id == id)?;
            (view.place)(model, id, &link.pose)
        };
        let lights = self.world.lights.iter();
        let mut lamps: Vec<Lamp> = lights
            .filter_map(|light| match light.link {
                None => Some(Lamp::new(light, None, view.camera)),
                Some(link) => {
                    let pose = pose_of_link(link).filter(is_somewhere)?;
                    Some(Lamp::new(light, Some(pose), view.camera))
                }
            })
            .collect();
        if lamps.is_empty() && view.has_headlight {
            lamps.push(Lamp::at_camera());
        }
        lamps
    }
}

/// Returns a ball around items, if there are any.
fn ball_around<'i>(items: impl Iterator<Item = &'i Item>, poses: &Poses) -> Option<(Vector, f64)> {
    let balls = items.filter_map(|item| {
        let place = |_, link, start: &Pose| Some(pose_of(poses, link, start));
        Some(item.ball_at(&item.pose_in(&place)?))
    });
    around_all(&balls.collect::<Vec<_>>())
}

/// Returns a ball around balls, if there are any that are somewhere.
pub(crate) fn around_all(balls: &[(Vector, f64)]) -> Option<(Vector, f64)> {
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

impl Item {
    /// Returns its pose in the world, if it is there, and not beyond all that can be drawn.
    pub(crate) fn pose_in(&self, place: &PlaceLink<'_>) -> Option<Pose> {
        let link = place(self.model, self.link, &self.start)?;
        let pose = then(&link, &self.pose);
        let (center, radius) = self.ball_at(&pose);
        let is_drawn = is_somewhere(&pose) && is_near(&center) && is_near(&[radius]);
        is_drawn.then_some(pose)
    }

    /// Returns a ball around it, by its pose in the world.
    pub(crate) fn ball_at(&self, pose: &Pose) -> (Vector, f64) {
        let (center, radius) = self.ball;
        let scaled = std::array::from_fn(|i| center[i] * self.scale[i]);
        let stretch = self.scale.iter().map(|own| own.abs()).fold(0.0, f64::max);
        (place(pose, scaled), radius * stretch)
    }

    /// Returns where a vertex of its surface is in the world.
    pub(crate) fn place(&self, pose: &Pose, surface: &Surface, index: u32) -> Vector {
        let position = surface.positions[index as usize].map(f64::from);
        place(pose, std::array::from_fn(|i| position[i] * self.scale[i]))
    }
}

/// Tells whether a pose is one, and at a place that can be drawn.
pub(crate) fn is_somewhere(pose: &Pose) -> bool {
    let [x, y, z, turned @ ..] = pose;
    is_near(&[*x, *y, *z]) && turned.iter().all(|part| part.abs() <= 2.0)
}

/// Tells whether lengths are such that single precision holds their squares \[m\].
pub(crate) fn is_near(lengths: &[f64]) -> bool {
    lengths.iter().all(|length| length.abs() <= REACH_MAX)
}

fn pose_of(poses: &Poses, link: u32, start: &Pose) -> Pose {
    *poses.get(&link).unwrap_or(start)
}

#[cfg(test)]
mod tests;
