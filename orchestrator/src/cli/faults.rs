//! Arguments of `phalanx run` for fault handling.

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use lockstep::limits::STAND_BYS_MAX;
use serde::{Deserialize, Serialize};

use super::parse_switch;
use crate::config::{NetworkConfig, RESTARTS_PER_MINUTE_MAX, RecoveryConfig};

/// Reaction to the loss of a secondary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum PeerLossPolicy {
    /// Everyone is told why, and the run ends.
    Stop,
    /// Its cells are restored on others and the run goes on; nothing is lost.
    #[default]
    Recover,
}

/// The arguments of `phalanx run` for losses and long waits.
#[derive(Clone, Debug, Default, Args)]
pub struct FaultArguments {
    /// Reaction to the loss of a secondary [default: recover]
    #[arg(long, value_name = "POLICY", env = "PHALANX_ON_PEER_LOSS")]
    pub on_peer_loss: Option<PeerLossPolicy>,
    /// Iterations from one checkpoint of all cells to the next; 0 makes none but those asked for
    /// [default: 1000]
    #[arg(long, value_name = "N", env = "PHALANX_CHECKPOINT_EVERY")]
    #[arg(value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub checkpoint_every: Option<u64>,
    /// Number of secondaries that may join beyond those that are started [default: 16]
    #[arg(long, value_name = "N", env = "PHALANX_STAND_BYS")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=i64::from(STAND_BYS_MAX)))]
    pub stand_bys: Option<u32>,
    /// Start lost secondaries again, with --on-peer-loss=recover [default: on]
    #[arg(long, value_name = "on|off", env = "PHALANX_RESTART", value_parser = parse_switch)]
    pub restart: Option<bool>,
    /// Number of times per minute that one secondary may be started again [default: 5]
    #[arg(long, value_name = "N", env = "PHALANX_RESTARTS_PER_MINUTE")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(RESTARTS_PER_MINUTE_MAX)))]
    pub restarts_per_minute: Option<u32>,
    /// Wait for secondaries as long as a debugger or a signal has stopped them
    #[arg(long, value_name = "BOOL", env = "PHALANX_WAIT_FOR_DEBUGGER")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_parser = BoolishValueParser::new())]
    pub wait_for_debugger: Option<bool>,
}

impl FaultArguments {
    /// Puts what is given over what files say.
    pub fn apply(&self, recovery: &mut RecoveryConfig, network: &mut NetworkConfig) {
        recovery.on_peer_loss = self.on_peer_loss.unwrap_or(recovery.on_peer_loss);
        recovery.checkpoint_every = self.checkpoint_every.unwrap_or(recovery.checkpoint_every);
        recovery.stand_bys = self.stand_bys.unwrap_or(recovery.stand_bys);
        recovery.restarts = self.restart.unwrap_or(recovery.restarts);
        let limit = self.restarts_per_minute;
        recovery.restarts_per_minute = limit.unwrap_or(recovery.restarts_per_minute);
        network.wait_for_debugger = self.wait_for_debugger.unwrap_or(network.wait_for_debugger);
    }
}
