//! [`Gust`]: how one part of the wind rises, swings and flutters.

use std::f64::consts::TAU;

use sdf::Content;

use super::super::ConfigureError;
use super::super::configuration::number_of;
use super::PART;
use crate::random::Draw;

/// One part of the wind: a speed or a direction.
pub(super) struct Gust {
    rise_s: f64,
    /// Amplitude and period \[s\].
    swing: [f64; 2],
    noise: Option<Noise>,
}

struct Noise {
    mean: f64,
    deviation: f64,
    bias_mean: f64,
    bias_deviation: f64,
    /// Rounding step of values; 0 for none.
    precision: f64,
}

impl Gust {
    /// Reads it from its element; what is missing has Gazebo's defaults.
    pub(super) fn read(content: Option<&Content>, amplitude: &str) -> Result<Self, ConfigureError> {
        let number = |content: Option<&Content>, name: &str, default: f64| {
            let found = content
                .map(|content| number_of(content, name))
                .transpose()?;
            Ok::<f64, ConfigureError>(found.flatten().unwrap_or(default))
        };
        let positive = |content: Option<&Content>, name: &str| {
            let found = number(content, name, 1.0)?;
            if found > 1e-6 {
                Ok(found)
            } else {
                Err(ConfigureError(format!(
                    "<{name}> is not greater than 0: {found}"
                )))
            }
        };
        let swing = content.and_then(|content| content.child("sin"));
        let noise = content.and_then(|content| content.child("noise"));
        let kind = noise.and_then(|noise| noise.attribute("type"));
        let is_quantized = kind == Some("gaussian_quantized");
        let noise = match noise.filter(|_| is_quantized || kind == Some("gaussian")) {
            Some(content) => Some(Noise {
                mean: number(Some(content), "mean", 0.0)?,
                deviation: number(Some(content), "stddev", 0.0)?,
                bias_mean: number(Some(content), "bias_mean", 0.0)?,
                bias_deviation: number(Some(content), "bias_stddev", 0.0)?,
                precision: if is_quantized {
                    number(Some(content), "precision", 0.0)?
                } else {
                    0.0
                },
            }),
            None => None,
        };
        Ok(Self {
            rise_s: positive(content, "time_for_rise")?,
            swing: [number(swing, amplitude, 0.0)?, positive(swing, "period")?],
            noise,
        })
    }

    /// Returns which part of the way to its aim it goes in a step \[s\].
    pub(super) fn share(&self, step_size_s: f64) -> f64 {
        (step_size_s / self.rise_s).min(1.0)
    }

    /// Returns how far it swings at a time \[s\].
    pub(super) fn wave(&self, now_s: f64) -> f64 {
        let [amplitude, period] = self.swing;
        amplitude * libm::sin(TAU * now_s / period)
    }

    /// Returns a value with noise.
    pub(super) fn noise(&self, value: f64, seed: u64, draw: &mut Draw) -> f64 {
        let Some(noise) = &self.noise else {
            return value;
        };
        let bias = Draw::new(seed, u64::MAX, PART, 0).gaussian() * noise.bias_deviation;
        let fluttering = noise.mean + noise.deviation * draw.gaussian();
        let value = value + fluttering + noise.bias_mean + bias;
        if noise.precision > 0.0 {
            libm::round(value / noise.precision) * noise.precision
        } else {
            value
        }
    }
}
