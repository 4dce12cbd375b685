//! Arguments of `phalanx show logs` besides those of other panels.

use clap::Args;

/// The arguments of `phalanx show logs`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Logs")]
pub struct LogArguments {
    /// Only what this process printed, such as s1, primary or phalanx
    #[arg(long, value_name = "NAME")]
    pub process: Option<String>,
    /// Only the last lines, at most 10000 [default: 10000]
    #[arg(long, value_name = "N")]
    pub lines: Option<usize>,
}

impl LogArguments {
    /// Tells whether anything was asked for that only logs have.
    pub fn is_given(&self) -> bool {
        self.process.is_some() || self.lines.is_some()
    }
}
