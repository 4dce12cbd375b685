//! [`Cell`]: one rapier world, the unit that is hosted, moved, checkpointed and hashed.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{PerformerId, SimTime};
use rapier3d_f64::dynamics::{
    ImpulseJointHandle, IntegrationParameters, RigidBodyBuilder, RigidBodyHandle,
};
use rapier3d_f64::math::Vector;
use rapier3d_f64::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use rapier3d_f64::pipeline::PhysicsWorld;
use sdf::World;
use serde::{Deserialize, Serialize};

use super::access::Load;
use super::attachment::Pair;
use super::fresh_contacts::FreshContacts;
use super::ghost::Ghost;
use super::mechanism::Mechanism;
use super::moving_surface::{MovingSurface, SurfaceHooks};
use super::persistent_loads::PersistentLoads;
use super::ray::SolidsOfCell;
use super::shape::Shapes;
use super::slip::LinkSlip;
use super::solver::{CellSolver, Mechanisms};
use super::{actor, model, world_joint};

/// One rapier world, the unit that is hosted, moved, checkpointed and hashed.
///
/// **Invariant:** the bits of its states depend only on the world and on the calls made, in their
/// order; a cell restored from a snapshot counts as having had the same calls.
pub struct Cell {
    pub(super) world: Arc<World>,
    pub(super) physics: PhysicsWorld,
    pub(super) contents: Contents,
    pub(super) shapes: Shapes,
    pub(super) solids: SolidsOfCell,
    pub(super) solver: CellSolver,
    /// True if joints came or left since rapier last looked at them; see [`super::island_refresh`].
    pub(super) has_new_joints: bool,
    /// Bodies that came asleep since then.
    pub(super) sleepers: Vec<RigidBodyHandle>,
    /// Loads in the next step alone.
    pub(super) loads: Vec<Load>,
    /// World frame \[m/s\].
    pub(super) wind: [f64; 3],
    /// Surfaces that move in the next step alone.
    pub(super) surfaces: Vec<MovingSurface>,
    /// Slip of links in the next step alone.
    pub(super) slips: Vec<LinkSlip>,
}

/// Contents of a cell, by the ids that others know.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Contents {
    /// The fixed body that joints to the world hold on to.
    pub(super) anchor: RigidBodyHandle,
    /// The body of each static model, by its index in the world.
    pub(super) statics: BTreeMap<usize, RigidBodyHandle>,
    pub(super) performers: BTreeMap<PerformerId, Performer>,
    /// The joints of performers that have some.
    pub(super) mechanisms: BTreeMap<PerformerId, Mechanism>,
    /// The same of joints of the world, by their index in it.
    pub(super) joint_mechanisms: BTreeMap<usize, Mechanism>,
    /// Commands for performers that hold until changed.
    pub(super) persistent_loads: BTreeMap<PerformerId, PersistentLoads>,
    /// The joints that hold attached links together.
    pub(super) attachments: BTreeMap<Pair, ImpulseJointHandle>,
    /// The bodies of actors that have collisions, by their indices in the world.
    pub(super) actors: BTreeMap<usize, RigidBodyHandle>,
    /// The elapsed time at which actors are where they are.
    pub(super) actor_time: SimTime,
    /// Copies of performers that other cells own.
    pub(super) ghosts: BTreeMap<PerformerId, Ghost>,
    /// Bodies that were put back to sleep and that rapier has yet to take out of a step.
    pub(super) dozing: Vec<RigidBodyHandle>,
}

/// A performer in a cell.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Performer {
    /// Its model's index in the world.
    pub(super) model: usize,
    /// Its bodies, in the order of the model's links.
    pub(super) links: Vec<RigidBodyHandle>,
}

impl Contents {
    /// Returns the mechanisms of performers, then those of joints of the world.
    pub(super) fn all_mechanisms(&self) -> impl Iterator<Item = &Mechanism> {
        self.mechanisms
            .values()
            .chain(self.joint_mechanisms.values())
    }
}

impl Cell {
    /// Makes an empty cell with the gravity of the world.
    pub fn new(world: Arc<World>) -> Self {
        let mut physics = PhysicsWorld {
            gravity: Vector::from_array(world.gravity),
            integration_parameters: IntegrationParameters {
                normalized_max_linear_velocity: f64::MAX,
                // Recycled contacts keep their points while bodies move by up to 5 cm: a resting
                // wheel then gains 0.05 m/s in every second from points that lag behind it.
                contact_recycling: false,
                ..IntegrationParameters::default()
            },
            ..PhysicsWorld::default()
        };
        let anchor = physics.insert_body(RigidBodyBuilder::fixed());
        // The first step of a rapier world finds its islands anew, and loses who came asleep.
        physics.step();
        let actors = actor::insert_all(&mut physics, &mut Shapes::default(), &world);
        let contents = Contents {
            anchor,
            statics: BTreeMap::new(),
            performers: BTreeMap::new(),
            mechanisms: BTreeMap::new(),
            joint_mechanisms: BTreeMap::new(),
            persistent_loads: BTreeMap::new(),
            attachments: BTreeMap::new(),
            actors: actors.into_iter().collect(),
            actor_time: SimTime(0),
            ghosts: BTreeMap::new(),
            dozing: Vec::new(),
        };
        Self::from_parts(world, physics, contents)
    }

    pub(super) fn from_parts(
        world: Arc<World>,
        mut physics: PhysicsWorld,
        mut contents: Contents,
    ) -> Self {
        // It is no part of a snapshot, so that a restored world needs it again.
        let contacts = FreshContacts.chain(DefaultQueryDispatcher);
        physics.narrow_phase.set_query_dispatcher(contacts);
        let solver = CellSolver::new(&world);
        physics.physics_pipeline.island_solver = Some(Box::new(solver.clone()));
        let mut shapes = Shapes::default();
        for ghost in contents.ghosts.values_mut() {
            ghost.find_shapes(&world, &mut shapes);
        }
        Self {
            wind: world.wind,
            world,
            physics,
            contents,
            shapes,
            solids: SolidsOfCell::default(),
            solver,
            has_new_joints: false,
            sleepers: Vec::new(),
            loads: Vec::new(),
            surfaces: Vec::new(),
            slips: Vec::new(),
        }
    }

    /// Takes the world away, so that it can grow where it is; [`Self::give_world`] brings it back.
    pub fn take_world(&mut self) {
        self.world = Arc::default();
    }

    /// Gives the cell its world, with all that is in the cell, and perhaps other models than
    /// before.
    pub fn give_world(&mut self, world: Arc<World>) {
        self.world = world;
    }

    /// Forgets the shapes of meshes, since others may come under their numbers.
    pub fn forget_meshes(&mut self) {
        self.shapes = Shapes::default();
    }

    /// Adds a model that never moves, by its index in the world.
    ///
    /// # Panics
    /// Panics if the world has no such model, or the cell has it already.
    pub fn insert_static(&mut self, model: usize) {
        let (physics, shapes) = (&mut self.physics, &mut self.shapes);
        let body = model::insert_static(physics, shapes, &self.world, model);
        let former = self.contents.statics.insert(model, body);
        assert!(
            former.is_none(),
            "static model {model} is inserted once before it is removed"
        );
        self.solids.statics_changed();
    }

    /// Removes a model that never moves, and wakes every performer, since any may have lain on it.
    ///
    /// # Panics
    /// Panics if the cell does not have it.
    pub fn remove_static(&mut self, model: usize) {
        let body = self
            .contents
            .statics
            .remove(&model)
            .expect("a static model is removed only after it was inserted");
        self.physics.remove_body(body);
        self.solids.statics_changed();
        self.wake_all();
    }

    /// Wakes every performer, since any may have lain on what is gone or be touched by what came,
    /// and rapier wakes nobody for what never moves by itself.
    pub(super) fn wake_all(&mut self) {
        let performers = self.contents.performers.values();
        for body in performers.flat_map(|performer| &performer.links) {
            self.physics.wake_up(*body, true);
        }
    }

    /// Tells whether it has a model that never moves.
    pub fn has_static(&self, model: usize) -> bool {
        self.contents.statics.contains_key(&model)
    }

    /// Adds a performer in the initial poses of its model, and the joints of the world between it
    /// and what is in the cell already; then puts its joints where they start.
    ///
    /// # Panics
    /// Panics if the world has no such model, or the cell has the performer already.
    pub fn insert_performer(&mut self, performer: PerformerId, model: usize) {
        let (physics, shapes, world) = (&mut self.physics, &mut self.shapes, &*self.world);
        let anchor = self.contents.anchor;
        let (links, mechanism) =
            model::insert_performer(physics, shapes, world, anchor, model, None);
        let former = self
            .contents
            .performers
            .insert(performer, Performer { model, links });
        assert!(
            former.is_none(),
            "performer {performer} is inserted into a cell once"
        );
        if !mechanism.is_empty() {
            self.has_new_joints = true;
            self.contents.mechanisms.insert(performer, mechanism);
        }
        self.has_new_joints |= world_joint::insert_of(physics, &mut self.contents, world, model);
        self.solids.movers_changed();
        self.start_joints(performer);
    }

    /// Advances by one step of the size given \[s\].
    ///
    /// # Panics
    /// Panics if the step size is no positive number.
    pub fn step(&mut self, step_size_s: f64) {
        assert!(
            step_size_s.is_finite() && step_size_s > 0.0,
            "a step advances time, and {step_size_s} s does not"
        );
        self.settle();
        self.physics.integration_parameters.dt = step_size_s;
        for mechanism in self.contents.all_mechanisms() {
            mechanism.wake(&mut self.physics);
        }
        let [steady, loads] = self.apply_loads();
        let surfaces = std::mem::take(&mut self.surfaces);
        let mechanisms = Mechanisms {
            of_performers: std::mem::take(&mut self.contents.mechanisms),
            of_joints: std::mem::take(&mut self.contents.joint_mechanisms),
        };
        let slips = std::mem::take(&mut self.slips);
        let world = Arc::clone(&self.world);
        self.solver.lend(world, mechanisms, (loads, slips));
        self.physics.step_with_events(&SurfaceHooks(&surfaces), &());
        let mechanisms = self.solver.take_back();
        self.contents.mechanisms = mechanisms.of_performers;
        self.contents.joint_mechanisms = mechanisms.of_joints;
        self.take_loads(&steady);
        self.wake_disturbed();
        self.solids.movers_changed();
        self.report_quarantined();
    }

    /// Tells whether a step would change nothing: everything sleeps, and nothing acts on it.
    pub fn is_idle(&self) -> bool {
        let contents = &self.contents;
        self.physics.islands.active_bodies().next().is_none()
            && !self.has_new_joints
            && self.sleepers.is_empty()
            && self.loads.is_empty()
            && self.surfaces.is_empty()
            && contents.persistent_loads.is_empty()
            && contents.actors.is_empty()
            && contents.dozing.is_empty()
    }

    /// Returns the performers in the order of their ids.
    pub fn performers(&self) -> impl Iterator<Item = PerformerId> {
        self.contents.performers.keys().copied()
    }

    /// Returns the performers with their models' indices in the world, in the order of their ids.
    pub fn performer_models(&self) -> impl Iterator<Item = (PerformerId, usize)> {
        let performers = self.contents.performers.iter();
        performers.map(|(id, performer)| (*id, performer.model))
    }

    /// Returns the models that never move, by their indices in the world, ascending.
    pub fn statics(&self) -> impl Iterator<Item = usize> {
        self.contents.statics.keys().copied()
    }

    /// Returns the rapier world, to be looked at or measured beside.
    pub fn rapier(&self) -> &PhysicsWorld {
        &self.physics
    }

    /// rapier stops and disables bodies whose numbers are no longer finite.
    fn report_quarantined(&self) {
        for handle in self.physics.quarantine().bodies() {
            let Some(body) = self.physics.bodies.get(*handle) else {
                continue;
            };
            let (model, link) = model::from_label(body.user_data);
            let model = self.world.models.get(model);
            let link = model.and_then(|model| model.links.get(link));
            tracing::error!(
                model = model.map(|model| &model.name),
                link = link.map(|link| &link.name),
                "link stopped for good: its pose or velocity was no longer finite"
            );
        }
    }
}
