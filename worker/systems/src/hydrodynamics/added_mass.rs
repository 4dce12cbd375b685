//! [`AddedMass`]: the force of water that a body takes along when it accelerates.
//!
//! That force needs the acceleration which it is a part of. An estimate of the latter is corrected
//! in each step by what the last one showed, by that part of the difference with which a body that
//! is free reaches the true one at once; one that others hold comes closer more slowly.

use physics::math::{Matrix, Vector};
use physics::na::{Matrix3, Matrix6, Vector6};
use serde::{Deserialize, Serialize};

use physics::{Cell, ModelRef};

#[derive(Default, Serialize, Deserialize)]
pub(super) struct AddedMass {
    /// Velocity through the water, in the axes of the link.
    velocity: Option<[f64; 6]>,
    /// Estimate of the acceleration.
    acceleration: [f64; 6],
}

impl AddedMass {
    /// Has the next velocity count as the first: the water changed and not the body.
    pub(super) fn forget_velocity(&mut self) {
        self.velocity = None;
    }

    /// Returns the forces of an added mass with Fossen's signs on a body of a mass, both in the
    /// axes of the link and about its origin.
    pub(super) fn forces(
        &mut self,
        added: &Matrix6<f64>,
        mass: &Matrix6<f64>,
        velocity: &Vector6<f64>,
        step_size_s: f64,
    ) -> Vector6<f64> {
        let estimate = Vector6::from(self.acceleration);
        let estimate = match self.velocity {
            None => estimate,
            Some(before) => {
                let seen = (velocity - Vector6::from(before)) / step_size_s;
                let difference = seen - estimate;
                let correction = (mass - added).try_inverse();
                estimate + correction.map_or(difference, |inverse| inverse * (mass * difference))
            }
        };
        if !estimate
            .iter()
            .chain(velocity.iter())
            .all(|number| number.is_finite())
        {
            *self = Self::default();
            return Vector6::zeros();
        }
        self.velocity = Some((*velocity).into());
        self.acceleration = estimate.into();
        added * estimate
    }
}

/// Returns the mass and inertia of a link about its origin, in its axes.
pub(super) fn of_link(cell: &Cell, model: ModelRef, link: usize) -> Matrix6<f64> {
    let mass = cell.link_mass(model, link);
    let pose = cell.link_pose(model, link);
    let center = Vector::from(cell.center_of_mass(model, link)) - Vector::from(pose.position);
    let arm = Vector::from(pose.inverse().rotate(center.into()));
    let rows = cell.link_inertia(model, link);
    let cross = Matrix::from_cols(
        Vector::new(0.0, arm.z, -arm.y),
        Vector::new(-arm.z, 0.0, arm.x),
        Vector::new(arm.y, -arm.x, 0.0),
    );
    let inertia = Matrix::from_cols_array_2d(&rows).transpose() - cross * cross * mass;
    let mut matrix = Matrix6::identity() * mass;
    let block = |of: Matrix| Matrix3::from_column_slice(&of.to_cols_array());
    matrix
        .fixed_view_mut::<3, 3>(0, 3)
        .copy_from(&block(cross * -mass));
    matrix
        .fixed_view_mut::<3, 3>(3, 0)
        .copy_from(&block(cross * mass));
    matrix
        .fixed_view_mut::<3, 3>(3, 3)
        .copy_from(&block(inertia));
    matrix
}
