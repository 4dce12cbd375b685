//! [`Pushes`]: forces of a mechanism that act on bodies during one step.

use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};
use rapier3d_f64::math::Vector;
use serde::{Deserialize, Serialize};

use super::coordinate::BodyRow;

/// The forces that a part of a mechanism exerts; those of others on the same bodies stay.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Pushes(Vec<Push>);

/// A force and a torque on a body \[N, N m\], world frame.
#[derive(Clone, Serialize, Deserialize)]
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

    /// Returns force and torque on each body, in the order of the rows that they came from.
    pub(super) fn memory(&self) -> Vec<[[f64; 3]; 2]> {
        let numbers = |push: &Push| [push.force.to_array(), push.torque.to_array()];
        self.0.iter().map(numbers).collect()
    }

    /// Takes on forces that act already, on the bodies of its rows; `None` when they are neither
    /// none nor as many as the bodies.
    pub(super) fn recall(
        memory: &[[[f64; 3]; 2]],
        bodies: impl Iterator<Item = RigidBodyHandle>,
    ) -> Option<Self> {
        let bodies: Vec<RigidBodyHandle> = bodies.take(memory.len() + 1).collect();
        if !memory.is_empty() && bodies.len() != memory.len() {
            return None;
        }
        let pushes = memory
            .iter()
            .zip(bodies)
            .map(|([force, torque], body)| Push {
                body,
                force: Vector::from_array(*force),
                torque: Vector::from_array(*torque),
            });
        Some(Self(pushes.collect()))
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
