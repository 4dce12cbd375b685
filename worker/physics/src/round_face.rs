//! [`RoundFace`]: the contacts of a flat round face on a plane, a face of a box or another one.
//!
//! A face that lies flat has eight corners on its rim, all of which go to the solver: with loads
//! that are linear over them, eight hold against sliding and turning as a whole rim does. Between
//! two of them a body would tip over at 92 % of what its rim holds, so that there are more where it
//! leans.

pub(super) mod on_box;
pub(super) mod on_round;

use rapier3d_f64::geometry::ContactData;
use rapier3d_f64::island_solver::KEPT_VERTEX;
use rapier3d_f64::math::{Pose, Real, Vector};
use rapier3d_f64::parry::query::{ContactManifold, TrackedContact};
use rapier3d_f64::parry::shape::{Cuboid, PackedFeatureId, Shape};
use smallvec::SmallVec;

/// Number of places on the rim where a corner can be; each has a number, from the x axis towards
/// the z axis.
const PLACES: usize = 32;
/// Number of places from one corner to the next.
const APART: usize = 4;
/// The most corners of a face at a time.
const CORNERS_MAX: usize = 14;

/// Directions of the places in the first quarter.
const QUARTER: [[Real; 2]; PLACES / 4] = [
    [1.0, 0.0],
    [0.980_785_280_403_230_4, 0.195_090_322_016_128_25],
    [0.923_879_532_511_286_7, 0.382_683_432_365_089_8],
    [0.831_469_612_302_545_2, 0.555_570_233_019_602_2],
    [
        std::f64::consts::FRAC_1_SQRT_2,
        std::f64::consts::FRAC_1_SQRT_2,
    ],
    [0.555_570_233_019_602_2, 0.831_469_612_302_545_2],
    [0.382_683_432_365_089_8, 0.923_879_532_511_286_7],
    [0.195_090_322_016_128_25, 0.980_785_280_403_230_4],
];

/// The part of the radius from which on a body whose pressure has its middle there leans. Up to
/// half the radius loads are linear over eight corners.
const LEANING: Real = 0.85;

/// Numbers of corners are those of the face times this, and a number on the face.
const NUMBERS_OF_FACE: u32 = 64;

/// Overlaps that are deeper are left to parry: out of them, another way may be the nearest \[m\].
pub(super) const OVERLAP_MAX: Real = 0.005;

/// The part by which a corner may be beyond an edge and still counts.
const ROUNDING: Real = 1e-9;

/// Data of a contact that know how hard it pressed.
pub(super) trait Pressed: Copy + Default {
    /// Returns the impulse along the normal in the step before \[N s\].
    fn pressure(&self) -> Real;
}

impl Pressed for ContactData {
    fn pressure(&self) -> Real {
        self.impulse
    }
}

/// Contacts of the step before, and which of the two shapes is the round one.
#[derive(Clone, Copy)]
pub(super) struct Former<'a, C> {
    pub(super) points: &'a [TrackedContact<C>],
    /// True if it is the first.
    pub(super) is_flipped: bool,
}

impl<C: Pressed> Former<'_, C> {
    /// Returns the middle of the pressure on a face, as a part of its radius.
    fn pressed_at(&self, face: RoundFace) -> [Real; 2] {
        let (mut sum, mut moment) = (0.0, [0.0; 2]);
        for point in self.points {
            let (id, index) = if self.is_flipped {
                (point.fid1, point.local_p1)
            } else {
                (point.fid2, point.local_p2)
            };
            if face.has(id) {
                let pressure = point.data.pressure();
                sum += pressure;
                moment[0] += index.x * pressure;
                moment[1] += index.z * pressure;
            }
        }
        if sum > 0.0 {
            moment.map(|moment| moment / (sum * face.radius))
        } else {
            [0.0; 2]
        }
    }
}

/// A corner of a round face that touches what it lies on.
struct Touching {
    /// Its number among the vertices of its shape.
    number: u32,
    /// The points on what it lies on and on its own shape, each in the frame of its shape \[m\].
    points: [Vector; 2],
    /// \[m\]
    height: Real,
}

/// Makes corners the only contacts of two shapes, and goes on with the impulses of the step before;
/// the normals out of what the face lies on, and out of its shape, are in the frames of both. What
/// it lies on is the second of the two when `is_flipped`.
fn replace<M: Default, C: Pressed>(
    corners: impl Iterator<Item = Touching>,
    normals: [Vector; 2],
    is_flipped: bool,
    manifolds: &mut Vec<ContactManifold<M, C>>,
) {
    if manifolds.is_empty() {
        manifolds.push(ContactManifold::new());
    }
    manifolds.truncate(1);
    let manifold = &mut manifolds[0];
    let mut former = SmallVec::<[TrackedContact<C>; CORNERS_MAX]>::new();
    former.extend(manifold.points.drain(..));
    for Touching {
        number,
        points: [index, own],
        height,
    } in corners
    {
        manifold.points.push(TrackedContact::flipped(
            index,
            own,
            PackedFeatureId::face(0),
            PackedFeatureId::vertex(number),
            height,
            is_flipped,
        ));
    }
    manifold.match_contacts(&former);
    let [ground, shape] = normals;
    [manifold.local_n1, manifold.local_n2] = if is_flipped {
        [shape, ground]
    } else {
        [ground, shape]
    };
}

/// Tells whether the number of a vertex is that of a corner of a round face.
pub(super) fn is_corner(number: u32) -> bool {
    number & KEPT_VERTEX != 0
}

/// Returns the direction of a place on the rim.
fn direction(index: usize) -> [Real; 2] {
    let [x, z] = QUARTER[index % QUARTER.len()];
    match index / QUARTER.len() % 4 {
        0 => [x, z],
        1 => [-z, x],
        2 => [-x, -z],
        _ => [z, -x],
    }
}

/// Returns the places of the corners of a face whose pressure has its middle at a part of the
/// radius.
fn places([x, z]: [Real; 2]) -> SmallVec<[usize; CORNERS_MAX]> {
    let corners = (0..PLACES).step_by(APART);
    if x * x + z * z < LEANING * LEANING {
        return corners.collect();
    }
    let along = |index: &usize| {
        let [cos, sin] = direction(*index);
        cos * x + sin * z
    };
    let nearest = (0..PLACES).reduce(|one, other| {
        if along(&other) > along(&one) {
            other
        } else {
            one
        }
    });
    let nearest = nearest.unwrap_or(0) + PLACES;
    // As far as the next corner to both sides: a body that rocks between two stays on all of them.
    let more = (nearest + 1 - APART..nearest + APART).filter(|index| index % APART != 0);
    corners.chain(more.map(|index| index % PLACES)).collect()
}

/// A round face of a cylinder or a cone, across the y axis of its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoundFace {
    number: u32,
    radius: Real,
    /// Its place on the axis \[m\].
    at: Real,
}

impl RoundFace {
    /// Returns the face of a shape that lies flat on something whose normal is given, in the frame
    /// of the shape: its heights over that differ by less than `reach`.
    pub(super) fn flat(shape: &dyn Shape, normal: Vector, reach: Real) -> Option<Self> {
        let (radius, half, is_cone) = match (shape.as_cylinder(), shape.as_cone()) {
            (Some(cylinder), _) => (cylinder.radius, cylinder.half_height, false),
            (_, Some(cone)) => (cone.radius, cone.half_height, true),
            _ => return None,
        };
        let rise = 2.0 * radius * normal.x.hypot(normal.z);
        let is_upper = normal.y < 0.0;
        (rise <= reach && !(is_upper && is_cone)).then_some(Self {
            number: u32::from(is_upper),
            radius,
            at: if is_upper { half } else { -half },
        })
    }

    fn center(&self) -> Vector {
        Vector::Y * self.at
    }

    /// Returns the number of a corner among those of all vertices of its shape.
    fn vertex(&self, number: usize) -> u32 {
        KEPT_VERTEX | (self.number * NUMBERS_OF_FACE + number as u32)
    }

    /// Tells whether a contact was made of a corner on this face.
    fn has(&self, id: PackedFeatureId) -> bool {
        id.0 / NUMBERS_OF_FACE == PackedFeatureId::vertex(self.vertex(0)).0 / NUMBERS_OF_FACE
    }

    /// Returns the corners of the face in its own frame, with their numbers on it.
    fn corners<C: Pressed>(self, former: Former<'_, C>) -> impl Iterator<Item = (usize, Vector)> {
        let places = places(former.pressed_at(self)).into_iter();
        places.map(move |index| {
            let [x, z] = direction(index);
            (
                index,
                Vector::new(self.radius * x, self.at, self.radius * z),
            )
        })
    }

    /// Returns the corners of the face in its own frame, with their numbers among all vertices.
    pub(super) fn vertices<C: Pressed>(
        self,
        former: Former<'_, C>,
    ) -> impl Iterator<Item = (u32, Vector)> {
        let corners = self.corners(former);
        corners.map(move |(number, index)| (self.vertex(number), index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_evenly_around() {
        for index in 0..PLACES {
            let [x, z] = direction(index);
            let [next_x, next_z] = direction(index + 1);
            let angle = std::f64::consts::TAU / PLACES as f64;
            assert!((x * next_x + z * next_z - angle.cos()).abs() < 1e-15);
            assert!((x * next_z - z * next_x - angle.sin()).abs() < 1e-15);
        }
    }

    #[test]
    fn a_face_has_more_corners_where_it_leans() {
        assert_eq!(places([0.0; 2])[..], [0, 4, 8, 12, 16, 20, 24, 28]);
        assert_eq!(places([0.5, -0.5])[..], [0, 4, 8, 12, 16, 20, 24, 28]);
        for index in 0..PLACES {
            let middle = direction(index).map(|part| 0.9 * part);
            let mut own = places(middle).to_vec();
            own.sort_unstable();
            own.dedup();
            let more = if index % APART == 0 { 6 } else { 5 };
            assert_eq!(own.len(), 8 + more, "{own:?}");
            for near in index + PLACES + 1 - APART..index + PLACES + APART {
                assert!(own.contains(&(near % PLACES)), "{near} of {own:?}");
            }
        }
    }
}
