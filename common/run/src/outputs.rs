//! `[outputs]`: files that a run writes as it goes, for comparing, repeating and reporting.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::{Audience, Setting};

/// Files that a run writes as it goes; `None` writes none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outputs {
    /// A line per iteration: its number and the digest of all performers.
    pub digests: Option<PathBuf>,
    /// The changes of every iteration, bit for bit.
    pub states: Option<PathBuf>,
    /// A line per message of every topic.
    pub messages: Option<PathBuf>,
    /// Commands that were done, with their iterations.
    pub record_commands: Option<PathBuf>,
    /// Events as JSON lines, written by the launcher.
    pub events: Option<PathBuf>,
    /// The summary, when the run ends.
    pub summary: Option<PathBuf>,
    /// The last events, when the run ends.
    pub last_events: Option<PathBuf>,
    /// The audit log: who came, who commanded what, who was turned away.
    pub audit: Option<PathBuf>,
    /// The folder in which a divergence is described, should there be one.
    pub divergence_reports: Option<PathBuf>,
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("outputs", "digests", Kind::Path)
        .flag("digests", "FILE", "Write one line with the digest of every iteration to this file"),
    Setting::of_run("outputs", "states", Kind::Path)
        .flag("states", "FILE",
            "Write what every iteration changed to this file: performers' cells and states, bit \
             for bit, for `phalanx diff`"),
    Setting::of_run("outputs", "messages", Kind::Path)
        .flag("messages", "FILE",
            "Write one line per message of every topic to this file, whether or not anyone \
             listens, for `phalanx diff`"),
    Setting::of_run("outputs", "record_commands", Kind::Path)
        .flag("record-commands", "FILE",
            "Write the commands that were done, with their iterations, for --commands"),
    Setting::of_run("outputs", "events", Kind::Path)
        .flag("events", "FILE",
            "Write what happens to this file as JSON lines; - is stdout, with --headless")
        .only(Audience::Launcher),
    Setting::of_run("outputs", "summary", Kind::Path)
        .flag("summary", "FILE", "Write how the run went, as JSON, when it ends")
        .only(Audience::Worker),
    Setting::of_run("outputs", "last_events", Kind::Path)
        .flag("last-events", "FILE", "Write the last events, as JSON lines, when the run ends")
        .only(Audience::Worker),
    Setting::of_run("outputs", "audit", Kind::Path)
        .flag("audit", "FILE",
            "Write down who came, who commanded what and who was turned away, a line each")
        .only(Audience::Worker),
    Setting::of_run("outputs", "divergence_reports", Kind::Path)
        .flag("divergence-reports", "DIRECTORY",
            "The folder in which a divergence is described, should there be one")
        .unset("the working directory")
        .only(Audience::Worker),
];

impl Outputs {
    /// Returns the files that a run writes as it goes, with their flags.
    pub fn files(&self) -> [(&'static str, &Option<PathBuf>); 5] {
        [
            ("--digests", &self.digests),
            ("--states", &self.states),
            ("--messages", &self.messages),
            ("--events", &self.events),
            ("--record-commands", &self.record_commands),
        ]
    }
}
