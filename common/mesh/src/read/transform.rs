//! [`Transform`]: where a node of a scene puts what is in it.

use crate::mass_properties::cross;

/// Turns, stretches and moves positions: three rows of a matrix with its last column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transform {
    rows: [[f64; 4]; 3],
}

impl Transform {
    pub(super) const IDENTITY: Self = Self::scale([1.0; 3]);

    /// From a matrix row by row; its last row is taken to be 0 0 0 1.
    pub(super) fn from_rows(numbers: [f64; 16]) -> Self {
        let rows = std::array::from_fn(|row| std::array::from_fn(|i| numbers[4 * row + i]));
        Self { rows }
    }

    /// From a matrix column by column.
    pub(super) fn from_columns(numbers: [f64; 16]) -> Self {
        let rows = std::array::from_fn(|row| std::array::from_fn(|i| numbers[4 * i + row]));
        Self { rows }
    }

    pub(super) const fn scale([x, y, z]: [f64; 3]) -> Self {
        let rows = [[x, 0.0, 0.0, 0.0], [0.0, y, 0.0, 0.0], [0.0, 0.0, z, 0.0]];
        Self { rows }
    }

    pub(super) fn translation(offset: [f64; 3]) -> Self {
        let mut own = Self::IDENTITY;
        for (row, offset) in own.rows.iter_mut().zip(offset) {
            row[3] = offset;
        }
        own
    }

    /// Turns about an axis of any length other than 0 by an angle \[rad\].
    pub(super) fn rotation(axis: [f64; 3], angle: f64) -> Self {
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            return Self::IDENTITY;
        }
        let (sine, cosine) = (angle / 2.0).sin_cos();
        let [x, y, z] = axis.map(|number| number / length * sine);
        Self::quaternion([x, y, z, cosine])
    }

    /// Turns by a unit quaternion x, y, z, w.
    pub(super) fn quaternion([x, y, z, w]: [f64; 4]) -> Self {
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
    pub(super) fn after(&self, inner: &Self) -> Self {
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
    pub(super) fn apply_to_normal(&self, normal: [f64; 3]) -> [f64; 3] {
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

    pub(super) fn apply(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        self.rows
            .map(|row| row[0] * x + row[1] * y + row[2] * z + row[3])
    }

    /// Returns whether it turns the outside of a solid to the inside.
    pub(super) fn is_mirror(&self) -> bool {
        let [a, b, c] = &self.rows;
        let determinant = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        determinant < 0.0
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
}
