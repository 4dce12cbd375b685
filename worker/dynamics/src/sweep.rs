//! Sweeps: the impulses of contacts and axes, found one after the other until nothing changes much
//! (projected Gauss-Seidel).

use glam::{DMat3, DVec3};

use crate::axis::Role;
use crate::mover::{Lever, Store, Velocities};

/// The most sweeps over the pressures between two surfaces before friction.
const PRESSURE_TURNS: usize = 6;

/// One thing that acts along an axis.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The number of the axis.
    pub(crate) axis: usize,
    pub(crate) role: Role,
    pub(crate) island: u32,
    pub(crate) levers: [Option<Lever>; 2],
    /// The rate that the motion of bases gives.
    pub(crate) base_rate: f64,
    /// The change of the rate per impulse.
    pub(crate) gain: f64,
    pub(crate) impulse: f64,
    pub(crate) total: f64,
    /// The rates between which nothing acts.
    pub(crate) rates: [f64; 2],
    /// The least and the greatest impulse.
    pub(crate) impulses: [f64; 2],
    /// The compliance of the rate \[rate per impulse\].
    pub(crate) softness: f64,
}

impl Row {
    pub(crate) fn rate(&self, velocities: &Velocities, store: &Store) -> f64 {
        let levers = self.levers.iter().flatten();
        let own: f64 = levers.map(|lever| lever.rate(velocities, store)).sum();
        own + self.base_rate
    }

    pub(crate) fn push(&self, impulse: f64, velocities: &mut Velocities, store: &Store) {
        for lever in self.levers.iter().flatten() {
            lever.push(impulse, velocities, store);
        }
    }

    /// Finds the impulse that brings the rate between its bounds, no more than needed; returns how
    /// much the rate changed.
    pub(crate) fn solve(&mut self, velocities: &mut Velocities, store: &Store) -> f64 {
        let gain = self.gain + self.softness;
        if gain <= 0.0 {
            return 0.0;
        }
        // The rate without any impulse along this row.
        let free = self.rate(velocities, store) - self.gain * self.impulse;
        // Unlike `clamp`, these take what is no number.
        let target = free.max(self.rates[0]).min(self.rates[1]);
        let wanted = (target - free) / gain;
        let impulse = wanted.max(self.impulses[0]).min(self.impulses[1]);
        let change = impulse - self.impulse;
        self.impulse = impulse;
        self.push(change, velocities, store);
        (change * self.gain).abs()
    }
}

/// The levers of a point along its normal and two tangents.
#[derive(Clone, Debug)]
pub(crate) enum Grip {
    /// Two bodies of their own, or what never moves: the arms of the normal and the tangents, and
    /// what a unit impulse turns.
    Bodies {
        bodies: [usize; 2],
        inverse_masses: [f64; 2],
        arms: [[DVec3; 3]; 2],
        turns: [[DVec3; 3]; 2],
    },
    /// Anything else.
    Levers(Box<[[Option<Lever>; 3]; 2]>),
}

/// A contact, ready to be solved.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) contact: usize,
    /// The number that points between the same two surfaces share.
    pub(crate) manifold: u32,
    pub(crate) island: u32,
    /// Normal and tangents.
    pub(crate) directions: [DVec3; 3],
    pub(crate) grip: Grip,
    /// The rates that the motion of bases gives, with the velocity of the surface.
    pub(crate) base_rates: [f64; 3],
    /// The change of the rate along the normal per impulse.
    pub(crate) gain: f64,
    /// The same of the tangents: both diagonal entries, then the other.
    pub(crate) tangent_gains: [f64; 3],
    pub(crate) impulses: [f64; 3],
    pub(crate) totals: [f64; 3],
    pub(crate) coefficients: [f64; 2],
    /// Whether both tangents have limits of their own.
    pub(crate) is_boxed: bool,
    pub(crate) slips: [f64; 2],
    /// Arms from the centres of mass of both bodies \[m\].
    pub(crate) arms: [DVec3; 2],
    /// The bias of the rate along the normal.
    pub(crate) bias: f64,
    /// The compliance along the normal \[m/s/(N s)\].
    pub(crate) softness: f64,
    /// The rate of approach when they met in this step, if they are to bounce.
    pub(crate) approach: f64,
    pub(crate) restitution: f64,
    /// Distance between both surfaces now \[m\].
    pub(crate) gap: f64,
    /// The moment about the normal.
    pub(crate) twist: Option<Row>,
    pub(crate) torsion: f64,
    /// Friction of this and the next point, where the two are the ends of a line.
    pub(crate) patch: Option<Box<Patch>>,
}

/// Friction along a line of contact, such as that of a wheel: force and moment share one limit,
/// which is an ellipsoid of them (Howe and Cutkosky, *Practical force-motion models for sliding
/// manipulation*, 1996). Two points at the ends of the line would hold on to one of them instead.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch {
    /// Along both tangents, and about the normal in units of the radius.
    pub(crate) levers: [[Option<Lever>; 2]; 3],
    pub(crate) base_rates: [f64; 3],
    /// The changes of the rates per impulse.
    pub(crate) gains: DMat3,
    pub(crate) impulses: DVec3,
    pub(crate) totals: DVec3,
    /// Arms from the centres of mass of both bodies \[m\].
    pub(crate) arms: [DVec3; 2],
    pub(crate) coefficient: f64,
    /// The moment of even pressure on the line that slips about its middle, as a part of the
    /// pressure times friction: a quarter of its length \[m\].
    pub(crate) radius: f64,
}

impl Patch {
    fn push(&self, impulses: DVec3, velocities: &mut Velocities, store: &Store) {
        for (levers, impulse) in self.levers.iter().zip(impulses.to_array()) {
            for lever in levers.iter().flatten() {
                lever.push(impulse, velocities, store);
            }
        }
    }

    /// Finds force and moment under a pressure; returns how much a rate changed at the most.
    fn rub(&mut self, pressure: f64, velocities: &mut Velocities, store: &Store) -> f64 {
        let rate = |number: usize| {
            let levers = self.levers[number].iter().flatten();
            let own: f64 = levers.map(|lever| lever.rate(velocities, store)).sum();
            own + self.base_rates[number]
        };
        let rates = DVec3::new(rate(0), rate(1), rate(2));
        let wanted = self.gains * self.impulses - rates;
        let limit = self.coefficient * pressure;
        let diagonal = self.gains.diagonal();
        let least = 1e-9 * diagonal.max_element();
        if least <= 0.0 {
            return 0.0;
        }
        let inverse =
            |shift: f64| (self.gains + DMat3::from_diagonal(DVec3::splat(shift + least))).inverse();
        let mut out = inverse(0.0) * wanted;
        if limit <= 0.0 {
            out = DVec3::ZERO;
        } else if out.length_squared() > limit * limit {
            // As for a single point, in three dimensions.
            let mut shift = first_shift(wanted.length(), limit, diagonal.element_sum());
            for _ in 0..SHIFTS_MAX {
                let inverse = inverse(shift);
                out = inverse * wanted;
                let length = out.length();
                if (length - limit).abs() < SHIFT_PRECISION * limit {
                    break;
                }
                let slope = out.dot(inverse * out);
                shift += (length - limit) / limit * length * length / slope;
                shift = shift.max(0.0);
            }
            out *= limit / out.length();
        }
        let change = out - self.impulses;
        self.impulses = out;
        self.push(change, velocities, store);
        (change * diagonal).abs().max_element()
    }

    /// Begins with the impulses of before.
    pub(crate) fn warm(&self, velocities: &mut Velocities, store: &Store) {
        self.push(self.impulses, velocities, store);
    }
}

impl Point {
    #[inline]
    fn rate(&self, direction: usize, velocities: &Velocities, store: &Store) -> f64 {
        let own = match &self.grip {
            Grip::Bodies { bodies, arms, .. } => {
                let [first, first_spin] = velocities.bodies[bodies[0]];
                let [second, second_spin] = velocities.bodies[bodies[1]];
                self.directions[direction].dot(first - second)
                    + arms[0][direction].dot(first_spin)
                    + arms[1][direction].dot(second_spin)
            }
            Grip::Levers(levers) => {
                let both = [&levers[0][direction], &levers[1][direction]];
                let both = both.into_iter().flatten();
                both.map(|lever| lever.rate(velocities, store)).sum()
            }
        };
        own + self.base_rates[direction]
    }

    #[inline]
    fn push(&self, direction: usize, impulse: f64, velocities: &mut Velocities, store: &Store) {
        match &self.grip {
            Grip::Bodies {
                bodies,
                inverse_masses,
                turns,
                ..
            } => {
                let along = self.directions[direction] * impulse;
                for (side, sign) in [(0, 1.0), (1, -1.0)] {
                    let [velocity, spin] = &mut velocities.bodies[bodies[side]];
                    *velocity += along * (sign * inverse_masses[side]);
                    *spin += turns[side][direction] * impulse;
                }
            }
            Grip::Levers(levers) => {
                for lever in [&levers[0][direction], &levers[1][direction]]
                    .into_iter()
                    .flatten()
                {
                    lever.push(impulse, velocities, store);
                }
            }
        }
    }

    /// Returns the rate along the normal.
    pub(crate) fn approach_rate(&self, velocities: &Velocities, store: &Store) -> f64 {
        self.rate(0, velocities, store)
    }

    /// Begins with the impulses of before.
    pub(crate) fn warm(&mut self, velocities: &mut Velocities, store: &Store) {
        for direction in 0..3 {
            self.push(direction, self.impulses[direction], velocities, store);
        }
        if let Some(twist) = &mut self.twist {
            twist.push(twist.impulse, velocities, store);
        }
        if let Some(patch) = &self.patch {
            patch.warm(velocities, store);
        }
    }

    /// Finds the pressure; returns how much the rate changed.
    fn press(&mut self, velocities: &mut Velocities, store: &Store) -> f64 {
        if self.gain <= 0.0 {
            return 0.0;
        }
        let rate = self.rate(0, velocities, store) + self.bias + self.softness * self.impulses[0];
        let pressure = (self.impulses[0] - rate / (self.gain + self.softness)).max(0.0);
        let change = pressure - self.impulses[0];
        if change != 0.0 {
            self.impulses[0] = pressure;
            self.push(0, change, velocities, store);
        }
        (change * self.gain).abs()
    }

    /// Finds friction; returns how much a rate changed at the most.
    fn rub(&mut self, velocities: &mut Velocities, store: &Store) -> f64 {
        let [pressure, first, second] = self.impulses;
        let is_loose = pressure == 0.0 && first == 0.0 && second == 0.0;
        let [k11, k22, _] = self.tangent_gains;
        if is_loose || k11 <= 0.0 && k22 <= 0.0 {
            return 0.0;
        }
        let mut most: f64 = 0.0;
        let rates = [1, 2].map(|direction| self.rate(direction, velocities, store));
        let wanted = if self.is_boxed {
            self.boxed_friction(rates, pressure)
        } else {
            self.round_friction(rates, pressure)
        };
        for (axis, wanted) in wanted.into_iter().enumerate() {
            let change = wanted - self.impulses[axis + 1];
            self.impulses[axis + 1] = wanted;
            self.push(axis + 1, change, velocities, store);
            most = most.max((change * self.tangent_gains[axis]).abs());
        }
        if let Some(twist) = &mut self.twist {
            let limit = self.torsion * pressure;
            twist.impulses = [-limit, limit];
            twist.solve(velocities, store);
        }
        most
    }

    /// Returns friction that is the least of power among all within the cone (maximum dissipation).
    fn round_friction(&self, rates: [f64; 2], pressure: f64) -> [f64; 2] {
        let [mut k11, mut k22, k12] = self.tangent_gains;
        let [x, y] = [self.impulses[1], self.impulses[2]];
        // What the impulses must amount to, times the gains.
        let b = [k11 * x + k12 * y - rates[0], k12 * x + k22 * y - rates[1]];
        // Where joints leave one direction alone, the other one is as good as rigid.
        let least = 1e-9 * k11.max(k22);
        k11 += self.slips[0] + least;
        k22 += self.slips[1] + least;
        let limit = self.coefficients[0] * pressure;
        let solve = |shift: f64| {
            let (a, d) = (k11 + shift, k22 + shift);
            let scale = 1.0 / (a * d - k12 * k12);
            let out = [
                (d * b[0] - k12 * b[1]) * scale,
                (a * b[1] - k12 * b[0]) * scale,
            ];
            (out, (a, d, scale))
        };
        let (stuck, _) = solve(0.0);
        let square = |out: [f64; 2]| out[0] * out[0] + out[1] * out[1];
        if square(stuck) <= limit * limit {
            return stuck;
        }
        if limit <= 0.0 {
            return [0.0; 2];
        }
        // (K + shift) impulse = b with the impulse as long as the limit: Newton's method on the
        // inverse of the length, which is nearly straight (Moré and Sorensen, 1983).
        let mut shift = first_shift(square(b).sqrt(), limit, k11 + k22);
        let mut out = stuck;
        for _ in 0..SHIFTS_MAX {
            let (next, (a, d, scale)) = solve(shift);
            out = next;
            let length = square(out).sqrt();
            if (length - limit).abs() < SHIFT_PRECISION * limit {
                break;
            }
            let inner = [
                (d * out[0] - k12 * out[1]) * scale,
                (a * out[1] - k12 * out[0]) * scale,
            ];
            let slope = out[0] * inner[0] + out[1] * inner[1];
            shift += (length - limit) / limit * length * length / slope;
            shift = shift.max(0.0);
        }
        let length = square(out).sqrt();
        out.map(|part| part * (limit / length))
    }

    /// Returns friction whose parts along both directions have limits of their own.
    fn boxed_friction(&self, rates: [f64; 2], pressure: f64) -> [f64; 2] {
        let [mut k11, mut k22, k12] = self.tangent_gains;
        let least = 1e-9 * k11.max(k22);
        (k11, k22) = (k11 + least, k22 + least);
        let [x, y] = [self.impulses[1], self.impulses[2]];
        let b = [k11 * x + k12 * y - rates[0], k12 * x + k22 * y - rates[1]];
        let limits = self.coefficients.map(|coefficient| coefficient * pressure);
        let mut out = [x, y];
        for _ in 0..4 {
            let first = (b[0] - k12 * out[1]) / (k11 + self.slips[0]);
            out[0] = first.max(-limits[0]).min(limits[0]);
            let second = (b[1] - k12 * out[0]) / (k22 + self.slips[1]);
            out[1] = second.max(-limits[1]).min(limits[1]);
        }
        out
    }
}

/// The most steps of Newton's method towards the limit of friction, and how near is near enough.
const SHIFTS_MAX: usize = 12;
const SHIFT_PRECISION: f64 = 1e-6;

/// Returns a shift that is too small, but not by much, from which Newton's method does not
/// overshoot: no gain is greater than the sum of all.
fn first_shift(wanted: f64, limit: f64, gains: f64) -> f64 {
    (wanted / limit - gains).max(0.0)
}

/// Finds the impulses between two surfaces: first the pressures, which act on each other most, then
/// friction. Returns how much a rate changed at the most.
pub(crate) fn solve_manifold(
    points: &mut [Point],
    tolerance: f64,
    velocities: &mut Velocities,
    store: &Store,
) -> f64 {
    let mut most = 0.0;
    for turn in 0..PRESSURE_TURNS {
        let mut change = 0.0;
        for point in points.iter_mut() {
            change = f64::max(change, point.press(velocities, store));
        }
        if turn == 0 {
            most = change;
        }
        if change < tolerance || points.len() == 1 {
            break;
        }
    }
    if let [first, second] = points
        && let Some(patch) = &mut first.patch
    {
        let pressure = first.impulses[0] + second.impulses[0];
        return f64::max(most, patch.rub(pressure, velocities, store));
    }
    for point in points {
        most = f64::max(most, point.rub(velocities, store));
    }
    most
}

/// Returns two unit vectors at right angles to another one and to each other.
pub fn across(normal: DVec3) -> [DVec3; 2] {
    let first = normal.any_orthonormal_vector();
    [first, normal.cross(first)]
}
