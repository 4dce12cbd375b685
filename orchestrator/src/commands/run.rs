//! `phalanx run`: starts a run, shows it or waits for it, and ends every process of it.
//!
//! [`settings`] says what runs, [`live`] holds the living run, [`headless`] and [`viewed`] are the
//! two ways to follow it, [`conclusion`] makes outcome and exit code of its end.

mod conclusion;
mod headless;
mod live;
mod progress;
pub(super) mod settings;
mod summary_text;
mod viewed;

use anyhow::Context;
use protocol::ExitCode;

use super::output;
use super::terminal_check::require_terminal;
use super::{CommandResult, Failed, runtime};
use crate::cli::{Format, RunArguments};
use crate::launch::find_worker;
use crate::run_directory::{RunDirectoryError, Runs};
use conclusion::Conclusion;
use live::LiveRun;
use settings::Settings;

/// Runs a world to its end.
pub(super) fn run(arguments: RunArguments) -> CommandResult {
    let format = arguments.format;
    if format == Format::Json && !arguments.headless {
        let message = "--format json is for runs without a view: use --headless, too";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let settings = Settings::resolve(arguments)?;
    if !settings.headless {
        require_terminal("--headless for progress on stderr and a summary on stdout")?;
    }
    let worker = find_worker().map_err(anyhow::Error::new)?;
    let runs = Runs::open().map_err(anyhow::Error::new)?;
    let directory = runs
        .create(settings.config.run.name.as_deref(), &settings.stem)
        .map_err(from_directory)?;
    let (conclusion, viewed) = runtime()?.block_on(async {
        let mut live = LiveRun::start(&settings, directory, &worker)?;
        let (ending, viewed) = if settings.headless {
            (headless::follow(&mut live).await, Ok(()))
        } else {
            viewed::follow(&mut live, &settings).await
        };
        Ok::<_, Failed>((live.finish(ending).await?, viewed))
    })?;
    let code = report(&conclusion, &settings, format)?;
    viewed.context("the view failed, and the run was ended; --headless runs without it")?;
    Ok(code)
}

fn report(conclusion: &Conclusion, settings: &Settings, format: Format) -> CommandResult {
    match format {
        Format::Json => output::print(&conclusion.json()?)?,
        Format::Text => output::print(&summary_text::describe(conclusion))?,
    };
    if settings.headless && conclusion.exit_code != ExitCode::Success {
        output::note(&format!("logs: {}", conclusion.logs.display()));
    }
    Ok(conclusion.exit_code)
}

fn from_directory(error: RunDirectoryError) -> Failed {
    let code = match error {
        RunDirectoryError::Name(_) => ExitCode::Usage,
        RunDirectoryError::Living { .. }
        | RunDirectoryError::NotPrivate { .. }
        | RunDirectoryError::Endpoint(_)
        | RunDirectoryError::Io { .. } => ExitCode::Failure,
    };
    Failed::new(code, error)
}
