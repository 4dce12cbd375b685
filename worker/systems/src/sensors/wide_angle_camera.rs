//! `wide_angle_camera`: colours through a lens that may show more than half a turn.
//!
//! Everything around it is drawn onto the faces of a cube, from which each pixel takes what its
//! angle from the optical axis says. Source: SDFormat, `camera.sdf`, `<lens>`; gz-rendering,
//! `WideAngleCamera`, for the formula of angles.

use messages::Header;
use messages::sensor::CameraInfo;
use render::Intrinsics;
use sdf::{Content, Pose};

use super::camera::{Sight, find_camera, make_with};
use super::eye::Eye;
use super::lens::{Lens, read_clip, read_size};
use super::sensor_system::Made;
use super::vector::{dot, turn};
use super::{SensorPlan, parameters};
use crate::drawn_world::MovingLinks;
use crate::{ConfigureError, Context};

/// The greatest angle across \[rad\], and the angle that SDFormat has by default.
const FIELD_OF_VIEW_MAX: f64 = std::f64::consts::TAU;
const FIELD_OF_VIEW: f64 = 1.047;

/// Pixels along an edge of a face that a lens says nothing of, and the fewest and most.
const FACE_SIZE: u32 = 256;
const FACE_SIZES: std::ops::RangeInclusive<u32> = 8..=2048;

/// Half the square root of 2.
const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The orientations of the faces, frame of the sensor: to the front, left, back, right, up, down.
pub(super) const FACES: [[f64; 4]; 6] = [
    [0.0, 0.0, 0.0, 1.0],
    [0.0, 0.0, HALF, HALF],
    [0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, -HALF, HALF],
    [0.0, -HALF, 0.0, HALF],
    [0.0, HALF, 0.0, HALF],
];

/// Distance from the middle of an image at which an angle is seen: `factor * fun(angle * part +
/// offset)`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mapping {
    factor: f64,
    part: f64,
    offset: f64,
    function: Function,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Sine,
    Tangent,
    Angle,
}

/// Source of a pixel: a face, and the place on it.
type Target = (u8, [f32; 2]);

struct WideEye {
    eye: Eye,
    mapping: Mapping,
    /// The greatest angle from the axis that is seen \[rad\].
    cutoff: f64,
    /// The faces.
    face: Intrinsics,
    /// Sources of pixels, once one is drawn: cameras are made anew in each rollback and hand-off.
    sources: Option<Sources>,
}

/// Sources of the pixels of a camera.
struct Sources {
    /// For each pixel by rows, unless nothing is seen there.
    targets: Vec<Option<Target>>,
    is_used: [bool; 6],
}

/// Makes the model of a camera with a wide angle.
pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let camera = find_camera(plan)?;
    let size = read_size(camera)?;
    let angle = parameters::positive(camera, "horizontal_fov", FIELD_OF_VIEW)?;
    if angle <= 0.0 || angle > FIELD_OF_VIEW_MAX {
        return Err(ConfigureError(format!(
            "<horizontal_fov> is not between 0 and a turn: {angle} rad"
        )));
    }
    let mut mapping = Mapping::read(camera)?;
    if parameters::flag(camera, "lens/scale_to_hfov", true) {
        mapping = mapping.scaled_to(angle)?;
    }
    let cutoff = parameters::positive(camera, "lens/cutoff_angle", std::f64::consts::FRAC_PI_2)?;
    let edge = parameters::count(camera, "lens/env_texture_size", FACE_SIZE)?;
    if !FACE_SIZES.contains(&edge) {
        return Err(ConfigureError(format!(
            "<env_texture_size> is {edge}; it must be {} to {}",
            FACE_SIZES.start(),
            FACE_SIZES.end()
        )));
    }
    let half_width = f64::from(size[0]) / 2.0;
    let lens = Lens::centered(size, half_width * mapping.slope());
    let eye = Eye::read(camera, lens, read_clip(camera, &["clip"])?)?;
    let sight = WideEye::new(eye, mapping, cutoff, edge as usize);
    make_with(plan, camera, Box::new(sight))
}

impl Mapping {
    fn read(camera: &Content) -> Result<Self, ConfigureError> {
        let plain = |factor: f64, part: f64, function| Self {
            factor,
            part,
            offset: 0.0,
            function,
        };
        let kind = parameters::text(camera, "lens/type");
        Ok(match kind.as_deref().unwrap_or("stereographic") {
            "gnomonical" => plain(1.0, 1.0, Function::Tangent),
            "stereographic" => plain(2.0, 0.5, Function::Tangent),
            "equidistant" => plain(1.0, 1.0, Function::Angle),
            "equisolid_angle" => plain(2.0, 0.5, Function::Sine),
            "orthographic" => plain(1.0, 1.0, Function::Sine),
            "custom" => Self::custom(camera)?,
            other => {
                return Err(ConfigureError(format!(
                    "{other:?} is no <type> of a <lens>: there are gnomonical, stereographic, \
                     equidistant, equisolid_angle, orthographic and custom"
                )));
            }
        })
    }

    fn custom(camera: &Content) -> Result<Self, ConfigureError> {
        let given = |name: &str, default: f64| {
            parameters::finite(camera, &format!("lens/custom_function/{name}"), default)
        };
        let name = parameters::text(camera, "lens/custom_function/fun");
        let function = match name.as_deref().unwrap_or("tan") {
            "sin" => Function::Sine,
            "tan" => Function::Tangent,
            "id" => Function::Angle,
            other => {
                return Err(ConfigureError(format!(
                    "<fun> is {other:?}; it must be sin, tan or id"
                )));
            }
        };
        let mapping = Self {
            factor: given("c1", 1.0)? * given("f", 1.0)?,
            part: 1.0 / given("c2", 1.0)?,
            offset: given("c3", 0.0)?,
            function,
        };
        if mapping.factor > 0.0 && mapping.part > 0.0 && mapping.part.is_finite() {
            return Ok(mapping);
        }
        let reason = "<c1> times <f>, and <c2>, of <custom_function> must be more than 0";
        Err(ConfigureError(reason.to_owned()))
    }

    /// Returns the same with this angle from edge to edge of an image.
    fn scaled_to(self, angle: f64) -> Result<Self, ConfigureError> {
        let edge = self.radius(angle / 2.0);
        let rises = self
            .angle(edge)
            .is_some_and(|found| (found - angle / 2.0).abs() < 1e-6);
        if edge > 0.0 && rises {
            return Ok(Self {
                factor: self.factor / edge,
                ..self
            });
        }
        Err(ConfigureError(format!(
            "a <lens> of this <type> cannot show a <horizontal_fov> of {angle} rad"
        )))
    }

    /// Returns where an angle from the axis is seen; 1 is the edge of the image.
    fn radius(self, angle: f64) -> f64 {
        let along = angle * self.part + self.offset;
        self.factor
            * match self.function {
                Function::Sine => libm::sin(along),
                Function::Tangent => libm::tan(along),
                Function::Angle => along,
            }
    }

    /// Returns the angle that is seen at a distance from the middle, if there is one.
    fn angle(self, radius: f64) -> Option<f64> {
        let value = radius / self.factor;
        let along = match self.function {
            Function::Sine if value.abs() > 1.0 => return None,
            Function::Sine => libm::asin(value),
            Function::Tangent => libm::atan(value),
            Function::Angle => value,
        };
        let angle = (along - self.offset) / self.part;
        (angle >= 0.0).then_some(angle)
    }

    /// Returns how fast the distance grows with the angle in the middle.
    fn slope(self) -> f64 {
        const STEP: f64 = 1e-6;
        (self.radius(STEP) - self.radius(0.0)) / STEP
    }
}

impl WideEye {
    fn new(eye: Eye, mapping: Mapping, cutoff: f64, edge: usize) -> Self {
        // A pixel beyond each edge, so that faces have the means of neighbours in common.
        let focal = (edge as f64 - 2.0) / 2.0;
        let face = Intrinsics {
            size: [edge; 2],
            focal: [focal; 2],
            center: [edge as f64 / 2.0; 2],
        };
        Self {
            eye,
            mapping,
            cutoff,
            face,
            sources: None,
        }
    }
}

impl Sources {
    fn new(size: [u32; 2], mapping: Mapping, cutoff: f64, face: &Intrinsics) -> Self {
        let [width, height] = size;
        let half_width = f64::from(width) / 2.0;
        let place =
            |index: u32, count: u32| (f64::from(index) + 0.5 - f64::from(count) / 2.0) / half_width;
        let pixels = (0..height).flat_map(|row| (0..width).map(move |column| [column, row]));
        let axes = axes_of_faces();
        let targets = pixels.map(|[column, row]| {
            let (right, down) = (place(column, width), place(row, height));
            let radius = (right * right + down * down).sqrt();
            let angle = mapping.angle(radius).filter(|angle| *angle <= cutoff)?;
            // Beyond half a turn all has been seen.
            if angle > std::f64::consts::PI {
                return None;
            }
            let across = if radius > 0.0 {
                libm::sin(angle) / radius
            } else {
                0.0
            };
            let look = [libm::cos(angle), -right * across, -down * across];
            Some(target(look, face, &axes))
        });
        let targets: Vec<Option<Target>> = targets.collect();
        let mut is_used = [false; 6];
        for (face, _) in targets.iter().flatten() {
            is_used[usize::from(*face)] = true;
        }
        Self { targets, is_used }
    }
}

/// Returns the axes of each face, forward, left and up, frame of the sensor.
fn axes_of_faces() -> [[[f64; 3]; 3]; 6] {
    const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    FACES.map(|face| AXES.map(|axis| turn(face).rotate(axis)))
}

/// Returns the face that shows a direction, and the place on it.
fn target(look: [f64; 3], face: &Intrinsics, axes: &[[[f64; 3]; 3]; 6]) -> Target {
    let forward = |number: usize| dot(axes[number][0], look);
    let nearest = (1..FACES.len()).fold(0, |best, number| {
        if forward(number) > forward(best) {
            number
        } else {
            best
        }
    });
    let [_, left, up] = axes[nearest];
    let depth = forward(nearest);
    let [left, up] = [left, up].map(|axis| dot(axis, look) / depth);
    let place = [-left, -up].map(|part| part * face.focal[0] + face.center[0] - 0.5);
    let last = (face.size[0] - 1) as f64;
    (
        nearest as u8,
        place.map(|part| part.clamp(0.0, last) as f32),
    )
}

impl Sight for WideEye {
    fn lens(&self) -> Lens {
        self.eye.lens
    }

    fn info(&self, header: Header) -> CameraInfo {
        self.eye.lens.info(header)
    }

    fn colors(&mut self, frame: &Pose, context: &Context<'_>) -> Vec<[u8; 4]> {
        let moving = MovingLinks::of(context.cell);
        let (mapping, cutoff, face) = (self.mapping, self.cutoff, &self.face);
        let size = self.eye.lens.size;
        let sources = self
            .sources
            .get_or_insert_with(|| Sources::new(size, mapping, cutoff, face));
        let mut faces = <[Vec<[u8; 4]>; 6]>::default();
        for (number, pixels) in faces.iter_mut().enumerate() {
            if sources.is_used[number] {
                let frame = frame.then(&turn(FACES[number]));
                let draw = |renderer: &mut dyn render::Renderer, view: &render::View<'_>| {
                    renderer.paint(view).pixels
                };
                *pixels = self.eye.see(&frame, &self.face, &moving, context, draw);
            }
        }
        let edge = self.face.size[0];
        let color = |target: &Option<Target>| match target {
            Some((face, place)) => super::eye::between(&faces[usize::from(*face)], edge, *place),
            None => [0, 0, 0, 255],
        };
        sources.targets.iter().map(color).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens(function: Function, part: f64) -> Mapping {
        let mapping = Mapping {
            factor: 1.0,
            part,
            offset: 0.0,
            function,
        };
        mapping.scaled_to(2.0).unwrap()
    }

    #[test]
    fn half_the_angle_of_view_is_at_the_edge() {
        for mapping in [
            lens(Function::Angle, 1.0),
            lens(Function::Tangent, 0.5),
            lens(Function::Sine, 0.5),
        ] {
            assert!((mapping.radius(1.0) - 1.0).abs() < 1e-12);
            let angle = mapping.angle(0.4).unwrap();
            assert!((mapping.radius(angle) - 0.4).abs() < 1e-12);
        }
        let equidistant = lens(Function::Angle, 1.0);
        assert_eq!(equidistant.angle(0.25), Some(0.25));
        let tangent = Mapping {
            factor: 1.0,
            part: 1.0,
            offset: 0.0,
            function: Function::Tangent,
        };
        assert!(tangent.scaled_to(4.0).is_err(), "more than half a turn");
    }

    #[test]
    fn each_face_shows_its_direction_in_its_middle() {
        let face = Intrinsics {
            size: [10; 2],
            focal: [4.0; 2],
            center: [5.0; 2],
        };
        let axes = [
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [-1.0, 0.0, 0.0],
            [0.0, -1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, -1.0],
        ];
        for (number, look) in axes.iter().enumerate() {
            let (found, place) = target(*look, &face, &axes_of_faces());
            assert_eq!(usize::from(found), number);
            assert!(
                place.iter().all(|part| (part - 4.5).abs() < 1e-6),
                "{place:?}"
            );
        }
        let (found, place) = target([1.0, 0.5, 0.0], &face, &axes_of_faces());
        assert_eq!((found, place), (0, [2.5, 4.5]), "what is left is left");
    }
}
