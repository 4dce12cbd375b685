//! Tests of the supervisor with stand-in children.

use std::path::PathBuf;

use protocol::Role;
use rustix::process::{Pid, test_kill_process};

use super::*;

/// Time that anything may take on a busy machine.
const LONG: Duration = Duration::from_mins(2);

struct Fixture {
    _folder: tempfile::TempDir,
    logs: PathBuf,
    sender: mpsc::Sender<LogLine>,
    lines: mpsc::Receiver<LogLine>,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, lines) = mpsc::channel(100);
        Self {
            logs: folder.path().to_owned(),
            _folder: folder,
            sender,
            lines,
        }
    }

    /// Starts shell scripts as the processes p0, p1, ...
    fn spawn(&self, scripts: &[&str]) -> Supervisor {
        self.spawn_with(scripts, LossPolicy::Stop)
    }

    fn spawn_with(&self, scripts: &[&str], policy: LossPolicy) -> Supervisor {
        let command = |(number, script): (usize, &&str)| WorkerCommand {
            name: format!("p{number}"),
            role: Role::Secondary,
            arguments: vec!["-c".into(), (*script).into()],
            environment: std::collections::BTreeMap::new(),
            remote: None,
        };
        let commands: Vec<_> = scripts.iter().enumerate().map(command).collect();
        let (shell, logs) = (Path::new("/bin/sh"), &self.logs);
        Supervisor::spawn(shell, &commands, logs, &self.sender, policy).unwrap()
    }

    async fn line(&mut self, wanted: &str) {
        let wait = async {
            while let Some(line) = self.lines.recv().await {
                if line.text == wanted {
                    return;
                }
            }
        };
        timeout(LONG, wait).await.expect("the line came in time");
    }
}

/// Waits until the run is over.
async fn run_exit(supervisor: &mut Supervisor, grace: Duration) -> RunExit {
    loop {
        if let Change::Over(exit) = change(supervisor, grace).await {
            return exit;
        }
    }
}

async fn change(supervisor: &mut Supervisor, grace: Duration) -> Change {
    let change = supervisor.change(grace);
    let change = timeout(LONG, change).await;
    change.expect("something happens in time")
}

fn is_alive(pid: u32) -> bool {
    test_kill_process(Pid::from_raw(pid.cast_signed()).unwrap()).is_ok()
}

async fn gone(pid: u32) {
    let wait = async {
        while is_alive(pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, wait)
        .await
        .expect("the process ended in time");
}

#[tokio::test]
async fn the_run_is_over_when_the_first_process_ends() {
    let fixture = Fixture::new();
    let mut supervisor = fixture.spawn(&["exit 6", "sleep 1000"]);
    let RunExit::First(status) = run_exit(&mut supervisor, NOTICE_GRACE).await else {
        panic!("s1 did not fail")
    };
    assert_eq!(status.code(), Some(6));
    let started = Instant::now();
    supervisor.end(Duration::from_millis(10)).await;
    assert!(started.elapsed() < LONG);
    assert!(
        supervisor
            .workers()
            .iter()
            .all(|worker| !is_alive(worker.pid))
    );
}

#[tokio::test]
async fn lines_go_to_the_log_and_to_who_shows_them() {
    let mut fixture = Fixture::new();
    let mut supervisor = fixture.spawn(&["echo out; echo err >&2; printf unfinished"]);
    run_exit(&mut supervisor, NOTICE_GRACE).await;
    supervisor.end(Duration::from_secs(1)).await;
    let log = std::fs::read_to_string(fixture.logs.join("p0.log")).unwrap();
    for line in ["out\n", "err\n", "unfinished"] {
        assert!(log.contains(line), "{log}");
    }
    fixture.line("unfinished").await;
}

#[tokio::test]
async fn a_process_that_reads_its_lifeline_ends_by_itself() {
    let mut fixture = Fixture::new();
    let mut supervisor = fixture.spawn(&["echo up; cat; echo lifeline cut; exit 7"]);
    fixture.line("up").await;
    supervisor.end(LONG).await;
    assert_eq!(
        supervisor.first_status().and_then(|status| status.code()),
        Some(7)
    );
    fixture.line("lifeline cut").await;
}

#[tokio::test]
async fn a_process_that_ignores_everything_is_killed_with_its_children() {
    let mut fixture = Fixture::new();
    let script =
        "trap '' TERM HUP INT; sleep 1000 & echo child $!; echo up; while :; do wait; done";
    let mut supervisor = fixture.spawn(&[script]);
    let mut child = None;
    while child.is_none() {
        let line = fixture.lines.recv().await.unwrap();
        child = line
            .text
            .strip_prefix("child ")
            .map(|pid| pid.parse::<u32>().unwrap());
    }
    fixture.line("up").await;
    supervisor.end(Duration::from_millis(50)).await;
    gone(supervisor.workers()[0].pid).await;
    assert!(has_ended(child.unwrap()).await);
}

/// Waits until a process that is no child of ours is dead, be it buried or not.
async fn has_ended(pid: u32) -> bool {
    let deadline = Instant::now() + LONG;
    while Instant::now() < deadline {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().next());
        if matches!(state, None | Some("Z" | "X")) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn a_process_that_obeys_sigterm_ends_with_its_own_code() {
    let mut fixture = Fixture::new();
    let script = "trap 'exit 130' TERM; echo up; while :; do sleep 0.01; done";
    let mut supervisor = fixture.spawn(&[script]);
    fixture.line("up").await;
    supervisor.terminate().await;
    assert_eq!(
        supervisor.first_status().and_then(|status| status.code()),
        Some(130)
    );
}

#[tokio::test]
async fn no_process_stays_when_the_supervisor_is_dropped() {
    let fixture = Fixture::new();
    let supervisor = fixture.spawn(&["sleep 1000", "sleep 1000", "trap '' TERM; sleep 1000"]);
    let pids: Vec<u32> = supervisor
        .workers()
        .iter()
        .map(|worker| worker.pid)
        .collect();
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    drop(supervisor);
    for pid in pids {
        gone(pid).await;
    }
}

#[test]
fn no_process_stays_after_a_panic() {
    let fixture = Fixture::new();
    let (sender, pids) = std::sync::mpsc::channel();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let supervisor = fixture.spawn(&["sleep 1000", "sleep 1000"]);
            for worker in supervisor.workers() {
                sender.send(worker.pid).unwrap();
            }
            panic!("on purpose");
        });
    }));
    assert!(outcome.is_err());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let pids: Vec<u32> = pids.try_iter().collect();
    assert_eq!(pids.len(), 2);
    for pid in pids {
        assert!(runtime.block_on(has_ended(pid)));
    }
}

#[tokio::test]
async fn a_failure_that_the_first_process_does_not_notice_ends_the_run() {
    let fixture = Fixture::new();
    let mut supervisor = fixture.spawn(&["sleep 1000", "exit 0", "exit 3"]);
    let exit = run_exit(&mut supervisor, Duration::from_millis(10)).await;
    let RunExit::Unnoticed { name, status } = exit else {
        panic!("the first process did not end");
    };
    assert_eq!((name.as_str(), status.code()), ("p2", Some(3)));
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let fixture = Fixture::new();
    let command = WorkerCommand {
        name: "s1".into(),
        role: Role::Secondary,
        arguments: Vec::new(),
        environment: std::collections::BTreeMap::new(),
        remote: None,
    };
    let program = Path::new("/nonexistent/worker");
    let (logs, lines) = (&fixture.logs, &fixture.sender);
    let error = Supervisor::spawn(program, &[command], logs, lines, LossPolicy::Stop).unwrap_err();
    assert!(
        error.to_string().contains("/nonexistent/worker as s1"),
        "{error}"
    );
}

const RESTARTS: LossPolicy = LossPolicy::Recover {
    restarts_per_minute: 2,
};

#[tokio::test]
async fn a_process_that_is_killed_is_told_and_started_again_until_it_is_too_often() {
    let fixture = Fixture::new();
    let mut supervisor = fixture.spawn_with(&["sleep 1000", "kill -9 $$"], RESTARTS);
    let mut told = Vec::new();
    let reason = loop {
        match change(&mut supervisor, NOTICE_GRACE).await {
            Change::Ended(death) => told.push(death.how()),
            Change::Restarted(worker) => told.push(format!("{} again", worker.name)),
            Change::Abandoned(reason) => break reason,
            Change::Over(exit) => panic!("{exit:?}"),
        }
    };
    let (killed, again) = ("was killed by SIGKILL", "p1 again");
    assert_eq!(told, [killed, again, killed, again, killed]);
    assert_eq!(
        reason,
        "p1 is not started again: it was started again 2 times within a minute"
    );
}

#[tokio::test]
async fn a_process_that_says_why_it_panicked_is_told_with_its_words() {
    let fixture = Fixture::new();
    let script = "echo \"thread 'main' panicked at a.rs:1:1:\" >&2; echo boom >&2; exit 101";
    let mut supervisor = fixture.spawn_with(&["sleep 1000", script], RESTARTS);
    let Change::Ended(death) = change(&mut supervisor, NOTICE_GRACE).await else {
        panic!("it ended")
    };
    let expected = "exited with code 101: panicked at a.rs:1:1: boom";
    assert_eq!(
        (death.how().as_str(), death.is_orderly()),
        (expected, false)
    );
}

#[tokio::test]
async fn a_process_that_left_well_is_not_started_again_and_none_is_while_the_run_ends() {
    let fixture = Fixture::new();
    let go = fixture.logs.join("go");
    let first = format!(
        "until [ -e '{}' ]; do sleep 0.05; done; exit 4",
        go.display()
    );
    let mut supervisor = fixture.spawn_with(&[first.as_str(), "exit 0", "exit 7"], RESTARTS);
    supervisor.end_restarts();
    let Change::Ended(death) = change(&mut supervisor, NOTICE_GRACE).await else {
        panic!("p2 ended")
    };
    assert_eq!(death.name, "p2");
    std::fs::write(go, "").unwrap();
    let over = change(&mut supervisor, NOTICE_GRACE).await;
    assert!(matches!(over, Change::Over(RunExit::First(_))), "{over:?}");
}

#[tokio::test]
async fn a_stopped_process_that_the_run_has_lost_is_replaced() {
    let fixture = Fixture::new();
    let mut supervisor = fixture.spawn_with(&["sleep 1000", "kill -STOP $$; exit 0"], RESTARTS);
    let pid = supervisor.workers()[1].pid;
    supervisor.replace("p1", pid + 1);
    supervisor.replace("p1", pid);
    let Change::Ended(death) = change(&mut supervisor, NOTICE_GRACE).await else {
        panic!("p1 was killed")
    };
    assert_eq!(death.how(), "was killed to be replaced");
    let Change::Restarted(worker) = change(&mut supervisor, NOTICE_GRACE).await else {
        panic!("p1 is started again")
    };
    assert_ne!(worker.pid, pid);
}

#[tokio::test]
async fn nobody_is_started_again_while_restarts_are_held() {
    let fixture = Fixture::new();
    let mut supervisor = fixture.spawn_with(&["sleep 1000", "kill -9 $$"], RESTARTS);
    let ended = change(&mut supervisor, NOTICE_GRACE).await;
    assert!(matches!(ended, Change::Ended(_)), "{ended:?}");
    supervisor.hold_restarts(true);
    let held = timeout(Duration::from_secs(1), supervisor.change(NOTICE_GRACE));
    assert!(held.await.is_err(), "it was due after less than that");
    supervisor.hold_restarts(false);
    let started = change(&mut supervisor, NOTICE_GRACE).await;
    assert!(matches!(started, Change::Restarted(_)), "{started:?}");
    supervisor.kill_first();
    assert!(matches!(
        run_exit(&mut supervisor, NOTICE_GRACE).await,
        RunExit::First(_)
    ));
}
