//! [`PerformerStates`]: the states of the performers of a cell, of which only those are made anew
//! whose links are not as they were.

use protocol::{Digest, PerformerState};
use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};

use super::cell::Cell;
use super::reach;
use super::state::{self, Origin};

/// How many numbers of a link enter the digest of a performer.
const NUMBERS: usize = 14;

/// Pose, velocity of the centre of mass, angular velocity, and whether it sleeps; little-endian.
type LinkBits = [[u8; 8]; NUMBERS];

/// The states of all performers of a cell when they were read last.
#[derive(Default)]
pub struct PerformerStates {
    /// In the order of their ids.
    states: Vec<PerformerState>,
    /// Of the links of each, in the same order.
    links: Vec<LinkBits>,
    /// The origin of each.
    origins: Vec<Origin>,
    step_size_s: f64,
    is_anew: bool,
    renewed: Vec<usize>,
}

impl PerformerStates {
    /// Returns the states, in the order of the performers' ids.
    pub fn states(&self) -> &[PerformerState] {
        &self.states
    }

    /// Returns the indices of the states that the last reading made anew, ascending; `None` when it
    /// made all of them so.
    pub fn renewed(&self) -> Option<&[usize]> {
        (!self.is_anew).then_some(&self.renewed)
    }
}

impl Cell {
    /// Reads the states of all performers, with what they may reach in one more step of the size
    /// given \[s\]: that of the next step that moves anything, also while time is paused.
    ///
    /// With `is_anew`, all of them are made anew: when a command may have changed something about
    /// them that is no pose and no velocity.
    pub fn read(&self, step_size_s: f64, is_anew: bool, performer_states: &mut PerformerStates) {
        let performers = &self.contents.performers;
        let known = performer_states.states.iter().map(|state| state.performer);
        performer_states.is_anew =
            is_anew || performer_states.step_size_s != step_size_s || !known.eq(self.performers());
        performer_states.step_size_s = step_size_s;
        performer_states.renewed.clear();
        if performer_states.is_anew {
            performer_states.states.clear();
            performer_states.links.clear();
            performer_states.origins.clear();
        }
        let mut begin = 0;
        for (index, (id, performer)) in performers.iter().enumerate() {
            let end = begin + performer.links.len();
            if performer_states.is_anew {
                let model = &self.world.models[performer.model];
                performer_states.origins.push(Origin::of(model));
                let now = performer.links.iter().map(|link| self.link_bits(*link));
                performer_states.links.extend(now);
            } else if !self.renew_links(&performer.links, &mut performer_states.links[begin..end]) {
                begin = end;
                continue;
            }
            let bits = performer_states.links[begin..end]
                .as_flattened()
                .as_flattened();
            let (links, bodies) = (&performer.links, &self.physics.bodies);
            let origin = &performer_states.origins[index];
            let mut state = state::state(*id, origin, links, bodies, Digest::of_bytes(bits));
            state.reach = reach::reach(&self.physics, links, step_size_s);
            if performer_states.is_anew {
                performer_states.states.push(state);
            } else {
                performer_states.states[index] = state;
                performer_states.renewed.push(index);
            }
            begin = end;
        }
    }

    /// Brings the bits of some links up to date, and tells whether any is another.
    fn renew_links(&self, links: &[RigidBodyHandle], known: &mut [LinkBits]) -> bool {
        let mut is_other = false;
        for (link, known) in links.iter().zip(known) {
            let now = self.link_bits(*link);
            is_other |= now != *known;
            *known = now;
        }
        is_other
    }

    fn link_bits(&self, link: RigidBodyHandle) -> LinkBits {
        let bodies: &RigidBodySet = &self.physics.bodies;
        let body: &RigidBody = &bodies[link];
        let ([x, y, z], [qx, qy, qz, qw]) =
            (body.translation().to_array(), body.rotation().to_array());
        let ([vx, vy, vz], [wx, wy, wz]) = (body.linvel().to_array(), body.angvel().to_array());
        let sleeps = f64::from(u8::from(body.is_sleeping()));
        let numbers = [x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz, sleeps];
        numbers.map(f64::to_le_bytes)
    }
}
