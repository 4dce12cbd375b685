//! Four nodes of Slurm on this machine, for this test alone: daemons of Debian's packages with
//! ports, files and an authentication service of their own.
//!
//! They need `slurmctld`, `slurmd`, `srun`, `sbatch` and `munged` (packages slurmctld, slurmd,
//! slurm-client and munge); where one is missing, a test says so and has nothing to do.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::processes::{free_ports, send_signal, wait_for};
use crate::required;

/// Number of nodes, each with two CPUs.
const NODES: usize = 4;

/// A cluster; its daemons end when it is dropped.
#[derive(Debug)]
pub struct SlurmCluster {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl SlurmCluster {
    /// Starts a cluster with its files in a folder; `None`, with the reason on stderr, where that
    /// is not possible.
    ///
    /// # Panics
    /// Panics if a file cannot be written, or the nodes do not come up.
    pub fn make(folder: &Path) -> Option<Self> {
        let programs = [
            "munged",
            "slurmctld",
            "slurmd",
            "srun",
            "sbatch",
            "scontrol",
        ];
        if let Some(missing) = programs.iter().find(|name| program(name).is_none()) {
            let reason = format!("no {missing}: install slurmctld, slurmd, slurm-client and munge");
            required::skip(required::SLURM, &reason);
            return None;
        }
        let folder = folder.join("slurm");
        for name in ["", "state"] {
            std::fs::create_dir_all(folder.join(name)).expect("a folder can be made");
        }
        let mut cluster = Self {
            folder,
            daemons: Vec::new(),
        };
        cluster.start_munge();
        cluster.write_settings();
        cluster.start("slurmctld", &["-D", "-c"]);
        for node in 1..=NODES {
            cluster.start("slurmd", &["-D", "-N", &format!("n{node}")]);
        }
        wait_for("the nodes of Slurm", || {
            let mut ask = Command::new("sinfo");
            ask.args(["--noheader", "--states=idle", "--format=%D"]);
            let output = cluster.with_settings(&mut ask).output();
            let text = output.map(|output| output.stdout).unwrap_or_default();
            String::from_utf8_lossy(&text).trim() == NODES.to_string()
        });
        Some(cluster)
    }

    /// Returns the file that `SLURM_CONF` names for whoever uses this cluster.
    pub fn settings(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    /// Lets a program of Slurm, or one that starts such, use this cluster.
    pub fn with_settings<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("SLURM_CONF", self.settings())
    }

    /// Has a node fail as one that loses power: its daemon is gone, and so are a task on it and
    /// what watches that; then Slurm is told.
    ///
    /// # Panics
    /// Panics if there is no such node.
    pub fn fail(&mut self, number: usize, task: u32) {
        // After the authentication service and the controller.
        let daemon = &mut self.daemons[1 + number];
        let _ = daemon.kill();
        let _ = daemon.wait();
        let watcher = parent(task).expect("a task has who watches it");
        for pid in [watcher, task] {
            send_signal(pid, "KILL");
        }
        let name = format!("NodeName=n{number}");
        let mut fail = Command::new("scontrol");
        fail.args(["update", &name, "State=DOWN", "Reason=power"]);
        let status = self.with_settings(&mut fail).status();
        assert!(status.is_ok_and(|status| status.success()), "{name}");
    }

    fn start_munge(&mut self) {
        let path = |name: &str| self.folder.join(name).display().to_string();
        let key: Vec<u8> = (0..1024_u32).map(|number| (number * 7) as u8).collect();
        std::fs::write(path("munge.key"), key).expect("a file can be written");
        let _ = Command::new("chmod")
            .args(["600", &path("munge.key")])
            .status();
        let arguments = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            "--num-threads=2".to_owned(),
            format!("--key-file={}", path("munge.key")),
            format!("--socket={}", path("munge.socket")),
            format!("--pid-file={}", path("munge.pid")),
            format!("--log-file={}", path("munge.log")),
            format!("--seed-file={}", path("munge.seed")),
        ];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.start("munged", &arguments);
        let socket = self.folder.join("munge.socket");
        wait_for("the authentication service", || socket.exists());
    }

    fn write_settings(&self) {
        let host = Command::new("hostname")
            .output()
            .expect("hostname runs")
            .stdout;
        let host = String::from_utf8_lossy(&host).trim().to_owned();
        let folder = self.folder.display();
        let controller = free_ports();
        let (first, last) = (controller + 1, controller + NODES as u16);
        let user = Command::new("id")
            .arg("-un")
            .output()
            .expect("id runs")
            .stdout;
        let user = String::from_utf8_lossy(&user).trim().to_owned();
        let text = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\n\
             SlurmdUser={user}\nSlurmctldPort={controller}\nAuthType=auth/munge\n\
             AuthInfo=socket={folder}/munge.socket\nCredType=cred/munge\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/%n\n\
             SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/%n.pid\n\
             SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\n\
             MpiDefault=none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
             ReturnToService=2\n\
             NodeName=n[1-{NODES}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] \
             CPUs=2 State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
        );
        std::fs::write(self.folder.join("slurm.conf"), text).expect("a file can be written");
    }

    fn start(&mut self, name: &str, arguments: &[&str]) {
        let path = program(name).expect("it was looked for before");
        let log = self
            .folder
            .join(format!("{name}{}.out", self.daemons.len()));
        let log = std::fs::File::create(log).expect("a file can be made");
        let mut command = Command::new(path);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(log)
            .stdout(Stdio::null());
        let child = self.with_settings(&mut command).spawn();
        self.daemons.push(child.expect("the daemon starts"));
    }
}

impl Drop for SlurmCluster {
    fn drop(&mut self) {
        let mut cancel = Command::new("scancel");
        let _ = self
            .with_settings(cancel.args(["--state=RUNNING", "--full"]))
            .status();
        // The nodes before their controller, and that before the authentication service.
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Returns the parent of a process.
fn parent(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = status.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}

fn program(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let mut places = folders.iter().map(|folder| Path::new(folder).join(name));
    places.find(|place| place.is_file())
}
