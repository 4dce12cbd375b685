//! Shows that secondaries on other machines, started over ssh, compute the same bits, that a host
//! which is lost costs nothing, and that none of them outlives its run. Real `sshd`s on loopback
//! ports; where there is none, each test says so and has nothing to do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tests::namespaces::{ADDRESSES, TwoHosts};
use tests::processes::{Process, Scratch, binary, is_running, send_signal, wait_for};
use tests::required;
use tests::slow_cable::Impairment;
use tests::ssh_host::{SshHost, ssh_command};

const ITERATIONS: &str = "3000";

/// A run with hosts.
struct Run {
    phalanx: Process,
    scratch: Scratch,
    hosts: Vec<SshHost>,
}

impl Run {
    /// Starts a run of the demo on hosts with slots, of which those without any are there and not
    /// used yet; `None` where there can be no host.
    fn start(hosts: &[(&str, u32)], arguments: &[&str]) -> Option<Self> {
        let scratch = Scratch::new();
        let made: Option<Vec<SshHost>> = hosts
            .iter()
            .map(|(name, _)| SshHost::make(scratch.folder(), name, None))
            .collect();
        let made = made?;
        let list: Vec<String> = hosts
            .iter()
            .filter(|(_, slots)| *slots > 0)
            .map(|(name, slots)| format!("{name}:{slots}"))
            .collect();
        let ssh = ssh_command(scratch.folder(), &made.iter().collect::<Vec<_>>());
        let mut command = scratch.phalanx();
        command.args(["run", "worlds/ramp.sdf", "--name", "r", "--headless"]);
        command.args(["--hosts", &list.join(","), "--ssh-command", &ssh]);
        command.arg("--digests").arg(scratch.path("digests"));
        // Nobody is lost because the machine is busy.
        command
            .args(["--heartbeat-timeout-ms", "30000"])
            .args(arguments);
        let phalanx = scratch.start("phalanx", &mut command);
        Some(Self {
            phalanx,
            scratch,
            hosts: made,
        })
    }

    fn digests(&self) -> String {
        std::fs::read_to_string(self.scratch.path("digests")).unwrap_or_default()
    }

    fn iterations(&self) -> usize {
        self.digests().lines().count()
    }

    fn waits_for_iterations(&self, count: usize) {
        wait_for(&format!("{count} iterations"), || {
            self.iterations() >= count
        });
    }

    fn peers(&self) -> Vec<Value> {
        let words = ["show", "r", "peers", "--format", "json"];
        let (code, out, err) = self.scratch.phalanx_says(&words);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).expect("JSON")
    }

    /// Has a command carried out; returns its exit code and what it printed.
    fn ctl(&self, words: &[&str]) -> (i32, String) {
        let (code, out, err) = self.scratch.phalanx_says(&[&["ctl", "r"], words].concat());
        (code, out + &err)
    }

    /// Has a command carried out that is expected to succeed.
    fn does(&self, words: &[&str]) -> String {
        let (code, said) = self.ctl(words);
        assert_eq!(code, 0, "{words:?}: {said}\n{}", self.phalanx.stderr());
        said
    }

    /// Returns the names of the secondaries that take part.
    fn secondaries(&self) -> Vec<String> {
        let is_here = |peer: &&Value| {
            let state = peer["state"].as_str().unwrap_or_default();
            peer["role"] == "secondary" && ["active", "standby"].contains(&state)
        };
        let peers = self.peers();
        let names = peers.iter().filter(is_here).map(|peer| &peer["name"]);
        names
            .map(|name| name.as_str().expect("a name").to_owned())
            .collect()
    }

    /// Waits until a secondary has told of its host: one of this machine, whose clock it has.
    fn tells_of_load_and_clock(&self, name: &str) {
        wait_for("the load of the host", || {
            let peers = self.peers();
            let peer = peers.iter().find(|peer| peer["name"] == name);
            let Some(peer) = peer.filter(|peer| peer["host_load"].is_object()) else {
                return false;
            };
            let load = &peer["host_load"];
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            assert!(
                load["cores"].as_u64() >= u64::try_from(cores).ok(),
                "{peer}"
            );
            assert!(load["load_average"].as_f64() >= Some(0.0), "{peer}");
            let bytes = |field: &str| load[field].as_u64().expect("bytes");
            assert!(bytes("available_bytes") > 0, "{peer}");
            assert!(bytes("available_bytes") <= bytes("memory_bytes"), "{peer}");
            // Half of a round trip is all that the offset of a clock can seem to be off.
            let round_trip = peer["round_trip_us"].as_i64().expect("a round trip");
            let offset = peer["clock_offset_us"].as_i64().expect("an offset");
            assert!(offset.abs() <= round_trip / 2 + 1, "{peer}");
            true
        });
    }

    /// Returns the process id of a secondary on its host.
    fn pid(&self, name: &str) -> u32 {
        let peers = self.peers();
        let peer = peers.iter().find(|peer| peer["name"] == name);
        let pid = peer.and_then(|peer| peer["pid"].as_u64());
        u32::try_from(pid.expect("a secondary of that name")).expect("a process id")
    }
}

fn digests_of_one_process() -> String {
    let scratch = Scratch::new();
    let path = scratch.path("digests");
    let arguments = [
        "run",
        "worlds/ramp.sdf",
        "--headless",
        "--secondaries=0",
        "--iterations",
        ITERATIONS,
        "--real-time-factor=0",
        "--digests",
        path.to_str().expect("a path of text"),
    ];
    let (code, _, err) = scratch.phalanx_says(&arguments);
    assert_eq!(code, 0, "{err}");
    std::fs::read_to_string(path).expect("the digests")
}

#[test]
fn secondaries_of_hosts_compute_the_same_bits() {
    let flags = [
        "--secondaries=1",
        "--real-time-factor=0",
        "--iterations",
        ITERATIONS,
    ];
    let Some(mut run) = Run::start(&[("node1", 2), ("node2", 1)], &flags) else {
        return;
    };
    assert_eq!(run.phalanx.wait(), 0, "{}", run.phalanx.stderr());
    assert_eq!(run.digests(), digests_of_one_process());
    let spec = std::fs::read_to_string(run.scratch.path("r/spec.json")).expect("the run's file");
    assert!(
        !spec.contains("secret"),
        "no key is in a file for others: {spec}"
    );
}

#[test]
fn hosts_that_are_lost_cost_nothing_and_are_used_again() {
    let flags = [
        "--secondaries=0",
        "--real-time-factor=0.02",
        "--iterations",
        ITERATIONS,
    ];
    let Some(mut run) = Run::start(&[("node1", 1), ("node2", 1)], &flags) else {
        return;
    };
    run.waits_for_iterations(30);
    let first = run.pid("s1");
    run.tells_of_load_and_clock("s1");
    send_signal(first, "KILL");
    wait_for("s1 is started again on its host", || {
        run.phalanx.stderr().contains("started s1 again")
    });
    let then = run.iterations();
    run.waits_for_iterations(then + 30);
    let second = run.pid("s2");
    run.hosts[1].cut_connections();
    wait_for("s2 is started again on its host", || {
        run.phalanx.stderr().contains("started s2 again")
    });
    wait_for("the worker without a connection ends", || {
        !is_running(second)
    });
    run.does(&["set-real-time-factor", "0"]);
    assert_eq!(run.phalanx.wait(), 0, "{}", run.phalanx.stderr());
    assert_eq!(run.digests(), digests_of_one_process());
}

#[test]
fn hosts_come_and_go_while_a_run_goes_on_and_no_digest_changes() {
    let flags = [
        "--secondaries=1",
        "--real-time-factor=0.02",
        "--iterations",
        ITERATIONS,
    ];
    let Some(mut run) = Run::start(&[("node1", 1), ("node2", 0)], &flags) else {
        return;
    };
    run.waits_for_iterations(30);
    let said = run.does(&["add-host", "node2:2"]);
    assert_eq!(said, "r has s3, s4 on node2:2\n");
    assert_eq!(run.secondaries(), ["s1", "s2", "s3", "s4"]);
    let first = run.pid("s2");
    let said = run.does(&["drain-host", "node1"]);
    assert_eq!(said, "r let s2 on node1 leave\n");
    assert_eq!(run.secondaries(), ["s1", "s3", "s4"]);
    wait_for("the drained worker ends", || !is_running(first));
    // What was added is a host as any other: its secondaries are started again, and more can come.
    send_signal(run.pid("s3"), "KILL");
    wait_for("s3 is started again on its host", || {
        run.phalanx.stderr().contains("started s3 again")
    });
    let said = run.does(&["add-host", "node1", "--format", "json"]);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(said["secondaries"], serde_json::json!(["s5"]));
    run.does(&["set-real-time-factor", "0"]);
    assert_eq!(run.phalanx.wait(), 0, "{}", run.phalanx.stderr());
    assert_eq!(run.digests(), digests_of_one_process());
    let summary = std::fs::read_to_string(run.scratch.path("r/summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(summary["events"]["recoveries"], 1, "only s3 was lost");
}

/// Returns the process ids of the relays of this machine's runs in a folder: no others have one of
/// this name and primary.
fn relay_pid(name: &str, place: &str) -> Option<u32> {
    let own = format!("--name={name}");
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        let has = |word: &str| words.contains(&word.as_bytes());
        has("--network-role=relay") && has(&own) && has(place)
    })
}

#[test]
fn a_host_with_many_secondaries_has_a_relay_whose_loss_costs_nothing() {
    let flags = [
        "--secondaries=1",
        "--relay-above=1",
        "--real-time-factor=0.01",
        "--stand-bys=4",
        "--iterations",
        ITERATIONS,
    ];
    let Some(mut run) = Run::start(&[("node1", 3), ("node2", 1), ("node3", 0)], &flags) else {
        return;
    };
    run.waits_for_iterations(30);
    let relay_of = |run: &Run, name: &str| {
        let peers = run.peers();
        let peer = peers.iter().find(|peer| peer["name"] == name);
        peer.map_or(Value::Null, |peer| peer["relay"].clone())
    };
    assert_eq!(relay_of(&run, "s1"), Value::Null);
    assert_eq!(relay_of(&run, "s4"), "relay2");
    assert_eq!(relay_of(&run, "s5"), Value::Null, "node2 has one only");
    // One of those behind it is lost, and comes back through it.
    send_signal(run.pid("s3"), "KILL");
    wait_for("s3 is started again", || {
        run.phalanx.stderr().contains("started s3 again")
    });
    wait_for("s3 is back", || relay_of(&run, "s3") == "relay2");
    let spec = std::fs::read_to_string(run.scratch.path("r/spec.json")).expect("the run's file");
    let spec: Value = serde_json::from_str(&spec).expect("JSON");
    let bind = spec["network"]["bind"].as_str().expect("an address");
    let port = bind.rsplit(':').next().expect("a port");
    let primary = format!("--connect=tcp://127.0.0.1:{port}");
    let relay = relay_pid("relay2", &primary).expect("a relay");
    // All of them crash, and the relay is none the worse for it.
    let behind = ["s2", "s3", "s4"];
    for pid in behind.map(|name| run.pid(name)) {
        send_signal(pid, "KILL");
    }
    wait_for("all are started again", || {
        let said = run.phalanx.stderr();
        behind.iter().all(|name| {
            let times = if *name == "s3" { 2 } else { 1 };
            said.matches(&format!("started {name} again")).count() == times
        })
    });
    let are_back = || {
        behind.iter().all(|name| {
            relay_of(&run, name) == "relay2" && run.secondaries().contains(&(*name).into())
        })
    };
    wait_for("all are back behind it", are_back);
    assert_eq!(relay_pid("relay2", &primary), Some(relay));
    send_signal(relay, "KILL");
    wait_for("the relay is started again", || {
        run.phalanx.stderr().contains("started relay2 again")
    });
    wait_for("all are back behind it", are_back);
    // A host that comes has one, too, and takes it along when it goes.
    let said = run.does(&["add-host", "node3:2"]);
    assert_eq!(said, "r has s6, s7 on node3:2\n");
    assert_eq!(relay_of(&run, "s7"), "relay6");
    let relay = relay_pid("relay6", &primary).expect("a relay");
    let said = run.does(&["drain-host", "node3"]);
    assert_eq!(said, "r let s6, s7 on node3 leave\n");
    wait_for("the relay of the drained host ends", || !is_running(relay));
    run.does(&["set-real-time-factor", "0"]);
    assert_eq!(run.phalanx.wait(), 0, "{}", run.phalanx.stderr());
    assert_eq!(run.digests(), digests_of_one_process());
}

#[test]
fn a_run_is_resumed_with_the_hosts_that_it_had_last() {
    let flags = [
        "--secondaries=1",
        "--real-time-factor=0.02",
        "--checkpoint-every=50",
        "--iterations",
        ITERATIONS,
    ];
    let Some(mut run) = Run::start(&[("node1", 1), ("node2", 0)], &flags) else {
        return;
    };
    run.waits_for_iterations(30);
    run.does(&["add-host", "node2"]);
    run.does(&["drain-host", "node1"]);
    let then = run.iterations();
    run.waits_for_iterations(then + 100);
    send_signal(run.phalanx.pid(), "KILL");
    run.phalanx.wait_status();
    let mut resume = run.scratch.phalanx();
    resume.args(["resume", "r", "--headless"]);
    let mut resumed = run.scratch.start("resumed", &mut resume);
    let then = run.iterations();
    wait_for("the run goes on", || run.iterations() > then + 50);
    assert_eq!(run.secondaries(), ["s1", "s2"]);
    // It is the one of the other host now.
    let said = run.ctl(&["drain-host", "node1"]).1;
    assert!(said.contains("its hosts are node2"), "{said}");
    run.does(&["set-real-time-factor", "0"]);
    assert_eq!(resumed.wait(), 0, "{}", resumed.stderr());
    assert_eq!(run.digests(), digests_of_one_process());
}

#[test]
fn hosts_that_cannot_be_changed_are_told_with_the_reason() {
    let flags = ["--secondaries=0", "--stand-bys=2"];
    let Some(run) = Run::start(&[("node1", 1), ("node2", 0)], &flags) else {
        return;
    };
    run.waits_for_iterations(30);
    let refuses = |words: &[&str], code: i32, part: &str| {
        let (found, said) = run.ctl(words);
        assert_eq!(found, code, "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: {said}");
    };
    refuses(&["drain-host", "node1"], 1, "all secondaries of the run");
    refuses(&["drain-host", "node2"], 1, "its hosts are node1");
    refuses(&["add-host", "nowhere"], 1, "without a password");
    refuses(&["add-host", "node2:3"], 1, "run.stand_bys");
    refuses(&["add-host", "-oProxyCommand=x"], 2, "");
    refuses(
        &["add-host", "node2", "--timeout=0.001"],
        6,
        "did not answer within",
    );
    assert_eq!(run.secondaries(), ["s1"]);
    let scratch = &run.scratch;
    let fixed = ["run", "worlds/ramp.sdf", "--detach", "--name=local"];
    let (code, _, err) = scratch.phalanx_says(&fixed);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = scratch.phalanx_says(&["ctl", "local", "add-host", "node2"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("listens on this machine alone"), "{err}");
    let (code, _, err) = scratch.phalanx_says(&["ctl", "local", "stop"]);
    assert_eq!(code, 0, "{err}");
}

/// A run with a host at the other end of a cable.
struct FarRun {
    phalanx: Process,
    scratch: Scratch,
    /// Declared after the processes in it.
    _host: SshHost,
    network: TwoHosts,
}

impl FarRun {
    /// Starts a run of the demo here and on the host; `None` where there can be no host.
    fn start(network: TwoHosts, arguments: &[&str]) -> Option<Self> {
        let scratch = Scratch::new();
        // It has a name of its own, as another machine has.
        let enter = |server: PathBuf| {
            let named = "echo far > /proc/sys/kernel/hostname && exec \"$@\"";
            let mut command = network.command(1, Path::new("unshare"));
            command.args(["--uts", "sh", "-c", named, "sh"]).arg(server);
            command
        };
        let host = SshHost::make_at(scratch.folder(), "far", None, (ADDRESSES[1], enter))?;
        let ssh = ssh_command(scratch.folder(), &[&host]);
        let mut command = Self::command(&network, &scratch);
        command.args(["run", "worlds/ramp.sdf", "--name=r", "--headless"]);
        command.args(["--secondaries=1", "--ssh-command", &ssh]);
        command.arg("--digests").arg(scratch.path("digests"));
        let phalanx = scratch.start("phalanx", command.args(arguments));
        Some(Self {
            phalanx,
            scratch,
            _host: host,
            network,
        })
    }

    /// Returns the program on this side of the cable.
    fn command(network: &TwoHosts, scratch: &Scratch) -> Command {
        let mut command = network.command(0, &binary("phalanx"));
        command.env("PHALANX_RUNTIME_DIR", scratch.folder());
        command.env("PHALANX_CONFIG", "/dev/null");
        command.current_dir(tests::repository::root());
        command
    }

    /// Has a command carried out that is expected to succeed, and returns what it printed.
    fn does(&self, words: &[&str]) -> String {
        let mut command = Self::command(&self.network, &self.scratch);
        let output = command.args(words).output().expect("phalanx starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let told = self.phalanx.stderr();
        assert!(output.status.success(), "{words:?}: {said}\n{told}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the process id of a secondary that takes part.
    fn pid(&self, name: &str) -> Option<u32> {
        let peers = self.does(&["show", "r", "peers", "--format=json"]);
        let peers: Vec<Value> = serde_json::from_str(&peers).expect("JSON");
        let peer = peers.iter().find(|peer| peer["name"] == name)?;
        let is_here = peer["state"] == "active" || peer["state"] == "standby";
        let pid = peer["pid"].as_u64().filter(|_| is_here)?;
        Some(u32::try_from(pid).expect("a process id"))
    }

    fn digests(&self) -> Vec<String> {
        let path = self.scratch.path("digests");
        let digests = std::fs::read_to_string(path).unwrap_or_default();
        digests.lines().map(str::to_owned).collect()
    }

    fn waits_for_iterations(&self, count: usize) {
        wait_for(&format!("{count} iterations"), || {
            self.digests().len() >= count
        });
    }

    /// Waits for the end of the run, which must have the digests of one process.
    fn completes(&mut self, iterations: usize) {
        assert_eq!(self.phalanx.wait(), 0, "{}", self.phalanx.stderr());
        let expected = digests_of_one_process();
        let expected: Vec<&str> = expected.lines().take(iterations).collect();
        assert!(self.digests() == expected, "the digests differ");
    }
}

#[test]
fn a_host_behind_a_slow_network_that_loses_packets_computes_the_same_bits() {
    let how = Impairment {
        delay: Duration::from_millis(10),
        bytes_per_s: None,
        loss_permille: 10,
        seed: 1,
    };
    let Some((network, packets)) = TwoHosts::make_far_apart(how) else {
        return;
    };
    let flags = [
        "--hosts=far:2",
        "--iterations=400",
        "--real-time-factor=0",
        "--heartbeat-timeout-ms=30000",
    ];
    let Some(mut run) = FarRun::start(network, &flags) else {
        return;
    };
    run.completes(400);
    let (taken, lost) = (packets.taken(), packets.lost());
    assert!(lost > 0, "none of {taken} packets was lost");
}

#[test]
fn a_host_that_is_far_gives_its_cells_to_one_that_is_near_and_no_digest_changes() {
    let how = Impairment {
        delay: Duration::from_millis(3),
        bytes_per_s: None,
        loss_permille: 0,
        seed: 1,
    };
    let Some((network, _packets)) = TwoHosts::make_far_apart(how) else {
        return;
    };
    let flags = [
        "--hosts=far:1",
        "--paused",
        "--real-time-factor=0",
        "--run-ahead-max=1",
        "--heartbeat-timeout-ms=30000",
        "--iterations",
        ITERATIONS,
    ];
    let Some(mut run) = FarRun::start(network, &flags) else {
        return;
    };
    let performers = |name: &str| {
        let mut command = FarRun::command(&run.network, &run.scratch);
        command.args(["show", "r", "peers", "--format=json"]);
        let told = command.output().expect("phalanx starts").stdout;
        // Nobody answers before the run has begun.
        let peers: Vec<Value> = serde_json::from_slice(&told).unwrap_or_default();
        let peer = peers.iter().find(|peer| peer["name"] == name);
        peer.and_then(|peer| Some(peer["performers"].as_array()?.len()))
    };
    wait_for("its share", || performers("s2") > Some(0));
    run.does(&["ctl", "r", "play"]);
    wait_for("the far one has none", || performers("s2") == Some(0));
    assert!(performers("s1") > Some(0));
    let count = ITERATIONS.parse().expect("a number");
    run.completes(count);
}

#[test]
fn a_host_whose_network_falls_silent_costs_nothing_keeps_no_worker_and_is_used_again() {
    let Some(network) = TwoHosts::make() else {
        return;
    };
    let flags = [
        "--hosts=far:1",
        "--iterations",
        ITERATIONS,
        "--real-time-factor=0.02",
        "--heartbeat-timeout-ms=5000",
    ];
    let Some(mut run) = FarRun::start(network, &flags) else {
        return;
    };
    run.waits_for_iterations(30);
    let first = run.pid("s2").expect("the secondary of the host");
    // Nothing is closed: nobody hears the other any more.
    run.network.set_connected(false);
    wait_for("the worker on the host ends by itself", || {
        !is_running(first)
    });
    let then = run.digests().len();
    run.waits_for_iterations(then + 30);
    run.network.set_connected(true);
    wait_for("the host is used again", || run.pid("s2").is_some());
    assert_ne!(run.pid("s2"), Some(first));
    run.does(&["ctl", "r", "set-real-time-factor", "0"]);
    run.completes(ITERATIONS.parse().expect("a number"));
}

#[test]
fn nothing_stays_on_a_host_when_the_launcher_dies() {
    let Some(run) = Run::start(&[("node1", 2)], &["--secondaries=0"]) else {
        return;
    };
    run.waits_for_iterations(100);
    let workers = ["s1", "s2"].map(|name| run.pid(name));
    send_signal(run.phalanx.pid(), "KILL");
    wait_for("the workers on the host end", || {
        !workers.iter().any(|pid| is_running(*pid))
    });
}

#[test]
fn a_host_that_cannot_be_used_is_told_with_its_remedy() {
    let scratch = Scratch::new();
    let Some(host) = SshHost::make(scratch.folder(), "node1", None) else {
        return;
    };
    let ssh = ssh_command(scratch.folder(), &[&host]);
    let says = |arguments: &[&str]| {
        let fixed = ["run", "worlds/ramp.sdf", "--headless", "--iterations=10"];
        scratch.phalanx_says(&[&fixed, arguments].concat())
    };
    let (code, _, err) = says(&["--hosts=node1,nowhere", "--ssh-command", &ssh]);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("cannot reach nowhere") && err.contains("without a password"),
        "{err}"
    );
    let (code, _, err) = says(&["--hosts=node1", "--ssh-command=/nonexistent/ssh"]);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("/nonexistent/ssh") && err.contains("--ssh-command"),
        "{err}"
    );
    let (code, _, err) = says(&["--hosts=-oProxyCommand=x"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("no name of a host"), "{err}");
    let file = scratch.path("other.toml");
    let text = format!(
        "[run]\nworld = '{}'\n[network]\nssh_command = '{ssh}'\n\
         [[host]]\nname = 'node1'\nworker = '/bin/echo'\n",
        tests::repository::root().join("worlds/ramp.sdf").display()
    );
    std::fs::write(&file, text).expect("a file can be written");
    let (code, _, err) = scratch.phalanx_says(&["run", file.to_str().unwrap(), "--headless"]);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("has no worker of this build") && err.contains("/bin/echo is"),
        "{err}"
    );
}

#[test]
fn a_host_without_the_program_is_given_it_once() {
    let worker = binary("worker");
    let folder = worker.parent().expect("a program is in a folder");
    let scratch = Scratch::new();
    let Some(host) = SshHost::make(scratch.folder(), "node1", Some(folder)) else {
        return;
    };
    let ssh = ssh_command(scratch.folder(), &[&host]);
    let says = |arguments: &[&str]| {
        let fixed = [
            "run",
            "worlds/ramp.sdf",
            "--headless",
            "--iterations=200",
            "--hosts=node1",
        ];
        let ssh = [
            "--ssh-command",
            &ssh,
            "--secondaries=0",
            "--real-time-factor=0",
        ];
        scratch.phalanx_says(&[&fixed[..], &ssh, arguments].concat())
    };
    let (code, _, err) = says(&[]);
    if err.contains("unshare") {
        let reason = format!("a host with files of its own needs root: {err}");
        return required::skip(required::NAMESPACES, &reason);
    }
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("--copy-worker copies it"), "{err}");
    let (code, _, err) = says(&["--copy-worker"]);
    assert_eq!(code, 0, "{err}");
    let cache = host.cache().join("phalanx/workers");
    let copies = std::fs::read_dir(&cache).expect("the host's cache").count();
    assert_eq!(copies, 1, "one build");
    // From now on it is there.
    let (code, _, err) = says(&[]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn a_copy_whose_connection_breaks_is_no_program() {
    let worker = binary("worker");
    let folder = worker.parent().expect("a program is in a folder");
    let scratch = Scratch::new();
    let Some(host) = SshHost::make(scratch.folder(), "node1", Some(folder)) else {
        return;
    };
    // A way that ends after a million bytes, in a folder whose name has a blank.
    let way = scratch.path("a way");
    std::fs::create_dir(&way).expect("a folder can be made");
    let script = "case \"$*\" in *'cat > '*) head -c 1000000 | \"$@\";; *) exec \"$@\";; esac";
    std::fs::write(way.join("cut.sh"), script).expect("a file can be written");
    let ssh = ssh_command(scratch.folder(), &[&host]);
    let cut = format!("sh '{}' {ssh}", way.join("cut.sh").display());
    let (code, _, err) = scratch.phalanx_says(&[
        "run",
        "worlds/ramp.sdf",
        "--headless",
        "--hosts=node1",
        "--ssh-command",
        &cut,
        "--copy-worker",
    ]);
    if err.contains("unshare") {
        let reason = format!("a host with files of its own needs root: {err}");
        return required::skip(required::NAMESPACES, &reason);
    }
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("1000000 of ") && err.contains("bytes arrived"),
        "{err}"
    );
    let cache = host.cache().join("phalanx/workers");
    let builds = std::fs::read_dir(&cache)
        .expect("the host's cache")
        .flatten();
    let files = builds.flat_map(|build| std::fs::read_dir(build.path()).expect("a folder"));
    assert_eq!(files.count(), 0, "what arrived in part is not kept");
    let (code, _, err) = scratch.phalanx_says(&[
        "run",
        "--headless",
        "--hosts=node1",
        "--ssh-command",
        "sh 'x",
    ]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("quotation marks"), "{err}");
}

#[test]
fn the_doctor_examines_hosts_as_a_run_would_use_them() {
    let scratch = Scratch::new();
    let Some(host) = SshHost::make(scratch.folder(), "node1", None) else {
        return;
    };
    let ssh = ssh_command(scratch.folder(), &[&host]);
    let says = |hosts: &str| {
        let words = ["doctor", hosts, "--ssh-command", &ssh, "--format", "json"];
        let (code, out, err) = scratch.phalanx_says(&words);
        let findings: Vec<Value> =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
        (code, findings)
    };
    let state = |findings: &[Value], machine: &str, check: &str| {
        let is_it = |one: &&Value| one["machine"] == machine && one["check"] == check;
        let found = findings.iter().find(is_it);
        found.map(|one| one["state"].as_str().unwrap_or_default().to_owned())
    };
    let (code, findings) = says("node1:1000");
    assert_eq!(code, 0, "{findings:?}");
    let checks = [
        "ssh",
        "worker",
        "gpu",
        "way back",
        "memory",
        "descriptors",
        "disk",
        "multicast",
    ];
    for check in checks {
        let found = state(&findings, "node1", check);
        assert_ne!(found.as_deref(), Some("problem"), "{check}");
        assert!(found.is_some(), "{check}");
    }
    assert_eq!(
        state(&findings, "node1", "cores").as_deref(),
        Some("warning")
    );
    for check in ["worker", "keys", "encryption", "folder", "ports"] {
        assert_eq!(
            state(&findings, "here", check).as_deref(),
            Some("ok"),
            "{check}"
        );
    }
    let (code, findings) = says("nowhere");
    assert_eq!(code, 1);
    assert_eq!(
        state(&findings, "nowhere", "ssh").as_deref(),
        Some("problem")
    );
}
