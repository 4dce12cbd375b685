//! Shows that a run whose secondaries are behind relays computes the bits of one process, also when
//! one of them or a relay is killed, that relays end with their run, and that keys decide who takes
//! part through one. Real processes, started by hand; every wait is on a condition.

use std::path::PathBuf;
use std::process::Command;

use protocol::Access;
use serde_json::Value;
use tests::key_ring::KeyRing;
use tests::processes::{Process, Scratch, binary, wait_for};
use tests::{relay_load, repository};

const ITERATIONS: &str = "3000";
/// By which a run says after what silence a peer is lost.
const SILENCE: &str = "--heartbeat-timeout-ms";

fn ramp() -> PathBuf {
    repository::root().join("worlds/ramp.sdf")
}

/// A primary, and what is started for it by hand.
struct Run {
    scratch: Scratch,
    primary: Process,
    endpoint: String,
}

impl Run {
    /// Starts a primary that waits for so many secondaries.
    fn start(secondaries: u32, flags: &[&str]) -> Self {
        let scratch = Scratch::new();
        let endpoint = scratch.endpoint();
        let mut command = Self::worker(&scratch);
        command.arg("--network-role=primary");
        command.arg(format!("--network-secondaries={secondaries}"));
        command.args(["--bind", &endpoint, "--iterations", ITERATIONS]);
        command.arg("--peer-timeout=300");
        command.args(["--on-peer-loss=recover", "--digests"]);
        command.arg(scratch.path("digests"));
        if !flags.iter().any(|flag| flag.starts_with(SILENCE)) {
            // Nobody is lost because the machine is busy.
            command.arg(format!("{SILENCE}=30000"));
        }
        command.args(flags).arg(ramp());
        Self {
            primary: scratch.start("primary", &mut command),
            scratch,
            endpoint,
        }
    }

    /// Returns a worker whose machine has its folders in the scratch.
    fn worker(scratch: &Scratch) -> Command {
        let mut command = Command::new(binary("worker"));
        command.env("XDG_RUNTIME_DIR", scratch.folder());
        command
    }

    fn process(&self, role: &str, name: &str, flags: &[&str]) -> Process {
        let mut command = Self::worker(&self.scratch);
        command.arg(format!("--network-role={role}"));
        command.arg(format!("--name={name}")).args(flags);
        self.scratch.start(name, &mut command)
    }

    fn relay(&self, name: &str) -> Process {
        self.process("relay", name, &["--connect", &self.endpoint])
    }

    fn behind(&self, relay: &str, name: &str) -> Process {
        self.process("secondary", name, &["--through", relay])
    }

    fn direct(&self, name: &str) -> Process {
        self.process("secondary", name, &["--connect", &self.endpoint])
    }

    fn digests(&self) -> String {
        std::fs::read_to_string(self.scratch.path("digests")).unwrap_or_default()
    }

    fn waits_for_iterations(&self, count: usize) {
        wait_for(&format!("{count} iterations"), || {
            self.digests().lines().count() >= count
        });
    }

    /// Returns what `phalanx show` says of a panel.
    fn shows(&self, panel: &str) -> Value {
        let words = ["show", &self.endpoint, panel, "--format", "json"];
        let (code, out, err) = self.scratch.phalanx_says(&words);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).expect("JSON")
    }

    /// Returns a field of a peer, `Value::Null` if it has none.
    fn peer(&self, name: &str, field: &str) -> Value {
        let peers = self.shows("peers");
        let mut peers = peers.as_array().expect("a list").iter();
        let peer = peers.find(|peer| peer["name"] == name);
        peer.map_or(Value::Null, |peer| peer[field].clone())
    }

    fn does(&self, words: &[&str]) {
        let words = [&["ctl", &self.endpoint], words].concat();
        let (code, _, err) = self.scratch.phalanx_says(&words);
        assert_eq!(code, 0, "{words:?}: {err}");
    }

    /// Waits for the end of the run, which must have the digests of one process.
    fn completes(&mut self) {
        assert_eq!(self.primary.wait(), 0, "{}", self.primary.stderr());
        let alone = self.scratch.path("alone");
        let mut command = Self::worker(&self.scratch);
        command.args(["--iterations", ITERATIONS, "--real-time-factor=0"]);
        command.arg("--digests").arg(&alone).arg(ramp());
        let mut one = self.scratch.start("alone-log", &mut command);
        assert_eq!(one.wait(), 0, "{}", one.stderr());
        let expected = std::fs::read_to_string(alone).expect("the digests");
        assert!(self.digests() == expected, "the digests differ");
    }
}

#[test]
fn secondaries_behind_relays_compute_the_same_bits_and_all_end_with_the_run() {
    let mut run = Run::start(5, &["--real-time-factor=0", "--paused"]);
    let relays = ["r1", "r2"].map(|name| run.relay(name));
    let mut all = vec![run.direct("s1")];
    for (relay, name) in [("r1", "s2"), ("r1", "s3"), ("r2", "s4"), ("r2", "s5")] {
        all.push(run.behind(relay, name));
    }
    run.primary.wait_for_stderr("all secondaries are ready");
    assert_eq!(run.peer("s1", "relay"), Value::Null);
    assert_eq!(run.peer("s3", "relay"), "r1");
    assert_eq!(run.peer("s4", "relay"), "r2");
    run.does(&["play"]);
    run.completes();
    for mut process in all.into_iter().chain(relays) {
        assert_eq!(process.wait(), 0, "{}", process.stderr());
    }
    let left: Vec<_> = std::fs::read_dir(run.scratch.path("phalanx"))
        .expect("the folder of the machine")
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("relay-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_primary_receives_the_answers_of_a_host_in_few_messages() {
    let [without, with] = [false, true].map(|has| relay_load::measure(2, 4, 300, has));
    assert!(without.messages_per_step >= 8.0, "{without:?}");
    // Those that come more than a millisecond after others go up by themselves.
    assert!(with.messages_per_step < 8.0, "{with:?}");
    eprintln!("without relays {without:?}, with {with:?}");
}

#[test]
fn a_relay_that_is_killed_takes_its_secondaries_along_and_costs_nothing() {
    let mut run = Run::start(3, &["--real-time-factor=0.03", "--stand-bys=2"]);
    let mut relay = run.relay("r1");
    let _first = run.direct("s1");
    let mut behind = ["s2", "s3"].map(|name| run.behind("r1", name));
    run.waits_for_iterations(100);
    relay.signal("KILL");
    relay.wait_status();
    for secondary in &mut behind {
        assert_eq!(secondary.wait(), 4, "{}", secondary.stderr());
    }
    wait_for("their cells are restored", || {
        run.primary.stderr().contains("restoring ")
    });
    let said = run.primary.stderr();
    let host = said.split_once("the relay r1 on ").and_then(|(_, rest)| {
        rest.split_once(" is lost, and those behind it: s2, s3")
            .map(|(host, _)| host)
    });
    let host = host.unwrap_or_else(|| panic!("nothing says who is lost: {said}"));
    for name in ["s2", "s3"] {
        let cause = format!("on {host}) is gone with its relay r1 on {host}, which is lost");
        let lines = said.lines().filter(|line| line.contains(&cause));
        assert!(
            lines.clone().any(|line| line.contains(name)),
            "{name}: {said}"
        );
    }
    // Others come through a new one, which has the same place.
    let mut relay = run.relay("r1");
    let mut again = ["s2", "s3"].map(|name| run.behind("r1", name));
    wait_for("they are back", || run.peer("s3", "relay") == "r1");
    run.does(&["set-real-time-factor", "0"]);
    run.completes();
    for process in again.iter_mut().chain([&mut relay]) {
        assert_eq!(process.wait(), 0, "{}", process.stderr());
    }
}

/// Nobody waits for one that hosts no cell: it does what it has missed once it gets one.
#[test]
fn a_stand_by_that_is_stopped_behind_a_relay_holds_nobody_and_takes_a_cell_later() {
    let flags = ["--real-time-factor=0.1", "--stand-bys=1", "--balance=off"];
    let mut run = Run::start(2, &flags);
    let mut relay = run.relay("r1");
    let mut all = vec![run.direct("s1"), run.behind("r1", "s2")];
    run.waits_for_iterations(100);
    let stand_by = run.behind("r1", "s3");
    wait_for("it stands by", || run.peer("s3", "state") == "standby");
    stand_by.signal("STOP");
    let begun = run.digests().lines().count();
    run.waits_for_iterations(begun + 300);
    assert_eq!(run.peer("s3", "state"), "standby");
    assert_eq!(run.peer("s3", "blocking"), false);
    stand_by.signal("CONT");
    let levels = run.shows("levels");
    let mut levels = levels.as_array().expect("a list").iter();
    let level = levels.find(|level| level["owner"] == "s2");
    let level = level.expect("s2 has a level")["name"].as_str();
    run.does(&["move-cell", level.expect("a name"), "s3"]);
    wait_for("it hosts the cell", || run.peer("s3", "state") == "active");
    run.does(&["set-real-time-factor", "0"]);
    run.completes();
    all.push(stand_by);
    for process in all.iter_mut().chain([&mut relay]) {
        assert_eq!(process.wait(), 0, "{}", process.stderr());
    }
}

#[test]
fn a_secondary_that_is_killed_behind_a_relay_is_lost_alone() {
    let mut run = Run::start(3, &["--real-time-factor=0.03"]);
    let mut relay = run.relay("r1");
    let mut first = run.direct("s1");
    let lost = run.behind("r1", "s2");
    let mut other = run.behind("r1", "s3");
    run.waits_for_iterations(100);
    lost.signal("KILL");
    wait_for("its cells are restored", || {
        run.primary.stderr().contains("restoring ")
    });
    assert_eq!(run.peer("s3", "relay"), "r1");
    run.does(&["drain", "s3"]);
    assert_eq!(other.wait(), 0, "{}", other.stderr());
    run.does(&["set-real-time-factor", "0"]);
    run.completes();
    for process in [&mut relay, &mut first] {
        assert_eq!(process.wait(), 0, "{}", process.stderr());
    }
}

#[test]
fn a_relay_that_is_silent_is_that_of_silent_secondaries() {
    let mut run = Run::start(
        2,
        &["--real-time-factor=0.03", "--heartbeat-timeout-ms=3000"],
    );
    let relay = run.relay("r1");
    let _first = run.direct("s1");
    let mut behind = run.behind("r1", "s2");
    run.waits_for_iterations(100);
    relay.signal("STOP");
    assert_eq!(behind.wait(), 4, "{}", behind.stderr());
    run.does(&["set-real-time-factor", "0"]);
    run.completes();
    let told = run.primary.stderr();
    assert!(told.contains("; its relay r1 is silent, too:"), "{told}");
    relay.signal("CONT");
    wait_for("the relay ends", || {
        !tests::processes::is_running(relay.pid())
    });
}

#[test]
fn a_relay_that_is_stopped_is_named_in_reports_and_warnings_until_it_goes_on() {
    let mut run = Run::start(3, &["--real-time-factor=0.03"]);
    let mut relay = run.relay("r1");
    let _first = run.direct("s1");
    let _behind = ["s2", "s3"].map(|name| run.behind("r1", name));
    run.waits_for_iterations(100);
    let culprit = || run.shows("overview")["verdict"].clone();
    assert_ne!(culprit()["culprit"], "relay r1");
    assert_eq!(run.peer("s1", "relay_age_ms"), Value::Null);
    relay.signal("STOP");
    wait_for("the relay is named", || culprit()["culprit"] == "relay r1");
    let verdict = culprit();
    let headline = verdict["headline"].as_str().expect("a text");
    assert!(headline.contains("is silent for"), "{headline}");
    assert_eq!(verdict["details"][0], "s2, s3 are behind it");
    let age = run.peer("s3", "relay_age_ms").as_f64().expect("a number");
    assert!(age >= 1_000.0, "{age}");
    run.primary.wait_for_stderr("the relay r1 on ");
    let said = run.primary.stderr();
    assert!(
        said.contains("is silent: nothing came from it for"),
        "{said}"
    );
    assert!(said.contains("; behind it: s2, s3"), "{said}");
    relay.signal("CONT");
    wait_for("it is named no more", || culprit()["culprit"] != "relay r1");
    run.primary.wait_for_stderr("is heard again after");
    // All of this was no loss.
    assert!(!run.primary.stderr().contains("restoring "));
    run.does(&["set-real-time-factor", "0"]);
    run.completes();
    assert_eq!(relay.wait(), 0, "{}", relay.stderr());
}

#[test]
fn a_second_relay_of_a_name_is_told_so_and_harms_nobody() {
    let mut run = Run::start(2, &["--real-time-factor=0", "--paused"]);
    let mut relay = run.relay("r1");
    let mut first = run.behind("r1", "s1");
    wait_for("the first is there", || run.peer("s1", "relay") == "r1");
    let mut second = run.relay("r1");
    assert_eq!(second.wait(), 3, "{}", second.stderr());
    let said = second.stderr();
    assert!(said.contains("choose another one with --name"), "{said}");
    // Whoever comes later finds the one that is there.
    let mut later = run.behind("r1", "s2");
    run.primary.wait_for_stderr("all secondaries are ready");
    assert_eq!(run.peer("s2", "relay"), "r1");
    run.does(&["play"]);
    run.completes();
    for process in [&mut relay, &mut first, &mut later] {
        assert_eq!(process.wait(), 0, "{}", process.stderr());
    }
    assert!(!run.scratch.path("phalanx/relay-r1").exists());
}

#[test]
fn a_relay_whose_primary_is_silent_ends_as_its_secondaries_do() {
    let run = Run::start(
        2,
        &["--real-time-factor=0.03", "--heartbeat-timeout-ms=3000"],
    );
    let mut relays = ["r1", "r2"].map(|name| run.relay(name));
    let mut behind = run.behind("r1", "s1");
    let mut other = run.direct("s2");
    run.waits_for_iterations(100);
    run.primary.signal("STOP");
    // The second has nobody behind it.
    for process in [&mut behind, &mut other].into_iter().chain(&mut relays) {
        assert_eq!(process.wait(), 4, "{}", process.stderr());
        let said = process.stderr();
        assert!(said.contains("the primary fell silent"), "{said}");
    }
    run.primary.signal("CONT");
}

#[test]
fn keys_decide_who_takes_part_through_a_relay() {
    let scratch = Scratch::new();
    let upper = KeyRing::new(scratch.path("upper"));
    upper.add("relay", Access::Secondary);
    upper.add("ann", Access::Controller);
    let lower = KeyRing::new(scratch.path("lower"));
    lower.add("s1", Access::Secondary);
    lower.stranger("s2");
    let worker = |name: &str, words: &[&str], keys: &[Vec<String>]| {
        let mut command = Command::new(binary("worker"));
        command.args(words).args(keys.concat());
        scratch.start(name, &mut command)
    };
    let words = [
        "--network-role=primary",
        "--network-secondaries=1",
        "--bind=tcp://127.0.0.1:0",
        "--iterations=200",
        "--peer-timeout=300",
        ramp().to_str().expect("text"),
    ]
    .map(str::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut primary = worker("primary", &words, &[upper.of_primary()]);
    let port = |process: &Process, text: &str| {
        let line = process.wait_for_stderr(text);
        let at = line.rfind("tcp://").expect("an address");
        line[at..].trim().to_owned()
    };
    let connect = format!("--connect={}", port(&primary, "at tcp://"));
    // Who may only command is no relay.
    let words = ["--network-role=relay", "--name=r0", &connect];
    let mut refused = worker("r0", &words, &[upper.of_secondary("ann")]);
    assert_eq!(refused.wait(), 3, "{}", refused.stderr());
    assert!(
        refused.stderr().contains("does not know this key"),
        "{}",
        refused.stderr()
    );
    // Its own key is what it proves to both sides.
    let authorized = format!(
        "--authorized={}",
        scratch.path("lower/authorized").display()
    );
    let bind = "--bind=tcp://127.0.0.1:0";
    let words = [
        "--network-role=relay",
        "--name=r1",
        bind,
        &connect,
        &authorized,
    ];
    let mut relay = worker("r1", &words, &[upper.of_secondary("relay")]);
    let connect = format!("--connect={}", port(&relay, "reach the primary at tcp://"));
    let public = format!("--server-key={}", scratch.path("upper/relay.pub").display());
    let key = |name: &str| format!("--key={}", lower.file(name).display());
    let words = ["--network-role=secondary", "--name=s2", &connect, &public];
    let mut stranger = worker("s2", &words, &[vec![key("s2")]]);
    assert_eq!(stranger.wait(), 3, "{}", stranger.stderr());
    let words = ["--network-role=secondary", "--name=s1", &connect, &public];
    let mut secondary = worker("s1", &words, &[vec![key("s1")]]);
    for process in [&mut primary, &mut secondary, &mut relay] {
        assert_eq!(process.wait(), 0, "{}", process.stderr());
    }
}

#[test]
fn a_relay_is_refused_by_another_one_and_looks_for_its_primary_only_so_long() {
    let run = Run::start(1, &[]);
    let _relay = run.relay("r1");
    let place = run.scratch.path("phalanx/relay-r1");
    wait_for("the first is welcome", || place.join("control").exists());
    let above = format!("--connect=ipc://{}", place.display());
    let mut second = run.process("relay", "r2", &[&above]);
    assert_eq!(second.wait(), 3, "{}", second.stderr());
    assert!(second.stderr().contains("no relays"), "{}", second.stderr());
    let nobody = format!("--connect=ipc://{}", run.scratch.path("nobody").display());
    let mut lonely = run.process("relay", "r3", &[&nobody, "--peer-timeout=0.2"]);
    assert_eq!(lonely.wait(), 6, "{}", lonely.stderr());
}
