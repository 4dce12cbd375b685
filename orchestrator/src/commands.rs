//! Implements the commands of the command line, one file per command.
//!
//! Every command returns the process's exit code, or a [`Failed`] that `main` prints once.
//! Only [`output`] writes to stdout and stderr.

mod attach;
mod check;
mod complete;
mod config;
mod ctl;
mod diff;
mod doctor;
mod feeder;
mod fuel;
mod fuel_files;
mod generate;
mod keygen;
mod man;
mod output;
mod ps;
mod replay;
mod resume;
mod ros2_control;
mod run;
mod service;
mod show;
mod slurm_job;
mod stop;
mod submit;
mod target;
mod terminal_check;
mod topic;
mod watch;
mod web;
mod world_file;

use std::ffi::OsString;

use protocol::ExitCode;
use tokio::runtime::{Builder, Runtime};

use crate::cli::{Cli, CliCommand};

/// A command that failed, and the exit code that says so.
#[derive(Debug)]
pub struct Failed {
    /// The exit code.
    pub code: ExitCode,
    /// The error, with its causes.
    pub error: anyhow::Error,
}

/// Result of a command.
pub type CommandResult = Result<ExitCode, Failed>;

impl Failed {
    /// Makes a failure.
    pub fn new(code: ExitCode, error: impl Into<anyhow::Error>) -> Self {
        Self {
            code,
            error: error.into(),
        }
    }

    /// Makes a failure of words alone.
    pub fn message(code: ExitCode, message: impl Into<String>) -> Self {
        Self {
            code,
            error: anyhow::Error::msg(message.into()),
        }
    }
}

impl From<anyhow::Error> for Failed {
    fn from(error: anyhow::Error) -> Self {
        Self {
            code: ExitCode::Failure,
            error,
        }
    }
}

/// Runs the command of the command line.
///
/// # Errors
/// Fails if the command fails.
pub fn dispatch(cli: Cli) -> CommandResult {
    match cli.command {
        None => run::run(&cli.run, &words_after(1)),
        Some(CliCommand::Run(arguments)) => run::run(&arguments, &words_after(2)),
        Some(CliCommand::Keep(arguments)) => run::keep(&arguments),
        Some(CliCommand::Resume(arguments)) => resume::resume(&arguments, &words_after(2)),
        Some(CliCommand::KeepResumed(arguments)) => run::keep_resumed(&arguments),
        Some(CliCommand::Attach(arguments)) => attach::attach(&arguments),
        Some(CliCommand::Replay(arguments)) => replay::replay(&arguments),
        Some(CliCommand::Ps(arguments)) => ps::ps(&arguments),
        Some(CliCommand::Ctl(arguments)) => ctl::ctl(&arguments),
        Some(CliCommand::Show(arguments)) => show::show(&arguments),
        Some(CliCommand::Generate(arguments)) => generate::generate(&arguments),
        Some(CliCommand::Keygen(arguments)) => keygen::keygen(&arguments),
        Some(CliCommand::Submit(arguments)) => submit::submit(&arguments),
        Some(CliCommand::Doctor(arguments)) => doctor::doctor(&arguments),
        Some(CliCommand::Check(arguments)) => check::check(&arguments),
        Some(CliCommand::Fuel(arguments)) => fuel::fuel(&arguments),
        Some(CliCommand::Diff(arguments)) => diff::diff(&arguments),
        Some(CliCommand::Topic(arguments)) => topic::topic(&arguments),
        Some(CliCommand::Service(arguments)) => service::service(&arguments),
        Some(CliCommand::Ros2Control(arguments)) => ros2_control::ros2_control(&arguments),
        Some(CliCommand::Web(arguments)) => web::web(&arguments),
        Some(CliCommand::Config(arguments)) => config::config(&arguments),
        Some(CliCommand::Man { folder }) => man::man(folder.as_deref()),
        Some(CliCommand::Completions { shell }) => complete::completions(shell),
        Some(CliCommand::Complete { words }) => complete::complete(&words),
    }
}

/// Returns what stands behind the first words of the command line: the program and its command.
fn words_after(count: usize) -> Vec<OsString> {
    std::env::args_os().skip(count).collect()
}

/// Makes the runtime of a command; one thread is enough, for all it does is wait.
fn runtime() -> Result<Runtime, Failed> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| anyhow::Error::new(error).context("cannot start").into())
}
