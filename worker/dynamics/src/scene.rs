//! [`Scene`]: one step of everything that is awake.
//!
//! A step is cut into substeps. In each, loads speed everything up, impulses are found with a bias
//! that closes gaps and parts what overlaps, positions advance, and the impulses are found once
//! more without the bias, so that no correction of a position is left as a velocity (Macklin et
//! al., *Small Steps in Physics Simulation*, 2019). What nothing touches flies the whole step at
//! once, by a method of fourth order.

mod assembly;

use glam::DVec3;

use crate::axis::{Axis, Role};
use crate::body::Body;
use crate::contact::Contact;
use crate::flight::{Servo, Workspace};
use crate::mover::{Store, Velocities};
use crate::sweep::{Point, Row, solve_manifold};
use crate::tree::{Position, Tree};

/// Limits of the effort of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Substeps of a step.
    pub substeps: usize,
    /// How many rows and points may be solved for an island in a substep, with the bias and
    /// without: small islands are swept more often than large ones.
    pub effort: [usize; 2],
    /// The change of a rate below which sweeps end \[m/s or rad/s\].
    pub tolerance: f64,
    /// The time in which an error of position decays to its third \[s\].
    pub correction_s: f64,
    /// The greatest speed at which overlaps part \[m/s\].
    pub correction_speed: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            substeps: 4,
            effort: [1000, 500],
            tolerance: 1e-6,
            correction_s: 8e-3,
            correction_speed: 1.0,
        }
    }
}

/// The part of its force from which on a servo counts as giving all of it.
const NEARLY_ALL: f64 = 0.999;

/// The force from which on a servo has no limit \[N or N m\].
const FORCE_UNLIMITED: f64 = 1e15;

/// The least and the most sweeps over an island, unless nothing in it changes much before.
const SWEEPS_MIN: usize = 3;
const SWEEPS_MAX: usize = 40;

/// One step of everything that is awake.
#[derive(Debug, Default)]
pub struct Scene {
    /// Limits of the effort.
    pub parameters: Parameters,
    /// All bodies that move, those of trees too.
    pub bodies: Vec<Body>,
    /// Links that joints hold together.
    pub trees: Vec<Tree>,
    /// Points where bodies touch.
    pub contacts: Vec<Contact>,
    /// Axes along which something acts.
    pub axes: Vec<Axis>,
    work: Work,
}

/// Buffers that each step fills again.
#[derive(Debug, Default)]
struct Work {
    /// The tree and the link of each body.
    link_of: Vec<Option<(usize, usize)>>,
    spaces: Vec<Workspace>,
    /// Offset of the coordinates of each tree.
    offsets: Vec<usize>,
    /// Whether rows act on a body of its own, or on a tree.
    held_bodies: Vec<bool>,
    held_trees: Vec<bool>,
    velocities: Velocities,
    store: Store,
    rows: Vec<Row>,
    points: Vec<Point>,
    islands: Vec<Island>,
    /// The way of each axis in this step \[m or rad\].
    moved: Vec<f64>,
    /// The first row of each axis, whose rate is that of all.
    leads: Vec<Option<usize>>,
    /// Whether the servo of each axis gives all its force instead of keeping its rate.
    is_weak: Vec<bool>,
    /// For each body, then each tree, another one of its island, or itself.
    nodes: Vec<u32>,
}

/// The state that a substep changes, to do it once more.
struct State {
    bodies: Vec<Body>,
    trees: Vec<(Vec<Position>, Vec<f64>)>,
    points: Vec<Point>,
    rows: Vec<Row>,
    moved: Vec<f64>,
}

impl Work {
    /// Tells whether a servo that keeps its rate may be too weak for it.
    fn has_weak_servos(&self, axes: &[Axis]) -> bool {
        let servos = self.spaces.iter().flat_map(|space| &space.servos);
        let mut forces = servos.filter_map(|servo| axes[servo.number].servo);
        forces.any(|[_, force]| force < FORCE_UNLIMITED)
    }
}

/// Rows and points that are solved together.
#[derive(Clone, Copy, Debug, Default)]
struct Island {
    rows: [usize; 2],
    points: [usize; 2],
}

impl Scene {
    /// Advances everything by a time \[s\].
    pub fn step(&mut self, time_s: f64) {
        self.find_links();
        self.hold();
        self.control(time_s);
        self.begin();
        self.fly(time_s);
        if self.work.held_bodies.contains(&true) || self.work.held_trees.contains(&true) {
            self.assemble();
            let count = self.parameters.substeps;
            for number in 0..count {
                self.substep(time_s / count as f64, number);
            }
            self.bounce();
            self.write_back();
        }
        for (tree, space) in self.trees.iter().zip(&mut self.work.spaces) {
            space.give(tree, &mut self.bodies);
        }
    }

    /// Tells whether nothing touches a body and joints hold it to nothing that never moves, after a
    /// step.
    pub fn is_free(&self, body: usize) -> bool {
        match self.work.link_of[body] {
            Some((tree, _)) => {
                let root = self.trees[tree].links.first();
                let floats = root.is_some_and(|root| root.kind == crate::tree::JointKind::Free);
                floats && !self.work.held_trees[tree]
            }
            None => !self.work.held_bodies[body],
        }
    }

    fn find_links(&mut self) {
        let link_of = &mut self.work.link_of;
        link_of.clear();
        link_of.resize(self.bodies.len(), None);
        for (number, tree) in self.trees.iter().enumerate() {
            for (link, described) in tree.links.iter().enumerate() {
                if let Some(body) = described.body {
                    link_of[body] = Some((number, link));
                }
            }
        }
    }

    /// Lets the forces of controllers act. Where nothing touches, they and all others act at the
    /// begin of the step (the semi-implicit method of Euler), so that a force that follows a
    /// position feeds no energy into what it moves; where something does, all along it, so that
    /// contacts press evenly.
    fn control(&mut self, time_s: f64) {
        if !self.bodies.iter().any(Body::is_controlled) {
            return;
        }
        let Self {
            bodies,
            trees,
            contacts,
            work,
            ..
        } = self;
        let count = bodies.len();
        let mover = |body: usize| work.link_of[body].map_or(body, |(tree, _)| count + tree);
        let mut touches = vec![false; count + trees.len()];
        let mut controlled = vec![false; count + trees.len()];
        let touching = contacts.iter().flat_map(|contact| contact.bodies);
        for body in touching.flatten() {
            touches[mover(body)] = true;
        }
        for (number, body) in bodies.iter().enumerate() {
            controlled[mover(number)] |= body.is_controlled();
        }
        for (number, body) in bodies.iter_mut().enumerate() {
            let mover = mover(number);
            if controlled[mover] && touches[mover] {
                body.spread();
            } else if controlled[mover] {
                body.kick(time_s);
            }
        }
    }

    fn begin(&mut self) {
        let work = &mut self.work;
        work.spaces
            .resize_with(self.trees.len(), Workspace::default);
        work.offsets.clear();
        let mut offset = 0;
        for (number, tree) in self.trees.iter_mut().enumerate() {
            work.offsets.push(offset);
            offset += tree.freedom();
            work.spaces[number].take(tree, &self.bodies);
            work.spaces[number].joined.clear();
            work.spaces[number].servos.clear();
        }
        work.velocities.white.clear();
        work.velocities.white.resize(offset, 0.0);
        for axis in &self.axes {
            let Some((tree, link, sense)) = axis.joint else {
                continue;
            };
            let spring = axis.spring;
            if let Some(at) = self.trees[tree].axis_of(link)
                && (spring.stiffness > 0.0 || spring.damping > 0.0)
            {
                let value = self.trees[tree].positions[link].value;
                work.spaces[tree].joined.push(crate::flight::Joined {
                    axis: at,
                    stiffness: spring.stiffness,
                    damping: spring.damping,
                    reference: value + sense * (spring.reference - axis.position),
                });
            }
        }
    }

    /// Finds which bodies and trees rows act on.
    fn hold(&mut self) {
        let Self {
            contacts,
            axes,
            work,
            ..
        } = self;
        work.held_bodies.clear();
        work.held_bodies.resize(self.bodies.len(), false);
        work.held_trees.clear();
        work.held_trees.resize(self.trees.len(), false);
        let mut touch = |body: usize| match work.link_of[body] {
            Some((tree, _)) => work.held_trees[tree] = true,
            None => work.held_bodies[body] = true,
        };
        for contact in contacts.iter() {
            contact
                .bodies
                .iter()
                .flatten()
                .for_each(|body| touch(*body));
        }
        for axis in axes.iter() {
            let is_loose = axis.joint.is_none();
            let acts = axis.always_acts()
                || axis.stop.is_some()
                || is_loose && (!axis.bounds.is_none() || axis.spring.stiffness > 0.0)
                || is_loose && axis.spring.damping > 0.0;
            if acts {
                axis.terms.iter().for_each(|term| touch(term.body));
            }
        }
    }

    /// Flies what nothing acts on. A tree that would leave the bounds of an axis stays behind.
    fn fly(&mut self, time_s: f64) {
        let work = &mut self.work;
        for (number, body) in self.bodies.iter_mut().enumerate() {
            if work.link_of[number].is_none() && !work.held_bodies[number] {
                let steps = (body.angular.length() * time_s / 0.1)
                    .ceil()
                    .clamp(1.0, 64.0);
                for _ in 0..steps as usize {
                    body.fly(time_s / steps);
                }
            }
        }
        for (number, tree) in self.trees.iter_mut().enumerate() {
            let space = &mut work.spaces[number];
            if work.held_trees[number] || space.is_stiff(time_s) {
                work.held_trees[number] = true;
                continue;
            }
            let before: (Vec<Position>, Vec<f64>) = (tree.positions.clone(), tree.rates.clone());
            space.fly(tree, &self.bodies, time_s);
            let leaves = self.axes.iter().any(|axis| {
                let Some((_, link, sense)) = axis.joint.filter(|(of, ..)| *of == number) else {
                    return false;
                };
                let Some(at) = tree.axis_of(link) else {
                    return false;
                };
                let way = tree.positions[link].value - before.0[link].value;
                axis.is_beyond(axis.position + sense * way, sense * tree.rates[at])
            });
            if leaves {
                (tree.positions, tree.rates) = before;
                work.held_trees[number] = true;
            }
        }
    }

    /// Does a substep; once more when a servo would need more force than it has, which then gives
    /// all that it has instead of keeping its rate.
    fn substep(&mut self, time_s: f64, number: usize) {
        self.engage(time_s, number);
        let before = self.work.has_weak_servos(&self.axes).then(|| self.state());
        self.do_substep(time_s, number);
        if let Some(before) = before
            && self.overload(time_s)
        {
            self.set_state(before);
            self.do_substep(time_s, number);
        }
        self.keep();
    }

    fn do_substep(&mut self, time_s: f64, number: usize) {
        self.accelerate(time_s);
        self.prepare(time_s, number);
        self.sweep(true);
        self.advance(time_s);
        self.relax(time_s);
        self.sweep(false);
        self.take_rates();
    }

    /// Lets the servos that are strong enough keep their rates.
    fn engage(&mut self, time_s: f64, number: usize) {
        let work = &mut self.work;
        if number == 0 {
            work.is_weak.clear();
            work.is_weak.extend(self.axes.iter().map(|axis| {
                let [_, force] = axis.servo.unwrap_or_default();
                axis.impulses[Axis::SERVO].abs() >= NEARLY_ALL * force * time_s
            }));
        }
        for space in &mut work.spaces {
            space.servos.clear();
        }
        for (number, axis) in self.axes.iter().enumerate() {
            if let (Some((tree, link, sense)), Some([rate, _])) = (axis.joint, axis.servo)
                && let Some(at) = self.trees[tree].axis_of(link)
                && !work.is_weak[number]
            {
                let servo = Servo::new(at, number, sense * rate);
                work.spaces[tree].servos.push(servo);
            }
        }
    }

    /// Finds the servos that needed more force than they have, and lets them go; returns whether
    /// there are any.
    fn overload(&mut self, time_s: f64) -> bool {
        let work = &mut self.work;
        let mut any = false;
        for (number, space) in work.spaces.iter_mut().enumerate() {
            let rates = &self.trees[number].rates;
            let axes = &self.axes;
            let is_weak = &mut work.is_weak;
            space.servos.retain(|servo| {
                let [_, force] = axes[servo.number].servo.unwrap_or_default();
                let is_strong = servo.impulse(rates).abs() <= force * time_s;
                is_weak[servo.number] |= !is_strong;
                any |= !is_strong;
                is_strong
            });
        }
        any
    }

    fn state(&self) -> State {
        State {
            bodies: self.bodies.clone(),
            trees: self
                .trees
                .iter()
                .map(|tree| (tree.positions.clone(), tree.rates.clone()))
                .collect(),
            points: self.work.points.clone(),
            rows: self.work.rows.clone(),
            moved: self.work.moved.clone(),
        }
    }

    fn set_state(&mut self, state: State) {
        self.bodies = state.bodies;
        for (tree, (positions, rates)) in self.trees.iter_mut().zip(state.trees) {
            (tree.positions, tree.rates) = (positions, rates);
        }
        self.work.points = state.points;
        self.work.rows = state.rows;
        self.work.moved = state.moved;
    }

    /// Speeds up everything that is held by its load.
    fn accelerate(&mut self, time_s: f64) {
        let work = &mut self.work;
        let held = &work.held_bodies;
        for (body, _) in self.bodies.iter_mut().zip(held).filter(|(_, held)| **held) {
            body.accelerate(time_s);
        }
        work.velocities.bodies.clear();
        let motion = |body: &Body| [body.linear, body.angular];
        work.velocities
            .bodies
            .extend(self.bodies.iter().map(motion));
        // What never moves is one more body.
        work.velocities.bodies.push([DVec3::ZERO; 2]);
        for (number, tree) in self.trees.iter_mut().enumerate() {
            if work.held_trees[number] {
                let space = &mut work.spaces[number];
                space.accelerate(tree, &self.bodies, time_s);
                let offset = work.offsets[number];
                let white = &mut work.velocities.white[offset..offset + tree.freedom()];
                space.factor.whiten(tree, &tree.rates, white);
            }
        }
    }

    /// Sweeps over each island until nothing in it changes much.
    fn sweep(&mut self, is_biased: bool) {
        let Work {
            islands,
            rows,
            points,
            velocities,
            store,
            ..
        } = &mut self.work;
        let tolerance = self.parameters.tolerance;
        for island in islands.iter() {
            let rows = &mut rows[island.rows[0]..island.rows[1]];
            let points = &mut points[island.points[0]..island.points[1]];
            let share = self.parameters.effort[usize::from(!is_biased)];
            let most = (share / (rows.len() + points.len())).clamp(SWEEPS_MIN, SWEEPS_MAX);
            for turn in 0..most {
                let mut change = 0.0;
                for row in rows.iter_mut() {
                    change = f64::max(change, row.solve(velocities, store));
                }
                let forth = points.chunk_by_mut(|one, next| one.manifold == next.manifold);
                let mut solve = |manifold: &mut [Point]| {
                    let most = solve_manifold(manifold, tolerance, velocities, store);
                    change = f64::max(change, most);
                };
                if turn % 2 == 0 {
                    forth.for_each(&mut solve);
                } else {
                    forth.rev().for_each(&mut solve);
                }
                if change < tolerance {
                    break;
                }
            }
        }
    }

    /// Moves everything that is held at its velocities.
    fn advance(&mut self, time_s: f64) {
        let work = &mut self.work;
        // By the rate, and not by points of the bodies, which a wheel would carry up as it rolls.
        for point in &mut work.points {
            point.gap += point.approach_rate(&work.velocities, &work.store) * time_s;
        }
        for (moved, lead) in work.moved.iter_mut().zip(&work.leads) {
            if let Some(row) = lead {
                *moved += work.rows[*row].rate(&work.velocities, &work.store) * time_s;
            }
        }
        for (number, body) in self.bodies.iter_mut().enumerate() {
            if work.held_bodies[number] {
                [body.linear, body.angular] = work.velocities.bodies[number];
                body.advance(time_s);
                work.velocities.bodies[number] = [body.linear, body.angular];
            }
        }
        for (number, tree) in self.trees.iter_mut().enumerate() {
            if work.held_trees[number] {
                let offset = work.offsets[number];
                let white = &work.velocities.white[offset..offset + tree.freedom()];
                let space = &mut work.spaces[number];
                let mut rates = std::mem::take(&mut tree.rates);
                space.factor.colour(tree, white, &mut rates);
                tree.rates = rates;
                space.advance(tree, time_s);
                space.kinematics.place(tree, &self.bodies);
                for (link, described) in tree.links.iter().enumerate() {
                    if let Some(body) = described.body {
                        self.bodies[body].frame = space.kinematics.frames[link];
                    }
                }
            }
        }
    }

    /// Takes over the velocities after the last sweep.
    fn take_rates(&mut self) {
        let work = &mut self.work;
        for (number, body) in self.bodies.iter_mut().enumerate() {
            if work.held_bodies[number] {
                [body.linear, body.angular] = work.velocities.bodies[number];
            }
        }
        for (number, tree) in self.trees.iter_mut().enumerate() {
            if work.held_trees[number] {
                let offset = work.offsets[number];
                let white = &work.velocities.white[offset..offset + tree.freedom()];
                let mut rates = std::mem::take(&mut tree.rates);
                work.spaces[number].factor.colour(tree, white, &mut rates);
                tree.rates = rates;
            }
        }
    }

    /// Adds up what acted.
    fn keep(&mut self) {
        let work = &mut self.work;
        for (tree, space) in self.trees.iter().zip(&work.spaces) {
            for servo in &space.servos {
                let sense = self.axes[servo.number]
                    .joint
                    .map_or(1.0, |(.., sense)| sense);
                let impulse = sense * servo.impulse(&tree.rates);
                let rows = work.rows.iter_mut().filter(|row| row.axis == servo.number);
                for row in rows.filter(|row| row.role == Role::Servo) {
                    row.impulse = impulse;
                }
            }
        }
        self.keep_blow();
    }

    /// Adds up the impulses of rows and points.
    fn keep_blow(&mut self) {
        let work = &mut self.work;
        for row in &mut work.rows {
            row.total += row.impulse;
        }
        for point in &mut work.points {
            for (total, impulse) in point.totals.iter_mut().zip(point.impulses) {
                *total += impulse;
            }
            if let Some(patch) = &mut point.patch {
                patch.totals += patch.impulses;
            }
        }
    }
}
