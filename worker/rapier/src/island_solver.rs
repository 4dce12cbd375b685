//! [`IslandSolver`]: a solver that takes the place of rapier's own, between its contacts and its
//! motion.
//!
//! rapier finds contacts, wakes bodies and puts them to sleep, sweeps what is fast, and moves
//! colliders; the solver in between decides velocities and poses.

use crate::dynamics::solver::manifold_store::ManifoldStore;
use crate::dynamics::solver::solver_contact_graph::{ContactRef, SolverContactGraph};
use crate::dynamics::{
    ImpulseJoint, ImpulseJointHandle, ImpulseJointSet, IntegrationParameters, IslandManager,
    RigidBody, RigidBodyCcd, RigidBodyHandle, RigidBodySet, RigidBodyType, RigidBodyVelocity,
};
use crate::geometry::manifold_reduction::reduce_manifold_naive;
use crate::geometry::{ColliderHandle, ColliderSet, ContactManifold};
use crate::math::{Pose, Real, Vector};
use crate::parry::shape::PackedFeatureId;

/// Bit of the number of a vertex. All contacts of such vertices go to the solver, where a manifold
/// has no other ones; of others, rapier chooses four.
pub const KEPT_VERTEX: u32 = 1 << 29;

/// The most contacts of a manifold that go to the solver.
pub(crate) const POINTS_MAX: usize = 14;

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
    colliders: &'a ColliderSet,
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

    /// Returns all colliders.
    pub fn colliders(&self) -> &ColliderSet {
        self.colliders
    }

    /// Calls a function with each manifold that has contacts with an awake dynamic body, and with
    /// its colliders, in the order of these: that of the contact graph depends on when the broad
    /// phase improved its tree.
    pub fn for_each_manifold(
        &self,
        mut visit: impl FnMut(ManifoldId, [ColliderHandle; 2], &ContactManifold),
    ) {
        let generic = self.contacts.generic();
        let buckets = self.contacts.buckets().map(|(_, refs)| refs);
        let all = buckets.chain([generic]).flatten();
        let mut all: Vec<([ColliderHandle; 2], ContactRef)> = all
            .map(|contact| (self.colliders_of(*contact), *contact))
            .collect();
        let place = |handle: ColliderHandle| handle.into_raw_parts().0;
        all.sort_unstable_by_key(|(colliders, contact)| {
            (place(colliders[0]), place(colliders[1]), contact.manifold)
        });
        for (colliders, contact) in all {
            visit(ManifoldId(contact), colliders, self.store.get(contact));
        }
    }

    fn colliders_of(&self, contact: ContactRef) -> [ColliderHandle; 2] {
        // SAFETY: the contact is one of the graph that the store was made of, and nothing writes to
        // the pair, but for its manifolds, during the step.
        let pair = unsafe { &*self.store.pair_ptr(contact.edge) };
        [pair.collider1, pair.collider2]
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
    /// velocities, as in the solver of rapier. A free body does not fall asleep, however slow it
    /// is.
    pub fn set_motion(
        &mut self,
        handle: RigidBodyHandle,
        velocity: [Vector; 2],
        pose: Pose,
        is_free: bool,
    ) {
        let parameters = self.parameters;
        let body: &mut RigidBody = self.bodies.index_mut_internal(handle);
        let [linvel, angvel] = velocity;
        if is_free {
            body.activation.time_since_can_sleep = 0.0;
        }
        body.vels =
            RigidBodyVelocity { linvel, angvel }.apply_damping(parameters.dt, &body.damping);
        if body.body_type != RigidBodyType::KinematicPositionBased {
            body.pos.next_position = pose;
        }
        if parameters.max_ccd_substeps == 0 || !body.is_dynamic() {
            body.ccd_vels = RigidBodyVelocity::zero();
            return;
        }
        if is_surely_slow(body) {
            body.ccd_vels = RigidBodyVelocity::zero();
            body.ccd.ccd_active = false;
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

/// Tells whether a body moves so little in a step that it is not fast by far, which is found
/// without the angle that it turns by. In a step of one part, which those of cells are, only of
/// fast bodies the velocities between both poses are asked for.
fn is_surely_slow(body: &RigidBody) -> bool {
    let (now, next) = (&body.pos.position, &body.pos.next_position);
    let center = body.mprops.local_mprops.local_com;
    let way = *next * center - *now * center;
    let turn = next.rotation * now.rotation.inverse();
    // An angle is at most pi times the sine of its half, up to half a turn.
    let most = way.length() + 4.0 * turn.xyz().length() * body.mprops.max_extent();
    let threshold = RigidBodyCcd::FAST_BODY_SAFETY_FACTOR * body.ccd.ccd_thickness;
    turn.w > 0.0 && most * 1.01 < threshold
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
    colliders: &ColliderSet,
) -> bool {
    let mut scene = Scene {
        parameters,
        bodies,
        islands,
        contacts,
        store,
        joints,
        colliders,
        any_fast: false,
    };
    solver.solve(&mut scene);
    scene.any_fast
}

/// Chooses the contacts of a manifold that go to the solver.
pub(crate) fn select(
    manifold: &ContactManifold,
    selected: &mut [usize; POINTS_MAX],
    count: &mut usize,
    prediction_distance: Real,
) {
    let is_kept = |id: PackedFeatureId| id.is_vertex() && id.0 & KEPT_VERTEX != 0;
    let mut points = manifold.points.iter();
    let all_are_kept = points.all(|point| is_kept(point.fid1) || is_kept(point.fid2));
    if all_are_kept && manifold.points.len() <= POINTS_MAX {
        *count = manifold.points.len();
        return;
    }
    let [first, second, third, fourth, ..] = *selected;
    let mut four = [first, second, third, fourth];
    *count = four.len().min(manifold.points.len());
    reduce_manifold_naive(manifold, &mut four, count, prediction_distance);
    selected[..four.len()].copy_from_slice(&four);
}
