//! [`Manifold`]: the points between two surfaces, whose pressures and friction are solved together.
//!
//! A small matrix holds what its rows do to each other. In it the impulses of all its points are
//! found by turns; the rest of the world hears of the sum.

use std::ops::Range;

use glam::{DMat3, DVec3};

use crate::coordinates::{Coordinates, Path};
use crate::row::{SLACK_MIN, SLACK_PART};

/// The points between two surfaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manifold {
    pub(crate) island: u32,
    /// Its points, and the blocks of friction at them.
    pub(crate) points: [usize; 2],
    pub(crate) blocks: [usize; 2],
    /// Its rows among those of all: the normals, then those of the blocks, then empty ones up to
    /// the size, which is a multiple of [`LANES`].
    pub(crate) first_row: usize,
    pub(crate) size: usize,
    pub(crate) path: Path,
    /// The factors of all its rows, one coordinate of the path after the other.
    pub(crate) factors: usize,
    /// Gains of its rows on each other, one row after the other.
    pub(crate) gains: usize,
    /// True if the rows stay the same all along a step.
    pub(crate) is_steady: bool,
    /// True if some of its points part again after they meet.
    pub(crate) may_bounce: bool,
}

impl Manifold {
    pub(crate) fn points(&self) -> Range<usize> {
        self.points[0]..self.points[1]
    }

    pub(crate) fn blocks(&self) -> Range<usize> {
        self.blocks[0]..self.blocks[1]
    }

    pub(crate) fn rows(&self) -> Range<usize> {
        self.first_row..self.first_row + self.size
    }

    fn factors(&self) -> Range<usize> {
        self.factors..self.factors + self.path.len() * self.size
    }

    fn gains(&self) -> Range<usize> {
        self.gains..self.gains + self.size * self.size
    }
}

/// Sizes of manifolds are multiples of this, so that their rows are solved side by side.
pub(crate) const LANES: usize = 4;

/// The most points of a manifold; more of them between the same surfaces are another manifold.
pub(crate) const POINTS_MAX: usize = 14;

/// Calls a method with the size of a manifold as a constant.
macro_rules! sized {
    ($size:expr, $method:ident ( $this:expr $(, $argument:expr)* )) => {
        match $size {
            4 => $this.$method::<4>($($argument),*),
            8 => $this.$method::<8>($($argument),*),
            12 => $this.$method::<12>($($argument),*),
            16 => $this.$method::<16>($($argument),*),
            20 => $this.$method::<20>($($argument),*),
            24 => $this.$method::<24>($($argument),*),
            28 => $this.$method::<28>($($argument),*),
            32 => $this.$method::<32>($($argument),*),
            36 => $this.$method::<36>($($argument),*),
            40 => $this.$method::<40>($($argument),*),
            44 => $this.$method::<44>($($argument),*),
            48 => $this.$method::<48>($($argument),*),
            52 => $this.$method::<52>($($argument),*),
            _ => $this.$method::<56>($($argument),*),
        }
    };
}
pub(crate) use sized;

/// A point of a manifold, and its row along the normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) contact: usize,
    /// Normal and tangents.
    pub(crate) directions: [DVec3; 3],
    /// Arms from the centres of mass of both bodies \[m\].
    pub(crate) arms: [DVec3; 2],
    /// Distance between both surfaces now \[m\].
    pub(crate) gap: f64,
    /// The bias of the rate along the normal.
    pub(crate) bias: f64,
    /// The compliance along the normal \[m/s/(N s)\].
    pub(crate) softness: f64,
    /// The change of the impulse per rate; 0 where no impulse changes the rate.
    pub(crate) inverse_gain: f64,
    /// The rate of approach when they met in this step, if they are to bounce.
    pub(crate) approach: f64,
    pub(crate) restitution: f64,
}

impl Point {
    /// Notes what an impulse changes of the rate along the normal.
    pub(crate) fn set_inverse(&mut self, gain: f64) {
        self.inverse_gain = if gain > 0.0 {
            1.0 / (gain + self.softness)
        } else {
            0.0
        };
    }
}

/// The law that a block of friction follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// Coulomb's, the same in all directions.
    Round,
    /// Both tangents have limits of their own.
    Boxed,
    /// Force and moment along a line of contact, such as that of a wheel, share one limit, which is
    /// an ellipsoid of them (Howe and Cutkosky, *Practical force-motion models for sliding
    /// manipulation*, 1996). Two points at the ends of the line would hold on to one of them
    /// instead.
    Line,
    /// A moment about the normal.
    Twist,
}

/// Friction whose rows share a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) law: Law,
    /// Its first row in the manifold.
    pub(crate) first: usize,
    /// The points of the manifold that press on it.
    pub(crate) points: [usize; 2],
    /// The limits along both tangents as parts of the pressure; of a moment \[m\].
    pub(crate) coefficients: [f64; 2],
    pub(crate) slips: [f64; 2],
    /// The moment of even pressure on a line that slips about its middle, as a part of the pressure
    /// times friction: a quarter of its length \[m\].
    pub(crate) radius: f64,
    /// Arms from the centres of mass of both bodies \[m\].
    pub(crate) arms: [DVec3; 2],
    /// The inverse of its gains with the slips, in the part that it has rows for.
    inverse: DMat3,
    /// A compliance that is too small to be seen, but keeps the inverse finite; 0 where no impulse
    /// changes a rate.
    least: f64,
    /// The shift at which friction last had its limit.
    shift: f64,
}

impl Block {
    pub(crate) fn new(law: Law, first: usize, points: [usize; 2]) -> Self {
        Self {
            law,
            first,
            points,
            coefficients: [0.0; 2],
            slips: [0.0; 2],
            radius: 0.0,
            arms: [DVec3::ZERO; 2],
            inverse: DMat3::ZERO,
            least: 0.0,
            shift: 0.0,
        }
    }
}

impl Law {
    /// Returns the number of its rows.
    pub(crate) fn rows(self) -> usize {
        match self {
            Self::Round | Self::Boxed => 2,
            Self::Line => 3,
            Self::Twist => 1,
        }
    }
}

/// All manifolds of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifolds {
    pub(crate) all: Vec<Manifold>,
    pub(crate) points: Vec<Point>,
    pub(crate) blocks: Vec<Block>,
    /// Of each row: the rate that what moves as it is told gives it, its impulse in this substep,
    /// and in all.
    pub(crate) base_rates: Vec<f64>,
    pub(crate) impulses: Vec<f64>,
    pub(crate) totals: Vec<f64>,
    factors: Vec<f64>,
    gains: Vec<f64>,
    /// The velocities along the path of the manifold that is solved.
    velocities: Vec<f64>,
    /// Of each manifold, the travel of the coordinates up to which nothing presses in it.
    rests: Vec<f64>,
}

/// Limits of the turns over the pressures of a manifold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turns {
    /// The most of them before friction.
    pub(crate) pressures: usize,
    /// The change of a rate below which turns end \[m/s or rad/s\].
    pub(crate) tolerance: f64,
}

impl Manifolds {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.points.clear();
        self.blocks.clear();
        self.base_rates.clear();
        self.impulses.clear();
        self.totals.clear();
        self.factors.clear();
        self.gains.clear();
    }

    /// Adds a manifold, whose points and blocks stand behind all others.
    pub(crate) fn push(&mut self, mut manifold: Manifold, impulses: &[f64]) {
        manifold.first_row = self.impulses.len();
        manifold.size = impulses.len().next_multiple_of(LANES);
        let rows = manifold.first_row + manifold.size;
        self.impulses.extend_from_slice(impulses);
        self.impulses.resize(rows, 0.0);
        self.base_rates.resize(rows, 0.0);
        self.totals.resize(rows, 0.0);
        manifold.factors = self.factors.len();
        manifold.gains = self.gains.len();
        self.factors.resize(manifold.factors().end, 0.0);
        self.gains.resize(manifold.gains().end, 0.0);
        self.all.push(manifold);
    }

    /// Returns the factors of a manifold, one coordinate of the path after the other.
    pub(crate) fn factors_mut(&mut self, manifold: &Manifold) -> &mut [f64] {
        &mut self.factors[manifold.factors()]
    }

    /// Returns the factors of a manifold, and the rates that what moves as it is told gives its
    /// rows.
    pub(crate) fn rows_mut(&mut self, manifold: &Manifold) -> (&mut [f64], &mut [f64]) {
        let factors = &mut self.factors[manifold.factors()];
        (factors, &mut self.base_rates[manifold.rows()])
    }

    /// Returns what an impulse along a row changes of its own rate.
    pub(crate) fn gain(&self, manifold: &Manifold, row: usize) -> f64 {
        self.gains[manifold.gains + row * (manifold.size + 1)]
    }

    /// Finds how the rows of a manifold act on each other.
    pub(crate) fn couple(&mut self, number: usize) {
        sized!(self.all[number].size, couple_sized(self, number));
    }

    fn couple_sized<const SIZE: usize>(&mut self, number: usize) {
        let manifold = self.all[number];
        let (columns, _) = self.factors[manifold.factors()].as_chunks::<SIZE>();
        let (gains, _) = self.gains[manifold.gains()].as_chunks_mut::<SIZE>();
        // Square by square, so that the sums of one stay in registers; the other half is the same.
        for first in (0..SIZE).step_by(LANES) {
            for second in (first..SIZE).step_by(LANES) {
                let sums = squares(columns, first, second);
                for (row, own) in sums.iter().enumerate() {
                    gains[first + row][second..second + LANES].copy_from_slice(own);
                    for (column, gain) in own.iter().enumerate() {
                        gains[second + column][first + row] = *gain;
                    }
                }
            }
        }
        for block in &mut self.blocks[manifold.blocks()] {
            block.invert(gains);
        }
    }

    /// Applies all impulses of a manifold.
    pub(crate) fn warm(&self, number: usize, coordinates: &mut Coordinates) {
        let manifold = &self.all[number];
        sized!(manifold.size, warm_sized(self, manifold, coordinates));
    }

    fn warm_sized<const SIZE: usize>(&self, manifold: &Manifold, coordinates: &mut Coordinates) {
        let (impulses, _) = self.impulses[manifold.rows()].as_chunks::<SIZE>();
        if impulses[0] == [0.0; SIZE] {
            return;
        }
        let (columns, _) = self.factors[manifold.factors()].as_chunks::<SIZE>();
        coordinates.push_each(manifold.path, |at| dot(&columns[at], &impulses[0]));
    }

    /// Returns the rates of all rows of a manifold.
    fn rates<const SIZE: usize>(
        &self,
        manifold: &Manifold,
        coordinates: &Coordinates,
    ) -> [f64; SIZE] {
        let (base_rates, _) = self.base_rates[manifold.rows()].as_chunks::<SIZE>();
        let (columns, _) = self.factors[manifold.factors()].as_chunks::<SIZE>();
        let mut rates = base_rates[0];
        for (column, velocity) in columns.iter().zip(coordinates.along(manifold.path)) {
            add(&mut rates, column, velocity);
        }
        rates
    }

    /// Moves the points of a manifold apart at their rates over a time \[s\].
    pub(crate) fn advance(&mut self, number: usize, coordinates: &Coordinates, time_s: f64) {
        let size = self.all[number].size;
        sized!(size, advance_sized(self, number, coordinates, time_s));
    }

    fn advance_sized<const SIZE: usize>(
        &mut self,
        number: usize,
        coordinates: &Coordinates,
        time_s: f64,
    ) {
        let manifold = self.all[number];
        let rates = self.rates::<SIZE>(&manifold, coordinates);
        let points = &mut self.points[manifold.points()];
        for (point, rate) in points.iter_mut().zip(&rates) {
            point.gap += rate * time_s;
        }
    }

    /// Notes how fast points approach that have not pressed in this step.
    pub(crate) fn note_approach(&mut self, number: usize, coordinates: &Coordinates) {
        let size = self.all[number].size;
        sized!(size, note_approach_sized(self, number, coordinates));
    }

    fn note_approach_sized<const SIZE: usize>(&mut self, number: usize, coordinates: &Coordinates) {
        let manifold = self.all[number];
        let rates = self.rates::<SIZE>(&manifold, coordinates);
        let totals = &self.totals[manifold.rows()];
        for (row, point) in self.points[manifold.points()].iter_mut().enumerate() {
            if point.restitution > 0.0 && totals[row] == 0.0 {
                point.approach = rates[row].min(0.0);
            }
        }
    }

    /// Has some manifolds looked at.
    pub(crate) fn wake(&mut self, manifolds: Range<usize>) {
        self.rests.resize(self.all.len(), 0.0);
        self.rests[manifolds].fill(0.0);
    }

    /// Finds the impulses between two surfaces: first the pressures, which act on each other most,
    /// then friction. Returns how much a rate changed at the most. Surfaces that do not press on
    /// each other are left alone until the coordinates have gone far enough for that: the bits are
    /// the same.
    pub(crate) fn solve(
        &mut self,
        number: usize,
        turns: Turns,
        coordinates: &mut Coordinates,
    ) -> f64 {
        if coordinates.travel < self.rests[number] {
            return 0.0;
        }
        let size = self.all[number].size;
        sized!(size, solve_sized(self, number, turns, coordinates))
    }

    fn solve_sized<const SIZE: usize>(
        &mut self,
        number: usize,
        turns: Turns,
        coordinates: &mut Coordinates,
    ) -> f64 {
        let manifold = &self.all[number];
        let (columns, _) = self.factors[manifold.factors()].as_chunks::<SIZE>();
        let (gains, _) = self.gains[manifold.gains()].as_chunks::<SIZE>();
        let (impulses, _) = self.impulses[manifold.rows()].as_chunks_mut::<SIZE>();
        let (base_rates, _) = self.base_rates[manifold.rows()].as_chunks::<SIZE>();
        let points = &self.points[manifold.points()];
        let before = impulses[0];
        let mut system = System {
            gains,
            rates: base_rates[0],
            impulses: before,
        };
        if self.velocities.len() < columns.len() {
            self.velocities.resize(columns.len(), 0.0);
        }
        let velocities = &mut self.velocities[..columns.len()];
        let along = coordinates.along(manifold.path);
        for ((column, velocity), kept) in columns.iter().zip(along).zip(&mut *velocities) {
            add(&mut system.rates, column, velocity);
            *kept = velocity;
        }
        let mut most = system.press(points, turns);
        for block in &mut self.blocks[manifold.blocks()] {
            most = greater(most, system.rub(block));
        }
        if system.impulses != before {
            let mut change = system.impulses;
            add(&mut change, &before, -1.0);
            let mut square = 0.0;
            for (column, velocity) in columns.iter().zip(&mut *velocities) {
                let gained = dot(column, &change);
                *velocity += gained;
                square += gained * gained;
            }
            coordinates.travel += square.sqrt();
            coordinates.scatter(manifold.path, velocities);
            impulses[0] = system.impulses;
        } else if before == [0.0; SIZE] {
            self.rests[number] = coordinates.travel + SLACK_PART * system.room(points);
        }
        most
    }
}

/// The most rows of a manifold.
pub(crate) const ROWS_MAX: usize = 4 * POINTS_MAX;

/// The rows of a manifold while it is solved.
struct System<'a, const SIZE: usize> {
    gains: &'a [[f64; SIZE]],
    rates: [f64; SIZE],
    impulses: [f64; SIZE],
}

impl<const SIZE: usize> System<'_, SIZE> {
    #[inline]
    fn gain(&self, row: usize, column: usize) -> f64 {
        self.gains[row][column]
    }

    /// Sets the impulse of a row; returns how much its rate changes.
    #[inline]
    fn set(&mut self, row: usize, impulse: f64) -> f64 {
        let change = impulse - self.impulses[row];
        if change == 0.0 {
            return 0.0;
        }
        self.impulses[row] = impulse;
        let gains = &self.gains[row];
        add(&mut self.rates, gains, change);
        (change * gains[row]).abs()
    }

    /// Returns how far the coordinates may go before two surfaces that do not press begin to.
    fn room(&self, points: &[Point]) -> f64 {
        let mut least = f64::INFINITY;
        for (row, point) in points.iter().enumerate() {
            let slack = self.rates[row] + point.bias;
            if point.inverse_gain > 0.0 {
                let room = if slack > SLACK_MIN { slack } else { 0.0 };
                least = least.min(room / self.gain(row, row).sqrt());
            }
        }
        least
    }

    /// Finds the pressures; returns how much a rate changed at the most in the first turn.
    fn press(&mut self, points: &[Point], turns: Turns) -> f64 {
        let mut most = 0.0;
        for turn in 0..turns.pressures {
            let mut change = 0.0;
            for (row, point) in points.iter().enumerate() {
                let impulse = self.impulses[row];
                let rate = self.rates[row] + (point.bias + point.softness * impulse);
                let pressure = greater(0.0, impulse - rate * point.inverse_gain);
                change = greater(change, self.set(row, pressure));
            }
            if turn == 0 {
                most = change;
            }
            if change < turns.tolerance || points.len() == 1 {
                break;
            }
        }
        most
    }

    /// Finds the friction of a block; returns how much a rate changed at the most.
    fn rub(&mut self, block: &mut Block) -> f64 {
        let row = block.first;
        match block.law {
            Law::Round | Law::Boxed => {
                let pressure = self.impulses[block.points[0]];
                if pressure == 0.0 && self.impulses[row] == 0.0 && self.impulses[row + 1] == 0.0 {
                    return 0.0;
                }
                let wanted = if block.law == Law::Round {
                    self.round(block, pressure)
                } else {
                    self.boxed(block, pressure)
                };
                greater(self.set(row, wanted[0]), self.set(row + 1, wanted[1]))
            }
            Law::Line => {
                let [first, last] = block.points;
                let pressure = self.impulses[first] + self.impulses[last - 1];
                let wanted = self.line(block, pressure).to_array();
                let changes = [0, 1, 2].map(|at| self.set(row + at, wanted[at]));
                changes[0].max(changes[1]).max(changes[2])
            }
            Law::Twist => {
                let pressure = self.impulses[block.points[0]];
                self.set(row, self.twist(block, pressure))
            }
        }
    }

    fn twist(&self, block: &Block, pressure: f64) -> f64 {
        let row = block.first;
        let limit = block.coefficients[0] * pressure;
        // Unlike `clamp`, these take what is no number.
        let wanted = self.impulses[row] - self.rates[row] * block.inverse.x_axis.x;
        wanted.max(-limit).min(limit)
    }

    /// Returns the impulses along both tangents under which nothing slips.
    fn stuck(&self, block: &Block) -> [f64; 2] {
        let row = block.first;
        let [x, y] = [self.impulses[row], self.impulses[row + 1]];
        let (first, second) = (block.inverse.x_axis, block.inverse.y_axis);
        let (u, v) = (
            self.rates[row] + block.yields(0) * x,
            self.rates[row + 1] + block.yields(1) * y,
        );
        [
            x - (first.x * u + second.x * v),
            y - (second.x * u + second.y * v),
        ]
    }

    /// Returns friction that is the least of power among all within the cone (maximum dissipation).
    fn round(&self, block: &mut Block, pressure: f64) -> [f64; 2] {
        let limit = block.coefficients[0] * pressure;
        if limit <= 0.0 || block.least <= 0.0 {
            return [0.0; 2];
        }
        let stuck = self.stuck(block);
        let square = |out: [f64; 2]| out[0] * out[0] + out[1] * out[1];
        if square(stuck) <= limit * limit {
            block.shift = 0.0;
            return stuck;
        }
        let row = block.first;
        let (k11, k22, k12) = (
            self.gain(row, row) + block.yields(0),
            self.gain(row + 1, row + 1) + block.yields(1),
            self.gain(row, row + 1),
        );
        // The gains times the impulses under which nothing slips.
        let b = [
            k11 * stuck[0] + k12 * stuck[1],
            k12 * stuck[0] + k22 * stuck[1],
        ];
        // (K + shift) impulse = b with the impulse as long as the limit: Newton's method on the
        // inverse of the length, which is nearly straight (Moré and Sorensen, 1983).
        let least = first_shift(square(b).sqrt(), limit, k11.max(k22) + k12.abs());
        let mut shift = block.shift.max(least);
        let mut out = stuck;
        let mut length = limit;
        for _ in 0..SHIFTS_MAX {
            let (a, d) = (k11 + shift, k22 + shift);
            let scale = 1.0 / (a * d - k12 * k12);
            out = [
                (d * b[0] - k12 * b[1]) * scale,
                (a * b[1] - k12 * b[0]) * scale,
            ];
            length = square(out).sqrt();
            if (length - limit).abs() < SHIFT_PRECISION * limit {
                break;
            }
            let inner = [d * out[0] - k12 * out[1], a * out[1] - k12 * out[0]];
            let slope = (out[0] * inner[0] + out[1] * inner[1]) * scale;
            shift += (length - limit) * length * length / (limit * slope);
            shift = shift.max(0.0);
        }
        block.shift = shift;
        out.map(|part| part * (limit / length))
    }

    /// Returns friction whose parts along both directions have limits of their own.
    fn boxed(&self, block: &Block, pressure: f64) -> [f64; 2] {
        if block.least <= 0.0 {
            return [0.0; 2];
        }
        let row = block.first;
        let limits = block.coefficients.map(|coefficient| coefficient * pressure);
        let [x, y] = self.stuck(block);
        if x.abs() <= limits[0] && y.abs() <= limits[1] {
            return [x, y];
        }
        let (k11, k22, k12) = (
            self.gain(row, row) + block.yields(0),
            self.gain(row + 1, row + 1) + block.yields(1),
            self.gain(row, row + 1),
        );
        let b = [k11 * x + k12 * y, k12 * x + k22 * y];
        let mut out = [self.impulses[row], self.impulses[row + 1]];
        for _ in 0..4 {
            let first = (b[0] - k12 * out[1]) / k11;
            out[0] = first.max(-limits[0]).min(limits[0]);
            let second = (b[1] - k12 * out[0]) / k22;
            out[1] = second.max(-limits[1]).min(limits[1]);
        }
        out
    }

    /// Returns force and moment along a line of contact.
    fn line(&self, block: &mut Block, pressure: f64) -> DVec3 {
        let row = block.first;
        let limit = block.coefficients[0] * pressure;
        if block.least <= 0.0 || limit <= 0.0 {
            return DVec3::ZERO;
        }
        let before = DVec3::from_slice(&self.impulses[row..]);
        let rates = DVec3::from_slice(&self.rates[row..]);
        let stuck = before - block.inverse * (rates + before * block.least);
        if stuck.length_squared() <= limit * limit {
            block.shift = 0.0;
            return stuck;
        }
        // As for a single point, in three dimensions.
        let gains = block_gains(self.gains, row);
        let gains = gains + DMat3::from_diagonal(DVec3::splat(block.least));
        let wanted = gains * stuck;
        let least_shift = first_shift(wanted.length(), limit, greatest_sum(gains));
        let mut shift = block.shift.max(least_shift);
        let (mut out, mut length) = (stuck, limit);
        for _ in 0..SHIFTS_MAX {
            let inverse = (gains + DMat3::from_diagonal(DVec3::splat(shift))).inverse();
            out = inverse * wanted;
            length = out.length();
            if (length - limit).abs() < SHIFT_PRECISION * limit {
                break;
            }
            let slope = out.dot(inverse * out);
            shift += (length - limit) * length * length / (limit * slope);
            shift = shift.max(0.0);
        }
        block.shift = shift;
        out * (limit / length)
    }
}

impl Block {
    /// Returns the compliance along a tangent. Where joints leave one direction alone, the other
    /// one is as good as rigid.
    #[inline]
    fn yields(&self, axis: usize) -> f64 {
        self.slips[axis] + self.least
    }

    /// Finds the inverse of the gains, which are a part of those of its manifold.
    fn invert<const SIZE: usize>(&mut self, gains: &[[f64; SIZE]]) {
        let first = self.first;
        let own = |row: usize, column: usize| gains[first + row][first + column];
        self.least = 0.0;
        self.inverse = DMat3::ZERO;
        let most = (0..self.law.rows()).fold(0.0, |most, row| f64::max(most, own(row, row)));
        if most <= 0.0 {
            return;
        }
        self.least = GAIN_RATIO_LEAST * most;
        match self.law {
            Law::Twist => self.inverse.x_axis.x = 1.0 / own(0, 0),
            Law::Line => {
                let added = DMat3::from_diagonal(DVec3::splat(self.least));
                self.inverse = (block_gains(gains, self.first) + added).inverse();
            }
            Law::Round | Law::Boxed => {
                let (k11, k22, k12) = (
                    own(0, 0) + self.yields(0),
                    own(1, 1) + self.yields(1),
                    own(0, 1),
                );
                let scale = 1.0 / (k11 * k22 - k12 * k12);
                self.inverse.x_axis.x = k22 * scale;
                self.inverse.y_axis.x = -k12 * scale;
                self.inverse.y_axis.y = k11 * scale;
            }
        }
    }
}

/// Returns three rows and columns of a matrix that is given by rows.
fn block_gains<const SIZE: usize>(gains: &[[f64; SIZE]], first: usize) -> DMat3 {
    let column = |at: usize| {
        let [x, y, z] = [0, 1, 2].map(|row| gains[first + row][first + at]);
        DVec3::new(x, y, z)
    };
    DMat3::from_cols(column(0), column(1), column(2))
}

/// Returns the greater of two numbers, the first where the second is none: `max` in one
/// instruction.
#[inline]
fn greater(first: f64, second: f64) -> f64 {
    if second > first { second } else { first }
}

/// Returns the gains of four rows on four others.
#[inline]
fn squares<const SIZE: usize>(
    columns: &[[f64; SIZE]],
    first: usize,
    second: usize,
) -> [[f64; LANES]; LANES] {
    let mut sums = [[0.0; LANES]; LANES];
    for column in columns {
        let own: &[f64; LANES] = column[first..].first_chunk().expect("rows are by fours");
        let others: &[f64; LANES] = column[second..].first_chunk().expect("rows are by fours");
        for row in 0..LANES {
            for lane in 0..LANES {
                sums[row][lane] += others[lane] * own[row];
            }
        }
    }
    sums
}

/// Returns the product of two vectors.
#[inline]
fn dot<const SIZE: usize>(first: &[f64; SIZE], second: &[f64; SIZE]) -> f64 {
    let mut sums = [0.0; LANES];
    let (first, _) = first.as_chunks::<LANES>();
    let (second, _) = second.as_chunks::<LANES>();
    for (one, other) in first.iter().zip(second) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Adds a multiple of a vector.
#[inline]
fn add<const SIZE: usize>(out: &mut [f64; SIZE], vector: &[f64; SIZE], factor: f64) {
    for (value, part) in out.iter_mut().zip(vector) {
        *value += part * factor;
    }
}

/// The least compliance of friction, as a part of what an impulse changes.
const GAIN_RATIO_LEAST: f64 = 1e-9;

/// The most steps of Newton's method towards the limit of friction, and how near is near enough.
const SHIFTS_MAX: usize = 12;
const SHIFT_PRECISION: f64 = 1e-4;

/// Returns a shift that is too small, but not by much, from which Newton's method does not
/// overshoot: no gain in any direction is greater than `most`.
fn first_shift(wanted: f64, limit: f64, most: f64) -> f64 {
    (wanted / limit - most).max(0.0)
}

/// Returns the greatest sum over a column of a matrix, which no eigenvalue is greater than
/// (Gershgorin).
fn greatest_sum(matrix: DMat3) -> f64 {
    let sum = |column: DVec3| column.abs().element_sum();
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(sum);
    x.max(y).max(z)
}

/// Returns two unit vectors at right angles to another one and to each other.
pub fn across(normal: DVec3) -> [DVec3; 2] {
    let first = normal.any_orthonormal_vector();
    [first, normal.cross(first)]
}
