//! The run that a command is about: by name, by endpoint, by its partition of the local network, or
//! the only one that is alive.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ::lan::Sought;
use client::units::age;
use client::{self, AskError, Reach};
use protocol::primary_to_client::Reply;
use protocol::{Command, ExitCode};
use transport::Endpoints;

use super::Failed;
use crate::cli::KeyArguments;
use crate::config::Config;
use crate::key_files::{self, ChosenKeys};
use crate::run_directory::{FoundRun, Runs, now_unix_s};

/// Time between two looks at whether a run has ended that does not answer.
const END_LOOKUP_INTERVAL: Duration = Duration::from_millis(100);

/// Beginning of what names a run of the local network.
const LAN: &str = "lan://";

/// Time in which runs of the local network are to answer.
const LAN_TIME: Duration = Duration::from_secs(5);

/// Reason why no run is meant, or not the one that is named.
#[derive(Debug, thiserror::Error)]
enum ChooseError {
    /// None is living.
    #[error("no run is living: start one with `phalanx run`")]
    NoneLiving,
    /// Several are living, and none is named.
    #[error("{count} runs are living, name one of them:{list}")]
    Several {
        /// Their number.
        count: usize,
        /// A line for each of them.
        list: String,
    },
    /// It has ended.
    #[error(
        "the run {named} has ended; `phalanx show {named} logs` prints its logs, which are in {}",
        logs.display()
    )]
    Ended {
        /// Its name.
        named: String,
        /// The folder of its logs.
        logs: PathBuf,
    },
    /// No run is named so, and none is living.
    #[error("no run is named {named}, and none is living")]
    UnknownOfNone {
        /// The name.
        named: String,
    },
    /// No run is named so.
    #[error("no run is named {named}; living: {}", living.join(", "))]
    Unknown {
        /// The name.
        named: String,
        /// Names of those that are living.
        living: Vec<String>,
    },
}

/// A run to talk to.
#[derive(Debug)]
pub(super) struct Target {
    /// Access to its primary.
    pub(super) reach: Reach,
    /// The run as found on this machine; `None` if it was named by its endpoint.
    pub(super) found: Option<FoundRun>,
}

impl Target {
    /// Makes a target of a run of this machine.
    ///
    /// # Errors
    /// Fails if the record of the run is damaged, or its keys cannot be read.
    pub(super) fn of(found: FoundRun) -> Result<Self, Failed> {
        let endpoints = found.record.endpoint.parse::<Endpoints>();
        let endpoints = endpoints.map_err(anyhow::Error::new)?;
        let reach = key_files::reach_of_run(&found.path, endpoints);
        Ok(Self {
            reach: reach.map_err(anyhow::Error::new)?,
            found: Some(found),
        })
    }

    /// Asks the run's primary, and gives up as soon as the run has ended.
    ///
    /// # Errors
    /// Fails if there is no answer in time, or none to come.
    pub(super) async fn ask(&self, command: Command, limit: Duration) -> Result<Reply, AskError> {
        tokio::select! {
            biased;
            answer = client::ask(&self.reach, command, limit) => answer,
            () = self.end() => Err(AskError::Ended),
        }
    }

    /// Waits for the end of a run of this machine.
    pub(super) async fn end(&self) {
        while self.found.as_ref().is_none_or(FoundRun::is_still_living) {
            tokio::time::sleep(END_LOOKUP_INTERVAL).await;
        }
        // An answer may be on its way.
        tokio::time::sleep(END_LOOKUP_INTERVAL).await;
    }

    /// Returns what to call the run.
    pub(super) fn name(&self) -> String {
        match &self.found {
            Some(found) => found.record.name.clone(),
            None => self.reach.to_string(),
        }
    }
}

/// Finds the run that a command names, or else the only living one; the keys are for one that is
/// named by its address.
pub(super) fn find(named: Option<&str>, keys: &KeyArguments) -> Result<Target, Failed> {
    if let Some(sought) = named.and_then(|named| named.strip_prefix(LAN)) {
        let reach = reach_of_lan(sought, keys.chosen())?;
        return Ok(Target { reach, found: None });
    }
    if let Some(endpoint) = named.filter(|named| named.contains("://")) {
        let endpoints = endpoint
            .parse()
            .map_err(|error| Failed::new(ExitCode::Usage, error))?;
        let reach = reach_of_address(endpoints, keys.chosen())?;
        return Ok(Target { reach, found: None });
    }
    let runs = Runs::open()
        .and_then(|runs| runs.list())
        .map_err(anyhow::Error::new)?;
    let found = choose(&runs, named)
        .map_err(|error| Failed::new(ExitCode::Failure, error))?
        .clone();
    Target::of(found)
}

/// Finds a run that is announced, `PARTITION` or `PARTITION/RUN`. An announcement finds an address
/// and no more: keys decide, as with an address.
fn reach_of_lan(sought: &str, keys: ChosenKeys) -> Result<Reach, Failed> {
    let (partition, run) = match sought.trim_end_matches('/').split_once('/') {
        Some((partition, run)) => (partition, Some(run)),
        None => (sought.trim_end_matches('/'), None),
    };
    if partition.is_empty() {
        let message = "lan:// is followed by a partition: lan://PARTITION or lan://PARTITION/RUN";
        return Err(Failed::message(ExitCode::Usage, message.to_owned()));
    }
    // Any other machine: the keys are the same wherever it is.
    let elsewhere = endpoints_of(SocketAddr::from(([0, 0, 0, 0], 1)))?;
    let reach = reach_of_address(elsewhere, keys)?;
    let server_keys = reach.server_keys();
    let sought = Sought {
        partition,
        run,
        keys: server_keys.as_deref(),
    };
    let address =
        ::lan::find(sought, LAN_TIME).map_err(|error| Failed::new(ExitCode::Failure, error))?;
    Ok(reach.at(endpoints_of(address)?))
}

fn endpoints_of(address: SocketAddr) -> Result<Endpoints, Failed> {
    let endpoints = format!("tcp://{address}").parse::<Endpoints>();
    endpoints.map_err(|error| Failed::new(ExitCode::Failure, error))
}

fn reach_of_address(endpoints: Endpoints, mut chosen: ChosenKeys) -> Result<Reach, Failed> {
    if endpoints.directory().is_none() {
        let failed = |error| Failed::new(ExitCode::Configuration, error);
        let named = match chosen.folder.take() {
            Some(folder) => Some(folder),
            None => key_files::keys_folder(&Config::load(None).map_err(failed)?.spec.security),
        };
        chosen.folder = key_files::user_folder(named.as_deref());
    }
    key_files::reach_of_address(endpoints, &chosen)
        .map_err(|error| Failed::new(ExitCode::Configuration, error))
}

/// Finds the folder of the run that a command names, living or ended, or else of the only living
/// one, or the last one that ended.
pub(super) fn find_run(named: Option<&str>) -> Result<FoundRun, Failed> {
    let runs = Runs::open()
        .and_then(|runs| runs.list())
        .map_err(anyhow::Error::new)?;
    if let Some(endpoint) = named.filter(|named| named.contains("://")) {
        let is_it = |run: &&FoundRun| run.record.endpoint == endpoint;
        return runs.iter().find(is_it).cloned().ok_or_else(|| {
            let message = format!("{endpoint} is no run of this machine: its logs are where it is");
            Failed::message(ExitCode::Failure, message)
        });
    }
    let ended = match named {
        Some(named) => runs.iter().find(|run| run.record.name == named),
        None if runs.iter().any(|run| run.is_living) => None,
        None => runs.first(),
    };
    match ended {
        Some(run) => Ok(run.clone()),
        None => choose(&runs, named)
            .cloned()
            .map_err(|error| Failed::new(ExitCode::Failure, error)),
    }
}

fn choose<'a>(runs: &'a [FoundRun], named: Option<&str>) -> Result<&'a FoundRun, ChooseError> {
    let living: Vec<&FoundRun> = runs.iter().filter(|run| run.is_living).collect();
    let Some(named) = named else {
        return match living.as_slice() {
            [only] => Ok(only),
            [] => Err(ChooseError::NoneLiving),
            several => Err(ChooseError::Several {
                count: several.len(),
                list: list(several),
            }),
        };
    };
    let found = runs.iter().find(|run| run.record.name == named);
    let named = named.to_owned();
    match found {
        Some(run) if run.is_living => Ok(run),
        Some(run) => Err(ChooseError::Ended {
            named,
            logs: run.logs(),
        }),
        None if living.is_empty() => Err(ChooseError::UnknownOfNone { named }),
        None => Err(ChooseError::Unknown {
            named,
            living: living.iter().map(|run| run.record.name.clone()).collect(),
        }),
    }
}

/// Lists living runs to choose from.
fn list(living: &[&FoundRun]) -> String {
    let width = |run: &&FoundRun| run.record.name.len();
    let width = living.iter().map(width).max().unwrap_or(0);
    let line = |run: &&FoundRun| {
        let record = &run.record;
        let age = age(now_unix_s().saturating_sub(record.started_unix_s));
        format!("\n  {:<width$}  for {age}, {}", record.name, record.world)
    };
    living.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_directory::RunRecord;

    fn run(name: &str, is_living: bool) -> FoundRun {
        let record = RunRecord {
            name: name.to_owned(),
            pid: 1,
            endpoint: format!("ipc:///run/{name}"),
            world: "w.sdf".to_owned(),
            command: String::new(),
            started_unix_s: 0,
            workers: Vec::new(),
            ended: None,
        };
        FoundRun {
            record,
            path: format!("/run/{name}").into(),
            is_living,
        }
    }

    fn check(runs: &[FoundRun], named: Option<&str>, expected: Result<&str, &str>) {
        match (choose(runs, named), expected) {
            (Ok(run), Ok(name)) => assert_eq!(run.record.name, name),
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{error}");
            }
            (chosen, _) => panic!("{named:?}: {chosen:?}"),
        }
    }

    #[test]
    fn the_only_living_run_need_not_be_named() {
        check(&[run("a", true), run("b", false)], None, Ok("a"));
        check(&[run("b", false)], None, Err("no run is living"));
        check(
            &[run("a", true), run("b", true)],
            None,
            Err("name one of them:\n  a  for "),
        );
    }

    #[test]
    fn a_named_run_must_be_living() {
        let runs = [run("a", true), run("b", false)];
        check(&runs, Some("a"), Ok("a"));
        check(&runs, Some("b"), Err("logs, which are in /run/b/logs"));
        check(&runs, Some("c"), Err("no run is named c; living: a"));
    }
}
