//! The command line of `phalanx replay`.

use std::path::PathBuf;

use clap::Args;

use super::{Format, ViewArguments};

/// The arguments of `phalanx replay`.
#[derive(Clone, Debug, Args)]
pub struct ReplayArguments {
    /// A recording, written with --record
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// No view: print what is in it
    #[arg(long, conflicts_with = "verify")]
    pub info: bool,
    /// No view: simulate it again from what is in the file alone, and compare the digest of every
    /// iteration; exit code 5 and the first iteration that differs if one does
    #[arg(long)]
    pub verify: bool,
    /// Secondaries that simulate it again; 0 is one process for everything
    #[arg(long, value_name = "N", default_value_t = 0, requires = "verify")]
    pub secondaries: u32,
    /// Format of what --info and --verify print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Options of the view.
    #[command(flatten)]
    pub view: ViewArguments,
}
