//! The command line of `phalanx config`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// The arguments of `phalanx config`.
#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// What to do
    #[command(subcommand)]
    pub action: ConfigAction,
}

/// What can be done with settings.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print every setting in force, and where it comes from
    Print {
        /// A run file; without it, what holds for runs without one
        file: Option<PathBuf>,
        /// How to print them
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

/// How settings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    /// As a run file.
    #[default]
    Toml,
    /// For programs.
    Json,
}
