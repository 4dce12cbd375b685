//! One island after the other: its substeps, blows, and what acted in it.

use glam::DVec3;

use super::substep::Substeps;
use super::{Island, Scene};
use crate::contact::Contact;
use crate::manifold::{Block, Law, Manifolds};

/// An approach that is slower than this is no blow \[m/s\].
const BOUNCE_SPEED_MIN: f64 = 1e-3;

impl Scene {
    /// Advances an island by the substeps of a step.
    pub(super) fn solve_island(&mut self, island: Island, substeps: Substeps) {
        for number in 0..substeps.count {
            self.substep(island, substeps, number);
        }
        self.bounce(island);
    }

    /// Has what met in this step part again, at the speed that restitution leaves of that at which
    /// they met (Newton's law of impact).
    fn bounce(&mut self, island: Island) {
        let known = &mut self.work.manifolds;
        let mut bounces = false;
        for manifold in &known.all[island.manifolds()] {
            for (row, point) in known.points[manifold.points()].iter_mut().enumerate() {
                let has_met = known.totals[manifold.first_row + row] > 0.0;
                if has_met && point.approach < -BOUNCE_SPEED_MIN && point.restitution > 0.0 {
                    point.bias = point.restitution * point.approach;
                    bounces = true;
                }
            }
        }
        if !bounces {
            return;
        }
        let mut pressed = std::mem::take(&mut self.work.pressed);
        pressed.clear();
        self.for_each_impulse(island, |impulse| pressed.push(*impulse));
        self.sweep(island, false);
        // Only what the blow adds counts once more.
        let mut before = pressed.iter();
        self.for_each_impulse(island, |impulse| {
            *impulse -= before.next().copied().unwrap_or(0.0);
        });
        self.take_rates(island);
        self.keep_impulses(island);
        // The next step begins with what pressed before the blow, which itself is no pressure.
        let mut before = pressed.iter();
        self.for_each_impulse(island, |impulse| {
            *impulse = before.next().copied().unwrap_or(0.0);
        });
        self.forget_blows(island);
        self.work.pressed = pressed;
    }

    /// Calls a function with the impulse of each row of an island.
    fn for_each_impulse(&mut self, island: Island, mut visit: impl FnMut(&mut f64)) {
        let work = &mut self.work;
        for line in &work.lines.all[island.lines()] {
            for row in &mut work.lines.rows[line.rows[0]..line.rows[1]] {
                visit(&mut row.impulse);
            }
        }
        let known = &mut work.manifolds;
        for manifold in &known.all[island.manifolds()] {
            known.impulses[manifold.rows()]
                .iter_mut()
                .for_each(&mut visit);
        }
    }

    /// Lets what bounced begin the next step without impulses.
    fn forget_blows(&mut self, island: Island) {
        let known = &mut self.work.manifolds;
        for manifold in &known.all[island.manifolds()] {
            let points = &known.points[manifold.points()];
            let has_bounced = |at: usize| {
                let point = &points[at];
                point.restitution > 0.0 && point.approach < -BOUNCE_SPEED_MIN
            };
            let impulses = &mut known.impulses[manifold.rows()];
            for at in (0..points.len()).filter(|at| has_bounced(*at)) {
                impulses[at] = 0.0;
            }
            for block in &known.blocks[manifold.blocks()] {
                if (block.points[0]..block.points[1]).any(has_bounced) {
                    impulses[block.first..block.first + block.law.rows()].fill(0.0);
                }
            }
        }
    }

    /// Notes the impulses in contacts and axes.
    pub(super) fn write_back(&mut self) {
        for axis in &mut self.axes {
            axis.impulses = [0.0; 5];
            axis.totals = [0.0; 5];
        }
        let lines = &self.work.lines;
        for line in &lines.all {
            let axis = &mut self.axes[line.axis];
            for row in &lines.rows[line.rows[0]..line.rows[1]] {
                axis.impulses[row.role as usize] = row.impulse;
                axis.totals[row.role as usize] = row.total;
            }
        }
        for contact in &mut self.contacts {
            (contact.pressure, contact.total_pressure) = (0.0, 0.0);
            (contact.drag, contact.total_drag) = (DVec3::ZERO, DVec3::ZERO);
            contact.twist = 0.0;
        }
        let known = &self.work.manifolds;
        for manifold in &known.all {
            let impulses = &known.impulses[manifold.rows()];
            let totals = &known.totals[manifold.rows()];
            for (row, point) in known.points[manifold.points()].iter().enumerate() {
                let contact = &mut self.contacts[point.contact];
                contact.pressure = impulses[row];
                contact.total_pressure = totals[row];
            }
            let first_point = manifold.points[0];
            for block in &known.blocks[manifold.blocks()] {
                note_friction(
                    known,
                    block,
                    first_point,
                    (impulses, totals),
                    &mut self.contacts,
                );
            }
        }
    }
}

/// Notes the friction of a block at its points, in proportion to the pressure.
fn note_friction(
    known: &Manifolds,
    block: &Block,
    first_point: usize,
    (impulses, totals): (&[f64], &[f64]),
    contacts: &mut [Contact],
) {
    let [first, last] = block.points;
    let count = (last - first) as f64;
    let share = |pressures: &[f64], row: usize| {
        let sum: f64 = pressures[first..last].iter().sum();
        if sum > 0.0 {
            pressures[row] / sum
        } else {
            1.0 / count
        }
    };
    for row in first..last {
        let [_, along, across] = known.points[first_point + first].directions;
        let contact = &mut contacts[known.points[first_point + row].contact];
        let drag = |values: &[f64]| {
            (along * values[block.first] + across * values[block.first + 1]) * share(values, row)
        };
        if block.law != Law::Twist {
            contact.drag = drag(impulses);
            contact.total_drag = drag(totals);
        }
        match block.law {
            Law::Round | Law::Boxed => {}
            Law::Line => {
                let twist = impulses[block.first + 2] * block.radius;
                contact.twist = twist * share(impulses, row);
            }
            Law::Twist => contact.twist = impulses[block.first],
        }
    }
}
