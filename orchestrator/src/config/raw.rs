//! A run file as it is written: every key optional, every value with its place.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use lockstep::limits::{AUTO_LEVELS_MAX, INTERACTION_MARGIN_MAX, MINIMUM_STAY_MAX_S, THREADS_MAX};
use serde::Deserialize;
use toml::Spanned;

use super::program::{self, RawProgram};
use super::{Config, LevelsConfig, NetworkConfig, RunConfig, SECONDARIES_MAX, ViewConfig};
use crate::cli::{LevelsLoad, PeerLossPolicy};
use crate::run_directory::check_run_name;

/// A run file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawConfig {
    run: RawRun,
    levels: RawLevels,
    network: RawNetwork,
    view: RawView,
    program: Vec<Spanned<RawProgram>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawRun {
    world: Value,
    name: Value,
    secondaries: Value,
    iterations: Value,
    real_time_factor: Value,
    paused: Value,
    seed: Value,
    on_peer_loss: Value,
    threads: Value,
    verify: Value,
    balance: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawLevels {
    auto_levels: Value,
    load: Value,
    minimum_stay_s: Value,
    interaction_margin_m: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawNetwork {
    heartbeat_interval_ms: Value,
    heartbeat_timeout_ms: Value,
    peer_timeout_s: Value,
    step_timeout_s: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawView {
    refresh_hz: Value,
}

/// A value of any type, so that one of the wrong type can be refused by the name of its key.
pub(super) type Value = Option<Spanned<toml::Value>>;

/// What is wrong, at which byte of the file.
#[derive(Debug)]
pub(super) struct Problem {
    /// Bytes from the start of the file.
    pub(super) offset: usize,
    /// What is wrong, naming the key.
    pub(super) message: String,
}

impl RawConfig {
    /// Checks types and ranges, fills in defaults; paths become relative to `folder`.
    pub(super) fn resolve(self, folder: &Path) -> Result<Config, Problem> {
        Ok(Config {
            run: self.run.resolve(folder)?,
            levels: self.levels.resolve()?,
            network: self.network.resolve()?,
            view: self.view.resolve()?,
            programs: program::resolve(self.program, folder)?,
        })
    }

    /// Tells whether every key is given.
    #[cfg(test)]
    pub(super) fn is_complete(&self) -> bool {
        let RawRun {
            world,
            name,
            secondaries,
            iterations,
            real_time_factor,
            paused,
            seed,
            on_peer_loss,
            threads,
            verify,
            balance,
        } = &self.run;
        let RawLevels {
            auto_levels,
            load,
            minimum_stay_s,
            interaction_margin_m,
        } = &self.levels;
        let RawNetwork {
            heartbeat_interval_ms,
            heartbeat_timeout_ms,
            peer_timeout_s,
            step_timeout_s,
        } = &self.network;
        let RawView { refresh_hz } = &self.view;
        [
            world,
            name,
            secondaries,
            iterations,
            real_time_factor,
            paused,
            seed,
            on_peer_loss,
            threads,
            verify,
            balance,
        ]
        .into_iter()
        .chain([auto_levels, load, minimum_stay_s, interaction_margin_m])
        .chain([
            heartbeat_interval_ms,
            heartbeat_timeout_ms,
            peer_timeout_s,
            step_timeout_s,
        ])
        .chain([refresh_hz])
        .all(Option::is_some)
            && matches!(self.program.as_slice(), [one] if one.get_ref().is_complete())
    }
}

impl RawRun {
    fn resolve(self, folder: &Path) -> Result<RunConfig, Problem> {
        let defaults = RunConfig::default();
        let name = text("name", self.name.as_ref())?;
        if let Some(name) = &name {
            check_run_name(name)
                .map_err(|error| problem("name", self.name.as_ref(), &error.to_string()))?;
        }
        let secondaries = whole(
            "secondaries",
            self.secondaries,
            0..=u64::from(SECONDARIES_MAX),
        )?;
        Ok(RunConfig {
            worlds: texts("world", self.world.as_ref())?
                .into_iter()
                .map(|world| folder.join(world))
                .collect(),
            name,
            secondaries: secondaries.map_or(defaults.secondaries, |count| count as u32),
            iterations: whole("iterations", self.iterations, 1..=u64::MAX)?,
            real_time_factor: number("real_time_factor", self.real_time_factor, 0.0)?,
            paused: flag("paused", self.paused)?.unwrap_or(defaults.paused),
            seed: whole("seed", self.seed, 0..=u64::MAX)?.unwrap_or(defaults.seed),
            on_peer_loss: policy("on_peer_loss", self.on_peer_loss)?
                .unwrap_or(defaults.on_peer_loss),
            threads: whole("threads", self.threads, 1..=u64::from(THREADS_MAX))?
                .map_or(defaults.threads, |count| count as u32),
            verify: flag("verify", self.verify)?.unwrap_or(defaults.verify),
            balance: flag("balance", self.balance)?.unwrap_or(defaults.balance),
        })
    }
}

impl RawLevels {
    fn resolve(self) -> Result<LevelsConfig, Problem> {
        let defaults = LevelsConfig::default();
        let auto_levels = whole("auto_levels", self.auto_levels, 1..=AUTO_LEVELS_MAX.into())?;
        let stay = bounded("minimum_stay_s", self.minimum_stay_s, MINIMUM_STAY_MAX_S)?;
        let margin = bounded(
            "interaction_margin_m",
            self.interaction_margin_m,
            INTERACTION_MARGIN_MAX,
        )?;
        Ok(LevelsConfig {
            auto_levels: auto_levels.map(|count| count as u32),
            load: load_rule("load", self.load)?.unwrap_or(defaults.load),
            minimum_stay: stay.map_or(defaults.minimum_stay, Duration::from_secs_f64),
            interaction_margin_m: margin.unwrap_or(defaults.interaction_margin_m),
        })
    }
}

impl RawNetwork {
    fn resolve(self) -> Result<NetworkConfig, Problem> {
        let defaults = NetworkConfig::default();
        let interval = milliseconds("heartbeat_interval_ms", self.heartbeat_interval_ms)?
            .unwrap_or(defaults.heartbeat_interval);
        let timeout_value = self.heartbeat_timeout_ms.clone();
        let timeout = milliseconds("heartbeat_timeout_ms", self.heartbeat_timeout_ms)?
            .unwrap_or(defaults.heartbeat_timeout);
        if timeout < 2 * interval {
            let wanted = "must be at least twice heartbeat_interval_ms";
            return Err(problem(
                "heartbeat_timeout_ms",
                timeout_value.as_ref(),
                wanted,
            ));
        }
        Ok(NetworkConfig {
            heartbeat_interval: interval,
            heartbeat_timeout: timeout,
            peer_timeout: seconds("peer_timeout_s", self.peer_timeout_s)?
                .unwrap_or(defaults.peer_timeout),
            step_timeout: seconds("step_timeout_s", self.step_timeout_s)?
                .unwrap_or(defaults.step_timeout),
        })
    }
}

impl RawView {
    fn resolve(self) -> Result<ViewConfig, Problem> {
        let rate = whole("refresh_hz", self.refresh_hz, 1..=60)?;
        let default = ViewConfig::default().refresh_hz;
        Ok(ViewConfig {
            refresh_hz: rate.map_or(default, |rate| rate as u32),
        })
    }
}

pub(super) fn problem(key: &str, value: Option<&Spanned<toml::Value>>, wanted: &str) -> Problem {
    let offset = value.map_or(0, |value| value.span().start);
    Problem {
        offset,
        message: format!("`{key}` {wanted}"),
    }
}

pub(super) fn text(
    key: &str,
    value: Option<&Spanned<toml::Value>>,
) -> Result<Option<String>, Problem> {
    let Some(value) = value else { return Ok(None) };
    match value.get_ref().as_str() {
        Some(text) if !text.is_empty() => Ok(Some(text.to_owned())),
        _ => Err(problem(key, Some(value), "must be a text in quotes")),
    }
}

/// Returns one text, or those of a list.
fn texts(key: &str, value: Option<&Spanned<toml::Value>>) -> Result<Vec<String>, Problem> {
    let Some(list) = value.and_then(|value| value.get_ref().as_array()) else {
        return Ok(text(key, value)?.into_iter().collect());
    };
    let texts: Vec<String> = list
        .iter()
        .filter_map(|item| item.as_str().filter(|text| !text.is_empty()))
        .map(str::to_owned)
        .collect();
    if texts.is_empty() || texts.len() < list.len() {
        let wanted = "must be a text in quotes, or a list of such";
        return Err(problem(key, value, wanted));
    }
    Ok(texts)
}

pub(super) fn flag(key: &str, value: Value) -> Result<Option<bool>, Problem> {
    let Some(value) = value else { return Ok(None) };
    match value.get_ref().as_bool() {
        Some(flag) => Ok(Some(flag)),
        None => Err(problem(key, Some(&value), "must be true or false")),
    }
}

fn whole(key: &str, value: Value, range: RangeInclusive<u64>) -> Result<Option<u64>, Problem> {
    let Some(value) = value else { return Ok(None) };
    let number = value
        .get_ref()
        .as_integer()
        .and_then(|number| u64::try_from(number).ok());
    if let Some(number) = number.filter(|number| range.contains(number)) {
        return Ok(Some(number));
    }
    let wanted = match (range.start(), *range.end()) {
        (least, u64::MAX) => format!("must be a whole number from {least}"),
        (least, most) => format!("must be a whole number from {least} to {most}"),
    };
    Err(problem(key, Some(&value), &wanted))
}

/// Returns a number from 0 to `most`.
fn bounded(key: &str, value: Value, most: f64) -> Result<Option<f64>, Problem> {
    let Some(value) = value else { return Ok(None) };
    match float(&value).filter(|number| (0.0..=most).contains(number)) {
        Some(number) => Ok(Some(number)),
        None => Err(problem(
            key,
            Some(&value),
            &format!("must be a number from 0 to {most}"),
        )),
    }
}

fn float(value: &Spanned<toml::Value>) -> Option<f64> {
    match value.get_ref() {
        toml::Value::Float(number) => Some(*number),
        toml::Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

fn number(key: &str, value: Value, least: f64) -> Result<Option<f64>, Problem> {
    let Some(value) = value else { return Ok(None) };
    match float(&value).filter(|number| number.is_finite() && *number >= least) {
        Some(number) => Ok(Some(number)),
        None => Err(problem(
            key,
            Some(&value),
            &format!("must be a number from {least}"),
        )),
    }
}

fn milliseconds(key: &str, value: Value) -> Result<Option<Duration>, Problem> {
    Ok(whole(key, value, 1..=60_000)?.map(Duration::from_millis))
}

fn seconds(key: &str, value: Value) -> Result<Option<Duration>, Problem> {
    let at = value.clone();
    let Some(seconds) = number(key, value, 0.001)? else {
        return Ok(None);
    };
    Duration::try_from_secs_f64(seconds)
        .map(Some)
        .map_err(|_| problem(key, at.as_ref(), "must be a number of seconds"))
}

fn policy(key: &str, value: Value) -> Result<Option<PeerLossPolicy>, Problem> {
    let Some(value) = value else { return Ok(None) };
    match value.get_ref().as_str() {
        Some("stop") => Ok(Some(PeerLossPolicy::Stop)),
        _ => Err(problem(key, Some(&value), "must be \"stop\"")),
    }
}

fn load_rule(key: &str, value: Value) -> Result<Option<LevelsLoad>, Problem> {
    let Some(value) = value else { return Ok(None) };
    match value.get_ref().as_str() {
        Some("buffer") => Ok(Some(LevelsLoad::Buffer)),
        Some("volume") => Ok(Some(LevelsLoad::Volume)),
        _ => Err(problem(
            key,
            Some(&value),
            "must be \"buffer\" or \"volume\"",
        )),
    }
}
