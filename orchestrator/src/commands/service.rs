//! `phalanx service`: which services there are, and calling one.

use std::path::Path;
use std::time::Duration;

use client::control::read_input;
use lockstep::services;
use protocol::primary_to_client::Reply;
use protocol::{Command, ExitCode};
use serde_json::{Value, json};

use super::ctl::from_ask;
use super::target;
use super::topic::{address, kind_named, read_message};
use super::{CommandResult, Failed, output, runtime};
use crate::cli::{Addressed, Format, KeyArguments, ServiceAction, ServiceArguments};
use view::show::table::Table;

/// Time that a list of services may take.
const LIST_PATIENCE: Duration = Duration::from_secs(10);

/// Does what `phalanx service` is asked.
pub(super) fn service(arguments: &ServiceArguments) -> CommandResult {
    let keys = &arguments.keys;
    match &arguments.action {
        ServiceAction::List { run, format } => list(run.as_deref(), keys, *format),
        ServiceAction::Call { words, timeout } => call(&address(words)?, keys, *timeout),
    }
}

fn list(run: Option<&str>, keys: &KeyArguments, format: Format) -> CommandResult {
    let target = target::find(run, keys)?;
    let asked = target.ask(Command::Snapshot, LIST_PATIENCE);
    let Reply::Snapshot(snapshot) = runtime()?.block_on(asked).map_err(from_ask)? else {
        let message = "the primary answered something else";
        return Err(Failed::message(ExitCode::Failure, message));
    };
    let worlds: Vec<&str> = snapshot.stats.world.split('+').collect();
    let services = services::list(&worlds);
    match format {
        Format::Json => {
            let shown = services.iter().map(|service| {
                json!({
                    "service": service.name,
                    "request": service.kind,
                    "reply": services::REPLY_KIND,
                })
            });
            output::print_json(&shown.collect::<Vec<Value>>())
        }
        Format::Text => {
            let mut table = Table::new(&["SERVICE", "REQUEST"]);
            for service in services {
                table.row([service.name, service.kind.to_owned()]);
            }
            output::print(&table.render())
        }
    }
}

fn call(addressed: &Addressed<'_>, keys: &KeyArguments, limit: Duration) -> CommandResult {
    let command = command(addressed)?;
    let target = target::find(addressed.run, keys)?;
    let asked = target.ask(command, limit);
    match runtime()?.block_on(asked).map_err(from_ask)? {
        Reply::Done { .. } => output::print("data: true\n"),
        Reply::Failed { reason, .. } => Err(Failed::message(ExitCode::Failure, reason)),
        Reply::Snapshot(_)
        | Reply::History(_)
        | Reply::Layout(_)
        | Reply::Scene(_)
        | Reply::Topics(_)
        | Reply::Clients(_)
        | Reply::Barrier(_)
        | Reply::Participants(_) => Err(Failed::message(
            ExitCode::Failure,
            "the primary answered something else",
        )),
    }
}

fn command(addressed: &Addressed<'_>) -> Result<Command, Failed> {
    if let Some(reason) = services::refusal_of(addressed.name) {
        let message = format!("{}: {reason}", addressed.name);
        return Err(Failed::message(ExitCode::Failure, message));
    }
    let name = addressed.kind.or_else(|| services::kind_of(addressed.name));
    let Some(name) = name else {
        let message = format!(
            "there is no service {}; `phalanx service list` shows all",
            addressed.name
        );
        return Err(Failed::message(ExitCode::Failure, message));
    };
    let kind = kind_named(name)?;
    let mut request = read_message(kind, addressed.text)?;
    read_files(&mut request)?;
    Ok(Command::CallService {
        service: addressed.name.to_owned(),
        kind: kind.name.to_owned(),
        body: kind.from_json(request).map_err(anyhow::Error::new)?,
    })
}

/// Puts the texts of files into requests that name them: the primary reads none for others.
fn read_files(request: &mut Value) -> Result<(), Failed> {
    if let Some(Value::Array(factories)) = request.get_mut("data") {
        return factories.iter_mut().try_for_each(read_files);
    }
    let Some(file) = request.get("sdf_filename").and_then(Value::as_str) else {
        return Ok(());
    };
    if !file.is_empty() {
        let text = read_input(Path::new(file));
        let text = text.map_err(|error| Failed::new(ExitCode::Configuration, error))?;
        request["sdf"] = text.into();
        request["sdf_filename"] = "".into();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str]) -> Result<Command, Failed> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        command(&Addressed::parse(&words).unwrap())
    }

    fn commands(words: &[&str]) -> Vec<Command> {
        let Command::CallService {
            service,
            kind,
            body,
        } = call(words).unwrap()
        else {
            panic!("no call")
        };
        services::translate(&service, &kind, &body, &["w"]).unwrap()
    }

    #[test]
    fn requests_are_typed_as_gazebo_users_type_them() {
        let paused = [Command::Pause, Command::Step { count: 5 }];
        let control = "/world/w/control";
        let text = "pause: true, multi_step: 5";
        assert_eq!(commands(&[control, text]), paused);
        assert_eq!(commands(&[control, "gz.msgs.WorldControl", text]), paused);
        let json = "{\"pause\": true, \"multi_step\": 5}";
        assert_eq!(commands(&["run", control, json]), paused);
        let remove = ["/world/w/remove", "name: 'box' type: MODEL"];
        let model = "box".to_owned();
        assert_eq!(commands(&remove), [Command::Remove { model }]);
    }

    #[test]
    fn files_are_read_where_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("box.sdf");
        std::fs::write(&path, "<sdf/>").unwrap();
        let request = format!("sdf_filename: '{}'", path.display());
        let commands = commands(&["/world/w/create", &request]);
        let [Command::Spawn(spawn)] = commands.as_slice() else {
            panic!("{commands:?}")
        };
        assert_eq!(spawn.sdf, "<sdf/>");
        let missing = call(&["/world/w/create", "sdf_filename: '/no/such'"]).unwrap_err();
        assert_eq!(missing.code, ExitCode::Configuration);
    }

    #[test]
    fn unknown_services_and_types_are_refused() {
        let code = |words: &[&str]| call(words).unwrap_err().code;
        assert_eq!(code(&["/world/w/fly"]), ExitCode::Failure);
        let kind = ["/world/w/control", "gz.msgs.No", "a: 1"];
        assert_eq!(code(&kind), ExitCode::Usage);
    }
}
