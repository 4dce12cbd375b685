//! [`Seat`]: where a round face lies on a face of a box.
//!
//! parry takes the square within the round face, which tips over earlier and turns more easily.
//! Here the contacts are those that the face has on a plane, as far as they are above the box;
//! where it stands out, the outermost corners of what both faces share.

use super::{
    CORNERS_MAX, ContactManifold, Cuboid, Former, OVERLAP_MAX, PLACES, Pose, Pressed, ROUNDING,
    Real, RoundFace, Shape, SmallVec, Touching, Vector, replace,
};

/// A face of a box on which a round face lies.
struct Seat {
    face: RoundFace,
    box_to_shape: Pose,
    half: Vector,
    /// The axis of the box along its normal, and the two others.
    axes: [usize; 3],
    /// The normal, in the frame of the box.
    normal: Vector,
    /// The centre of the round face, in the frame of the box.
    center: Vector,
}

/// A corner of what both faces share.
#[derive(Clone, Copy, PartialEq)]
struct Corner {
    /// Its number on the round face.
    number: usize,
    /// In the frame of the box, and in that of the round face.
    places: [Vector; 2],
}

/// Corners of what both faces share.
type Corners = SmallVec<[Corner; 2 * CORNERS_MAX + 2]>;

/// Finds the contacts of a box and a round face that lies flat on it; the box is the second of the
/// two when `is_flipped`. Returns false where none does, with nothing changed.
pub(in super::super) fn find<M: Default, C: Pressed>(
    cuboid: &Cuboid,
    shape: &dyn Shape,
    box_to_shape: &Pose,
    prediction: Real,
    is_flipped: bool,
    manifolds: &mut Vec<ContactManifold<M, C>>,
) -> bool {
    let Some(seat) = Seat::find(cuboid, shape, box_to_shape, prediction) else {
        return false;
    };
    let former = Former {
        points: manifolds
            .first()
            .map_or(&[][..], |manifold| &manifold.points),
        is_flipped,
    };
    let corners = seat.corners(former);
    if corners.is_empty() {
        return false;
    }
    let touching = corners.into_iter().filter_map(|corner| {
        let [point, own] = corner.places;
        let height = seat.height(point);
        (height <= prediction).then(|| Touching {
            number: seat.face.vertex(corner.number),
            points: [point - seat.normal * height, own],
            height,
        })
    });
    let normals = [seat.normal, -seat.normal_of_shape()];
    replace(touching, normals, is_flipped, manifolds);
    true
}

impl Seat {
    /// Finds the face of a box on which a round face lies flat, unless another way out of the box
    /// is shorter.
    fn find(
        cuboid: &Cuboid,
        shape: &dyn Shape,
        box_to_shape: &Pose,
        prediction: Real,
    ) -> Option<Self> {
        let along = (box_to_shape.rotation * Vector::Y).abs();
        let axes = if along.x > along.y.max(along.z) {
            [0, 1, 2]
        } else if along.y > along.z {
            [1, 2, 0]
        } else {
            [2, 0, 1]
        };
        let seat = |sign: Real| {
            let mut normal = Vector::ZERO;
            normal[axes[0]] = sign;
            let own = box_to_shape.rotation.inverse() * normal;
            let face = RoundFace::flat(shape, own, prediction)?;
            Some(Self {
                face,
                box_to_shape: *box_to_shape,
                half: cuboid.half_extents,
                axes,
                normal,
                center: *box_to_shape * face.center(),
            })
        };
        let height = |seat: &Self| seat.height(seat.center);
        let mut highest: Option<Self> = None;
        for sign in [1.0, -1.0] {
            if let Some(seat) = seat(sign)
                && highest
                    .as_ref()
                    .is_none_or(|other| height(&seat) > height(other))
            {
                highest = Some(seat);
            }
        }
        let seat = highest?;
        let height = height(&seat);
        let beside = |axis: usize| seat.center[axis].abs() - seat.half[axis] - seat.face.radius;
        let beside = beside(axes[1]).max(beside(axes[2]));
        let is_near = height >= -OVERLAP_MAX && height <= 2.0 * prediction;
        (is_near && beside < height.min(0.0)).then_some(seat)
    }

    /// Returns the height of a point above the face of the box \[m\].
    fn height(&self, point: Vector) -> Real {
        self.normal.dot(point) - self.half[self.axes[0]]
    }

    fn normal_of_shape(&self) -> Vector {
        self.box_to_shape.rotation.inverse() * self.normal
    }

    /// Tells whether all of the round face is above that of the box.
    fn is_whole(&self) -> bool {
        let is_inside = |axis: usize| {
            self.center[axis].abs() + self.face.radius <= self.half[axis] * (1.0 + ROUNDING)
        };
        is_inside(self.axes[1]) && is_inside(self.axes[2])
    }

    fn is_above(&self, point: Vector) -> bool {
        let is_inside = |axis: usize| point[axis].abs() <= self.half[axis] * (1.0 + ROUNDING);
        is_inside(self.axes[1]) && is_inside(self.axes[2])
    }

    /// Returns the corners of what both faces share.
    fn corners<C: Pressed>(&self, former: Former<'_, C>) -> Corners {
        let corners = self.face.corners(former);
        let corners: Corners = corners
            .map(|(number, own)| Corner {
                number,
                places: [self.box_to_shape * own, own],
            })
            .collect();
        if self.is_whole() {
            return corners;
        }
        let above = corners.iter().copied();
        let mut shared: Corners = above
            .filter(|corner| self.is_above(corner.places[0]))
            .collect();
        self.add_edges(&mut shared);
        let mut chosen = Corners::new();
        for corner in corners {
            let way = corner.places[0] - self.center;
            let out = |corner: &Corner| way.dot(corner.places[0]);
            let outermost =
                shared.iter().copied().reduce(
                    |one, other| {
                        if out(&other) > out(&one) { other } else { one }
                    },
                );
            if let Some(outermost) = outermost.filter(|best| !chosen.contains(best)) {
                chosen.push(outermost);
            }
        }
        chosen
    }

    /// Adds where the rim crosses the edges of the box, and corners of the box below the round
    /// face.
    fn add_edges(&self, shared: &mut Corners) {
        let [_, first, second] = self.axes;
        let radius = self.face.radius;
        for (axis, other) in [(first, second), (second, first)] {
            for edge in [-self.half[axis], self.half[axis]] {
                let beside = edge - self.center[axis];
                let reach = radius * radius - beside * beside;
                if reach <= 0.0 {
                    continue;
                }
                for way in [-reach.sqrt(), reach.sqrt()] {
                    let along = self.center[other] + way;
                    if along.abs() <= self.half[other] {
                        self.add(shared, (axis, edge), (other, along));
                    }
                }
                for corner in [-self.half[other], self.half[other]] {
                    let far = (corner - self.center[other]).hypot(beside);
                    if axis == first && far < radius {
                        self.add(shared, (axis, edge), (other, corner));
                    }
                }
            }
        }
    }

    /// Adds the point of the round face above a place on the face of the box.
    fn add(
        &self,
        shared: &mut Corners,
        (first, at): (usize, Real),
        (second, beside): (usize, Real),
    ) {
        let outward = self.box_to_shape.rotation * Vector::Y;
        let mut point = self.center;
        point[first] = at;
        point[second] = beside;
        let way = point - self.center;
        let axis = self.axes[0];
        point[axis] -= outward.dot(way) / outward[axis];
        let own = self.box_to_shape.inverse_transform_point(point);
        shared.push(Corner {
            number: PLACES + shared.len(),
            places: [point, own],
        });
    }
}
