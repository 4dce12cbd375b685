//! [`SpeedLimiter`]: keeps the speed that is asked for within limits of speed, acceleration and
//! jerk.
//!
//! Jerk is limited first, then acceleration, then speed. Source: gz-math, `SpeedLimiter.hh`.

use serde::{Deserialize, Serialize};

use super::configuration::number_of;
use super::{Configuration, ConfigureError};

/// Least and greatest speed, acceleration and jerk; the units are those of the speed, per second
/// and per second squared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpeedLimiter {
    limits: [[f64; 2]; 3],
}

/// The last two speeds, the last first.
pub(super) type Speeds = [f64; 2];

/// A target speed and the recent speeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LimitedSpeed {
    /// Target speed.
    pub(super) target: f64,
    /// Speeds in the last two steps, the last first.
    pub(super) last: Speeds,
}

impl SpeedLimiter {
    /// Reads `min_velocity` and so on, and before them the same with a word for what it is about:
    /// `min_linear_velocity`.
    pub(super) fn read(
        configuration: &Configuration<'_>,
        about: &str,
    ) -> Result<Self, ConfigureError> {
        Self::read_each(|side, what, default| {
            let plain = configuration.number(&format!("{side}_{what}"), default)?;
            if about.is_empty() {
                return Ok(plain);
            }
            configuration.number(&format!("{side}_{about}_{what}"), plain)
        })
    }

    /// Reads the same names within an element; without it nothing is limited.
    pub(super) fn read_element(
        configuration: &Configuration<'_>,
        name: &str,
    ) -> Result<Self, ConfigureError> {
        let element = configuration.plugin.content.child(name);
        Self::read_each(|side, what, default| {
            let read = |content| number_of(content, &format!("{side}_{what}"));
            Ok(element.map_or(Ok(None), read)?.unwrap_or(default))
        })
    }

    fn read_each(
        limit: impl Fn(&str, &str, f64) -> Result<f64, ConfigureError>,
    ) -> Result<Self, ConfigureError> {
        let mut limits = [[0.0; 2]; 3];
        let names = ["velocity", "acceleration", "jerk"];
        for (limits, what) in limits.iter_mut().zip(names) {
            *limits = [
                limit("min", what, f64::NEG_INFINITY)?,
                limit("max", what, f64::INFINITY)?,
            ];
            if limits[0] > limits[1] {
                let [least, most] = *limits;
                return Err(ConfigureError(format!(
                    "the least {what} ({least}) is more than the greatest ({most})"
                )));
            }
        }
        Ok(Self { limits })
    }

    /// Returns the speed that comes of what is asked for, in a step of a size \[s\].
    pub(super) fn limit(&self, speed: &mut LimitedSpeed, step_size_s: f64) -> f64 {
        let [velocity, acceleration, jerk] = self.limits;
        let [last, before] = speed.last;
        let within = |number: f64, [least, most]: [f64; 2], unit: f64| {
            number.clamp(least * unit, most * unit)
        };
        let bend = (speed.target - last) - (last - before);
        let change = (last - before) + within(bend, jerk, step_size_s * step_size_s);
        let change = within(change, acceleration, step_size_s);
        let limited = within(last + change, velocity, 1.0);
        speed.last = [limited, last];
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

    fn run(limits: [[f64; 2]; 3], target: f64, steps: usize) -> Vec<f64> {
        let limiter = SpeedLimiter { limits };
        let mut speed = LimitedSpeed {
            target,
            ..LimitedSpeed::default()
        };
        (0..steps)
            .map(|_| limiter.limit(&mut speed, 0.01))
            .collect()
    }

    #[test]
    fn without_limits_speeds_are_what_is_asked_for() {
        assert_eq!(run([FREE; 3], 7.5, 2), [7.5, 7.5]);
    }

    #[test]
    fn acceleration_makes_a_ramp_to_the_greatest_speed() {
        let speeds = run([[-1.0, 0.5], [-2.0, 2.0], FREE], 9.0, 100);
        for (step, speed) in speeds.into_iter().enumerate() {
            let expected = (0.02 * (step + 1) as f64).min(0.5);
            assert!((speed - expected).abs() < 1e-12, "{step}: {speed}");
        }
    }

    #[test]
    fn jerk_makes_the_acceleration_a_ramp() {
        let speeds = run([FREE, FREE, [-100.0, 100.0]], 50.0, 20);
        let mut expected = 0.0;
        for (step, speed) in speeds.into_iter().enumerate() {
            expected += 0.01 * (step + 1) as f64;
            assert!((speed - expected).abs() < 1e-9, "{step}: {speed}");
        }
    }
}
