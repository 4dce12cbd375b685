//! `phalanx doctor`: what would hold a run back, on this machine and on hosts, with the remedy for
//! each.

mod disk;
mod gpu;
mod here;
mod keys;
mod there;

use std::fmt::Write;

use protocol::ExitCode;
use run::RunSpec;
use serde::Serialize;
use view::show::table::Table;

use super::config::settings;
use super::run::settings::check_ssh_command;
use super::{CommandResult, Failed, output};
use crate::cli::{DoctorArguments, Format};

/// Importance of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// Nothing holds a run back.
    Ok,
    /// Some runs are held back.
    Warning,
    /// No run, or no secondary of a host, can be started.
    Problem,
}

/// One thing that was examined.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    /// `here`, or the name of a host.
    machine: String,
    /// The thing, a word.
    check: &'static str,
    state: State,
    /// Description of the finding.
    text: String,
    /// Remedy; `None` where nothing is wrong.
    remedy: Option<String>,
}

impl Finding {
    fn ok(machine: &str, check: &'static str, text: impl Into<String>) -> Self {
        Self {
            machine: machine.to_owned(),
            check,
            state: State::Ok,
            text: text.into(),
            remedy: None,
        }
    }

    /// Makes it a warning or a problem, with what to do.
    fn worse(self, state: State, remedy: impl Into<String>) -> Self {
        Self {
            state,
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

/// Examines this machine and hosts; exit code 1 says that something is a problem.
pub(super) fn doctor(arguments: &DoctorArguments) -> CommandResult {
    let spec = spec(arguments)?;
    let mut findings = here::examine(&spec);
    findings.extend(there::examine(&spec));
    match arguments.format {
        Format::Json => output::print_json(&findings)?,
        Format::Text => output::print(&text(&findings))?,
    };
    let is_problem = |finding: &Finding| finding.state == State::Problem;
    Ok(if findings.iter().any(is_problem) {
        ExitCode::Failure
    } else {
        ExitCode::Success
    })
}

/// Returns the settings that name hosts: those of a run file, or of the command line.
fn spec(arguments: &DoctorArguments) -> Result<RunSpec, Failed> {
    let file = arguments.run_file.as_deref();
    let mut spec = settings(file)?.spec;
    if let Some(hosts) = &arguments.hosts {
        spec.network.hosts = Some(hosts.clone());
    }
    if let Some(command) = &arguments.ssh_command {
        spec.network.ssh_command.clone_from(command);
    }
    check_ssh_command(&spec.network.ssh_command)?;
    Ok(spec)
}

fn text(findings: &[Finding]) -> String {
    let mut table = Table::new(&["MACHINE", "CHECK", "STATE", "FOUND"]);
    for finding in findings {
        let state = match finding.state {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Problem => "PROBLEM",
        };
        table.row([
            finding.machine.clone(),
            finding.check.to_owned(),
            state.to_owned(),
            finding.text.clone(),
        ]);
    }
    let mut text = table.render();
    for finding in findings {
        if let Some(remedy) = &finding.remedy {
            let _ = write!(text, "\n{}: {}: {remedy}", finding.machine, finding.check);
        }
    }
    if findings.iter().any(|finding| finding.remedy.is_some()) {
        text.push('\n');
    }
    text
}
