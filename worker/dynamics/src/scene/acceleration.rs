//! [`Acceleration`]: the way that sweeps have gone so far, on which they go further (the nonsmooth
//! nonlinear conjugate gradient method; Silcowitz-Hansen, Niebe and Erleben, *A nonsmooth nonlinear
//! conjugate gradient method for interactive contact force problems*, 2010).
//!
//! A sweep is a step towards the impulses; what it changed, and a share of what the sweeps before
//! it changed, is added once more. The next sweep brings everything back within its limits, and
//! the last one is never followed by such a step.

use std::ops::Range;

use crate::coordinates::Coordinates;
use crate::manifold::Manifolds;
use crate::row::Lines;

/// The way of the impulses and velocities of an island over its sweeps.
#[derive(Debug, Default)]
pub(super) struct Acceleration {
    /// The coordinates of the island.
    places: Vec<usize>,
    /// Its velocities and impulses before a sweep.
    before: [Vec<f64>; 2],
    /// The direction in which they go.
    way: [Vec<f64>; 2],
    /// The square of the change of the velocities in the sweep before.
    square: f64,
}

impl Acceleration {
    /// Begins the sweeps of an island.
    pub(super) fn begin(&mut self) {
        self.places.clear();
        self.square = 0.0;
    }

    /// Notes the state before a sweep.
    pub(super) fn note(
        &mut self,
        [own_lines, own_manifolds]: [Range<usize>; 2],
        (coordinates, lines, manifolds): (&Coordinates, &Lines, &Manifolds),
        places: impl Iterator<Item = usize>,
    ) {
        if self.places.is_empty() {
            self.places.extend(places);
        }
        let [values, impulses] = &mut self.before;
        values.clear();
        values.extend(self.places.iter().map(|at| coordinates.values[*at]));
        impulses.clear();
        for line in &lines.all[own_lines] {
            let rows = &lines.rows[line.rows[0]..line.rows[1]];
            impulses.extend(rows.iter().map(|row| row.impulse));
        }
        for manifold in &manifolds.all[own_manifolds] {
            impulses.extend_from_slice(&manifolds.impulses[manifold.rows()]);
        }
    }

    /// Goes on in the direction of the sweeps so far, unless they lead elsewhere now.
    pub(super) fn go_on(
        &mut self,
        [own_lines, own_manifolds]: [Range<usize>; 2],
        (coordinates, lines, manifolds): (&mut Coordinates, &mut Lines, &mut Manifolds),
    ) {
        let [values, impulses] = &mut self.before;
        let mut square = 0.0;
        for (at, before) in self.places.iter().zip(&mut *values) {
            *before = coordinates.values[*at] - *before;
            square += *before * *before;
        }
        let former = std::mem::replace(&mut self.square, square);
        let [value_way, impulse_way] = &mut self.way;
        let is_first = former == 0.0;
        let share = if is_first { 0.0 } else { square / former };
        if is_first || share > 1.0 {
            // From here on anew.
            value_way.clear();
            value_way.resize(values.len(), 0.0);
            impulse_way.clear();
            impulse_way.resize(impulses.len(), 0.0);
            if !is_first {
                return;
            }
        }
        let mut gone = 0.0;
        for ((at, way), change) in self.places.iter().zip(value_way).zip(values) {
            let further = share * *way;
            coordinates.values[*at] += further;
            gone += further * further;
            *way = further + *change;
        }
        coordinates.travel += gone.sqrt();
        // What nothing acted along may have an impulse now.
        let mut ways = impulse_way.iter_mut().zip(&*impulses);
        let mut go = |impulse: &mut f64| {
            let (way, before) = ways.next().expect("there is a way of each impulse");
            let change = *impulse - before;
            let further = share * *way;
            *impulse += further;
            *way = further + change;
            further != 0.0
        };
        for number in own_lines {
            let line = &lines.all[number];
            let mut moves = false;
            for row in &mut lines.rows[line.rows[0]..line.rows[1]] {
                moves |= go(&mut row.impulse);
            }
            if moves {
                lines.wake(number..number + 1);
            }
        }
        for number in own_manifolds {
            let rows = manifolds.all[number].rows();
            let mut moves = false;
            for impulse in &mut manifolds.impulses[rows] {
                moves |= go(impulse);
            }
            if moves {
                manifolds.wake(number..number + 1);
            }
        }
    }
}
