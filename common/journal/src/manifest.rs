//! [`Manifest`]: worlds and settings of a run, as a journal has them.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::time::Duration;

use lockstep::{Rules, Settings};
use protocol::peer::Build;
use protocol::{RosSettings, ScheduledCommand, SessionId};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::disk::Disk;
use crate::frame::{self, FrameError, FrameReader, Kind};

/// Description of a run: its program, worlds, settings and schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The program that wrote it; another one comes to other bits.
    pub build: Build,
    /// The session in which the run began.
    pub session: SessionId,
    /// Time when it began \[s since 1970\].
    pub began_unix_s: u64,
    /// The names of the world files, for people and for what models that come find beside them.
    pub world_files: Vec<String>,
    /// The worlds as they travel.
    pub worlds: ByteBuf,
    /// Settings that decide its bits.
    pub settings: RunSettings,
    /// The commands that it was given from the start.
    pub schedule: Vec<ScheduledCommand>,
}

/// The settings that decide what a run computes, when it ends, and which nodes of others hear it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// After how many iterations it is complete.
    pub iterations: Option<u64>,
    /// Simulated over real time at the start; 0 is as fast as possible.
    pub real_time_factor: f64,
    /// True if time stood still at first.
    pub start_paused: bool,
    /// Simulated time per iteration at the start.
    pub step_size: Duration,
    /// Seed of all random numbers at the start.
    pub seed: u64,
    /// Rules that decide which cell every performer is in.
    pub rules: Rules,
    /// Iterations from one checkpoint to the next.
    pub checkpoint_every: u64,
    /// Settings of its nodes in ROS 2, if it has any.
    pub ros2: Option<RosSettings>,
}

impl From<&Settings> for RunSettings {
    fn from(settings: &Settings) -> Self {
        Self {
            iterations: settings.pace.iterations,
            real_time_factor: settings.pace.real_time_factor,
            start_paused: settings.pace.start_paused,
            step_size: settings.pace.step_size,
            seed: settings.seed,
            rules: settings.cells.rules,
            checkpoint_every: settings.recovery.checkpoint_every,
            ros2: settings.outputs.ros2.clone(),
        }
    }
}

impl Manifest {
    /// Returns the file's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = frame::head(Kind::Manifest).to_vec();
        let offset = bytes.len() as u64;
        frame::push(&mut bytes, offset, &frame::encode(self));
        bytes
    }

    /// Returns the manifest in a file's bytes.
    ///
    /// # Errors
    /// Fails if it is no manifest.
    pub fn decode(input: impl io::Read, length: u64) -> Result<Self, FrameError> {
        FrameReader::new(input, length, Kind::Manifest)?.expect()
    }

    /// Reads the manifest in a file.
    ///
    /// # Errors
    /// Fails if it cannot be read or is none.
    pub fn read(path: &Path) -> Result<Self, FrameError> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Self::decode(BufReader::new(file), length)
    }

    pub(crate) fn write(&self, disk: &dyn Disk, path: &Path) -> io::Result<u64> {
        let bytes = self.encode();
        crate::disk::write_whole(disk, path, |file| {
            file.write_all(&bytes)?;
            Ok(bytes.len() as u64)
        })
    }
}
