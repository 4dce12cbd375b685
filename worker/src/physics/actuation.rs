//! Axes of joints: how they stand and move, and what drives them.

use rapier3d_f64::math::Vector;
use sdf::{JointKind, JointParent};

use super::access::ModelRef;
use super::cell::Cell;
use super::pose;

impl Cell {
    /// Returns the velocity of an axis of a joint \[rad/s or m/s\].
    pub fn joint_velocity(&self, model: ModelRef, joint: usize, axis: usize) -> f64 {
        let Some((direction, is_slide, child, parent)) = self.axis(model, joint, axis) else {
            return 0.0;
        };
        let part = usize::from(!is_slide);
        let velocity = |link| Vector::from_array(self.link_velocity(model, link)[part]);
        let moving = parent.map_or(Vector::ZERO, velocity);
        (velocity(child) - moving).dot(direction)
    }

    /// Returns the position of an axis of a joint that turns by less than half a turn \[rad\].
    pub fn joint_position(&self, model: ModelRef, joint: usize, axis: usize) -> f64 {
        let Some((direction, _, child, parent)) = self.axis(model, joint, axis) else {
            return 0.0;
        };
        let links = &self.world.models[model.index].links;
        let turn = |link: usize| {
            let now = pose::to_rapier(&self.link_pose(model, link)).rotation;
            now * pose::to_rapier(&links[link].pose).rotation.inverse()
        };
        let moving = parent.map_or(rapier3d_f64::math::Rotation::IDENTITY, turn);
        let relative = turn(child) * moving.inverse();
        let sine = Vector::new(relative.x, relative.y, relative.z).dot(direction);
        2.0 * libm::atan2(sine, relative.w)
    }

    /// Has an axis of a joint turn with a velocity in the next step \[rad/s\].
    pub fn drive_joint(&mut self, model: ModelRef, joint: usize, axis: usize, velocity: f64) {
        let Some((direction, _, child, parent)) = self.axis(model, joint, axis) else {
            return;
        };
        let moving = parent.map_or(Vector::ZERO, |link| {
            Vector::from_array(self.link_velocity(model, link)[1])
        });
        let linear = self.link_velocity(model, child)[0];
        let angular = (moving + direction * velocity).to_array();
        self.set_link_velocity(model, child, [linear, angular]);
    }

    fn axis(
        &self,
        model: ModelRef,
        joint: usize,
        axis: usize,
    ) -> Option<(Vector, bool, usize, Option<usize>)> {
        let description = &self.world.models[model.index];
        let joint = description.joints.get(joint)?;
        let start = &description.links[joint.child].pose;
        let in_child = start.inverse().rotate(joint.kind.axes().get(axis)?.xyz);
        let now = self.link_pose(model, joint.child).rotate(in_child);
        let parent = match joint.parent {
            JointParent::World => None,
            JointParent::Link(link) => Some(link),
        };
        let is_slide = matches!(joint.kind, JointKind::Prismatic(_));
        Some((Vector::from_array(now), is_slide, joint.child, parent))
    }
}
