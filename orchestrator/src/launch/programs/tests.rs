//! Tests of programs with shells as stand-ins.

use std::collections::BTreeMap;

use rustix::process::{Pid, test_kill_process};
use tokio::time::timeout;

use super::*;

struct Fixture {
    folder: tempfile::TempDir,
    lines: mpsc::Receiver<LogLine>,
    programs: Programs,
}

fn plan(name: &str, script: &str) -> Program {
    Program {
        name: name.to_owned(),
        command: "sh".into(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        environment: BTreeMap::new(),
        folder: None,
        world: None,
        joins: None,
        is_critical: false,
    }
}

impl Fixture {
    fn new(plans: Vec<Program>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, lines) = mpsc::channel(100);
        let context = ProgramContext {
            run: "a".to_owned(),
            endpoint: "ipc:///run/a".to_owned(),
            logs: folder.path().to_owned(),
            lines: sender,
        };
        Self {
            folder,
            lines,
            programs: Programs::new(plans, context),
        }
    }

    async fn line(&mut self) -> LogLine {
        let line = timeout(Duration::from_mins(2), self.lines.recv()).await;
        line.expect("a line came in time")
            .expect("logs are followed")
    }

    async fn end(&mut self) -> ProgramEnd {
        let end = timeout(Duration::from_mins(2), self.programs.end()).await;
        end.expect("a program ended in time")
    }
}

fn is_alive(pid: &str) -> bool {
    let pid: i32 = pid.parse().unwrap();
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

#[tokio::test]
async fn a_program_knows_its_run_and_its_lines_are_told_and_kept() {
    let mut told = plan(
        "teller",
        "echo $PHALANX_RUN $PHALANX_ENDPOINT $PHALANX_WORLD $X; pwd",
    );
    told.environment.insert("X".to_owned(), "5".to_owned());
    told.world = Some("w".to_owned());
    told.folder = Some("/".into());
    let mut fixture = Fixture::new(vec![told]);
    fixture.programs.start();
    let line = fixture.line().await;
    assert_eq!(line.process, "teller");
    assert_eq!(line.text, "a ipc:///run/a w 5");
    assert_eq!(fixture.line().await.text, "/");
    let log = std::fs::read_to_string(fixture.folder.path().join("teller.log")).unwrap();
    assert_eq!(log, "a ipc:///run/a w 5\n/\n");
    assert_eq!(fixture.end().await.describe(), "program teller has ended");
}

#[tokio::test]
async fn a_failure_is_told_once_and_ends_a_run_if_it_is_critical() {
    let mut critical = plan("critical", "exit 3");
    critical.is_critical = true;
    let mut fixture = Fixture::new(vec![critical, plan("sleeper", "exec sleep 1000")]);
    fixture.programs.start();
    let end = fixture.end().await;
    assert_eq!(end.describe(), "program critical failed: exit code 3");
    assert!(end.ends_run());
    let more = timeout(Duration::from_millis(50), fixture.programs.end());
    assert!(more.await.is_err(), "only one has ended");
    fixture.programs.stop().await;
}

#[tokio::test]
async fn what_cannot_be_started_has_failed() {
    let mut missing = plan("missing", "");
    missing.command = "/no/such/program".into();
    let mut fixture = Fixture::new(vec![missing]);
    fixture.programs.start();
    let end = fixture.end().await;
    let text = end.describe();
    assert!(text.contains("cannot start /no/such/program"), "{text}");
    assert!(!end.ends_run());
}

#[tokio::test]
async fn programs_and_their_children_end_with_the_run_even_stubborn_ones() {
    let stubborn = "trap '' TERM; sleep 1000 & echo $!; echo $$; wait; wait; sleep 1000";
    let mut fixture = Fixture::new(vec![plan("stubborn", stubborn)]);
    fixture.programs.start();
    let pids = [fixture.line().await.text, fixture.line().await.text];
    assert!(pids.iter().all(|pid| is_alive(pid)));
    timeout(Duration::from_mins(2), fixture.programs.stop())
        .await
        .expect("all ended in time");
    assert!(!is_alive(&pids[1]), "it was killed");
}

#[tokio::test]
async fn a_program_that_is_kept_up_is_started_again_until_it_fails_too_often() {
    let mut fixture = Fixture::new(Vec::new());
    let failing = plan("services", "echo begun; exit 7");
    fixture.programs.keep_up(failing, 2);
    fixture.programs.start();
    for _ in 0..2 {
        let text = fixture.end().await.describe();
        let begin = "program services failed: exit code 7; it is started again in ";
        assert!(text.starts_with(begin), "{text}");
    }
    let text = fixture.end().await.describe();
    let expected = "program services failed: exit code 7; it is left: it was started again 2 times \
                    within a minute";
    assert_eq!(text, expected);
    for _ in 0..3 {
        assert_eq!(fixture.line().await.text, "begun");
    }
}

#[tokio::test]
async fn a_program_that_is_kept_up_is_left_when_it_ended_by_itself_or_the_run_ends() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.programs.keep_up(plan("done", "exit 0"), 5);
    fixture.programs.start();
    assert_eq!(fixture.end().await.describe(), "program done has ended");
    let more = timeout(Duration::from_millis(50), fixture.programs.end());
    assert!(more.await.is_err(), "it is not started again");
    fixture
        .programs
        .keep_up(plan("killed", "echo $$; kill -9 $$"), 5);
    fixture.programs.start();
    fixture.line().await;
    fixture.end().await;
    fixture.programs.stop().await;
    let more = timeout(Duration::from_millis(700), fixture.programs.end());
    assert!(more.await.is_err(), "it is not started after the end");
    let log = std::fs::read_to_string(fixture.folder.path().join("killed.log")).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[tokio::test]
async fn nothing_starts_after_the_end() {
    let mut fixture = Fixture::new(vec![plan("late", "echo late")]);
    fixture.programs.stop().await;
    fixture.programs.start();
    assert!(!fixture.folder.path().join("late.log").exists());
}
