//! The flags of recordings: what a run writes, and what `phalanx replay` does with it.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;

use super::{Format, ViewArguments, parse_bounded};
use crate::config::RecordConfig;

/// The most frames per second of simulated time.
pub(crate) const RATE_MAX_HZ: f64 = 1e6;

/// Options of recording a run; absent ones come from the run file.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Recording")]
pub struct RecordArguments {
    /// Record the run in this MCAP file, for `phalanx replay` and other programs
    #[arg(long, value_name = "FILE", env = "PHALANX_RECORD")]
    pub record: Option<PathBuf>,
    /// Frames recorded per second of simulated time; 0 is one per iteration [default: 30]
    #[arg(long, value_name = "HZ", env = "PHALANX_RECORD_RATE", value_parser = parse_rate)]
    pub record_rate: Option<f64>,
    /// Record the states of every iteration, too, bit for bit
    #[arg(long, value_name = "BOOL", env = "PHALANX_RECORD_STATES")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_parser = BoolishValueParser::new())]
    pub record_states: Option<bool>,
}

impl RecordArguments {
    /// Lets what is given win over settings.
    pub fn apply(&self, record: &mut RecordConfig) {
        if let Some(file) = &self.record {
            record.file = Some(file.clone());
        }
        record.rate_hz = self.record_rate.unwrap_or(record.rate_hz);
        record.has_states = self.record_states.unwrap_or(record.has_states);
    }
}

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

fn parse_rate(text: &str) -> Result<f64, String> {
    parse_bounded(text, RATE_MAX_HZ)
}
