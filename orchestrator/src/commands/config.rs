//! `phalanx config`: the settings in force and where they come from, and what is wrong with files.

mod print;

use std::path::{Path, PathBuf};

use anyhow::Context;
use protocol::ExitCode;

use super::{CommandResult, Failed, output};
use crate::cli::{ConfigAction, ConfigArguments, ViewArguments};
use crate::config::{CONFIG_VARIABLE, Config, ConfigError, FileKind, Layers, UserFile};

/// Prints, checks or finds settings.
pub(super) fn config(arguments: &ConfigArguments) -> CommandResult {
    match &arguments.action {
        ConfigAction::Print { file, format } => {
            file.iter().try_for_each(|file| check_kind(file))?;
            print::print(file.as_deref(), *format)
        }
        ConfigAction::Check { files } => check(files),
        ConfigAction::Path => path(),
    }
}

/// Returns the settings in force before flags and the environment.
pub(super) fn settings(run_file: Option<&Path>) -> Result<Config, Failed> {
    Config::load(run_file).map_err(|error| Failed::new(ExitCode::Configuration, error))
}

/// Returns the settings in force with the options of a view.
pub(super) fn settings_of_view(view: &ViewArguments) -> Result<Config, Failed> {
    let config = settings(None)?.with(&view.0);
    config.map_err(|error| Failed::new(ExitCode::Configuration, error))
}

/// Tells all that is wrong with files: run files, or the user's own.
fn check(files: &[PathBuf]) -> CommandResult {
    let user = UserFile::find();
    let mut checked = Vec::new();
    let mut problems = 0;
    let mut take = |result: Result<Layers, ConfigError>, name: String| match result {
        Ok(_) => checked.push(name),
        Err(ConfigError::Invalid(found)) => {
            for problem in &found {
                output::note(&problem.to_string());
            }
            problems += found.len();
        }
        Err(error) => {
            output::note(&format!("{:#}", anyhow::Error::new(error)));
            problems += 1;
        }
    };
    if files.is_empty() {
        let name = user.as_ref().map(|user| user.path.display().to_string());
        match &user {
            Some(user) if user.is_named || user.path.exists() => {
                take(Layers::read(None), name.unwrap_or_default());
            }
            _ => {
                let text = "there is no file of your own; `phalanx config path` is its place";
                output::note(text);
                return Ok(ExitCode::Success);
            }
        }
    }
    for file in files {
        let is_own = user.as_ref().is_some_and(|user| is_same(&user.path, file));
        let result = if is_own {
            Layers::read(None)
        } else {
            check_kind(file)?;
            Layers::read_alone(file, FileKind::Run)
        };
        take(result, file.display().to_string());
    }
    if problems > 0 {
        let message = format!("{problems} problem(s) in settings");
        return Err(Failed::message(ExitCode::Configuration, message));
    }
    let lines: Vec<String> = checked
        .iter()
        .map(|name| format!("{name}: valid\n"))
        .collect();
    output::print(&lines.concat())
}

/// Makes sure that a file is no world, which would be refused as broken TOML.
fn check_kind(file: &Path) -> Result<(), Failed> {
    if file
        .extension()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("toml"))
    {
        return Ok(());
    }
    let message = format!(
        "{} is no run file, which ends in .toml; `phalanx check` reads worlds",
        file.display()
    );
    Err(Failed::message(ExitCode::Usage, message))
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn path() -> CommandResult {
    let user = UserFile::find().with_context(|| {
        format!("there is no home folder for settings; name a file in {CONFIG_VARIABLE}")
    })?;
    output::print(&format!("{}\n", user.path.display()))
}
