//! [`ShadowMap`]: how far a light from far away reaches.

use crate::raster::cover;
use crate::vector::{Vector, cross, dot, unit_or};

/// Samples along an edge of the map.
const SIZE: usize = 2048;

/// A map of depths along the light, frame of the camera.
pub(crate) struct ShadowMap {
    axes: [Vector; 2],
    direction: Vector,
    center: Vector,
    /// Samples per metre.
    density: f64,
    /// For each sample the least depth \[m\].
    depths: Vec<f32>,
}

impl ShadowMap {
    /// Makes an empty map of a ball; `direction` is along the light.
    pub(crate) fn new(direction: Vector, center: Vector, radius: f64) -> Self {
        let helper = if direction[0].abs() < 0.7 {
            [1.0, 0.0, 0.0]
        } else {
            [0.0, 1.0, 0.0]
        };
        let first = unit_or(cross(direction, helper), [0.0, 1.0, 0.0]);
        Self {
            axes: [first, cross(direction, first)],
            direction,
            center,
            density: SIZE as f64 / (2.0 * radius.max(1e-3)),
            depths: vec![f32::INFINITY; SIZE * SIZE],
        }
    }

    /// Returns a place on the map, and its depth.
    fn place(&self, at: Vector) -> ([f64; 2], f64) {
        let offset = [
            at[0] - self.center[0],
            at[1] - self.center[1],
            at[2] - self.center[2],
        ];
        let along = self
            .axes
            .map(|axis| dot(axis, offset) * self.density + SIZE as f64 / 2.0);
        (along, dot(self.direction, offset))
    }

    /// Adds a triangle that casts shadows.
    pub(crate) fn draw(&mut self, corners: [Vector; 3]) {
        let placed = corners.map(|corner| self.place(corner));
        let screen = placed.map(|(place, _)| place);
        let depth = placed.map(|(_, depth)| depth);
        let depths = &mut self.depths;
        cover(&screen, [SIZE, SIZE], |x, y, shares| {
            let own = (0..3).map(|i| shares[i] * depth[i]).sum::<f64>() as f32;
            let known = &mut depths[y * SIZE + x];
            *known = known.min(own);
        });
    }

    /// Returns the part of the light that reaches a place on a surface with this normal; all of it
    /// beyond the map.
    pub(crate) fn light(&self, at: Vector, normal: Vector) -> f32 {
        let texel = 1.0 / self.density;
        // A surface that the light grazes would shade itself between two samples.
        let lifted = std::array::from_fn(|i| at[i] + 1.5 * texel * normal[i]);
        let ([x, y], depth) = self.place(lifted);
        let limit = (depth - 0.5 * texel) as f32;
        let (mut lit, mut count) = (0, 0);
        for down in [-1.0, 0.0, 1.0] {
            for right in [-1.0, 0.0, 1.0] {
                let (x, y) = (x + right, y + down);
                count += 1;
                let size = SIZE as f64;
                if !(0.0..size).contains(&x) || !(0.0..size).contains(&y) {
                    lit += 1;
                    continue;
                }
                let known = self.depths[y as usize * SIZE + x as usize];
                lit += i32::from(known >= limit);
            }
        }
        lit as f32 / count as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_behind_a_triangle_is_shaded() {
        let down = [0.0, 0.0, -1.0];
        let mut map = ShadowMap::new(down, [0.0; 3], 4.0);
        map.draw([[-1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [0.0, 1.0, 1.0]]);
        let up = [0.0, 0.0, 1.0];
        assert_eq!(map.light([0.0, 0.0, 0.0], up), 0.0);
        assert_eq!(map.light([0.0, 0.0, 2.0], up), 1.0, "above it");
        assert_eq!(map.light([0.0, 0.0, 1.0], up), 1.0, "on it");
        assert_eq!(map.light([3.0, 0.0, 0.0], up), 1.0, "beside it");
        assert_eq!(map.light([9.0, 0.0, 0.0], up), 1.0, "beyond the map");
    }
}
