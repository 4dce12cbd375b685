//! The state of a performer as the primary sees it.

use protocol::{Digest, PerformerId, PerformerState};
use rapier3d_f64::dynamics::{RigidBodyHandle, RigidBodySet};
use rapier3d_f64::math::Vector;
use sdf::{Model, Pose};

use super::pose;

/// Returns the origin of a model in the frame of its canonical link, if it has links.
pub(super) fn origin_in_link(model: &Model) -> Option<Pose> {
    let link = model.links.get(model.canonical_link)?;
    Some(link.pose.inverse().then(&model.pose))
}

/// Returns a performer's state: pose and velocity of its model's origin, which moves with the
/// canonical link, and the digest of all links. A model without links stays where it was put.
pub(super) fn state(
    performer: PerformerId,
    (model, origin_in_link): (&Model, Option<&Pose>),
    links: &[RigidBodyHandle],
    bodies: &RigidBodySet,
    digest: Digest,
) -> PerformerState {
    let mut state = PerformerState {
        performer,
        position: model.pose.position,
        orientation_xyzw: model.pose.orientation_xyzw,
        linear_velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        reach: protocol::NO_REACH,
        digest,
    };
    if let (Some(handle), Some(origin)) = (links.get(model.canonical_link), origin_in_link) {
        let body = &bodies[*handle];
        let origin = pose::from_rapier(body.position()).then(origin);
        state.position = origin.position;
        state.orientation_xyzw = origin.orientation_xyzw;
        let point = Vector::from_array(origin.position);
        state.linear_velocity = body.velocity_at_point(point).to_array();
        state.angular_velocity = body.angvel().to_array();
    }
    state
}
