//! Scenes whose outcome is known from a closed form, and what Phalanx makes of them.
//!
//! A [`Case`] writes its scene as SDF, steps it in a cell in this process and returns
//! [`Quantity`]s, each with the value that mechanics demands and the tolerance that it is held to.
//! The bench `truth` prints all of them, the test `truth` holds the cheap ones; where formulas come
//! from is told in [`Case::source`]. No case knows of the solver that it measures.

pub mod dart;
pub mod drops;
mod joints;
mod landing;
mod motion;
mod pendulums;
pub mod planar;
pub mod robots;
pub mod scene;
pub mod simulation;
mod sliding;
mod standing;
mod surfaces;
mod tipping;
mod wheels;

/// Standard gravity of all scenes \[m/s^2\].
pub const GRAVITY: f64 = 9.8;

/// The default step size \[s\].
pub const FINE: f64 = 0.001;
/// The step size of worlds that are stepped coarsely \[s\].
pub const COARSE: f64 = 0.004;

/// The duration of long cases.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Simulated time of cases that wait for drift \[s\].
    pub long_s: f64,
}

impl Effort {
    /// The durations that the targets are about.
    pub const FULL: Self = Self { long_s: 60.0 };
    /// Durations that show gross faults.
    pub const QUICK: Self = Self { long_s: 5.0 };
}

/// A scene with its expected outcome.
pub struct Case {
    /// Name by which it is chosen.
    pub name: &'static str,
    /// Origin of the expected values.
    pub source: &'static str,
    /// Measures it.
    pub run: fn(Effort) -> Vec<Quantity>,
}

/// Returns the cases that need nothing but Phalanx.
pub fn cases() -> Vec<Case> {
    let groups = [
        standing::cases(),
        tipping::cases(),
        sliding::cases(),
        wheels::cases(),
        landing::cases(),
        surfaces::cases(),
        joints::cases(),
        pendulums::cases(),
        motion::cases(),
    ];
    groups.into_iter().flatten().collect()
}

/// Meaning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Difference as a part of the expected value.
    Relative,
    /// Difference in the unit of both values.
    Absolute,
    /// The difference to the expected value.
    Shortfall,
}

/// One number that was measured.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// Name of it within its case.
    pub name: String,
    /// Simulated time per step \[s\].
    pub step_s: f64,
    /// Unit of both values.
    pub unit: &'static str,
    /// Value that mechanics or the reference engine demands.
    pub expected: f64,
    /// Value that Phalanx reached.
    pub measured: f64,
    /// Meaning of its error.
    pub kind: ErrorKind,
    /// Greatest error that passes, in the unit or as a part.
    pub tolerance: f64,
}

impl Quantity {
    /// Makes one whose error is a part of the expected value.
    pub fn relative(name: impl Into<String>, step_s: f64, [expected, measured]: [f64; 2]) -> Self {
        Self {
            name: name.into(),
            step_s,
            unit: "",
            expected,
            measured,
            kind: ErrorKind::Relative,
            tolerance: 0.005,
        }
    }

    /// Makes one whose error is a difference.
    pub fn absolute(name: impl Into<String>, step_s: f64, [expected, measured]: [f64; 2]) -> Self {
        Self {
            kind: ErrorKind::Absolute,
            ..Self::relative(name, step_s, [expected, measured])
        }
    }

    /// Makes one that passes when it is at least the expected value.
    pub fn at_least(name: impl Into<String>, step_s: f64, [expected, measured]: [f64; 2]) -> Self {
        Self {
            kind: ErrorKind::Shortfall,
            tolerance: 0.0,
            ..Self::relative(name, step_s, [expected, measured])
        }
    }

    /// Sets the greatest error that passes.
    #[must_use]
    pub fn within(mut self, tolerance: f64, unit: &'static str) -> Self {
        self.tolerance = tolerance;
        self.unit = unit;
        self
    }

    /// Returns how far off it is, in the unit or as a part of the expected value.
    pub fn error(&self) -> f64 {
        let difference = (self.measured - self.expected).abs();
        match self.kind {
            ErrorKind::Relative => difference / self.expected.abs(),
            ErrorKind::Shortfall if self.measured >= self.expected => 0.0,
            ErrorKind::Absolute | ErrorKind::Shortfall => difference,
        }
    }

    /// Tells whether it is within its tolerance; what is no number never is.
    pub fn is_passed(&self) -> bool {
        self.error() <= self.tolerance
    }
}

/// Makes a quantity that should be zero.
fn zero(name: impl Into<String>, step_s: f64, measured: f64) -> Quantity {
    Quantity::absolute(name, step_s, [0.0, measured])
}
