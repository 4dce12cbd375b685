//! `[participants]`: programs that take part in lockstep.

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::Setting;

/// Programs that take part in lockstep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Participants {
    /// Most programs that may take part; those that a `[[program]]` says to join always may.
    pub max: u32,
}

impl Default for Participants {
    fn default() -> Self {
        Self { max: 4 }
    }
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("participants", "max", Kind::Whole(0, 64))
        .flag("participants-max", "N",
            "How many programs may take part in lockstep, and hold the run until they answer; 0 \
             lets none"),
];
