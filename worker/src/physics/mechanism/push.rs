//! [`Pushes`]: forces of a mechanism that act on bodies during one step.

use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};
use rapier3d_f64::math::Vector;
use serde::{Deserialize, Serialize};

use super::coordinate::BodyRow;

/// The forces that a part of a mechanism exerts; those of others on the same bodies stay.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Pushes(Vec<Push>);

/// A force and a torque on a body \[N, N m\], world frame.
#[derive(Serialize, Deserialize)]
struct Push {
    body: RigidBodyHandle,
    force: Vector,
    torque: Vector,
}

impl Pushes {
    /// Ends the forces and begins others: each row with its size.
    pub(super) fn replace(
        &mut self,
        bodies: &mut RigidBodySet,
        rows: impl IntoIterator<Item = (BodyRow, f64)>,
    ) {
        self.add(bodies, -1.0);
        self.0.clear();
        for (row, size) in rows {
            self.0.extend(row.into_iter().map(|(body, twist)| Push {
                body,
                force: twist.linear * size,
                torque: twist.angular * size,
            }));
        }
        self.add(bodies, 1.0);
    }

    fn add(&self, bodies: &mut RigidBodySet, sign: f64) {
        for Push {
            body,
            force,
            torque,
        } in &self.0
        {
            // rapier's sets count every mutable access as a change.
            if bodies.get(*body).is_some_and(RigidBody::is_dynamic) {
                let body = &mut bodies[*body];
                body.add_force(*force * sign, false);
                body.add_torque(*torque * sign, false);
            }
        }
    }
}
