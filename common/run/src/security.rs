//! `[security]`: who may connect.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::{Audience, Setting};

/// Access to a run. Secrets are named by their files, never given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Security {
    /// The folder of the user's keys; `None` is the one of every user.
    pub keys: Option<PathBuf>,
    /// True if nothing is encrypted, and anybody may connect who reaches the primary.
    pub insecure: bool,
    /// The secret key of the primary, a file.
    pub key: Option<PathBuf>,
    /// Files and folders that name the keys which may connect.
    pub authorized: Vec<PathBuf>,
    /// True if what is spawned may name models of Fuel that this machine has in its caches.
    pub spawn_from_fuel: bool,
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::personal("security", "keys", Kind::Path)
        .flag("keys", "FOLDER", "The folder of your keys: primary.key and who is authorized")
        .unset("keys in your folder of settings")
        .only(Audience::Launcher),
    Setting::of_run("security", "insecure", Kind::Flag)
        .flag("insecure", "BOOL",
            "Encrypt nothing and let anybody in who reaches --bind; a secondary: connect to \
             another machine without encryption"),
    Setting::of_run("security", "spawn_from_fuel", Kind::Flag)
        .flag("spawn-from-fuel", "BOOL",
            "Let what is spawned name models of Fuel that are in the caches of this machine; \
             nothing is fetched then"),
];
