//! Settings as options of a command line, made from their table, and read back as [`Given`] values.

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::Serialize;
use serde_json::Value;

use crate::setting::{Flag, Setting};
use crate::{Given, Kind, KindError, value_of};

/// Adds the options of settings to a command; help tells the values of `defaults`. With
/// `has_variables`, the environment gives them, too.
#[must_use]
pub fn add<T: Serialize>(
    command: Command,
    settings: impl Iterator<Item = &'static Setting>,
    defaults: &T,
    has_variables: bool,
) -> Command {
    settings.fold(command, |command, setting| {
        let Some(flag) = &setting.flag else {
            return command;
        };
        let mut option = option(setting, flag, &help(setting, flag, defaults));
        if let Some(variable) = setting.variable().filter(|_| has_variables) {
            option = option.env(variable);
        }
        command.arg(option)
    })
}

/// Returns the values that a command line or the environment gave.
pub fn given(matches: &ArgMatches, settings: impl Iterator<Item = &'static Setting>) -> Given {
    let mut given = Given::default();
    for setting in settings {
        let id = setting.path();
        let is_known = matches.try_contains_id(&id).unwrap_or(false);
        if !is_known || matches.value_source(&id) == Some(ValueSource::DefaultValue) {
            continue;
        }
        if let Some(value) = matches.get_one::<Value>(&id) {
            given.put(setting, value.clone());
        }
    }
    given
}

fn option(setting: &Setting, flag: &Flag, help: &str) -> Arg {
    let kind = setting.kind;
    let option = Arg::new(setting.path())
        .long(flag.long)
        .visible_aliases(flag.alias)
        .value_name(flag.value_name)
        .help(help.to_owned())
        .action(ArgAction::Set);
    let option = match heading(setting.section) {
        Some(heading) => option.help_heading(heading),
        None => option,
    };
    let parse = move |text: &str| -> Result<Value, KindError> { kind.parse(text) };
    match kind {
        Kind::Flag => option
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(parse),
        Kind::Word(words) => {
            option.value_parser(PossibleValuesParser::new(words).map(Value::String))
        }
        Kind::Whole(..) | Kind::Number(..) => {
            option.allow_negative_numbers(true).value_parser(parse)
        }
        Kind::Switch
        | Kind::RunName
        | Kind::Paths
        | Kind::Path
        | Kind::Place
        | Kind::RosNamespace
        | Kind::Endpoint
        | Kind::LogFilter
        | Kind::Text
        | Kind::Hosts => option.value_parser(parse),
    }
}

/// Returns the text of help, with what holds where nobody says anything.
fn help<T: Serialize>(setting: &Setting, flag: &Flag, defaults: &T) -> String {
    let default = match (setting.kind, value_of(defaults, setting)) {
        // A flag that is not given means no, which nobody needs to be told.
        (Kind::Flag, Some(Value::Bool(false))) => None,
        (Kind::Switch, Some(Value::Bool(is))) => Some(if is { "on" } else { "off" }.to_owned()),
        (_, Some(Value::String(text))) => Some(text),
        (_, Some(Value::Number(number))) => {
            let number = number.to_string();
            Some(number.trim_end_matches(".0").to_owned())
        }
        (_, Some(value)) => Some(value.to_string()),
        (_, None) => Some(flag.unset.to_owned()).filter(|unset| !unset.is_empty()),
    };
    match default {
        Some(default) => format!("{} [default: {default}]", flag.help),
        None => flag.help.to_owned(),
    }
}

fn heading(section: &str) -> Option<&'static str> {
    match section {
        "record" => Some("Recording"),
        "ros2" => Some("ROS 2"),
        "trace" => Some("Trace"),
        "view" => Some("View"),
        _ => None,
    }
}
