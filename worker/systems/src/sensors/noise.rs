//! Noise of sensors: SDF's `<noise>`, from random numbers of seed, sensor and time alone.
//!
//! Gaussian noise with a bias that is drawn once, perhaps one that wanders (an Ornstein-Uhlenbeck
//! process, stepped exactly over any interval), and perhaps rounding. Source: SDFormat,
//! `noise.sdf`; gz-sensors, `GaussianNoiseModel.cc`.

use protocol::Publisher;
use sdf::Content;
use serde::{Deserialize, Serialize};

use super::parameters::{self, positive};
use crate::random::Draw;
use crate::{ConfigureError, Context, load, save};

/// Noise of one channel of a sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Noise {
    mean: f64,
    pub(super) stddev: f64,
    bias_mean: f64,
    bias_stddev: f64,
    dynamic_bias_stddev: f64,
    /// \[s\]
    dynamic_bias_correlation_time: f64,
    /// Rounding step of measurements; 0 for none.
    precision: f64,
}

impl Noise {
    /// Reads the `<noise>` in an element at a path; `None` without one, or one of type `none`.
    ///
    /// # Errors
    /// Fails if its type is not known or a number is none.
    pub(super) fn read(content: &Content, path: &str) -> Result<Option<Self>, ConfigureError> {
        let outer = if path.is_empty() {
            Some(content)
        } else {
            parameters::find(content, path)
        };
        let Some(noise) = outer.and_then(|outer| outer.child("noise")) else {
            return Ok(None);
        };
        // Lidars and cameras have an element where the others have an attribute.
        let written = parameters::text(noise, "type");
        let kind = noise.attribute("type").or(written.as_deref());
        let is_quantized = match kind.unwrap_or("none") {
            "none" => return Ok(None),
            "gaussian" => false,
            "gaussian_quantized" => true,
            other => {
                return Err(ConfigureError(format!("{other:?} is no type of <noise>")));
            }
        };
        let precision = positive(noise, "precision", 0.0)?;
        Ok(Some(Self {
            mean: parameters::finite(noise, "mean", 0.0)?,
            stddev: positive(noise, "stddev", 0.0)?,
            bias_mean: parameters::finite(noise, "bias_mean", 0.0)?,
            bias_stddev: positive(noise, "bias_stddev", 0.0)?,
            dynamic_bias_stddev: positive(noise, "dynamic_bias_stddev", 0.0)?,
            dynamic_bias_correlation_time: positive(noise, "dynamic_bias_correlation_time", 0.0)?,
            precision: if is_quantized { precision } else { 0.0 },
        }))
    }

    fn wanders(&self) -> bool {
        self.dynamic_bias_stddev > 0.0 && self.dynamic_bias_correlation_time > 0.0
    }

    /// Returns the bias that it starts with; its sign is a matter of chance too.
    fn first_bias(&self, draw: &mut Draw) -> f64 {
        let bias = self.bias_mean + self.bias_stddev * draw.gaussian();
        if draw.uniform() < 0.5 { -bias } else { bias }
    }

    /// Returns a bias after an interval \[s\].
    fn next_bias(&self, bias: f64, interval_s: f64, draw: &mut Draw) -> f64 {
        let tau = self.dynamic_bias_correlation_time;
        let sigma = self.dynamic_bias_stddev;
        let spread = -sigma * sigma * tau / 2.0 * libm::expm1(-2.0 * interval_s / tau);
        libm::exp(-interval_s / tau) * bias + spread.sqrt() * draw.gaussian()
    }
}

/// The noise of all channels of a sensor.
#[derive(Default)]
pub(super) struct NoiseBank {
    channels: Vec<Option<Noise>>,
    state: State,
}

/// Saved state: the wandering biases; empty before the first measurement.
#[derive(Clone, Default, Serialize, Deserialize)]
struct State {
    biases: Vec<f64>,
    measured_ns: u64,
}

/// The noise of one measurement.
pub(super) struct Noisy<'a> {
    channels: &'a [Option<Noise>],
    biases: Vec<f64>,
    draw: Draw,
}

impl NoiseBank {
    /// Makes the noise of some channels.
    pub(super) fn new(channels: Vec<Option<Noise>>) -> Self {
        Self {
            channels,
            state: State::default(),
        }
    }

    /// Reads the noise of the elements at some paths, a channel each.
    ///
    /// # Errors
    /// Fails if one is wrong.
    pub(super) fn read(content: &Content, paths: &[&str]) -> Result<Self, ConfigureError> {
        let channels = paths.iter().map(|path| Noise::read(content, path));
        Ok(Self::new(channels.collect::<Result<_, _>>()?))
    }

    /// Lets biases wander as a measurement would.
    pub(super) fn skip(&mut self, context: &Context<'_>) {
        if self.channels.iter().flatten().any(Noise::wanders) {
            self.begin(context);
        }
    }

    /// Begins a measurement.
    pub(super) fn begin(&mut self, context: &Context<'_>) -> Noisy<'_> {
        self.begin_at(context.time.seed, context.publisher, context.time.elapsed.0)
    }

    fn begin_at(&mut self, seed: u64, publisher: Publisher, elapsed_ns: u64) -> Noisy<'_> {
        let channels = &self.channels;
        // No measurement is made at time 0, so that what is drawn once is drawn there.
        let mut once = draw(seed, publisher, 0);
        let mut draw = draw(seed, publisher, elapsed_ns);
        let quiet = Noise::default();
        let each = || {
            channels
                .iter()
                .map(|noise| noise.as_ref().unwrap_or(&quiet))
        };
        let mut biases: Vec<f64> = each().map(|noise| noise.first_bias(&mut once)).collect();
        if each().any(Noise::wanders) {
            let interval_s = elapsed_ns.saturating_sub(self.state.measured_ns) as f64 / 1e9;
            let is_first = self.state.biases.len() != channels.len();
            for (index, noise) in each().enumerate().filter(|(_, noise)| noise.wanders()) {
                let before = if is_first {
                    biases[index]
                } else {
                    self.state.biases[index]
                };
                biases[index] = noise.next_bias(before, interval_s, &mut draw);
            }
            self.state.biases.clone_from(&biases);
            self.state.measured_ns = elapsed_ns;
        }
        Noisy {
            channels,
            biases,
            draw,
        }
    }

    /// Returns what it remembers.
    pub(super) fn save(&self) -> Vec<u8> {
        save(&self.state)
    }

    /// Goes on from what one like it remembered.
    pub(super) fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        load(&mut self.state, bytes)
    }
}

impl Noisy<'_> {
    /// Tells whether a channel is as it should be.
    pub(super) fn is_quiet(&self, channel: usize) -> bool {
        self.channels[channel].is_none()
    }

    /// Returns a value as the sensor gives it; what is not finite stays.
    pub(super) fn apply(&mut self, channel: usize, value: f64) -> f64 {
        let Some(noise) = &self.channels[channel] else {
            return value;
        };
        if !value.is_finite() {
            return value;
        }
        let white = noise.mean + noise.stddev * self.draw.gaussian();
        let value = value + self.biases[channel] + white;
        if noise.precision > 0.0 {
            (value / noise.precision).round() * noise.precision
        } else {
            value
        }
    }

    /// Returns a vector as the sensor gives it, from a channel on.
    pub(super) fn apply_vector(&mut self, channel: usize, vector: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| self.apply(channel + axis, vector[axis]))
    }
}

fn draw(seed: u64, publisher: Publisher, elapsed_ns: u64) -> Draw {
    let (model, part) = match publisher {
        Publisher::Model { model, part } => {
            let number = u64::from(model.world) << 32 | u64::from(model.model);
            (number, u64::from(part))
        }
        Publisher::World { world, part } => (u64::from(world) << 32, u64::from(part)),
        Publisher::Client => (0, 0),
    };
    Draw::new(seed, model, part, elapsed_ns)
}
