//! Shows that what a run says of its time holds together and that its past is kept. A real run is
//! asked by `phalanx show`, as scripts do.

use std::process::Command;

use serde_json::Value;
use tests::processes::{Process, Scratch, wait_for};

/// The parts that the time of an iteration is split into.
const PARTS: [&str; 7] = [
    "physics_us",
    "systems_us",
    "sensors_us",
    "cell_us",
    "network_us",
    "primary_us",
    "pace_us",
];

fn output(command: &mut Command) -> String {
    let output = command.output().expect("phalanx starts");
    String::from_utf8(output.stdout).expect("output is text")
}

fn text(scratch: &Scratch, panel: &str) -> String {
    let arguments = ["show", "r", panel, "--width", "90", "--height", "30"];
    output(scratch.phalanx().args(arguments))
}

fn json(scratch: &Scratch, panel: &str) -> Option<Value> {
    let arguments = ["show", "r", panel, "--format", "json"];
    serde_json::from_str(&output(scratch.phalanx().args(arguments))).ok()
}

/// Starts a run and waits until it has done some iterations and remembers some seconds.
fn started(scratch: &Scratch) -> Process {
    let mut command = scratch.phalanx();
    command.args([
        "run",
        "--name",
        "r",
        "--headless",
        "--real-time-factor",
        "0.2",
    ]);
    let run = scratch.start("run", &mut command);
    wait_for("the run has a past", || {
        let latency = json(scratch, "latency");
        let samples = latency.and_then(|all| all["history"].as_array().map(Vec::len));
        samples > Some(2)
    });
    run
}

#[test]
fn the_figures_of_a_run_hold_together_and_its_past_is_kept() {
    let scratch = Scratch::new();
    let _run = started(&scratch);
    let latency = json(&scratch, "latency").expect("JSON");
    let part = |name: &str| latency["split"][name].as_f64().expect("a number");
    let sum: f64 = PARTS.iter().map(|name| part(name)).sum();
    let period = latency["period_us"].as_f64().expect("a number");
    assert!((sum - period).abs() < 1.0, "{sum} of {period}: {latency}");
    assert!(
        part("physics_us") > 0.0 && part("network_us") > 0.0,
        "{latency}"
    );
    let bars = latency["histogram"].as_array().expect("a list");
    assert!(
        bars.iter().any(|bar| bar["count"].as_u64() > Some(0)),
        "{latency}"
    );

    let events = json(&scratch, "events").expect("JSON");
    let events = events.as_array().expect("a list");
    let is_start = |event: &Value| {
        event["text"]
            .as_str()
            .is_some_and(|text| text.contains("are ready"))
    };
    assert!(events.iter().any(is_start), "{events:?}");

    let peers = json(&scratch, "peers").expect("JSON");
    let busy = |peer: &Value| peer["busy_us"].as_f64() > Some(0.0);
    let secondaries = peers.as_array().expect("a list").iter().skip(1);
    assert_eq!(secondaries.filter(|peer| busy(peer)).count(), 2, "{peers}");

    let overview = json(&scratch, "overview").expect("JSON");
    let headline = overview["verdict"]["headline"].as_str().expect("a text");
    assert!(!headline.is_empty(), "{overview}");
}

#[test]
fn every_panel_that_is_a_picture_is_drawn_without_a_terminal() {
    let scratch = Scratch::new();
    let _run = started(&scratch);
    for (panel, title) in [
        ("overview", "Overview"),
        ("map", "Map"),
        ("latency", "Latency"),
    ] {
        let drawn = text(&scratch, panel);
        assert!(drawn.contains(title), "{panel}: {drawn}");
        assert_eq!(drawn.lines().count(), 30, "{panel}: {drawn}");
        assert!(!drawn.contains('\u{1b}'), "{panel}: {drawn}");
    }
}
