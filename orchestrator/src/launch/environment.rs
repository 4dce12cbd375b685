//! Settings of single workers besides their part of the run: environment, logs and CPUs.

use run::RunSpec;

use super::hosts::RemoteStart;
use super::{WorkerCommand, flag};

/// The variable that says what a worker writes to its log.
pub(super) const LOG_VARIABLE: &str = "PHALANX_LOG";

/// Gives a worker what settings say of all, and of it alone.
pub(super) fn give(command: &mut WorkerCommand, spec: &RunSpec) {
    let given = spec.processes.of(&command.name);
    let host = command.remote.as_ref().map(RemoteStart::settings);
    let of_host = host.map(|host| host.environment.clone());
    let level = (LOG_VARIABLE.to_owned(), spec.logs.level.clone());
    let variables = [level].into_iter().chain(of_host.unwrap_or_default());
    command.environment = variables.chain(given.environment).collect();
    let of_host = host.and_then(|host| host.cpus.clone());
    if let Some(cpus) = given.cpus.or(of_host) {
        let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
        let mut arguments = Vec::new();
        flag(&mut arguments, "--cpus", cpus.join(","));
        command.arguments.splice(0..0, arguments);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use protocol::Role;

    use super::*;
    use crate::config::Config;

    fn given(name: &str) -> WorkerCommand {
        let text = "[logs]\nlevel = 'warn'\n[process.default]\nenv = { A = '1' }\n\
                    [process.s1]\ncpus = [2, 0]\nenv = { PHALANX_LOG = 'trace' }\n";
        let config = Config::parse(text, Path::new("run.toml")).unwrap();
        let mut command = WorkerCommand {
            name: name.to_owned(),
            role: Role::Secondary,
            arguments: vec!["--lifeline".into()],
            environment: BTreeMap::new(),
            remote: None,
        };
        give(&mut command, &config.spec);
        command
    }

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        pairs.collect()
    }

    #[test]
    fn every_worker_is_told_what_to_log_and_some_their_cpus() {
        let command = given("s2");
        assert_eq!(command.arguments, ["--lifeline"]);
        assert_eq!(
            command.environment,
            environment(&[("A", "1"), ("PHALANX_LOG", "warn")])
        );
        let command = given("s1");
        assert_eq!(command.arguments, ["--cpus=2,0", "--lifeline"]);
        assert_eq!(
            command.environment,
            environment(&[("A", "1"), ("PHALANX_LOG", "trace")])
        );
    }
}
