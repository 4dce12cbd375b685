//! `[run]`: worlds, time and randomness of a run, and how its processes share the work.

use std::path::PathBuf;

use lockstep::PeerLossPolicy;
use lockstep::limits::{RUN_AHEAD_DEFAULT, RUN_AHEAD_MAX, STAND_BYS_MAX, THREADS_MAX};
use protocol::RendererKind;
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::{Audience, Setting};
use crate::values;

/// The largest number of secondaries of one run.
pub const SECONDARIES_MAX: u32 = 1000;

/// The most often that one secondary may be started again in a minute.
const RESTARTS_PER_MINUTE_MAX: u64 = 1000;

/// Worlds, time and randomness of a run, and how its processes share the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Simulation {
    /// World files; none is the embedded demo.
    #[serde(rename = "world", with = "paths")]
    pub worlds: Vec<PathBuf>,
    /// Name of the run; `None` is the first world's file name and a number.
    pub name: Option<String>,
    /// Number of secondaries to start; 0 is standalone.
    pub secondaries: u32,
    /// Iterations after which the run ends; `None` is never.
    pub iterations: Option<u64>,
    /// Simulated over real time, 0 is as fast as possible; `None` is what the world says.
    pub real_time_factor: Option<f64>,
    /// True if time is paused at the start.
    pub paused: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// File with commands that are done at their iterations.
    pub commands: Option<PathBuf>,
    /// Reaction to the loss of a process.
    #[serde(flatten)]
    pub recovery: Recovery,
    /// Threads that step cells, in each process.
    pub threads: u32,
    /// Largest number of iterations that one message brings.
    pub run_ahead_max: u32,
    /// True if every step of every cell is done twice and compared.
    pub verify: bool,
    /// True if cells move between secondaries for the sake of load.
    pub balance: bool,
    /// Device that draws what cameras see.
    #[serde(with = "values::word")]
    pub renderer: RendererKind,
    /// Quality of images that are compressed as JPEG, from 1 to 100.
    pub jpeg_quality: u8,
}

/// Reaction to the loss of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recovery {
    /// Reaction to the loss of a secondary.
    #[serde(with = "values::word")]
    pub on_peer_loss: PeerLossPolicy,
    /// Iterations from one checkpoint of all cells to the next; 0 makes none but those asked for.
    pub checkpoint_every: u64,
    /// Number of secondaries that may join beyond those that the run needs.
    pub stand_bys: u32,
    /// True if secondaries of this machine that are lost are started again.
    pub restart: bool,
    /// Number of times in a minute that one secondary may be started again.
    pub restarts_per_minute: u32,
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("run", "world", Kind::Paths),
    Setting::of_run("run", "name", Kind::RunName)
        .flag("name", "RUN", "Name of the run")
        .unset("the world's file name and a number")
        .only(Audience::Launcher),
    Setting::personal("run", "secondaries", Kind::Whole(0, SECONDARIES_MAX as u64))
        .flag("secondaries", "N",
            "Secondaries to start; 0 is standalone, one process for everything")
        .only(Audience::Launcher),
    Setting::of_run("run", "iterations", Kind::Whole(1, u64::MAX))
        .flag("iterations", "N", "Stop after so many iterations")
        .unset("run until stopped"),
    Setting::personal("run", "real_time_factor", Kind::Number(0.0, f64::MAX))
        .flag("real-time-factor", "X", "Simulated over real time; 0 is as fast as possible")
        .unset("what the world says"),
    Setting::personal("run", "paused", Kind::Flag)
        .flag("paused", "BOOL", "Start paused"),
    Setting::of_run("run", "seed", Kind::Whole(0, u64::MAX))
        .flag("seed", "N", "Seed of all random numbers"),
    Setting::of_run("run", "commands", Kind::Path)
        .flag("commands", "FILE",
            "Do the commands in this file at their iterations: JSON lines, see docs/commands.md"),
    Setting::personal("run", "on_peer_loss", Kind::Word(&["stop", "recover"]))
        .flag("on-peer-loss", "POLICY",
            "Reaction to the loss of a secondary: `stop` ends the run, `recover` restores its \
             cells on the others"),
    Setting::personal("run", "checkpoint_every", Kind::Whole(0, i64::MAX as u64))
        .flag("checkpoint-every", "N",
            "Iterations from one checkpoint of all cells to the next; 0 makes none but those asked \
             for"),
    Setting::personal("run", "stand_bys", Kind::Whole(0, STAND_BYS_MAX as u64))
        .flag("stand-bys", "N", "How many secondaries may join beyond those that the run needs"),
    Setting::personal("run", "restart", Kind::Switch)
        .flag("restart", "on|off",
            "Whether secondaries that are lost are started again, with --on-peer-loss=recover")
        .only(Audience::Launcher),
    Setting::personal("run", "restarts_per_minute", Kind::Whole(1, RESTARTS_PER_MINUTE_MAX))
        .flag("restarts-per-minute", "N",
            "How often in a minute one secondary may be started again")
        .only(Audience::Launcher),
    Setting::personal("run", "threads", Kind::Whole(1, THREADS_MAX as u64))
        .flag("threads", "N",
            "Threads in each process, which take cells in turn and share one that is crowded"),
    Setting::personal("run", "run_ahead_max", Kind::Whole(1, RUN_AHEAD_MAX as u64))
        .flag("run-ahead-max", "N",
            "Most iterations in one message to secondaries; 1 turns speculation off"),
    Setting::personal("run", "verify", Kind::Flag)
        .flag("verify", "BOOL", "Do every step of every cell twice and compare"),
    Setting::personal("run", "balance", Kind::Switch)
        .flag("balance", "on|off",
            "Whether cells move between secondaries for the sake of load"),
    Setting::of_run("run", "renderer", Kind::Word(&["cpu", "gpu", "auto"]))
        .flag("renderer", "DEVICE",
            "The device that draws what cameras see: `cpu` to the same bits anywhere, `gpu` \
             faster, `auto` a GPU on each host that has one"),
    Setting::personal("run", "jpeg_quality", Kind::Whole(1, 100))
        .flag("jpeg-quality", "Q",
            "Quality of images that are compressed as JPEG, for recordings and ROS 2"),
];

impl Default for Simulation {
    fn default() -> Self {
        Self {
            worlds: Vec::new(),
            name: None,
            secondaries: 2,
            iterations: None,
            real_time_factor: None,
            paused: false,
            seed: 0,
            commands: None,
            recovery: Recovery::default(),
            threads: 1,
            run_ahead_max: RUN_AHEAD_DEFAULT,
            verify: false,
            balance: true,
            renderer: RendererKind::Cpu,
            jpeg_quality: 80,
        }
    }
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            on_peer_loss: PeerLossPolicy::Recover,
            checkpoint_every: lockstep::CHECKPOINT_EVERY,
            stand_bys: 16,
            restart: true,
            restarts_per_minute: 5,
        }
    }
}

/// Paths, of which one may be written without a list, and none as nothing.
mod paths {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(PathBuf),
        Several(Vec<PathBuf>),
        None,
    }

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        match paths {
            [] => to.serialize_none(),
            [one] => one.serialize(to),
            several => several.serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        Ok(match Written::deserialize(from)? {
            Written::One(path) => vec![path],
            Written::Several(paths) => paths,
            Written::None => Vec::new(),
        })
    }
}
