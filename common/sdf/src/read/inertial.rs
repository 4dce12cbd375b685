//! `<inertial>`: mass and its distribution as written; [`super::auto_inertia`] computes the others.

use super::part;
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Inertial, Link};

/// Names of the moments, in the order of [`Inertial::inertia`].
const MOMENTS: [&str; 6] = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"];

/// Names of the added mass, in the order of [`Inertial::fluid_added_mass`].
const ADDED_MASS: [&str; 21] = [
    "xx", "xy", "xz", "xp", "xq", "xr", "yy", "yz", "yp", "yq", "yr", "zz", "zp", "zq", "zr", "pp",
    "pq", "pr", "qq", "qr", "rr",
];

/// Multiples of the rounding error that moments may be off, as in gz-math.
const TOLERANCE: f64 = 10.0;

/// Mass and inertia that no body can have. The text follows its link in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(super) enum InertiaError {
    /// The mass is negative, or no number.
    #[error("the mass must not be negative, and is {mass} kg")]
    Mass {
        /// The mass \[kg\].
        mass: f64,
    },
    /// The tensor is not positive definite.
    #[error(
        "the tensor must be positive definite, with positive principal moments: {}",
        list(moments)
    )]
    NotPositiveDefinite {
        /// Its principal moments \[kg m^2\].
        moments: [f64; 3],
    },
    /// A principal moment is negative.
    #[error("its principal moments must be positive: {}", list(moments))]
    NegativeMoment {
        /// The principal moments \[kg m^2\].
        moments: [f64; 3],
    },
    /// The principal moments are not the sides of a triangle.
    #[error(
        "each principal moment must be at most the sum of the other two: {}",
        list(moments)
    )]
    TriangleInequality {
        /// The principal moments \[kg m^2\].
        moments: [f64; 3],
    },
}

fn list([a, b, c]: &[f64; 3]) -> String {
    format!("they are {a}, {b} and {c} kg m^2")
}

/// Reads the inertial of a link.
pub(super) fn read(link: &Element, report: &mut Report) -> Inertial {
    let default = Inertial::default();
    let Some(element) = link.child("inertial") else {
        return default;
    };
    let mass = value::number(element, "mass", default.mass, report);
    let mut inertial = Inertial {
        mass,
        fluid_added_mass: fluid_added_mass(element, report),
        ..default
    };
    if !is_automatic(link) {
        // The inertia is always in the link: libsdformat ignores what its pose is relative to.
        (inertial.pose, _) = value::pose(element, report);
        if let Some(tensor) = element.child("inertia") {
            for (value, name) in inertial.inertia.iter_mut().zip(MOMENTS) {
                *value = value::number(tensor, name, *value, report);
            }
        }
    }
    let name = link.attribute("name").unwrap_or_default();
    if let Err(error) = check(inertial.mass, inertial.inertia) {
        let message = format!("the link {name:?} has an invalid inertia: {error}");
        report.error("LINK_INERTIA_INVALID", element, message);
        return default;
    }
    inertial
}

/// Tells whether the inertia follows from the collisions.
pub(super) fn is_automatic(link: &Element) -> bool {
    let auto = |inertial: &Element| inertial.attribute("auto").and_then(value::parse_truth);
    link.child("inertial").and_then(auto) == Some(true)
}

/// Returns the mass that a link names, which scales an inertia that follows from collisions.
pub(super) fn given_mass(link: &Element, mass: f64) -> Option<f64> {
    part::text(link.child("inertial")?, "mass").map(|_| mass)
}

/// Makes sure that a body can have this mass and inertia, by the rules of gz-math's `MassMatrix3`:
/// zero is allowed, and rounding errors are.
pub(super) fn check(mass: f64, inertia: [f64; 6]) -> Result<(), InertiaError> {
    let [ixx, ixy, _, iyy, _, izz] = inertia;
    let slack = slack([ixx, iyy, izz]);
    if !(mass.is_finite() && mass >= 0.0) {
        return Err(InertiaError::Mass { mass });
    }
    let minor = ixx * iyy - ixy * ixy;
    let determinant = determinant(inertia);
    let is_near_positive = ixx + slack >= 0.0 && minor + slack >= 0.0 && determinant + slack >= 0.0;
    let moments = principal_moments(inertia);
    if !is_near_positive {
        return Err(InertiaError::NotPositiveDefinite { moments });
    }
    let slack = self::slack(moments);
    if moments.iter().any(|moment| moment + slack < 0.0) {
        return Err(InertiaError::NegativeMoment { moments });
    }
    let [a, b, c] = moments;
    if a + b + slack < c || b + c + slack < a || c + a + slack < b {
        return Err(InertiaError::TriangleInequality { moments });
    }
    Ok(())
}

/// Warns of a link that moves with a mass or moments of zero, which libsdformat accepts.
pub(super) fn warn_of_nothing(element: &Element, link: &Link, report: &mut Report) {
    let Some(place) = element.child("inertial") else {
        return;
    };
    if link.is_static || link.kinematic || is_automatic(element) {
        return;
    }
    let Inertial { mass, inertia, .. } = link.inertial;
    let what = if mass == 0.0 {
        "has mass 0 and stays where it is, whatever pushes it: give it a mass"
    } else if principal_moments(inertia)
        .iter()
        .any(|moment| *moment <= 0.0)
    {
        "has a moment of inertia of 0, which is raised until it can turn: give it all three"
    } else {
        return;
    };
    let key = place.place().to_string();
    report.warn_once("LINK_INERTIA_DEGENERATE", &key, place, || {
        format!("the link {:?} {what}", link.name)
    });
}

/// Returns how far moments may be off: they are at most half of their trace.
fn slack(moments: [f64; 3]) -> f64 {
    TOLERANCE * f64::EPSILON * 0.5 * moments.iter().sum::<f64>().abs()
}

/// Returns the eigenvalues of the tensor; those of a nearly diagonal one are its diagonal.
///
/// The formula is that of Kronenburg, "A method for fast diagonalization of a 2x2 or 3x3 real
/// symmetric matrix", arXiv 1306.6291.
fn principal_moments(inertia: [f64; 6]) -> [f64; 3] {
    let [ixx, ixy, ixz, iyy, iyz, izz] = inertia;
    let near_zero = 1e-6 * ixx.max(iyy).max(izz);
    if [ixy, ixz, iyz]
        .iter()
        .all(|product| product.abs() <= near_zero)
    {
        return [ixx, iyy, izz];
    }
    // The coefficients of the characteristic polynomial.
    let trace = ixx + iyy + izz;
    let minors = ixx * iyy - ixy * ixy + ixx * izz - ixz * ixz + iyy * izz - iyz * iyz;
    let spread = trace * trace - 3.0 * minors;
    if spread < near_zero * near_zero {
        return [trace / 3.0; 3];
    }
    let skew = 2.0 * trace.powi(3) - 9.0 * trace * minors + 27.0 * determinant(inertia);
    let angle = (0.5 * skew / spread.powf(1.5)).clamp(-1.0, 1.0).acos();
    let turn = 2.0 * std::f64::consts::PI;
    [angle, angle + turn, angle - turn]
        .map(|angle| (trace + 2.0 * spread.sqrt() * (angle / 3.0).cos()) / 3.0)
}

fn determinant([ixx, ixy, ixz, iyy, iyz, izz]: [f64; 6]) -> f64 {
    ixx * (iyy * izz - iyz * iyz) - ixy * (ixy * izz - iyz * ixz) + ixz * (ixy * iyz - iyy * ixz)
}

fn fluid_added_mass(inertial: &Element, report: &mut Report) -> Option<[f64; 21]> {
    let element = inertial.child("fluid_added_mass")?;
    Some(ADDED_MASS.map(|name| value::number(element, name, 0.0, report)))
}

/// Returns a tensor ixx, ixy, ixz, iyy, iyz, izz of a frame that is turned by `pose` in the frame
/// around it.
pub(super) fn turned(inertia: [f64; 6], pose: &Pose) -> [f64; 6] {
    let [ixx, ixy, ixz, iyy, iyz, izz] = inertia;
    let tensor = [[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]];
    // Each row turned, then each column: R I R^T.
    let rows = tensor.map(|row| pose.rotate(row));
    let column = |j: usize| pose.rotate([rows[0][j], rows[1][j], rows[2][j]]);
    let [x, y, z] = [column(0), column(1), column(2)];
    [x[0], y[0], z[0], y[1], z[1], z[2]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn check_validity(mass: f64, inertia: [f64; 6], expect: bool) {
        let found = check(mass, inertia);
        assert_eq!(found.is_ok(), expect, "{mass} {inertia:?}: {found:?}");
    }

    fn diagonal(x: f64, y: f64, z: f64) -> [f64; 6] {
        [x, 0.0, 0.0, y, 0.0, z]
    }

    #[test]
    fn masses_are_not_negative_and_moments_keep_the_triangle_inequality() {
        check_validity(0.0, diagonal(1.0, 1.0, 1.0), true);
        check_validity(-1.0, diagonal(1.0, 1.0, 1.0), false);
        check_validity(f64::NAN, diagonal(1.0, 1.0, 1.0), false);
        check_validity(1.0, diagonal(0.0, 0.0, 0.0), true);
        check_validity(1.0, diagonal(1.0, 1.0, 2.0), true);
        check_validity(1.0, diagonal(1.0, 1.0, 2.000_000_1), false);
        check_validity(1.0, diagonal(1.0, 0.0, 0.0), false);
        check_validity(1.0, diagonal(-1.0, 1.0, 1.0), false);
        check_validity(1.0, [1.0, 2.0, 0.0, 1.0, 0.0, 1.0], false);
        check_validity(1.0, [2.0, 0.5, 0.0, 2.0, 0.0, 2.0], true);
    }

    #[test]
    fn an_invalid_inertia_is_named_with_its_link_and_its_moments() {
        let text = "<link name='arm'>\n<inertial><inertia><ixx>1</ixx><iyy>1</iyy><izz>5</izz>\
                    </inertia></inertial></link>";
        let mut report = Report::default();
        read(&parse(text, "f").unwrap(), &mut report);
        let told = report.errors[0].to_string();
        assert!(told.starts_with("f:2:1: the link \"arm\""), "{told}");
        assert!(told.contains("they are 1, 1 and 5 kg m^2"), "{told}");
    }

    #[test]
    fn principal_moments_are_the_eigenvalues() {
        let pose = Pose::from_xyz_rpy([0.0; 3], [0.3, -0.7, 2.0]);
        let mut moments = principal_moments(turned(diagonal(2.0, 3.0, 4.0), &pose));
        moments.sort_by(f64::total_cmp);
        for (found, expect) in moments.iter().zip([2.0, 3.0, 4.0]) {
            assert!((found - expect).abs() < 1e-12, "{moments:?}");
        }
    }

    #[test]
    fn a_tensor_turned_about_z_swaps_x_and_y() {
        let quarter = Pose::from_xyz_rpy([0.0; 3], [0.0, 0.0, std::f64::consts::FRAC_PI_2]);
        let found = turned([1.0, 0.0, 0.5, 2.0, 0.0, 3.0], &quarter);
        for (found, expect) in found.iter().zip([2.0, 0.0, 0.0, 1.0, 0.5, 3.0]) {
            assert!((found - expect).abs() < 1e-15, "{found} is not {expect}");
        }
    }

    #[test]
    fn the_added_mass_is_the_upper_triangle_by_rows() {
        let text = "<link><inertial><fluid_added_mass><xx>1</xx><yy>2</yy><rr>3</rr>\
                    </fluid_added_mass></inertial></link>";
        let inertial = read(&parse(text, "f").unwrap(), &mut Report::default());
        let added = inertial.fluid_added_mass.unwrap();
        assert_eq!((added[0], added[6], added[20]), (1.0, 2.0, 3.0));
        assert_eq!(added.iter().sum::<f64>(), 6.0);
    }
}
