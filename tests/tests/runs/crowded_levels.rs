//! Shows that real processes share what is split while it is crowded: a world without levels is run
//! on several secondaries, one of which is killed, is taken up again after all were, and is
//! simulated again from its recording, each time with the digests of one process.

use serde_json::Value;
use tests::processes::{Scratch, kill_all_to_resume, send_signal, wait_for};
use tests::worlds::drive_in_bends;

const ROBOTS: u32 = 18;
const ITERATIONS: &str = "900";

/// Writes a world of robots without levels, and the commands by which they drive.
fn fleet(scratch: &Scratch) -> [String; 2] {
    let robots = ROBOTS.to_string();
    let generate = ["generate", "fleet", "--robots", &robots, "--levels", "1x1"];
    let (code, world, stderr) = scratch.phalanx_says(&generate);
    assert_eq!(code, 0, "{stderr}");
    let begin = world.find("<level ").expect("it has a level");
    let end = world.rfind("</level>").expect("which ends") + "</level>".len();
    let world = format!("{}{}", &world[..begin], &world[end..]);
    let write = |name: &str, text: &str| {
        let path = scratch.path(name);
        std::fs::write(&path, text).expect("it can be written");
        path.to_str().expect("the path is text").to_owned()
    };
    [
        write("fleet.sdf", &world),
        write("drive.jsonl", &drive_in_bends(ROBOTS)),
    ]
}

/// Returns a panel of run `r`; null while it does not answer.
fn show(scratch: &Scratch, panel: &str) -> Value {
    let (_, stdout, _) = scratch.phalanx_says(&["show", "r", panel, "--format", "json"]);
    serde_json::from_str(&stdout).unwrap_or(Value::Null)
}

/// Returns the levels of run `r`, with who hosts each; none while it does not answer.
fn levels(scratch: &Scratch) -> Vec<(String, String)> {
    let levels = show(scratch, "levels");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let levels = levels.as_array().into_iter().flatten();
    let levels = levels.map(|level| (text(&level["name"]), text(&level["owner"])));
    levels.collect()
}

fn pid_of(scratch: &Scratch, peer: &str) -> u32 {
    let peers = show(scratch, "peers");
    let mut peers = peers.as_array().expect("it is a list").iter();
    let found = peers.find(|one| one["name"] == peer);
    let pid = found.and_then(|one| one["pid"].as_u64());
    pid.expect("the peer has a process") as u32
}

/// Waits until both secondaries of run `r` host parts, moves one of these by hand, and kills the
/// secondary that gets it.
fn lose_a_secondary(scratch: &Scratch) {
    wait_for("both secondaries host parts", || {
        let levels = levels(scratch);
        let is_part = |name: &str, owner: &str| {
            levels
                .iter()
                .any(|one| one.0.starts_with(name) && one.1 == owner)
        };
        is_part("default", "s1") && is_part("default/", "s2")
    });
    let part = levels(scratch)
        .into_iter()
        .find(|one| one.0.starts_with("default/"));
    let (part, owner) = part.expect("there is one");
    let other = if owner == "s1" { "s2" } else { "s1" };
    let (code, _, stderr) = scratch.phalanx_says(&["ctl", "r", "move-cell", &part, other]);
    assert_eq!(code, 0, "{stderr}");
    send_signal(pid_of(scratch, other), "KILL");
    wait_for("its cells are restored", || {
        show(scratch, "stats")["events"]["recoveries"].as_u64() == Some(1)
    });
}

#[test]
fn a_crowded_world_is_shared_and_no_loss_changes_a_bit() {
    let scratch = Scratch::new();
    let [world, commands] = fleet(&scratch);
    let split = [
        "--split-above",
        "5",
        "--commands",
        &commands,
        "--iterations",
        ITERATIONS,
    ];
    let path = |name: &str| scratch.path(name).to_str().expect("it is text").to_owned();

    let (alone, recorded) = (path("alone.txt"), path("alone.mcap"));
    let run = [
        "run",
        &world,
        "--headless",
        "--secondaries",
        "0",
        "--real-time-factor",
        "0",
    ];
    let outputs = ["--digests", &alone, "--record", &recorded];
    let (code, _, stderr) = scratch.phalanx_says(&[&run[..], &split, &outputs].concat());
    assert_eq!(code, 0, "{stderr}");
    let expected = std::fs::read_to_string(&alone).expect("the digests are written");
    let (code, stdout, stderr) = scratch.phalanx_says(&["replay", &recorded, "--verify"]);
    assert_eq!(code, 0, "{stdout}{stderr}");

    let shared = path("shared.txt");
    let begin = [
        "run",
        &world,
        "--detach",
        "--name",
        "r",
        "--secondaries",
        "2",
    ];
    let more = [
        "--digests",
        &shared,
        "--real-time-factor",
        "0.2",
        "--checkpoint-every",
        "50",
    ];
    let (code, _, stderr) = scratch.phalanx_says(&[&begin[..], &split, &more].concat());
    assert_eq!(code, 0, "{stderr}");
    lose_a_secondary(&scratch);
    kill_all_to_resume(&scratch);
    let resume = ["resume", "r", "--headless", "--secondaries", "3"];
    let (code, _, stderr) = scratch.phalanx_says(&resume);
    assert_eq!(code, 0, "{stderr}");
    let found = std::fs::read_to_string(&shared).expect("the digests are written");
    assert!(found == expected, "the digests are those of one process");
}
