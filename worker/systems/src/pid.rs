//! [`Pid`]: a controller of three terms, as controllers of joints have it.
//!
//! The error is what is, less what should be. The integral term is kept within its limits, the
//! command within its own; limits whose upper is below the lower are none. Source: gz-math,
//! `PID.hh`.

use serde::{Deserialize, Serialize};

use super::{Configuration, ConfigureError};

/// Gains and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pid {
    /// Of the error, its integral and its rate.
    pub(super) gains: [f64; 3],
    /// Least and greatest integral term.
    pub(super) integral: [f64; 2],
    /// Least and greatest command.
    pub(super) command: [f64; 2],
    /// Summand of the command.
    pub(super) offset: f64,
}

/// State of a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PidState {
    /// The integral term.
    integral: f64,
    /// The last error.
    error: f64,
}

impl Pid {
    /// Reads `PREFIXp_gain`, `PREFIXi_gain` and so on, with defaults.
    pub(super) fn read(
        configuration: &Configuration<'_>,
        prefix: &str,
        default: Self,
    ) -> Result<Self, ConfigureError> {
        let number =
            |name: &str, default| configuration.number(&format!("{prefix}{name}"), default);
        let [p, i, d] = default.gains;
        Ok(Self {
            gains: [
                number("p_gain", p)?,
                number("i_gain", i)?,
                number("d_gain", d)?,
            ],
            integral: [
                number("i_min", default.integral[0])?,
                number("i_max", default.integral[1])?,
            ],
            command: [
                number("cmd_min", default.command[0])?,
                number("cmd_max", default.command[1])?,
            ],
            offset: number("cmd_offset", default.offset)?,
        })
    }

    /// Returns the command for an error that lasts for a time \[s\].
    pub(super) fn update(&self, saved: &mut PidState, error: f64, step_size_s: f64) -> f64 {
        if !error.is_finite() || step_size_s <= 0.0 {
            return 0.0;
        }
        let [p, i, d] = self.gains;
        let integral = saved.integral + i * error * step_size_s;
        saved.integral = within(integral, self.integral);
        let rate = (error - saved.error) / step_size_s;
        saved.error = error;
        let command = self.offset - p * error - saved.integral - d * rate;
        within(command, self.command)
    }
}

fn within(number: f64, [least, most]: [f64; 2]) -> f64 {
    if least <= most {
        number.clamp(least, most)
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Pid = Pid {
        gains: [2.0, 0.5, 0.1],
        integral: [-1.0, 1.0],
        command: [-10.0, 10.0],
        offset: 0.25,
    };

    #[test]
    fn a_command_is_the_sum_of_its_terms() {
        let mut saved = PidState::default();
        let first = PLAIN.update(&mut saved, 1.0, 0.1);
        assert!((first - (0.25 - 2.0 - 0.05 - 1.0)).abs() < 1e-12, "{first}");
        let second = PLAIN.update(&mut saved, 0.5, 0.1);
        assert!(
            (second - (0.25 - 1.0 - 0.075 + 0.5)).abs() < 1e-12,
            "{second}"
        );
    }

    #[test]
    fn terms_keep_within_their_limits_unless_those_are_turned_around() {
        let run = |pid: Pid| {
            let mut saved = PidState::default();
            (0..1000).map(|_| pid.update(&mut saved, 1.0, 0.1)).last()
        };
        let limited = run(PLAIN).unwrap();
        assert!((limited - (0.25 - 2.0 - 1.0)).abs() < 1e-12, "{limited}");
        let endless = run(Pid {
            integral: [0.0, -1.0],
            ..PLAIN
        });
        assert_eq!(endless, Some(-10.0));
    }
}
