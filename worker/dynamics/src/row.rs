//! [`Row`]: one thing that acts along an axis, solved by itself.

use std::ops::Range;

use crate::axis::{Axis, Role};
use crate::coordinates::{Coordinates, Path};

/// An axis along which something acts, and where in the coordinates it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// The number of the axis.
    pub(crate) axis: usize,
    pub(crate) island: u32,
    /// Its rows, one for each [`Role`] that it has.
    pub(crate) rows: [usize; 2],
    pub(crate) path: Path,
    /// Its factors among those of all.
    pub(crate) factors: usize,
    /// The rate that what moves as it is told gives.
    pub(crate) base_rate: f64,
    /// The change of the rate per impulse.
    pub(crate) gain: f64,
    /// The length of its factors.
    pub(crate) length: f64,
    /// The way in this step \[m or rad\].
    pub(crate) moved: f64,
}

/// One thing that acts along an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) role: Role,
    pub(crate) impulse: f64,
    pub(crate) total: f64,
    /// The rates between which nothing acts.
    pub(crate) rates: [f64; 2],
    /// The least and the greatest impulse.
    pub(crate) impulses: [f64; 2],
    /// The compliance of the rate \[rate per impulse\].
    pub(crate) softness: f64,
}

/// All axes along which something acts in a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub(crate) all: Vec<Line>,
    pub(crate) rows: Vec<Row>,
    pub(crate) factors: Vec<f64>,
    /// Of each line, the travel of the coordinates up to which nothing acts along it.
    rests: Vec<f64>,
}

/// The least distance of a rate from its bounds at which a line is left alone, and the part of it
/// that counts: far more than the rounding of a rate.
pub(crate) const SLACK_MIN: f64 = 1e-6;
pub(crate) const SLACK_PART: f64 = 0.999;

impl Lines {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.rows.clear();
        self.factors.clear();
    }

    /// Has some lines looked at.
    pub(crate) fn wake(&mut self, lines: Range<usize>) {
        self.rests.resize(self.all.len(), 0.0);
        self.rests[lines].fill(0.0);
    }

    /// Returns the factors of a line.
    #[inline]
    fn factors(&self, line: &Line) -> &[f64] {
        &self.factors[line.factors..line.factors + line.path.len()]
    }

    /// Returns the rate of a line.
    pub(crate) fn rate(&self, line: &Line, coordinates: &Coordinates) -> f64 {
        coordinates.rate(line.path, self.factors(line)) + line.base_rate
    }

    /// Applies all impulses of a line.
    pub(crate) fn warm(&self, number: usize, coordinates: &mut Coordinates) {
        let line = &self.all[number];
        let rows = &self.rows[line.rows[0]..line.rows[1]];
        let impulse: f64 = rows.iter().map(|row| row.impulse).sum();
        coordinates.push(line.path, self.factors(line), impulse);
    }

    /// Finds the impulses along a line, each of which brings the rate between its bounds, no more
    /// than needed; returns how much the rate changed at the most. A line along which nothing acts,
    /// such as a limit that is far away, is left alone until the coordinates have gone far enough
    /// to reach its bounds: the bits are the same.
    pub(crate) fn solve(&mut self, number: usize, coordinates: &mut Coordinates) -> f64 {
        if coordinates.travel < self.rests[number] {
            return 0.0;
        }
        let line = &self.all[number];
        let factors = &self.factors[line.factors..line.factors + line.path.len()];
        let before = coordinates.rate(line.path, factors) + line.base_rate;
        let mut rate = before;
        let (mut sum, mut most, mut slack) = (0.0, 0.0, f64::INFINITY);
        for row in &mut self.rows[line.rows[0]..line.rows[1]] {
            let change = row.change(line.gain, rate);
            row.impulse += change;
            rate += change * line.gain;
            sum += change;
            most = f64::max(most, (change * line.gain).abs());
            slack = slack.min(row.slack(before));
        }
        if sum != 0.0 {
            coordinates.travel += line.length * f64::abs(sum);
            coordinates.push(line.path, factors, sum);
        } else if slack > SLACK_MIN {
            self.rests[number] = coordinates.travel + SLACK_PART * slack / line.length;
        }
        most
    }
}

impl Row {
    /// Makes a row that begins with the impulse of the step before.
    pub(crate) fn begin(role: Role, axis: &Axis) -> Self {
        Self {
            role,
            impulse: axis.impulses[role as usize],
            total: 0.0,
            rates: [0.0; 2],
            impulses: [f64::NEG_INFINITY, f64::INFINITY],
            softness: 0.0,
        }
    }

    /// Returns the change of the impulse at a rate.
    fn change(&self, line_gain: f64, rate: f64) -> f64 {
        let gain = line_gain + self.softness;
        if gain <= 0.0 {
            return 0.0;
        }
        // The rate without any impulse along this row.
        let free = rate - line_gain * self.impulse;
        // Unlike `clamp`, these take what is no number.
        let target = free.max(self.rates[0]).min(self.rates[1]);
        let wanted = (target - free) / gain;
        wanted.max(self.impulses[0]).min(self.impulses[1]) - self.impulse
    }

    /// Returns by how much a rate may change without any impulse; negative where one acts.
    fn slack(&self, rate: f64) -> f64 {
        if self.impulse == 0.0 {
            (rate - self.rates[0]).min(self.rates[1] - rate)
        } else {
            -1.0
        }
    }

    /// Sets what the row asks for at a position, in a substep of a length \[s\]; `ratio` is the
    /// part of an error of position that it takes back.
    pub(crate) fn set(&mut self, axis: &Axis, position: f64, time_s: f64, ratio: f64) {
        match self.role {
            Role::Bounds => self.rates = bounded(axis, position, time_s, ratio),
            Role::Friction => {
                self.impulses = [-axis.friction * time_s, axis.friction * time_s];
            }
            Role::Servo => {
                let [velocity, force] = axis.servo.unwrap_or_default();
                self.rates = [velocity; 2];
                self.impulses = [-force * time_s, force * time_s];
            }
            Role::Hold => self.rates = [-ratio * position / time_s; 2],
            Role::Spring => self.set_spring(axis, position, time_s),
        }
    }

    /// A spring counts by where it will be at the end of the substep.
    fn set_spring(&mut self, axis: &Axis, position: f64, time_s: f64) {
        let (spring, beyond) = match axis.stop {
            None => (axis.spring, position - axis.spring.reference),
            Some(stop) => {
                let bounds = &axis.bounds;
                let beyond = if position < bounds.lower {
                    self.impulses = [0.0, f64::INFINITY];
                    position - bounds.lower
                } else if position > bounds.upper {
                    self.impulses = [f64::NEG_INFINITY, 0.0];
                    position - bounds.upper
                } else {
                    self.impulses = [0.0, 0.0];
                    0.0
                };
                (stop, beyond)
            }
        };
        let yielding = time_s * (spring.damping + time_s * spring.stiffness);
        if yielding <= 0.0 {
            self.impulses = [0.0, 0.0];
            return;
        }
        self.softness = 1.0 / yielding;
        self.rates = [-time_s * spring.stiffness * beyond / yielding; 2];
    }
}

/// Returns the rates between which an axis stays within its bounds; one that is beyond goes back.
fn bounded(axis: &Axis, position: f64, time_s: f64, ratio: f64) -> [f64; 2] {
    let bounds = &axis.bounds;
    let [lower, upper] = if axis.stop.is_some() {
        [f64::NEG_INFINITY, f64::INFINITY]
    } else {
        [bounds.lower, bounds.upper]
    };
    let share = |way: f64| if way < 0.0 { way } else { way * ratio };
    let speed = bounds.speed;
    let least = share((lower - position) / time_s).max(-speed).min(speed);
    let most = (-share((position - upper) / time_s)).max(-speed).min(speed);
    [least.min(most), most]
}
