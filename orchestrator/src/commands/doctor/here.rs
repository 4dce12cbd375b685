//! Examination of this machine.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::RangeInclusive;
use std::thread::available_parallelism;

use protocol::counted;
use run::{RosReach, RunSpec};
use rustix::process::{Resource, getrlimit};
use transport::Endpoints;
use transport::zeromq::{check_curve, with_free_ports};

use super::gpu::gpu_finding;
use super::keys::keys;
use super::{Finding, State, disk};
use crate::launch::{find_worker, hosts};

/// Number of open files that a primary with a hundred secondaries and observers needs.
const DESCRIPTORS_WANTED: u64 = 4096;

/// Memory below which worlds with meshes may not fit \[bytes\].
const MEMORY_WANTED: u64 = 1 << 30;

/// Address of the multicast group by which ROS 2 finds its nodes.
const ROS_GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);

/// Name of this machine in findings.
pub(super) const HERE: &str = "here";

/// Examines this machine.
pub(super) fn examine(spec: &RunSpec) -> Vec<Finding> {
    let mut findings = vec![worker(), encryption(), keys(HERE, spec)];
    findings.extend(disk::examine());
    findings.push(descriptors());
    findings.push(cores(spec));
    findings.push(memory(available_memory()));
    findings.extend(gpu(spec));
    findings.push(ports(spec));
    findings.push(multicast());
    findings.push(ros_reach(|name| std::env::var(name).ok()));
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
    let text = format!("{cores} for a primary and {}", counted(wanted, "secondary"));
    let found = Finding::ok(HERE, "cores", text);
    if wanted > cores {
        let remedy = format!("--secondaries {cores} is faster, or --hosts on other machines");
        found.worse(State::Warning, remedy)
    } else {
        found
    }
}

/// Returns the memory that is left to this machine, or to the container or job that this is in
/// \[bytes\].
fn available_memory() -> Option<u64> {
    let of_machine = read("/proc/meminfo").and_then(|text| memory_of(&text));
    let group = read("/proc/self/cgroup").and_then(|text| group_of(&text));
    let of_group = group.and_then(|group| {
        let folder = format!("/sys/fs/cgroup{group}");
        let bytes = |name: &str| {
            read(&format!("{folder}/{name}"))?
                .trim()
                .parse::<u64>()
                .ok()
        };
        // Without a limit it says `max`.
        Some(bytes("memory.max")?.saturating_sub(bytes("memory.current")?))
    });
    of_machine.into_iter().chain(of_group).min()
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Returns the control group of a text like `/proc/self/cgroup`, of version 2.
fn group_of(text: &str) -> Option<String> {
    let group = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(group.trim_end_matches('/').to_owned())
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

/// Examines the ports of the primary: those that the run names, or any six in a row.
fn ports(spec: &RunSpec) -> Finding {
    let named = spec.network.bind.as_ref().and_then(Endpoints::tcp_ports);
    if let Some(named) = named.filter(|ports| *ports.start() != 0) {
        return named_ports(named);
    }
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

/// Examines ports that a run names: each must be free.
fn named_ports(ports: RangeInclusive<u16>) -> Finding {
    let text = format!("{} to {}, which bind names", ports.start(), ports.end());
    let found = Finding::ok(HERE, "ports", text);
    let refused = ports
        .clone()
        .find_map(|port| Some((port, TcpListener::bind(("0.0.0.0", port)).err()?)));
    match refused {
        None => found,
        Some((port, error)) => found.worse(
            State::Warning,
            format!(
                "{port} cannot be bound now ({error}): end what has it, such as a run, or name \
                 another port in bind"
            ),
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

/// Tells which nodes of ROS 2 those of `--ros2` meet by its variables.
fn ros_reach(variable: impl Fn(&str) -> Option<String>) -> Finding {
    let finding = |detail: &str| Finding::ok(HERE, "ros2", detail);
    match RosReach::of(variable) {
        Err(error) => finding("the variables of ROS 2 do not hold")
            .worse(State::Warning, format!("{error}; --ros2 refuses to begin")),
        Ok(RosReach { is_local, remarks }) => {
            let found = finding(if is_local {
                "nodes of this machine alone"
            } else {
                "nodes of the network"
            });
            if remarks.is_empty() {
                return found;
            }
            found.worse(State::Warning, remarks.join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_of_nodes_is_that_of_the_variables() {
        let found = |range: &str| {
            let finding = ros_reach(|name| {
                (name == "ROS_AUTOMATIC_DISCOVERY_RANGE").then(|| range.to_owned())
            });
            (finding.state, finding.text)
        };
        let network = "nodes of the network".to_owned();
        assert_eq!(found("SUBNET"), (State::Ok, network));
        let local = "nodes of this machine alone".to_owned();
        assert_eq!(found("LOCALHOST"), (State::Ok, local.clone()));
        assert_eq!(found("OFF"), (State::Warning, local));
        assert_eq!(found("FAR").0, State::Warning);
    }

    #[test]
    fn memory_is_read_from_what_the_system_says() {
        let text = "MemTotal:  100 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(memory_of(text), Some(2 << 20));
        assert_eq!(memory_of("MemTotal: 1 kB\n"), None);
        assert_eq!(memory_finding("a", Some(2 << 20)).state, State::Warning);
        assert_eq!(memory_finding("a", Some(2 << 30)).state, State::Ok);
    }

    #[test]
    fn a_control_group_is_that_of_version_2() {
        assert_eq!(group_of("1:cpu:/x\n0::/job/7\n").as_deref(), Some("/job/7"));
        assert_eq!(group_of("0::/\n").as_deref(), Some(""));
        assert_eq!(group_of("1:cpu:/x\n"), None);
    }

    #[test]
    fn ports_that_a_run_names_are_those_that_are_examined() {
        let mut spec = RunSpec::default();
        let taken = TcpListener::bind(("0.0.0.0", 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        spec.network.bind = Some(format!("tcp://0.0.0.0:{port}").parse().unwrap());
        let found = ports(&spec);
        assert_eq!(found.state, State::Warning, "{found:?}");
        assert!(found.remedy.unwrap().contains(&port.to_string()));
        spec.network.bind = Some("tcp://0.0.0.0:0".parse().unwrap());
        assert!(ports(&spec).text.starts_with("six in a row"));
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
