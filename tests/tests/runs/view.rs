//! Shows that the real view of a real run works in a real pseudo-terminal and always gives the
//! terminal back. The program is started as a user starts it, and its screen is read.

use std::process::Command;

use portable_pty::CommandBuilder;
use tests::processes::{
    Scratch, binary, is_running, is_stopped, own_settings, send_signal, wait_for,
};
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

/// Returns the pids of the run's workers.
fn workers(scratch: &Scratch) -> Vec<u32> {
    let mut show = Command::new(binary("phalanx"));
    show.env("PHALANX_RUNTIME_DIR", scratch.path(""))
        .args(["show", "r", "peers"]);
    let output = show
        .args(["--format", "json"])
        .output()
        .expect("phalanx starts");
    let peers: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let peers = peers.as_array().expect("a list of peers");
    peers
        .iter()
        .map(|peer| u32::try_from(peer["pid"].as_u64().expect("a pid")).expect("a small pid"))
        .collect()
}

fn wait_until_gone(pids: &[u32]) {
    assert_eq!(pids.len(), 3);
    for pid in pids {
        wait_for(&format!("{pid} is gone"), || !is_running(*pid));
    }
}

/// Ends the run from its view, which gives the terminal back.
fn stop_run(screen: &mut Screen) {
    screen.press("q");
    screen.wait_for("What becomes of it?");
    screen.press("s");
    assert_eq!(screen.wait(), (0, true), "{}", screen.contents());
}

#[test]
fn the_demo_is_shown_paused_stepped_resized_and_ended() {
    let scratch = Scratch::new();
    let mut screen = Screen::start(phalanx(&scratch, &["run", "--name", "r"]), 40, 120);
    let shown = screen.wait_for("RUNNING");
    for part in ["Peers", "Levels", "Map", "Latency", "Logs"] {
        assert!(shown.contains(part), "no {part} in\n{shown}");
    }
    screen.wait_for("s2");
    let pids = workers(&scratch);
    screen.press(" ");
    screen.wait_for("PAUSED");
    screen.press("N");
    screen.wait_for("step 10: done");
    screen.resize(24, 80);
    screen.wait_for("Peers");
    screen.press("?");
    screen.wait_for("play or pause");
    screen.press("\u{1b}");
    // A key right after Esc would count as one with Alt.
    screen.wait_until("the help is closed", |terminal| {
        !terminal.contents().contains("Help (")
    });
    screen.press("q");
    screen.wait_for("What becomes of it?");
    screen.press("s");
    let (code, restored) = screen.wait();
    assert_eq!(code, 0, "{}", screen.contents());
    assert!(
        screen.contents().contains("completed: "),
        "{}",
        screen.contents()
    );
    assert!(restored, "the terminal is given back");
    wait_until_gone(&pids);
}

#[test]
fn keys_that_come_with_a_new_size_are_read_at_once() {
    let scratch = Scratch::new();
    let mut screen = Screen::start(phalanx(&scratch, &["run", "--name", "r"]), 40, 120);
    screen.wait_for("RUNNING");
    // Half of them waited for the next key once.
    for round in 0..10 {
        screen.resize(38, 120 - round);
        screen.press("?");
        screen.wait_for("Help (");
        screen.resize(40, 120 - round);
        screen.press("\u{1b}");
        screen.wait_until("the help is closed", |terminal| {
            !terminal.contents().contains("Help (")
        });
    }
    stop_run(&mut screen);
}

#[test]
fn a_signal_gives_the_terminal_back_and_leaves_no_process() {
    for signal in ["TERM", "INT", "QUIT"] {
        let scratch = Scratch::new();
        let mut screen = Screen::start(phalanx(&scratch, &["run", "--name", "r"]), 30, 100);
        screen.wait_for("RUNNING");
        let pids = workers(&scratch);
        send_signal(screen.pid(), signal);
        let (code, restored) = screen.wait();
        assert_eq!(code, 130, "{signal}: {}", screen.contents());
        assert!(restored, "{signal}: the terminal is given back");
        wait_until_gone(&pids);
    }
}

#[test]
fn a_view_that_is_stopped_gives_the_terminal_back_until_it_goes_on() {
    let scratch = Scratch::new();
    let mut screen = Screen::start(phalanx(&scratch, &["run", "--name", "r"]), 30, 100);
    screen.wait_for("RUNNING");
    let pids = workers(&scratch);
    send_signal(screen.pid(), "TSTP");
    wait_for("the view is stopped", || is_stopped(screen.pid()));
    screen.wait_until("the terminal is given back", |terminal| {
        !terminal.alternate_screen() && !terminal.hide_cursor()
    });
    send_signal(screen.pid(), "CONT");
    screen.wait_until(
        "the terminal is taken again",
        vt100::Screen::alternate_screen,
    );
    screen.wait_for("RUNNING");
    stop_run(&mut screen);
    wait_until_gone(&pids);
}

#[test]
fn a_view_that_is_attached_leaves_the_run_running() {
    let scratch = Scratch::new();
    let mut command = scratch.phalanx();
    command.args(["run", "--headless", "--name", "r"]);
    let mut run = scratch.start("run", &mut command);
    run.wait_for_stderr("running");
    let mut screen = Screen::start(phalanx(&scratch, &["attach", "r"]), 24, 80);
    screen.wait_for("RUNNING");
    screen.press("d");
    let (code, restored) = screen.wait();
    assert_eq!((code, restored), (0, true), "{}", screen.contents());
    let pids = workers(&scratch);
    assert!(pids.iter().all(|pid| is_running(*pid)), "the run goes on");
    run.signal("TERM");
    assert_eq!(run.wait(), 130);
    wait_until_gone(&pids);
}

#[test]
fn a_run_is_started_watched_driven_left_found_again_and_stopped() {
    let scratch = Scratch::new();
    let mut screen = Screen::start(phalanx(&scratch, &["run", "--name", "r"]), 40, 120);
    screen.wait_for("RUNNING");
    screen.press("1");
    screen.wait_for("what holds the simulation back");
    screen.press("2");
    screen.wait_for("answers last");
    screen.press(" ");
    screen.wait_for("PAUSED");
    screen.press("n");
    screen.wait_for("step 1: done");
    screen.press(" ");
    screen.wait_for("RUNNING");
    screen.press("5/^rov");
    screen.wait_for("/^rov");
    screen.press("\r");
    screen.wait_for("1 of 3");
    screen.press("\r");
    screen.wait_for("performer rover");
    screen.press("\u{1b}");
    screen.wait_for("follow");
    screen.press("D");
    screen.wait_for("Drive rover");
    screen.press("www");
    screen.wait_for("+0.30 m/s ahead");
    screen.wait_for("measured   0.30 m/s");
    screen.press(" ");
    screen.wait_for("measured   0.00 m/s");
    screen.press("\u{1b}");
    // Right behind Escape a letter would be one with Alt.
    screen.wait_for("f follow");
    screen.press("d");
    assert_eq!(screen.wait(), (0, true), "{}", screen.contents());
    let pids = workers(&scratch);
    assert!(pids.iter().all(|pid| is_running(*pid)), "the run goes on");
    let mut again = Screen::start(phalanx(&scratch, &["attach"]), 24, 80);
    again.wait_for("RUNNING");
    again.press("S");
    again.wait_for("Stop the run");
    again.press("y");
    again.wait_for("COMPLETED");
    again.press("q");
    assert_eq!(again.wait(), (0, true), "{}", again.contents());
    wait_until_gone(&pids);
}
