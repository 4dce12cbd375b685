//! [`Solid`]: how much room a collision takes up, whole and below a level, for what floats.
//!
//! Balls and ellipsoids are cut in closed form, everything else as triangles; round shapes become
//! polyhedra of their own volume.

mod revolved;

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

use mesh::TriangleMesh;
use rapier3d_f64::math::Vector;
use rapier3d_f64::parry::shape::ConvexPolyhedron;
use sdf::{Collision, Geometry, MeshShape, Pose, World};

use self::revolved::revolved;
use super::shape::flaw;

/// Room that is taken up, with its centre.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Room {
    /// \[m³\]
    pub volume: f64,
    /// Integral of positions over it \[m⁴\].
    pub moment: [f64; 3],
}

impl Room {
    /// Returns its centre \[m\]; the origin when it is empty.
    pub fn center(&self) -> [f64; 3] {
        self.moment.map(|moment| {
            if self.volume > 0.0 {
                moment / self.volume
            } else {
                0.0
            }
        })
    }

    /// Returns what is in it and not in a part of it.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        Self {
            volume: self.volume - part.volume,
            moment: std::array::from_fn(|i| self.moment[i] - part.moment[i]),
        }
    }

    fn at(volume: f64, center: Vector) -> Self {
        Self {
            volume,
            moment: (center * volume).to_array(),
        }
    }
}

/// The solid that a collision is.
#[derive(Clone, Debug)]
pub struct Solid {
    form: Form,
    /// Link frame.
    pose: Pose,
    /// In its own frame.
    center: Vector,
    volume: f64,
    /// The greatest distance of its points from its centre \[m\].
    radius: f64,
}

#[derive(Clone, Debug)]
enum Form {
    Ellipsoid([f64; 3]),
    Polyhedron(Arc<TriangleMesh>),
}

/// Makes solids, of each mesh once.
#[derive(Clone, Debug, Default)]
pub struct Solids {
    meshes: BTreeMap<(usize, [u64; 3]), Option<Arc<TriangleMesh>>>,
}

impl Solids {
    /// Returns the solid of a collision; `None` for planes, heightmaps and what has no volume. A
    /// mesh that is not closed counts as its convex hull.
    pub fn of(&mut self, world: &World, collision: &Collision) -> Option<Solid> {
        let geometry = &collision.geometry;
        if flaw(geometry, world, true).is_some() {
            return None;
        }
        let form = match geometry {
            Geometry::Empty | Geometry::Plane { .. } | Geometry::Heightmap(_) => return None,
            Geometry::Sphere { radius } => Form::Ellipsoid([*radius; 3]),
            Geometry::Ellipsoid { radii } => Form::Ellipsoid(*radii),
            Geometry::Box { size: [x, y, _] } => {
                let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
                let outline = corners.map(|[i, j]| [i * x / 2.0, j * y / 2.0]);
                Form::Polyhedron(Arc::new(extruded(&[outline.to_vec()], geometry)?))
            }
            Geometry::Polyline { outlines, .. } => {
                Form::Polyhedron(Arc::new(extruded(outlines, geometry)?))
            }
            Geometry::Cylinder { .. } | Geometry::Capsule { .. } | Geometry::Cone { .. } => {
                Form::Polyhedron(Arc::new(revolved(geometry)?))
            }
            Geometry::Mesh(shape) => Form::Polyhedron(self.mesh(world, shape)?),
        };
        Solid::new(form, collision.pose)
    }

    /// Forgets meshes, since others may come under their numbers.
    pub fn forget_meshes(&mut self) {
        self.meshes.clear();
    }

    fn mesh(&mut self, world: &World, shape: &MeshShape) -> Option<Arc<TriangleMesh>> {
        let index = shape.mesh?;
        let build = || {
            let mesh = world.meshes.get(index)?.clone().scaled(shape.scale);
            if mesh.mass_properties(1.0).is_some() {
                return Some(Arc::new(mesh));
            }
            let points: Vec<Vector> = mesh.vertices.iter().copied().map(Vector::from).collect();
            let hull = ConvexPolyhedron::from_convex_hull(&points)?;
            let (vertices, triangles) = hull.to_trimesh();
            let vertices = vertices.iter().map(Vector::to_array).collect();
            let hull = TriangleMesh {
                vertices,
                triangles,
            };
            Some(Arc::new(hull))
        };
        let key = (index, shape.scale.map(f64::to_bits));
        self.meshes.entry(key).or_insert_with(build).clone()
    }
}

impl Solid {
    fn new(form: Form, pose: Pose) -> Option<Self> {
        let (volume, center, radius) = match &form {
            Form::Ellipsoid(radii) => {
                let volume = 4.0 / 3.0 * PI * radii[0] * radii[1] * radii[2];
                let radius = radii
                    .iter()
                    .fold(0.0, |most: f64, radius| most.max(*radius));
                (volume, Vector::ZERO, radius)
            }
            Form::Polyhedron(mesh) => {
                let properties = mesh.mass_properties(1.0)?;
                let center = Vector::from_array(properties.center);
                let distances = mesh.vertices.iter();
                let distances = distances.map(|vertex| (Vector::from(*vertex) - center).length());
                (properties.mass, center, distances.fold(0.0, f64::max))
            }
        };
        Some(Self {
            form,
            pose,
            center,
            volume,
            radius,
        })
    }

    /// Returns all of it, in a frame in which its link has a pose.
    pub fn whole(&self, link: &Pose) -> Room {
        let pose = link.then(&self.pose);
        let center = Vector::from(pose.rotate(self.center.into())) + Vector::from(pose.position);
        Room::at(self.volume, center)
    }

    /// Returns what of it is below a height \[m\], in a frame in which its link has a pose.
    pub fn below(&self, link: &Pose, height: f64) -> Room {
        let whole = self.whole(link);
        let depth = height - whole.center()[2];
        if depth >= self.radius {
            return whole;
        }
        if depth <= -self.radius {
            return Room::default();
        }
        let pose = link.then(&self.pose);
        match &self.form {
            Form::Ellipsoid(radii) => ellipsoid_below(*radii, &pose, height),
            Form::Polyhedron(mesh) => polyhedron_below(mesh, &pose, height),
        }
    }
}

/// The height of a box or polyline, and where its base is, go with its outlines.
fn extruded(outlines: &[Vec<[f64; 2]>], geometry: &Geometry) -> Option<TriangleMesh> {
    let (height, base) = match geometry {
        Geometry::Box { size } => (size[2], -size[2] / 2.0),
        Geometry::Polyline { height, .. } => (*height, 0.0),
        _ => return None,
    };
    let mut mesh = TriangleMesh::extrude(outlines, height).ok()?;
    for vertex in &mut mesh.vertices {
        vertex[2] += base;
    }
    Some(mesh)
}

/// Cuts the unit ball that the ellipsoid becomes when its axes are stretched.
fn ellipsoid_below(radii: [f64; 3], pose: &Pose, height: f64) -> Room {
    let up = Vector::from(pose.inverse().rotate([0.0, 0.0, 1.0]));
    let stretched = up * Vector::from(radii);
    let reach = stretched.length();
    let cut = ((height - pose.position[2]) / reach).clamp(-1.0, 1.0);
    let ball = PI * (2.0 / 3.0 + cut - cut * cut * cut / 3.0);
    if ball <= 0.0 {
        return Room::default();
    }
    let rest = 1.0 - cut * cut;
    let along = -PI * rest * rest / 4.0 / ball;
    let local = stretched / reach * along * Vector::from(radii);
    let center = Vector::from(pose.rotate(local.into())) + Vector::from(pose.position);
    Room::at(ball * radii[0] * radii[1] * radii[2], center)
}

/// Adds up tetrahedra between a point at the height and the triangles, cut off there: with that
/// point as their tip, those of the cut itself are flat.
fn polyhedron_below(mesh: &TriangleMesh, pose: &Pose, height: f64) -> Room {
    let tip = Vector::new(pose.position[0], pose.position[1], height);
    let to_tip =
        |vertex: &[f64; 3]| Vector::from(pose.rotate(*vertex)) + Vector::from(pose.position) - tip;
    let vertices: Vec<Vector> = mesh.vertices.iter().map(to_tip).collect();
    let mut volume = 0.0;
    let mut moment = Vector::ZERO;
    for triangle in &mesh.triangles {
        let corners = triangle.map(|index| vertices[index as usize]);
        let (polygon, count) = cut(corners);
        for last in 2..count {
            let [a, b, c] = [polygon[0], polygon[last - 1], polygon[last]];
            let part = a.dot(b.cross(c)) / 6.0;
            volume += part;
            moment += (a + b + c) * (part / 4.0);
        }
    }
    if volume <= 0.0 {
        return Room::default();
    }
    Room {
        volume,
        moment: (moment + tip * volume).to_array(),
    }
}

/// Returns the polygon that is left of a triangle where z is at most 0, and its number of corners.
fn cut(corners: [Vector; 3]) -> ([Vector; 4], usize) {
    let mut polygon = [Vector::ZERO; 4];
    let mut count = 0;
    let mut add = |corner: Vector| {
        polygon[count] = corner;
        count += 1;
    };
    for (index, here) in corners.into_iter().enumerate() {
        let next = corners[(index + 1) % 3];
        if here.z <= 0.0 {
            add(here);
        }
        if (here.z < 0.0 && next.z > 0.0) || (here.z > 0.0 && next.z < 0.0) {
            add(here + (next - here) * (here.z / (here.z - next.z)));
        }
    }
    (polygon, count)
}

#[cfg(test)]
mod tests;
