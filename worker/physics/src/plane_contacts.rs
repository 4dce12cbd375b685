//! Contacts of a plane with meshes, hulls, cylinders and cones: their lowest corners. A face of a
//! box is a plane to hulls, cylinders and cones whose corners near it are all above it.
//!
//! parry compares a mesh with the box around a half-space, which holds everything, and so tries
//! each triangle in each step, however high the mesh is. Of a face it takes four corners that
//! follow each other, on which a round sole tips over. Here the corners that are near the plane are
//! found in the mesh's own tree, and the outermost of them become the contacts.
//!
//! A round face that lies flat has eight corners on its rim ([`RoundFace`]). With friction at the
//! four of parry's square alone, a spinning disc turns by an angle a tenth too large until it
//! stops. A face that does not lie flat has its lowest point, so that a wheel has two contacts,
//! however it has turned.

use rapier3d_f64::math::{Pose, Real, Vector};
use rapier3d_f64::parry::bounding_volume::Aabb;
use rapier3d_f64::parry::query::{ContactManifold, TrackedContact};
use rapier3d_f64::parry::shape::{Cuboid, HalfSpace, PackedFeatureId, Shape, TriMesh};
use smallvec::SmallVec;

use super::round_face::{self, Former, OVERLAP_MAX, Pressed, RoundFace};

/// How much farther out a corner has to be for each metre that it is higher \[m\].
const HEIGHT_WEIGHT: Real = 10.0;

/// The directions along the plane in which the outermost corners are contacts, forth and back, as
/// parts along two axes.
const DIRECTIONS: [[Real; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]];

/// The most corners that become contacts: the outermost, and the lowest.
const CONTACTS_MAX: usize = 2 * DIRECTIONS.len() + 1;

/// Number of corners that are looked at together.
const CHUNK: usize = 8;

/// A corner near the plane.
#[derive(Clone, Copy)]
struct Corner {
    number: u32,
    /// In the frame of its shape.
    point: Vector,
    /// Above the plane \[m\].
    height: Real,
}

/// Corners near the plane.
type Corners = SmallVec<[Corner; 128]>;

/// Finds the contacts of a plane and a shape, which is the first of the two when `is_flipped`;
/// returns false for shapes that it does not know, of which nothing is changed then.
pub(super) fn find<M: Default, C: Pressed>(
    plane: &HalfSpace,
    shape: &dyn Shape,
    plane_to_shape: &Pose,
    prediction: Real,
    is_flipped: bool,
    manifolds: &mut Vec<ContactManifold<M, C>>,
) -> bool {
    let view = View::new(plane.normal, 0.0, plane_to_shape, prediction);
    let mut corners = Corners::new();
    let former = former(manifolds, is_flipped);
    if !view.find_corners(shape, former, &mut corners) {
        return false;
    }
    replace(&view, &corners, plane_to_shape, is_flipped, manifolds);
    true
}

/// Finds the contacts of a box and a hull, a cylinder or a cone that is above one of its faces; the
/// box is the second of the two when `is_flipped`. Returns false, with nothing changed, for other
/// shapes, and where a corner near the face is beyond its edges or so deep that another way out of
/// the box may be shorter.
pub(super) fn find_on_box<M: Default, C: Pressed>(
    cuboid: &Cuboid,
    shape: &dyn Shape,
    box_to_shape: &Pose,
    prediction: Real,
    is_flipped: bool,
    manifolds: &mut Vec<ContactManifold<M, C>>,
) -> bool {
    let is_known = shape.as_convex_polyhedron().is_some()
        || shape.as_cylinder().is_some()
        || shape.as_cone().is_some();
    if !is_known {
        return false;
    }
    let (half, middle) = (cuboid.half_extents, box_to_shape.translation);
    let beyond = middle.abs() - half;
    let axis = (0..3).fold(0, |best, axis| {
        if beyond[axis] > beyond[best] {
            axis
        } else {
            best
        }
    });
    let mut normal = Vector::ZERO;
    normal[axis] = 1.0_f64.copysign(middle[axis]);
    let view = View::new(normal, half[axis], box_to_shape, prediction);
    let mut corners = Corners::new();
    let former = former(manifolds, is_flipped);
    if !view.find_corners(shape, former, &mut corners) {
        return false;
    }
    let is_above = |corner: &Corner| {
        let within = half - (*box_to_shape * corner.point).abs();
        let depth = (-corner.height).max(0.0);
        let is_inside = |other: usize| other == axis || within[other] >= depth;
        depth <= OVERLAP_MAX && (0..3).all(is_inside)
    };
    if !corners.iter().all(is_above) {
        return false;
    }
    replace(&view, &corners, box_to_shape, is_flipped, manifolds);
    true
}

/// Returns the contacts of the step before.
fn former<M, C>(manifolds: &[ContactManifold<M, C>], is_flipped: bool) -> Former<'_, C> {
    Former {
        points: manifolds.first().map_or(&[][..], |known| &known.points),
        is_flipped,
    }
}

/// Makes the outermost of some corners the only contacts of a plane and a shape, and goes on with
/// the impulses of the step before.
fn replace<M: Default, C: Pressed>(
    view: &View,
    corners: &[Corner],
    plane_to_shape: &Pose,
    is_flipped: bool,
    manifolds: &mut Vec<ContactManifold<M, C>>,
) {
    if manifolds.is_empty() {
        manifolds.push(ContactManifold::new());
    }
    manifolds.truncate(1);
    let manifold = &mut manifolds[0];
    // Collected, it would be made once and copied once.
    let mut old = SmallVec::<[TrackedContact<C>; CONTACTS_MAX]>::new();
    old.extend(manifold.points.drain(..));
    let normals = [view.plane_normal, -view.normal];
    [manifold.local_n1, manifold.local_n2] = if is_flipped {
        [normals[1], normals[0]]
    } else {
        normals
    };
    let mut chosen = SmallVec::new();
    for corner in outermost(corners, view.normal, &mut chosen) {
        manifold.points.push(TrackedContact::flipped(
            *plane_to_shape * corner.point - view.plane_normal * corner.height,
            corner.point,
            PackedFeatureId::face(0),
            PackedFeatureId::vertex(corner.number),
            corner.height,
            is_flipped,
        ));
    }
    manifold.match_contacts(&old);
}

/// A plane in the frame of a shape.
struct View {
    /// In the plane's own frame.
    plane_normal: Vector,
    normal: Vector,
    offset: Real,
    reach: Real,
}

impl View {
    /// Looks at a plane, whose normal and distance from its own origin are given, from a shape.
    fn new(plane_normal: Vector, at: Real, plane_to_shape: &Pose, reach: Real) -> Self {
        Self {
            plane_normal,
            normal: plane_to_shape.rotation.inverse() * plane_normal,
            offset: plane_normal.dot(plane_to_shape.translation) - at,
            reach,
        }
    }

    fn height(&self, point: Vector) -> Real {
        self.normal.dot(point) + self.offset
    }

    fn is_near(&self, around: &Aabb) -> bool {
        let reach = self.normal.abs().dot(around.half_extents());
        self.height(around.center()) - reach <= self.reach
    }

    /// Adds the corners of a hull that are near the plane, with numbers from one on. Most are not,
    /// which is found without a branch for each corner.
    fn add_near(&self, points: &[Vector], first: usize, corners: &mut Corners) {
        let (chunks, rest) = points.as_chunks::<CHUNK>();
        for (number, chunk) in chunks.iter().enumerate() {
            self.add_near_of(chunk, first + CHUNK * number, corners);
        }
        self.add_near_of(rest, first + CHUNK * chunks.len(), corners);
    }

    /// Does so for a few corners.
    #[inline]
    fn add_near_of(&self, points: &[Vector], first: usize, corners: &mut Corners) {
        let mut heights = [0.0; CHUNK];
        let mut lowest = Real::INFINITY;
        for (height, point) in heights.iter_mut().zip(points) {
            *height = self.height(*point);
            lowest = if *height < lowest { *height } else { lowest };
        }
        if lowest > self.reach {
            return;
        }
        for (number, (point, height)) in points.iter().zip(heights).enumerate() {
            if height <= self.reach {
                corners.push(Corner {
                    number: (first + number) as u32,
                    point: *point,
                    height,
                });
            }
        }
    }

    /// Adds the corners of a shape that are near the plane, in the order of their numbers; returns
    /// false when it has none to be found.
    fn find_corners<C: Pressed>(
        &self,
        shape: &dyn Shape,
        former: Former<'_, C>,
        corners: &mut Corners,
    ) -> bool {
        if let Some(hull) = shape.as_convex_polyhedron() {
            self.add_near(hull.points(), 0, corners);
            return true;
        }
        let mut add = |number: usize, point: Vector| {
            let height = self.height(point);
            if height <= self.reach {
                let number = number as u32;
                corners.push(Corner {
                    number,
                    point,
                    height,
                });
            }
        };
        if let Some(mesh) = shape.as_trimesh() {
            for number in self.near_vertices(mesh) {
                add(number as usize, mesh.vertices()[number as usize]);
            }
        } else if let Some(compound) = shape.as_compound() {
            let mut first = 0;
            for ((pose, part), around) in compound.shapes().iter().zip(compound.aabbs()) {
                let Some(hull) = part.as_convex_polyhedron() else {
                    return false;
                };
                if self.is_near(around) {
                    for (number, point) in hull.points().iter().enumerate() {
                        add(first + number, *pose * *point);
                    }
                }
                first += hull.points().len();
            }
        } else if let Some(face) = RoundFace::flat(shape, self.normal, self.reach) {
            for (number, point) in face.vertices(former) {
                add(number as usize, point);
            }
        } else if let Some(cylinder) = shape.as_cylinder() {
            let (radius, half) = (cylinder.radius, cylinder.half_height);
            add(0, self.lowest(radius, -half));
            add(1, self.lowest(radius, half));
        } else if let Some(cone) = shape.as_cone() {
            add(0, self.lowest(cone.radius, -cone.half_height));
            add(1, Vector::Y * cone.half_height);
        } else {
            return false;
        }
        true
    }

    /// Returns the lowest point on the rim of a round face across the y axis, at a height on it.
    fn lowest(&self, radius: Real, at: Real) -> Vector {
        let across = Vector::new(self.normal.x, 0.0, self.normal.z);
        across * (-radius / across.length().max(Real::EPSILON)) + Vector::Y * at
    }

    fn near_vertices(&self, mesh: &TriMesh) -> Vec<u32> {
        let leaves = mesh.bvh().leaves(|node| self.is_near(&node.aabb()));
        let triangles = leaves.map(|leaf| mesh.indices()[leaf as usize]);
        let mut vertices: Vec<u32> = triangles.flatten().collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }
}

/// Returns the lowest corner and those that are farthest out, which are `chosen` if not all are.
fn outermost<'a>(
    corners: &'a [Corner],
    normal: Vector,
    chosen: &'a mut SmallVec<[Corner; CONTACTS_MAX]>,
) -> &'a [Corner] {
    if corners.len() <= CONTACTS_MAX || round_face::is_corner(corners[0].number) {
        return corners;
    }
    let (first, second) = normal.any_orthonormal_pair();
    let ways = DIRECTIONS.map(|[along_first, along_second]| {
        (first * along_first + second * along_second).to_array()
    });
    let [x, y, z] = [0, 1, 2].map(|axis| ways.map(|way| way[axis]));
    let (mut lowest, mut least) = (0, Real::INFINITY);
    // Forth and back along each direction: where the outermost corner is, and how far out.
    let mut best = [[0; DIRECTIONS.len()]; 2];
    let mut most = [[Real::NEG_INFINITY; DIRECTIONS.len()]; 2];
    for (index, corner) in corners.iter().enumerate() {
        if corner.height < least {
            (lowest, least) = (index as u64, corner.height);
        }
        let ([px, py, pz], height) = (corner.point.to_array(), HEIGHT_WEIGHT * corner.height);
        for way in 0..DIRECTIONS.len() {
            let along = x[way] * px + y[way] * py + z[way] * pz;
            for (side, score) in [along - height, -along - height].into_iter().enumerate() {
                let is_better = score > most[side][way];
                most[side][way] = if is_better { score } else { most[side][way] };
                best[side][way] = if is_better {
                    index as u64
                } else {
                    best[side][way]
                };
            }
        }
    }
    let [forth, back] = best;
    let outer = forth.into_iter().zip(back);
    let outer = outer.flat_map(|(forth, back)| [forth, back]);
    for index in std::iter::once(lowest).chain(outer) {
        let corner = corners[index as usize];
        if chosen.iter().all(|other| other.number != corner.number) {
            chosen.push(corner);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use rapier3d_f64::geometry::ContactData;
    use rapier3d_f64::math::Rotation;
    use rapier3d_f64::parry::shape::{Ball, Compound, ConvexPolyhedron, Cylinder, SharedShape};

    use super::*;

    const REACH: Real = 0.002;

    /// The corners of a prism of 1 m with a round sole.
    fn prism(count: u32) -> Vec<Vector> {
        let angles = (0..count).map(|i| f64::from(i) * std::f64::consts::TAU / f64::from(count));
        let rim = angles.map(|angle| (angle.cos(), angle.sin()));
        rim.flat_map(|(x, y)| [Vector::new(x, y, 0.0), Vector::new(x, y, 1.0)])
            .collect()
    }

    fn contacts(
        shape: &dyn Shape,
        height: Real,
        is_flipped: bool,
    ) -> Vec<TrackedContact<ContactData>> {
        let plane = HalfSpace::new(Vector::Z);
        let pose = Pose::from_translation(Vector::new(3.0, 4.0, height));
        let mut found: Vec<ContactManifold<(), ContactData>> = Vec::new();
        assert!(find(&plane, shape, &pose, REACH, is_flipped, &mut found));
        let manifold = found.pop().unwrap();
        let normal = if is_flipped {
            manifold.local_n2
        } else {
            manifold.local_n1
        };
        assert_eq!(normal, Vector::Z);
        manifold.points
    }

    /// Checks that contacts of a round sole hold it on all sides.
    fn check(shape: &dyn Shape) {
        for is_flipped in [false, true] {
            let found = contacts(shape, -0.001, is_flipped);
            assert!((8..=9).contains(&found.len()), "{}", found.len());
            let mean = found.iter().fold(Vector::ZERO, |sum, contact| {
                assert!((contact.dist + 0.001).abs() < 1e-12);
                let own = if is_flipped {
                    contact.local_p1
                } else {
                    contact.local_p2
                };
                assert!((own.length() - 1.0).abs() < 1e-6);
                sum + own / found.len() as Real
            });
            assert!(mean.length() < 0.1, "{mean}");
            assert_eq!(contacts(shape, 100.0, is_flipped).len(), 0);
        }
    }

    #[test]
    fn a_round_sole_is_held_on_all_sides() {
        let points = prism(48);
        let hull = ConvexPolyhedron::from_convex_hull(&points).unwrap();
        let (vertices, triangles) = hull.to_trimesh();
        check(&hull);
        check(&TriMesh::new(vertices, triangles).unwrap());
        let half = |is_left: bool| {
            let is_on_side = |p: &Vector| (p.x <= 1e-9) == is_left || p.x.abs() < 1e-9;
            let points = points.iter().copied().filter(is_on_side);
            let hull = ConvexPolyhedron::from_convex_hull(&points.collect::<Vec<_>>()).unwrap();
            (Pose::IDENTITY, SharedShape::new(hull))
        };
        check(&Compound::new(vec![half(true), half(false)]));
    }

    #[test]
    fn a_disc_stands_on_its_rim_and_rolls_on_two_points() {
        let disc = Cylinder::new(0.01, 1.0);
        let plane = HalfSpace::new(Vector::Z);
        let found = |rotation: Rotation, height: Real| {
            let pose = Pose::from_parts(Vector::Z * height, rotation);
            let mut found: Vec<ContactManifold<(), ContactData>> = Vec::new();
            assert!(find(&plane, &disc, &pose, REACH, false, &mut found));
            found.pop().unwrap().points
        };
        let flat = found(Rotation::from_rotation_x(std::f64::consts::FRAC_PI_2), 0.01);
        assert_eq!(flat.len(), 8);
        assert!(flat.iter().all(|contact| contact.dist.abs() < 1e-12));
        // Turned about its own axis, it touches where it is lowest all the same.
        for turn in [0.0, 0.1, 0.2, 0.3] {
            let rolling = found(Rotation::from_rotation_y(turn), 1.0);
            assert_eq!(rolling.len(), 2, "turned by {turn}");
            assert!(rolling.iter().all(|contact| contact.dist.abs() < 1e-12));
        }
    }

    /// Finds the contacts of a wheel that stands on a box of 2 m, x to the side and z up, if they
    /// are those of a plane.
    fn on_box(place: Vector, is_flipped: bool) -> Option<Vec<(Vector, Vector, Real)>> {
        let (cuboid, wheel) = (Cuboid::new(Vector::splat(1.0)), Cylinder::new(0.02, 0.1));
        let pose = Pose::from_translation(place);
        let mut found: Vec<ContactManifold<(), ContactData>> = Vec::new();
        find_on_box(&cuboid, &wheel, &pose, REACH, is_flipped, &mut found).then(|| {
            let points = found.pop().unwrap().points.into_iter();
            let as_placed = |point: TrackedContact<ContactData>| {
                let points = [point.local_p1, point.local_p2];
                let [own, of_wheel] = [is_flipped, !is_flipped].map(|at| points[usize::from(at)]);
                (own, of_wheel, point.dist)
            };
            points.map(as_placed).collect()
        })
    }

    #[test]
    fn a_wheel_rolls_on_a_face_of_a_box_as_on_a_plane() {
        for is_flipped in [false, true] {
            // On each of four sides, within the edges.
            for (side, sign) in [(0, 1.0), (0, -1.0), (2, 1.0), (2, -1.0)] {
                let mut place = Vector::splat(0.3);
                place[side] = sign * 1.099;
                let found = on_box(place, is_flipped).unwrap();
                assert_eq!(found.len(), 2);
                for (on_face, on_wheel, height) in found {
                    assert!((height + 0.001).abs() < 1e-12);
                    assert_eq!(on_face[side], sign);
                    assert!((on_wheel[side] + sign * 0.1).abs() < 1e-12);
                    assert!((on_face[1] - 0.3).abs() - 0.02 < 1e-12);
                }
            }
            // High above it nothing touches; a corner beyond the edge, or deep below the face, is
            // for others to find.
            assert_eq!(on_box(Vector::new(0.0, 0.0, 1.2), is_flipped), Some(vec![]));
            assert_eq!(on_box(Vector::new(0.0, 0.99, 1.099), is_flipped), None);
            assert_eq!(on_box(Vector::new(0.0, 0.0, 1.09), is_flipped), None);
            // As deep as it is far from the edge: the way to the side is as short.
            assert_eq!(on_box(Vector::new(0.0, 0.978, 1.097), is_flipped), None);
            assert!(on_box(Vector::new(0.0, 0.975, 1.097), is_flipped).is_some());
        }
    }

    #[test]
    fn a_hull_stands_on_a_box_by_its_corners() {
        let cuboid = Cuboid::new(Vector::splat(1.0));
        let corners = |size: Real| {
            let ends = [-size, size];
            let points = ends.into_iter().flat_map(|x| {
                ends.into_iter()
                    .flat_map(move |y| ends.map(|z| Vector::new(x, y, z)))
            });
            ConvexPolyhedron::from_convex_hull(&points.collect::<Vec<_>>()).unwrap()
        };
        let find = |hull: &dyn Shape, place: Vector| {
            let pose = Pose::from_translation(place);
            let mut found: Vec<ContactManifold<(), ContactData>> = Vec::new();
            find_on_box(&cuboid, hull, &pose, REACH, false, &mut found)
                .then(|| found.pop().unwrap().points.len())
        };
        assert_eq!(find(&corners(0.1), Vector::Z * 1.1), Some(4));
        assert_eq!(find(&corners(0.1), Vector::new(0.95, 0.0, 1.1)), None);
        // A hull that is wider than the box stands on the box's corners.
        assert_eq!(find(&corners(1.5), Vector::Z * 2.5), None);
        assert_eq!(find(&Ball::new(0.1), Vector::Z * 1.1), None);
    }

    #[test]
    fn a_ball_is_left_to_others() {
        let plane = HalfSpace::new(Vector::Z);
        let mut found: Vec<ContactManifold<(), ContactData>> = Vec::new();
        assert!(!find(
            &plane,
            &Ball::new(1.0),
            &Pose::IDENTITY,
            REACH,
            false,
            &mut found
        ));
        assert!(found.is_empty());
    }
}
