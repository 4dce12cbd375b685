//! Commands that move models within a cell: poses and joints are set from outside.
//!
//! A model that is moved leaves the cell and enters it again at once, as in a hand-off: its bodies,
//! contacts and joints are reset, whatever it touched wakes, and everything else goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;
use std::sync::Arc;

use protocol::PerformerId;
use rapier3d_f64::dynamics::RigidBody;
use rapier3d_f64::math::{Rotation, Vector};
use sdf::{JointKind, JointParent, Pose};

use super::access::ModelRef;
use super::cell::Cell;
use super::joint::position::AxisMotion;
use super::linkage::LinkOf;
use super::persistent_loads::WRENCHES_MAX;
use super::{joint, model, pose};

/// Reason why a command was not done in a cell; nothing is changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// A model that joints hold to the world has no pose of its own.
    #[error("joints hold it to the world or to what never moves: set their positions instead")]
    Held,
    /// A model that moves by commands alone has no velocity.
    #[error("it never moves by itself, and so gets no velocity")]
    NoVelocity,
    /// The child side of a joint cannot move about it alone.
    #[error(
        "what hangs on the joint is held from another side too: its position cannot be set alone"
    )]
    Loop,
    /// Fixed and ball joints and gearboxes have no position.
    #[error("the joint has no position along or about that axis")]
    NoPosition,
    /// rapier has stopped it for good.
    #[error("its state is no longer finite: remove it")]
    NotFinite,
    /// A performer bears so many at once.
    #[error("{WRENCHES_MAX} wrenches act on it already")]
    TooManyWrenches,
    /// A link holds no other.
    #[error("the link that holds and the one that is held are the same")]
    OneLink,
    /// There is nothing to hold.
    #[error("neither of the links ever moves")]
    NeverMove,
    /// Only links in one cell are attached.
    #[error("the links are not both in this cell")]
    Elsewhere,
    /// Two links are attached once.
    #[error("the links are attached already")]
    Attached,
    /// There is nothing to let go.
    #[error("the links are not attached")]
    NotAttached,
}

impl Cell {
    /// Puts the origin of a performer's model at a pose, world frame, with everything that joints
    /// hold to it, at rest; then has all that move as one, with the velocity \[m/s\] of its origin
    /// and an angular one \[rad/s\], world frame. A performer that never moves by itself is put
    /// there alone, and has no velocity.
    ///
    /// # Errors
    /// Fails if something holds it to the world, its state is not finite, or it never moves by
    /// itself and joints hold others to it or it was to get a velocity.
    pub fn set_state(
        &mut self,
        performer: PerformerId,
        target: Option<&Pose>,
        velocity: Option<[[f64; 3]; 2]>,
    ) -> Result<(), CommandError> {
        let model = ModelRef::moving(performer, self.model_of(performer));
        let description = &self.world.models[model.index];
        let links = (0..description.links.len()).map(|link| (performer, link));
        let links: BTreeSet<LinkOf> = if description.moves_by_command_alone() {
            if velocity.is_some() {
                return Err(CommandError::NoVelocity);
            }
            if self.joined_with([performer]).len() > 1 {
                return Err(CommandError::Held);
            }
            links.collect()
        } else {
            let cluster = self.cluster_of(links, None);
            if cluster.is_held {
                return Err(CommandError::Held);
            }
            cluster.links
        };
        if let Some(target) = target {
            let way = normalized(target).then(&self.model_pose(model).inverse());
            let places = self.moved(&links, &way);
            self.rearrange(&places, true)?;
        }
        if let Some([linear, angular]) = velocity {
            let [linear, angular] = [linear, angular].map(Vector::from_array);
            let origin = Vector::from_array(self.model_pose(model).position);
            self.speed_up_each(&links, |body| {
                let arm = body.center_of_mass() - origin;
                body.set_linvel(linear + angular.cross(arm), true);
                body.set_angvel(angular, true);
            });
        }
        Ok(())
    }

    /// Sets position \[rad or m\] and velocity \[rad/s or m/s\] along or about an axis of a joint
    /// of a performer: everything that hangs on the child moves as one.
    ///
    /// # Errors
    /// Fails if the axis has no position, what hangs on the child also hangs on something else, or
    /// a state is not finite.
    pub fn set_joint(
        &mut self,
        performer: PerformerId,
        joint: usize,
        axis: usize,
        position: Option<f64>,
        velocity: Option<f64>,
    ) -> Result<(), CommandError> {
        let description = &self.world.models[self.model_of(performer)].joints[joint];
        let (child, parent) = (description.child, description.parent);
        let cluster = self.cluster_of([(performer, child)], Some((performer, joint)));
        let returns = match parent {
            JointParent::World => false,
            JointParent::Link(link) => cluster.links.contains(&(performer, link)),
        };
        let motion = self.axis_motion(performer, joint, axis);
        let motion = motion.ok_or(CommandError::NoPosition)?;
        if cluster.is_held || returns {
            return Err(CommandError::Loop);
        }
        if let Some(position) = position {
            let way = motion.way_to(position);
            let places = self.moved(&cluster.links, &way);
            self.rearrange(&places, false)?;
            self.count_turns(performer, joint, axis, position);
        }
        if let Some(velocity) = velocity {
            // Where the axis is now.
            let motion = self.axis_motion(performer, joint, axis);
            let motion = motion.ok_or(CommandError::NoPosition)?;
            self.speed_up(&cluster.links, &motion, velocity);
        }
        Ok(())
    }

    /// Puts the joints of a performer that has just come where they start. One that cannot be put
    /// there stays where the file has it.
    pub(super) fn start_joints(&mut self, performer: PerformerId) {
        let world = Arc::clone(&self.world);
        let model = &world.models[self.model_of(performer)];
        for (index, joint) in model.joints.iter().enumerate() {
            for (axis, start) in joint.kind.axes().iter().enumerate() {
                let position = start.initial_position;
                if position == 0.0 {
                    continue;
                }
                if let Err(error) = self.set_joint(performer, index, axis, Some(position), None) {
                    let joint = format!("{}::{}", model.name, joint.name);
                    tracing::warn!(joint, position, %error, "a joint cannot start there");
                }
            }
        }
    }

    /// Returns the poses of some links after a way in the world frame.
    fn moved(&self, links: &BTreeSet<LinkOf>, way: &Pose) -> BTreeMap<LinkOf, Pose> {
        let moved = |(performer, link): &LinkOf| {
            let model = ModelRef::moving(*performer, self.model_of(*performer));
            let place = way.then(&self.link_pose(model, *link));
            ((*performer, *link), normalized(&place))
        };
        links.iter().map(moved).collect()
    }

    fn axis_motion(&self, performer: PerformerId, joint: usize, axis: usize) -> Option<AxisMotion> {
        let owned = &self.contents.performers[&performer];
        let description = &self.world.models[owned.model];
        let attachment =
            model::attachment_of(description, &owned.links, self.contents.anchor, joint);
        joint::position::axis_motion(&attachment, axis, &self.physics.bodies)
    }

    /// Has mechanisms know how often an axis has turned.
    fn count_turns(&mut self, performer: PerformerId, joint: usize, axis: usize, position: f64) {
        let motion = self.axis_motion(performer, joint, axis);
        let mechanism = self.contents.mechanisms.get_mut(&performer);
        if let (Some(motion), Some(mechanism)) = (motion, mechanism) {
            for coordinate in mechanism.coordinates_mut() {
                if coordinate.is_same(&motion.coordinate) {
                    coordinate.set_position(position);
                }
            }
        }
    }

    fn speed_up(&mut self, links: &BTreeSet<LinkOf>, motion: &AxisMotion, rate: f64) {
        let change = rate - motion.coordinate.rate(&self.physics.bodies);
        let (turn, slide) = (motion.turn * change, motion.slide * change);
        self.speed_up_each(links, |body| {
            let arm = body.center_of_mass() - motion.point;
            body.set_linvel(body.linvel() + turn.cross(arm) + slide, true);
            body.set_angvel(body.angvel() + turn, true);
        });
    }

    /// Wakes the bodies of some links, of which each gets another velocity, and calls a function
    /// with each.
    fn speed_up_each(
        &mut self,
        links: &BTreeSet<LinkOf>,
        mut speed_up: impl FnMut(&mut RigidBody),
    ) {
        for (performer, link) in links {
            let handle = self.contents.performers[performer].links[*link];
            self.physics.wake_up(handle, true);
            speed_up(&mut self.physics.bodies[handle]);
        }
        self.has_new_joints = true;
        self.solids.movers_changed();
    }
}

impl AxisMotion {
    /// Returns the way, world frame, that brings what hangs on the axis to a position \[rad or m\].
    fn way_to(&self, position: f64) -> Pose {
        let half = (position - self.position) * 0.5;
        let axis = self.turn * libm::sin(half);
        let rotation = if self.turn == Vector::ZERO {
            Rotation::IDENTITY
        } else {
            Rotation::from_xyzw(axis.x, axis.y, axis.z, libm::cos(half))
        };
        let slide = self.slide * (position - self.position_of_slide);
        let translation = self.point + slide - rotation * self.point;
        pose::from_rapier(&rapier3d_f64::math::Pose::from_parts(translation, rotation))
    }
}

/// Returns how far a screw slides as it turns by a radian \[m\].
pub(super) fn lead(kind: &JointKind) -> f64 {
    match kind {
        JointKind::Screw { thread_pitch, .. } => thread_pitch / TAU,
        _ => 0.0,
    }
}

/// Returns a pose with its orientation at length 1.
fn normalized(pose: &Pose) -> Pose {
    let square: f64 = pose.orientation_xyzw.iter().map(|part| part * part).sum();
    let length = square.sqrt();
    Pose {
        orientation_xyzw: pose.orientation_xyzw.map(|part| part / length),
        ..*pose
    }
}
