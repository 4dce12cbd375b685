//! SDF inertials as rapier mass properties, made safe where they are degenerate.

use rapier3d_f64::dynamics::MassProperties;
use rapier3d_f64::math::{Matrix, Vector};
use sdf::Inertial;

use super::pose;

/// The least moment of inertia that a link keeps, as a part of its greatest: one of zero would
/// turn at infinite speed.
const MOMENT_RATIO_MIN: f64 = 1e-6;

/// The moment about every axis where the file gives none that is positive, SDF's default
/// \[kg m^2\].
const MOMENT_DEFAULT: f64 = 1.0;

/// From this mass on rapier takes a body for immovable \[kg\].
const MASS_MAX: f64 = 1e18;

/// Tells whether a link has a mass that moves; one without stands still, whatever pushes it.
pub(super) fn has_mass(inertial: &Inertial) -> bool {
    inertial.mass > 0.0 && inertial.mass < MASS_MAX
}

/// Tells whether all moments of inertia are positive enough to be used as they are.
pub(super) fn has_proper_moments(inertial: &Inertial) -> bool {
    let given = principal(inertial).principal_inertia();
    given == safe_moments(given)
}

/// Returns mass, centre of mass and inertia in the link's frame.
pub(super) fn mass_properties(inertial: &Inertial) -> MassProperties {
    if !has_mass(inertial) {
        return MassProperties::default();
    }
    let given = principal(inertial);
    MassProperties::with_principal_inertia_frame(
        Vector::ZERO,
        inertial.mass,
        safe_moments(given.principal_inertia()),
        given.principal_inertia_local_frame,
    )
    .transform_by(&pose::to_rapier(&inertial.pose))
}

/// Principal moments and axes in the frame of the inertial; zero where they are no numbers.
fn principal(inertial: &Inertial) -> MassProperties {
    let [xx, xy, xz, yy, yz, zz] = inertial.inertia;
    if !inertial.inertia.iter().all(|moment| moment.is_finite()) {
        return MassProperties::default();
    }
    if [xy, xz, yz] == [0.0; 3] {
        return MassProperties::new(Vector::ZERO, inertial.mass, Vector::new(xx, yy, zz));
    }
    let columns = [
        Vector::new(xx, xy, xz),
        Vector::new(xy, yy, yz),
        Vector::new(xz, yz, zz),
    ];
    let matrix = Matrix::from_cols(columns[0], columns[1], columns[2]);
    MassProperties::with_inertia_matrix(Vector::ZERO, inertial.mass, matrix)
}

fn safe_moments(moments: Vector) -> Vector {
    let greatest = moments.max_element();
    if greatest > 0.0 {
        moments.max(Vector::splat(greatest * MOMENT_RATIO_MIN))
    } else {
        Vector::splat(MOMENT_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inertial(mass: f64, inertia: [f64; 6]) -> Inertial {
        let pose = sdf::Pose::from_xyz_rpy([0.1, 0.2, 0.3], [0.4, 0.5, 0.6]);
        Inertial {
            mass,
            pose,
            inertia,
            fluid_added_mass: None,
        }
    }

    /// Returns the matrix that `mass_properties` stands for, turned back into the inertial frame.
    fn matrix_back(inertial: &Inertial) -> Matrix {
        let turn = Matrix::from_quat(pose::to_rapier(&inertial.pose).rotation);
        turn.transpose() * mass_properties(inertial).reconstruct_inertia_matrix() * turn
    }

    #[test]
    fn a_full_inertia_matrix_comes_back() {
        let given = inertial(2.0, [0.5, 0.01, -0.02, 0.4, 0.03, 0.3]);
        let columns = [[0.5, 0.01, -0.02], [0.01, 0.4, 0.03], [-0.02, 0.03, 0.3]];
        let expected = Matrix::from_cols_array_2d(&columns);
        assert!(
            matrix_back(&given).abs_diff_eq(expected, 1e-12),
            "{:?}",
            matrix_back(&given)
        );
        assert!(has_proper_moments(&given));
    }

    #[test]
    fn degenerate_inertia_is_made_finite_and_said_to_be_degenerate() {
        let cases = [
            [0.0; 6],
            [f64::NAN; 6],
            [-1.0, 0.0, 0.0, -1.0, 0.0, -1.0],
            [1.0, 0., 0., 1., 0., 0.],
        ];
        for inertia in cases {
            let given = inertial(1.0, inertia);
            assert!(!has_proper_moments(&given), "{inertia:?}");
            let inverse = mass_properties(&given).inv_principal_inertia;
            assert!(
                inverse.is_finite() && inverse.min_element() > 0.0,
                "{inertia:?}: {inverse}"
            );
        }
    }

    #[test]
    fn a_mass_that_is_no_positive_number_is_none() {
        for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                mass_properties(&inertial(mass, [1.0; 6])).inv_mass,
                0.0,
                "mass {mass}"
            );
        }
    }
}
