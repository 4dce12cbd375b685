//! Settings of a run as flags of `worker`, from their table.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use run::{Audience, Given, RunSpec, Setting, flags};

use super::UsageError;

/// Settings that are about a process of its own, which a secondary takes, too.
const OF_SECONDARIES: [&str; 4] = [
    "network.partition",
    "network.peer_timeout_s",
    "network.spin_us",
    "security.insecure",
];

/// Settings of a run that flags give.
#[derive(Clone, Debug)]
pub(super) struct SettingFlags(Given);

fn of_worker() -> impl Iterator<Item = &'static Setting> {
    run::settings().filter(|setting| setting.audience != Audience::Launcher)
}

impl SettingFlags {
    /// Returns settings with those of the flags over them.
    ///
    /// # Errors
    /// Fails if a path of the settings is no text.
    pub(super) fn over(&self, base: &RunSpec) -> Result<RunSpec, UsageError> {
        run::overlay(base, &self.0).map_err(UsageError::Path)
    }

    /// Returns the flags that a secondary is told by its primary.
    pub(super) fn ignored_by_secondaries(&self) -> Vec<String> {
        let is_given = |setting: &&Setting| {
            let id = (setting.section, setting.key);
            self.0.0.contains_key(&id) && !OF_SECONDARIES.contains(&setting.path().as_str())
        };
        let flags = of_worker().filter(is_given).filter_map(|one| one.flag);
        flags.map(|flag| format!("--{}", flag.long)).collect()
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        // The environment of a worker is that of its launcher, whose variables are not meant for
        // it.
        flags::add(command, of_worker(), &RunSpec::by_hand(), false)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(flags::given(matches, of_worker())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
