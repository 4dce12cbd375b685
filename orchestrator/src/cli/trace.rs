//! The flags of a run's trace.

use std::path::PathBuf;

use clap::Args;

use crate::config::TraceConfig;

/// Options of tracing a run; absent ones come from the run file.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Trace")]
pub struct TraceArguments {
    /// Write where the time of iterations went, in all processes on one clock, for ui.perfetto.dev
    #[arg(long, value_name = "FILE", env = "PHALANX_TRACE")]
    pub trace: Option<PathBuf>,
    /// The first iteration that is traced; 0 is that in which cells are made [default: 1]
    #[arg(long, value_name = "ITERATION", env = "PHALANX_TRACE_FROM")]
    pub trace_from: Option<u64>,
    /// Number of iterations that are traced [default: 10000]
    #[arg(long, value_name = "N", env = "PHALANX_TRACE_ITERATIONS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub trace_iterations: Option<u64>,
}

impl TraceArguments {
    /// Lets what is given win over settings.
    pub fn apply(&self, trace: &mut TraceConfig) {
        if let Some(file) = &self.trace {
            trace.file = Some(file.clone());
        }
        trace.from = self.trace_from.unwrap_or(trace.from);
        trace.iterations = self.trace_iterations.unwrap_or(trace.iterations);
    }
}
