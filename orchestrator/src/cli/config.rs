//! The command line of `phalanx config`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// The arguments of `phalanx config`.
#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// Action to take
    #[command(subcommand)]
    pub action: ConfigAction,
}

/// Actions on settings.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print every setting in force, and where it comes from
    Print {
        /// A run file; without it, what holds for runs without one
        file: Option<PathBuf>,
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: ConfigFormat,
    },
    /// Tell all that is wrong with files of settings
    Check {
        /// Run files; without one, your own file
        files: Vec<PathBuf>,
    },
    /// Print where your own file of settings is, or would be
    Path,
}

/// Format of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    /// As a run file.
    #[default]
    Toml,
    /// For programs.
    Json,
}
