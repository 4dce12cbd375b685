//! Variables of the environment: every option of every command has one.

use std::ffi::OsString;

use clap::builder::{BoolishValueParser, Resettable};
use clap::{ArgAction, Command, CommandFactory, FromArgMatches};

use super::{Cli, image};

/// Returns the command line, every option with its variable: those of `phalanx run` and of the
/// view are called `PHALANX_OPTION`, those of other commands `PHALANX_COMMAND_OPTION`.
pub fn command() -> Command {
    with_variables(Cli::command(), "PHALANX")
}

/// Reads a command line, which begins with the name of the program.
///
/// # Errors
/// Fails if it is wrong, or asks for help.
pub fn parse(mut words: Vec<OsString>) -> Result<Cli, clap::Error> {
    image::with_topic_flag(&mut words);
    let mut command = command();
    let is_named = words.get(1).is_some_and(|word| {
        let mut names = command.get_subcommands().map(Command::get_name);
        names.any(|name| word == name)
    });
    if is_named {
        // Variables of `phalanx run` are nothing to other commands, right or wrong.
        command = command.mut_args(|argument| argument.env(Resettable::Reset));
    }
    Cli::from_arg_matches(&command.try_get_matches_from(words)?)
}

/// Returns all variables with the command lines that they are for, in the order of the commands.
pub fn variables() -> Vec<(String, Vec<String>)> {
    let mut variables = Vec::new();
    collect(&command(), "phalanx", &mut variables);
    variables
}

fn with_variables(command: Command, prefix: &str) -> Command {
    let prefix_of_options = prefix.to_owned();
    let command = command.mut_args(|argument| {
        let name = match argument.get_long() {
            Some(name) if argument.get_env().is_none() => variable(&prefix_of_options, name),
            _ => return argument,
        };
        match argument.get_action() {
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version => {
                argument
            }
            // A switch is set by any word that says yes, and not by one that says no.
            ArgAction::SetTrue => argument.env(name).value_parser(BoolishValueParser::new()),
            _ => argument.env(name),
        }
    });
    let names: Vec<String> = command
        .get_subcommands()
        .map(|one| one.get_name().to_owned())
        .collect();
    names.into_iter().fold(command, |command, name| {
        // A run daemon is a run by another name.
        let own = match name.as_str() {
            "run" | "keep" => prefix.to_owned(),
            "keep-resumed" => variable(prefix, "resume"),
            name => variable(prefix, name),
        };
        command.mut_subcommand(name, |one| with_variables(one, &own))
    })
}

fn variable(prefix: &str, name: &str) -> String {
    format!("{prefix}_{}", name.replace('-', "_").to_uppercase())
}

fn collect(command: &Command, line: &str, variables: &mut Vec<(String, Vec<String>)>) {
    // The options of `phalanx` alone are those of `phalanx run`.
    let is_alone = line == "phalanx";
    for argument in command.get_arguments().filter(|_| !is_alone) {
        let (Some(name), Some(long)) = (argument.get_env(), argument.get_long()) else {
            continue;
        };
        let name = name.to_string_lossy().into_owned();
        let option = format!("{line} --{long}");
        match variables.iter_mut().find(|(known, _)| *known == name) {
            Some((_, options)) => options.push(option),
            None => variables.push((name, vec![option])),
        }
    }
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        collect(one, &format!("{line} {}", one.get_name()), variables);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::setting::settings;

    fn check(command: &Command, line: &str) {
        for argument in command.get_arguments() {
            let is_own = matches!(
                argument.get_action(),
                ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
            );
            let Some(long) = argument.get_long().filter(|_| !is_own) else {
                continue;
            };
            let name = argument.get_env().and_then(|name| name.to_str());
            let name = name.unwrap_or_else(|| panic!("{line} --{long} has no variable"));
            assert!(name.starts_with("PHALANX_"), "{line} --{long}: {name}");
        }
        for one in command.get_subcommands() {
            check(one, &format!("{line} {}", one.get_name()));
        }
    }

    #[test]
    fn every_option_of_every_command_has_a_variable() {
        let command = command();
        command.clone().debug_assert();
        check(&command, "phalanx");
    }

    #[test]
    fn a_variable_is_shared_only_by_options_of_one_meaning() {
        for (name, options) in variables() {
            let last = |option: &String| option.rsplit(' ').next().map(str::to_owned);
            assert!(
                options
                    .iter()
                    .all(|option| last(option) == last(&options[0])),
                "{name}: {options:?}"
            );
        }
    }

    #[test]
    fn variables_of_settings_are_those_of_options() {
        let variables = variables();
        for setting in settings() {
            if let Some(name) = setting.variable() {
                let is_known = variables.iter().any(|(known, _)| *known == name);
                assert!(is_known, "{}: {name}", setting.path());
            }
        }
    }
}
