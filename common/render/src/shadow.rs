//! [`Shadows`]: how far a light reaches, as maps of depths along it.
//!
//! Parts that never move have a map of their own, which is kept as long as it shows the same place:
//! of a scene in which little moves, most of the work is done once.

use crate::raster::cover;
use crate::region::{Placing, Region};
use crate::vector::Vector;

/// A map of the least depths along a light.
#[derive(Default)]
struct Map {
    /// Samples along an edge.
    size: usize,
    /// Depths by rows; none before anything is drawn.
    depths: Vec<f32>,
    /// For each row the first sample in which there is something, and the one after the last.
    used: Vec<[u32; 2]>,
}

/// A row in which there is nothing.
const UNUSED: [u32; 2] = [u32::MAX, 0];

impl Map {
    fn clear(&mut self, size: usize) {
        if self.size == size {
            for (row, used) in self.used.iter_mut().enumerate() {
                let [first, end] = std::mem::replace(used, UNUSED).map(|place| place as usize);
                if first < end {
                    self.depths[row * size..][first..end].fill(f32::INFINITY);
                }
            }
        } else {
            self.size = size;
            self.depths = Vec::new();
            self.used = vec![UNUSED; size];
        }
    }

    /// Adds a triangle that casts shadows, by where its corners are placed.
    fn draw(&mut self, placed: [Vector; 3]) {
        let screen = placed.map(|[x, y, _]| [x, y]);
        let values = placed.map(|place| place[2]);
        let size = self.size;
        let (depths, used) = (&mut self.depths, &mut self.used);
        cover(&screen, values, [size; 2], |y, columns, row| {
            if depths.is_empty() {
                depths.resize(size * size, f32::INFINITY);
            }
            let [first, end] = &mut used[y];
            *first = (*first).min(columns.start as u32);
            *end = (*end).max(columns.end as u32);
            let own = &mut depths[y * size..][columns];
            for (step, known) in own.iter_mut().enumerate() {
                let depth = row.at(step) as f32;
                *known = if depth < *known { depth } else { *known };
            }
        });
    }

    /// Tells for three samples in a row, by the first, whether nothing is before this depth there.
    fn lit(&self, row: usize, first: usize, limit: f32) -> [bool; 3] {
        let [start, end] = self.used[row];
        if first as u32 + 2 < start || first as u32 >= end {
            return [true; 3];
        }
        let depths = &self.depths[row * self.size + first..][..3];
        std::array::from_fn(|i| depths[i] >= limit)
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
        let edge = (self.moving.size - 1) as f64;
        if !(1.0..edge).contains(&x) || !(1.0..edge).contains(&y) {
            return None;
        }
        let (top, first) = (y as usize - 1, x as usize - 1);
        let mut lit = 0_u8;
        for row in top..top + 3 {
            let fixed = self.fixed.lit(row, first, limit);
            let moving = self.moving.lit(row, first, limit);
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
