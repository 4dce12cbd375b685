//! `[journal]`: the journal of a run, from which it is resumed.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::Setting;

/// Journal of a run, from which it is resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Journal {
    /// Its place.
    pub place: JournalLocation,
    /// Room that it may take \[MiB\]; the run pauses when that is not enough.
    pub limit_mib: u64,
}

/// Place of the journal of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum JournalLocation {
    /// In the run's folder.
    #[default]
    RunFolder,
    /// Nowhere: the run cannot be resumed.
    Nowhere,
    /// In this folder.
    Folder(PathBuf),
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("journal", "place", Kind::Place)
        .flag("journal", "on|off|DIR",
            "Whether the run is written down, so that it can be resumed after a crash: `on` in the \
             run's folder, or in a folder of its own; it is removed when the run is complete"),
    Setting::personal("journal", "limit_mib", Kind::Whole(1, 1 << 30))
        .flag("journal-limit", "MIB",
            "How much room the journal may take, in MiB; the run pauses when that is not enough"),
];

impl Default for Journal {
    fn default() -> Self {
        Self {
            place: JournalLocation::RunFolder,
            limit_mib: 4096,
        }
    }
}

impl Journal {
    /// Returns the folder that a place names by itself.
    pub fn folder(&self) -> Option<&Path> {
        match &self.place {
            JournalLocation::Folder(folder) => Some(folder),
            JournalLocation::RunFolder | JournalLocation::Nowhere => None,
        }
    }

    /// Returns the room that it may take \[bytes\].
    pub fn limit_bytes(&self) -> u64 {
        self.limit_mib << 20
    }
}

impl From<String> for JournalLocation {
    fn from(text: String) -> Self {
        match text.as_str() {
            "on" => Self::RunFolder,
            "off" => Self::Nowhere,
            _ => Self::Folder(text.into()),
        }
    }
}

impl From<JournalLocation> for String {
    fn from(place: JournalLocation) -> Self {
        match place {
            JournalLocation::RunFolder => "on".to_owned(),
            JournalLocation::Nowhere => "off".to_owned(),
            JournalLocation::Folder(folder) => folder.to_string_lossy().into_owned(),
        }
    }
}
