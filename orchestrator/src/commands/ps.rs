//! `phalanx ps`: the runs of this machine, and how far the living ones are.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ::lan::LanRun;
use client::units::age;
use client::{Connection, News, Reach};
use protocol::report::{RunState, Stats};
use protocol::{Outcome, PrimaryToObservers, Role};
use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::target::Target;
use super::{CommandResult, Failed, output, runtime};
use crate::cli::{Format, PsArguments};
use crate::key_files;
use crate::run_directory::{FoundRun, RunRecord, Runs, now_unix_s};
use view::show::table::Table;

/// Time for which primaries are listened to, all at the same time; they tell their figures far more
/// often, but on a busy machine a connection takes its time. One that hangs is waited for so long.
const GLANCE_TIME: Duration = Duration::from_secs(2);

/// Time for which the local network is listened to.
const LAN_TIME: Duration = Duration::from_secs(2);

/// Number of living runs that are listened to; of more, the newest.
const GLANCES_MAX: usize = 64;

/// A run as it is listed.
#[derive(Debug, Serialize)]
struct ListedRun<'a> {
    #[serde(flatten)]
    record: &'a RunRecord,
    living: bool,
    /// True if `phalanx resume` goes on with it.
    resumable: bool,
    /// True if anybody may connect who reaches it: it is bound to tcp, and has no keys.
    insecure: bool,
    logs: String,
    /// `waiting`, `paused`, `running`, `stopping`, `silent`, or how it ended.
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    iteration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sim_time_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    real_time_factor: Option<f64>,
}

/// Lists the runs, the newest first.
pub(super) fn ps(arguments: &PsArguments) -> CommandResult {
    if arguments.lan {
        return lan(arguments.format);
    }
    let runs = Runs::open()
        .and_then(|runs| runs.list())
        .map_err(anyhow::Error::new)?;
    let runs = with_figures(runs)?;
    match arguments.format {
        Format::Text => output::print(&table(&runs, now_unix_s())),
        Format::Json => output::print_json(&runs.iter().map(listed).collect::<Vec<_>>()),
    }
}

/// A run of the local network, as it is listed.
#[derive(Debug, Serialize)]
struct ListedLanRun<'a> {
    name: &'a str,
    host: &'a str,
    partition: &'a str,
    /// Endpoints at which it is reached, the likeliest first.
    endpoints: Vec<String>,
    /// The beginning of the public key of its primary.
    #[serde(rename = "key")]
    fingerprint: Option<&'a str>,
    version: &'a str,
}

/// Lists the runs that are announced on the local network. Nothing of that is proven.
fn lan(format: Format) -> CommandResult {
    let runs = ::lan::list(LAN_TIME).map_err(anyhow::Error::new)?;
    let endpoint = |run: &LanRun, ip: &IpAddr| format!("tcp://{}", SocketAddr::new(*ip, run.port));
    let endpoints = |run: &LanRun| -> Vec<String> {
        let addresses = run.addresses.iter();
        addresses.map(|ip| endpoint(run, ip)).collect()
    };
    if format == Format::Json {
        let listed = runs.iter().map(|run| ListedLanRun {
            name: &run.run,
            host: &run.host,
            partition: &run.partition,
            endpoints: endpoints(run),
            fingerprint: run.fingerprint.as_deref(),
            version: &run.version,
        });
        return output::print_json(&listed.collect::<Vec<_>>());
    }
    let mut table = Table::new(&["RUN", "HOST", "PARTITION", "KEY", "VERSION", "ENDPOINT"]);
    for run in &runs {
        let first = endpoints(run).into_iter().next();
        table.row([
            run.run.clone(),
            run.host.clone(),
            run.partition.clone(),
            run.fingerprint.clone().unwrap_or_else(|| "none".to_owned()),
            run.version.clone(),
            first.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    output::print(&table.render())
}

/// Listens to the primaries of living runs, each for a moment.
fn with_figures(runs: Vec<FoundRun>) -> Result<Vec<(FoundRun, Option<Stats>)>, Failed> {
    let living = runs.iter().enumerate().filter(|(_, run)| run.is_living);
    let glances: Vec<(usize, Reach)> = living
        .take(GLANCES_MAX)
        .filter_map(|(index, run)| Some((index, Target::of(run.clone()).ok()?.reach)))
        .collect();
    let mut figures: Vec<Option<Stats>> = vec![None; runs.len()];
    if !glances.is_empty() {
        runtime()?.block_on(async {
            let mut heard = JoinSet::new();
            for (index, reach) in glances {
                heard.spawn(async move { (index, glance(&reach).await) });
            }
            while let Some(Ok((index, stats))) = heard.join_next().await {
                figures[index] = stats;
            }
        });
    }
    Ok(runs.into_iter().zip(figures).collect())
}

/// Returns the next figures of a run, if they come soon.
async fn glance(reach: &Reach) -> Option<Stats> {
    let mut connection = Connection::glance(reach).ok()?;
    let figures = async {
        loop {
            if let News::Status(status) = connection.news().await?
                && let PrimaryToObservers::Stats { stats, .. } = *status
            {
                return Some(*stats);
            }
        }
    };
    timeout(GLANCE_TIME, figures).await.ok().flatten()
}

fn listed((run, stats): &(FoundRun, Option<Stats>)) -> ListedRun<'_> {
    let of = |figure: fn(&Stats) -> f64| stats.as_ref().map(figure);
    ListedRun {
        record: &run.record,
        living: run.is_living,
        resumable: run.is_resumable(),
        insecure: key_files::is_insecure(&run.path, &run.record.endpoint),
        logs: run.logs().display().to_string(),
        state: plain_state(run, stats.as_ref()),
        iteration: stats.as_ref().map(|stats| stats.iteration),
        sim_time_s: of(|stats| stats.sim_time_s),
        real_time_factor: of(|stats| stats.real_time_factor),
    }
}

fn table(runs: &[(FoundRun, Option<Stats>)], now_unix_s: u64) -> String {
    let mut table = Table::new(&[
        "RUN",
        "STATE",
        "AGE",
        "SIM TIME",
        "ITERATION",
        "PACE",
        "PID",
        "SECONDARIES",
        "WORLD",
        "ENDPOINT",
    ]);
    let none = || "-".to_owned();
    for (run, stats) in runs {
        let record = &run.record;
        let workers = record.workers.iter();
        let secondaries = workers.filter(|worker| worker.role == Role::Secondary);
        let of = |figure: &dyn Fn(&Stats) -> String| stats.as_ref().map_or_else(none, figure);
        let (pid, endpoint) = if run.is_living {
            let mark = if key_files::is_insecure(&run.path, &run.record.endpoint) {
                " (insecure)"
            } else {
                ""
            };
            (record.pid.to_string(), format!("{}{mark}", record.endpoint))
        } else {
            (none(), none())
        };
        table.row([
            record.name.clone(),
            state(run, stats.as_ref()),
            age(now_unix_s.saturating_sub(record.started_unix_s)),
            of(&|stats| format!("{:.3} s", stats.sim_time_s)),
            of(&|stats| stats.iteration.to_string()),
            of(&|stats| format!("{:.2}x", stats.real_time_factor)),
            pid,
            secondaries.count().to_string(),
            record.world.clone(),
            endpoint,
        ]);
    }
    table.render()
}

fn state(run: &FoundRun, stats: Option<&Stats>) -> String {
    let plain = plain_state(run, stats);
    if run.is_resumable() {
        return format!("{plain}, resumable");
    }
    plain
}

fn plain_state(run: &FoundRun, stats: Option<&Stats>) -> String {
    match (&run.record.ended, stats.map(|stats| stats.state)) {
        (_, Some(RunState::Waiting)) => "waiting".to_owned(),
        (_, Some(RunState::Paused)) => "paused".to_owned(),
        (_, Some(RunState::Running)) => "running".to_owned(),
        (_, Some(RunState::Recovering)) => "recovering".to_owned(),
        (_, Some(RunState::Stopping)) => "stopping".to_owned(),
        (_, None) if run.is_living => "silent".to_owned(),
        (Some(end), None) if end.outcome == Outcome::Completed => "completed".to_owned(),
        (Some(end), None) => format!("{} ({})", end.outcome, end.exit_code),
        (None, None) => "killed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::WorkerRecord;
    use crate::run_directory::RunEnd;
    use view::app::fixture;

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
            (run("a", true, None), Some(fixture::stats())),
            (run("e", true, None), None),
            (run("b", false, Some(Outcome::Completed)), None),
            (run("c", false, Some(Outcome::PeerLost)), None),
            (run("d", false, None), None),
        ];
        expect_test::expect![[r"
            RUN  STATE          AGE   SIM TIME  ITERATION  PACE   PID  SECONDARIES  WORLD  ENDPOINT
            a    running        60 s  12.345 s  12345      0.98x  1    1            w.sdf  ipc:///r
            e    silent         60 s  -         -          -      1    1            w.sdf  ipc:///r
            b    completed      60 s  -         -          -      -    1            w.sdf  -
            c    peer lost (4)  60 s  -         -          -      -    1            w.sdf  -
            d    killed         60 s  -         -          -      -    1            w.sdf  -
        "]]
        .assert_eq(&table(&runs, 100));
        let json = serde_json::to_value(listed(&runs[0])).unwrap();
        assert_eq!(
            (&json["name"], &json["living"]),
            (&"a".into(), &true.into())
        );
        assert_eq!(
            (&json["state"], &json["iteration"]),
            (&"running".into(), &12_345.into())
        );
    }

    #[test]
    fn a_primary_that_does_not_answer_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut silent = run("a", true, None);
        silent.record.endpoint = format!("ipc://{}", folder.path().display());
        let begin = std::time::Instant::now();
        let runs = with_figures(vec![silent]).unwrap();
        assert_eq!(runs[0].1, None);
        assert!(begin.elapsed() < GLANCE_TIME * 20);
    }
}
