//! Attachments: links of two models that were commanded to hold on to each other.
//!
//! Each is a rigid joint at the relative pose that the links had. It lives as long as both ends are
//! in the cell, and passes with them: the performer with the lowest id at its ends carries it.

use std::collections::BTreeSet;

use protocol::PerformerId;
use rapier3d_f64::dynamics::{GenericJointBuilder, ImpulseJointHandle, JointAxesMask};
use sdf::LinkReference;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::commands::CommandError;
use super::transfer::{AdoptError, JointState};
use super::world_joint;

/// The two links of an attachment: the one that holds and the one that is held.
pub(super) type Pair = (LinkReference, LinkReference);

/// An attachment as it travels.
#[derive(Serialize, Deserialize)]
pub(super) struct AttachmentState {
    pair: Pair,
    joint: JointState,
}

impl Cell {
    /// Holds two links together as they are now.
    ///
    /// # Errors
    /// Fails if they are one, never move, are not both in the cell, or are attached already. Then
    /// nothing changes.
    pub fn attach(
        &mut self,
        parent: LinkReference,
        child: LinkReference,
    ) -> Result<(), CommandError> {
        if parent == child {
            return Err(CommandError::OneLink);
        }
        if self.is_attached((parent, child)) || self.is_attached((child, parent)) {
            return Err(CommandError::Attached);
        }
        let handle = self.hold((parent, child))?;
        self.physics.impulse_joints.get_mut(handle, true);
        self.contents.attachments.insert((parent, child), handle);
        self.has_new_joints = true;
        Ok(())
    }

    /// Lets two attached links go.
    ///
    /// # Errors
    /// Fails if they are not attached.
    pub fn detach(
        &mut self,
        parent: LinkReference,
        child: LinkReference,
    ) -> Result<(), CommandError> {
        let joint = self.contents.attachments.remove(&(parent, child));
        let joint = joint.ok_or(CommandError::NotAttached)?;
        self.physics.remove_impulse_joint(joint);
        self.has_new_joints = true;
        Ok(())
    }

    /// Tells whether two links are attached, the first holding the second.
    pub fn is_attached(&self, pair: (LinkReference, LinkReference)) -> bool {
        self.contents.attachments.contains_key(&pair)
    }

    /// Returns the attachments that a performer carries.
    pub(super) fn carried_by(&self, performer: PerformerId) -> Vec<AttachmentState> {
        if self.contents.attachments.is_empty() {
            return Vec::new();
        }
        let mut carried = Vec::new();
        for (pair, handle) in &self.contents.attachments {
            let joint = self.physics.impulse_joints.get(*handle);
            if let Some(joint) = joint.filter(|_| self.carrier_of(*pair) == Some(performer)) {
                carried.push(AttachmentState {
                    pair: *pair,
                    joint: JointState::of(joint),
                });
            }
        }
        carried
    }

    /// Forgets the attachments of a performer's model; the joints go with its bodies.
    pub(super) fn forget_attachments(&mut self, model: usize) -> bool {
        let before = self.contents.attachments.len();
        self.contents
            .attachments
            .retain(|pair, _| !holds(*pair, model));
        self.contents.attachments.len() != before
    }

    /// Holds links together again that came here attached.
    pub(super) fn hold_again(
        &mut self,
        arrived: &BTreeSet<usize>,
        states: &[AttachmentState],
    ) -> Result<(), AdoptError> {
        for AttachmentState { pair, joint } in states {
            let comes = arrived.iter().any(|model| holds(*pair, *model));
            let is_new = comes && pair.0 != pair.1 && !self.is_attached(*pair);
            let handle = if is_new { self.hold(*pair).ok() } else { None };
            let state = handle.and_then(|handle| {
                joint.apply(self.physics.impulse_joints.get_mut(handle, false)?)?;
                Some(handle)
            });
            let handle = state.ok_or(AdoptError::Attachment)?;
            self.contents.attachments.insert(*pair, handle);
            self.has_new_joints = true;
        }
        Ok(())
    }

    /// Inserts the joint of an attachment; it wakes nobody.
    fn hold(&mut self, pair: Pair) -> Result<ImpulseJointHandle, CommandError> {
        let end = |link| world_joint::end(&self.contents, &self.world, link);
        let (parent, child) = (end(pair.0), end(pair.1));
        let (parent, child) = parent.zip(child).ok_or(CommandError::Elsewhere)?;
        let handles = [parent.0, child.0];
        let bodies = handles.map(|handle| &self.physics.bodies[handle]);
        if bodies.iter().all(|body| !body.is_dynamic()) {
            return Err(CommandError::NeverMove);
        }
        // At the child's origin, or the parent's when the child never moves.
        let side = usize::from(bodies[1].is_dynamic());
        let at = *bodies[side].position();
        let frames = bodies.map(|body| body.position().inv_mul(&at));
        let joint = GenericJointBuilder::new(JointAxesMask::LOCKED_FIXED_AXES)
            .local_frame1(frames[0])
            .local_frame2(frames[1])
            .contacts_enabled(false)
            .build();
        let joints = &mut self.physics.impulse_joints;
        Ok(joints.insert(handles[0], handles[1], joint, false))
    }

    fn carrier_of(&self, pair: Pair) -> Option<PerformerId> {
        let mut performers = self.contents.performers.iter();
        let carrier = performers.find(|(_, owned)| holds(pair, owned.model));
        carrier.map(|(performer, _)| *performer)
    }
}

/// Tells whether a model is at one of the ends.
pub(super) fn holds(pair: Pair, model: usize) -> bool {
    pair.0.model == model || pair.1.model == model
}
