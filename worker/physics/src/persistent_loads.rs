//! [`PersistentLoads`]: lasting commands to a performer: wrenches, and links without contacts. They
//! travel with the performer.

use std::collections::BTreeSet;

use protocol::{PerformerId, SimTime};
use rapier3d_f64::geometry::ColliderHandle;
use serde::{Deserialize, Serialize};

use super::access::ModelRef;
use super::cell::Cell;
use super::commands::CommandError;
use super::contacts;

/// The most wrenches that act on a performer at once.
pub(super) const WRENCHES_MAX: usize = 1024;

/// Lasting commands to a performer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PersistentLoads {
    wrenches: Vec<Wrench>,
    /// The links whose collisions are switched off.
    untouchable: BTreeSet<u32>,
}

/// A force \[N\] at the centre of mass and a torque \[N m\] on a link, world frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wrench {
    link: u32,
    force: [f64; 3],
    torque: [f64; 3],
    /// The elapsed time at which they end.
    until: SimTime,
}

impl PersistentLoads {
    fn is_empty(&self) -> bool {
        self.wrenches.is_empty() && self.untouchable.is_empty()
    }

    /// Tells whether it can be that of a model of so many links.
    pub(super) fn is_sound(&self, link_count: usize) -> bool {
        let is_link = |link: &u32| (*link as usize) < link_count;
        self.wrenches.len() <= WRENCHES_MAX
            && self.untouchable.iter().all(is_link)
            && self.wrenches.iter().all(|wrench| {
                let mut numbers = wrench.force.iter().chain(&wrench.torque);
                is_link(&wrench.link) && numbers.all(|number| number.is_finite())
            })
    }
}

impl Cell {
    /// Has a force \[N\] at the centre of mass and a torque \[N m\], world frame, act on a link of
    /// a performer until an elapsed time, in one step at least.
    ///
    /// # Errors
    /// When too many act on the performer already.
    pub fn add_wrench(
        &mut self,
        performer: PerformerId,
        link: usize,
        [force, torque]: [[f64; 3]; 2],
        until: SimTime,
    ) -> Result<(), CommandError> {
        let persistent_loads = self.contents.persistent_loads.entry(performer).or_default();
        if persistent_loads.wrenches.len() == WRENCHES_MAX {
            return Err(CommandError::TooManyWrenches);
        }
        persistent_loads.wrenches.push(Wrench {
            link: link as u32,
            force,
            torque,
            until,
        });
        Ok(())
    }

    /// Has the wrenches that were commanded act in the next step.
    pub fn apply_orders(&mut self) {
        let orders = std::mem::take(&mut self.contents.persistent_loads);
        for (performer, persistent_loads) in &orders {
            let model = ModelRef::moving(*performer, self.model_of(*performer));
            for wrench in &persistent_loads.wrenches {
                self.add_steady_load(model, wrench.link as usize, wrench.force, wrench.torque);
            }
        }
        self.contents.persistent_loads = orders;
    }

    /// Ends the wrenches that have acted up to an elapsed time.
    pub fn end_orders(&mut self, elapsed: SimTime) {
        self.contents
            .persistent_loads
            .retain(|_, persistent_loads| {
                persistent_loads
                    .wrenches
                    .retain(|wrench| wrench.until > elapsed);
                !persistent_loads.is_empty()
            });
    }

    /// Switches the collisions of a performer's link, or of all its links, on or off; whatever they
    /// touched wakes.
    pub fn set_collisions(&mut self, performer: PerformerId, link: Option<usize>, enabled: bool) {
        let links = match link {
            Some(link) => link..link + 1,
            None => 0..self.contents.performers[&performer].links.len(),
        };
        let persistent_loads = self.contents.persistent_loads.entry(performer).or_default();
        for link in links.clone() {
            if enabled {
                persistent_loads.untouchable.remove(&(link as u32));
            } else {
                persistent_loads.untouchable.insert(link as u32);
            }
        }
        if persistent_loads.is_empty() {
            self.contents.persistent_loads.remove(&performer);
        }
        for link in links {
            self.switch_link(performer, link, enabled);
        }
        self.has_new_joints = true;
        self.solids.movers_changed();
    }

    /// Lets a performer that has just entered go on with what was commanded of it.
    pub(super) fn take_on(&mut self, performer: PerformerId, persistent_loads: PersistentLoads) {
        for link in &persistent_loads.untouchable {
            self.switch_link(performer, *link as usize, false);
        }
        if !persistent_loads.is_empty() {
            self.contents
                .persistent_loads
                .insert(performer, persistent_loads);
        }
    }

    /// Switches the collisions of a link of a model that never moves on or off; whatever they
    /// touched wakes.
    ///
    /// # Panics
    /// When the cell does not have it.
    pub fn switch_static(&mut self, model: usize, link: usize, enabled: bool) {
        let body = self.contents.statics[&model];
        let colliders = self.physics.bodies[body].colliders();
        let is_of_link = |handle: &ColliderHandle| {
            contacts::link_of(self.physics.colliders[*handle].user_data) == link
        };
        let colliders: Vec<_> = colliders.iter().copied().filter(is_of_link).collect();
        self.switch(&colliders, enabled);
        self.has_new_joints = true;
        self.solids.statics_changed();
    }

    fn switch_link(&mut self, performer: PerformerId, link: usize, enabled: bool) {
        let body = self.contents.performers[&performer].links[link];
        let colliders = self.physics.bodies[body].colliders().to_vec();
        self.switch(&colliders, enabled);
        self.physics.wake_up(body, true);
    }

    fn switch(&mut self, colliders: &[ColliderHandle], enabled: bool) {
        let physics = &mut self.physics;
        for handle in colliders.iter().copied() {
            if physics.colliders[handle].is_enabled() == enabled {
                continue;
            }
            let pairs = physics.contact_pairs_with(handle);
            let touched: Vec<_> = pairs
                .flat_map(|pair| [pair.collider1, pair.collider2])
                .filter_map(|collider| physics.colliders[collider].parent())
                .collect();
            physics.colliders[handle].set_enabled(enabled);
            for other in touched {
                physics.wake_up(other, true);
            }
        }
    }
}
