//! The inertia of a link in the axes of the link.

use sdf::Inertial;

/// Returns the inertia about the centre of mass in the axes of the link, by rows \[kg m^2\].
pub fn in_link_axes(inertial: &Inertial) -> [[f64; 3]; 3] {
    let [xx, xy, xz, yy, yz, zz] = inertial.inertia;
    let own = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // Column i is axis i of the inertial frame in the axes of the link.
    let columns = units.map(|unit| inertial.pose.rotate(unit));
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let pairs = (0..3).flat_map(|a| (0..3).map(move |b| (a, b)));
            pairs
                .map(|(a, b)| columns[a][i] * own[a][b] * columns[b][j])
                .sum()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdf::Pose;

    fn check(rpy: [f64; 3], inertia: [f64; 6], expected: [[f64; 3]; 3]) {
        let inertial = Inertial {
            pose: Pose::from_xyz_rpy([1.0, 2.0, 3.0], rpy),
            inertia,
            ..Inertial::default()
        };
        let matrix = in_link_axes(&inertial);
        let pairs = matrix.iter().flatten().zip(expected.iter().flatten());
        for (a, b) in pairs {
            assert!((a - b).abs() < 1e-12, "{matrix:?}");
        }
    }

    #[test]
    fn a_quarter_turn_about_z_swaps_x_and_y() {
        let quarter = std::f64::consts::FRAC_PI_2;
        check(
            [0.0, 0.0, quarter],
            [1.0, 0.0, 0.0, 2.0, 0.0, 3.0],
            [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]],
        );
    }

    #[test]
    fn products_are_kept_where_nothing_is_turned() {
        check(
            [0.0; 3],
            [1.0, 0.1, 0.2, 2.0, 0.3, 3.0],
            [[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 3.0]],
        );
    }
}
