//! Flags for how long peers are waited for, and what is said on the way.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use lockstep::StepTimeoutSettings;
use worker::divergence_file::DivergenceFile;

use super::Run;
use super::values::seconds;

/// Times after which a step that waits is reported and examined, and the folder for reports of a
/// divergence.
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
    divergence_reports: PathBuf,
}

impl PatienceArguments {
    /// Returns what the rules are told.
    pub(crate) fn settings(&self) -> StepTimeoutSettings {
        StepTimeoutSettings {
            warn_after: self.warn_after,
            diagnose_after: self.diagnose_after,
            wait_for_debugger: self.wait_for_debugger,
        }
    }
}

/// Returns the place for what is told of a divergence, with what the run was asked to be.
pub(crate) fn divergence_file(
    run: &Run,
    step_size: Duration,
    secondaries: Option<u32>,
) -> DivergenceFile {
    let settings = serde_json::json!({
        "worlds": run.worlds,
        "secondaries": secondaries,
        "seed": run.seed,
        "step_size_s": step_size.as_secs_f64(),
        "threads": run.threads,
        "verify": run.verify,
        "balance": run.balance,
        "solver": format!("{:?}", run.solver).to_lowercase(),
        "auto_levels": run.auto_levels,
        "levels_load": format!("{:?}", run.levels_load).to_lowercase(),
        "minimum_stay_s": run.minimum_stay.as_secs_f64(),
        "interaction_margin_m": run.interaction_margin,
        "commands": run.commands,
        "record_commands": run.record_commands,
        "on_peer_loss": format!("{:?}", run.on_peer_loss).to_lowercase(),
        "checkpoint_every": run.checkpoint_every,
    });
    DivergenceFile::new(&run.patience.divergence_reports, settings)
}
