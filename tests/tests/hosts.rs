//! Shows that secondaries on other machines, started over ssh, compute the same bits, that a host
//! which is lost costs nothing, and that none of them outlives its run. Real `sshd`s on loopback
//! ports; where there is none, each test says so and has nothing to do.

use std::path::Path;

use serde_json::Value;
use tests::processes::{Process, Scratch, binary, send_signal, wait_for};
use tests::ssh_host::{SshHost, ssh_command};

const ITERATIONS: &str = "3000";

/// A run with hosts.
struct Run {
    phalanx: Process,
    scratch: Scratch,
    hosts: Vec<SshHost>,
}

impl Run {
    /// Starts a run of the demo on hosts with slots; `None` where there can be no host.
    fn start(hosts: &[(&str, u32)], arguments: &[&str]) -> Option<Self> {
        let scratch = Scratch::new();
        let made: Option<Vec<SshHost>> = hosts
            .iter()
            .map(|(name, _)| SshHost::make(scratch.folder(), name, None))
            .collect();
        let made = made?;
        let list: Vec<String> = hosts
            .iter()
            .map(|(name, slots)| format!("{name}:{slots}"))
            .collect();
        let ssh = ssh_command(scratch.folder(), &made.iter().collect::<Vec<_>>());
        let mut command = scratch.phalanx();
        command.args(["run", "worlds/ramp.sdf", "--name", "r", "--headless"]);
        command.args(["--hosts", &list.join(","), "--ssh-command", &ssh]);
        command.arg("--digests").arg(scratch.path("digests"));
        command.args(arguments);
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

    fn waits_for_iterations(&self, count: usize) {
        wait_for(&format!("{count} iterations"), || {
            self.digests().lines().count() >= count
        });
    }

    fn peers(&self) -> Vec<Value> {
        let words = ["show", "r", "peers", "--format", "json"];
        let (code, out, err) = self.scratch.phalanx_says(&words);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).expect("JSON")
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

fn is_living(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
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
        "--real-time-factor=2",
        "--iterations",
        ITERATIONS,
    ];
    let Some(mut run) = Run::start(&[("node1", 1), ("node2", 1)], &flags) else {
        return;
    };
    run.waits_for_iterations(300);
    let first = run.pid("s1");
    send_signal(first, "KILL");
    wait_for("s1 is started again on its host", || {
        run.phalanx.stderr().contains("started s1 again")
    });
    run.waits_for_iterations(1000);
    let second = run.pid("s2");
    run.hosts[1].cut_connections();
    wait_for("s2 is started again on its host", || {
        run.phalanx.stderr().contains("started s2 again")
    });
    wait_for("the worker without a connection ends", || {
        !is_living(second)
    });
    assert_eq!(run.phalanx.wait(), 0, "{}", run.phalanx.stderr());
    assert_eq!(run.digests(), digests_of_one_process());
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
        !workers.iter().any(|pid| is_living(*pid))
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
        eprintln!("SKIPPED: a host with files of its own needs root: {err}");
        return;
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
    for check in ["ssh", "worker", "way back", "memory"] {
        let found = state(&findings, "node1", check);
        assert_ne!(found.as_deref(), Some("problem"), "{check}");
        assert!(found.is_some(), "{check}");
    }
    assert_eq!(
        state(&findings, "node1", "cores").as_deref(),
        Some("warning")
    );
    assert_eq!(state(&findings, "here", "worker").as_deref(), Some("ok"));
    let (code, findings) = says("nowhere");
    assert_eq!(code, 1);
    assert_eq!(
        state(&findings, "nowhere", "ssh").as_deref(),
        Some("problem")
    );
}
