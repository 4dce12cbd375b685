//! `phalanx ctl`: one command to a run, and back when it has taken effect.

use protocol::primary_to_client::Reply;
use protocol::{Command, ExitCode};

use super::{CommandResult, Failed, output, runtime, target};
use crate::cli::CtlArguments;
use crate::client::AskError;

/// Sends one command and waits until it has taken effect.
pub(super) fn ctl(arguments: &CtlArguments) -> CommandResult {
    let (run, command) = arguments
        .parse()
        .map_err(|error| Failed::new(ExitCode::Usage, error))?;
    let target = target::find(run)?;
    let asked = target.ask(command.clone(), arguments.timeout);
    match runtime()?.block_on(asked).map_err(from_ask)? {
        Reply::Done { iteration, .. } => {
            let done = done(&command);
            output::print(&format!(
                "{} {done} at iteration {iteration}\n",
                target.name()
            ))
        }
        Reply::Failed { reason } => Err(Failed::message(ExitCode::Failure, reason)),
        Reply::Snapshot(_) | Reply::Layout(_) | Reply::Topics(_) => Err(Failed::message(
            ExitCode::Failure,
            "the primary answered something else",
        )),
    }
}

/// Gives a question without an answer its exit code.
pub(super) fn from_ask(error: AskError) -> Failed {
    let code = match error {
        AskError::TimedOut { .. } => ExitCode::TimedOut,
        AskError::Connect(_) | AskError::Ended | AskError::Failed(_) => ExitCode::Failure,
    };
    Failed::new(code, error)
}

fn done(command: &Command) -> &'static str {
    match command {
        Command::Play => "runs",
        Command::Pause => "is paused",
        Command::Step { .. } => "has stepped and is paused",
        Command::MoveCell { .. } => "has the cell where it was wanted",
        Command::SetPerformer { .. } => "has the performer",
        Command::Stop | Command::Interrupt => "ends",
        _ => "has done it",
    }
}
