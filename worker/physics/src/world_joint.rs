//! Joints of the world between models: inserted once both ends are in the cell.
//!
//! A model that never moves counts as the world: such a joint holds on to the anchor, whether the
//! model is in the cell or not.

use rapier3d_f64::dynamics::RigidBodyHandle;
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::{JointEnd, JointKind, LinkReference, World, WorldJoint};

use super::cell::Contents;
use super::joint::{self, Attachment, ratio};
use super::mechanism::Mechanism;

/// Inserts the joints of the world that hold on to a model, by its index, and whose other end is in
/// the cell, in file order; returns whether there were any.
pub(super) fn insert_of(
    physics: &mut PhysicsWorld,
    contents: &mut Contents,
    world: &World,
    model: usize,
) -> bool {
    let mut any = false;
    for (number, joint) in world.joints.iter().enumerate() {
        if holds(joint, model)
            && let Some(mechanism) = build(physics, contents, world, number)
            && !mechanism.is_empty()
        {
            contents.joint_mechanisms.insert(number, mechanism);
            any = true;
        }
    }
    any
}

/// Inserts a joint of the world, by its index, if both of its ends are in the cell.
pub(super) fn build(
    physics: &mut PhysicsWorld,
    contents: &Contents,
    world: &World,
    number: usize,
) -> Option<Mechanism> {
    let joint = &world.joints[number];
    let parent = match joint.parent {
        JointEnd::World => (contents.anchor, sdf::Pose::IDENTITY),
        JointEnd::Link(link) => end(contents, world, link)?,
    };
    let child = end(contents, world, joint.child)?;
    let attachment = Attachment {
        kind: &joint.kind,
        pose: joint.pose,
        bodies: [parent.0, child.0],
        body_poses: [parent.1, child.1],
    };
    let mut mechanism = Mechanism::default();
    joint::insert(physics, &mut mechanism, &attachment);
    match joint.kind {
        JointKind::Screw { .. } => ratio::couple_screw(&mut mechanism, &attachment),
        JointKind::Gearbox { .. } => {
            let anchor = (contents.anchor, sdf::Pose::IDENTITY);
            ratio::couple_gearbox(&mut mechanism, &attachment, anchor);
        }
        _ => {}
    }
    Some(mechanism)
}

/// Tells whether a joint holds on to a model, by its index.
pub(super) fn holds(joint: &WorldJoint, model: usize) -> bool {
    let is_parent = matches!(joint.parent, JointEnd::Link(link) if link.model == model);
    is_parent || joint.child.model == model
}

/// Returns the body of a link and the pose that it has at position 0; `None` while its model is not
/// in the cell, or when there is no such link.
pub(super) fn end(
    contents: &Contents,
    world: &World,
    link: LinkReference,
) -> Option<(RigidBodyHandle, sdf::Pose)> {
    let model = world.models.get(link.model)?;
    if model.is_static {
        return Some((contents.anchor, sdf::Pose::IDENTITY));
    }
    let mut performers = contents.performers.values();
    let performer = performers.find(|performer| performer.model == link.model)?;
    Some((
        *performer.links.get(link.link)?,
        model.links.get(link.link)?.pose,
    ))
}
