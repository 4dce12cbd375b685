//! Settings: run files and the user's own, TOML to [`Config`], every error with file, line, column
//! and key.
//!
//! [`setting`] is the table of all settings. A [`document`] is a file as written; [`layers`] puts
//! files over each other and over the defaults, which `configs/default.toml` shows.

pub(crate) mod document;
mod keys;
mod kind;
pub(crate) mod layers;
mod process;
mod program;
mod record;
mod recovery;
mod security;
pub(crate) mod setting;
mod suggestion;
mod trace;
mod user_file;
mod view;

use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep::limits::RUN_AHEAD_DEFAULT;
use serde::{Deserialize, Serialize};

pub use document::{FileKind, Place, Problem};
pub(crate) use kind::check_log_filter;
pub use layers::Layers;
pub use process::{ProcessConfig, ProcessesConfig};
pub use record::RecordConfig;
pub use recovery::RecoveryConfig;
pub use security::SecurityConfig;
pub use trace::TraceConfig;
pub use user_file::{CONFIG_VARIABLE, UserFile};
pub use view::{Colors, REFRESH_HZ_MAX, ThemeName, UnicodeChoice, ViewConfig};

use transport::Endpoints;

use crate::app::keymap::Keymap;
use crate::cli::{LevelsLoad, SolverChoice};
use crate::launch::programs::ProgramPlan;

/// Every setting with its default and an explanation, as a run file.
pub const DEFAULT_TOML: &str = include_str!("../../configs/default.toml");

/// The largest number of secondaries that one run starts.
pub const SECONDARIES_MAX: u32 = 1000;

/// The most often that one secondary may be started again in a minute.
pub const RESTARTS_PER_MINUTE_MAX: u32 = 1000;

/// All settings of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Settings of the run itself.
    pub run: RunConfig,
    /// Settings of physics.
    pub physics: PhysicsConfig,
    /// Rules for the cell that every performer is in.
    pub levels: LevelsConfig,
    /// Time for which peers are waited for.
    pub network: NetworkConfig,
    /// Settings of access to the run.
    pub security: SecurityConfig,
    /// Log levels of its processes.
    pub logs: LogsConfig,
    /// Settings of recording.
    pub record: RecordConfig,
    /// Settings of tracing.
    pub trace: TraceConfig,
    /// Settings of its view.
    pub view: ViewConfig,
    /// The keys of the view.
    pub keymap: Keymap,
    /// Settings of single processes.
    pub processes: ProcessesConfig,
    /// Programs that run beside it.
    pub programs: Vec<ProgramPlan>,
}

/// Settings of the run itself.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    /// The world files; none is the embedded demo.
    pub worlds: Vec<PathBuf>,
    /// The run's name; `None` is the first world's file name and a number.
    pub name: Option<String>,
    /// Secondaries to start; 0 is standalone.
    pub secondaries: u32,
    /// Iterations after which the run ends; `None` is never.
    pub iterations: Option<u64>,
    /// Simulated over real time, 0 is as fast as possible; `None` is what the world says.
    pub real_time_factor: Option<f64>,
    /// True if time stands still at the start.
    pub paused: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Reaction to the loss of one of its processes.
    pub recovery: RecoveryConfig,
    /// Threads that step cells, in each process.
    pub threads: u32,
    /// Number of iterations that one message brings at most.
    pub run_ahead_max: u32,
    /// True if every step of every cell is done twice and compared.
    pub verify: bool,
    /// True if cells move between secondaries for the sake of load.
    pub balance: bool,
}

/// Settings of physics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhysicsConfig {
    /// The effort of the solver of contacts and joints.
    pub solver: SolverChoice,
}

/// Rules for the cell that every performer is in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelsConfig {
    /// Number of levels that each world is cut into; `None` leaves them as they are.
    pub auto_levels: Option<u32>,
    /// Rule that says when a level's models are loaded.
    pub load: LevelsLoad,
    /// Simulated time that a performer stays in a cell before it goes to its own level's.
    pub minimum_stay: Duration,
    /// Distance below which one cell must own two performers \[m\].
    pub interaction_margin_m: f64,
}

/// Addresses and time-outs of the run's processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkConfig {
    /// Address of the primary; `None` is its sockets in the run's folder.
    #[serde(skip)]
    pub bind: Option<Endpoints>,
    /// Number of secondaries that join from other machines.
    pub remote_secondaries: u32,
    /// Time between two heartbeats of a peer.
    pub heartbeat_interval: Duration,
    /// Silence after which a peer counts as lost.
    pub heartbeat_timeout: Duration,
    /// Time for which the start waits for secondaries.
    pub peer_timeout: Duration,
    /// Longest time that one step waits for a secondary's answer.
    pub step_timeout: Duration,
    /// Time before a step that waits is reported, with the peer that blocks it.
    pub warn_after: Duration,
    /// Time before its blockers are examined.
    pub diagnose_after: Duration,
    /// True if a secondary is waited for as long as its process is stopped.
    pub wait_for_debugger: bool,
    /// Time that processes look for messages before they sleep.
    pub spin: Duration,
}

/// Log levels of processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogsConfig {
    /// A level, or levels by target such as `info,worker::heartbeat=debug`.
    pub level: String,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            worlds: Vec::new(),
            name: None,
            secondaries: 2,
            iterations: None,
            real_time_factor: None,
            paused: false,
            seed: 0,
            recovery: RecoveryConfig::default(),
            threads: 1,
            run_ahead_max: RUN_AHEAD_DEFAULT,
            verify: false,
            balance: true,
        }
    }
}

impl Default for LevelsConfig {
    fn default() -> Self {
        Self {
            auto_levels: None,
            load: LevelsLoad::Buffer,
            minimum_stay: Duration::from_millis(50),
            interaction_margin_m: 0.02,
        }
    }
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            bind: None,
            remote_secondaries: 0,
            heartbeat_interval: Duration::from_millis(100),
            heartbeat_timeout: Duration::from_secs(2),
            peer_timeout: Duration::from_secs(30),
            step_timeout: Duration::from_secs(30),
            warn_after: Duration::from_secs(1),
            diagnose_after: Duration::from_secs(5),
            wait_for_debugger: false,
            spin: Duration::ZERO,
        }
    }
}

impl Default for LogsConfig {
    fn default() -> Self {
        Self {
            level: "info".to_owned(),
        }
    }
}

/// Reason why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read the {what} {file}")]
    Unreadable {
        /// Purpose of the file, such as `run file`.
        what: &'static str,
        /// The file.
        file: String,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Files are not TOML, or keys or values in them are wrong; there is at least one problem.
    #[error("{}", first_of(.0))]
    Invalid(Vec<Problem>),
}

impl Config {
    /// Reads the user's own file, if there is one, and a run file, which wins over it.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or something in one is wrong.
    pub fn load(run_file: Option<&Path>) -> Result<Self, ConfigError> {
        Layers::read(run_file).map(|layers| layers.config)
    }

    /// Reads the text of a run file alone; `path` is its name in errors and the base of paths.
    ///
    /// # Errors
    /// Fails if something in it is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        Layers::parse(&[(text, path, FileKind::Run)]).map(|layers| layers.config)
    }
}

fn first_of(problems: &[Problem]) -> String {
    match problems {
        [] => "the settings cannot be used".to_owned(),
        [one] => one.to_string(),
        [first, rest @ ..] => {
            let count = rest.len();
            format!("{first} (and {count} more: `phalanx config check` tells all)")
        }
    }
}

#[cfg(test)]
mod documentation;
#[cfg(test)]
mod tests;
