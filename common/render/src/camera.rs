//! [`Camera`]: where a picture is taken from.

use crate::vector::{Vector, add, cross, dot, length, scale, subtract, unit_or};

/// Distance before which nothing is seen \[m\].
pub(crate) const NEAR: f64 = 0.02;

/// A camera without distortion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Its place, world frame \[m\].
    position: Vector,
    /// Unit vectors: to the right, down, and along its view.
    axes: [Vector; 3],
    /// Tangent of half the horizontal angle of view.
    half_width: f64,
    /// Distance of what matters most \[m\].
    focus: f64,
}

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
            half_width: tangent(horizontal_angle),
            focus: length(view).max(NEAR),
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

    /// Returns the unit vector through a sample of a picture.
    pub(crate) fn ray(&self, x: f64, y: f64, [width, height]: [usize; 2]) -> Vector {
        let length = self.length(width);
        let right = (x - width as f64 / 2.0) / length;
        let down = (y - height as f64 / 2.0) / length;
        let across = add(scale(self.axes[0], right), scale(self.axes[1], down));
        unit_or(add(self.axes[2], across), self.axes[2])
    }

    /// Returns the focal length of a picture so wide, in samples.
    pub(crate) fn length(&self, width: usize) -> f64 {
        width as f64 / 2.0 / self.half_width
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
    fn a_ball_that_is_framed_fits() {
        let camera = Camera::around([1.0; 3], 2.0, [0.0, -1.0, 0.0], 1.0, [200, 100]);
        let top = camera.seen([1.0, 1.0, 3.0]);
        let half_height = 50.0 / camera.length(200);
        assert!((top[1] / top[2]).abs() < half_height, "{top:?}");
        assert!((top[1] / top[2]).abs() > 0.8 * half_height, "{top:?}");
    }
}
