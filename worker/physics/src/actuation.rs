//! Driving joints: where they are, how fast they go, and what systems have them do.
//!
//! Joints and axes go by their indices. What is asked for holds for one step; what acts for longer
//! is said anew before each. Positions count from the initial configuration, over turns.

use std::borrow::Cow;

use super::access::ModelRef;
use super::cell::Cell;
use super::mechanism::actuator::Actuator;
use super::mechanism::coordinate::Coordinate;
use super::model;

impl Cell {
    /// Returns the position of a joint along or about one of its axes \[m or rad\], turns counted
    /// in models that have systems; 0 for a joint or axis that is not there.
    pub fn joint_position(&self, of: ModelRef, joint: usize, axis: usize) -> f64 {
        let coordinate = self.coordinate(of, joint, axis);
        coordinate.map_or(0.0, |coordinate| {
            coordinate.position_at(&self.physics.bodies)
        })
    }

    /// Returns the velocity of a joint along or about one of its axes \[m/s or rad/s\]; 0 for a
    /// joint or axis that is not there.
    pub fn joint_velocity(&self, of: ModelRef, joint: usize, axis: usize) -> f64 {
        let coordinate = self.coordinate(of, joint, axis);
        coordinate.map_or(0.0, |coordinate| coordinate.rate(&self.physics.bodies))
    }

    /// Has a joint go at a velocity in the next step \[m/s or rad/s\], with no more force than its
    /// effort limit allows, and no faster than its velocity limit. A velocity of 0 holds it.
    /// Nothing happens where there is no such axis, or in a model without systems.
    pub fn drive_joint(&mut self, of: ModelRef, joint: usize, axis: usize, velocity: f64) {
        if let Some(actuator) = self.actuator_mut(of, joint, axis)
            && velocity.is_finite()
        {
            actuator.drive(velocity);
        }
    }

    /// Has a force \[N\] or torque \[N m\] act along or about an axis of a joint in the next step:
    /// on the child, and the opposite on the parent, beside others. The sum is no greater than the
    /// effort limit. Nothing happens where there is no such axis, or in a model without systems.
    pub fn push_joint(&mut self, of: ModelRef, joint: usize, axis: usize, force: f64) {
        if let Some(actuator) = self.actuator_mut(of, joint, axis)
            && force.is_finite()
        {
            actuator.push(force);
        }
    }

    /// Returns the force \[N\] or torque \[N m\] that drove a joint in the last step: what was
    /// pushed, and what it took to keep the velocity asked for.
    pub fn joint_force(&self, of: ModelRef, joint: usize, axis: usize) -> f64 {
        let actuator = self.actuator(of, joint, axis);
        actuator.map_or(0.0, Actuator::force)
    }

    fn coordinate(&self, of: ModelRef, joint: usize, axis: usize) -> Option<Cow<'_, Coordinate>> {
        if let Some(actuator) = self.actuator(of, joint, axis) {
            return Some(Cow::Borrowed(&actuator.coordinate));
        }
        let owned = self.contents.performers.get(&of.performer?)?;
        let description = &self.world.models[of.index];
        model::coordinate(description, &owned.links, self.contents.anchor, joint, axis)
            .map(Cow::Owned)
    }

    fn actuator(&self, of: ModelRef, joint: usize, axis: usize) -> Option<&Actuator> {
        let mechanism = self.contents.mechanisms.get(&of.performer?)?;
        let place = (joint as u32, axis as u32);
        let found = mechanism
            .actuators
            .binary_search_by_key(&place, |one| one.place);
        found.ok().map(|at| &mechanism.actuators[at])
    }

    fn actuator_mut(&mut self, of: ModelRef, joint: usize, axis: usize) -> Option<&mut Actuator> {
        let mechanism = self.contents.mechanisms.get_mut(&of.performer?)?;
        let place = (joint as u32, axis as u32);
        let found = mechanism
            .actuators
            .binary_search_by_key(&place, |one| one.place);
        found.ok().map(|at| &mut mechanism.actuators[at])
    }
}
