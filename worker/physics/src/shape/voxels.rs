//! [`Voxels`]: what a mesh fills, on a grid.
//!
//! Outside is what a flood from the edge of the grid reaches without going through a voxel with a
//! piece of a triangle, so that gaps below a voxel do no harm.

use rapier3d_f64::math::Vector;

use super::triangles::Triangles;

/// A grid over a mesh; lengths in it are in voxels.
pub(super) struct Voxels {
    origin: Vector,
    /// The edge of a voxel \[m\].
    edge: f64,
    count: [i32; 3],
    cells: Vec<Filling>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Filling {
    Inside,
    Surface,
    Outside,
}

/// The voxels from one corner up to another, without those at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VoxelBox {
    pub(super) from: [i32; 3],
    pub(super) to: [i32; 3],
}

impl VoxelBox {
    /// Returns what is below and above a plane across an axis.
    pub(super) fn cut(&self, axis: usize, at: i32) -> [Self; 2] {
        let (mut below, mut above) = (*self, *self);
        below.to[axis] = at;
        above.from[axis] = at;
        [below, above]
    }

    fn voxels(self) -> impl Iterator<Item = [i32; 3]> {
        let range = move |axis: usize| self.from[axis]..self.to[axis];
        range(0).flat_map(move |x| range(1).flat_map(move |y| range(2).map(move |z| [x, y, z])))
    }
}

impl Voxels {
    /// Fills a grid with so many voxels along the longest edge of a mesh.
    pub(super) fn new(triangles: &Triangles, resolution: i32) -> Self {
        let extents = triangles.extents();
        let edge = extents.max_element() / f64::from(resolution);
        // A layer all around is outside.
        let count = extents.to_array().map(|extent| (extent / edge) as i32 + 3);
        let origin = triangles.bounds()[0] - Vector::splat(edge);
        let cells = vec![Filling::Inside; count.iter().map(|count| *count as usize).product()];
        let mut voxels = Self {
            origin,
            edge,
            count,
            cells,
        };
        for triangle in &triangles.indices {
            let corners = triangle.map(|index| triangles.vertices[index as usize]);
            voxels.mark(corners);
        }
        voxels.flood();
        voxels
    }

    /// Marks the voxels of points of a triangle, half a voxel from each other.
    fn mark(&mut self, [a, b, c]: [Vector; 3]) {
        let steps = |side: Vector| (2.0 * side.length() / self.edge) as i32 + 1;
        let count = steps(b - a).max(steps(c - a)).max(steps(c - b));
        for i in 0..=count {
            for j in 0..=count - i {
                let part = |step: i32| f64::from(step) / f64::from(count);
                let point = a + (b - a) * part(i) + (c - a) * part(j);
                let at = ((point - self.origin) / self.edge).to_array();
                if let Some(cell) = self.index(at.map(|length| length as i32)) {
                    self.cells[cell] = Filling::Surface;
                }
            }
        }
    }

    fn flood(&mut self) {
        let mut reached = vec![[0; 3]];
        self.cells[0] = Filling::Outside;
        while let Some(from) = reached.pop() {
            for axis in 0..3 {
                for step in [-1, 1] {
                    let mut next = from;
                    next[axis] += step;
                    if let Some(cell) = self.index(next)
                        && self.cells[cell] == Filling::Inside
                    {
                        self.cells[cell] = Filling::Outside;
                        reached.push(next);
                    }
                }
            }
        }
    }

    fn index(&self, at: [i32; 3]) -> Option<usize> {
        let is_in = (0..3).all(|axis| (0..self.count[axis]).contains(&at[axis]));
        let [x, y, z] = at.map(|index| index as usize);
        is_in.then(|| (x * self.count[1] as usize + y) * self.count[2] as usize + z)
    }

    fn filling(&self, at: [i32; 3]) -> Filling {
        self.index(at)
            .map_or(Filling::Outside, |cell| self.cells[cell])
    }

    /// Returns the whole grid.
    pub(super) fn all(&self) -> VoxelBox {
        VoxelBox {
            from: [0; 3],
            to: self.count,
        }
    }

    /// Returns the smallest box with all that is filled in a box.
    pub(super) fn shrunk(&self, around: &VoxelBox) -> Option<VoxelBox> {
        let mut shrunk: Option<VoxelBox> = None;
        for at in around.voxels() {
            if self.filling(at) != Filling::Outside {
                let shrunk = shrunk.get_or_insert(VoxelBox { from: at, to: at });
                for (axis, index) in at.into_iter().enumerate() {
                    shrunk.from[axis] = shrunk.from[axis].min(index);
                    shrunk.to[axis] = shrunk.to[axis].max(index + 1);
                }
            }
        }
        shrunk
    }

    /// Returns how much is filled; voxels of the surface count half.
    pub(super) fn volume(&self, around: &VoxelBox) -> f64 {
        let fillings = around.voxels().map(|at| match self.filling(at) {
            Filling::Inside => 1.0,
            Filling::Surface => 0.5,
            Filling::Outside => 0.0,
        });
        fillings.sum()
    }

    /// Returns the first and last voxels that are filled in each row of a box: their centres, or
    /// the middles of their faces where a region around the box ends there, which is a cut through
    /// the solid.
    pub(super) fn outermost(&self, around: &VoxelBox, region: &VoxelBox) -> Vec<Vector> {
        let places = |axis: usize, at: i32| {
            let is_first = at == region.from[axis];
            let is_last = at + 1 == region.to[axis];
            let center = (!is_first && !is_last).then(|| f64::from(at) + 0.5);
            let first = is_first.then(|| f64::from(at));
            let last = is_last.then(|| f64::from(at + 1));
            [first, center, last].into_iter().flatten()
        };
        let mut points = Vec::new();
        for y in around.from[1]..around.to[1] {
            for z in around.from[2]..around.to[2] {
                let row = || (around.from[0]..around.to[0]).map(|x| [x, y, z]);
                let is_filled = |at: &[i32; 3]| self.filling(*at) != Filling::Outside;
                let ends = [row().find(is_filled), row().rev().find(is_filled)];
                for [x, y, z] in ends.into_iter().flatten() {
                    for x in places(0, x) {
                        for y in places(1, y) {
                            points.extend(places(2, z).map(|z| Vector::new(x, y, z)));
                        }
                    }
                }
            }
        }
        points
    }

    /// Returns the least and greatest corner of a box \[m\].
    pub(super) fn bounds(&self, part: &VoxelBox) -> [Vector; 2] {
        let corner =
            |corner: [i32; 3]| self.origin + Vector::from_array(corner.map(f64::from)) * self.edge;
        [corner(part.from), corner(part.to)]
    }

    /// Returns the volume of a voxel \[m³\].
    pub(super) fn voxel_volume(&self) -> f64 {
        self.edge * self.edge * self.edge
    }
}
