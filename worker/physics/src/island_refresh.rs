//! Settling: rapier takes note of what came and left before the next step, in a step of no length.
//!
//! Otherwise it does so at the begin of the next step, and that is too late for two things. Joints
//! that came or left are in lists that are in no snapshot, and a cell must go on with the same bits
//! whether a snapshot was taken or not. And the first contact wakes a body, though it came asleep
//! and rests on what it rested on before.

use std::collections::BTreeSet;

use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle};

use super::cell::Cell;
use super::collision_filter::CollisionFilter;

/// The most steps of no length until rapier has its tree of boxes: a step that improves the tree
/// keeps it, and without changes only one step in eight does that, once.
const STEPS_MAX: usize = 3;

impl Cell {
    /// Settles the cell, if joints came or left, or bodies came asleep.
    pub fn settle(&mut self) {
        if !self.has_new_joints && self.sleepers.is_empty() {
            return;
        }
        if std::mem::take(&mut self.has_new_joints) {
            self.solver.joints_changed();
        }
        let bodies = &self.physics.bodies;
        let is_asleep =
            |body: &RigidBodyHandle| bodies.get(*body).is_some_and(RigidBody::is_sleeping);
        // What they lay on may have been taken away.
        self.sleepers.retain(is_asleep);
        let step_size_s = std::mem::take(&mut self.physics.integration_parameters.dt);
        for _ in 0..STEPS_MAX {
            self.physics.step_with_events(&CollisionFilter, &());
            // A step of no length may leave the tree of boxes with the pipeline, which is in no
            // snapshot either; the next one puts it back.
            let has_tree = !self.physics.query_pipeline().bvh.is_empty();
            if has_tree || self.physics.colliders.is_empty() {
                break;
            }
        }
        self.physics.integration_parameters.dt = step_size_s;
        self.put_back_to_sleep();
    }

    /// Lets bodies that came asleep sleep on, unless they touch, or are joined to, one that is
    /// awake. rapier takes them out of the next step before it moves anything.
    fn put_back_to_sleep(&mut self) {
        let sleepers = std::mem::take(&mut self.sleepers);
        if sleepers.is_empty() {
            return;
        }
        let (islands, bodies) = (&self.physics.islands, &mut self.physics.bodies);
        let came_asleep: BTreeSet<_> = sleepers.iter().map(|body| body.into_raw_parts()).collect();
        let is_other = |body: &RigidBodyHandle| !came_asleep.contains(&body.into_raw_parts());
        let others = islands.active_bodies().filter(is_other);
        let awake: BTreeSet<_> = others
            .filter_map(|body| islands.persistent_island_of(bodies, body))
            .collect();
        for body in sleepers {
            let island = islands.persistent_island_of(bodies, body);
            if island.is_some_and(|island| !awake.contains(&island)) {
                bodies[body].sleep();
                self.contents.dozing.push(body);
            }
        }
    }

    /// Wakes bodies that were put back to sleep, but met one that came awake before the next step:
    /// rapier has moved them, and they must not count as asleep.
    pub(super) fn wake_disturbed(&mut self) {
        let dozing = std::mem::take(&mut self.contents.dozing);
        if dozing.is_empty() {
            return;
        }
        let active = self.physics.islands.active_bodies();
        let active: BTreeSet<_> = active.map(RigidBodyHandle::into_raw_parts).collect();
        for body in dozing {
            if active.contains(&body.into_raw_parts()) {
                self.physics.wake_up(body, true);
            }
        }
    }
}
