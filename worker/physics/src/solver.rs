//! [`CellSolver`]: the solver of a cell, between rapier's contacts and its motion.
//!
//! rapier says which bodies are awake and where they touch; `dynamics` finds how they move; what
//! acted is noted in contacts and mechanisms.

mod contact;
mod forest;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dynamics::{Axis, Body, Lock, Parameters, Scene, Term, Terms, Tree};
use glam::{DMat3, DVec3};
use protocol::PerformerId;
use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};
use rapier3d_f64::island_solver::{IslandSolver, ManifoldId, Scene as RapierScene};
use rapier3d_f64::math::{Pose, Rotation, Vector};
use sdf::{Solver, World};

use self::forest::{Forest, frame_of, place};
use super::access::Load;
use super::mechanism::coordinate::{Twist, Twists};
use super::mechanism::{AxisPlace, Mechanism, Push};
use super::slip::LinkSlip;

/// The number of a body that is not in the scene.
const NOWHERE: u32 = u32::MAX;

/// The mechanisms of a cell, by performer and by joint of the world.
#[derive(Default)]
pub(super) struct Mechanisms {
    pub(super) of_performers: BTreeMap<PerformerId, Mechanism>,
    pub(super) of_joints: BTreeMap<usize, Mechanism>,
}

/// The number in the scene of each body, by its place in rapier's set.
#[derive(Default)]
struct BodyNumbers(Vec<u32>);

/// The state that a cell and its solver share.
#[derive(Default)]
struct Shared {
    mechanisms: Mechanisms,
    forest: Option<Forest>,
    parameters: Parameters,
    /// Forces that systems exert on links in this step.
    loads: Vec<Load>,
    /// Slip of links in this step.
    slips: Vec<LinkSlip>,
    /// The world, whose surfaces have friction, in a step.
    world: Arc<World>,
    #[cfg(test)]
    part_count: usize,
}

/// Buffers that each step of a cell fills again.
#[derive(Default)]
struct Buffers {
    scene: Scene,
    numbers: BodyNumbers,
    handles: Vec<RigidBodyHandle>,
    manifolds: Vec<ManifoldId>,
    /// The number of axes that mechanisms asked for; those of loops stand behind them.
    asked_count: usize,
    pushes: Vec<Push>,
}

thread_local! {
    /// Buffers of this thread, one for each step that it does at a time: it does parts of other
    /// cells while it waits for its own. Cells that follow each other find them in the caches of
    /// the processor.
    #[expect(clippy::vec_box, reason = "a step takes and gives back a pointer")]
    static BUFFERS: RefCell<Vec<Box<Buffers>>> = const { RefCell::new(Vec::new()) };
}

/// A step of a cell.
struct Solving<'a> {
    cell: &'a mut Shared,
    buffers: &'a mut Buffers,
}

/// The solver of a cell.
#[derive(Clone, Default)]
pub(super) struct CellSolver(Arc<Mutex<Shared>>);

impl CellSolver {
    /// Makes the solver of a cell of a world.
    pub(super) fn new(world: &World) -> Self {
        let solver = Self::default();
        solver.shared().parameters = match world.physics.solver {
            Solver::Exact => Parameters::default(),
            Solver::Fast => Parameters::fast(),
        };
        solver
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // Only one thread steps a cell; one that panicked ends the process.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns in how many parts the last step was solved.
    #[cfg(test)]
    pub(super) fn part_count(&self) -> usize {
        self.shared().part_count
    }

    /// Has the joints looked at anew before the next step.
    pub(super) fn joints_changed(&self) {
        self.shared().forest = None;
    }

    /// Lends the mechanisms of a world for a step, in which loads act and links slip.
    pub(super) fn lend(
        &self,
        world: Arc<World>,
        mechanisms: Mechanisms,
        (loads, slips): (Vec<Load>, Vec<LinkSlip>),
    ) {
        let mut shared = self.shared();
        shared.world = world;
        shared.mechanisms = mechanisms;
        shared.loads = loads;
        shared.slips = slips;
    }

    /// Takes the mechanisms back after a step.
    pub(super) fn take_back(&self) -> Mechanisms {
        let mut shared = self.shared();
        shared.loads.clear();
        shared.slips.clear();
        shared.world = Arc::default();
        std::mem::take(&mut shared.mechanisms)
    }
}

impl BodyNumbers {
    fn of(&self, handle: RigidBodyHandle) -> Option<usize> {
        let number = self.0.get(place(handle)).copied()?;
        (number != NOWHERE).then_some(number as usize)
    }

    fn terms(&self, twists: &[(RigidBodyHandle, Twist)]) -> Terms {
        let term = |(handle, twist): &(RigidBodyHandle, Twist)| {
            self.of(*handle).map(|body| Term {
                body,
                linear: twist.linear,
                angular: twist.angular,
            })
        };
        twists.iter().filter_map(term).collect()
    }
}

impl IslandSolver for CellSolver {
    fn solve(&mut self, rapier: &mut RapierScene<'_>) {
        let mut buffers = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        Solving {
            cell: &mut self.shared(),
            buffers: &mut buffers,
        }
        .solve(rapier);
        BUFFERS.with_borrow_mut(|all| all.push(buffers));
    }
}

impl Solving<'_> {
    fn solve(&mut self, rapier: &mut RapierScene<'_>) {
        self.gather_bodies(rapier);
        self.gather_trees(rapier);
        self.gather_contacts(rapier);
        self.gather_axes(rapier);
        self.control();
        let scene = &mut self.buffers.scene;
        scene.parameters = self.cell.parameters;
        scene.step(rapier.parameters.dt);
        #[cfg(test)]
        {
            self.cell.part_count = scene.part_count();
        }
        self.give_back(rapier);
    }

    fn gather_bodies(&mut self, rapier: &RapierScene<'_>) {
        let Buffers {
            scene,
            numbers: BodyNumbers(numbers),
            handles,
            ..
        } = &mut *self.buffers;
        handles.clear();
        handles.extend(rapier.awake());
        let most = handles.iter().map(|handle| place(*handle)).max();
        numbers.clear();
        numbers.resize(most.map_or(0, |most| most + 1), NOWHERE);
        scene.bodies.clear();
        for (number, handle) in handles.iter().enumerate() {
            numbers[place(*handle)] = number as u32;
            let body = &rapier.bodies()[*handle];
            scene.bodies.push(described(body, rapier.load(*handle)));
        }
    }

    /// Returns the number of a body in the scene.
    fn number(&self, handle: RigidBodyHandle) -> Option<usize> {
        self.buffers.numbers.of(handle)
    }

    fn gather_trees(&mut self, rapier: &RapierScene<'_>) {
        let (bodies, joints) = (rapier.bodies(), rapier.joints());
        let mechanisms = &self.cell.mechanisms;
        let all = mechanisms
            .of_performers
            .values()
            .chain(mechanisms.of_joints.values());
        let crosses = all.flat_map(|mechanism| &mechanism.crosses);
        let mut forest = self
            .cell
            .forest
            .take()
            .unwrap_or_else(|| Forest::new(bodies, joints, crosses));
        self.buffers.scene.trees.clear();
        for plan in &mut forest.trees {
            let mut numbers = plan.bodies.iter().map(|body| self.number((*body)?));
            plan.number = None;
            if !numbers.clone().any(|number| number.is_some()) {
                continue;
            }
            let mut tree = std::mem::take(&mut plan.tree);
            for link in 0..plan.bodies.len() {
                tree.set_body(link, numbers.next().flatten());
            }
            if let Some(base) = plan.base.and_then(|base| bodies.get(base)) {
                set_base(&mut tree, base);
            }
            plan.number = Some(self.buffers.scene.trees.len());
            self.buffers.scene.trees.push(tree);
        }
        self.cell.forest = Some(forest);
    }

    fn give_back_trees(&mut self) {
        let forest = self.cell.forest.as_mut().expect("trees were gathered");
        for plan in &mut forest.trees {
            if let Some(number) = plan.number {
                plan.tree = std::mem::take(&mut self.buffers.scene.trees[number]);
            }
        }
    }

    /// Asks mechanisms and loops what acts.
    fn gather_axes(&mut self, rapier: &RapierScene<'_>) {
        let bodies = rapier.bodies();
        let Self { cell, buffers } = self;
        let Shared {
            mechanisms, forest, ..
        } = &mut **cell;
        let Buffers {
            numbers,
            pushes,
            scene,
            ..
        } = &mut **buffers;
        pushes.clear();
        let forest = forest.as_ref().expect("trees are gathered before axes");
        let (axes, trees) = (&mut scene.axes, &scene.trees);
        axes.clear();
        let mut asked = |axis: Axis, twists: &Twists, place: AxisPlace| {
            axes.push(Axis {
                terms: numbers.terms(twists),
                joint: place.and_then(|place| forest.axis(place, trees)),
                ..axis
            });
        };
        let Mechanisms {
            of_performers,
            of_joints,
        } = mechanisms;
        for mechanism in of_performers.values_mut().chain(of_joints.values_mut()) {
            mechanism.ask(bodies, &mut asked, pushes);
        }
        self.buffers.asked_count = self.buffers.scene.axes.len();
        self.hold_loops(rapier);
    }

    /// Adds the forces that systems exert in this step alone.
    fn control(&mut self) {
        for load in std::mem::take(&mut self.cell.loads) {
            if let Some(number) = self.number(load.body) {
                let body = &mut self.buffers.scene.bodies[number];
                body.control_force += load.force;
                body.control_torque += load.torque;
            }
        }
        for push in std::mem::take(&mut self.buffers.pushes) {
            for term in self.buffers.numbers.terms(&push.twists) {
                let body = &mut self.buffers.scene.bodies[term.body];
                body.control_force += term.linear * push.force;
                body.control_torque += term.angular * push.force;
            }
        }
    }

    fn give_back(&mut self, rapier: &mut RapierScene<'_>) {
        let time_s = rapier.parameters.dt;
        for (number, handle) in self.buffers.handles.iter().enumerate() {
            let body = &self.buffers.scene.bodies[number];
            let pose = Pose::from_parts(body.frame.position, body.frame.rotation);
            let is_free = self.buffers.scene.is_free(number);
            rapier.set_motion(*handle, [body.linear, body.angular], pose, is_free);
        }
        self.give_back_contacts(rapier);
        let mut axes = self.buffers.scene.axes.iter();
        let Mechanisms {
            of_performers,
            of_joints,
        } = &mut self.cell.mechanisms;
        for mechanism in of_performers.values_mut().chain(of_joints.values_mut()) {
            mechanism.answer(rapier.bodies(), &mut axes, time_s);
        }
        self.give_back_loops(rapier);
        self.give_back_trees();
    }
}

/// Describes a body to the solver.
fn described(body: &RigidBody, [force, torque]: [Vector; 2]) -> Body {
    let properties = body.mass_properties();
    let local = &properties.local_mprops;
    let is_dynamic = body.is_dynamic() && local.inv_mass > 0.0;
    let (inertia, inverse) = if is_dynamic {
        let inverse_moments = local.inv_principal_inertia;
        let moments = inverse_moments
            .to_array()
            .map(|inverse| if inverse > 0.0 { 1.0 / inverse } else { 0.0 });
        let both = [DVec3::from_array(moments), inverse_moments].map(DMat3::from_diagonal);
        let frame = local.principal_inertia_local_frame;
        let [inertia, inverse] = if frame == Rotation::IDENTITY {
            both
        } else {
            let axes = DMat3::from_quat(frame);
            both.map(|moments| axes * moments * axes.transpose())
        };
        (inertia, inverse)
    } else {
        (DMat3::ZERO, DMat3::ZERO)
    };
    let moments = local.inv_principal_inertia;
    Body {
        frame: frame_of(body.position()),
        local_center: local.local_com,
        linear: body.linvel(),
        angular: body.angvel(),
        mass: if is_dynamic {
            1.0 / local.inv_mass
        } else {
            0.0
        },
        inertia,
        inverse_inertia: inverse,
        force,
        torque,
        control_force: DVec3::ZERO,
        control_torque: DVec3::ZERO,
        is_isotropic: moments.x == moments.y && moments.y == moments.z,
    }
}

fn set_base(tree: &mut Tree, base: &RigidBody) {
    let arm = base.position().translation - base.center_of_mass();
    let linear = base.linvel() + base.angvel().cross(arm);
    tree.set_base(frame_of(base.position()), linear, base.angvel());
}

/// Returns the bodies of a rapier joint.
fn ends(joint: &rapier3d_f64::dynamics::ImpulseJoint) -> [RigidBodyHandle; 2] {
    [joint.body1(), joint.body2()]
}

/// Tells whether one of two bodies is awake.
fn is_any_awake(bodies: &RigidBodySet, ends: [RigidBodyHandle; 2]) -> bool {
    ends.iter().any(|end| {
        let body = bodies.get(*end);
        body.is_some_and(|body| body.is_dynamic() && !body.is_sleeping())
    })
}

impl Solving<'_> {
    /// Holds the locked axes of joints that close loops.
    fn hold_loops(&mut self, rapier: &RapierScene<'_>) {
        let (bodies, joints) = (rapier.bodies(), rapier.joints());
        let forest = self
            .cell
            .forest
            .as_ref()
            .expect("trees are gathered before axes");
        for handle in forest.loops.clone() {
            let Some(joint) = joints.get(handle) else {
                continue;
            };
            if !is_any_awake(bodies, ends(joint)) {
                continue;
            }
            for number in locked(joint) {
                let frames = [joint.data.local_frame1, joint.data.local_frame2];
                let lock = Lock {
                    bodies: ends(joint).map(|body| self.number(body)),
                    frames: [0, 1].map(|side| {
                        let frame = frame_of(&frames[side]);
                        let body = ends(joint)[side];
                        match self.number(body) {
                            Some(_) => frame,
                            None => frame_of(bodies[body].position()).then(&frame),
                        }
                    }),
                    number,
                };
                let mut axis = Axis::locked(lock, &self.buffers.scene.bodies);
                axis.impulses[Axis::HOLD] = joint.impulses[number];
                self.buffers.scene.axes.push(axis);
            }
        }
    }

    /// Notes what held loops together.
    fn give_back_loops(&mut self, rapier: &mut RapierScene<'_>) {
        let forest = self.cell.forest.as_ref().expect("trees were gathered");
        if forest.loops.is_empty() {
            return;
        }
        let mut axes = self.buffers.scene.axes[self.buffers.asked_count..].iter();
        for handle in &forest.loops {
            let Some(joint) = rapier.joints().get(*handle) else {
                continue;
            };
            if !is_any_awake(rapier.bodies(), ends(joint)) {
                continue;
            }
            let mut impulses = [0.0; 6];
            for number in locked(joint) {
                let held = axes.next().expect("each locked axis was held");
                impulses[number] = held.impulses[Axis::HOLD];
            }
            rapier.update_joint(*handle, |joint| joint.impulses = impulses);
        }
    }
}

/// Returns the numbers of the locked axes of a joint: those of sliding, then those of turning.
fn locked(joint: &rapier3d_f64::dynamics::ImpulseJoint) -> impl Iterator<Item = usize> {
    let bits = joint.data.locked_axes.bits();
    (0..6).filter(move |number| bits & 1 << number != 0)
}
