//! [`Shadows`]: how far a light reaches, as maps of depths along it.
//!
//! Parts that never move have a map of their own, which is kept as long as it shows the same place:
//! of a scene in which little moves, most of the work is done once.

use crate::raster::cover;
use crate::region::{Placing, Region};
use crate::vector::Vector;

/// A map of the least depths along a light.
struct Map {
    /// Samples along an edge.
    size: usize,
    /// Depths by rows; none before anything is drawn.
    depths: Vec<f32>,
    /// The rows in which there is something.
    used: [usize; 2],
}

impl Default for Map {
    fn default() -> Self {
        Self {
            size: 0,
            depths: Vec::new(),
            used: [usize::MAX, 0],
        }
    }
}

impl Map {
    fn clear(&mut self, size: usize) {
        let [first, end] = self.used;
        if self.size != size {
            self.depths = Vec::new();
        } else if first < end {
            self.depths[first * size..end * size].fill(f32::INFINITY);
        }
        self.size = size;
        self.used = [usize::MAX, 0];
    }

    /// Adds a triangle that casts shadows, by where its corners are placed.
    fn draw(&mut self, placed: [Vector; 3]) {
        let screen = placed.map(|[x, y, _]| [x, y]);
        let size = self.size;
        let (depths, used) = (&mut self.depths, &mut self.used);
        cover(
            &screen,
            placed.map(|place| place[2]),
            [size; 2],
            |x, y, depth| {
                if depths.is_empty() {
                    depths.resize(size * size, f32::INFINITY);
                }
                let known = &mut depths[y * size + x];
                *known = known.min(depth as f32);
                *used = [used[0].min(y), used[1].max(y + 1)];
            },
        );
    }

    /// Tells for three samples in a row, by the number of the first, whether nothing is before this
    /// depth there.
    fn lit(&self, first: usize, limit: f32) -> [bool; 3] {
        let depths = self.depths.get(first..first + 3);
        depths.map_or([true; 3], |depths| {
            std::array::from_fn(|i| depths[i] >= limit)
        })
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
        self.moving.clear(region.size());
        let is_new = self.region.replace(region) != Some(region);
        if is_new {
            self.fixed.clear(region.size());
        }
        is_new
    }

    /// Adds a triangle that casts shadows, by its corners in the frame of the maps.
    pub(crate) fn draw(&mut self, is_fixed: bool, placing: &Placing, placed: [Vector; 3]) {
        let map = if is_fixed {
            &mut self.fixed
        } else {
            &mut self.moving
        };
        placing.triangles(placed, |on_map| map.draw(on_map));
    }

    /// Returns the part of the light that reaches a place on a surface with this normal, both in
    /// the frame of the placing; none beyond the maps.
    pub(crate) fn light(&self, placing: &Placing, at: Vector, normal: Vector) -> Option<f32> {
        let (x, y, limit) = placing.lifted(at, normal)?;
        let size = self.moving.size;
        let edge = (size - 1) as f64;
        if !(1.0..edge).contains(&x) || !(1.0..edge).contains(&y) {
            return None;
        }
        let corner = (y as usize - 1) * size + x as usize - 1;
        let mut lit = 0_u8;
        for row in 0..3 {
            let first = corner + row * size;
            let fixed = self.fixed.lit(first, limit);
            let moving = self.moving.lit(first, limit);
            for (fixed, moving) in fixed.into_iter().zip(moving) {
                lit += u8::from(fixed && moving);
            }
        }
        Some(f32::from(lit) / 9.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::add;

    const DOWN: Vector = [0.0, 0.0, -1.0];

    /// A triangle that faces up, 1 m above the ground.
    const TRIANGLE: [Vector; 3] = [[-1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [0.0, 1.0, 1.0]];

    fn draw(maps: &mut Shadows, is_fixed: bool, placing: &Placing, triangle: [Vector; 3]) {
        maps.draw(
            is_fixed,
            placing,
            triangle.map(|corner| placing.turned(corner)),
        );
    }

    #[test]
    fn only_what_is_behind_a_triangle_is_shaded() {
        let region = Region::around(DOWN, [0.0; 3], 4.0);
        let placing = region.placing([0.0; 3], |unit| unit);
        let mut maps = Shadows::default();
        assert!(maps.begin(region));
        draw(&mut maps, true, &placing, TRIANGLE);
        let light = |maps: &Shadows, at: Vector| maps.light(&placing, at, [0.0, 0.0, 1.0]);
        assert_eq!(light(&maps, [0.0, 0.0, 0.0]), Some(0.0));
        assert_eq!(light(&maps, [0.0, 0.0, 2.0]), Some(1.0), "above it");
        assert_eq!(light(&maps, [0.0, 0.0, 1.0]), Some(1.0), "on it");
        assert_eq!(light(&maps, [3.0, 0.0, 0.0]), Some(1.0), "beside it");
        assert_eq!(light(&maps, [9.0, 0.0, 0.0]), None, "beyond the map");
        draw(
            &mut maps,
            false,
            &placing,
            TRIANGLE.map(|at| add(at, [3.0, 0.0, 0.0])),
        );
        assert_eq!(light(&maps, [3.0, 0.0, 0.0]), Some(0.0));
        assert!(!maps.begin(region), "what stands is kept");
        assert_eq!(
            light(&maps, [3.0, 0.0, 0.0]),
            Some(1.0),
            "what moves is not"
        );
        assert_eq!(light(&maps, [0.0, 0.0, 0.0]), Some(0.0));
    }

    #[test]
    fn shadows_of_a_lamp_grow_with_the_distance() {
        let region = Region::of_lamp(DOWN, [0.0, 0.0, 2.0], 2.0, 9.0);
        let placing = region.placing([0.0; 3], |unit| unit);
        let mut maps = Shadows::default();
        assert!(maps.begin(region));
        draw(&mut maps, true, &placing, TRIANGLE);
        let light = |at: Vector| maps.light(&placing, at, [0.0, 0.0, 1.0]);
        assert_eq!(light([0.0, -1.8, 0.0]), Some(0.0), "twice as wide");
        assert_eq!(light([0.0, -2.2, 0.0]), Some(1.0));
        assert_eq!(light([0.0, 0.0, 1.0]), Some(1.0), "on it");
        assert_eq!(light([0.0, 0.0, 1.5]), Some(1.0), "before it");
        assert_eq!(light([0.0, 0.0, 2.5]), None, "behind the lamp");
        assert_eq!(light([6.0, 0.0, 0.0]), None, "beside its cone");
    }

    #[test]
    fn triangles_that_go_past_a_lamp_are_cut_at_it() {
        let region = Region::of_lamp(DOWN, [0.0, 0.0, 2.0], 1.0, 9.0);
        let placing = region.placing([0.0; 3], |unit| unit);
        let mut maps = Shadows::default();
        maps.begin(region);
        // A wall beside the lamp, from below it to above it.
        let wall = [[0.2, -5.0, 0.0], [0.2, 5.0, 0.0], [0.2, 0.0, 9.0]];
        draw(&mut maps, true, &placing, wall);
        let light = |x: f64| maps.light(&placing, [x, 0.0, 1.0], [0.0, 0.0, 1.0]);
        assert_eq!((light(0.1), light(0.4)), (Some(1.0), Some(0.0)));
        // What is nearer to a lamp than its housing may be shades nothing.
        let mut maps = Shadows::default();
        maps.begin(region);
        draw(
            &mut maps,
            true,
            &placing,
            TRIANGLE.map(|at| add(at, [0.0, 0.0, 0.97])),
        );
        assert_eq!(maps.light(&placing, [0.0; 3], [0.0, 0.0, 1.0]), Some(1.0));
    }
}
