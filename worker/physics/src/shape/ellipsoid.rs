//! Ellipsoids as polyhedra: parry has none.

use std::collections::BTreeMap;

use rapier3d_f64::geometry::SharedShape;
use rapier3d_f64::math::Vector;

/// Number of times that the icosahedron's triangles are split in four: 162 corners, 320 faces.
const SPLITS: usize = 2;

/// The distance from the centre of the unit polyhedron to its nearest face.
const INNER_RADIUS: f64 = 0.982_247;

/// A polyhedron within 1 % of the ellipsoid, measured in the scaling that makes it a sphere: its
/// corners lie as far outside as the middles of its faces inside.
pub(super) fn ellipsoid(radii: [f64; 3]) -> Option<SharedShape> {
    let (corners, triangles) = icosphere();
    let scale = Vector::from_array(radii) * (2.0 / (1.0 + INNER_RADIUS));
    let points = corners.into_iter().map(|corner| corner * scale).collect();
    SharedShape::convex_mesh(points, &triangles)
}

/// An icosahedron with split faces and corners on the unit sphere; uses no trigonometry, so it has
/// the same bits everywhere.
fn icosphere() -> (Vec<Vector>, Vec<[u32; 3]>) {
    let golden = f64::midpoint(1.0, 5.0_f64.sqrt());
    let mut corners = Vec::new();
    for (a, b) in [
        (-1.0, golden),
        (1.0, golden),
        (-1.0, -golden),
        (1.0, -golden),
    ] {
        corners.push(Vector::new(a, b, 0.0).normalize());
    }
    for (a, b) in [
        (-1.0, golden),
        (1.0, golden),
        (-1.0, -golden),
        (1.0, -golden),
    ] {
        corners.push(Vector::new(0.0, a, b).normalize());
    }
    for (a, b) in [
        (-1.0, golden),
        (1.0, golden),
        (-1.0, -golden),
        (1.0, -golden),
    ] {
        corners.push(Vector::new(b, 0.0, a).normalize());
    }
    let mut triangles = ICOSAHEDRON.to_vec();
    for _ in 0..SPLITS {
        triangles = split(&mut corners, &triangles);
    }
    (corners, triangles)
}

fn split(corners: &mut Vec<Vector>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut middles = BTreeMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            corners.push((corners[a as usize] + corners[b as usize]).normalize());
            corners.len() as u32 - 1
        })
    };
    let mut finer = Vec::with_capacity(triangles.len() * 4);
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    finer
}

/// Faces of the icosahedron, counter-clockwise from outside.
const ICOSAHEDRON: [[u32; 3]; 20] = [
    [0, 11, 5],
    [0, 5, 1],
    [0, 1, 7],
    [0, 7, 10],
    [0, 10, 11],
    [1, 5, 9],
    [5, 11, 4],
    [11, 10, 2],
    [10, 7, 6],
    [7, 1, 8],
    [3, 9, 4],
    [3, 4, 2],
    [3, 2, 6],
    [3, 6, 8],
    [3, 8, 9],
    [4, 9, 5],
    [2, 4, 11],
    [6, 2, 10],
    [8, 6, 7],
    [9, 8, 1],
];

#[cfg(test)]
mod tests {
    use super::*;

    const ELLIPSOID_ERROR_MAX: f64 = 0.01;

    #[test]
    fn the_icosphere_is_closed_convex_and_as_close_to_the_sphere_as_promised() {
        let (corners, triangles) = icosphere();
        assert_eq!((corners.len(), triangles.len()), (162, 320));
        let mut inner = f64::INFINITY;
        for triangle in &triangles {
            let [a, b, c] = triangle.map(|index| corners[index as usize]);
            let normal = (b - a).cross(c - a).normalize();
            inner = inner.min(normal.dot(a));
            assert!(normal.dot(a) > 0.0, "a face looks inwards");
            assert!(
                corners.iter().all(|corner| normal.dot(*corner - a) < 1e-12),
                "a corner lies outside a face"
            );
        }
        assert!((inner - INNER_RADIUS).abs() < 1e-6, "inner radius {inner}");
        let scale = 2.0 / (1.0 + INNER_RADIUS);
        assert!((scale - 1.0).max(1.0 - inner * scale) < ELLIPSOID_ERROR_MAX);
    }

    #[test]
    fn an_ellipsoid_reaches_its_half_axes() {
        let shape = ellipsoid([1.0, 2.0, 3.0]).unwrap();
        let extents = shape.compute_local_aabb().half_extents();
        for (extent, radius) in extents.to_array().into_iter().zip([1.0, 2.0, 3.0]) {
            assert!(
                (extent / radius - 1.0).abs() < ELLIPSOID_ERROR_MAX,
                "{extent} for {radius}"
            );
        }
    }
}
