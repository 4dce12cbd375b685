//! Examination of this machine.

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use run::RunSpec;
use rustix::process::{Resource, getrlimit};
use transport::zeromq::{check_curve, with_free_ports};

use super::gpu::gpu_finding;
use super::keys::keys;
use super::{Finding, State};
use crate::launch::{find_worker, hosts};
use crate::run_directory::Runs;

/// Number of open files that a primary with a hundred secondaries and observers needs.
const DESCRIPTORS_WANTED: u64 = 4096;

/// Memory below which worlds with meshes may not fit \[bytes\].
const MEMORY_WANTED: u64 = 1 << 30;

/// Time for a synced write above which a journal slows a run down.
const SYNC_SLOW: Duration = Duration::from_millis(50);

/// Address of the multicast group by which ROS 2 finds its nodes.
const ROS_GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);

const HERE: &str = "here";

/// Examines this machine.
pub(super) fn examine(spec: &RunSpec) -> Vec<Finding> {
    let mut findings = vec![worker(), encryption(), keys(HERE, spec)];
    findings.extend(run_folder());
    findings.push(descriptors());
    findings.push(cores(spec));
    findings.push(memory(available_memory()));
    findings.extend(gpu(spec));
    findings.push(ports());
    findings.push(multicast());
    findings
}

fn worker() -> Finding {
    let found = find_worker().map_err(anyhow::Error::new);
    let build = found.and_then(|path| Ok((hosts::build_of(&path)?, path)));
    match build {
        Ok((build, path)) => Finding::ok(HERE, "worker", format!("{} is {build}", path.display())),
        Err(error) => Finding::ok(HERE, "worker", "no worker program runs")
            .worse(State::Problem, format!("{error:#}")),
    }
}

/// Examines the GPU, as the worker finds it; without a worker there is nothing to say.
fn gpu(spec: &RunSpec) -> Option<Finding> {
    let worker = find_worker().ok()?;
    let report = hosts::gpu_of(&worker);
    Some(gpu_finding(HERE, spec, report))
}

fn encryption() -> Finding {
    match check_curve() {
        Ok(()) => Finding::ok(HERE, "encryption", "libzmq encrypts connections"),
        Err(error) => Finding::ok(HERE, "encryption", "libzmq cannot encrypt").worse(
            State::Problem,
            format!("{error}; build Phalanx with its own libzmq"),
        ),
    }
}

/// Examines the folder of runs, which has sockets, logs and journals.
fn run_folder() -> Vec<Finding> {
    let runs = match Runs::open() {
        Ok(runs) => runs,
        Err(error) => {
            let remedy = format!("{:#}", anyhow::Error::new(error));
            let found = Finding::ok(HERE, "folder", "runs have no folder");
            return vec![found.worse(State::Problem, remedy)];
        }
    };
    let path = runs.root().to_owned();
    let found = Finding::ok(HERE, "folder", path.display().to_string());
    let written = timed_sync(&path);
    let synced = match written {
        Ok(time) if time > SYNC_SLOW => {
            let text = format!("a synced write takes {} ms", time.as_millis());
            Finding::ok(HERE, "disk", text).worse(
                State::Warning,
                "journals sync often: put PHALANX_RUNTIME_DIR on a faster disk, or run with \
                 --journal off",
            )
        }
        Ok(time) => {
            let text = format!("a synced write takes {:.1} ms", time.as_secs_f64() * 1e3);
            Finding::ok(HERE, "disk", text)
        }
        Err(error) => Finding::ok(HERE, "disk", format!("cannot write: {error}")).worse(
            State::Problem,
            "make room in that folder or its owner's quota, or name another in \
             PHALANX_RUNTIME_DIR",
        ),
    };
    vec![found, synced]
}

/// Returns how long it takes to write and sync a block.
fn timed_sync(folder: &Path) -> std::io::Result<Duration> {
    let path = folder.join(format!(".doctor-{}", std::process::id()));
    let begin = Instant::now();
    let written = File::create_new(&path).and_then(|mut file| {
        file.write_all(&[0; 4096])?;
        file.sync_all()
    });
    let time = begin.elapsed();
    // What could not be made need not be removed.
    let _ = std::fs::remove_file(&path);
    written.map(|()| time)
}

fn descriptors() -> Finding {
    let limit = getrlimit(Resource::Nofile);
    match limit.maximum {
        Some(maximum) if maximum < DESCRIPTORS_WANTED => {
            let text = format!("a process may open {maximum} files");
            Finding::ok(HERE, "descriptors", text).worse(
                State::Warning,
                format!(
                    "many secondaries need more: `ulimit -Hn {DESCRIPTORS_WANTED}` or \
                         /etc/security/limits.conf"
                ),
            )
        }
        Some(maximum) => Finding::ok(
            HERE,
            "descriptors",
            format!("a process may open {maximum} files"),
        ),
        None => Finding::ok(
            HERE,
            "descriptors",
            "a process may open any number of files",
        ),
    }
}

fn cores(spec: &RunSpec) -> Finding {
    let cores = available_parallelism().map_or(1, usize::from);
    let wanted = spec.run.secondaries as usize;
    let text = format!("{cores} for a primary and {wanted} secondaries");
    let found = Finding::ok(HERE, "cores", text);
    if wanted > cores {
        let remedy = format!("--secondaries {cores} is faster, or --hosts on other machines");
        found.worse(State::Warning, remedy)
    } else {
        found
    }
}

fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    memory_of(&text)
}

/// Returns the available memory of a text like `/proc/meminfo` \[bytes\].
pub(super) fn memory_of(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

fn memory(available: Option<u64>) -> Finding {
    memory_finding(HERE, available)
}

/// Judges the available memory of a machine.
pub(super) fn memory_finding(machine: &str, available: Option<u64>) -> Finding {
    match available {
        None => Finding::ok(machine, "memory", "the system does not say"),
        Some(bytes) => {
            let found = Finding::ok(machine, "memory", format!("{} MiB available", bytes >> 20));
            if bytes < MEMORY_WANTED {
                found.worse(State::Warning, "large worlds need more: end other programs")
            } else {
                found
            }
        }
    }
}

fn ports() -> Finding {
    let every = "tcp://0.0.0.0:0".parse().map_err(anyhow::Error::new);
    match every.and_then(|every| Ok(with_free_ports(&every)?)) {
        Ok(_) => Finding::ok(
            HERE,
            "ports",
            "six in a row are free for hosts to connect to",
        ),
        Err(error) => Finding::ok(HERE, "ports", "a primary cannot be reached over tcp").worse(
            State::Warning,
            format!("{error:#}; runs of this machine alone need no ports"),
        ),
    }
}

fn multicast() -> Finding {
    let joined = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.join_multicast_v4(&ROS_GROUP, &Ipv4Addr::UNSPECIFIED));
    match joined {
        Ok(()) => Finding::ok(HERE, "multicast", "groups can be joined"),
        Err(error) => Finding::ok(
            HERE,
            "multicast",
            format!("no group can be joined: {error}"),
        )
        .worse(
            State::Warning,
            "nodes of ROS 2 do not find those of --ros2: give the interface a route for \
                 224.0.0.0/4",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_what_the_system_says() {
        let text = "MemTotal:  100 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(memory_of(text), Some(2 << 20));
        assert_eq!(memory_of("MemTotal: 1 kB\n"), None);
        assert_eq!(memory_finding("a", Some(2 << 20)).state, State::Warning);
        assert_eq!(memory_finding("a", Some(2 << 30)).state, State::Ok);
    }

    #[test]
    fn more_secondaries_than_cores_are_a_warning() {
        let mut spec = RunSpec::default();
        spec.run.secondaries = 1_000;
        assert_eq!(cores(&spec).state, State::Warning);
        spec.run.secondaries = 0;
        assert_eq!(cores(&spec).state, State::Ok);
    }
}
