//! Flags of traces.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use lockstep::Topology;
use protocol::{Iteration, Role, TraceWindow};
use worker::trace::{ITERATIONS, TraceSettings, Tracer};

/// Flags of the trace: its file, and the iterations that it covers.
#[derive(Args, Clone, Debug)]
pub(crate) struct TraceFlags {
    /// Write where the time of iterations went, in all processes and on one clock: Chrome's trace
    /// event format, for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// The first iteration that is traced; 0 is that in which cells are made
    #[arg(
        long,
        value_name = "ITERATION",
        default_value_t = 1,
        requires = "trace"
    )]
    pub(crate) trace_from: u64,
    /// Number of iterations that are traced
    #[arg(long, value_name = "N", default_value_t = ITERATIONS, requires = "trace")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trace_iterations: u64,
}

impl TraceFlags {
    /// Returns the iterations that are traced, if any.
    pub(crate) fn window(&self) -> Option<TraceWindow> {
        self.trace.as_ref().map(|_| TraceWindow {
            first: Iteration(self.trace_from),
            count: self.trace_iterations,
        })
    }

    /// Creates the file and starts what writes it, if anything is traced.
    ///
    /// # Errors
    /// Fails if the flags of tracing do not go together.
    pub(crate) fn tracer(&self, role: Role, plan: &Topology) -> anyhow::Result<Option<Tracer>> {
        let (Some(path), Some(window)) = (&self.trace, self.window()) else {
            return Ok(None);
        };
        let cells = plan.cells.iter().map(|cell| cell.name.clone());
        let settings = TraceSettings {
            path: path.clone(),
            window,
            role,
            cells: cells.collect(),
        };
        let tracer = Tracer::start(settings);
        let tracer = tracer.with_context(|| format!("cannot write a trace to {}", path.display()));
        tracer.map(Some)
    }
}
