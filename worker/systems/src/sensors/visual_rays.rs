//! [`VisualRays`]: distances along rays to visuals instead of collisions, as the lidars of Gazebo
//! measure them.
//!
//! The surroundings of the sensor are drawn onto the faces of a cube, of each only the part that
//! rays reach. Where the four pixels around a ray show the same visual, the inverse of their depths
//! is interpolated, which is exact on planes; elsewhere the nearest pixel counts.

use render::{Intrinsics, NO_VISUAL, Seen};
use sdf::{Content, Pose, World};

use super::eye::Eye;
use super::lens::Lens;
use super::parameters;
use super::vector::{dot, turn};
use super::wide_angle_camera::FACES;
use crate::configuration::text_of;
use crate::drawn_world::{MovingLinks, named};
use crate::{ConfigureError, Context};

/// Parameter of the system `Sensors` that says what distances are measured to.
const PARAMETER: &str = "phalanx:distances";

/// Least and greatest focal length of a face, in pixels.
const FOCALS: [f64; 2] = [64.0, 1024.0];
/// Pixels between two rays, as far as the focal length allows.
const PIXELS_PER_RAY: f64 = 2.0;
/// Depth from which on something is drawn \[m\]: a sensor sees, too, what is nearer than it
/// measures.
pub(super) const DEPTH_MIN: f64 = 1e-3;
/// Depth beyond which nothing is drawn for a sensor without a greatest range \[m\].
pub(super) const DEPTH_MAX: f64 = 1e5;

/// Rays in fixed directions of a sensor's frame.
pub(super) struct VisualRays {
    eye: Eye,
    faces: Vec<Face>,
    count: usize,
}

/// The part of a face that rays reach.
struct Face {
    /// Orientation in the frame of the sensor.
    orientation: Pose,
    intrinsics: Intrinsics,
    rays: Vec<Ray>,
}

/// A ray through a face.
struct Ray {
    /// Its number among all.
    number: usize,
    /// Its place, counted from the middle of the first pixel: columns, rows.
    place: [f64; 2],
    /// Distance along it per depth.
    length: f64,
}

/// Tells whether the sensors of a world measure distances to visuals: the system `Sensors` has
/// `<phalanx:distances>visuals</phalanx:distances>`.
///
/// # Errors
/// Fails if it says something else than `visuals` or `collisions`.
pub(super) fn are_asked_for(world: &World) -> Result<bool, ConfigureError> {
    let mut plugins = named(&world.plugins, "Sensors");
    let found = plugins.find_map(|plugin| text_of(&plugin.content, PARAMETER));
    match found.as_deref() {
        None | Some("collisions") => Ok(false),
        Some("visuals") => Ok(true),
        Some(other) => Err(ConfigureError(format!(
            "<{PARAMETER}> is {other:?}; it must be visuals or collisions"
        ))),
    }
}

/// Returns a distance between two bounds; what is nearer or farther reads as infinite (REP 117).
pub(super) fn bounded(distance: f64, least: f64, greatest: f64) -> f64 {
    if distance < least {
        f64::NEG_INFINITY
    } else if distance > greatest {
        f64::INFINITY
    } else {
        distance
    }
}

impl VisualRays {
    /// Makes rays in directions of length one, by their order, that see up to a distance \[m\];
    /// `angle` is that between neighbours \[rad\]. Reads from a `<lidar>` which visuals it sees.
    pub(super) fn new(
        lidar: &Content,
        directions: impl Iterator<Item = [f64; 3]>,
        (angle, far): (f64, f64),
    ) -> Result<Self, ConfigureError> {
        let [least, greatest] = FOCALS;
        let focal = (PIXELS_PER_RAY / angle).clamp(least, greatest);
        let mut reached: [Vec<(usize, [f64; 2], f64)>; 6] = Default::default();
        let mut count = 0;
        for (number, direction) in directions.enumerate() {
            let along = |face: usize, axis| dot(turn(FACES[face]).rotate(axis), direction);
            let forward = |face: usize| along(face, [1.0, 0.0, 0.0]);
            let first = (0, forward(0));
            let others = (1..FACES.len()).map(|face| (face, forward(face)));
            let (face, depth) = others.fold(
                first,
                |best, other| {
                    if other.1 > best.1 { other } else { best }
                },
            );
            let left = along(face, [0.0, 1.0, 0.0]) / depth;
            let up = along(face, [0.0, 0.0, 1.0]) / depth;
            reached[face].push((number, [-left * focal, -up * focal], 1.0 / depth));
            count = number + 1;
        }
        let faces = reached.into_iter().zip(FACES);
        let faces = faces.filter(|(rays, _)| !rays.is_empty());
        let mask = parameters::count(lidar, "visibility_mask", u32::MAX)?;
        let lens = Lens::centered([1, 1], focal);
        Ok(Self {
            eye: Eye::bare(lens, [DEPTH_MIN, far.min(DEPTH_MAX)], mask),
            faces: faces
                .map(|(rays, orientation)| Face::new(rays, orientation, focal))
                .collect(),
            count,
        })
    }

    /// Returns the distance along each ray from a pose, world frame \[m\]; infinite where nothing
    /// is met.
    pub(super) fn cast(&mut self, frame: &Pose, context: &Context<'_>) -> Vec<f64> {
        let moving = MovingLinks::of(context.cell);
        let mut distances = vec![f64::INFINITY; self.count];
        for face in &self.faces {
            let frame = frame.then(&face.orientation);
            let look =
                |renderer: &mut dyn render::Renderer, view: &render::View<'_>| renderer.look(view);
            let seen = self
                .eye
                .see(&frame, &face.intrinsics, &moving, context, look);
            for ray in &face.rays {
                distances[ray.number] = face.depth(&seen, ray.place) * ray.length;
            }
        }
        distances
    }
}

impl Face {
    /// Makes the part of a face that has some rays: numbers, places from the middle of the face,
    /// and lengths.
    fn new(rays: Vec<(usize, [f64; 2], f64)>, orientation: [f64; 4], focal: f64) -> Self {
        let mut ends = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
        for (_, place, _) in &rays {
            for (end, at) in ends.iter_mut().zip(place) {
                *end = [end[0].min(*at), end[1].max(*at)];
            }
        }
        // A pixel more at each end, so that every ray has four around it.
        let first = ends.map(|[least, _]| least.floor() - 1.0);
        let size = [0, 1].map(|axis| (ends[axis][1].floor() - first[axis]) as usize + 3);
        let rays = rays.into_iter().map(|(number, place, length)| Ray {
            number,
            place: [0, 1].map(|axis| place[axis] - first[axis]),
            length,
        });
        Self {
            orientation: turn(orientation),
            intrinsics: Intrinsics {
                size,
                focal: [focal; 2],
                center: first.map(|first| 0.5 - first),
            },
            rays: rays.collect(),
        }
    }

    /// Returns the depth at a place \[m\].
    fn depth(&self, seen: &Seen, place: [f64; 2]) -> f64 {
        let [columns, _] = self.intrinsics.size;
        let corner = place.map(|at| at.floor() as usize);
        let [across, down] = [0, 1].map(|axis| place[axis] - corner[axis] as f64);
        let at = |right: usize, below: usize| (corner[1] + below) * columns + corner[0] + right;
        let around = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)];
        let visual = seen.visuals[around[0]];
        let is_one = around.iter().all(|at| seen.visuals[*at] == visual);
        if is_one && visual != NO_VISUAL {
            let [a, b, c, d] = around.map(|at| 1.0 / f64::from(seen.depths[at]));
            let (above, below) = (a + (b - a) * across, c + (d - c) * across);
            return 1.0 / (above + (below - above) * down);
        }
        let nearest = at(usize::from(across >= 0.5), usize::from(down >= 0.5));
        f64::from(seen.depths[nearest])
    }
}
