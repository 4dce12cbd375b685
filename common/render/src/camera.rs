//! [`Camera`]: where a picture is taken from.

use scene::Pose;

use crate::stage::is_near;
use crate::vector::{Vector, add, cross, dot, length, rotate, scale, subtract, unit_or};

/// Distance before which nothing is seen \[m\].
pub(crate) const NEAR: f64 = 0.02;

/// A camera without distortion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Its place, world frame \[m\].
    position: Vector,
    /// Unit vectors: to the right, down, and along its view.
    axes: [Vector; 3],
    /// Focal lengths across and down, as parts of the width of a picture.
    focal: [f64; 2],
    /// Principal point, as parts of the width and the height of a picture.
    center: [f64; 2],
    /// Distance of what matters most \[m\].
    focus: f64,
    /// Distances before and beyond which nothing is seen \[m\].
    clip: [f64; 2],
}

/// Lens of a camera for a grid of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// Focal lengths across and down, in samples.
    pub focal: [f64; 2],
    /// Principal point, in samples.
    pub center: [f64; 2],
}

/// Intrinsics of a camera, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intrinsics {
    /// Columns and rows of a picture.
    pub size: [usize; 2],
    /// Focal lengths across and down.
    pub focal: [f64; 2],
    /// Principal point, from the top left.
    pub center: [f64; 2],
}

/// Farthest place that matters to a camera whose focus nobody says \[m\].
const FOCUS_MAX: f64 = 12.5;

impl Camera {
    /// The horizontal angle of view of a camera that says none \[rad\].
    pub const ANGLE: f64 = 1.047;

    /// Makes a camera that looks from one place to another, upright \[m\]. A view straight up or
    /// down has +x at the top, and one to where it is goes along +x.
    pub fn looking(from: [f64; 3], at: [f64; 3], horizontal_angle: f64) -> Self {
        let view = subtract(at, from);
        let forward = unit_or(view, [1.0, 0.0, 0.0]);
        let sideways = cross(forward, [0.0, 0.0, 1.0]);
        let right = if length(sideways) < 1e-9 {
            [0.0, -1.0, 0.0]
        } else {
            unit_or(sideways, [0.0, -1.0, 0.0])
        };
        Self {
            position: from,
            axes: [right, cross(forward, right), forward],
            focal: [0.5 / tangent(horizontal_angle); 2],
            center: [0.5; 2],
            focus: length(view).max(NEAR),
            clip: [NEAR, f64::INFINITY],
        }
    }

    /// Makes a camera at a pose, world frame, that looks along its x with z up, and sees what is
    /// between two distances along its view \[m\].
    pub fn pinhole(pose: &Pose, intrinsics: &Intrinsics, [near, far]: [f64; 2]) -> Self {
        let [width, height] = intrinsics.size.map(|count| count as f64);
        let [[fx, fy], [cx, cy]] = [intrinsics.focal, intrinsics.center];
        Self {
            position: [pose[0], pose[1], pose[2]],
            axes: [
                rotate(pose, [0.0, -1.0, 0.0]),
                rotate(pose, [0.0, 0.0, -1.0]),
                rotate(pose, [1.0, 0.0, 0.0]),
            ],
            focal: [fx / width, fy / width],
            center: [cx / width, cy / height],
            focus: (far / 2.0).clamp(NEAR, FOCUS_MAX),
            clip: [near.max(1e-6), far],
        }
    }

    /// Makes a camera that sees all of a ball from a side that is given by where it is from there.
    pub(crate) fn around(
        center: Vector,
        radius: f64,
        side: Vector,
        horizontal_angle: f64,
        [width, height]: [usize; 2],
    ) -> Self {
        let half_width = tangent(horizontal_angle);
        let half_height = half_width * height as f64 / width as f64;
        let narrow = half_width.min(half_height);
        // The ball touches the edge of the view where its sine is that of the half angle.
        let sine_of_half = narrow / (1.0 + narrow * narrow).sqrt();
        let distance = (radius / sine_of_half).max(2.0 * NEAR);
        let from = add(center, scale(unit_or(side, [1.0, 0.0, 0.0]), distance));
        Self::looking(from, center, horizontal_angle)
    }

    /// Tells whether it is at a place from which anything can be drawn, and looks somewhere.
    pub(crate) fn is_somewhere(&self) -> bool {
        let is_unit = |axis: &Vector| axis.iter().all(|part| part.abs() <= 2.0);
        is_near(&self.position) && self.axes.iter().all(is_unit)
    }

    /// Returns its place, world frame \[m\].
    pub fn position(&self) -> [f64; 3] {
        self.position
    }

    /// Returns the place that it looks at \[m\].
    pub(crate) fn target(&self) -> Vector {
        add(self.position, scale(self.axes[2], self.focus))
    }

    /// Returns the distance of the place that it looks at \[m\].
    pub(crate) fn focus(&self) -> f64 {
        self.focus
    }

    /// Returns a place as seen from the camera: to the right, down, and along its view \[m\].
    pub(crate) fn seen(&self, position: Vector) -> Vector {
        let offset = subtract(position, self.position);
        self.axes.map(|axis| dot(axis, offset))
    }

    /// Returns a direction of its frame in the world.
    pub(crate) fn turned_out(&self, direction: Vector) -> Vector {
        let [right, down, forward] = self.axes;
        let across = add(scale(right, direction[0]), scale(down, direction[1]));
        add(across, scale(forward, direction[2]))
    }

    /// Returns the distances before and beyond which nothing is seen \[m\].
    pub(crate) fn clip(&self) -> [f64; 2] {
        self.clip
    }

    /// Returns the unit vector through a sample of a picture.
    pub(crate) fn ray(&self, x: f64, y: f64, size: [usize; 2]) -> Vector {
        let lens = self.lens(size);
        let right = (x - lens.center[0]) / lens.focal[0];
        let down = (y - lens.center[1]) / lens.focal[1];
        let across = add(scale(self.axes[0], right), scale(self.axes[1], down));
        unit_or(add(self.axes[2], across), self.axes[2])
    }

    /// Returns its lens for a grid of samples.
    pub(crate) fn lens(&self, [width, height]: [usize; 2]) -> Lens {
        Lens {
            focal: self.focal.map(|part| part * width as f64),
            center: [
                self.center[0] * width as f64,
                self.center[1] * height as f64,
            ],
        }
    }

    /// Tells whether a ball can be seen in a picture; `center` is as seen from the camera \[m\].
    pub(crate) fn may_see(&self, center: Vector, radius: f64, size: [usize; 2]) -> bool {
        let ([right, down, along], [near, far]) = (center, self.clip);
        if along + radius < near || along - radius > far {
            return false;
        }
        let lens = self.lens(size);
        let is_beside = |place: f64, axis: usize| {
            let low = lens.center[axis] / lens.focal[axis];
            let high = (size[axis] as f64 - lens.center[axis]) / lens.focal[axis];
            let beyond =
                |place: f64, edge: f64| place - edge * along > radius * (1.0 + edge * edge).sqrt();
            beyond(place, high) || beyond(-place, low)
        };
        !is_beside(right, 0) && !is_beside(down, 1)
    }
}

/// Returns the tangent of half an angle of view, which is brought between 1 and 170 degrees.
fn tangent(angle: f64) -> f64 {
    libm::tan(angle.clamp(0.02, 2.96) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_camera_sees_what_is_right_of_it_on_the_right() {
        let camera = Camera::looking([0.0; 3], [2.0, 0.0, 0.0], Camera::ANGLE);
        let seen = camera.seen([3.0, -1.0, 0.5]);
        assert_eq!(seen, [1.0, -0.5, 3.0]);
        assert_eq!(camera.target(), [2.0, 0.0, 0.0]);
        let down = Camera::looking([0.0, 0.0, 5.0], [0.0; 3], Camera::ANGLE);
        assert_eq!(down.seen([1.0, 0.0, 0.0]), [0.0, -1.0, 5.0], "+x is up");
    }

    #[test]
    fn a_pinhole_camera_looks_along_x_between_its_planes() {
        let intrinsics = Intrinsics {
            size: [100, 50],
            focal: [50.0, 50.0],
            center: [50.0, 25.0],
        };
        let pose = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let camera = Camera::pinhole(&pose, &intrinsics, [0.5, 9.0]);
        let size = intrinsics.size;
        assert_eq!(camera.seen([4.0, 1.0, 0.5]), [-1.0, -0.5, 3.0]);
        assert_eq!(camera.lens([200, 100]).focal, [100.0; 2]);
        let sees = |place: [f64; 3], radius: f64| camera.may_see(camera.seen(place), radius, size);
        assert!(sees([4.0, 0.0, 0.0], 0.1) && sees([4.0, 3.2, 0.0], 0.5));
        assert!(!sees([4.0, 4.0, 0.0], 0.5), "beside");
        assert!(!sees([4.0, 0.0, 2.0], 0.2), "above");
        assert!(!sees([1.2, 0.0, 0.0], 0.2) && !sees([11.0, 0.0, 0.0], 0.5));
    }

    #[test]
    fn a_ball_that_is_framed_fits() {
        let camera = Camera::around([1.0; 3], 2.0, [0.0, -1.0, 0.0], 1.0, [200, 100]);
        let top = camera.seen([1.0, 1.0, 3.0]);
        let half_height = 50.0 / camera.lens([200, 100]).focal[1];
        assert!((top[1] / top[2]).abs() < half_height, "{top:?}");
        assert!((top[1] / top[2]).abs() > 0.8 * half_height, "{top:?}");
    }
}
