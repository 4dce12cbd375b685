//! `phalanx ctl`: one command to a run, and back when it has taken effect.

mod clients;
mod hosts;
mod participants;

use client::AskError;
use client::plain_text::plain;
use protocol::primary_to_client::Reply;
use protocol::{Command, ExitCode};
use serde_json::json;

use super::{CommandResult, Failed, output, runtime, target};
use crate::cli::{CtlArguments, CtlCommand, TableFormat};
use crate::run_directory::now_unix_s;

/// Sends one command and waits until it has taken effect.
pub(super) fn ctl(arguments: &CtlArguments) -> CommandResult {
    let (run, command) = arguments
        .parse()
        .map_err(|error| Failed::new(ExitCode::Usage, error))?;
    let target = target::find(run, &arguments.keys)?;
    let asked = match command {
        CtlCommand::OfRun(asked) => asked,
        CtlCommand::OfHosts(change) => return hosts::change(&target, change, arguments),
    };
    let loaded = asked.load(true);
    let command = loaded.map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    let is_json = arguments.format == Some(TableFormat::Json);
    if command == Command::Stop {
        let told = runtime()?.block_on(super::stop::stop(&target, arguments.timeout))?;
        if is_json {
            return output::print_json(&json!({ "run": target.name() }));
        }
        return output::print(&told);
    }
    let asked = target.ask(command.clone(), arguments.timeout);
    match runtime()?.block_on(asked).map_err(from_ask)? {
        Reply::Done {
            iteration,
            name,
            warnings,
        } => {
            for warning in warnings {
                output::note(&format!("warning: {}", plain(&warning)));
            }
            let run = target.name();
            if is_json {
                return output::print_json(&json!({
                    "run": run,
                    "iteration": iteration,
                    "name": name,
                }));
            }
            let done = match name {
                Some(name) => format!("has {name}"),
                None => command.row().done.to_owned(),
            };
            output::print(&format!("{run} {done} at iteration {iteration}\n"))
        }
        Reply::Failed { code, reason } => {
            if is_json {
                let error = json!({ "code": code, "message": reason });
                output::print_json(&json!({ "error": error }))?;
            }
            Err(Failed::message(ExitCode::Failure, reason))
        }
        Reply::Clients(found) => {
            let format = arguments.format.unwrap_or_default();
            clients::print(&found, format, now_unix_s())
        }
        Reply::Participants(found) => {
            participants::print(&found, arguments.format.unwrap_or_default())
        }
        Reply::Snapshot(_)
        | Reply::History(_)
        | Reply::Layout(_)
        | Reply::Scene(_)
        | Reply::Topics(_)
        | Reply::Barrier(_) => Err(Failed::message(
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
