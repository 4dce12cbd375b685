//! Run files: TOML to [`Config`], every error with file, line, column and key.
//!
//! What a file leaves out has the default that `configs/default.toml` shows. [`raw`] is the file
//! as written; here ranges are checked and paths become relative to the file.

mod program;
mod raw;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::{LevelsLoad, PeerLossPolicy};
use crate::launch::programs::ProgramPlan;
use raw::RawConfig;

/// Every setting with its default and an explanation, as a run file.
pub const DEFAULT_TOML: &str = include_str!("../../configs/default.toml");

/// The largest number of secondaries that one run starts.
pub const SECONDARIES_MAX: u32 = 1000;

/// All settings of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// What runs.
    pub run: RunConfig,
    /// Which cell every performer is in.
    pub levels: LevelsConfig,
    /// How long peers are waited for.
    pub network: NetworkConfig,
    /// How it is shown.
    pub view: ViewConfig,
    /// What runs beside it.
    pub programs: Vec<ProgramPlan>,
}

/// What runs.
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
    /// Whether time stands still at the start.
    pub paused: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What happens when a peer is lost.
    pub on_peer_loss: PeerLossPolicy,
    /// Threads that step cells, in each process.
    pub threads: u32,
    /// Whether every step of every cell is done twice and compared.
    pub verify: bool,
    /// Whether cells move between secondaries for the sake of load.
    pub balance: bool,
}

/// What decides which cell every performer is in.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelsConfig {
    /// Into how many levels each world is cut; `None` leaves them as they are.
    pub auto_levels: Option<u32>,
    /// When a level's models are loaded.
    pub load: LevelsLoad,
    /// Simulated time that a performer stays in a cell before it goes to its own level's.
    pub minimum_stay: Duration,
    /// Distance below which one cell must own two performers \[m\].
    pub interaction_margin_m: f64,
}

/// How long peers are waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkConfig {
    /// Time between two heartbeats of a peer.
    pub heartbeat_interval: Duration,
    /// Silence after which a peer counts as lost.
    pub heartbeat_timeout: Duration,
    /// How long the start waits for secondaries.
    pub peer_timeout: Duration,
    /// How long one step waits for a secondary's answer.
    pub step_timeout: Duration,
}

/// How a run is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewConfig {
    /// How often the screen is drawn, at most \[1/s\].
    pub refresh_hz: u32,
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
            on_peer_loss: PeerLossPolicy::Stop,
            threads: 1,
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
            heartbeat_interval: Duration::from_millis(100),
            heartbeat_timeout: Duration::from_secs(2),
            peer_timeout: Duration::from_secs(30),
            step_timeout: Duration::from_secs(30),
        }
    }
}

impl Default for ViewConfig {
    fn default() -> Self {
        Self { refresh_hz: 10 }
    }
}

/// Why a run file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("cannot read the run file {file}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It is not TOML, or a key or value in it is wrong.
    #[error("{file}:{line}:{column}: {message}")]
    Invalid {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong, naming the key.
        message: String,
    },
}

impl Config {
    /// Reads a run file.
    ///
    /// # Errors
    /// When it cannot be read, or something in it is wrong.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { file, source })?;
        Self::parse(&text, path)
    }

    /// Reads the text of a run file; `path` is its name in errors and the base of paths in it.
    ///
    /// # Errors
    /// When something in it is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let problem = match toml::from_str::<RawConfig>(text) {
            Ok(raw) => match raw.resolve(path.parent().unwrap_or(Path::new(""))) {
                Ok(config) => return Ok(config),
                Err(problem) => problem,
            },
            Err(error) => {
                let offset = error.span().map_or(0, |span| span.start);
                raw::Problem {
                    offset,
                    message: one_line(error.message()),
                }
            }
        };
        let (line, column) = place(text, problem.offset);
        let file = path.display().to_string();
        Err(ConfigError::Invalid {
            file,
            line,
            column,
            message: problem.message,
        })
    }
}

fn one_line(message: &str) -> String {
    message
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join("; ")
}

/// Returns line and column, both from 1, of a byte in a text.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new("folder/run.toml"))
    }

    fn check_error(text: &str, place: &str, word: &str) {
        let error = parse(text).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("folder/run.toml:{place}: ")),
            "{error}"
        );
        assert!(error.contains(word), "{error}");
    }

    #[test]
    fn the_default_file_says_what_the_defaults_are() {
        assert_eq!(parse(DEFAULT_TOML).unwrap(), Config::default());
        assert_eq!(parse("").unwrap(), Config::default());
    }

    #[test]
    fn the_default_file_shows_every_setting() {
        let uncomment = |line: &'static str| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => setting,
            _ => line,
        };
        let complete: Vec<&str> = DEFAULT_TOML.lines().map(uncomment).collect();
        let raw: RawConfig = toml::from_str(&complete.join("\n")).unwrap();
        assert!(raw.is_complete(), "{raw:?}");
    }

    #[test]
    fn a_file_changes_what_it_names_and_nothing_else() {
        let config = parse("[run]\nworld = 'a.sdf'\nreal_time_factor = 2\n").unwrap();
        let run = RunConfig {
            worlds: vec![PathBuf::from("folder/a.sdf")],
            real_time_factor: Some(2.0),
            ..RunConfig::default()
        };
        assert_eq!(
            config,
            Config {
                run,
                ..Config::default()
            }
        );
    }

    #[test]
    fn one_run_may_have_several_worlds() {
        let config = parse("[run]\nworld = ['a.sdf', '/b.sdf']\n").unwrap();
        let paths = ["folder/a.sdf", "/b.sdf"].map(PathBuf::from);
        assert_eq!(config.run.worlds, paths);
        check_error("[run]\nworld = []\n", "2:9", "world");
        check_error("[run]\nworld = ['a.sdf', 5]\n", "2:9", "world");
        check_error("[run]\nworld = ['a.sdf', '']\n", "2:9", "world");
    }

    #[test]
    fn settings_of_levels_are_read_and_bounded() {
        let text = "[levels]\nauto_levels = 8\nload = 'volume'\nminimum_stay_s = 0\n\
                    interaction_margin_m = 0.5\n";
        let levels = LevelsConfig {
            auto_levels: Some(8),
            load: LevelsLoad::Volume,
            minimum_stay: Duration::ZERO,
            interaction_margin_m: 0.5,
        };
        assert_eq!(parse(text).unwrap().levels, levels);
        check_error("[levels]\nauto_levels = 0\n", "2:15", "auto_levels");
        check_error(
            "[levels]\nload = 'all'\n",
            "2:8",
            "\"buffer\" or \"volume\"",
        );
        check_error(
            "[levels]\nminimum_stay_s = -0.1\n",
            "2:18",
            "from 0 to 3600",
        );
        check_error(
            "[levels]\ninteraction_margin_m = nan\n",
            "2:24",
            "from 0 to 100",
        );
    }

    #[test]
    fn a_wrong_key_is_named_with_its_place() {
        check_error("[run]\nseed = 1\nitterations = 5\n", "3:1", "itterations");
        check_error("[runn]\n", "1:2", "runn");
    }

    #[test]
    fn a_wrong_value_is_named_with_its_place_and_key() {
        check_error("[run]\nseed = 'x'\n", "2:8", "seed");
        check_error(
            "[run]\nreal_time_factor = -1.0\n",
            "2:20",
            "real_time_factor",
        );
        check_error("[run]\n iterations = 0\n", "2:15", "iterations");
        check_error("[run]\nsecondaries = 2000\n", "2:15", "secondaries");
        check_error("[run]\nthreads = 65\n", "2:11", "threads");
        check_error("[run]\nbalance = 'on'\n", "2:11", "true or false");
        check_error("[run]\nname = 'a/b'\n", "2:8", "name");
        check_error("[run]\non_peer_loss = 'panic'\n", "2:16", "on_peer_loss");
        check_error(
            "[network]\nheartbeat_timeout_ms = 199\n",
            "2:24",
            "heartbeat_timeout_ms",
        );
        check_error("[network]\nstep_timeout_s = 0\n", "2:18", "step_timeout_s");
        check_error("[view]\nrefresh_hz = 0\n", "2:14", "refresh_hz");
    }

    #[test]
    fn text_that_is_not_toml_is_refused_with_its_place() {
        check_error("[run]\nseed = = 1\n", "2:8", "");
    }

    #[test]
    fn the_example_file_loads_and_its_world_is_found_beside_it() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs");
        let config = Config::load(&folder.join("ramp.toml")).unwrap();
        assert_eq!(config.run.worlds, [folder.join("../worlds/ramp.sdf")]);
        assert_eq!(config.run.name.as_deref(), Some("ramp"));
    }
}
