//! [`IslandSolver`]: a solver that takes the place of rapier's own, between its contacts and its
//! motion.
//!
//! rapier finds contacts, wakes bodies and puts them to sleep, sweeps what is fast, and moves
//! colliders; the solver in between decides velocities and poses.

use crate::dynamics::solver::manifold_store::ManifoldStore;
use crate::dynamics::solver::solver_contact_graph::{ContactRef, SolverContactGraph};
use crate::dynamics::{
    ImpulseJoint, ImpulseJointHandle, ImpulseJointSet, IntegrationParameters, IslandManager, RigidBody,
    RigidBodyHandle, RigidBodySet, RigidBodyType, RigidBodyVelocity,
};
use crate::geometry::ContactManifold;
use crate::math::{Pose, Vector};

/// Decides velocities and poses of the awake bodies at the end of a step.
pub trait IslandSolver: Send + Sync {
    /// Solves one step. Whatever is not set goes on resting where it is.
    fn solve(&mut self, scene: &mut Scene<'_>);
}

/// Everything that a solver may read and set in a step.
pub struct Scene<'a> {
    /// The parameters of the step; `dt` is its length \[s\].
    pub parameters: &'a IntegrationParameters,
    /// All bodies.
    bodies: &'a mut RigidBodySet,
    islands: &'a IslandManager,
    contacts: &'a SolverContactGraph,
    store: &'a ManifoldStore<'a>,
    joints: &'a mut ImpulseJointSet,
    any_fast: bool,
}

/// Names a manifold for one step.
#[derive(Clone, Copy, Debug)]
pub struct ManifoldId(ContactRef);

impl Scene<'_> {
    /// Returns all bodies.
    pub fn bodies(&self) -> &RigidBodySet {
        self.bodies
    }

    /// Returns all joints.
    pub fn joints(&self) -> &ImpulseJointSet {
        self.joints
    }

    /// Returns the bodies that are awake, dynamic and kinematic, in an order that is the same
    /// wherever the same was done to the world.
    pub fn awake(&self) -> impl Iterator<Item = RigidBodyHandle> + '_ {
        self.islands.active_bodies()
    }

    /// Returns force \[N\] and torque \[N m\] on a body, gravity included, world frame.
    pub fn load(&self, body: RigidBodyHandle) -> [Vector; 2] {
        let body = &self.bodies[body];
        [body.forces.force, body.forces.torque]
    }

    /// Calls a function with each manifold that has contacts with an awake dynamic body, in an
    /// order that is the same wherever the same was done to the world.
    pub fn for_each_manifold(&self, mut visit: impl FnMut(ManifoldId, &ContactManifold)) {
        let generic = self.contacts.generic();
        let buckets = self
            .contacts
            .buckets()
            .map(|(_, refs)| refs)
            .chain([generic]);
        for contact in buckets.flatten() {
            visit(ManifoldId(*contact), self.store.get(*contact));
        }
    }

    /// Calls a function with a manifold, to note the impulses in it.
    pub fn update_manifold(&mut self, id: ManifoldId, update: impl FnOnce(&mut ContactManifold)) {
        // SAFETY: the store was made of an exclusive borrow of the contact graph, which nothing
        // changes during the step, and `&mut self` keeps this reference the only one.
        update(unsafe { self.store.get_mut(id.0) });
    }

    /// Calls a function with a joint, to note the impulses in it.
    pub fn update_joint(
        &mut self,
        handle: ImpulseJointHandle,
        update: impl FnOnce(&mut ImpulseJoint),
    ) {
        if let Some(joint) = self.joints.get_mut(handle, false) {
            update(joint);
        }
    }

    /// Sets the velocity of the centre of mass \[m/s\], the angular velocity \[rad/s\] and the pose
    /// of a body at the end of the step, world frame. The damping of the body lessens the
    /// velocities, as in the solver of rapier.
    pub fn set_motion(&mut self, handle: RigidBodyHandle, velocity: [Vector; 2], pose: Pose) {
        let parameters = self.parameters;
        let body: &mut RigidBody = self.bodies.index_mut_internal(handle);
        let [linvel, angvel] = velocity;
        body.vels =
            RigidBodyVelocity { linvel, angvel }.apply_damping(parameters.dt, &body.damping);
        if body.body_type != RigidBodyType::KinematicPositionBased {
            body.pos.next_position = pose;
        }
        if parameters.max_ccd_substeps == 0 || !body.is_dynamic() {
            body.ccd_vels = RigidBodyVelocity::zero();
            return;
        }
        let inv_dt = parameters.inv_dt();
        body.ccd_vels = body
            .pos
            .interpolate_velocity(inv_dt, body.local_center_of_mass());
        let is_fast = body.ccd.is_moving_fast_with_next_position(
            parameters.dt,
            &body.ccd_vels,
            &body.pos,
            body.mprops.local_mprops.local_com,
            body.mprops.max_extent(),
        );
        body.ccd.ccd_active = is_fast;
        self.any_fast |= is_fast;
    }
}

/// Runs a solver, and returns whether a body is fast enough to be swept.
pub(crate) fn solve(
    solver: &mut dyn IslandSolver,
    parameters: &IntegrationParameters,
    islands: &IslandManager,
    bodies: &mut RigidBodySet,
    contacts: &SolverContactGraph,
    store: &ManifoldStore<'_>,
    joints: &mut ImpulseJointSet,
) -> bool {
    let mut scene = Scene {
        parameters,
        bodies,
        islands,
        contacts,
        store,
        joints,
        any_fast: false,
    };
    solver.solve(&mut scene);
    scene.any_fast
}
