//! Shows that a secondary finds its primary on the local network by the partition alone, that runs
//! of other partitions never meet, and that what is announced lets nobody in. The hosts are network
//! namespaces of this machine; where those cannot be made, each test says so and has nothing to do.

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

use protocol::Access;
use tests::key_ring::KeyRing;
use tests::namespaces::{ADDRESSES, TwoHosts};
use tests::processes::{Process, Scratch, binary, wait_for};
use tests::repository;

const ITERATIONS: &str = "500";

fn world() -> PathBuf {
    repository::root().join("worlds/ramp.sdf")
}

/// A lab of two hosts, with folders for the files of all.
struct Lab {
    hosts: TwoHosts,
    scratch: Scratch,
}

impl Lab {
    fn make() -> Option<Self> {
        let hosts = TwoHosts::make()?;
        let scratch = Scratch::new();
        Some(Self { hosts, scratch })
    }

    fn keys(&self, name: &str) -> KeyRing {
        let keys = KeyRing::new(self.scratch.path(&format!("keys-{name}")));
        keys.add("secondaries", Access::Secondary);
        keys.add("viewer", Access::Observer);
        keys
    }

    /// Starts a primary on the first host, which is announced in a partition.
    fn primary(&self, partition: &str, port: u16, keys: &KeyRing) -> Process {
        let mut command = self.hosts.command(0, &binary("worker"));
        command.args(["--network-role=primary", "--network-secondaries=1"]);
        command.args(["--bind", &format!("tcp://{}:{port}", ADDRESSES[0])]);
        command.args(["--announce-lan", "--partition", partition]);
        command.args(["--peer-timeout=600", "--heartbeat-timeout-ms=30000"]);
        command.args(["--iterations", ITERATIONS, "--real-time-factor=0"]);
        let digests = self.scratch.path(&format!("digests-{partition}"));
        command.arg("--digests").arg(digests);
        command.args(keys.of_primary()).arg(world());
        let primary = self.scratch.start(partition, &mut command);
        primary.wait_for_stderr("announced on the local network");
        primary
    }

    /// Starts a secondary on the second host that knows a partition and no address.
    fn secondary(&self, partition: &str, flags: &[String]) -> Process {
        let mut command = self.hosts.command(1, &binary("worker"));
        command.args(["--network-role=secondary", "--name=s1"]);
        command.args(["--partition", partition]).args(flags);
        self.scratch.start("s1", &mut command)
    }

    /// Returns the runs that the second host finds, as JSON.
    fn listed(&self) -> Vec<Value> {
        let mut command = self.hosts.command(1, &binary("phalanx"));
        command.env("PHALANX_RUNTIME_DIR", self.scratch.folder());
        let output = command.args(["ps", "--lan", "--format=json"]).output();
        let output = output.expect("phalanx starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

fn digests_of_one_process() -> String {
    let scratch = Scratch::new();
    let digests = scratch.path("digests");
    let mut command = Command::new(binary("worker"));
    command.args(["--iterations", ITERATIONS, "--real-time-factor=0"]);
    command.arg("--digests").arg(&digests).arg(world());
    let mut process = scratch.start("alone", &mut command);
    assert_eq!(process.wait(), 0, "{}", process.stderr());
    std::fs::read_to_string(digests).expect("digests are text")
}

#[test]
fn a_secondary_finds_the_primary_of_its_partition_and_no_other() {
    let Some(lab) = Lab::make() else {
        return;
    };
    let (keys, others) = (lab.keys("lab"), lab.keys("other"));
    let mut other = lab.primary("other", 6000, &others);
    let mut primary = lab.primary("lab", 5000, &keys);
    let mut listed = Vec::new();
    wait_for("both runs are listed", || {
        listed = lab.listed();
        listed.len() == 2
    });
    let of_lab = &listed[0];
    assert_eq!(of_lab["partition"], "lab");
    let endpoint = format!("tcp://{}:5000", ADDRESSES[0]);
    assert_eq!(of_lab["endpoints"], serde_json::json!([endpoint]));
    assert_eq!(of_lab["key"].as_str().map(str::len), Some(16));
    let mut secondary = lab.secondary("lab", &keys.of_secondary("secondaries"));
    assert_eq!(primary.wait(), 0, "{}", primary.stderr());
    assert_eq!(secondary.wait(), 0, "{}", secondary.stderr());
    let digests = std::fs::read_to_string(lab.scratch.path("digests-lab")).expect("digests");
    assert_eq!(digests, digests_of_one_process());
    assert!(!other.stderr().contains("joined"), "{}", other.stderr());
    // A run that has ended is not announced any more.
    wait_for("the run is listed no more", || lab.listed().len() == 1);
    other.signal("TERM");
    assert_eq!(other.wait(), 130, "{}", other.stderr());
}

#[test]
fn a_client_finds_a_run_by_its_partition() {
    let Some(lab) = Lab::make() else {
        return;
    };
    let (keys, others) = (lab.keys("lab"), lab.keys("other"));
    let mut other = lab.primary("other", 6000, &others);
    let mut primary = lab.primary("lab", 5000, &keys);
    let show = |run: &str, keys: &KeyRing| {
        let mut command = lab.hosts.command(1, &binary("phalanx"));
        command.env("PHALANX_RUNTIME_DIR", lab.scratch.folder());
        command.args(["show", run, "stats", "--format=json"]);
        let output = command.args(keys.of_secondary("viewer")).output();
        let output = output.expect("phalanx starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    for run in ["lan://lab", "lan://lab/", "lan://lab/run"] {
        let (code, told, error) = show(run, &keys);
        assert_eq!(code, Some(0), "{run}: {error}");
        assert!(told.contains("\"iteration\""), "{run}: {told}");
    }
    let (code, _, error) = show("lan://lab/walk", &keys);
    assert_eq!(code, Some(1), "{error}");
    assert!(
        error.contains("no run walk of partition lab was found"),
        "{error}"
    );
    // Its primary has another key.
    let (code, _, error) = show("lan://lab", &others);
    assert_eq!(code, Some(1), "{error}");
    assert!(
        error.contains("no run of partition lab was found"),
        "{error}"
    );
    let (code, _, error) = show("lan://", &keys);
    assert_eq!(code, Some(2), "{error}");
    for process in [&mut primary, &mut other] {
        process.signal("TERM");
        assert_eq!(process.wait(), 130, "{}", process.stderr());
    }
}

#[test]
fn what_is_announced_lets_nobody_in() {
    let Some(lab) = Lab::make() else {
        return;
    };
    let (keys, others) = (lab.keys("lab"), lab.keys("other"));
    let mut primary = lab.primary("lab", 5000, &keys);
    // Another primary is meant: this one has not its key. A busy machine finds it later.
    let found_within = |seconds: u32| {
        let mut flags = others.of_secondary("secondaries");
        flags.push(format!("--peer-timeout={seconds}"));
        let mut secondary = lab.secondary("lab", &flags);
        let (code, said) = (secondary.wait(), secondary.stderr());
        let is_found = said.contains("found: run on");
        let is_told = said.contains("no run of partition lab was found");
        assert!(!is_found || is_told && code == 3, "{code}: {said}");
        is_found
    };
    assert!([3, 10, 60].into_iter().any(found_within));
    // One without any key finds it, and is not let in.
    let flags = ["--peer-timeout=3", "--insecure"].map(str::to_owned);
    let mut secondary = lab.secondary("lab", &flags);
    assert_ne!(secondary.wait(), 0, "{}", secondary.stderr());
    assert!(!primary.stderr().contains("joined"), "{}", primary.stderr());
    primary.signal("TERM");
    assert_eq!(primary.wait(), 130, "{}", primary.stderr());
}

#[test]
fn an_address_that_only_this_machine_reaches_is_not_announced() {
    let scratch = Scratch::new();
    let mut command = Command::new(binary("worker"));
    command.args(["--network-role=primary", "--network-secondaries=1"]);
    command.args(["--announce-lan", "--insecure", "--bind=tcp://127.0.0.1:0"]);
    let mut primary = scratch.start("primary", command.arg(world()));
    assert_eq!(primary.wait(), 3, "{}", primary.stderr());
    assert!(
        primary.stderr().contains("which only this machine reaches"),
        "{}",
        primary.stderr()
    );
}
