//! Flags of recordings.

use std::path::PathBuf;

use clap::Args;
use worker::recorder::{RATE_MAX_HZ, RecorderSettings};

/// Frames per second of simulated time, unless said otherwise.
const DEFAULT_RATE_HZ: f64 = 30.0;

/// Flags of recording and replaying a run.
#[derive(Args, Clone, Debug)]
pub(crate) struct RecordFlags {
    /// Record the run in an MCAP file: where everyone is, digests, commands, events, and every
    /// message of every topic
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Frames that are recorded per second of simulated time; 0 is one per iteration
    #[arg(long, value_name = "HZ", default_value_t = DEFAULT_RATE_HZ, value_parser = rate)]
    pub(crate) record_rate: f64,
    /// Record the states of every iteration, too, bit for bit
    #[arg(long, requires = "record")]
    pub(crate) record_states: bool,
    /// Simulate again what this file has recorded, and compare the digest of every iteration; it
    /// has the worlds, seed, rules and commands
    #[arg(long, value_name = "FILE", conflicts_with_all = ["worlds", "commands", "iterations"])]
    pub(crate) recording: Option<PathBuf>,
}

impl RecordFlags {
    /// Returns what is recorded, if anything.
    pub(crate) fn recorder(&self) -> Option<RecorderSettings> {
        Some(RecorderSettings {
            path: self.record.clone()?,
            rate_hz: self.record_rate,
            has_states: self.record_states,
        })
    }
}

/// Reads a rate of frames.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok();
    let rate = rate.filter(|rate| (0.0..=RATE_MAX_HZ).contains(rate));
    rate.ok_or_else(|| format!("a rate is a number from 0 to {RATE_MAX_HZ} [Hz]"))
}
