//! [`Lens`]: projection of a camera, its distortion, and what `CameraInfo` says of both.
//!
//! Source: SDFormat, `camera.sdf`; the model of distortion is Brown's, with five coefficients, as
//! `OpenCV` and gz-rendering have it. Where its polynomial folds back, the directions that are
//! nearer to its centre count, as in gz-rendering; a place that shows none of those is black.

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

/// The most times that the image which is distorted is wider and higher than the result. A radial
/// part alone needs at most 2.82: of all polynomials with three coefficients that grow as far as
/// some distance, the one with the least value there has 0.3555 of that distance.
const WIDER_MAX: usize = 3;

/// Part by which a direction may be farther out than the fold of the radial part alone.
const FOLD_TOLERANCE: f64 = 1.25;

/// Farthest direction that is searched for, at a distance of 1.
const LOOK_MAX: f64 = 1e3;

/// Halvings of a range in which something is searched for.
const HALVINGS: usize = 60;

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
    /// The centre of distortion as seen from the principal point, in focal lengths.
    bent_about: [f64; 2],
    /// Distance to the other camera of a pair, for the one that tells it \[m\].
    baseline: f64,
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
        let mut lens = Self {
            size,
            focal: [intrinsic("fx", focal)?, intrinsic("fy", focal)?],
            center: [
                intrinsic("cx", f64::from(size[0]) / 2.0)?,
                intrinsic("cy", f64::from(size[1]) / 2.0)?,
            ],
            distortion,
            bent_about: [0.0; 2],
            baseline: 0.0,
        };
        if !lens.focal.iter().all(|focal| *focal > 0.0) {
            let reason = "<fx> and <fy> of <intrinsics> must be more than 0";
            return Err(ConfigureError(reason.to_owned()));
        }
        if let Some(about) = parameters::pair(camera, "distortion/center")? {
            lens.bent_about = std::array::from_fn(|axis| {
                let about = about[axis] * f64::from(size[axis]);
                (about - lens.center[axis]) / lens.focal[axis]
            });
        }
        Ok(lens)
    }

    /// Makes a lens of which only the focal length is known, in the middle of an image.
    pub(super) fn centered(size: [u32; 2], focal: f64) -> Self {
        Self {
            size,
            focal: [focal; 2],
            center: size.map(|edge| f64::from(edge) / 2.0),
            distortion: [0.0; 5],
            bent_about: [0.0; 2],
            baseline: 0.0,
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

    /// Returns the same at this distance from the other camera of a pair \[m\].
    pub(super) fn with_baseline(self, baseline: f64) -> Self {
        Self { baseline, ..self }
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
                p: vec![
                    fx,
                    0.0,
                    cx,
                    0.0 - fx * self.baseline,
                    0.0,
                    fy,
                    cy,
                    0.0,
                    0.0,
                    0.0,
                    1.0,
                    0.0,
                ],
            },
            rectification_matrix: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        }
    }

    /// Returns how its images are made from such without distortion; `None` if it has none.
    pub(super) fn unfolding(self) -> Option<Unfolding> {
        if self.distortion == [0.0; 5] {
            return None;
        }
        let bending = Bending::of(&self);
        let looks = self
            .pixels()
            .map(|[_, left, up]| bending.straight([-left, -up]));
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
}

/// Distortion of a lens: from directions to the places where they are seen, and back.
struct Bending {
    distortion: [f64; 5],
    about: [f64; 2],
    /// Focal lengths \[pixels\].
    focal: [f64; 2],
    /// Distance from the centre from which on the radial part folds back; infinite if nowhere.
    fold: f64,
}

impl Bending {
    fn of(lens: &Lens) -> Self {
        let [k1, k2, k3, ..] = lens.distortion;
        Self {
            distortion: lens.distortion,
            about: lens.bent_about,
            focal: lens.focal,
            fold: first_root([3.0 * k1, 5.0 * k2, 7.0 * k3]).sqrt(),
        }
    }

    /// Returns where a direction is seen, both to the right and down at a distance of 1, from the
    /// centre of distortion.
    fn bent(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [k1, k2, k3, p1, p2] = self.distortion;
        let square = x * x + y * y;
        let radial = 1.0 + square * (k1 + square * (k2 + square * k3));
        [
            x * radial + 2.0 * p1 * x * y + p2 * (square + 2.0 * x * x),
            y * radial + p1 * (square + 2.0 * y * y) + 2.0 * p2 * x * y,
        ]
    }

    /// Returns the direction that is seen at a place, both from the principal point, if there is
    /// one before the fold.
    fn straight(&self, seen: [f64; 2]) -> Option<[f64; 2]> {
        let seen = std::array::from_fn(|axis| seen[axis] - self.about[axis]);
        let look = self.search(seen, seen);
        let look = look.or_else(|| self.search(seen, self.radially_straight(seen)))?;
        Some(std::array::from_fn(|axis| look[axis] + self.about[axis]))
    }

    /// Returns the direction that is seen at a place but for the tangential part, or the nearest
    /// one before the fold; found by halving, since what is before the fold grows outwards.
    fn radially_straight(&self, seen: [f64; 2]) -> [f64; 2] {
        let [k1, k2, k3, ..] = self.distortion;
        let distance = (seen[0] * seen[0] + seen[1] * seen[1]).sqrt();
        if distance == 0.0 {
            return seen;
        }
        let (mut low, mut high) = (0.0, self.fold.min(LOOK_MAX));
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let square = middle * middle;
            let radial = 1.0 + square * (k1 + square * (k2 + square * k3));
            if middle * radial < distance {
                low = middle;
            } else {
                high = middle;
            }
        }
        seen.map(|part| part / distance * low)
    }

    /// Searches for the direction that is seen at a place: the inverse of [`Self::bent`], by the
    /// method of Newton with slopes from differences.
    fn search(&self, seen: [f64; 2], start: [f64; 2]) -> Option<[f64; 2]> {
        const STEP: f64 = 1e-6;
        let mut look = start;
        for _ in 0..SEARCH_STEPS {
            let here = self.bent(look);
            let miss = [seen[0] - here[0], seen[1] - here[1]];
            let along = |axis: usize| {
                let mut moved = look;
                moved[axis] += STEP;
                let there = self.bent(moved);
                [(there[0] - here[0]) / STEP, (there[1] - here[1]) / STEP]
            };
            let ([a, c], [b, d]) = (along(0), along(1));
            let determinant = a * d - b * c;
            let is_near = |axis: usize| (miss[axis] * self.focal[axis]).abs() < SEARCH_TOLERANCE;
            if is_near(0) && is_near(1) {
                // Beyond the fold of a lens, directions far outside are seen a second time.
                let is_first = look[0] * seen[0] + look[1] * seen[1] >= 0.0;
                let distance = (look[0] * look[0] + look[1] * look[1]).sqrt();
                let is_before = determinant > 0.0 && distance <= self.fold * FOLD_TOLERANCE;
                return (is_first && is_before).then_some(look);
            }
            if !determinant.is_normal() {
                return None;
            }
            look[0] += (d * miss[0] - b * miss[1]) / determinant;
            look[1] += (a * miss[1] - c * miss[0]) / determinant;
            if !look.iter().all(|part| part.abs() < LOOK_MAX) {
                return None;
            }
        }
        None
    }
}

/// Returns the least number above 0 at which 1 + a s + b s² + c s³ is 0; infinite without any.
fn first_root([a, b, c]: [f64; 3]) -> f64 {
    let value = |s: f64| 1.0 + s * (a + s * (b + s * c));
    // Where it turns, a + 2 b s + 3 c s² is 0: in between it rises or falls.
    let most = LOOK_MAX * LOOK_MAX;
    let twice = 2.0 * b;
    let root = (twice * twice - 12.0 * c * a).sqrt();
    let mut turns = [2.0 * a / (-twice - root), 2.0 * a / (-twice + root), most];
    turns.sort_by(f64::total_cmp);
    let turns = turns
        .into_iter()
        .filter(|turn| *turn > 0.0 && *turn <= most);
    let mut low = 0.0;
    for turn in turns {
        if value(turn) <= 0.0 {
            let mut high = turn;
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(low, high);
                if value(middle) > 0.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            return low;
        }
        low = turn;
    }
    f64::INFINITY
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
            let bending = Bending::of(&lens(distortion));
            for look in [[0.0, 0.0], [0.3, -0.2], [-0.5, 0.4]] {
                let found = bending.straight(bending.bent(look)).unwrap();
                for axis in 0..2 {
                    assert!(
                        (found[axis] - look[axis]).abs() < 1e-3,
                        "{found:?} {look:?}"
                    );
                }
            }
        }
    }

    /// Returns the direction before the fold that is seen so far from the centre, by the closed
    /// form of Viète for r + k1 r³ with a negative k1.
    fn first_of_barrel(k1: f64, seen: f64) -> Option<f64> {
        let span = 2.0 / (-3.0 * k1).sqrt();
        let cosine = -3.0 * seen / span;
        let turn = 4.0 * std::f64::consts::PI / 3.0;
        (cosine >= -1.0).then(|| span * (cosine.acos() / 3.0 + turn).cos())
    }

    #[test]
    fn a_barrel_that_folds_back_shows_what_is_before_the_fold_and_black_beyond() {
        for k1 in [-0.05, -0.3, -1.0, -4.0] {
            let bending = Bending::of(&lens([k1, 0.0, 0.0, 0.0, 0.0]));
            assert!((bending.fold - 1.0 / (-3.0 * k1).sqrt()).abs() < 1e-9);
            for step in 0..400 {
                let seen = 0.01 * f64::from(step);
                let found = bending.straight([0.6 * seen, -0.8 * seen]);
                let found = found.map(|[x, y]| (x * x + y * y).sqrt());
                match first_of_barrel(k1, seen) {
                    // A hundredth of a pixel, which is more of a direction close to the fold.
                    Some(expected) if expected < 0.97 * bending.fold => {
                        let found = found.unwrap();
                        assert!(
                            (found - expected).abs() < 5e-3,
                            "{k1} {seen}: {found} {expected}"
                        );
                    }
                    Some(_) => {}
                    None => assert!(seen > 0.5 * bending.fold && found.is_none(), "{k1} {seen}"),
                }
            }
        }
    }

    #[test]
    fn what_comes_back_from_beyond_the_fold_is_not_seen() {
        // It folds back at 0.96, and rises again later: 0.7 is seen there.
        let bending = Bending::of(&lens([-0.45, 0.05, 0.005, 0.0, 0.0]));
        let most = bending.bent([bending.fold, 0.0])[0];
        assert!(
            bending.fold.is_finite() && most < 0.7,
            "{} {most}",
            bending.fold
        );
        let again = (0..4000).map(|step| f64::from(step) * 1e-3);
        let again = again
            .filter(|look| *look > bending.fold)
            .find(|look| bending.bent([*look, 0.0])[0] > 0.7);
        assert!(again.is_some(), "it comes back");
        assert_eq!(bending.straight([0.7, 0.0]), None);
        let found = bending.straight([0.99 * most, 0.0]).unwrap();
        assert!(found[0] < bending.fold * 1.01, "{found:?}");
    }

    #[test]
    fn the_first_root_is_the_least_above_zero() {
        let check = |factors: [f64; 3], expected: f64| {
            let found = first_root(factors);
            let is_so = found == expected || (found - expected).abs() < 1e-9;
            assert!(is_so, "{factors:?}: {found}");
        };
        check([-1.0, 0.0, 0.0], 1.0);
        check([1.0, 0.0, 0.0], f64::INFINITY);
        check([0.0, 0.0, 0.0], f64::INFINITY);
        check([0.0, -0.25, 0.0], 2.0);
        check([0.0, 0.0, -1.0], 1.0);
        // (1 - s) (1 - s / 2) (1 - s / 3).
        check([-11.0 / 6.0, 1.0, -1.0 / 6.0], 1.0);
        check([-0.9, 0.25, 0.0], f64::INFINITY);
        check([0.5, -0.5, 0.0], 2.0);
    }

    #[test]
    fn a_centre_of_distortion_is_where_nothing_is_bent() {
        let mut lens = lens([-0.2, 0.05, 0.0, 0.0, 0.0]);
        lens.bent_about = [0.25, -0.1];
        let bending = Bending::of(&lens);
        assert_eq!(bending.straight([0.25, -0.1]), Some([0.25, -0.1]));
        let [right, _] = bending.straight([0.55, -0.1]).unwrap();
        let [other, _] = bending.straight([-0.05, -0.1]).unwrap();
        assert!(
            right > 0.55 && (right + other - 0.5).abs() < 1e-3,
            "{right} {other}"
        );
    }

    #[test]
    fn the_widest_lens_that_does_not_fold_back_is_cut_nowhere() {
        // Nearly the polynomial of the note at `WIDER_MAX`, whose fold is just beyond the edges:
        // its slope is (1 - s) (0.03 + 0.97 (1 - 7 s / 3)²), s being the square of the part of the
        // fold.
        let fold = 2.3;
        let slope = [
            -0.97 * 17.0 / 3.0 - 0.03,
            0.97 * 91.0 / 9.0,
            -0.97 * 49.0 / 9.0,
        ];
        let square = fold * fold;
        let k = [
            slope[0] / 3.0 / square,
            slope[1] / 5.0 / (square * square),
            slope[2] / 7.0 / (square * square * square),
        ];
        let lens = Lens {
            distortion: [k[0], k[1], k[2], 0.0, 0.0],
            ..Lens::centered([200, 2], 100.0 / (0.3648 * fold) * 1.001)
        };
        let unfolding = lens.unfolding().unwrap();
        let [width, _] = unfolding.drawn.size;
        assert!((500..600).contains(&width), "{width}");
        let seen = unfolding.places.iter().flatten().count();
        assert_eq!(seen, 200 * 2, "nothing is black");
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
