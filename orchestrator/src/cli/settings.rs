//! Settings as options: those of a run, and those of its view, from their tables.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use run::{Audience, Given, RunSpec, Setting, flags};

use view::options::{VIEW_SETTINGS, ViewSections};

/// Settings of a run that flags or variables give; absent ones come from files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSettings(pub Given);

/// Options of a view; absent ones come from files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewArguments(pub Given);

fn of_run() -> impl Iterator<Item = &'static Setting> {
    run::settings().filter(|setting| setting.audience != Audience::Worker)
}

impl Args for RunSettings {
    fn augment_args(command: Command) -> Command {
        flags::add(command, of_run(), &RunSpec::default(), true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(flags::given(matches, of_run())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ViewArguments {
    fn augment_args(command: Command) -> Command {
        let settings = VIEW_SETTINGS.iter();
        flags::add(command, settings, &ViewSections::default(), true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ViewArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(flags::given(matches, VIEW_SETTINGS.iter())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, CliCommand};
    use crate::config::Config;
    use view::options::{ThemeName, UnicodeChoice, ViewConfig};

    #[test]
    fn flags_of_a_view_win_over_settings_in_both_commands() {
        let flags = "--theme 16 --refresh 30 --mouse off --unicode off --read-only";
        for command in ["run", "attach"] {
            let line = format!("phalanx {command} {flags}");
            let cli = Cli::try_parse_from(line.split_whitespace()).unwrap();
            let given = match cli.command {
                Some(CliCommand::Run(arguments)) => arguments.view,
                Some(CliCommand::Attach(arguments)) => arguments.view,
                other => panic!("{other:?}"),
            };
            let config = Config::default().with(&given.0).unwrap();
            let expected = ViewConfig {
                theme: ThemeName::Sixteen,
                refresh_hz: 30,
                has_mouse: false,
                unicode: UnicodeChoice::Off,
                is_read_only: true,
            };
            assert_eq!(config.view, expected);
            let config = config.with(&ViewArguments::default().0).unwrap();
            assert_eq!(config.view, expected);
        }
    }
}
