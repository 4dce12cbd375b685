//! [`Scene`]: one step of everything that is awake.
//!
//! A step is cut into substeps. In each, loads speed everything up, impulses are found with a bias
//! that closes gaps and parts what overlaps, positions advance, and the impulses are found once
//! more without the bias, so that no correction of a position is left as a velocity (Macklin et
//! al., *Small Steps in Physics Simulation*, 2019). What nothing touches flies the whole step at
//! once, by a method of fourth order.

mod acceleration;
mod assembly;
mod contact_rows;
mod groups;
mod island;
mod parts;
mod substep;

use crate::axis::Axis;
use crate::body::Body;
use crate::contact::Contact;
use crate::coordinates::Coordinates;
use crate::flight::Workspace;
use crate::manifold::Manifolds;
use crate::row::Lines;
use crate::tree::Tree;
use groups::{Groups, Island};
use substep::Substeps;

/// Limits of the effort of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The most that a substep takes \[s\]; steps that are longer have several.
    pub substep_s: f64,
    /// Rows and points that may be solved for an island in a substep, with the bias and without:
    /// small islands are swept more often than large ones.
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
            substep_s: 2e-3,
            effort: [8000, 4000],
            tolerance: 1e-5,
            correction_s: 8e-3,
            correction_speed: 1.0,
        }
    }
}

impl Parameters {
    /// Limits with a quarter of the effort, which large islands notice.
    pub fn fast() -> Self {
        Self {
            effort: [2000, 1000],
            ..Self::default()
        }
    }
}

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
    spaces: Vec<Workspace>,
    coordinates: Coordinates,
    manifolds: Manifolds,
    lines: Lines,
    groups: Groups,
    /// For each axis, true if its servo gives all its force instead of keeping its rate.
    is_weak: Vec<bool>,
    parts: parts::Parts,
    /// The state of an island before a substep.
    before: substep::State,
    /// The units of a manifold.
    units: Vec<contact_rows::Unit>,
    /// Impulses before a blow.
    pressed: Vec<f64>,
    acceleration: acceleration::Acceleration,
}

impl Scene {
    /// Advances everything by a time \[s\], on the threads of the rayon pool that calls, if one
    /// does; the bits are the same for any number of them.
    pub fn step(&mut self, time_s: f64) {
        self.find_links();
        self.find_unions();
        if self.divide() {
            self.step_parts(time_s);
        } else {
            self.work.parts.leave();
            self.advance_all(time_s);
        }
    }

    /// Advances a part, whose contacts are grouped, by a time \[s\].
    fn step_alone(&mut self, time_s: f64) {
        self.find_links();
        self.advance_all(time_s);
    }

    fn advance_all(&mut self, time_s: f64) {
        self.hold();
        self.control(time_s);
        self.begin();
        self.fly(time_s);
        if self.work.groups.held_bodies.contains(&true)
            || self.work.groups.held_trees.contains(&true)
        {
            self.assemble();
            let substeps = Substeps::of(time_s, &self.parameters);
            self.find_weak(substeps.time_s);
            for number in 0..self.work.groups.islands.len() {
                self.solve_island(self.work.groups.islands[number], substeps);
            }
        } else {
            self.work.manifolds.clear();
            self.work.lines.clear();
        }
        self.write_back();
        for (tree, space) in self.trees.iter().zip(&mut self.work.spaces) {
            space.give(tree, &mut self.bodies);
        }
    }

    /// Returns in how many parts the last step was divided among threads; 1 for none.
    pub fn part_count(&self) -> usize {
        self.work.parts.count()
    }

    /// Tells whether nothing touches a body and joints hold it to nothing that never moves, after a
    /// step.
    pub fn is_free(&self, body: usize) -> bool {
        match self.work.groups.link_of[body] {
            Some((tree, _)) => {
                let root = self.trees[tree].links.first();
                let floats = root.is_some_and(|root| root.kind == crate::tree::JointKind::Free);
                floats && !self.work.groups.held_trees[tree]
            }
            None => self.bodies[body].is_dynamic() && !self.work.groups.held_bodies[body],
        }
    }

    fn find_links(&mut self) {
        let link_of = &mut self.work.groups.link_of;
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
        let mover = |body: usize| work.groups.link_of[body].map_or(body, |(tree, _)| count + tree);
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
        // Those of more trees keep their room.
        let known = work.spaces.len().max(self.trees.len());
        work.spaces.resize_with(known, Workspace::default);
        for (number, tree) in self.trees.iter_mut().enumerate() {
            work.spaces[number].take(tree, &self.bodies);
            work.spaces[number].joined.clear();
            work.spaces[number].servos.clear();
        }
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
        work.groups.held_bodies.clear();
        work.groups.held_bodies.resize(self.bodies.len(), false);
        work.groups.held_trees.clear();
        work.groups.held_trees.resize(self.trees.len(), false);
        let mut touch = |body: usize| match work.groups.link_of[body] {
            Some((tree, _)) => work.groups.held_trees[tree] = true,
            None => work.groups.held_bodies[body] = true,
        };
        for contact in contacts.iter() {
            let touched = contact.bodies.into_iter().flatten();
            touched
                .filter(|body| self.bodies[*body].is_dynamic())
                .for_each(&mut touch);
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
            if work.groups.link_of[number].is_none() && !work.groups.held_bodies[number] {
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
            if work.groups.held_trees[number] || space.is_stiff(time_s) {
                work.groups.held_trees[number] = true;
                continue;
            }
            space.keep(tree);
            space.fly(tree, &self.bodies, time_s);
            let leaves = self.axes.iter().any(|axis| {
                let Some((_, link, sense)) = axis.joint.filter(|(of, ..)| *of == number) else {
                    return false;
                };
                let Some(at) = tree.axis_of(link) else {
                    return false;
                };
                let way = tree.positions[link].value - space.kept_value(link);
                axis.is_beyond(axis.position + sense * way, sense * tree.rates[at])
            });
            if leaves {
                space.restore(tree, &self.bodies);
                work.groups.held_trees[number] = true;
            }
        }
    }
}
