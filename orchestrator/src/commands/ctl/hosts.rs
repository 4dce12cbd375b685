//! `phalanx ctl add-host` and `drain-host`: asks the process that owns a run to change its hosts.

use protocol::ExitCode;
use serde_json::json;

use crate::cli::{CtlArguments, TableFormat};
use crate::commands::target::Target;
use crate::commands::{CommandResult, Failed, output, runtime};
use crate::owner_socket::{self, HostChange, OwnerAnswer};

/// Has the hosts of a run changed, and waits until that is done.
pub(super) fn change(
    target: &Target,
    change: HostChange,
    arguments: &CtlArguments,
) -> CommandResult {
    let name = target.name();
    let Some(found) = &target.found else {
        let message = format!(
            "hosts are changed by the process that owns the run: on its machine, by its user, with \
             the name of the run instead of {name}"
        );
        return Err(Failed::message(ExitCode::Failure, message));
    };
    let is_json = arguments.format == Some(TableFormat::Json);
    let asked = owner_socket::ask(&found.path, change.clone(), arguments.timeout);
    let answer = runtime()?.block_on(asked);
    match answer.map_err(anyhow::Error::new)? {
        OwnerAnswer::Done { secondaries } if is_json => output::print_json(&json!({
            "run": name,
            "secondaries": secondaries,
        })),
        OwnerAnswer::Done { secondaries } => {
            let names = secondaries.join(", ");
            output::print(&match change {
                HostChange::Add(host) => format!("{name} has {names} on {host}\n"),
                HostChange::Drain(host) => format!("{name} let {names} on {host} leave\n"),
            })
        }
        OwnerAnswer::Failed { reason, is_late } => {
            if is_json {
                output::print_json(&json!({ "error": { "code": "other", "message": reason } }))?;
            }
            let code = if is_late {
                ExitCode::TimedOut
            } else {
                ExitCode::Failure
            };
            Err(Failed::message(code, reason))
        }
    }
}
