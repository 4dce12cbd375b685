//! Shows what users get for wrong input, one clear error, the documented exit code and nothing
//! started, and that no process outlives a run. Runs the real program with a runtime folder of its
//! own, without a worker or with a shell script in its place.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A worker that says that it is up, and waits for the end of its lifeline.
const PATIENT_WORKER: &str = "#!/bin/sh\necho up\ncat\necho lifeline ended\n";

/// A worker that hears neither signals nor its lifeline.
const DEAF_WORKER: &str = "#!/bin/sh\ntrap '' TERM INT HUP\necho up\nwhile :; do sleep 1; done\n";

struct TestDir {
    folder: tempfile::TempDir,
}

impl TestDir {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
        }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("the temporary folder can be written to");
        path.display().to_string()
    }

    /// Writes a program by another process: a child that another test starts at the same moment
    /// has the files for a moment that this one writes, and what is written cannot be started.
    fn program(&self, name: &str, script: &str) -> String {
        let path = self.folder.path().join(name).display().to_string();
        let mut command = Command::new("sh");
        command.args(["-c", "printf %s \"$1\" > \"$0\" && chmod 700 \"$0\""]);
        let written = command.args([path.as_str(), script]).status();
        assert!(written.expect("there is a shell").success(), "{path}");
        path
    }

    fn phalanx(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phalanx"));
        command
            .args(arguments)
            .stdin(Stdio::null())
            .env("PHALANX_RUNTIME_DIR", self.folder.path().join("runs"))
            .env("PHALANX_CONFIG", "/dev/null")
            .env("PHALANX_WORKER", "/nonexistent/worker");
        command
    }

    /// Checks exit code, empty stdout and a word of the error.
    fn refuses(&self, arguments: &[&str], code: i32, part: &str) {
        let output = self.phalanx(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
    }

    /// Starts a headless run named `run` whose workers are this script, and waits until all of
    /// them are up.
    fn start(&self, script: &str) -> Child {
        let worker = self.program("worker", script);
        let child = self
            .command(&["run", "--headless", "--format", "json", "--name", "run"])
            .env("PHALANX_WORKER", worker)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        for name in ["primary", "s1", "s2"] {
            until(|| self.log(name).contains("up"));
        }
        until(|| self.run_file("run.json").contains("s2"));
        child
    }

    fn run_file(&self, name: &str) -> String {
        let path = self.folder.path().join("runs/run").join(name);
        std::fs::read_to_string(path).unwrap_or_default()
    }

    fn log(&self, process: &str) -> String {
        self.run_file(&format!("logs/{process}.log"))
    }

    /// Returns the process ids of the run's workers.
    fn workers(&self) -> Vec<u64> {
        let record: serde_json::Value =
            serde_json::from_str(&self.run_file("run.json")).expect("the record is JSON");
        let workers = record["workers"]
            .as_array()
            .expect("the record names the workers");
        workers
            .iter()
            .filter_map(|worker| worker["pid"].as_u64())
            .collect()
    }

    /// Tells whether no run has a folder.
    fn has_no_run(&self) -> bool {
        let runs = self.folder.path().join("runs");
        std::fs::read_dir(runs).map_or(true, |mut runs| runs.next().is_none())
    }
}

/// Waits for a condition, with a bound that only a failure reaches.
fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(5);
    while !condition() {
        assert!(
            Instant::now() < deadline,
            "what was waited for did not happen"
        );
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Tells whether a process is there and not merely unburied.
fn is_alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| !matches!(state, "Z" | "X"))
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).expect("the program is running");
}

fn world(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../worlds")
        .join(name);
    path.display().to_string()
}

#[test]
fn a_missing_file_is_a_configuration_error_and_nothing_is_started() {
    let place = TestDir::new();
    place.refuses(
        &["run", "missing.sdf"],
        3,
        "error: no such file: missing.sdf",
    );
    place.refuses(
        &["missing.toml", "--headless"],
        3,
        "error: no such file: missing.toml",
    );
    place.refuses(&["check", "missing.sdf"], 3, "no such file: missing.sdf");
    let config = place.file("run.toml", "[run]\nworld = 'gone.sdf'\n");
    place.refuses(&["run", &config, "--headless"], 3, "gone.sdf");
    assert!(place.has_no_run());
}

#[test]
fn an_unknown_key_in_a_run_file_is_named_with_its_line_and_column() {
    let place = TestDir::new();
    let config = place.file("run.toml", "[run]\nseed = 1\nitterations = 5\n");
    place.refuses(&["run", &config, "--headless"], 3, "run.toml:3:1: ");
    place.refuses(&["run", &config, "--headless"], 3, "itterations");
    assert!(place.has_no_run());
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let place = TestDir::new();
    place.refuses(&["run", "--secondarys", "2"], 2, "--secondarys");
    place.refuses(&["run", "--iterations", "0"], 2, "--iterations");
    place.refuses(&["run", "--format", "json"], 2, "--headless");
    place.refuses(&["run", "--headless", "--name", "a/b"], 2, "--name");
    place.refuses(&["ctl", "ramp-1", "fly"], 2, "fly");
    place.refuses(&["ctl", "move-cell", "west"], 2, "move-cell needs a level");
    place.refuses(
        &["ctl", "play", "--size", "1", "1", "1"],
        2,
        "set-performer",
    );
    place.refuses(&["ctl", "set-pose", "box", "1"], 2, "three or six");
    place.refuses(&["ctl", "remove", "box", "--axis", "1"], 2, "set-joint");
    place.refuses(&["topic", "echo", "cmd_vel"], 2, "begins with /");
    place.refuses(&["topic", "pub", "/a", "{}", "--rate", "0"], 2, "above 0");
    place.refuses(&["run", "--balance", "maybe"], 2, "on or off");
    place.refuses(&["run", "--threads", "65"], 2, "--threads");
    place.refuses(&["diff", "a"], 2, "<B>");
    place.refuses(
        &["generate", "fleet", "--robots", "3", "--levels", "4"],
        2,
        "4x2",
    );
    place.refuses(&["attach", "http://here"], 2, "http://here");
    assert!(place.has_no_run());
}

#[test]
fn variables_stand_for_flags_and_commands_do_not_mind_them() {
    let place = TestDir::new();
    let run = place
        .command(&["run", "--headless"])
        .env("PHALANX_SECONDARIES", "many")
        .output();
    assert_eq!(run.unwrap().status.code(), Some(2));
    let ps = place
        .command(&["ps", "--format", "json"])
        .env("PHALANX_SECONDARIES", "3")
        .output();
    let ps = ps.unwrap();
    assert_eq!(
        ps.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ps.stderr)
    );
    assert_eq!(ps.stdout, b"[]\n");
}

#[test]
fn a_world_that_is_wrong_is_refused_before_anything_is_started() {
    let place = TestDir::new();
    let broken = place.file(
        "broken.sdf",
        "<sdf version='1.9'>\n  <world name='w'>\n</sdf>\n",
    );
    place.refuses(&["run", &broken, "--headless"], 3, "broken.sdf:");
    assert!(place.has_no_run());
}

#[test]
fn worlds_that_cannot_run_together_are_refused_by_name() {
    let place = TestDir::new();
    let world = |step: &str| {
        format!(
            "<sdf version='1.9'><world name='w'><physics type='ode'>\
             <max_step_size>{step}</max_step_size></physics></world></sdf>"
        )
    };
    let a = place.file("a.sdf", &world("0.001"));
    let b = place.file("b.sdf", &world("0.001"));
    let both = format!("{a} and {b} both hold a world named w");
    place.refuses(&["run", &a, &b, "--headless"], 3, &both);
    let c = place.file("c.sdf", &world("0.002").replace("'w'", "'c'"));
    place.refuses(&["run", &a, &c, "--headless"], 3, "step sizes");
    let config = place.file("run.toml", "[run]\nworld = ['a.sdf', 'b.sdf']\n");
    place.refuses(&["run", &config, "--headless"], 3, "b.sdf both hold");
    place.refuses(&["run", &config, &a, "--headless"], 2, "stands alone");
    assert!(place.has_no_run());
}

#[test]
fn a_world_with_levels_is_not_cut() {
    let place = TestDir::new();
    place.refuses(
        &[
            "run",
            &world("ramp.sdf"),
            "--headless",
            "--auto-levels",
            "4",
        ],
        3,
        "levels of its own",
    );
    assert!(place.has_no_run());
}

#[test]
fn a_comparison_tells_by_its_exit_code_what_it_found() {
    let place = TestDir::new();
    let line = |number: u32, digit: char| format!("{number} {}\n", String::from(digit).repeat(32));
    let a = place.file("a", &(line(1, '0') + &line(2, '0')));
    let b = place.file("b", &(line(1, '0') + &line(2, '1')));
    let equal = place.phalanx(&["diff", &a, &a]);
    assert_eq!(equal.status.code(), Some(0));
    assert_eq!(equal.stdout, b"equal: 2 iterations\n");
    let differs = place.phalanx(&["diff", &a, &b, "--format", "json"]);
    assert_eq!(differs.status.code(), Some(5));
    let verdict: serde_json::Value = serde_json::from_slice(&differs.stdout).unwrap();
    assert_eq!(
        (&verdict["equal"], &verdict["difference"]["iteration"]),
        (&false.into(), &2.into())
    );
    let short = place.file("short", &line(1, '0'));
    place.refuses(&["diff", &a, &short], 3, "short ends after iteration 1");
    let other = place.file("other", "hello");
    place.refuses(&["diff", &a, &other], 3, "neither a file of digests");
    place.refuses(&["diff", &a, "missing"], 3, "cannot read missing");
}

#[test]
fn a_view_without_a_terminal_is_refused_with_advice() {
    let place = TestDir::new();
    place.refuses(&["run", &world("ramp.sdf")], 2, "--headless");
    place.refuses(&[], 2, "--headless");
    assert!(place.has_no_run());
}

#[test]
fn a_missing_worker_program_is_named_with_advice() {
    let place = TestDir::new();
    place.refuses(
        &["run", "--headless"],
        1,
        "PHALANX_WORKER names /nonexistent/worker",
    );
    assert!(place.has_no_run());
}

#[test]
fn an_unknown_run_is_refused_by_every_command_that_needs_one() {
    let place = TestDir::new();
    place.refuses(&["ctl", "nowhere", "play"], 1, "no run is named nowhere");
    place.refuses(&["show", "nowhere", "stats"], 1, "no run is named nowhere");
    place.refuses(&["attach", "nowhere"], 1, "no run is named nowhere");
    place.refuses(&["topic", "list", "nowhere"], 1, "no run is named nowhere");
    place.refuses(&["service", "list", "nowhere"], 1, "no run is named");
    place.refuses(&["topic", "echo", "/a"], 1, "no run is living");
    place.refuses(&["ctl", "play"], 1, "no run is living");
    place.refuses(&["show", "stats"], 1, "no run is living");
}

#[test]
fn a_primary_that_does_not_answer_is_a_time_out() {
    let place = TestDir::new();
    let endpoint = format!("ipc://{}", place.folder.path().display());
    place.refuses(
        &["ctl", &endpoint, "play", "--timeout", "0.05"],
        6,
        "did not answer",
    );
    place.refuses(
        &["show", &endpoint, "stats", "--timeout", "0.05"],
        6,
        "did not answer",
    );
}

#[test]
fn a_generated_fleet_is_a_world_with_its_robots_and_levels() {
    let place = TestDir::new();
    let output = place.phalanx(&["generate", "fleet", "--robots", "7", "--levels", "2x3"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let read = sdf::read_worlds(&text, "fleet.sdf", &sdf::NoFiles).unwrap();
    assert_eq!(read.worlds[0].levels.len(), 6);
    let robots = read.worlds[0]
        .models
        .iter()
        .filter(|model| !model.is_static)
        .count();
    assert_eq!(robots, 7);
}

#[test]
fn generated_piles_are_a_world_with_their_boxes_and_levels() {
    let place = TestDir::new();
    let output = place.phalanx(&["generate", "piles", "--boxes", "12", "--levels", "2x2"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let read = sdf::read_worlds(&text, "piles.sdf", &sdf::NoFiles).unwrap();
    assert_eq!(read.worlds[0].levels.len(), 4);
    let boxes = read.worlds[0].models.iter();
    assert_eq!(boxes.filter(|model| !model.is_static).count(), 12);
}

#[test]
fn completions_are_written_for_a_shell() {
    let place = TestDir::new();
    let output = place.phalanx(&["completions", "bash"]);
    assert_eq!(output.status.code(), Some(0));
    let script = String::from_utf8_lossy(&output.stdout);
    assert!(script.contains("complete -F _phalanx_names"), "{script}");
}

#[test]
fn a_shell_is_told_what_may_come_next_and_never_an_error() {
    let place = TestDir::new();
    let offers = |words: &[&str]| {
        let output = place.phalanx(&[&["complete", "--"], words].concat());
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(offers(&["ctl", "set-p"]), "set-performer\nset-pose\n");
    assert_eq!(offers(&["topic", ""]), "echo\nhz\ninfo\nlist\npub\n");
    assert_eq!(offers(&["ctl", "reset", "m"]), "models\n");
    assert_eq!(offers(&["topic", "echo", ""]), "");
    assert_eq!(offers(&["ctl", "remove", ""]), "");
    assert_eq!(offers(&[]), "");
}

#[test]
fn a_script_of_commands_is_checked_before_anything_is_started() {
    let place = TestDir::new();
    let script = place.file(
        "c.jsonl",
        "# late\n{\"iteration\": 1, \"command\": \"fly\"}\n",
    );
    let run = ["run", "--headless", "--commands", &script];
    place.refuses(&run, 3, "c.jsonl:2: there is no command \"fly\"");
    let same = ["run", "--headless", "--commands", &script];
    let same = [&same[..], &["--record-commands", &script]].concat();
    place.refuses(&same, 2, "need a file each");
    assert!(place.has_no_run());
}

#[test]
fn programs_of_a_world_are_named_and_not_started() {
    let place = TestDir::new();
    let world = "<sdf version='1.9'><world name='w'><plugin name='gz::sim' filename='dummy'>\
                 <program name='joy'><command>joy</command></program></plugin></world></sdf>";
    let world = place.file("w.sdf", world);
    place.refuses(&["run", "--headless", &world], 1, "file names them: joy;");
}

#[test]
fn an_interrupted_run_leaves_no_process_and_says_so() {
    let place = TestDir::new();
    let child = place.start(DEAF_WORKER);
    let workers = place.workers();
    assert_eq!(workers.len(), 3);
    signal(&child, Signal::INT);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(!workers.iter().any(|pid| is_alive(*pid)), "{workers:?}");
    let summary: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("the summary is JSON");
    assert_eq!(summary["outcome"], "interrupted");
    assert!(place.run_file("run.json").contains("\"exit_code\": 130"));
}

#[test]
fn workers_end_by_their_lifeline_when_the_program_is_killed() {
    let place = TestDir::new();
    let mut child = place.start(PATIENT_WORKER);
    let workers = place.workers();
    child.kill().expect("the program is running");
    child.wait().expect("the program ends");
    until(|| !workers.iter().any(|pid| is_alive(*pid)));
    for name in ["primary", "s1", "s2"] {
        assert!(
            place.log(name).contains("lifeline ended"),
            "{name}: {}",
            place.log(name)
        );
    }
    let ps = place.phalanx(&["ps"]);
    assert!(String::from_utf8_lossy(&ps.stdout).contains("killed"));
}

#[test]
fn a_primary_that_is_killed_is_a_lost_peer() {
    let place = TestDir::new();
    let child = place.start(PATIENT_WORKER);
    let workers = place.workers();
    let primary = i32::try_from(workers[0]).ok().and_then(Pid::from_raw);
    kill_process(primary.expect("the primary has an id"), Signal::KILL).expect("it is running");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(4));
    let summary: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("the summary is JSON");
    assert_eq!(summary["outcome"], "peer_lost");
    assert!(!workers.iter().any(|pid| is_alive(*pid)), "{workers:?}");
}

#[test]
fn a_key_may_end_and_be_limited() {
    let place = TestDir::new();
    let folder = place.folder.path().join("keys").display().to_string();
    let keygen = |words: &[&str]| -> Vec<String> {
        let words = [&["keygen", "--out", &folder], words].concat();
        words.into_iter().map(str::to_owned).collect()
    };
    let arguments = keygen(&["rob", "--valid-for=30d", "--allow=/model/r1/**,/x"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = place.phalanx(&arguments);
    assert!(output.status.success(), "{output:?}");
    let path = place.folder.path().join("keys/rob.pub");
    let line = std::fs::read_to_string(&path).expect("it is there");
    assert!(
        line.contains(" rob valid-until=2") && line.contains("Z allow=/model/r1/**,/x\n"),
        "{line}"
    );
    let list = transport::Authorized::read(&[path]).expect("a primary takes it");
    assert_eq!(list.len(), 1);
    let refuses = |words: &[&str], part: &str| {
        let words = keygen(words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        place.refuses(&words, 2, part);
    };
    refuses(&["a", "--valid-for=0d"], "write 12h, 30d or 4w");
    refuses(&["a", "--valid-for=x"], "write 12h, 30d or 4w");
    refuses(
        &["--role=primary", "--valid-for=1d"],
        "--valid-for is for keys",
    );
    refuses(&["--role=observer", "--allow=/x"], "--allow limits");
    refuses(&["a", "--allow=r1"], "--allow takes patterns");
}

#[test]
fn a_living_run_is_listed_and_its_name_is_taken() {
    let place = TestDir::new();
    let child = place.start(PATIENT_WORKER);
    let ps = place.phalanx(&["ps", "--format", "json"]);
    let runs: serde_json::Value = serde_json::from_slice(&ps.stdout).expect("the list is JSON");
    assert_eq!(
        (&runs[0]["name"], &runs[0]["living"]),
        (&"run".into(), &true.into())
    );
    let second = place
        .command(&["run", "--headless", "--name", "run"])
        .env("PHALANX_WORKER", "/bin/true")
        .output()
        .expect("the program runs");
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("a run named run is living"));
    signal(&child, Signal::TERM);
    assert_eq!(
        child.wait_with_output().expect("it ends").status.code(),
        Some(130)
    );
}
