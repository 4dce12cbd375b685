//! [`PolygonCutter`]: flat polygons to triangles, concave ones by ear cutting.

use earcut::Earcut;

use crate::mass_properties::cross;

/// The most work on concave polygons of one file, in squared corners; past it they become fans.
const WORK_MAX: usize = 1_000_000_000;

/// Cuts polygons into triangles.
pub(super) struct PolygonCutter {
    earcut: Earcut<f64>,
    flat: Vec<[f64; 2]>,
    ears: Vec<u32>,
    work: usize,
}

impl PolygonCutter {
    pub(super) fn new() -> Self {
        Self {
            earcut: Earcut::new(),
            flat: Vec::new(),
            ears: Vec::new(),
            work: 0,
        }
    }

    /// Adds the triangles of one polygon, whose corners are indices into `vertices`.
    ///
    /// Indices out of range are passed on in a fan; whoever takes the triangles refuses them.
    pub(super) fn cut(
        &mut self,
        corners: &[u32],
        vertices: &[[f64; 3]],
        triangles: &mut Vec<[u32; 3]>,
    ) {
        let start = triangles.len();
        self.cut_places(corners, vertices, triangles);
        for place in triangles[start..].iter_mut().flatten() {
            *place = corners[*place as usize];
        }
    }

    /// Adds the triangles of one polygon as [`Self::cut`] does, as places among its corners.
    pub(super) fn cut_places(
        &mut self,
        corners: &[u32],
        vertices: &[[f64; 3]],
        triangles: &mut Vec<[u32; 3]>,
    ) {
        if corners.len() > 3 && self.find_ears(corners, vertices) {
            triangles.extend_from_slice(self.ears.as_chunks().0);
            return;
        }
        let places: Vec<u32> = (0..corners.len() as u32).collect();
        triangles.extend(fan(&places));
    }

    /// Finds the triangles of a concave polygon; a convex one is left to the fan.
    fn find_ears(&mut self, corners: &[u32], vertices: &[[f64; 3]]) -> bool {
        let position = |i: &u32| vertices.get(*i as usize).copied();
        let Some(points) = corners
            .iter()
            .map(position)
            .collect::<Option<Vec<[f64; 3]>>>()
        else {
            return false;
        };
        let normal = normal(&points);
        if !self.flatten(&points, normal) || is_convex(&self.flat) {
            return false;
        }
        self.work = self.work.saturating_add(corners.len().saturating_pow(2));
        if self.work > WORK_MAX {
            return false;
        }
        self.earcut.earcut_slice(&self.flat, &[], &mut self.ears);
        for ear in self.ears.chunks_exact_mut(3) {
            if turn([0, 1, 2].map(|i| self.flat[ear[i] as usize])) < 0.0 {
                ear.swap(1, 2);
            }
        }
        self.ears.len() == 3 * (corners.len() - 2)
    }

    /// Leaves out the axis that is closest to the normal, so that the polygon runs
    /// counter-clockwise in two dimensions.
    fn flatten(&mut self, points: &[[f64; 3]], normal: [f64; 3]) -> bool {
        let size = normal.map(f64::abs);
        let (mut x, mut y, up) = if size[2] >= size[0] && size[2] >= size[1] {
            (0, 1, normal[2])
        } else if size[1] >= size[0] {
            (2, 0, normal[1])
        } else {
            (1, 2, normal[0])
        };
        if up < 0.0 {
            (x, y) = (y, x);
        }
        self.flat.clear();
        self.flat
            .extend(points.iter().map(|point| [point[x], point[y]]));
        up.is_finite() && up != 0.0
    }
}

/// Returns a normal of the polygon, twice as long as its area (Newell's method).
fn normal(points: &[[f64; 3]]) -> [f64; 3] {
    let mut normal = [0.0; 3];
    let origin = points[0];
    let arm = |i: usize| std::array::from_fn(|axis| points[i][axis] - origin[axis]);
    for i in 2..points.len() {
        let part = cross(arm(i - 1), arm(i));
        for (own, part) in normal.iter_mut().zip(part) {
            *own += part;
        }
    }
    normal
}

fn is_convex(points: &[[f64; 2]]) -> bool {
    let count = points.len();
    (0..count).all(|i| turn([0, 1, 2].map(|step| points[(i + step) % count])) >= 0.0)
}

/// Returns twice the area of a triangle, positive when it runs counter-clockwise.
pub(crate) fn turn([a, b, c]: [[f64; 2]; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The triangles of a strip; every other one is turned, so that all face the same side.
pub(super) fn strip(corners: &[u32]) -> Vec<[u32; 3]> {
    let triangles = corners.windows(3).enumerate();
    triangles
        .map(|(i, t)| {
            if i % 2 == 0 {
                [t[0], t[1], t[2]]
            } else {
                [t[1], t[0], t[2]]
            }
        })
        .collect()
}

/// The triangles of a fan around its first corner.
pub(super) fn fan(corners: &[u32]) -> Vec<[u32; 3]> {
    let rim = corners.get(1..).unwrap_or_default();
    rim.windows(2)
        .map(|pair| [corners[0], pair[0], pair[1]])
        .collect()
}
