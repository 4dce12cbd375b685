//! `phalanx run`: starts a run, shows it or waits for it, and ends every process of it.
//!
//! [`settings`] resolves what is asked for, [`running`] holds the run in the process that owns it:
//! this one with `--headless`, else a [`run_daemon`] that outlives the view ([`attached`]).
//! [`headless`] follows a run to its end, [`exit_report`] makes outcome and exit code of that.

mod attached;
mod console;
mod event_file;
mod exit_report;
mod headless;
mod host_changes;
mod output_check;
mod process_events;
mod progress;
mod run_daemon;
mod running;
pub(super) mod settings;
mod summary_text;

use std::ffi::OsString;
use std::path::Path;

use protocol::ExitCode;

use super::output;
use super::slurm_job::{self, Watching};
use super::terminal_check::require_terminal;
use super::{CommandResult, Failed, runtime};
use crate::cli::{Format, ResumeArguments, RunArguments};
use crate::config::Config;
use crate::launch::find_worker;
use crate::launch::launched::Launched;
use crate::run_directory::{RunDirectory, RunDirectoryError, Runs};
use console::Console;
use event_file::{EventFile, is_stdout};
use running::LiveRun;
use settings::Settings;

pub(super) use progress::has_begun;
pub(super) use run_daemon::{keep, keep_resumed};
pub(super) use running::Signals;
pub(super) use summary_text::describe;

/// The hidden commands that own a run away from any terminal.
const KEEP: &str = "keep";
const KEEP_RESUMED: &str = "keep-resumed";

/// Runs a world: in this process without a view, else in a run daemon that is started with the same
/// words.
pub(super) fn run(arguments: &RunArguments, words: &[OsString]) -> CommandResult {
    let format = arguments.format;
    if arguments.headless && arguments.detach {
        return Err(usage(
            "--detach leaves the run alone, --headless stays with it: use one",
        ));
    }
    if format == Format::Json && !(arguments.headless || arguments.detach) {
        return Err(usage(
            "--format json is for runs without a view: use --headless or --detach, too",
        ));
    }
    if let Some(options) = &arguments.slurm {
        return run_in_job(arguments, words, options);
    }
    if arguments.headless {
        let settings = Settings::resolve(arguments)?;
        let name = &settings.config.spec.run.name;
        if let Some(name) = slurm_job::run_of_restarted_job(name.as_deref())? {
            output::note(&format!(
                "Slurm has started the job again: the run {name} goes on"
            ));
            let (own, launched) = Owned::again(&ResumeArguments::headless(name))?;
            return stay_with(format, |signals| LiveRun::launch(launched, own, signals));
        }
        output_check::check(&settings.config.spec)?;
        return run_here(&settings, format);
    }
    let is_detached = arguments.detach;
    let settings = Settings::resolve(arguments)?;
    output_check::check(&settings.config.spec)?;
    if is_detached {
        return attached::start_detached(KEEP, words, format);
    }
    require_terminal(
        "--headless for progress on stderr and a summary on stdout, or --detach to start it alone",
    )?;
    attached::run(KEEP, words, &settings.config)
}

/// Runs a world as a job of Slurm: what is wrong with it is said before that is submitted.
fn run_in_job(arguments: &RunArguments, words: &[OsString], options: &str) -> CommandResult {
    let settings = Settings::resolve(arguments)?;
    let mut words = slurm_job::words_of_job("run", words);
    let name = settings.config.spec.run.name.unwrap_or_else(|| {
        let name = slurm_job::name_of_run(&settings.stem);
        words = format!("{words} --name \"{name}\"");
        name
    });
    slurm_job::run(
        &words,
        &name,
        options,
        Watching::of(arguments.headless, arguments.detach),
    )
}

/// Goes on with a run: in this process without a view, else in a run daemon.
pub(super) fn resume(arguments: &ResumeArguments, words: &[OsString]) -> CommandResult {
    if let Some(options) = &arguments.slurm {
        let name = arguments.run.as_ref();
        let name = name.ok_or_else(|| usage("--slurm needs the name of the run that goes on"))?;
        let words = slurm_job::words_of_job("resume", words);
        let watching = Watching::of(arguments.headless, arguments.detach);
        return slurm_job::run(&words, name, options, watching);
    }
    if arguments.headless {
        let (own, launched) = Owned::again(arguments)?;
        return stay_with(arguments.format, |signals| {
            LiveRun::launch(launched, own, signals)
        });
    }
    if arguments.detach {
        return attached::start_detached(KEEP_RESUMED, words, arguments.format);
    }
    require_terminal(
        "--headless for progress on stderr and a summary on stdout, or --detach to start it alone",
    )?;
    let config = super::config::settings_of_view(&arguments.view)?;
    attached::run(KEEP_RESUMED, words, &config)
}

fn usage(text: &'static str) -> Failed {
    Failed::message(ExitCode::Usage, text)
}

/// Simulates a recording again, in this process and without a view.
pub(super) fn again(file: &Path, config: Config, format: Format) -> CommandResult {
    run_here(&Settings::of_recording(file, config), format)
}

fn run_here(settings: &Settings, format: Format) -> CommandResult {
    let own = Owned::begin(settings)?;
    stay_with(format, |signals| LiveRun::start(settings, own, signals))
}

/// Follows a run that this process owns to its end.
fn stay_with(
    format: Format,
    start: impl FnOnce(Signals) -> Result<LiveRun, Failed>,
) -> CommandResult {
    let mut console = Console::of_stderr();
    let report = runtime()?.block_on(async {
        let signals = Signals::new(true)?;
        let mut live = start(signals)?;
        let ending = headless::follow(&mut live, &mut console).await;
        live.finish(ending, &mut console).await
    })?;
    console.end();
    match format {
        Format::Json => output::print(&report.json()?)?,
        Format::Text => output::print(&describe(&report.run, &report.ended()))?,
    };
    if let Some(advice) = report.advice() {
        output::note(&advice);
    }
    if report.exit_code != ExitCode::Success {
        output::note(&format!("logs: {}", report.logs().display()));
    }
    Ok(report.exit_code)
}

/// Resources of a run's owner before its processes are started.
struct Owned {
    worker: std::path::PathBuf,
    directory: RunDirectory,
    events: Option<EventFile>,
}

impl Owned {
    fn begin(settings: &Settings) -> Result<Self, Failed> {
        let worker = find_worker().map_err(anyhow::Error::new)?;
        let runs = Runs::open().map_err(anyhow::Error::new)?;
        let directory = runs
            .create(settings.config.spec.run.name.as_deref(), &settings.stem)
            .map_err(from_directory)?;
        if let Some(new) = directory.set_aside() {
            let name = directory.name();
            let what = "which had not ended in order";
            output::note(&format!(
                "note: the run {name} of before, {what}, is {new} now: `phalanx resume {new}` \
                 goes on with it"
            ));
        }
        let events = settings
            .config
            .spec
            .outputs
            .events
            .as_deref()
            .map(EventFile::create);
        Ok(Self {
            worker,
            directory,
            events: events.transpose()?,
        })
    }
}

impl Owned {
    /// Takes what is needed to go on with a run, and returns how it was started.
    fn again(arguments: &ResumeArguments) -> Result<(Self, Launched), Failed> {
        let worker = find_worker().map_err(anyhow::Error::new)?;
        let (directory, launched) = super::resume::take(arguments)?;
        let events = launched.plan.spec.outputs.events.as_deref();
        let events = events.filter(|file| !is_stdout(file));
        let events = events.map(EventFile::append);
        let own = Self {
            worker,
            directory,
            events: events.transpose()?,
        };
        Ok((own, launched))
    }
}

fn from_directory(error: RunDirectoryError) -> Failed {
    let code = match error {
        RunDirectoryError::Name(_) => ExitCode::Usage,
        RunDirectoryError::Living { .. }
        | RunDirectoryError::Resumable { .. }
        | RunDirectoryError::NotARun { .. }
        | RunDirectoryError::NotPrivate(_)
        | RunDirectoryError::Endpoint(_)
        | RunDirectoryError::Io { .. } => ExitCode::Failure,
    };
    Failed::new(code, error)
}
