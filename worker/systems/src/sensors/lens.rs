//! [`Lens`]: projection of a camera, its distortion, and what `CameraInfo` says of both.
//!
//! Source: SDFormat, `camera.sdf`; the model of distortion is Brown's, with five coefficients.

use messages::Header;
use messages::sensor::{CameraDistortion, CameraInfo, CameraIntrinsics, CameraProjection};
use render::Intrinsics;
use sdf::Content;

use super::eye::between;
use super::lidar::RAYS_MAX;
use super::parameters;
use crate::ConfigureError;

/// The angle across that SDFormat has by default \[rad\].
const FIELD_OF_VIEW: f64 = 1.047;

/// Steps of the search for the direction that a distorted pixel shows.
const SEARCH_STEPS: usize = 30;

/// Distance within which that is found \[pixels\].
const SEARCH_TOLERANCE: f64 = 0.01;

/// The most times that the image which is distorted is wider and higher than the result.
const WIDER_MAX: usize = 3;

/// A lens with the image behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lens {
    /// Columns and rows \[pixels\].
    pub(super) size: [u32; 2],
    /// Focal lengths across and down \[pixels\].
    pub(super) focal: [f64; 2],
    /// Principal point \[pixels\].
    pub(super) center: [f64; 2],
    /// Radial coefficients k1, k2, k3, and tangential ones p1, p2.
    distortion: [f64; 5],
}

/// Rule from a distorted image to one without distortion.
pub(super) struct Unfolding {
    /// The image that is to be drawn without distortion.
    pub(super) drawn: Intrinsics,
    /// For each pixel of the distorted image, by rows, its place in the drawn one; none where there
    /// is nothing to be seen.
    places: Vec<Option<[f32; 2]>>,
}

/// Reads the columns and rows of an image, of which there is at least one pixel.
pub(super) fn read_size(camera: &Content) -> Result<[u32; 2], ConfigureError> {
    let size = [
        parameters::count(camera, "image/width", 320)?,
        parameters::count(camera, "image/height", 240)?,
    ];
    let pixels = u64::from(size[0]) * u64::from(size[1]);
    if pixels > 0 && pixels <= RAYS_MAX {
        return Ok(size);
    }
    Err(ConfigureError(format!(
        "it has {} x {} pixels; there must be 1 to {RAYS_MAX}",
        size[0], size[1]
    )))
}

/// Reads near and far plane \[m\], by the paths of elements of which the later have precedence.
pub(super) fn read_clip(camera: &Content, paths: &[&str]) -> Result<[f64; 2], ConfigureError> {
    let [mut near, mut far] = [0.1, 100.0];
    for path in paths {
        near = parameters::positive(camera, &format!("{path}/near"), near)?;
        far = parameters::positive(camera, &format!("{path}/far"), far)?;
    }
    if near < far && near.is_finite() {
        return Ok([near, far]);
    }
    Err(ConfigureError(format!(
        "<clip> goes from {near} m to {far} m"
    )))
}

impl Lens {
    /// Reads a lens that shows less than half a turn.
    pub(super) fn read(camera: &Content) -> Result<Self, ConfigureError> {
        let size = read_size(camera)?;
        let angle = parameters::positive(camera, "horizontal_fov", FIELD_OF_VIEW)?;
        if angle <= 0.0 || angle >= std::f64::consts::PI {
            return Err(ConfigureError(format!(
                "<horizontal_fov> is not between 0 and half a turn: {angle} rad"
            )));
        }
        let focal = f64::from(size[0]) / (2.0 * libm::tan(angle / 2.0));
        let given = |path: &str, default: f64| parameters::finite(camera, path, default);
        let intrinsic =
            |name: &str, default: f64| given(&format!("lens/intrinsics/{name}"), default);
        let mut distortion = [0.0; 5];
        for (name, number) in ["k1", "k2", "k3", "p1", "p2"].iter().zip(&mut distortion) {
            *number = given(&format!("distortion/{name}"), 0.0)?;
        }
        let lens = Self {
            size,
            focal: [intrinsic("fx", focal)?, intrinsic("fy", focal)?],
            center: [
                intrinsic("cx", f64::from(size[0]) / 2.0)?,
                intrinsic("cy", f64::from(size[1]) / 2.0)?,
            ],
            distortion,
        };
        if lens.focal.iter().all(|focal| *focal > 0.0) {
            return Ok(lens);
        }
        let reason = "<fx> and <fy> of <intrinsics> must be more than 0";
        Err(ConfigureError(reason.to_owned()))
    }

    /// Makes a lens of which only the focal length is known, in the middle of an image.
    pub(super) fn centered(size: [u32; 2], focal: f64) -> Self {
        Self {
            size,
            focal: [focal; 2],
            center: size.map(|edge| f64::from(edge) / 2.0),
            distortion: [0.0; 5],
        }
    }

    /// Returns the same lens without distortion.
    pub(super) fn straightened(self) -> Self {
        Self {
            distortion: [0.0; 5],
            ..self
        }
    }

    /// Returns where each pixel looks at a distance of 1 m, by rows, in the frame of the camera,
    /// without distortion.
    pub(super) fn pixels(self) -> impl Iterator<Item = [f64; 3]> {
        let [width, height] = self.size;
        (0..height).flat_map(move |row| {
            let down = (f64::from(row) + 0.5 - self.center[1]) / self.focal[1];
            (0..width).map(move |column| {
                let right = (f64::from(column) + 0.5 - self.center[0]) / self.focal[0];
                [1.0, -right, -down]
            })
        })
    }

    /// Returns its projection without distortion.
    pub(super) fn intrinsics(self) -> Intrinsics {
        Intrinsics {
            size: self.size.map(|edge| edge as usize),
            focal: self.focal,
            center: self.center,
        }
    }

    /// Returns what a message says of it.
    pub(super) fn info(self, header: Header) -> CameraInfo {
        let ([fx, fy], [cx, cy]) = (self.focal, self.center);
        let [k1, k2, k3, p1, p2] = self.distortion;
        CameraInfo {
            header,
            width: self.size[0],
            height: self.size[1],
            distortion: CameraDistortion {
                model: "PLUMB_BOB".to_owned(),
                k: vec![k1, k2, p1, p2, k3],
            },
            intrinsics: CameraIntrinsics {
                k: vec![fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
            },
            projection: CameraProjection {
                p: vec![fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
            },
            rectification_matrix: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        }
    }

    /// Returns how its images are made from such without distortion; `None` if it has none.
    pub(super) fn unfolding(self) -> Option<Unfolding> {
        if self.distortion == [0.0; 5] {
            return None;
        }
        let looks = self
            .pixels()
            .map(|[_, left, up]| self.straight([-left, -up]));
        let looks: Vec<Option<[f64; 2]>> = looks.collect();
        let (mut low, mut high) = ([0.0_f64; 2], [0.0_f64; 2]);
        for look in looks.iter().flatten() {
            for axis in 0..2 {
                low[axis] = low[axis].min(look[axis]);
                high[axis] = high[axis].max(look[axis]);
            }
        }
        // A pixel more at each edge, for the means of neighbours.
        let reach = |axis: usize| (high[axis] - low[axis]) * self.focal[axis] + 2.0;
        let size: [usize; 2] = std::array::from_fn(|axis| {
            let most = self.size[axis] as usize * WIDER_MAX;
            (reach(axis).ceil() as usize).clamp(1, most)
        });
        let center: [f64; 2] = std::array::from_fn(|axis| 1.0 - low[axis] * self.focal[axis]);
        let place = |look: [f64; 2]| -> [f32; 2] {
            std::array::from_fn(|axis| (look[axis] * self.focal[axis] + center[axis] - 0.5) as f32)
        };
        let is_drawn = |place: &[f32; 2]| {
            (0..2).all(|axis| place[axis] >= 0.0 && place[axis] <= (size[axis] - 1) as f32)
        };
        Some(Unfolding {
            drawn: Intrinsics {
                size,
                focal: self.focal,
                center,
            },
            places: looks
                .into_iter()
                .map(|look| look.map(place).filter(is_drawn))
                .collect(),
        })
    }

    /// Returns where a direction is seen, both to the right and down at a distance of 1.
    fn bent(self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [k1, k2, k3, p1, p2] = self.distortion;
        let square = x * x + y * y;
        let radial = 1.0 + square * (k1 + square * (k2 + square * k3));
        [
            x * radial + 2.0 * p1 * x * y + p2 * (square + 2.0 * x * x),
            y * radial + p1 * (square + 2.0 * y * y) + 2.0 * p2 * x * y,
        ]
    }

    /// Returns the direction that is seen at a place, if there is one: the inverse of
    /// [`Self::bent`], by the method of Newton with slopes from differences.
    fn straight(self, seen: [f64; 2]) -> Option<[f64; 2]> {
        const STEP: f64 = 1e-6;
        let mut look = seen;
        for _ in 0..SEARCH_STEPS {
            let here = self.bent(look);
            let miss = [seen[0] - here[0], seen[1] - here[1]];
            let is_near = |axis: usize| (miss[axis] * self.focal[axis]).abs() < SEARCH_TOLERANCE;
            // Beyond the fold of a lens, directions far outside are seen a second time.
            let is_first = look[0] * seen[0] + look[1] * seen[1] >= 0.0;
            if is_near(0) && is_near(1) {
                return is_first.then_some(look);
            }
            let along = |axis: usize| {
                let mut moved = look;
                moved[axis] += STEP;
                let there = self.bent(moved);
                [(there[0] - here[0]) / STEP, (there[1] - here[1]) / STEP]
            };
            let ([a, c], [b, d]) = (along(0), along(1));
            let determinant = a * d - b * c;
            if !determinant.is_normal() {
                return None;
            }
            look[0] += (d * miss[0] - b * miss[1]) / determinant;
            look[1] += (a * miss[1] - c * miss[0]) / determinant;
            if !look.iter().all(|part| part.abs() < 1e3) {
                return None;
            }
        }
        None
    }
}

impl Unfolding {
    /// Makes the distorted image of a drawn one; what is not to be seen is black.
    pub(super) fn fold(&self, drawn: &[[u8; 4]]) -> Vec<[u8; 4]> {
        let width = self.drawn.size[0];
        let pixel = |place: &Option<[f32; 2]>| match place {
            Some(place) => between(drawn, width, *place),
            None => [0, 0, 0, 255],
        };
        self.places.iter().map(pixel).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens(distortion: [f64; 5]) -> Lens {
        Lens {
            distortion,
            ..Lens::centered([80, 60], 60.0)
        }
    }

    #[test]
    fn a_distorted_place_shows_the_direction_that_is_bent_there() {
        for distortion in [
            [-0.25, 0.12, 0.0, -0.0003, 0.0001],
            [0.1, 0.2, 0.3, 0.01, -0.02],
        ] {
            let lens = lens(distortion);
            for look in [[0.0, 0.0], [0.3, -0.2], [-0.5, 0.4]] {
                let found = lens.straight(lens.bent(look)).unwrap();
                for axis in 0..2 {
                    assert!(
                        (found[axis] - look[axis]).abs() < 1e-3,
                        "{found:?} {look:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn without_distortion_nothing_is_folded() {
        assert!(lens([0.0; 5]).unfolding().is_none());
        // Weak enough to move nothing by a pixel.
        let unfolding = lens([1e-9, 0.0, 0.0, 0.0, 0.0]).unfolding().unwrap();
        let [width, height] = unfolding.drawn.size;
        assert!((81..=83).contains(&width) && (61..=63).contains(&height));
        let drawn: Vec<[u8; 4]> = (0..width * height)
            .map(|i| [(i % width) as u8; 4])
            .collect();
        let folded = unfolding.fold(&drawn);
        let left = unfolding.drawn.center[0] - 40.0;
        for (column, pixel) in folded[..80].iter().enumerate() {
            let expect = column as f64 + left;
            assert!(
                (f64::from(pixel[0]) - expect).abs() <= 1.0,
                "{column}: {pixel:?}"
            );
        }
    }

    #[test]
    fn a_barrel_sees_more_than_a_pinhole() {
        let unfolding = lens([-0.2, 0.0, 0.0, 0.0, 0.0]).unfolding().unwrap();
        let [width, height] = unfolding.drawn.size;
        assert!(width > 85 && height > 62, "{width} x {height}");
        let seen = unfolding.places.iter().flatten().count();
        assert_eq!(seen, 80 * 60, "everything is seen");
    }
}
