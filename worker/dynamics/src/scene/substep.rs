//! Substeps: everything of an island advances by a part of the step.

use super::assembly::arms;
use super::{Island, Parameters, Scene, Work};
use crate::axis::{Axis, Role, Term};
use crate::body::Body;
use crate::flight::Servo;
use crate::manifold::Turns;
use crate::tree::{Position, Tree};

/// The part of its force from which on a servo counts as giving all of it.
const NEARLY_ALL: f64 = 0.999;

/// The force from which on a servo has no limit \[N or N m\].
const FORCE_UNLIMITED: f64 = 1e15;

/// The most sweeps over an island, unless nothing in it changes much before.
const SWEEPS_MAX: usize = 100;

/// The sweeps before those that go on in their direction: most islands need no more.
const PLAIN_SWEEPS: usize = 2;

/// Sweeps end when so many of them have not brought the change below this part of what it was in as
/// many before: what is asked for contradicts itself, such as a limit and the ground.
const STALL_SWEEPS: usize = 16;
const STALL_RATIO: f64 = 0.99;

/// The most turns over the pressures between two surfaces before their friction.
const PRESSURE_TURNS: usize = 3;

/// Compliance of contacts, as a part of what an impulse changes: the least with which a body that
/// stands on more points than it needs presses on all of them evenly. A cube of 1 kg sinks by some
/// nanometres.
const SOFTNESS: f64 = 2e-3;

/// The part of what an impulse changes of free bodies below which what it changes of bodies that
/// joints hold is rounding.
pub(super) const GAIN_RATIO_MIN: f64 = 1e-9;

/// The most substeps of a step, and the part of one that is not worth another.
const SUBSTEPS_MAX: f64 = 64.0;
const SUBSTEP_MARGIN: f64 = 1e-6;

/// The substeps of a step, which all islands have alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Substeps {
    pub(super) count: usize,
    /// The length of each \[s\].
    pub(super) time_s: f64,
    /// The part of an error of position that each corrects.
    correction: f64,
}

impl Substeps {
    /// Divides a step of a length \[s\].
    pub(super) fn of(step_s: f64, parameters: &Parameters) -> Self {
        let count = (step_s / parameters.substep_s - SUBSTEP_MARGIN).ceil();
        let count = count.clamp(1.0, SUBSTEPS_MAX) as usize;
        let time_s = step_s / count as f64;
        Self {
            count,
            time_s,
            correction: -libm::expm1(-time_s / parameters.correction_s),
        }
    }
}

/// The state of an island that a substep changes, to do it once more.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    bodies: Vec<Body>,
    positions: Vec<Position>,
    rates: Vec<f64>,
    gaps: Vec<f64>,
    impulses: Vec<f64>,
    moved: Vec<f64>,
}

impl Scene {
    /// Finds the servos that gave all their force in the step before, of whose substeps each has a
    /// length \[s\].
    pub(super) fn find_weak(&mut self, time_s: f64) {
        let is_weak = |axis: &Axis| {
            let [_, force] = axis.servo.unwrap_or_default();
            axis.impulses[Axis::SERVO].abs() >= NEARLY_ALL * force * time_s
        };
        self.work.is_weak.clear();
        self.work.is_weak.extend(self.axes.iter().map(is_weak));
    }

    /// Does a substep; once more when a servo would need more force than it has, which then gives
    /// all that it has instead of keeping its rate.
    pub(super) fn substep(&mut self, island: Island, substeps: Substeps, number: usize) {
        let may_be_weak = self.engage(island);
        if may_be_weak {
            self.keep_state(island);
        }
        self.do_substep(island, substeps, number);
        if may_be_weak && self.overload(island, substeps.time_s) {
            self.restore_state(island);
            self.do_substep(island, substeps, number);
        }
        self.keep(island);
    }

    fn do_substep(&mut self, island: Island, substeps: Substeps, number: usize) {
        let time_s = substeps.time_s;
        self.accelerate(island, time_s);
        self.prepare(island, substeps, number == 0);
        self.sweep(island, true);
        self.advance(island, time_s);
        self.relax(island, time_s);
        self.sweep(island, false);
        self.take_rates(island);
    }

    /// Lets the servos of an island that are strong enough keep their rates; returns whether one of
    /// them may turn out too weak.
    fn engage(&mut self, island: Island) -> bool {
        let work = &mut self.work;
        for at in island.trees() {
            let tree = work.groups.trees[at];
            work.spaces[tree].servos.clear();
        }
        let mut may_be_weak = false;
        for line in &work.lines.all[island.lines()] {
            let axis = &self.axes[line.axis];
            if let (Some((tree, link, sense)), Some([rate, force])) = (axis.joint, axis.servo)
                && let Some(at) = self.trees[tree].axis_of(link)
                && !work.is_weak[line.axis]
            {
                let servo = Servo::new(at, line.axis, sense * rate);
                work.spaces[tree].servos.push(servo);
                may_be_weak |= force < FORCE_UNLIMITED;
            }
        }
        may_be_weak
    }

    /// Finds the servos that needed more force than they have, and lets them go; returns whether
    /// there are any.
    fn overload(&mut self, island: Island, time_s: f64) -> bool {
        let mut any = false;
        let work = &mut self.work;
        for at in island.trees() {
            let tree = work.groups.trees[at];
            let rates = &self.trees[tree].rates;
            let (axes, is_weak) = (&self.axes, &mut work.is_weak);
            work.spaces[tree].servos.retain(|servo| {
                let [_, force] = axes[servo.number].servo.unwrap_or_default();
                let is_strong = servo.impulse(rates).abs() <= force * time_s;
                is_weak[servo.number] |= !is_strong;
                any |= !is_strong;
                is_strong
            });
        }
        any
    }

    fn keep_state(&mut self, island: Island) {
        let Self {
            bodies,
            trees,
            work,
            ..
        } = self;
        let mut before = std::mem::take(&mut work.before);
        before.clear();
        for at in island.bodies() {
            let number = work.groups.bodies[at];
            before.bodies.push(bodies[number]);
        }
        for at in island.trees() {
            let tree = work.groups.trees[at];
            before.positions.extend_from_slice(&trees[tree].positions);
            before.rates.extend_from_slice(&trees[tree].rates);
        }
        for manifold in &work.manifolds.all[island.manifolds()] {
            let points = &work.manifolds.points[manifold.points()];
            before.gaps.extend(points.iter().map(|point| point.gap));
            let impulses = &work.manifolds.impulses[manifold.rows()];
            before.impulses.extend_from_slice(impulses);
        }
        for line in &work.lines.all[island.lines()] {
            let rows = &work.lines.rows[line.rows[0]..line.rows[1]];
            before.impulses.extend(rows.iter().map(|row| row.impulse));
            before.moved.push(line.moved);
        }
        work.before = before;
    }

    fn restore_state(&mut self, island: Island) {
        let Self {
            bodies,
            trees,
            work,
            ..
        } = self;
        let before = std::mem::take(&mut work.before);
        for (at, before) in island.bodies().zip(&before.bodies) {
            bodies[work.groups.bodies[at]] = *before;
        }
        let (mut position, mut rate) = (0, 0);
        for at in island.trees() {
            let number = work.groups.trees[at];
            let tree = &mut trees[number];
            let (links, freedom) = (tree.positions.len(), tree.rates.len());
            let positions = &before.positions[position..position + links];
            tree.positions.copy_from_slice(positions);
            tree.rates
                .copy_from_slice(&before.rates[rate..rate + freedom]);
            (position, rate) = (position + links, rate + freedom);
            work.spaces[number].place(tree, bodies);
            work.spaces[number].show(tree, bodies);
        }
        let (mut gap, mut impulse) = (0, 0);
        let manifolds = &mut work.manifolds;
        for manifold in &manifolds.all[island.manifolds()] {
            for point in &mut manifolds.points[manifold.points()] {
                point.gap = before.gaps[gap];
                gap += 1;
            }
            let rows = before.impulses[impulse..].iter();
            for (own, before) in manifolds.impulses[manifold.rows()].iter_mut().zip(rows) {
                *own = *before;
                impulse += 1;
            }
        }
        let lines = &mut work.lines;
        let own = &mut lines.all[island.lines()];
        for (line, moved) in own.iter_mut().zip(&before.moved) {
            line.moved = *moved;
            for row in &mut lines.rows[line.rows[0]..line.rows[1]] {
                row.impulse = before.impulses[impulse];
                impulse += 1;
            }
        }
        work.before = before;
    }

    /// Speeds up everything by its load.
    fn accelerate(&mut self, island: Island, time_s: f64) {
        let Self {
            bodies,
            trees,
            work,
            ..
        } = self;
        for at in island.bodies() {
            let number = work.groups.bodies[at];
            bodies[number].accelerate(time_s);
            work.coordinates.take(number, &bodies[number]);
        }
        for at in island.trees() {
            let number = work.groups.trees[at];
            let (tree, space) = (&mut trees[number], &mut work.spaces[number]);
            space.accelerate(tree, bodies, time_s);
            let values = work.coordinates.of_tree(number, tree.freedom());
            space.factor.whiten(tree, &tree.rates, values);
        }
    }

    /// Makes manifolds and lines ready for the sweeps of a substep, and begins with the impulses of
    /// the one before.
    fn prepare(&mut self, island: Island, substeps: Substeps, is_first: bool) {
        let Substeps {
            time_s,
            correction: ratio,
            ..
        } = substeps;
        let parting_most = self.parameters.correction_speed;
        for number in island.manifolds() {
            let manifold = self.work.manifolds.all[number];
            if is_first {
                self.set_arms(number);
            }
            if is_first || !manifold.is_steady {
                self.fill_manifold(number, time_s);
            }
            let known = &mut self.work.manifolds;
            for (row, point) in manifold.points().enumerate() {
                let gain = known.gain(&manifold, row);
                let point = &mut known.points[point];
                (point.softness, point.bias) = if point.gap > 0.0 {
                    (0.0, point.gap / time_s)
                } else {
                    let parting = ratio * point.gap / time_s;
                    (SOFTNESS * gain, parting.max(-parting_most))
                };
                point.set_inverse(gain);
            }
            if manifold.may_bounce {
                known.note_approach(number, &self.work.coordinates);
            }
        }
        for number in island.lines() {
            self.prepare_line(number, time_s, ratio);
        }
        let work = &mut self.work;
        for number in island.lines() {
            work.lines.warm(number, &mut work.coordinates);
        }
        for number in island.manifolds() {
            work.manifolds.warm(number, &mut work.coordinates);
        }
    }

    fn prepare_line(&mut self, number: usize, time_s: f64, ratio: f64) {
        let Self {
            bodies,
            trees,
            axes,
            work,
            ..
        } = self;
        let line = &mut work.lines.all[number];
        let axis = &mut axes[line.axis];
        if let Some(lock) = axis.lock {
            (axis.terms, axis.position) = lock.look(bodies);
            line.moved = 0.0;
        }
        let factors = &mut work.lines.factors[line.factors..line.factors + line.path.len()];
        let in_tree = axis.joint.and_then(|(tree, link, sense)| {
            let at = trees[tree].axis_of(link);
            at.map(|at| (at, sense))
        });
        let spaces = &mut work.spaces;
        match in_tree {
            Some(at) => work
                .coordinates
                .fill_axis(line.path, at, factors, (trees, spaces)),
            None => {
                let scene = (bodies.as_slice(), trees.as_slice(), spaces.as_mut_slice());
                line.base_rate = work
                    .coordinates
                    .fill(line.path, &axis.terms, factors, scene);
            }
        }
        let gain: f64 = factors.iter().map(|factor| factor * factor).sum();
        line.length = gain.sqrt();
        let free: f64 = axis.terms.iter().map(|term| free_gain(term, bodies)).sum();
        line.gain = if gain > GAIN_RATIO_MIN * free {
            gain
        } else {
            0.0
        };
        let position = axis.position + line.moved;
        let is_kept = axis.joint.is_some() && !work.is_weak[line.axis];
        for row in &mut work.lines.rows[line.rows[0]..line.rows[1]] {
            if line.gain == 0.0 {
                row.impulse = 0.0;
            }
            row.set(axis, position, time_s, ratio);
            if row.role == Role::Servo && is_kept {
                (row.impulse, row.impulses) = (0.0, [0.0; 2]);
            }
        }
    }

    /// Finds where impulses act on both bodies of a manifold.
    fn set_arms(&mut self, number: usize) {
        let known = &mut self.work.manifolds;
        let manifold = known.all[number];
        let middle = |contact: usize| {
            let [first, second] = self.contacts[contact].points;
            0.5 * (first + second)
        };
        for point in &mut known.points[manifold.points()] {
            let contact = &self.contacts[point.contact];
            point.arms = arms(contact, &self.bodies, middle(point.contact));
        }
        let points = &known.points[manifold.points()];
        for block in &mut known.blocks[manifold.blocks()] {
            let [first, last] = [block.points[0], block.points[1] - 1];
            let contact = points[first].contact;
            // Where even pressure has its centre: that of rigid bodies on four wheels' edges is not
            // determined.
            let place = 0.5 * (middle(contact) + middle(points[last].contact));
            block.arms = arms(&self.contacts[contact], &self.bodies, place);
        }
    }

    /// Takes the bias away, but for gaps that are open still.
    fn relax(&mut self, island: Island, time_s: f64) {
        let work = &mut self.work;
        let known = &mut work.manifolds;
        for at in island.manifolds() {
            let manifold = &known.all[at];
            for (row, point) in manifold.points().enumerate() {
                let gain = known.gain(manifold, row);
                let point = &mut known.points[point];
                point.bias = point.gap.max(0.0) / time_s;
                point.softness = 0.0;
                point.set_inverse(gain);
            }
        }
        for line in &work.lines.all[island.lines()] {
            let axis = &self.axes[line.axis];
            let is_kept = axis.joint.is_some() && !work.is_weak[line.axis];
            for row in &mut work.lines.rows[line.rows[0]..line.rows[1]] {
                row.set(axis, axis.position + line.moved, time_s, 0.0);
                if row.role == Role::Servo && is_kept {
                    row.impulses = [0.0; 2];
                }
            }
        }
    }

    /// Sweeps over an island until nothing in it changes much.
    pub(super) fn sweep(&mut self, island: Island, is_biased: bool) {
        let work = &mut self.work;
        let [first, last] = island.manifolds;
        let own = &work.manifolds.all[first..last];
        let points: usize = own.iter().map(|manifold| manifold.points().len()).sum();
        let own = &work.lines.all[island.lines()];
        let rows: usize = own.iter().map(|line| line.rows[1] - line.rows[0]).sum();
        if points + rows == 0 {
            return;
        }
        let share = self.parameters.effort[usize::from(!is_biased)];
        let most = (share / (rows + points)).clamp(1, SWEEPS_MAX);
        let turns = Turns {
            pressures: PRESSURE_TURNS,
            tolerance: self.parameters.tolerance,
        };
        work.coordinates.travel = 0.0;
        work.lines.wake(island.lines());
        work.manifolds.wake(first..last);
        work.acceleration.begin();
        let [mut former, mut lowest] = [f64::INFINITY; 2];
        for turn in 0..most {
            let is_plain = turn < PLAIN_SWEEPS;
            let is_back = turn % 2 == 1;
            if !is_plain && !is_back {
                work.note_sweep(island, &self.trees);
            }
            let change = work.sweep_once(island, turns, is_plain, is_back);
            if change < turns.tolerance {
                break;
            }
            lowest = lowest.min(change);
            if (turn + 1) % STALL_SWEEPS == 0 {
                if lowest >= STALL_RATIO * former {
                    break;
                }
                former = std::mem::replace(&mut lowest, f64::INFINITY);
            }
            if !is_plain && is_back && turn + 1 < most {
                work.go_on(island);
            }
        }
    }

    /// Moves everything at its velocities.
    fn advance(&mut self, island: Island, time_s: f64) {
        let Self {
            bodies,
            trees,
            work,
            ..
        } = self;
        // By the rate, and not by points of the bodies, which a wheel would carry up as it rolls.
        for number in island.manifolds() {
            work.manifolds.advance(number, &work.coordinates, time_s);
        }
        for number in island.lines() {
            let line = work.lines.all[number];
            let rate = work.lines.rate(&line, &work.coordinates);
            work.lines.all[number].moved += rate * time_s;
        }
        for at in island.bodies() {
            let number = work.groups.bodies[at];
            let body = &mut bodies[number];
            work.coordinates.give(number, body);
            body.advance(time_s);
            work.coordinates.take(number, body);
        }
        for at in island.trees() {
            let number = work.groups.trees[at];
            let (tree, space) = (&mut trees[number], &mut work.spaces[number]);
            let values = work.coordinates.of_tree(number, tree.freedom());
            space.take_rates(tree, values);
            space.advance(tree, time_s);
            space.place(tree, bodies);
            space.show(tree, bodies);
        }
    }

    /// Takes over the velocities after the last sweep.
    pub(super) fn take_rates(&mut self, island: Island) {
        let Self {
            bodies,
            trees,
            work,
            ..
        } = self;
        for at in island.bodies() {
            let number = work.groups.bodies[at];
            work.coordinates.give(number, &mut bodies[number]);
        }
        for at in island.trees() {
            let number = work.groups.trees[at];
            let (tree, space) = (&mut trees[number], &mut work.spaces[number]);
            let values = work.coordinates.of_tree(number, tree.freedom());
            space.take_rates(tree, values);
        }
    }

    /// Adds up what acted.
    fn keep(&mut self, island: Island) {
        let work = &mut self.work;
        for line in &work.lines.all[island.lines()] {
            let Some((tree, _, sense)) = self.axes[line.axis].joint else {
                continue;
            };
            let servos = &work.spaces[tree].servos;
            if let Some(servo) = servos.iter().find(|servo| servo.number == line.axis) {
                let impulse = sense * servo.impulse(&self.trees[tree].rates);
                let rows = &mut work.lines.rows[line.rows[0]..line.rows[1]];
                for row in rows.iter_mut().filter(|row| row.role == Role::Servo) {
                    row.impulse = impulse;
                }
            }
        }
        self.keep_impulses(island);
    }

    /// Adds up the impulses of rows and points.
    pub(super) fn keep_impulses(&mut self, island: Island) {
        let work = &mut self.work;
        for line in &work.lines.all[island.lines()] {
            for row in &mut work.lines.rows[line.rows[0]..line.rows[1]] {
                row.total += row.impulse;
            }
        }
        let known = &mut work.manifolds;
        for manifold in &known.all[island.manifolds()] {
            let impulses = &known.impulses[manifold.rows()];
            for (total, impulse) in known.totals[manifold.rows()].iter_mut().zip(impulses) {
                *total += impulse;
            }
        }
    }
}

impl Work {
    /// Sweeps over an island once, forth or back; returns how much a rate changed at the most. A
    /// plain sweep begins with the lines either way.
    fn sweep_once(&mut self, island: Island, turns: Turns, is_plain: bool, is_back: bool) -> f64 {
        let Self {
            coordinates,
            manifolds,
            lines,
            ..
        } = self;
        let mut change = 0.0;
        if is_plain || !is_back {
            for number in island.lines() {
                change = f64::max(change, lines.solve(number, coordinates));
            }
        }
        let [first, last] = island.manifolds;
        for at in first..last {
            let number = if is_back { first + last - 1 - at } else { at };
            change = f64::max(change, manifolds.solve(number, turns, coordinates));
        }
        if !is_plain && is_back {
            for number in island.lines().rev() {
                change = f64::max(change, lines.solve(number, coordinates));
            }
        }
        change
    }

    /// Notes where an island is before a sweep forth and one back.
    fn note_sweep(&mut self, island: Island, trees: &[Tree]) {
        let coordinates = &self.coordinates;
        let bodies = self.groups.bodies[island.bodies()].iter();
        let of_bodies = bodies.flat_map(|body| coordinates.places_of_body(*body));
        let held = self.groups.trees[island.trees()].iter();
        let of_trees =
            held.flat_map(|tree| coordinates.places_of_tree(*tree, trees[*tree].freedom()));
        self.acceleration.note(
            [island.lines(), island.manifolds()],
            (coordinates, &self.lines, &self.manifolds),
            of_bodies.chain(of_trees),
        );
    }

    /// Has an island go on in the direction of its sweeps.
    fn go_on(&mut self, island: Island) {
        self.acceleration.go_on(
            [island.lines(), island.manifolds()],
            (&mut self.coordinates, &mut self.lines, &mut self.manifolds),
        );
    }
}

impl State {
    fn clear(&mut self) {
        self.bodies.clear();
        self.positions.clear();
        self.rates.clear();
        self.gaps.clear();
        self.impulses.clear();
        self.moved.clear();
    }
}

/// Returns what a unit impulse along an axis would change of a body that nothing holds.
fn free_gain(term: &Term, bodies: &[Body]) -> f64 {
    let body = &bodies[term.body];
    let turning = body.world_inverse_inertia() * term.angular;
    term.linear.length_squared() * body.inverse_mass() + term.angular.dot(turning)
}
