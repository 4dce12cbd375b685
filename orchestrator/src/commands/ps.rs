//! `phalanx ps`: the runs of this machine.

use protocol::{Outcome, Role};
use serde::Serialize;

use super::table::Table;
use super::{CommandResult, output};
use crate::cli::{Format, PsArguments};
use crate::run_directory::{FoundRun, RunRecord, Runs, now_unix_s};

/// A run as it is listed.
#[derive(Debug, Serialize)]
struct ListedRun<'a> {
    #[serde(flatten)]
    record: &'a RunRecord,
    living: bool,
    logs: String,
}

/// Lists the runs, the newest first.
pub(super) fn ps(arguments: &PsArguments) -> CommandResult {
    let runs = Runs::open()
        .and_then(|runs| runs.list())
        .map_err(anyhow::Error::new)?;
    match arguments.format {
        Format::Text => output::print(&table(&runs, now_unix_s())),
        Format::Json => {
            let listed = |run| -> ListedRun<'_> {
                let run: &FoundRun = run;
                let logs = run.logs().display().to_string();
                ListedRun {
                    record: &run.record,
                    living: run.is_living,
                    logs,
                }
            };
            output::print_json(&runs.iter().map(listed).collect::<Vec<_>>())
        }
    }
}

fn table(runs: &[FoundRun], now_unix_s: u64) -> String {
    let mut table = Table::new(&[
        "RUN",
        "STATE",
        "AGE",
        "PID",
        "SECONDARIES",
        "WORLD",
        "ENDPOINT",
    ]);
    for run in runs {
        let record = &run.record;
        let is_secondary = |role: Role| role == Role::Secondary;
        let secondaries = record
            .workers
            .iter()
            .filter(|worker| is_secondary(worker.role))
            .count();
        table.row([
            record.name.clone(),
            state(run),
            age(now_unix_s.saturating_sub(record.started_unix_s)),
            if run.is_living {
                record.pid.to_string()
            } else {
                "-".to_owned()
            },
            secondaries.to_string(),
            record.world.clone(),
            if run.is_living {
                record.endpoint.clone()
            } else {
                "-".to_owned()
            },
        ]);
    }
    table.render()
}

fn state(run: &FoundRun) -> String {
    match &run.record.ended {
        _ if run.is_living => "living".to_owned(),
        Some(end) if end.outcome == Outcome::Completed => "completed".to_owned(),
        Some(end) => format!("{} ({})", end.outcome, end.exit_code),
        None => "killed".to_owned(),
    }
}

/// Returns a time in the unit that matters.
pub(super) fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_directory::{RunEnd, WorkerRecord};

    fn run(name: &str, is_living: bool, ended: Option<Outcome>) -> FoundRun {
        let end = |outcome: Outcome| RunEnd {
            outcome,
            cause: "why".to_owned(),
            exit_code: outcome.exit_code() as u8,
            last_error: None,
            at_unix_s: 100,
        };
        let worker = |name: &str, role| WorkerRecord {
            name: name.to_owned(),
            role,
            pid: 2,
        };
        let record = RunRecord {
            name: name.to_owned(),
            pid: 1,
            endpoint: "ipc:///r".to_owned(),
            world: "w.sdf".to_owned(),
            command: String::new(),
            started_unix_s: 40,
            workers: vec![
                worker("primary", Role::Primary),
                worker("s1", Role::Secondary),
            ],
            ended: ended.map(end),
        };
        FoundRun {
            record,
            path: "/r".into(),
            is_living,
        }
    }

    #[test]
    fn the_table_says_who_lives_and_how_the_others_ended() {
        let runs = [
            run("a", true, None),
            run("b", false, Some(Outcome::Completed)),
            run("c", false, Some(Outcome::PeerLost)),
            run("d", false, None),
        ];
        expect_test::expect![[r"
            RUN  STATE          AGE   PID  SECONDARIES  WORLD  ENDPOINT
            a    living         60 s  1    1            w.sdf  ipc:///r
            b    completed      60 s  -    1            w.sdf  -
            c    peer lost (4)  60 s  -    1            w.sdf  -
            d    killed         60 s  -    1            w.sdf  -
        "]]
        .assert_eq(&table(&runs, 100));
    }
}
