//! `phalanx config print`: every setting with its value and where that comes from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use protocol::ExitCode;
use serde::Serialize;
use toml::Value;
use view::app::keymap::{Keymap, key_name};

use super::super::run::settings::with_flags;
use super::super::{CommandResult, Failed, output};
use crate::cli::{self, ConfigFormat};
use crate::config::setting::{settings, value_of};
use crate::config::{Config, Layers};

/// The column at which is told where settings come from.
const ORIGIN_COLUMN: usize = 44;

/// A setting in force.
#[derive(Debug, Serialize)]
struct PrintedSetting {
    section: String,
    key: String,
    /// `None` is unset.
    value: Option<Value>,
    /// `default`, `environment` or `file`.
    from: &'static str,
    /// The variable, or the place in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

/// Prints the settings in force for a run file, or without one.
pub(super) fn print(file: Option<&Path>, format: ConfigFormat) -> CommandResult {
    let layers = Layers::read(file).map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    let config = with_environment(layers.config.clone())?;
    let shown = shown(&layers, &config, |name| std::env::var_os(name).is_some());
    match format {
        ConfigFormat::Json => output::print_json(&shown),
        ConfigFormat::Toml => output::print(&as_toml(&shown, &layers)),
    }
}

/// Lets the environment win, as it does for `phalanx run` without flags.
fn with_environment(config: Config) -> Result<Config, Failed> {
    let cli = cli::parse(vec!["phalanx".into()]);
    let cli = cli.map_err(|error| Failed::message(ExitCode::Usage, plain_error(&error)))?;
    with_flags(config, &cli.run)
}

/// Returns the first line of what clap says, which begins with a word that is said anyway.
fn plain_error(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

fn shown(layers: &Layers, config: &Config, is_set: impl Fn(&str) -> bool) -> Vec<PrintedSetting> {
    let mut shown = Vec::new();
    let mut show = |section: &str, key: &str, value: Option<Value>, variable: Option<&str>| {
        let variable = variable.filter(|name| is_set(name)).map(str::to_owned);
        let place = layers.origin(section, key).map(ToString::to_string);
        let (from, place) = match (variable, place) {
            (Some(variable), _) => ("environment", Some(variable)),
            (None, Some(place)) => ("file", Some(place)),
            (None, None) => ("default", None),
        };
        shown.push(PrintedSetting {
            section: section.to_owned(),
            key: key.to_owned(),
            value,
            from,
            place,
        });
    };
    for setting in settings() {
        let (value, variable) = (value_of(config, setting), setting.variable());
        show(setting.section, setting.key, value, variable.as_deref());
    }
    for name in Keymap::names() {
        let keys = config.keymap.keys_of(&name).into_iter();
        let keys = keys.map(|key| Value::String(key_name(key))).collect();
        show("keys", &name, Some(Value::Array(keys)), None);
    }
    for (name, process) in &config.spec.processes.0 {
        let mut table = toml::Table::new();
        if !process.environment.is_empty() {
            table.insert("env".to_owned(), texts(&process.environment));
        }
        if let Some(cpus) = &process.cpus {
            let cpus = cpus.iter().map(|cpu| Value::Integer((*cpu).into()));
            table.insert("cpus".to_owned(), Value::Array(cpus.collect()));
        }
        show("process", name, Some(Value::Table(table)), None);
    }
    for program in &config.spec.programs {
        let mut table = toml::Table::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                table.insert(key.to_owned(), value);
            }
        };
        let path = |path: &Path| Value::String(path.display().to_string());
        let arguments = program.arguments.iter().cloned().map(Value::String);
        put("name", Some(Value::String(program.name.clone())));
        put("command", Some(path(&program.command)));
        put("args", Some(Value::Array(arguments.collect())));
        put("env", Some(texts(&program.environment)));
        put("working_directory", program.folder.as_deref().map(path));
        put("world", program.world.clone().map(Value::String));
        let joins = program.joins.as_ref().map(ToString::to_string);
        put("joins", joins.map(Value::String));
        put("critical", Some(Value::Boolean(program.is_critical)));
        show("program", &program.name, Some(Value::Table(table)), None);
    }
    shown
}

fn texts(texts: &BTreeMap<String, String>) -> Value {
    let texts = texts.iter();
    let texts = texts.map(|(name, text)| (name.clone(), Value::String(text.clone())));
    Value::Table(texts.collect())
}

/// Writes settings as a run file that says the same.
fn as_toml(shown: &[PrintedSetting], layers: &Layers) -> String {
    let mut text = String::new();
    let _ = match layers.files.as_slice() {
        [] => writeln!(text, "# No file of settings was read."),
        files => {
            let files: Vec<String> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            writeln!(text, "# Read, the strongest last: {}", files.join(", "))
        }
    };
    let mut section = "";
    for one in shown {
        let from = one.place.as_deref().unwrap_or(one.from);
        if let (true, Some(Value::Table(table))) = (is_own_section(one), &one.value) {
            let heading = match one.section.as_str() {
                "program" => "[[program]]".to_owned(),
                _ => format!("[process.{}]", one.key),
            };
            let _ = writeln!(text, "\n{}", with_origin(&heading, from));
            for (key, value) in table {
                let _ = writeln!(text, "{key} = {value}");
            }
            continue;
        }
        if one.section != section {
            section = &one.section;
            let _ = writeln!(text, "\n[{section}]");
        }
        let line = match &one.value {
            Some(value) => format!("{} = {value}", one.key),
            None => format!("#{} =", one.key),
        };
        let _ = writeln!(text, "{}", with_origin(&line, from));
    }
    text
}

fn is_own_section(shown: &PrintedSetting) -> bool {
    matches!(shown.section.as_str(), "process" | "program")
}

fn with_origin(line: &str, from: &str) -> String {
    let from = client::plain_text::plain(from);
    format!("{line:<ORIGIN_COLUMN$} # {from}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FileKind;

    const RUN: &str = "[run]\nworld = 'a.sdf'\nthreads = 2\n[keys]\nstep = ['.', '\"']\n\
                       [process.s1]\ncpus = [1]\nenv = { A = 'x\"y' }\n\
                       [[program]]\nname = 'joy'\ncommand = './joy'\nargs = ['-v']\n";

    fn layers() -> Layers {
        let user = (
            "[view]\ntheme = 'mono'\n",
            Path::new("/u/c.toml"),
            FileKind::User,
        );
        let run = (RUN, Path::new("/f/r.toml"), FileKind::Run);
        Layers::parse(&[user, run]).unwrap()
    }

    #[test]
    fn every_setting_says_where_it_comes_from() {
        let layers = layers();
        let mut config = layers.config.clone();
        config.spec.run.secondaries = 7;
        let shown = shown(&layers, &config, |name| name == "PHALANX_SECONDARIES");
        let find = |key: &str| {
            let found = shown.iter().find(|one| one.key == key).unwrap();
            let value = found.value.as_ref().map(ToString::to_string);
            let value = value.unwrap_or_else(|| "unset".to_owned());
            format!(
                "{value} {} {}",
                found.from,
                found.place.as_deref().unwrap_or("-")
            )
        };
        assert_eq!(find("secondaries"), "7 environment PHALANX_SECONDARIES");
        assert_eq!(find("threads"), "2 file /f/r.toml:3:11");
        assert_eq!(find("theme"), "\"mono\" file /u/c.toml:2:9");
        assert_eq!(find("paused"), "false default -");
        assert_eq!(find("iterations"), "unset default -");
        assert_eq!(find("toggle-play"), "[\"Space\"] default -");
        assert_eq!(
            find("s1"),
            "{ cpus = [1], env = { A = 'x\"y' } } file /f/r.toml:6:10"
        );
    }

    #[test]
    fn the_printed_settings_are_a_run_file_with_the_same_settings() {
        let layers = layers();
        let text = as_toml(&shown(&layers, &layers.config, |_| false), &layers);
        let again = Config::parse(&text, Path::new("/elsewhere/r.toml")).unwrap();
        assert_eq!(again, layers.config, "{text}");
        assert!(text.starts_with("# Read, the strongest last: /u/c.toml, /f/r.toml\n"));
    }
}
