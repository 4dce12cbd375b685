//! [`Transform`]: where a node of a scene puts what is in it, and how a bone moves a vertex.

use crate::mass_properties::cross;

/// Part by which rounding changes a factor at most.
const ROUNDING: f64 = 1e-9;

/// Turns, stretches and moves positions: three rows of a matrix with its last column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    rows: [[f64; 4]; 3],
}

impl Transform {
    /// Leaves all where it is.
    pub const IDENTITY: Self = Self::scale([1.0; 3]);

    /// From a matrix row by row; its last row is taken to be 0 0 0 1.
    pub(crate) fn from_rows(numbers: [f64; 16]) -> Self {
        let rows = std::array::from_fn(|row| std::array::from_fn(|i| numbers[4 * row + i]));
        Self { rows }
    }

    /// From a matrix column by column.
    pub(crate) fn from_columns(numbers: [f64; 16]) -> Self {
        let rows = std::array::from_fn(|row| std::array::from_fn(|i| numbers[4 * i + row]));
        Self { rows }
    }

    /// Stretches along the axes.
    pub const fn scale([x, y, z]: [f64; 3]) -> Self {
        let rows = [[x, 0.0, 0.0, 0.0], [0.0, y, 0.0, 0.0], [0.0, 0.0, z, 0.0]];
        Self { rows }
    }

    /// Moves.
    pub fn translation(offset: [f64; 3]) -> Self {
        let mut own = Self::IDENTITY;
        for (row, offset) in own.rows.iter_mut().zip(offset) {
            row[3] = offset;
        }
        own
    }

    /// Turns about an axis of any length other than 0 by an angle \[rad\].
    pub(crate) fn rotation(axis: [f64; 3], angle: f64) -> Self {
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            return Self::IDENTITY;
        }
        let (sine, cosine) = (angle / 2.0).sin_cos();
        let [x, y, z] = axis.map(|number| number / length * sine);
        Self::quaternion([x, y, z, cosine])
    }

    /// Turns by a unit quaternion x, y, z, w.
    pub fn quaternion([x, y, z, w]: [f64; 4]) -> Self {
        let rows = [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y - z * w),
                2.0 * (x * z + y * w),
                0.0,
            ],
            [
                2.0 * (x * y + z * w),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z - x * w),
                0.0,
            ],
            [
                2.0 * (x * z - y * w),
                2.0 * (y * z + x * w),
                1.0 - 2.0 * (x * x + y * y),
                0.0,
            ],
        ];
        Self { rows }
    }

    /// First `inner`, then this one.
    #[must_use]
    pub fn after(&self, inner: &Self) -> Self {
        let entry = |row: usize, column: usize| {
            let turned: f64 = (0..3)
                .map(|i| self.rows[row][i] * inner.rows[i][column])
                .sum();
            turned + if column == 3 { self.rows[row][3] } else { 0.0 }
        };
        let rows = std::array::from_fn(|row| std::array::from_fn(|column| entry(row, column)));
        Self { rows }
    }

    /// Turns a normal, and makes its length 1; one of no length stays so.
    pub(crate) fn apply_to_normal(&self, normal: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = self.rows.map(|row| [row[0], row[1], row[2]]);
        let sides = [cross(b, c), cross(c, a), cross(a, b)];
        let sign = if self.is_mirror() { -1.0 } else { 1.0 };
        let turned = sides.map(|side| sign * (0..3).map(|i| side[i] * normal[i]).sum::<f64>());
        let length = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 && length.is_finite() {
            turned.map(|x| x / length)
        } else {
            [0.0; 3]
        }
    }

    /// Returns where a position comes.
    pub fn apply(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        self.rows
            .map(|row| row[0] * x + row[1] * y + row[2] * z + row[3])
    }

    /// Returns the same where all lengths are so many times as long.
    pub(crate) fn enlarged(&self, factor: f64) -> Self {
        let mut own = *self;
        for row in &mut own.rows {
            row[3] *= factor;
        }
        own
    }

    /// Returns the rows of its matrix.
    pub fn rows(&self) -> [[f64; 4]; 3] {
        self.rows
    }

    /// Returns a factor by which no length grows beyond; that by which the longest one grows where
    /// it only turns and stretches along the axes.
    pub(crate) fn stretch(&self) -> f64 {
        let product = |i: usize, j: usize| -> f64 {
            let columns = self.rows.iter().map(|row| row[i] * row[j]);
            columns.sum()
        };
        // The squares of such factors are at most the greatest sum of a row.
        let sums = [0, 1, 2].map(|i| (0..3).map(|j| product(i, j).abs()).sum::<f64>());
        let greatest = sums.into_iter().fold(0.0, f64::max);
        greatest.sqrt() * (1.0 + ROUNDING)
    }

    /// Returns its position, its orientation as a unit quaternion x, y, z, w, and its factors along
    /// the axes; what it has beside these is lost.
    pub(crate) fn parts(&self) -> ([f64; 3], [f64; 4], [f64; 3]) {
        let column = |i: usize| self.rows.map(|row| row[i]);
        let length = |side: [f64; 3]| side.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut scale = [0, 1, 2].map(|i| length(column(i)));
        if self.is_mirror() {
            scale[0] = -scale[0];
        }
        let axis = |i: usize| {
            let factor = if scale[i] == 0.0 { 1.0 } else { scale[i] };
            column(i).map(|x| x / factor)
        };
        (column(3), quaternion_of([axis(0), axis(1), axis(2)]), scale)
    }

    /// Tells whether all of it are numbers.
    pub(crate) fn is_finite(&self) -> bool {
        self.rows.iter().flatten().all(|number| number.is_finite())
    }

    /// Returns whether it turns the outside of a solid to the inside.
    pub(crate) fn is_mirror(&self) -> bool {
        let [a, b, c] = &self.rows;
        let determinant = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        determinant < 0.0
    }
}

/// Returns the unit quaternion x, y, z, w that turns the axes of a frame to these.
fn quaternion_of([[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]]: [[f64; 3]; 3]) -> [f64; 4] {
    // The greatest part is found by a root, the others by it.
    let squares = [
        1.0 + xx - yy - zz,
        1.0 - xx + yy - zz,
        1.0 - xx - yy + zz,
        1.0 + xx + yy + zz,
    ];
    let mut greatest = 3;
    for i in 0..3 {
        if squares[i] > squares[greatest] {
            greatest = i;
        }
    }
    let parts = match greatest {
        0 => [squares[0], xy + yx, zx + xz, yz - zy],
        1 => [xy + yx, squares[1], yz + zy, zx - xz],
        2 => [zx + xz, yz + zy, squares[2], xy - yx],
        _ => [yz - zy, zx - xz, xy - yx, squares[3]],
    };
    let length = parts.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() {
        parts.map(|x| x / length)
    } else {
        [0.0, 0.0, 0.0, 1.0]
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    fn check(transform: &Transform, expect: [f64; 3]) {
        let found = transform.apply([1.0, 2.0, 3.0]);
        let is_close = |i: usize| (found[i] - expect[i]).abs() < 1e-12;
        assert!((0..3).all(is_close), "{found:?} but {expect:?}");
    }

    #[test]
    fn each_part_moves_positions_as_its_name_says() {
        check(&Transform::IDENTITY, [1.0, 2.0, 3.0]);
        check(&Transform::scale([2.0, 1.0, -1.0]), [2.0, 2.0, -3.0]);
        check(&Transform::translation([1.0, 0.0, 0.0]), [2.0, 2.0, 3.0]);
        check(
            &Transform::rotation([0.0, 0.0, 4.0], FRAC_PI_2),
            [-2.0, 1.0, 3.0],
        );
    }

    #[test]
    fn the_inner_transform_comes_first() {
        let turn = Transform::rotation([0.0, 0.0, 1.0], FRAC_PI_2);
        let shift = Transform::translation([1.0, 0.0, 0.0]);
        check(&shift.after(&turn), [-1.0, 1.0, 3.0]);
        check(&turn.after(&shift), [-2.0, 2.0, 3.0]);
    }

    #[test]
    fn normals_stay_upright_on_what_is_stretched_and_mirrored() {
        let check = |factors, expect: [f64; 3]| {
            let found = Transform::scale(factors).apply_to_normal([1.0, 1.0, 0.0]);
            let length = expect.iter().map(|x| x * x).sum::<f64>().sqrt();
            let is_close = |i: usize| (found[i] - expect[i] / length).abs() < 1e-12;
            assert!((0..3).all(is_close), "{found:?}");
        };
        check([2.0, 1.0, 1.0], [0.5, 1.0, 0.0]);
        check([-1.0, 1.0, 1.0], [-1.0, 1.0, 0.0]);
        check([1.0, 1.0, -3.0], [1.0, 1.0, 0.0]);
        assert_eq!(
            Transform::scale([0.0; 3]).apply_to_normal([1.0; 3]),
            [0.0; 3]
        );
    }

    #[test]
    fn rows_and_columns_are_told_apart() {
        let numbers = [
            0.0, -1.0, 0.0, 5.0, 1.0, 0.0, 0.0, 6.0, 0.0, 0.0, 1.0, 7.0, 0.0, 0.0, 0.0, 1.0,
        ];
        check(&Transform::from_rows(numbers), [3.0, 7.0, 10.0]);
        check(&Transform::from_columns(numbers), [2.0, -1.0, 3.0]);
        assert!(!Transform::from_rows(numbers).is_mirror());
        assert!(Transform::scale([1.0, -1.0, 1.0]).is_mirror());
    }

    #[test]
    fn the_parts_give_the_same_transform() {
        let turns: [([f64; 3], f64); 5] = [
            ([1.0, 2.0, 3.0], 0.3),
            ([1.0, 0.0, 0.1], 3.1),
            ([0.1, 1.0, 0.0], 3.1),
            ([0.0, 0.1, 1.0], -3.1),
            ([1.0, 1.0, 1.0], 0.0),
        ];
        for (axis, angle) in turns {
            for factors in [[1.0; 3], [2.0, 0.5, 3.0], [-2.0, 1.0, 1.0]] {
                let place = Transform::translation([4.0, 5.0, 6.0]);
                let own = place.after(&Transform::rotation(axis, angle));
                let own = own.after(&Transform::scale(factors));
                let (position, orientation, scale) = own.parts();
                let again = Transform::translation(position)
                    .after(&Transform::quaternion(orientation))
                    .after(&Transform::scale(scale));
                check(&again, own.apply([1.0, 2.0, 3.0]));
                assert!(own.stretch() >= factors.map(f64::abs).into_iter().fold(0.0, f64::max));
            }
        }
    }
}
