//! [`RunDescription`]: settings that decide what a run computes, besides its worlds and commands.

use std::collections::BTreeMap;

use protocol::peer::Build;
use protocol::{Digest, SessionId};
use serde::{Deserialize, Serialize};

/// The version of what stands in a recording.
pub const FORMAT: u32 = 1;

/// The name of the attachment with the worlds, as they travel to secondaries.
pub(crate) const WORLDS_ATTACHMENT: &str = "worlds.bin";
/// The name of the attachment with this description.
pub(crate) const SETTINGS_ATTACHMENT: &str = "settings.json";
/// The name of the metadata.
pub(crate) const METADATA: &str = "phalanx";

/// Settings that decide what a run computes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunDescription {
    /// The version of what stands in the recording: [`FORMAT`].
    pub format: u32,
    /// The names of the worlds.
    pub worlds: Vec<String>,
    /// Fingerprint of the worlds as they are attached.
    pub world_digest: Digest,
    /// The run's session.
    pub session: SessionId,
    /// The program that ran it.
    pub build: Build,
    /// Time when the run was begun \[ms since 1970\].
    pub started_unix_ms: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Simulated time per iteration at the start \[ns\].
    pub step_size_ns: u64,
    /// Rule that says when a level's models are loaded.
    pub levels_load: LoadWord,
    /// Rule that says whom a cell sees; `buffer` in recordings of earlier versions.
    #[serde(default)]
    pub sight: SightWord,
    /// Distance below which one cell must own two performers \[m\].
    pub interaction_margin_m: f64,
    /// Iterations that a performer stays in a cell before it goes to its own level's.
    pub minimum_stay_iterations: u64,
    /// Number of secondaries that took part; 0 is standalone.
    pub secondaries: u32,
    /// Frames per second of simulated time; 0 is one per iteration.
    pub record_rate_hz: f64,
    /// True if every iteration's states are in the recording.
    pub has_states: bool,
    /// Settings of the run under the names of run files, without what belongs to the machine that
    /// it ran on; null in recordings of earlier versions.
    #[serde(default)]
    pub spec: serde_json::Value,
}

/// Rule for loading a level's models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadWord {
    /// While a performer touches the level or its buffer.
    Buffer,
    /// From touching the level itself until leaving its buffer.
    Volume,
}

/// Rule for which performers of other cells a cell sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SightWord {
    /// Those within the buffer of their level.
    #[default]
    Buffer,
    /// All within the range of its sensors.
    Range,
}

impl RunDescription {
    /// Returns what any MCAP program shows of it.
    pub(crate) fn metadata(&self) -> BTreeMap<String, String> {
        let pairs = [
            ("format", self.format.to_string()),
            ("worlds", self.worlds.join(", ")),
            ("session", format!("{:016x}", self.session.0)),
            ("version", self.build.version.clone()),
            ("target", self.build.target.clone()),
            ("sources", self.build.sources.to_string()),
            ("started", date(self.started_unix_ms)),
        ];
        let pairs = pairs.into_iter();
        pairs.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Returns a date and time of day in UTC; by the algorithm `civil_from_days` of Howard Hinnant's
/// "chrono-compatible low-level date algorithms".
pub fn date(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let shifted = seconds / 86_400 + 719_468;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + shifted / 146_097 * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds * 1000), expected);
        }
    }
}
