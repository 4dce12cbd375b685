//! `phalanx attach`: the view of a run that goes on when it is left.

use protocol::ExitCode;
use view::{ViewEnd, ViewOptions};

use super::config::settings_of_view;
use super::terminal_check::require_terminal;
use super::watch;
use super::{CommandResult, output, runtime, target};
use crate::cli::AttachArguments;

/// Shows a run until the user leaves.
pub(super) fn attach(arguments: &AttachArguments) -> CommandResult {
    let target = target::find(arguments.run.as_deref(), &arguments.keys)?;
    require_terminal("`phalanx show` for its figures as text or JSON")?;
    let config = settings_of_view(&arguments.view)?;
    let options = ViewOptions::new(target.name(), false, &config.view, &config.keymap);
    let name = target.name();
    let left = runtime()?.block_on(watch::watch(&target, options))?;
    match left.end {
        ViewEnd::Quit | ViewEnd::Detach | ViewEnd::HungUp => {
            output::note(&format!("left {name}, which goes on"));
            Ok(ExitCode::Success)
        }
        ViewEnd::Ended => {
            if let Some(ended) = left.last_ended.filter(|_| target.found.is_some()) {
                output::print(&super::run::describe(&name, &ended))?;
            }
            Ok(ExitCode::Success)
        }
        ViewEnd::Interrupted => Ok(ExitCode::Interrupted),
    }
}
