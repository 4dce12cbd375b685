//! `[levels]`: which cell every performer is in.

use std::time::Duration;

use lockstep::limits::{AUTO_LEVELS_MAX, INTERACTION_MARGIN_MAX, MINIMUM_STAY_MAX_S, SPLIT_ABOVE};
use lockstep::{LoadRule, SightRule};
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::Setting;
use crate::values;

/// Settings that decide which cell every performer is in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Levels {
    /// Number of levels into which each world is cut; `None` leaves them as they are.
    pub auto_levels: Option<u32>,
    /// Number of performers above which a level is split while the run goes on; `None` splits none.
    pub split_above: Option<u32>,
    /// Rule for when a level's models are loaded.
    #[serde(with = "values::word")]
    pub load: LoadRule,
    /// Rule for which performers of other cells a cell's sensors see.
    #[serde(with = "values::word")]
    pub sight: SightRule,
    /// Simulated time that a performer stays in a cell before it goes to its own level's.
    #[serde(rename = "minimum_stay_s", with = "values::seconds")]
    pub minimum_stay: Duration,
    /// Distance below which one cell must own two performers \[m\].
    pub interaction_margin_m: f64,
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("levels", "auto_levels", Kind::Whole(1, AUTO_LEVELS_MAX as u64))
        .flag("auto-levels", "N",
            "Cut each world, none of which may have levels, into so many by its contents"),
    Setting::of_run("levels", "split_above",
        Kind::Whole(SPLIT_ABOVE[0] as u64, SPLIT_ABOVE[1] as u64))
        .flag("split-above", "N",
            "Split each level, and what is in none, into parts with a cell each while more than so \
             many performers belong to one"),
    Setting::of_run("levels", "load", Kind::Word(&["buffer", "volume"]))
        .flag("levels-load", "RULE",
            "When a level's models are loaded: `buffer` while a performer touches the level or its \
             buffer, `volume` from touching the level itself until leaving its buffer, as Gazebo \
             does"),
    Setting::of_run("levels", "sight", Kind::Word(&["buffer", "range"]))
        .flag("sight", "RULE",
            "Which performers of other levels sensors see: `buffer` those within the buffer of \
             their own level, `range` all within the range of the sensor, as in Gazebo"),
    Setting::of_run("levels", "minimum_stay_s", Kind::Number(0.0, MINIMUM_STAY_MAX_S))
        .flag("minimum-stay", "SECONDS",
            "Simulated time that a performer stays in a cell before it goes to its own level's"),
    Setting::of_run("levels", "interaction_margin_m", Kind::Number(0.0, INTERACTION_MARGIN_MAX))
        .flag("interaction-margin", "METRES",
            "Distance below which one cell must own two performers, in metres"),
];

impl Default for Levels {
    fn default() -> Self {
        Self {
            auto_levels: None,
            split_above: None,
            load: LoadRule::Buffer,
            sight: SightRule::Buffer,
            minimum_stay: Duration::from_millis(50),
            interaction_margin_m: 0.02,
        }
    }
}
