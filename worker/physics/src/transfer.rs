//! Hand-offs: a performer leaves a cell as bytes, and enters another one from them.
//!
//! The bytes hold what changes from step to step, and nothing that follows from the world: bodies,
//! colliders, joints and mechanisms are built as at the start and then go on from the state. What
//! is lost is what rapier knows of contacts (the impulses that it begins the next step with). They
//! come from the wire, so that nothing in them is believed before it is checked.

mod body;
mod joint;

use std::collections::{BTreeMap, BTreeSet};

use protocol::PerformerId;
use rapier3d_f64::dynamics::RigidBodyHandle;
use rapier3d_f64::pipeline::PhysicsWorld;
use serde::{Deserialize, Serialize};

pub(super) use self::body::LinkState;
pub(super) use self::joint::JointState;
use super::attachment::AttachmentState;
use super::cell::{Cell, Performer};
use super::commands::CommandError;
use super::linkage::LinkOf;
use super::mechanism::Mechanism;
use super::mechanism::memory::Memory;
use super::persistent_loads::PersistentLoads;
use super::{model, world_joint};

/// A performer that enters a cell.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The performer.
    pub performer: PerformerId,
    /// Its model's index in the world.
    pub model: usize,
    /// Its whole state, as [`Cell::transfer`] gave it.
    pub state: &'a [u8],
}

/// A performer that cannot enter a cell.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// The bytes are cut short, or of another build.
    #[error("the state of performer {performer} is damaged or of another build: run one build")]
    Malformed {
        /// The performer.
        performer: PerformerId,
        /// What is wrong with the bytes.
        #[source]
        source: postcard::Error,
    },
    /// The world has no such model, or it never moves.
    #[error("performer {performer} enters as model {model}, which the world has not to move")]
    Model {
        /// The performer.
        performer: PerformerId,
        /// The index that should be its model's.
        model: usize,
    },
    /// The cell owns it already, or performers come in another order than that of their ids.
    #[error("performer {performer} enters a cell that owns it, or out of order")]
    Order {
        /// The performer.
        performer: PerformerId,
    },
    /// The state does not fit the model, or holds what is no number.
    #[error("the state of performer {performer} is no state of its model: {part} do not fit")]
    State {
        /// The performer.
        performer: PerformerId,
        /// What does not fit.
        part: &'static str,
    },
    /// Joints of the world hold performers together, which must come with their state, and at once.
    #[error("joint {joint:?} of the world comes without its state, twice, or without its models")]
    WorldJoint {
        /// Its name, or its index when the world has no such joint.
        joint: String,
    },
    /// Attached performers come with both, and with their attachment once.
    #[error("an attachment comes without the links that it holds, twice, or with a false state")]
    Attachment,
}

/// Everything of a performer that changes from step to step.
#[derive(Serialize, Deserialize)]
struct PerformerParcel {
    links: Vec<LinkState>,
    mechanism: MechanismState,
    /// Joints of the world that it holds on to as the performer with the lowest id, by their index.
    world_joints: Vec<(u32, MechanismState)>,
    /// What was commanded of it and holds on.
    persistent_loads: PersistentLoads,
    /// The attachments that it carries.
    attachments: Vec<AttachmentState>,
}

/// Everything of a mechanism that changes from step to step.
#[derive(Default, Serialize, Deserialize)]
struct MechanismState {
    joints: Vec<JointState>,
    memory: Memory,
}

impl Cell {
    /// Returns everything that a hand-off of a performer carries.
    ///
    /// # Panics
    /// When the cell does not have it.
    pub fn transfer(&self, performer: PerformerId) -> Vec<u8> {
        let parcel = self.parcel_of(performer);
        postcard::to_stdvec(&parcel).expect("numbers and lists are what postcard can express")
    }

    fn parcel_of(&self, performer: PerformerId) -> PerformerParcel {
        let contents = &self.contents;
        let owned = &contents.performers[&performer];
        let physics = &self.physics;
        let mechanism = contents.mechanisms.get(&performer);
        let joints_of_world = contents.joint_mechanisms.iter();
        let persistent_loads = contents.persistent_loads.get(&performer);
        PerformerParcel {
            links: owned
                .links
                .iter()
                .map(|link| LinkState::of(&physics.bodies[*link]))
                .collect(),
            mechanism: mechanism.map_or_else(MechanismState::default, |mechanism| {
                MechanismState::of(mechanism, physics)
            }),
            world_joints: joints_of_world
                .filter(|(number, _)| world_joint::holds(&self.world.joints[**number], owned.model))
                .filter(|(number, _)| self.carrier(**number) == Some(performer))
                .map(|(number, mechanism)| (*number as u32, MechanismState::of(mechanism, physics)))
                .collect(),
            persistent_loads: persistent_loads.cloned().unwrap_or_default(),
            attachments: self.carried_by(performer),
        }
    }

    /// Removes a performer with all that holds on to it; whatever touched it wakes.
    ///
    /// # Panics
    /// When the cell does not have it.
    pub fn remove_performer(&mut self, performer: PerformerId) {
        let owned = self.contents.performers.remove(&performer);
        let owned = owned.expect("a performer is removed only from the cell that has it");
        let mut joints_change = self.contents.mechanisms.remove(&performer).is_some();
        let world = &self.world;
        self.contents.joint_mechanisms.retain(|number, _| {
            let is_held = world_joint::holds(&world.joints[*number], owned.model);
            joints_change |= is_held;
            !is_held
        });
        joints_change |= self.forget_attachments(owned.model);
        self.contents.persistent_loads.remove(&performer);
        for link in owned.links {
            self.physics.remove_body(link);
        }
        if self.world.models[owned.model].moves_by_command_alone() {
            self.wake_all();
        }
        self.has_new_joints |= joints_change;
        self.solids.movers_changed();
    }

    /// Adds performers in exactly the state that they left another cell in, in the order of their
    /// ids; those that slept sleep on and wake nobody. Then adds the joints of the world between
    /// them.
    ///
    /// # Errors
    /// When a state is damaged or fits neither its model nor the cell. Then the cell is left in
    /// between, good for nothing but to be dropped.
    pub fn adopt(&mut self, arrivals: &[Arrival<'_>]) -> Result<(), AdoptError> {
        let mut comers = Vec::with_capacity(arrivals.len());
        let mut former = None;
        for arrival in arrivals {
            let performer = arrival.performer;
            let comes_again = self.contents.performers.contains_key(&performer);
            if comes_again || former >= Some(performer) {
                return Err(AdoptError::Order { performer });
            }
            former = Some(performer);
            comers.push((performer, arrival.model, open(arrival)?));
        }
        self.adopt_all(comers)
    }

    fn adopt_all(
        &mut self,
        comers: Vec<(PerformerId, usize, PerformerParcel)>,
    ) -> Result<(), AdoptError> {
        let mut models = BTreeSet::new();
        let mut world_joints = BTreeMap::new();
        let mut attachments = Vec::new();
        for (performer, model, parcel) in comers {
            self.insert_arrival(performer, model, &parcel)?;
            self.take_on(performer, parcel.persistent_loads);
            models.insert(model);
            attachments.extend(parcel.attachments);
            for (number, state) in parcel.world_joints {
                if world_joints.insert(number as usize, state).is_some() {
                    return Err(self.wrong_joint(number as usize));
                }
            }
        }
        self.solids.movers_changed();
        let mut comers = models.iter().map(|model| &self.world.models[*model]);
        if comers.any(sdf::Model::moves_by_command_alone) {
            self.wake_all();
        }
        self.insert_world_joints(&models, world_joints)?;
        self.hold_again(&models, &attachments)
    }

    /// Puts links elsewhere, at rest if asked for, and awake; the performers that they belong to
    /// leave and enter again, with those that are joined to them.
    ///
    /// # Errors
    /// When a state is no longer finite. Then nothing changes.
    pub(super) fn rearrange(
        &mut self,
        places: &BTreeMap<LinkOf, sdf::Pose>,
        at_rest: bool,
    ) -> Result<(), CommandError> {
        let performers = self.joined_with(places.keys().map(|link| link.0));
        let mut comers = Vec::with_capacity(performers.len());
        for performer in &performers {
            let mut parcel = self.parcel_of(*performer);
            for (link, state) in parcel.links.iter_mut().enumerate() {
                if let Some(place) = places.get(&(*performer, link)) {
                    state.put(place, at_rest);
                }
            }
            if !parcel.links.iter().all(LinkState::is_sound) {
                return Err(CommandError::NotFinite);
            }
            comers.push((*performer, self.model_of(*performer), parcel));
        }
        for performer in &performers {
            self.remove_performer(*performer);
        }
        self.adopt_all(comers)
            .expect("what has just left a cell can enter it again");
        Ok(())
    }

    fn insert_arrival(
        &mut self,
        performer: PerformerId,
        model: usize,
        parcel: &PerformerParcel,
    ) -> Result<(), AdoptError> {
        let Some(description) = self.world.models.get(model).filter(|m| !m.is_static) else {
            return Err(AdoptError::Model { performer, model });
        };
        let misfit = |part| AdoptError::State { performer, part };
        let links = &parcel.links;
        if links.len() != description.links.len() || !links.iter().all(LinkState::is_sound) {
            return Err(misfit("links"));
        }
        if !parcel.persistent_loads.is_sound(links.len()) {
            return Err(misfit("lasting commands"));
        }
        let (physics, shapes) = (&mut self.physics, &mut self.shapes);
        let (world, anchor) = (&self.world, self.contents.anchor);
        let (bodies, mut mechanism) =
            model::insert_performer(physics, shapes, world, anchor, model, Some(links));
        for body in &bodies {
            physics.bodies[*body].recompute_mass_properties_from_colliders(&physics.colliders);
        }
        let fits = parcel.mechanism.apply(&mut mechanism, physics);
        fits.ok_or_else(|| misfit("joints"))?;
        if !mechanism.is_empty() {
            self.has_new_joints = true;
            self.contents.mechanisms.insert(performer, mechanism);
        }
        let is_asleep = |body: &&RigidBodyHandle| physics.bodies[**body].is_sleeping();
        self.sleepers.extend(bodies.iter().filter(is_asleep));
        let owned = Performer {
            model,
            links: bodies,
        };
        self.contents.performers.insert(performer, owned);
        Ok(())
    }

    fn insert_world_joints(
        &mut self,
        models: &BTreeSet<usize>,
        mut states: BTreeMap<usize, MechanismState>,
    ) -> Result<(), AdoptError> {
        for (number, joint) in self.world.joints.iter().enumerate() {
            let holds = |model: &usize| world_joint::holds(joint, *model);
            if !models.iter().any(holds) {
                continue;
            }
            let built = world_joint::build(&mut self.physics, &self.contents, &self.world, number);
            let Some(mut mechanism) = built.filter(|mechanism| !mechanism.is_empty()) else {
                continue;
            };
            let state = states.remove(&number);
            let fits = state.and_then(|state| state.apply(&mut mechanism, &mut self.physics));
            fits.ok_or_else(|| self.wrong_joint(number))?;
            self.has_new_joints = true;
            self.contents.joint_mechanisms.insert(number, mechanism);
        }
        match states.pop_first() {
            Some((number, _)) => Err(self.wrong_joint(number)),
            None => Ok(()),
        }
    }

    /// Returns which performer's state holds that of a joint of the world: the one with the lowest
    /// id at its ends.
    fn carrier(&self, number: usize) -> Option<PerformerId> {
        let joint = self.world.joints.get(number)?;
        let mut performers = self.contents.performers.iter();
        let carrier = performers.find(|(_, owned)| world_joint::holds(joint, owned.model));
        carrier.map(|(performer, _)| *performer)
    }

    fn wrong_joint(&self, number: usize) -> AdoptError {
        let name = self.world.joints.get(number).map(|joint| &joint.name);
        AdoptError::WorldJoint {
            joint: name.map_or_else(|| number.to_string(), String::clone),
        }
    }
}

fn open(arrival: &Arrival<'_>) -> Result<PerformerParcel, AdoptError> {
    let malformed = |source| AdoptError::Malformed {
        performer: arrival.performer,
        source,
    };
    let (parcel, rest) = postcard::take_from_bytes(arrival.state).map_err(malformed)?;
    if rest.is_empty() {
        Ok(parcel)
    } else {
        Err(malformed(postcard::Error::DeserializeBadEncoding))
    }
}

impl MechanismState {
    fn of(mechanism: &Mechanism, physics: &PhysicsWorld) -> Self {
        let joints = mechanism.joints.iter();
        let states = joints.filter_map(|joint| physics.impulse_joints.get(*joint));
        Self {
            joints: states.map(JointState::of).collect(),
            memory: mechanism.memory(),
        }
    }

    /// Lets a mechanism that was just built go on from here; `None` when it is another one.
    fn apply(&self, mechanism: &mut Mechanism, physics: &mut PhysicsWorld) -> Option<()> {
        if self.joints.len() != mechanism.joints.len() {
            return None;
        }
        for (state, handle) in self.joints.iter().zip(&mechanism.joints) {
            state.apply(physics.impulse_joints.get_mut(*handle, false)?)?;
        }
        mechanism.recall(&self.memory)
    }
}
