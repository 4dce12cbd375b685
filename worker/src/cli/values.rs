//! Values on the command line of `worker`, with what is wrong with the others.

use std::num::NonZeroUsize;
use std::time::Duration;

use lockstep::limits::{AUTO_LEVELS_MAX, INTERACTION_MARGIN_MAX, MINIMUM_STAY_MAX_S, SPIN_US_MAX};
use lockstep::{LoadRule, PeerLossPolicy};
use sdf::Solver;

pub(super) fn real_time_factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 0.0 => Ok(factor),
        _ => Err("a real-time factor is a number of at least 0".to_owned()),
    }
}

pub(super) fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("use on or off".to_owned()),
    }
}

pub(super) fn level_count(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse().ok().and_then(NonZeroUsize::new);
    count
        .filter(|count| count.get() <= AUTO_LEVELS_MAX as usize)
        .ok_or_else(|| format!("use a whole number from 1 to {AUTO_LEVELS_MAX}"))
}

pub(super) fn load_rule(text: &str) -> Result<LoadRule, String> {
    match text {
        "buffer" => Ok(LoadRule::Buffer),
        "volume" => Ok(LoadRule::Volume),
        _ => Err("use buffer or volume".to_owned()),
    }
}

pub(super) fn solver(text: &str) -> Result<Solver, String> {
    match text {
        "exact" => Ok(Solver::Exact),
        "fast" => Ok(Solver::Fast),
        _ => Err("use exact or fast".to_owned()),
    }
}

pub(super) fn stay(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().unwrap_or(f64::NAN);
    if (0.0..=MINIMUM_STAY_MAX_S).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("use seconds from 0 to {MINIMUM_STAY_MAX_S}"))
    }
}

pub(super) fn margin(text: &str) -> Result<f64, String> {
    let metres = text.parse().unwrap_or(f64::NAN);
    if (0.0..=INTERACTION_MARGIN_MAX).contains(&metres) {
        Ok(metres)
    } else {
        Err(format!("use metres from 0 to {INTERACTION_MARGIN_MAX}"))
    }
}

pub(super) fn microseconds() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(0..=SPIN_US_MAX)
}

pub(super) fn milliseconds() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=86_400_000)
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "must be more than 0 seconds".to_owned())
}

pub(super) fn loss_policy(text: &str) -> Result<PeerLossPolicy, String> {
    match text {
        "stop" => Ok(PeerLossPolicy::Stop),
        "recover" => Ok(PeerLossPolicy::Recover),
        _ => Err("use stop or recover".to_owned()),
    }
}
