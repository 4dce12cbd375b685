//! Shows that a run outlives its view and the terminal that it was started in, and never outlives
//! the process that keeps it. Real processes are started as users start them, some of them in real
//! pseudo-terminals, and left, lost and killed.

use std::os::unix::fs::FileTypeExt;

use portable_pty::CommandBuilder;
use serde_json::Value;
use tests::processes::{Process, Scratch, binary, is_running, own_settings, send_signal, wait_for};
use tests::repository;
use tests::screen::Screen;

fn phalanx(scratch: &Scratch, arguments: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(binary("phalanx"));
    command.args(arguments);
    command.env("PHALANX_RUNTIME_DIR", scratch.path(""));
    command.env("PHALANX_CONFIG", own_settings());
    command.env("TERM", "xterm-256color");
    command.env_remove("NO_COLOR");
    command.cwd(repository::root());
    command
}

fn view(scratch: &Scratch, arguments: &[&str]) -> Screen {
    Screen::start(phalanx(scratch, arguments), 30, 100)
}

/// Returns what is written down about run `r`.
fn record(scratch: &Scratch) -> Value {
    let text = std::fs::read_to_string(scratch.path("r/run.json")).expect("the run is known");
    serde_json::from_str(&text).expect("the record is JSON")
}

/// Returns the process ids of the workers of run `r`, and of its run daemon.
fn pids(scratch: &Scratch) -> Vec<u32> {
    let record = record(scratch);
    let workers = record["workers"]
        .as_array()
        .expect("a list of workers")
        .iter();
    let all = workers.map(|worker| &worker["pid"]).chain([&record["pid"]]);
    all.map(|pid| u32::try_from(pid.as_u64().expect("a pid")).expect("pids are small"))
        .collect()
}

fn assert_goes_on(pids: &[u32]) {
    assert_eq!(pids.len(), 4);
    assert!(pids.iter().all(|pid| is_running(*pid)), "the run goes on");
}

fn wait_until_gone(pids: &[u32]) {
    for pid in pids {
        wait_for(&format!("{pid} is gone"), || !is_running(*pid));
    }
}

/// Starts run `r` without a view and waits until it runs.
fn detached(scratch: &Scratch, arguments: &[&str]) -> Vec<u32> {
    let mut all = vec!["run", "--detach", "--name", "r"];
    all.extend_from_slice(arguments);
    let (code, stdout, stderr) = scratch.phalanx_says(&all);
    assert_eq!((code, stdout.as_str()), (0, "r\n"), "{stderr}");
    wait_for_state(scratch, "running");
    pids(scratch)
}

/// Returns run `r` as `ps` lists it.
fn listed(scratch: &Scratch) -> Value {
    let (_, stdout, _) = scratch.phalanx_says(&["ps", "--format", "json"]);
    let runs: Value = serde_json::from_str(&stdout).expect("the list is JSON");
    let mut runs = runs.as_array().expect("a list").iter();
    runs.find(|run| run["name"] == "r")
        .cloned()
        .unwrap_or_default()
}

/// Waits until `ps` says a state of run `r`: its primary may not be heard at once.
fn wait_for_state(scratch: &Scratch, state: &str) {
    wait_for(&format!("the run is {state}"), || {
        listed(scratch)["state"] == state
    });
}

fn start(scratch: &Scratch, name: &str, arguments: &[&str]) -> Process {
    let mut command = scratch.phalanx();
    command.args(arguments);
    scratch.start(name, &mut command)
}

#[test]
fn a_run_is_left_listed_watched_again_and_stopped() {
    let scratch = Scratch::new();
    let mut first = view(&scratch, &["run", "--name", "r"]);
    first.wait_for("RUNNING");
    first.press("d");
    let (code, restored) = first.wait();
    assert_eq!((code, restored), (0, true), "{}", first.contents());
    let said = first.contents();
    assert!(said.contains("phalanx attach r"), "{said}");
    let pids = pids(&scratch);
    assert_goes_on(&pids);
    wait_for_state(&scratch, "running");
    wait_for("its iterations are listed", || {
        let run = listed(&scratch);
        assert_eq!(run["living"], true);
        run["iteration"].as_u64() > Some(0)
    });
    let mut second = view(&scratch, &["attach"]);
    second.wait_for("RUNNING");
    second.press("9z");
    second.wait_for("phalanx");
    second.press("S");
    second.wait_for("Stop the run");
    second.press("y");
    second.wait_for("COMPLETED");
    second.press("q");
    assert_eq!(second.wait(), (0, true), "{}", second.contents());
    wait_until_gone(&pids);
    wait_for_state(&scratch, "completed");
}

#[test]
fn a_run_goes_on_when_its_terminal_is_closed_or_its_view_is_killed() {
    let scratch = Scratch::new();
    let stops = ["run", "--name", "r", "--on-peer-loss", "stop"];
    let mut screen = view(&scratch, &stops);
    screen.wait_for("RUNNING");
    let pids = pids(&scratch);
    screen.hang_up();
    assert_goes_on(&pids);
    let mut again = view(&scratch, &["attach", "r"]);
    again.wait_for("RUNNING");
    send_signal(again.pid(), "KILL");
    again.wait();
    assert_goes_on(&pids);
    let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r", "stop"]);
    assert_eq!(code, 0, "{stderr}");
    wait_until_gone(&pids);
}

#[test]
fn a_run_daemon_that_is_killed_leaves_no_process_and_its_views_say_so() {
    let scratch = Scratch::new();
    let pids = detached(&scratch, &[]);
    let mut screen = view(&scratch, &["attach", "r"]);
    screen.wait_for("RUNNING");
    send_signal(pids[3], "KILL");
    wait_until_gone(&pids);
    for part in ["PEER LOST", "was killed", "run again"] {
        screen.wait_for(part);
    }
    screen.press("q");
    assert_eq!(screen.wait(), (0, true));
    wait_for_state(&scratch, "killed");
}

#[test]
fn programs_do_not_outlive_a_run_daemon_that_is_killed() {
    let scratch = Scratch::new();
    let file = scratch.path("run.toml");
    // The one ignores what asks it to end, the other leaves a child behind.
    let text = "[[program]]\nname = 'deaf'\ncommand = 'sh'\n\
                args = ['-c', \"trap '' TERM HUP; echo $$ > $OUT/deaf; \
                while :; do sleep 1; done\"]\n\
                [[program]]\nname = 'parent'\ncommand = 'sh'\n\
                args = ['-c', 'sleep 1000 & echo $! > $OUT/child; exit 0']\n";
    std::fs::write(
        &file,
        text.replace("$OUT", &scratch.path("").display().to_string()),
    )
    .expect("a file can be written");
    let pids = detached(&scratch, &[&file.display().to_string()]);
    let pid_in = |name: &str| {
        let mut pid = None;
        wait_for(&format!("{name} has begun"), || {
            let text = std::fs::read_to_string(scratch.path(name)).unwrap_or_default();
            pid = text.trim().parse().ok();
            pid.is_some()
        });
        pid.expect("it has begun")
    };
    let (deaf, child) = (pid_in("deaf"), pid_in("child"));
    wait_for("the child of a program that has ended is gone", || {
        !is_running(child)
    });
    assert!(is_running(deaf));
    send_signal(pids[3], "KILL");
    wait_until_gone(&pids);
    wait_until_gone(&[deaf]);
}

#[test]
fn the_view_that_started_a_run_ends_as_the_run_does() {
    let scratch = Scratch::new();
    let ending = ["run", "--name", "r", "--iterations", "300"];
    let mut screen = view(&scratch, &ending);
    screen.wait_for("COMPLETED");
    screen.wait_for("300 (0.300 s simulated)");
    screen.press("q");
    assert_eq!(screen.wait(), (0, true));
    assert!(
        screen.contents().contains("digest"),
        "{}",
        screen.contents()
    );

    let stops = ["run", "--name", "r", "--on-peer-loss", "stop"];
    let mut screen = view(&scratch, &stops);
    screen.wait_for("RUNNING");
    let pids = pids(&scratch);
    send_signal(pids[2], "KILL");
    screen.wait_for("PEER LOST");
    screen.press("b");
    screen.wait_for("ENDED");
    screen.press("q");
    assert_eq!(screen.wait(), (4, true), "{}", screen.contents());
    wait_until_gone(&pids);
}

#[test]
fn a_signal_to_an_attached_view_ends_the_view_alone() {
    let scratch = Scratch::new();
    let pids = detached(&scratch, &[]);
    for signal in ["TERM", "INT"] {
        let mut screen = view(&scratch, &["attach", "r"]);
        screen.wait_for("RUNNING");
        send_signal(screen.pid(), signal);
        assert_eq!(screen.wait(), (130, true), "{signal}");
    }
    assert_goes_on(&pids);
}

#[test]
fn errors_before_the_start_are_printed_where_it_was_started() {
    let scratch = Scratch::new();
    let check = |arguments: &[&str], expected: (i32, &str)| {
        let mut all = vec!["run", "--detach"];
        all.extend_from_slice(arguments);
        let (code, _, stderr) = scratch.phalanx_says(&all);
        assert_eq!(code, expected.0, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected.1), "{arguments:?}: {stderr}");
    };
    check(&["no-such.sdf"], (3, "no such file"));
    check(&["--name", "a/b"], (2, "--name"));
    check(&["--events", "-"], (2, "--headless"));
    check(&["--events", "/no/such/folder/e"], (3, "/no/such/folder/e"));
    let pids = detached(&scratch, &[]);
    check(&["--name", "r"], (1, "a run named r is living"));
    assert_goes_on(&pids);
    let mut command = scratch.phalanx();
    command
        .args(["run", "--detach"])
        .env("PHALANX_WORKER", "/no/such/worker");
    let output = command.output().expect("phalanx starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/no/such/worker"), "{said}");
}

#[test]
fn a_view_that_only_watches_changes_nothing() {
    let scratch = Scratch::new();
    detached(&scratch, &[]);
    let mut screen = view(&scratch, &["attach", "r", "--read-only"]);
    screen.wait_for("RUNNING");
    screen.press(" ");
    screen.wait_for("only watches");
    screen.press("q");
    assert_eq!(screen.wait(), (0, true));
    wait_for_state(&scratch, "running");
}

#[test]
fn logs_are_printed_of_living_and_ended_runs_and_followed_to_the_end() {
    let scratch = Scratch::new();
    let pids = detached(&scratch, &[]);
    let mut follower = start(
        &scratch,
        "follower",
        &["show", "r", "logs", "--follow", "--format", "json"],
    );
    let logs_of_s1 = || scratch.phalanx_says(&["show", "r", "logs", "--process", "s1"]);
    wait_for("s1 has said something", || logs_of_s1().1.contains('\n'));
    let (code, stdout, _) = logs_of_s1();
    assert_eq!(code, 0);
    assert!(
        stdout.lines().all(|line| line.starts_with("s1 ")),
        "{stdout}"
    );
    let (code, _, stderr) = scratch.phalanx_says(&["show", "r", "logs", "--process", "s9"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("phalanx, primary, s1, s2"), "{stderr}");
    assert_eq!(scratch.phalanx_says(&["ctl", "r", "stop"]).0, 0);
    assert_eq!(follower.wait(), 0, "{}", follower.stderr());
    let printed = follower.stdout();
    let last = printed.lines().last().expect("lines were followed");
    let last: Value = serde_json::from_str(last).expect("each line is JSON");
    assert_eq!(last["process"], "phalanx", "{printed}");
    wait_until_gone(&pids);
    let arguments = ["show", "r", "logs", "--lines", "3", "--format", "json"];
    let (code, stdout, _) = scratch.phalanx_says(&arguments);
    let lines: Value = serde_json::from_str(&stdout).expect("an array");
    assert_eq!(
        (code, lines.as_array().map(Vec::len)),
        (0, Some(3)),
        "{stdout}"
    );
}

#[test]
fn events_are_written_as_json_lines() {
    let scratch = Scratch::new();
    let arguments = [
        "run",
        "--headless",
        "--name",
        "r",
        "--iterations",
        "3000",
        "--real-time-factor",
        "0",
        "--events",
        "-",
    ];
    let (code, stdout, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{stderr}");
    let events: Vec<Value> = stdout
        .lines()
        .take_while(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    assert_is_told_from_first_to_last(&events);
    for event in &events {
        let kinds = (
            &event["iteration"],
            &event["severity"],
            &event["kind"],
            &event["text"],
        );
        assert!(kinds.0.is_u64(), "{event}");
        for text in [kinds.1, kinds.2, kinds.3] {
            assert!(text.is_string(), "{event}");
        }
    }
}

#[test]
fn events_are_written_to_the_end_of_an_interrupted_run() {
    let scratch = Scratch::new();
    let file = scratch.path("events.jsonl");
    let path = file.to_str().expect("a plain path");
    let mut run = start(
        &scratch,
        "run",
        &["run", "--headless", "--name", "r", "--events", path],
    );
    wait_for_state(&scratch, "running");
    run.signal("INT");
    assert_eq!(run.wait(), 130, "{}", run.stderr());
    let text = std::fs::read_to_string(&file).expect("events were written");
    let read = |line| serde_json::from_str(line).expect("each line is JSON");
    let events: Vec<Value> = text.lines().map(read).collect();
    assert_is_told_from_first_to_last(&events);
}

/// Looks that events begin with the first that a run tells and end with why it ends, and that none
/// is told twice.
fn assert_is_told_from_first_to_last(events: &[Value]) {
    let (first, last) = (events.first(), events.last());
    assert_eq!(
        first.expect("there are events")["kind"],
        "peer",
        "{events:?}"
    );
    let last = last.expect("there are events");
    assert_eq!(last["kind"], "run", "{events:?}");
    let text = last["text"].as_str().expect("it has a text");
    assert!(!text.contains("are ready"), "{events:?}");
    for (index, event) in events.iter().enumerate() {
        assert!(!events[..index].contains(event), "{event} is told twice");
    }
}

#[test]
fn a_view_follows_a_primary_that_is_started_again() {
    let scratch = Scratch::new();
    let primary = |world: &str, endpoint: &str| {
        let mut command = std::process::Command::new(binary("worker"));
        command.args(["--bind", endpoint, "--insecure"]);
        command.arg(repository::root().join("worlds").join(world));
        scratch.start(world, &mut command)
    };
    let first = primary("ramp.sdf", "tcp://127.0.0.1:0");
    let line = first.wait_for_stderr("tcp://127.0.0.1:");
    let endpoint = line[line.find("tcp://").expect("it was just found")..].to_owned();
    let mut screen = view(&scratch, &["attach", &endpoint]);
    screen.wait_for("world ramp");
    first.signal("KILL");
    screen.wait_for("DISCONNECTED");
    drop(first);
    let _second = primary("crossing.sdf", &endpoint);
    screen.wait_for("world crossing");
    let shown = screen.wait_for("connected");
    assert!(
        !shown.contains("barrel"),
        "rows of the first run are left:\n{shown}"
    );
    screen.press("q");
    assert_eq!(screen.wait(), (0, true));
}

/// Returns a world that keeps moving, and the arguments that run it at a pace.
fn long_run<'a>(digests: &'a str, secondaries: &'a str, pace: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["worlds/ramp.sdf", "--iterations", "3000"];
    arguments.extend(["--real-time-factor", pace, "--secondaries", secondaries]);
    arguments.extend(["--digests", digests]);
    arguments
}

fn text(path: &std::path::Path) -> &str {
    path.to_str().expect("a path of a test is text")
}

fn log(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path(&format!("r/logs/{name}.log"))).unwrap_or_default()
}

fn wait_for_log(scratch: &Scratch, wanted: &str) {
    let what = format!("the run daemon says {wanted:?}");
    wait_for(&what, || log(scratch, "phalanx").contains(wanted));
}

#[test]
fn a_primary_that_hangs_is_told_then_killed_and_its_run_resumed() {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let file = scratch.path("run.toml");
    let world = repository::root().join("worlds/ramp.sdf");
    let run = format!(
        "[run]\nworld = {:?}\n[network]\nheartbeat_timeout_ms = 2000\nstep_timeout_s = 20\n",
        text(&world)
    );
    std::fs::write(&file, run).expect("a file can be written");
    let mut arguments = long_run(text(&digests), "2", "0.1");
    arguments[0] = text(&file);
    let pids = detached(&scratch, &arguments);
    let mut screen = view(&scratch, &["attach", "r"]);
    screen.wait_for("RUNNING");
    send_signal(pids[0], "STOP");
    screen.wait_for("DISCONNECTED");
    wait_for_log(&scratch, "has published nothing for");
    assert_eq!(listed(&scratch)["state"], "silent");
    wait_until_gone(&pids);
    screen.wait_for("PEER LOST");
    let ended = &listed(&scratch)["ended"];
    assert_eq!(ended["exit_code"], 4, "{ended}");
    let cause = ended["cause"].as_str().expect("it has a cause");
    assert!(cause.contains("its process is stopped"), "{cause}");
    let said = log(&scratch, "phalanx");
    let restarts = said.lines().filter(|line| line.contains("again (pid"));
    assert_eq!(restarts.count(), 0, "nobody would welcome them:\n{said}");
    let (code, _, stderr) = scratch.phalanx_says(&["resume", "r", "--headless"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(
        std::fs::read_to_string(&digests).expect("digests are written"),
        undisturbed(&scratch)
    );
}

/// Returns the digests of that run when nothing disturbs it.
fn undisturbed(scratch: &Scratch) -> String {
    let file = scratch.path("undisturbed");
    let mut arguments = vec!["run", "--headless", "--name", "u"];
    arguments.extend(long_run(text(&file), "0", "0"));
    let (code, _, stderr) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{stderr}");
    std::fs::read_to_string(file).expect("digests are written")
}

#[test]
fn a_primary_that_hung_for_a_while_goes_on_with_the_same_digests() {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let mut arguments = long_run(text(&digests), "2", "0.1");
    arguments.extend(["--heartbeat-timeout-ms", "2000", "--step-timeout", "120"]);
    let pids = detached(&scratch, &arguments);
    send_signal(pids[0], "STOP");
    // The secondaries leave, and nobody is started in their place yet.
    wait_for_log(&scratch, "has published nothing for");
    wait_until_gone(&pids[1..3]);
    send_signal(pids[0], "CONT");
    wait_for_log(&scratch, "is heard again after");
    wait_for_log(&scratch, "started s1 again");
    let hurry = ["ctl", "r", "set-real-time-factor", "0"];
    let (code, _, stderr) = scratch.phalanx_says(&hurry);
    assert_eq!(code, 0, "{stderr}");
    wait_for("the run ends", || listed(&scratch)["living"] == false);
    assert_eq!(listed(&scratch)["state"], "completed");
    assert_eq!(
        std::fs::read_to_string(&digests).expect("digests are written"),
        undisturbed(&scratch)
    );
}

#[test]
fn a_run_whose_primary_hangs_is_ended_by_stop() {
    let scratch = Scratch::new();
    let pids = detached(&scratch, &[]);
    send_signal(pids[0], "STOP");
    let (code, stdout, stderr) = scratch.phalanx_says(&["ctl", "r", "stop"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("does not answer"), "{stdout}");
    wait_until_gone(&pids);
    assert_eq!(listed(&scratch)["ended"]["exit_code"], 130);
}

#[test]
fn a_command_sees_the_effect_of_the_one_before() {
    let scratch = Scratch::new();
    for _ in 0..3 {
        let start = ["run", "--detach", "--name", "r", "--paused"];
        let (code, _, stderr) = scratch.phalanx_says(&start);
        assert_eq!(code, 0, "{stderr}");
        let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r", "step", "10"]);
        assert_eq!(code, 0, "all who take part are there: {stderr}");
        let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r", "stop"]);
        assert_eq!(code, 0, "{stderr}");
        let left = std::fs::read_dir(scratch.path("r")).expect("the run has a folder");
        let mut kinds = left.map(|entry| entry.and_then(|entry| entry.file_type()));
        let is_socket = |kind: std::io::Result<std::fs::FileType>| {
            kind.expect("a folder can be read").is_socket()
        };
        assert!(!kinds.any(is_socket), "no socket is left");
    }
}

#[test]
fn a_detached_run_that_cannot_begin_says_why_where_it_was_started() {
    let scratch = Scratch::new();
    let file = scratch.path("no/such/folder/digests");
    let start = ["run", "--detach", "--digests", text(&file)];
    let (code, stdout, stderr) = scratch.phalanx_says(&start);
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.contains("no/such/folder"), "{stderr}");
}

#[test]
fn a_primary_whose_stepper_is_stuck_is_told_and_goes_on_when_it_can() {
    let scratch = Scratch::new();
    let pipe = scratch.path("digests");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is a program mkfifo").success());
    let both = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe);
    let mut reader = both.expect("a pipe can be opened");
    // Nobody reads, so that the stepper waits as soon as the pipe is full.
    let run = ["run", "--detach", "--name", "r", "--real-time-factor", "0"];
    let silences = ["--heartbeat-timeout-ms", "6000", "--step-timeout", "120"];
    let stuck = ["--digests", text(&pipe)];
    let (code, _, stderr) = scratch.phalanx_says(&[&run[..], &silences, &stuck].concat());
    assert_eq!(code, 0, "{stderr}");
    let pids = pids(&scratch);
    let mut screen = view(&scratch, &["attach", "r"]);
    wait_for_log(&scratch, "does no step, though its heart beats");
    assert_goes_on(&pids);
    assert_eq!(listed(&scratch)["state"], "silent");
    screen.wait_for("STALLED");
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    wait_for_log(&scratch, "is heard again after");
    assert_goes_on(&pids);
    let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r", "stop"]);
    assert_eq!(code, 0, "{stderr}");
}
