//! [`Region`]: place and direction of a map of shadows.
//!
//! A light from far away has one, with parallel rays, around what the camera looks at. A lamp has
//! one along its cone, or one along each of six directions; their rays spread from its place.

use crate::light::{Lamp, Reach};
use crate::stage::{Pose, around_all};
use crate::vector::{Vector, add, cross, dot, scale, subtract, unit_or};
use crate::view::View;

/// Samples along an edge of a map of a light from far away.
pub const SHADOW_SIZE: usize = 2048;

/// Samples along an edge of a map of a lamp.
pub const LAMP_SHADOW_SIZE: usize = 1024;

/// Number of maps of lamps in a view, as eight have that shine to all sides.
const LAMP_MAPS_MAX: usize = 48;

/// Distance along the middle of a lamp's map before which nothing casts shadows: the lamp's own
/// housing is there \[m\].
pub const LAMP_SHADOW_NEAR: f64 = 0.05;

/// Samples by which a place is lifted off its surface before it is looked for on a lamp's map: as
/// far as the farthest of the samples around it, so that no plane shades itself in flat light.
pub const LAMP_SHADOW_LIFT: f64 = 2.2;

/// Samples of a lamp's map beyond what it is to show: those around a place count, too.
const RIM: f64 = 4.0;

/// Cosine of half the angle of the widest cone that one map shows.
const CONE_COSINE_MIN: f32 = 0.45;

/// Steps of the radii of maps, as a factor, and the least radius \[m\].
const RADIUS_STEP: f64 = 1.25;
const RADIUS_MIN: f64 = 0.5;

/// Places of a map along an edge of its ball, between which its centre does not move.
const CENTER_STEPS: f64 = 8.0;

/// Directions of the maps of a lamp that shines to all sides.
const SIDES: [Vector; 6] = [
    [1.0, 0.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, 0.0, -1.0],
];

/// Place and direction of maps of shadows, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Unit vector along the light in the middle.
    pub(crate) direction: Vector,
    /// Place of depth 0: in the middle of parallel rays, or that of the lamp \[m\].
    pub(crate) center: Vector,
    rays: Rays,
}

/// Course of the rays of a light.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rays {
    Parallel {
        /// Samples per metre.
        density: f64,
    },
    Spread {
        /// Samples per metre at a distance of 1 m.
        density: f64,
        /// Distance beyond which nothing is lit \[m\].
        range: f64,
    },
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
            rays: Rays::Parallel {
                density: SHADOW_SIZE as f64 / (2.0 * reach),
            },
        }
    }

    /// Returns the region of the rays of a lamp about a direction, up to where the tangent of their
    /// angle along an edge of the map is this.
    pub(crate) fn of_lamp(direction: Vector, center: Vector, tangent: f64, range: f64) -> Self {
        Self {
            direction,
            center,
            rays: Rays::Spread {
                density: (LAMP_SHADOW_SIZE as f64 / 2.0 - RIM) / tangent,
                range,
            },
        }
    }

    /// Returns the regions of the shadows in a view, with the numbers of the lamps that cast them,
    /// in the order of these: of lights that are far away around what the camera looks at. Of more
    /// lamps than there may be maps, those are chosen that shine nearest to what it may see.
    pub(crate) fn of_view(
        view: &View<'_>,
        lamps: &[Lamp],
        poses: &[Option<Pose>],
    ) -> Vec<(usize, Self)> {
        if !view.stage.world.shadows || !view.camera.is_somewhere() {
            return Vec::new();
        }
        let casting = || {
            lamps
                .iter()
                .enumerate()
                .filter(|(_, one)| one.casts_shadows)
        };
        let mut shaded = None;
        let far = casting().filter(|(_, lamp)| matches!(lamp.reach, Reach::Far(_)));
        let mut regions: Vec<_> = far
            .map(|(number, lamp)| {
                let (center, radius) = *shaded.get_or_insert_with(|| shaded_ball(view, poses));
                (number, Self::around(lamp.along, center, radius))
            })
            .collect();
        let near = casting().map(|(number, lamp)| (number, lamp, Self::all_of_lamp(lamp)));
        let mut near: Vec<_> = near.collect();
        if near.iter().map(|(_, _, maps)| maps.len()).sum::<usize>() > LAMP_MAPS_MAX {
            keep_nearest(view, &mut near);
        }
        for (number, _, maps) in near {
            regions.extend(maps.into_iter().map(|region| (number, region)));
        }
        // Maps of what never moves are kept by their places in this order.
        regions.sort_by_key(|(number, _)| *number);
        regions
    }

    /// Returns the regions of all maps of a lamp.
    fn all_of_lamp(lamp: &Lamp) -> Vec<Self> {
        let Reach::Near { range, cone, .. } = &lamp.reach else {
            return Vec::new();
        };
        let along =
            |direction, tangent| Self::of_lamp(direction, lamp.origin, tangent, f64::from(*range));
        match cone {
            Some((_, [_, outer], _)) if *outer > CONE_COSINE_MIN => {
                let cosine = f64::from(*outer);
                let tangent = ((1.0 - cosine * cosine).max(0.0).sqrt() / cosine).max(0.01);
                vec![along(lamp.along, tangent)]
            }
            Some(_) | None => SIDES.map(|side| along(side, 1.0)).to_vec(),
        }
    }

    /// Tells whether the light is a lamp's, so that its rays spread.
    pub fn is_of_lamp(&self) -> bool {
        matches!(self.rays, Rays::Spread { .. })
    }

    /// Returns the number of samples along an edge of its maps.
    pub(crate) fn size(&self) -> usize {
        match self.rays {
            Rays::Parallel { .. } => SHADOW_SIZE,
            Rays::Spread { .. } => LAMP_SHADOW_SIZE,
        }
    }

    /// Tells whether what is in a ball may cast shadows on its maps, world frame.
    pub(crate) fn may_show(&self, (center, radius): (Vector, f64)) -> bool {
        let Rays::Spread { density, range } = self.rays else {
            return true;
        };
        let offset = subtract(center, self.center);
        let depth = dot(self.direction, offset);
        if dot(offset, offset).sqrt() > range + radius || depth + radius < LAMP_SHADOW_NEAR {
            return false;
        }
        let tangent = LAMP_SHADOW_SIZE as f64 / 2.0 / density;
        let slant = (1.0 + tangent * tangent).sqrt();
        let mut sides = self.axes().into_iter();
        sides.all(|axis| dot(axis, offset).abs() - tangent * depth <= radius * slant)
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
        let middle = self.size() as f64 / 2.0;
        let (density, zero) = match self.rays {
            Rays::Parallel { density } => (density, [middle, middle, 0.0]),
            Rays::Spread { density, .. } => (density, [0.0; 3]),
        };
        let rows = [
            scale(first, density),
            scale(second, density),
            self.direction,
        ];
        let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(turned);
        let offset = subtract(origin, self.center);
        Placing {
            rows: rows.map(|row| units.map(|unit| dot(row, unit))),
            origin: std::array::from_fn(|i| dot(rows[i], offset) + zero[i]),
            texel: 1.0 / density,
            middle: self.is_of_lamp().then_some(middle),
        }
    }
}

/// Rule by which places of some frame are placed on a map.
#[derive(Clone, Copy)]
pub(crate) struct Placing {
    pub(crate) rows: [Vector; 3],
    pub(crate) origin: Vector,
    /// Size of a sample \[m\]; on a map of a lamp at a distance of 1 m.
    pub(crate) texel: f64,
    /// Column and row of the middle of a map of a lamp, from which its rays spread.
    middle: Option<f64>,
}

impl Placing {
    /// Visits the place of a triangle on the map, whose depths grow with the distance, by its
    /// corners in the frame of the map; as two triangles, or none, where a lamp is between those.
    pub(crate) fn triangles(&self, placed: [Vector; 3], mut visit: impl FnMut([Vector; 3])) {
        let Some(middle) = self.middle else {
            visit(placed);
            return;
        };
        let mut kept = [[0.0; 3]; 4];
        let mut count = 0;
        let is_before = |place: &Vector| place[2] >= LAMP_SHADOW_NEAR;
        for (i, here) in placed.iter().enumerate() {
            let next = &placed[(i + 1) % 3];
            if is_before(here) {
                kept[count] = *here;
                count += 1;
            }
            if is_before(here) != is_before(next) {
                let part = (LAMP_SHADOW_NEAR - here[2]) / (next[2] - here[2]);
                kept[count] = add(*here, scale(subtract(*next, *here), part));
                kept[count][2] = LAMP_SHADOW_NEAR;
                count += 1;
            }
        }
        let spread = kept.map(|place| spread(place, middle));
        for i in 1..count.saturating_sub(1) {
            visit([spread[0], spread[i], spread[i + 1]]);
        }
    }

    /// Returns where the light to a place on a surface with this normal is on the map, with the
    /// depth from which on what is there does not shade the place; none behind a lamp.
    pub(crate) fn lifted(&self, at: Vector, normal: Vector) -> Option<(f64, f64, f32)> {
        let Some(middle) = self.middle else {
            // A surface that the light grazes would shade itself between two samples.
            let [x, y, depth] = self.turned(add(at, scale(normal, 1.5 * self.texel)));
            return Some((x, y, (depth - 0.5 * self.texel) as f32));
        };
        let depth = dot(self.rows[2], at) + self.origin[2];
        if depth <= 0.0 {
            return None;
        }
        let texel = self.texel * depth;
        let lifted = self.turned(add(at, scale(normal, LAMP_SHADOW_LIFT * texel)));
        let before = lifted[2] - 0.5 * texel;
        let [x, y, _] = spread(lifted, middle);
        (before > 0.0).then(|| (x, y, (-1.0 / before) as f32))
    }

    /// Returns a place in the frame of the map.
    pub(crate) fn turned(&self, at: Vector) -> Vector {
        add(self.rows.map(|row| dot(row, at)), self.origin)
    }
}

/// Returns where a place is on a map of a lamp; its depth, less than 0, is one over the distance,
/// which changes evenly over triangles.
fn spread([right, down, along]: Vector, middle: f64) -> Vector {
    [right / along + middle, down / along + middle, -1.0 / along]
}

/// Keeps the lamps whose light is nearest to the camera and may be seen, with as many maps as there
/// may be; of those that are as near, the first.
fn keep_nearest(view: &View<'_>, lamps: &mut Vec<(usize, &Lamp, Vec<Region>)>) {
    let distances = lamps
        .iter()
        .enumerate()
        .filter_map(|(place, (_, lamp, _))| Some((lamp.distance_to_lit(view)?, place)));
    let mut distances: Vec<(f64, usize)> = distances.collect();
    distances.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut left = LAMP_MAPS_MAX;
    let mut is_kept = vec![false; lamps.len()];
    for (_, place) in distances {
        let Some(rest) = left.checked_sub(lamps[place].2.len()) else {
            break;
        };
        left = rest;
        is_kept[place] = true;
    }
    let mut kept = is_kept.into_iter();
    lamps.retain(|_| kept.next() == Some(true));
}

/// Returns the ball in which a view has shadows of lights that are far away.
fn shaded_ball(view: &View<'_>, poses: &[Option<Pose>]) -> (Vector, f64) {
    let placed = view.stage.items.iter().zip(poses);
    let casters = placed.filter(|(item, _)| item.traits.casts_shadows);
    let upright = casters.filter(|(item, _)| !item.traits.is_ground);
    let balls: Vec<(Vector, f64)> = upright
        .filter_map(|(item, pose)| Some(item.ball_at(pose.as_ref()?)))
        .collect();
    let reach = 2.0 * view.camera.focus();
    let whole = around_all(&balls).filter(|(_, radius)| *radius <= reach);
    whole.unwrap_or((view.camera.target(), reach))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOWN: Vector = [0.0, 0.0, -1.0];

    #[test]
    fn regions_change_only_now_and_then() {
        let at = |x: f64, radius: f64| Region::around(DOWN, [x, 0.0, 0.0], radius);
        assert_eq!(at(0.0, 4.0), at(0.1, 4.1));
        assert_ne!(at(0.0, 4.0), at(1.0, 4.0));
    }

    #[test]
    fn every_direction_from_a_lamp_is_on_one_of_its_maps() {
        let placings = SIDES.map(|side| {
            let region = Region::of_lamp(side, [1.0, 2.0, 3.0], 1.0, 10.0);
            region.placing([0.0; 3], |unit| unit)
        });
        let edge = 2.0..LAMP_SHADOW_SIZE as f64 - 2.0;
        for (x, y, z) in [
            (-1.0, 0.3, 1.0),
            (1.0, 1.0, 1.0),
            (0.0, -2.0, 2.0),
            (0.1, 0.2, -0.3),
        ] {
            let at = [1.0 + x, 2.0 + y, 3.0 + z];
            let on = placings.iter().filter(|placing| {
                let place = placing.lifted(at, [0.0; 3]);
                place.is_some_and(|(x, y, _)| edge.contains(&x) && edge.contains(&y))
            });
            assert!(on.count() > 0, "{at:?}");
        }
    }

    #[test]
    fn no_plane_shades_itself_however_flat_the_light() {
        // Planes through a place beside the middle of the map, turned and leant against the light.
        let region = Region::of_lamp(DOWN, [0.0; 3], 1.0, 20.0);
        let placing = region.placing([0.0; 3], |unit| unit);
        let at = [1.3, 2.1, -4.0];
        let to_lamp = unit_or(scale(at, -1.0), DOWN);
        for turn in 0..24 {
            let (sine, cosine) = (f64::from(turn) * 0.26).sin_cos();
            for lean in [0.02, 0.1, 0.4, 0.9] {
                let aside = unit_or(cross(to_lamp, [cosine, sine, 0.3]), DOWN);
                let normal = add(
                    scale(to_lamp, lean),
                    scale(aside, (1.0 - lean * lean).sqrt()),
                );
                let (x, y, limit) = placing.lifted(at, normal).unwrap();
                for (column, row) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
                    // The depth of the plane in the middle of that sample.
                    let middle = LAMP_SHADOW_SIZE as f64 / 2.0;
                    let sample = [
                        x.floor() + column + 0.5 - middle,
                        y.floor() + row + 0.5 - middle,
                    ];
                    let [first, second] = region.axes();
                    let ray = add(
                        add(scale(first, sample[0]), scale(second, sample[1])),
                        scale(DOWN, 1.0 / placing.texel),
                    );
                    let depth = dot(normal, at) / dot(normal, ray) / placing.texel;
                    let is_seen = depth > 0.0;
                    assert!(
                        !is_seen || -1.0 / depth >= f64::from(limit),
                        "{turn} {lean}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_a_lamp_cannot_shade_with_is_left_out() {
        let region = Region::of_lamp(DOWN, [0.0, 0.0, 4.0], 0.5, 10.0);
        assert!(region.may_show(([0.0; 3], 0.5)));
        assert!(region.may_show(([2.4, 0.0, 0.0], 0.5)), "at the edge");
        assert!(!region.may_show(([2.8, 0.0, 0.0], 0.5)), "beside");
        assert!(!region.may_show(([0.0, 0.0, 6.0], 0.5)), "behind");
        assert!(!region.may_show(([0.0, 0.0, -7.0], 0.5)), "beyond");
        assert!(region.may_show(([0.0, 0.0, 6.0], 3.0)), "around it");
    }
}
