//! [`MassProperties`]: mass, centre and inertia of the solid that a closed mesh bounds.
//!
//! The integrals over the solid become sums over its triangles by the divergence theorem: each
//! triangle spans a tetrahedron with the origin, whose moments are polynomials of its corners.

use crate::triangle_mesh::{TriangleMesh, first_of_each_position};

/// Mass, centre of mass and inertia of a solid of one density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass in the frame of the mesh \[m\].
    pub center: [f64; 3],
    /// Inertia about the centre, in the axes of the mesh: ixx, ixy, ixz, iyy, iyz, izz \[kg m²\].
    pub inertia: [f64; 6],
}

impl TriangleMesh {
    /// Returns the mass properties of the solid within, or nothing when the mesh is not closed or
    /// its volume is not positive. `density` in \[kg/m³\].
    pub fn mass_properties(&self, density: f64) -> Option<MassProperties> {
        if !self.is_closed() {
            return None;
        }
        let [low, high] = self.bounds()?;
        let origin: [f64; 3] = std::array::from_fn(|i| f64::midpoint(low[i], high[i]));
        let mut moments = Moments::default();
        for triangle in &self.triangles {
            moments.add(triangle.map(|index| {
                let vertex = self.vertices[index as usize];
                std::array::from_fn(|i| vertex[i] - origin[i])
            }));
        }
        moments.properties(density, origin)
    }

    /// Returns whether each edge is run through as often in one direction as in the other, by
    /// triangles whose corners meet at equal positions.
    fn is_closed(&self) -> bool {
        let same = first_of_each_position(&self.vertices);
        let mut edges = Vec::with_capacity(3 * self.triangles.len());
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|index| same[index as usize]);
            for (from, to) in [(a, b), (b, c), (c, a)] {
                if from != to {
                    edges.push((from.min(to), from.max(to), from < to));
                }
            }
        }
        edges.sort_unstable();
        let is_balanced = |edge: &[(u32, u32, bool)]| {
            edge.len() == 2 * edge.iter().filter(|(_, _, forward)| *forward).count()
        };
        let mut edges = edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        !self.triangles.is_empty() && edges.all(is_balanced)
    }
}

/// Integrals over the solid, of density one.
#[derive(Default)]
struct Moments {
    /// Integral of 1.
    volume: f64,
    /// Integrals of x, y, z.
    first: [f64; 3],
    /// Integrals of xx, xy, xz, yy, yz, zz.
    second: [f64; 6],
}

/// The axes of the six second moments.
const PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

impl Moments {
    /// Adds the tetrahedron of the origin and three corners, negative when they run clockwise.
    fn add(&mut self, [a, b, c]: [[f64; 3]; 3]) {
        let volume = dot(a, cross(b, c)) / 6.0;
        let sum: [f64; 3] = std::array::from_fn(|i| a[i] + b[i] + c[i]);
        self.volume += volume;
        for (own, sum) in self.first.iter_mut().zip(sum) {
            *own += volume * sum / 4.0;
        }
        for (own, (i, j)) in self.second.iter_mut().zip(PAIRS) {
            let corners = a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
            *own += volume * (corners + sum[i] * sum[j]) / 20.0;
        }
    }

    fn properties(&self, density: f64, origin: [f64; 3]) -> Option<MassProperties> {
        let mass = density * self.volume;
        let center = self.first.map(|first| first / self.volume);
        let central = |pair: usize| {
            let (i, j) = PAIRS[pair];
            density * (self.second[pair] - self.volume * center[i] * center[j])
        };
        let [xx, xy, xz, yy, yz, zz] = std::array::from_fn(central);
        let inertia = [yy + zz, -xy, -xz, xx + zz, -yz, xx + yy];
        let is_solid = mass > 0.0
            && mass.is_finite()
            && [0, 3, 5].iter().all(|i| inertia[*i] > 0.0)
            && inertia.iter().all(|number| number.is_finite());
        is_solid.then(|| MassProperties {
            mass,
            center: std::array::from_fn(|i| center[i] + origin[i]),
            inertia,
        })
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns the vector product.
pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn check(mesh: &TriangleMesh, mass: f64, center: [f64; 3], inertia: [f64; 6], within: f64) {
        let found = mesh.mass_properties(1000.0).unwrap();
        let scale = inertia[0].max(inertia[3]).max(inertia[5]);
        assert!((found.mass - mass).abs() <= within * mass, "{found:?}");
        let is_center = |i: usize| (found.center[i] - center[i]).abs() <= within;
        assert!((0..3).all(is_center), "{found:?} but {center:?}");
        let is_inertia = |i: usize| (found.inertia[i] - inertia[i]).abs() <= within * scale;
        assert!((0..6).all(is_inertia), "{found:?} but {inertia:?}");
    }

    /// A box with edges along the axes.
    fn cuboid(size: [f64; 3], middle: [f64; 3]) -> TriangleMesh {
        let corner = |i: usize| {
            std::array::from_fn(|axis| middle[axis] + size[axis] * (((i >> axis) & 1) as f64 - 0.5))
        };
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        TriangleMesh {
            vertices: (0..8).map(corner).collect(),
            triangles: quads
                .iter()
                .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
                .collect(),
        }
    }

    /// A sphere of rings; its corners lie on the sphere.
    fn sphere(radius: f64, rings: u32) -> TriangleMesh {
        let mut mesh = TriangleMesh::default();
        let columns = 2 * rings;
        for (ring, column) in (0..=rings).flat_map(|r| (0..columns).map(move |c| (r, c))) {
            let (up, around) = (f64::from(ring), f64::from(column));
            let sine = if ring % rings == 0 {
                0.0
            } else {
                (PI * up / f64::from(rings)).sin()
            };
            let (y, x) = (PI * around / f64::from(rings)).sin_cos();
            let z = (PI * up / f64::from(rings)).cos();
            mesh.vertices
                .push([sine * x, sine * y, z].map(|number| radius * number));
            if ring < rings {
                let here = ring * columns + column;
                let next = ring * columns + (column + 1) % columns;
                mesh.triangles.push([here, here + columns, next + columns]);
                mesh.triangles.push([here, next + columns, next]);
            }
        }
        mesh
    }

    #[test]
    fn a_box_has_the_mass_and_inertia_of_the_closed_form() {
        let (size, middle) = ([0.2, 0.3, 0.5], [10.0, -4.0, 2.0]);
        let inertia = [0.85, 0.0, 0.0, 0.725, 0.0, 0.325];
        check(&cuboid(size, middle), 30.0, middle, inertia, 1e-9);
    }

    #[test]
    fn a_tetrahedron_has_the_mass_and_inertia_of_the_closed_form() {
        let mesh = TriangleMesh {
            vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        };
        let (diagonal, product) = (1000.0 / 80.0, 1000.0 / 480.0);
        let inertia = [diagonal, product, product, diagonal, product, diagonal];
        check(&mesh, 1000.0 / 6.0, [0.25; 3], inertia, 1e-12);
    }

    #[test]
    fn a_fine_sphere_comes_close_to_the_closed_form() {
        let mass = 4.0 / 3.0 * PI * 0.125 * 1000.0;
        let inertia = [0.1 * mass, 0.0, 0.0, 0.1 * mass, 0.0, 0.1 * mass];
        check(&sphere(0.5, 200), mass, [0.0; 3], inertia, 1e-3);
    }

    #[test]
    fn open_inverted_and_empty_meshes_have_no_mass() {
        let mesh = cuboid([1.0; 3], [0.0; 3]);
        let mut open = mesh.clone();
        open.triangles.pop();
        assert_eq!(open.mass_properties(1.0), None);
        let mut inverted = mesh.clone();
        inverted.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert_eq!(inverted.mass_properties(1.0), None);
        assert_eq!(mesh.mass_properties(f64::NAN), None);
        assert_eq!(TriangleMesh::default().mass_properties(1.0), None);
    }

    #[test]
    fn a_mirrored_solid_keeps_its_mass() {
        let mirrored = cuboid([1.0; 3], [2.0, 0.0, 0.0]).scaled([-1.0, 1.0, 1.0]);
        let inertia = [1000.0 / 6.0, 0.0, 0.0, 1000.0 / 6.0, 0.0, 1000.0 / 6.0];
        check(&mirrored, 1000.0, [-2.0, 0.0, 0.0], inertia, 1e-12);
    }
}
