//! Flags for how long peers are waited for, and what is said on the way.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use lockstep::PatienceSettings;

use super::values::seconds;

/// How long a step is waited for before something is said about it, and where is written what a
/// run must never do.
#[derive(Clone, Debug, Args)]
pub(crate) struct PatienceArguments {
    /// A step that waits so long is reported, with who blocks it
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    warn_after: Duration,
    /// A step that waits so long has its blockers examined
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    diagnose_after: Duration,
    /// Wait for secondaries of this machine as long as a debugger or a signal has stopped them
    #[arg(long)]
    wait_for_debugger: bool,
    /// The folder in which a divergence is described, should there be one
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    pub(crate) divergence_reports: PathBuf,
}

impl PatienceArguments {
    /// Returns what the rules are told.
    pub(crate) fn settings(&self) -> PatienceSettings {
        PatienceSettings {
            warn_after: self.warn_after,
            diagnose_after: self.diagnose_after,
            wait_for_debugger: self.wait_for_debugger,
        }
    }
}
