//! The state of a performer as the primary sees it.

use protocol::{Digest, PerformerId, PerformerState};
use rapier3d_f64::dynamics::{RigidBodyHandle, RigidBodySet};
use rapier3d_f64::math::Vector;
use sdf::{Model, Pose};

use super::pose;

/// The origin of a performer's model.
pub(super) enum Origin {
    /// In the frame of a link, by its number.
    OfLink(usize, Pose),
    /// The place where the model was put; it has no links.
    Still(Pose),
}

impl Origin {
    /// Finds that of a model.
    pub(super) fn of(model: &Model) -> Self {
        let number = model.canonical_link;
        model
            .links
            .get(number)
            .map_or(Self::Still(model.pose), |link| {
                Self::OfLink(number, link.pose.inverse().then(&model.pose))
            })
    }
}

/// Returns a performer's state: pose and velocity of its model's origin, which moves with the
/// canonical link, and the digest of all links. A model without links stays where it was put.
pub(super) fn state(
    performer: PerformerId,
    origin: &Origin,
    links: &[RigidBodyHandle],
    bodies: &RigidBodySet,
    digest: Digest,
) -> PerformerState {
    let (pose, [linear_velocity, angular_velocity]) = match origin {
        Origin::Still(pose) => (*pose, [[0.0; 3]; 2]),
        Origin::OfLink(link, origin) => {
            let body = &bodies[links[*link]];
            let pose = pose::from_rapier(body.position()).then(origin);
            let linear = body.velocity_at_point(Vector::from_array(pose.position));
            (pose, [linear, body.angvel()].map(|one| one.to_array()))
        }
    };
    PerformerState {
        performer,
        position: pose.position,
        orientation_xyzw: pose.orientation_xyzw,
        linear_velocity,
        angular_velocity,
        reach: protocol::NO_REACH,
        digest,
    }
}
