//! The table of all settings: what each takes, where it may stand, and its place in [`Config`].

use std::path::Path;
use std::time::Duration;

use lockstep::limits::{
    AUTO_LEVELS_MAX, INTERACTION_MARGIN_MAX, MINIMUM_STAY_MAX_S, RUN_AHEAD_MAX, SPIN_US_MAX,
    STAND_BYS_MAX, THREADS_MAX,
};
use toml::Value;

use super::kind::{self, Kind};
use super::view::{REFRESH_HZ_MAX, ThemeName, UnicodeChoice};
use super::{Config, RESTARTS_PER_MINUTE_MAX, SECONDARIES_MAX};
use crate::cli::{LevelsLoad, PeerLossPolicy, RATE_MAX_HZ, SolverChoice};

/// A setting of a file.
pub(crate) struct Setting {
    /// The section that it stands in.
    pub(crate) section: &'static str,
    /// Its name there.
    pub(crate) key: &'static str,
    /// Kind of its values.
    pub(super) kind: Kind,
    /// The variable of the environment that sets it, too.
    pub(crate) variable: Option<&'static str>,
    /// True if a user's own file may have it: it must not change what a simulation computes.
    pub(super) is_personal: bool,
    /// Returns its value; `None` is unset.
    pub(crate) get: fn(&Config) -> Option<Value>,
    /// Takes a checked value over; paths are relative to the folder.
    pub(super) set: fn(&mut Config, &Value, &Path),
}

/// The longest wait \[s\].
const WAIT_MAX_S: f64 = 1e9;

/// Settings that both kinds of files may have.
const fn personal(
    (section, key, variable): (&'static str, &'static str, &'static str),
    kind: Kind,
    get: fn(&Config) -> Option<Value>,
    set: fn(&mut Config, &Value, &Path),
) -> Setting {
    Setting {
        section,
        key,
        kind,
        variable: if variable.is_empty() {
            None
        } else {
            Some(variable)
        },
        is_personal: true,
        get,
        set,
    }
}

/// Settings that only a run file may have.
const fn of_run(
    place: (&'static str, &'static str, &'static str),
    kind: Kind,
    get: fn(&Config) -> Option<Value>,
    set: fn(&mut Config, &Value, &Path),
) -> Setting {
    Setting {
        is_personal: false,
        ..personal(place, kind, get, set)
    }
}

use Kind as K;

/// All settings, in the order of `configs/default.toml`.
#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    of_run(("run", "world", ""), K::Paths,
        worlds, |c, v, folder| c.run.worlds = joined(v, folder)),
    of_run(("run", "name", "PHALANX_NAME"), K::RunName,
        |c| c.run.name.clone().map(Value::String),
        |c, v, _| c.run.name = v.as_str().map(str::to_owned)),
    personal(("run", "secondaries", "PHALANX_SECONDARIES"), K::Whole(0, SECONDARIES_MAX as i64),
        |c| Some(whole(c.run.secondaries)), |c, v, _| c.run.secondaries = count(v)),
    of_run(("run", "iterations", "PHALANX_ITERATIONS"), K::Whole(1, i64::MAX),
        |c| c.run.iterations.map(long), |c, v, _| c.run.iterations = Some(unsigned(v))),
    personal(("run", "real_time_factor", "PHALANX_REAL_TIME_FACTOR"), K::Number(0.0, f64::MAX),
        |c| c.run.real_time_factor.map(Value::Float),
        |c, v, _| c.run.real_time_factor = Some(float(v))),
    personal(("run", "paused", "PHALANX_PAUSED"), K::Flag,
        |c| Some(flag(c.run.paused)), |c, v, _| c.run.paused = is_true(v)),
    of_run(("run", "seed", "PHALANX_SEED"), K::Whole(0, i64::MAX),
        |c| Some(long(c.run.seed)), |c, v, _| c.run.seed = unsigned(v)),
    personal(("run", "on_peer_loss", "PHALANX_ON_PEER_LOSS"), K::Word(&["stop", "recover"]),
        |c| Some(text(match c.run.recovery.on_peer_loss {
            PeerLossPolicy::Stop => "stop",
            PeerLossPolicy::Recover => "recover",
        })),
        |c, v, _| c.run.recovery.on_peer_loss = match v.as_str() {
            Some("stop") => PeerLossPolicy::Stop,
            _ => PeerLossPolicy::Recover,
        }),
    personal(("run", "checkpoint_every", "PHALANX_CHECKPOINT_EVERY"), K::Whole(0, i64::MAX),
        |c| Some(long(c.run.recovery.checkpoint_every)),
        |c, v, _| c.run.recovery.checkpoint_every = unsigned(v)),
    personal(("run", "stand_bys", "PHALANX_STAND_BYS"), K::Whole(0, STAND_BYS_MAX as i64),
        |c| Some(whole(c.run.recovery.stand_bys)),
        |c, v, _| c.run.recovery.stand_bys = count(v)),
    personal(("run", "restart", "PHALANX_RESTART"), K::Flag,
        |c| Some(flag(c.run.recovery.restarts)),
        |c, v, _| c.run.recovery.restarts = is_true(v)),
    personal(("run", "restarts_per_minute", "PHALANX_RESTARTS_PER_MINUTE"),
        K::Whole(1, RESTARTS_PER_MINUTE_MAX as i64),
        |c| Some(whole(c.run.recovery.restarts_per_minute)),
        |c, v, _| c.run.recovery.restarts_per_minute = count(v)),
    personal(("run", "threads", "PHALANX_THREADS"), K::Whole(1, THREADS_MAX as i64),
        |c| Some(whole(c.run.threads)), |c, v, _| c.run.threads = count(v)),
    personal(("run", "run_ahead_max", "PHALANX_RUN_AHEAD_MAX"),
        K::Whole(1, RUN_AHEAD_MAX as i64),
        |c| Some(whole(c.run.run_ahead_max)), |c, v, _| c.run.run_ahead_max = count(v)),
    personal(("run", "verify", "PHALANX_VERIFY"), K::Flag,
        |c| Some(flag(c.run.verify)), |c, v, _| c.run.verify = is_true(v)),
    personal(("run", "balance", "PHALANX_BALANCE"), K::Flag,
        |c| Some(flag(c.run.balance)), |c, v, _| c.run.balance = is_true(v)),
    of_run(("physics", "solver", "PHALANX_SOLVER"), K::Word(&["exact", "fast"]),
        |c| Some(text(match c.physics.solver {
            SolverChoice::Exact => "exact",
            SolverChoice::Fast => "fast",
        })),
        |c, v, _| c.physics.solver = match v.as_str() {
            Some("fast") => SolverChoice::Fast,
            _ => SolverChoice::Exact,
        }),
    of_run(("levels", "auto_levels", "PHALANX_AUTO_LEVELS"), K::Whole(1, AUTO_LEVELS_MAX as i64),
        |c| c.levels.auto_levels.map(whole),
        |c, v, _| c.levels.auto_levels = Some(count(v))),
    of_run(("levels", "load", "PHALANX_LEVELS_LOAD"), K::Word(&["buffer", "volume"]),
        |c| Some(text(match c.levels.load {
            LevelsLoad::Buffer => "buffer",
            LevelsLoad::Volume => "volume",
        })),
        |c, v, _| c.levels.load = match v.as_str() {
            Some("volume") => LevelsLoad::Volume,
            _ => LevelsLoad::Buffer,
        }),
    of_run(("levels", "minimum_stay_s", "PHALANX_MINIMUM_STAY"),
        K::Number(0.0, MINIMUM_STAY_MAX_S),
        |c| Some(seconds(c.levels.minimum_stay)), |c, v, _| c.levels.minimum_stay = duration(v)),
    of_run(("levels", "interaction_margin_m", "PHALANX_INTERACTION_MARGIN"),
        K::Number(0.0, INTERACTION_MARGIN_MAX),
        |c| Some(Value::Float(c.levels.interaction_margin_m)),
        |c, v, _| c.levels.interaction_margin_m = float(v)),
    of_run(("network", "bind", "PHALANX_BIND"), K::Endpoint,
        |c| c.network.bind.as_ref().map(|bind| text(&bind.to_string())),
        |c, v, _| c.network.bind = v.as_str().and_then(|address| address.parse().ok())),
    of_run(("network", "remote_secondaries", "PHALANX_REMOTE_SECONDARIES"),
        K::Whole(0, SECONDARIES_MAX as i64),
        |c| Some(whole(c.network.remote_secondaries)),
        |c, v, _| c.network.remote_secondaries = count(v)),
    personal(("network", "heartbeat_interval_ms", ""), K::Whole(1, 60_000),
        |c| Some(milliseconds(c.network.heartbeat_interval)),
        |c, v, _| c.network.heartbeat_interval = Duration::from_millis(unsigned(v))),
    personal(("network", "heartbeat_timeout_ms", ""), K::Whole(1, 60_000),
        |c| Some(milliseconds(c.network.heartbeat_timeout)),
        |c, v, _| c.network.heartbeat_timeout = Duration::from_millis(unsigned(v))),
    personal(("network", "peer_timeout_s", ""), K::Number(0.001, WAIT_MAX_S),
        |c| Some(seconds(c.network.peer_timeout)), |c, v, _| c.network.peer_timeout = duration(v)),
    personal(("network", "step_timeout_s", ""), K::Number(0.001, WAIT_MAX_S),
        |c| Some(seconds(c.network.step_timeout)), |c, v, _| c.network.step_timeout = duration(v)),
    personal(("network", "warn_after_s", ""), K::Number(0.001, WAIT_MAX_S),
        |c| Some(seconds(c.network.warn_after)), |c, v, _| c.network.warn_after = duration(v)),
    personal(("network", "diagnose_after_s", ""), K::Number(0.001, WAIT_MAX_S),
        |c| Some(seconds(c.network.diagnose_after)),
        |c, v, _| c.network.diagnose_after = duration(v)),
    personal(("network", "wait_for_debugger", "PHALANX_WAIT_FOR_DEBUGGER"), K::Flag,
        |c| Some(flag(c.network.wait_for_debugger)),
        |c, v, _| c.network.wait_for_debugger = is_true(v)),
    personal(("network", "spin_us", "PHALANX_SPIN_US"), K::Whole(0, SPIN_US_MAX.cast_signed()),
        |c| Some(long(c.network.spin.as_micros() as u64)),
        |c, v, _| c.network.spin = Duration::from_micros(unsigned(v))),
    personal(("security", "keys", "PHALANX_KEYS"), K::Path,
        |c| c.security.keys.as_ref().map(|keys| text(&keys.display().to_string())),
        |c, v, folder| c.security.keys = v.as_str().map(|keys| folder.join(keys))),
    of_run(("security", "insecure", "PHALANX_INSECURE"), K::Flag,
        |c| Some(flag(c.security.is_insecure)),
        |c, v, _| c.security.is_insecure = is_true(v)),
    personal(("logs", "level", "PHALANX_LOG"), K::LogFilter,
        |c| Some(text(&c.logs.level)),
        |c, v, _| v.as_str().unwrap_or_default().clone_into(&mut c.logs.level)),
    of_run(("record", "file", "PHALANX_RECORD"), K::Path,
        |c| c.record.file.as_ref().map(|file| Value::String(file.display().to_string())),
        |c, v, folder| c.record.file = v.as_str().map(|file| folder.join(file))),
    personal(("record", "rate_hz", "PHALANX_RECORD_RATE"), K::Number(0.0, RATE_MAX_HZ),
        |c| Some(Value::Float(c.record.rate_hz)), |c, v, _| c.record.rate_hz = float(v)),
    personal(("record", "states", "PHALANX_RECORD_STATES"), K::Flag,
        |c| Some(flag(c.record.has_states)), |c, v, _| c.record.has_states = is_true(v)),
    of_run(("trace", "file", "PHALANX_TRACE"), K::Path,
        |c| c.trace.file.as_ref().map(|file| text(&file.display().to_string())),
        |c, v, folder| c.trace.file = v.as_str().map(|file| folder.join(file))),
    personal(("trace", "from", "PHALANX_TRACE_FROM"), K::Whole(0, i64::MAX),
        |c| Some(long(c.trace.from)), |c, v, _| c.trace.from = unsigned(v)),
    personal(("trace", "iterations", "PHALANX_TRACE_ITERATIONS"), K::Whole(1, i64::MAX),
        |c| Some(long(c.trace.iterations)), |c, v, _| c.trace.iterations = unsigned(v)),
    personal(("view", "theme", "PHALANX_THEME"), K::Word(&ThemeName::WORDS),
        |c| Some(text(c.view.theme.word())),
        |c, v, _| c.view.theme = v.as_str().and_then(ThemeName::find).unwrap_or_default()),
    personal(("view", "refresh_hz", "PHALANX_REFRESH"), K::Whole(1, REFRESH_HZ_MAX as i64),
        |c| Some(whole(c.view.refresh_hz)), |c, v, _| c.view.refresh_hz = count(v)),
    personal(("view", "mouse", "PHALANX_MOUSE"), K::Flag,
        |c| Some(flag(c.view.has_mouse)), |c, v, _| c.view.has_mouse = is_true(v)),
    personal(("view", "unicode", "PHALANX_UNICODE"), K::Word(&UnicodeChoice::WORDS),
        |c| Some(text(c.view.unicode.word())),
        |c, v, _| c.view.unicode = v.as_str().and_then(UnicodeChoice::find).unwrap_or_default()),
    personal(("view", "read_only", "PHALANX_READ_ONLY"), K::Flag,
        |c| Some(flag(c.view.is_read_only)), |c, v, _| c.view.is_read_only = is_true(v)),
];

impl Setting {
    /// Finds a setting.
    pub(crate) fn find(section: &str, key: &str) -> Option<&'static Self> {
        let mut settings = SETTINGS.iter();
        settings.find(|setting| (setting.section, setting.key) == (section, key))
    }

    /// Returns its place as users say it, such as `run.seed`.
    #[cfg(test)]
    pub(crate) fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn flag(is: bool) -> Value {
    Value::Boolean(is)
}

fn whole(count: u32) -> Value {
    Value::Integer(count.into())
}

/// Numbers beyond those of TOML are told as text.
fn long(number: u64) -> Value {
    let short = i64::try_from(number).map(Value::Integer);
    short.unwrap_or_else(|_| Value::String(number.to_string()))
}

fn milliseconds(duration: Duration) -> Value {
    long(duration.as_millis() as u64)
}

fn seconds(duration: Duration) -> Value {
    Value::Float(duration.as_secs_f64())
}

fn worlds(config: &Config) -> Option<Value> {
    let path = |path: &std::path::PathBuf| Value::String(path.display().to_string());
    match config.run.worlds.as_slice() {
        [] => None,
        [one] => Some(path(one)),
        several => Some(Value::Array(several.iter().map(path).collect())),
    }
}

fn joined(value: &Value, folder: &Path) -> Vec<std::path::PathBuf> {
    let paths = kind::paths(value).unwrap_or_default();
    paths.into_iter().map(|path| folder.join(path)).collect()
}

fn unsigned(value: &Value) -> u64 {
    value.as_integer().map_or(0, i64::cast_unsigned)
}

fn count(value: &Value) -> u32 {
    unsigned(value) as u32
}

fn is_true(value: &Value) -> bool {
    value.as_bool().unwrap_or(false)
}

fn float(value: &Value) -> f64 {
    kind::number(value).unwrap_or_default()
}

fn duration(value: &Value) -> Duration {
    Duration::try_from_secs_f64(float(value)).unwrap_or(Duration::MAX)
}
