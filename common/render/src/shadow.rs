//! [`Shadows`]: how far a light from far away reaches, as maps of depths along it.
//!
//! Parts that never move have a map of their own, which is kept as long as it shows the same place:
//! of a scene in which little moves, most of the work is done once.

use crate::light::Lamp;
use crate::lit::Lighting;
use crate::raster::cover;
use crate::stage::{Pose, around_all};
use crate::vector::{Vector, add, cross, dot, scale, subtract, unit_or};
use crate::view::View;

/// Samples along an edge of a map of shadows.
pub const SHADOW_SIZE: usize = 2048;

/// Steps of the radii of maps, as a factor, and the least radius \[m\].
const RADIUS_STEP: f64 = 1.25;
const RADIUS_MIN: f64 = 0.5;

/// Places of a map along an edge of its ball, between which its centre does not move.
const CENTER_STEPS: f64 = 8.0;

/// Place and direction of maps of shadows, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Unit vector along the light.
    pub(crate) direction: Vector,
    /// The place in the middle, whose depth is 0 \[m\].
    pub(crate) center: Vector,
    /// Samples per metre.
    density: f64,
}

impl Region {
    /// Returns the region around a ball \[m\], which is the same for balls that are nearly so.
    pub(crate) fn around(direction: Vector, center: Vector, radius: f64) -> Self {
        let mut whole = RADIUS_MIN;
        while whole < radius && whole.is_finite() {
            whole *= RADIUS_STEP;
        }
        let step = whole / CENTER_STEPS;
        let center = center.map(|part| (part / step).round() * step);
        // Half a step along each axis.
        let reach = whole + step * 0.87;
        Self {
            direction,
            center,
            density: SHADOW_SIZE as f64 / (2.0 * reach),
        }
    }

    /// Returns the region of the shadows in a view, around what the camera looks at, with the
    /// number of the lamp that casts them: the first light that is far away, if there is one.
    pub(crate) fn of_view(
        view: &View<'_>,
        lamps: &[Lamp],
        poses: &[Option<Pose>],
    ) -> Option<(usize, Self)> {
        let (stage, camera) = (view.stage, view.camera);
        if !stage.world.shadows || !camera.is_somewhere() {
            return None;
        }
        let (number, along) = Lighting::sun(lamps)?;
        let placed = stage.items.iter().zip(poses);
        let casters = placed.filter(|(item, _)| item.traits.casts_shadows);
        let upright = casters.filter(|(item, _)| !item.traits.is_ground);
        let balls: Vec<(Vector, f64)> = upright
            .filter_map(|(item, pose)| Some(item.ball_at(pose.as_ref()?)))
            .collect();
        let reach = 2.0 * camera.focus();
        let whole = around_all(&balls).filter(|(_, radius)| *radius <= reach);
        let (center, radius) = whole.unwrap_or((camera.target(), reach));
        Some((number, Self::around(along, center, radius)))
    }

    /// Returns the unit vectors of the map's edges.
    fn axes(&self) -> [Vector; 2] {
        let helper = if self.direction[0].abs() < 0.7 {
            [1.0, 0.0, 0.0]
        } else {
            [0.0, 1.0, 0.0]
        };
        let first = unit_or(cross(self.direction, helper), [0.0, 1.0, 0.0]);
        [first, cross(self.direction, first)]
    }

    /// Returns how places of a frame are placed on the map; the frame has its origin there, and
    /// `turned` turns its directions into the world.
    pub(crate) fn placing(&self, origin: Vector, turned: impl Fn(Vector) -> Vector) -> Placing {
        let [first, second] = self.axes();
        let rows = [
            scale(first, self.density),
            scale(second, self.density),
            self.direction,
        ];
        let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(turned);
        let offset = subtract(origin, self.center);
        let middle = SHADOW_SIZE as f64 / 2.0;
        let zero = [middle, middle, 0.0];
        Placing {
            rows: rows.map(|row| units.map(|unit| dot(row, unit))),
            origin: std::array::from_fn(|i| dot(rows[i], offset) + zero[i]),
            texel: 1.0 / self.density,
        }
    }
}

/// Rule by which places of some frame are placed on a map.
#[derive(Clone, Copy)]
pub(crate) struct Placing {
    pub(crate) rows: [Vector; 3],
    pub(crate) origin: Vector,
    /// Size of a sample \[m\].
    pub(crate) texel: f64,
}

impl Placing {
    /// Returns a place on the map, and its depth.
    fn place(&self, at: Vector) -> Vector {
        add(self.rows.map(|row| dot(row, at)), self.origin)
    }
}

/// A map of the least depths along a light.
struct Map {
    depths: Vec<f32>,
    /// The rows in which there is something.
    used: [usize; 2],
}

impl Default for Map {
    fn default() -> Self {
        Self {
            depths: vec![f32::INFINITY; SHADOW_SIZE * SHADOW_SIZE],
            used: [SHADOW_SIZE, 0],
        }
    }
}

impl Map {
    fn clear(&mut self) {
        let [first, end] = self.used;
        if first < end {
            self.depths[first * SHADOW_SIZE..end * SHADOW_SIZE].fill(f32::INFINITY);
        }
        self.used = [SHADOW_SIZE, 0];
    }

    /// Adds a triangle that casts shadows, by where its corners are placed.
    fn draw(&mut self, placed: [Vector; 3]) {
        let screen = placed.map(|[x, y, _]| [x, y]);
        let (depths, used) = (&mut self.depths, &mut self.used);
        cover(
            &screen,
            placed.map(|place| place[2]),
            [SHADOW_SIZE; 2],
            |x, y, depth| {
                let known = &mut depths[y * SHADOW_SIZE + x];
                *known = known.min(depth as f32);
                *used = [used[0].min(y), used[1].max(y + 1)];
            },
        );
    }
}

/// Maps of what casts shadows.
#[derive(Default)]
pub(crate) struct Shadows {
    /// Region that the maps show, once there are any.
    region: Option<Region>,
    fixed: Map,
    moving: Map,
}

impl Shadows {
    /// Begins with a region: what moves is forgotten, what does not only if the region is another.
    /// Tells whether that is to be drawn.
    pub(crate) fn begin(&mut self, region: Region) -> bool {
        self.moving.clear();
        let is_new = self.region.replace(region) != Some(region);
        if is_new {
            self.fixed.clear();
        }
        is_new
    }

    /// Adds a triangle that casts shadows, by its corners in the frame of a placing.
    pub(crate) fn draw(&mut self, is_fixed: bool, placing: &Placing, corners: [Vector; 3]) {
        let placed = corners.map(|corner| placing.place(corner));
        if is_fixed {
            self.fixed.draw(placed);
        } else {
            self.moving.draw(placed);
        }
    }

    /// Returns the part of the light that reaches a place on a surface with this normal, both in
    /// the frame of the placing; all of it beyond the maps.
    pub(crate) fn light(&self, placing: &Placing, at: Vector, normal: Vector) -> f32 {
        // A surface that the light grazes would shade itself between two samples.
        let lifted = add(at, scale(normal, 1.5 * placing.texel));
        let [x, y, depth] = placing.place(lifted);
        let limit = (depth - 0.5 * placing.texel) as f32;
        let edge = (SHADOW_SIZE - 1) as f64;
        if !(1.0..edge).contains(&x) || !(1.0..edge).contains(&y) {
            return 1.0;
        }
        let corner = (y as usize - 1) * SHADOW_SIZE + x as usize - 1;
        let mut lit = 0_u8;
        for row in 0..3 {
            let first = corner + row * SHADOW_SIZE;
            let fixed = &self.fixed.depths[first..first + 3];
            let moving = &self.moving.depths[first..first + 3];
            for (fixed, moving) in fixed.iter().zip(moving) {
                lit += u8::from(*fixed >= limit && *moving >= limit);
            }
        }
        f32::from(lit) / 9.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOWN: Vector = [0.0, 0.0, -1.0];

    #[test]
    fn only_what_is_behind_a_triangle_is_shaded() {
        let region = Region::around(DOWN, [0.0; 3], 4.0);
        let placing = region.placing([0.0; 3], |unit| unit);
        let mut maps = Shadows::default();
        assert!(maps.begin(region));
        let triangle = [[-1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [0.0, 1.0, 1.0]];
        maps.draw(true, &placing, triangle);
        let light = |maps: &Shadows, at: Vector| maps.light(&placing, at, [0.0, 0.0, 1.0]);
        assert_eq!(light(&maps, [0.0, 0.0, 0.0]), 0.0);
        assert_eq!(light(&maps, [0.0, 0.0, 2.0]), 1.0, "above it");
        assert_eq!(light(&maps, [0.0, 0.0, 1.0]), 1.0, "on it");
        assert_eq!(light(&maps, [3.0, 0.0, 0.0]), 1.0, "beside it");
        assert_eq!(light(&maps, [9.0, 0.0, 0.0]), 1.0, "beyond the map");
        maps.draw(false, &placing, triangle.map(|at| add(at, [3.0, 0.0, 0.0])));
        assert_eq!(light(&maps, [3.0, 0.0, 0.0]), 0.0);
        assert!(!maps.begin(region), "what stands is kept");
        assert_eq!(light(&maps, [3.0, 0.0, 0.0]), 1.0, "what moves is not");
        assert_eq!(light(&maps, [0.0, 0.0, 0.0]), 0.0);
    }

    #[test]
    fn regions_change_only_now_and_then() {
        let at = |x: f64, radius: f64| Region::around(DOWN, [x, 0.0, 0.0], radius);
        assert_eq!(at(0.0, 4.0), at(0.1, 4.1));
        assert_ne!(at(0.0, 4.0), at(1.0, 4.0));
    }
}
