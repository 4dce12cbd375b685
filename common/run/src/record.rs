//! `[record]`: what is recorded of a run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::Setting;
use crate::values::{Word, word};

/// The most frames per second of simulated time.
const RATE_MAX_HZ: f64 = 1e6;
/// The most MiB of files of visuals that can be asked for: a reader holds each file in memory.
const VISUALS_MIB_MAX: u64 = 1 << 16;

/// Format of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// All of a run, to replay it and simulate it again.
    Phalanx,
    /// Topics alone, for programs of ROS 2.
    Ros2,
}

impl Word for RecordFormat {
    const WORDS: &'static [(&'static str, Self)] =
        &[("phalanx", Self::Phalanx), ("ros2", Self::Ros2)];
}

/// Form in which images of sensors are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordImages {
    /// As they are.
    Raw,
    /// Compressed as JPEG; distances and values of 16 bits as PNG.
    Jpeg,
    /// Compressed as PNG.
    Png,
}

impl Word for RecordImages {
    const WORDS: &'static [(&'static str, Self)] =
        &[("raw", Self::Raw), ("jpeg", Self::Jpeg), ("png", Self::Png)];
}

/// Recording of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The MCAP file; `None` records nothing.
    pub file: Option<PathBuf>,
    /// Its format.
    #[serde(with = "word")]
    pub format: RecordFormat,
    /// Frames per second of simulated time; 0 is one per iteration \[Hz\].
    pub rate_hz: f64,
    /// True if the states of every iteration are recorded, too.
    pub states: bool,
    /// Form of the images of sensors.
    #[serde(with = "word")]
    pub images: RecordImages,
    /// The most that files of the visuals of worlds have together \[MiB\].
    pub visuals_mib: u32,
}

impl Record {
    /// Returns how many frames per second of simulated time have where links are, if any do: a
    /// recording for ROS has what is said on topics alone.
    pub fn link_rate_hz(&self) -> Option<f64> {
        let has_links = self.file.is_some() && self.format == RecordFormat::Phalanx;
        has_links.then_some(self.rate_hz)
    }
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("record", "file", Kind::Path)
        .flag("record", "FILE",
            "Record the run in this MCAP file, for `phalanx replay` and other programs"),
    Setting::personal("record", "format", Kind::Word(&["phalanx", "ros2"]))
        .flag("record-format", "FORMAT",
            "What is in it: `phalanx` everything, to replay and simulate again; `ros2` topics, as \
             messages of ROS 2"),
    Setting::personal("record", "rate_hz", Kind::Number(0.0, RATE_MAX_HZ))
        .flag("record-rate", "HZ",
            "Frames recorded per second of simulated time; 0 is one per iteration"),
    Setting::personal("record", "states", Kind::Flag)
        .flag("record-states", "BOOL", "Record the states of every iteration, too, bit for bit"),
    Setting::personal("record", "images", Kind::Word(&["raw", "jpeg", "png"]))
        .flag("record-images", "FORM",
            "How images of sensors are recorded: `raw`, or compressed as `jpeg` or `png` on topics \
             beside theirs"),
    Setting::personal("record", "visuals_mib", Kind::Whole(0, VISUALS_MIB_MAX))
        .flag("record-visuals", "MIB",
            "Most MiB of meshes and images of the worlds that are recorded, to be drawn on other \
             machines; 0 is none"),
];

impl Default for Record {
    fn default() -> Self {
        Self {
            file: None,
            format: RecordFormat::Phalanx,
            rate_hz: 30.0,
            states: false,
            images: RecordImages::Raw,
            visuals_mib: 256,
        }
    }
}
