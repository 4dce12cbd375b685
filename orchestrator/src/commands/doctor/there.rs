//! Examination of hosts, over ssh as a run reaches them.

use std::io;
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::counted;
use protocol::error_chain::chain;
use run::{Host, RunSpec};
use transport::Endpoints;

use super::gpu::gpu_finding;
use super::here::{memory_finding, memory_of};
use super::{Finding, State};
use crate::launch::find_worker;
use crate::launch::hosts::{HostConnection, prepare_one, quoted};

/// Difference of clocks above which times in logs of a host mislead.
const CLOCK_WANTED_S: f64 = 0.5;

/// Time for which a host tries to connect \[s\].
const CONNECT_TIME_S: u64 = 5;

/// Number of open files that a secondary needs, or a relay with some behind it.
const DESCRIPTORS_WANTED: u64 = 1024;

/// Room that a copied worker program and what a run keeps need on a host \[bytes\].
const ROOM_WANTED: u64 = 256 << 20;

/// Flags of an interface that is up, that is the machine's own loop, and that takes multicast
/// (`netdevice(7)`).
const UP: u32 = 0x1;
const LOOP: u32 = 0x8;
const MULTICAST: u32 = 0x1000;

/// Script that has a host describe itself, one property in each line after its name.
const DESCRIBE: &str = r#"echo clock $(date +%s.%N); echo cores $(nproc); echo files $(ulimit -Hn)
    folder=${XDG_CACHE_HOME:-$HOME/.cache}; [ -d "$folder" ] || folder=$HOME
    [ -w "$folder" ] && access=rw || access=ro
    echo disk $access $(df -Pk "$folder" | tail -n 1 | tr -s " " | cut -d " " -f 4) "$folder"
    for one in /sys/class/net/*; do echo net $(cat "$one/flags") "${one##*/}"; done
    cat /proc/meminfo"#;

/// Examines all hosts at the same time.
pub(super) fn examine(spec: &RunSpec) -> Vec<Finding> {
    let hosts = spec.used_hosts();
    thread::scope(|scope| {
        let threads: Vec<_> = hosts
            .iter()
            .map(|host| scope.spawn(|| examine_one(spec, host)))
            .collect();
        let results = threads.into_iter().map(thread::ScopedJoinHandle::join);
        results.flat_map(Result::unwrap_or_default).collect()
    })
}

fn examine_one(spec: &RunSpec, host: &Host) -> Vec<Finding> {
    let name = host.name.as_str();
    let connection = HostConnection::new(spec, name);
    let before = seconds_now();
    let answer = match connection.ask(&format!("exec sh -c {}", quoted(DESCRIBE))) {
        Ok(answer) => answer,
        Err(error) => {
            let remedy = chain(&error);
            let found = Finding::ok(name, "ssh", "it cannot be reached");
            return vec![found.worse(State::Problem, remedy)];
        }
    };
    let after = seconds_now();
    let said = |name| property(&answer, name);
    let clock = said("clock").and_then(|time| time.parse().ok());
    let cores = said("cores").and_then(|count| count.parse().ok());
    let mut findings = vec![
        Finding::ok(
            name,
            "ssh",
            format!("it answers within {:.1} s", after - before),
        ),
        clock_finding(name, clock, (before, after)),
        cores_finding(name, cores, host.slots),
        memory_finding(name, memory_of(&answer)),
        descriptors_finding(name, said("files")),
        disk_finding(name, said("disk")),
        multicast_finding(name, &answer),
        way_back(&connection, spec, host),
    ];
    let worker = match worker(spec, host) {
        Ok(path) => {
            let report = connection.gpu_of(&path);
            findings.insert(1, gpu_finding(name, spec, report));
            Finding::ok(name, "worker", format!("{path} is of the same build"))
        }
        Err(finding) => finding,
    };
    findings.insert(1, worker);
    findings
}

/// Returns a property of a host by its name; what else a shell says as it begins is none.
fn property<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = answer.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

/// Judges the number of files that a process of a host may open.
fn descriptors_finding(name: &str, maximum: Option<&str>) -> Finding {
    let found = |text: String| Finding::ok(name, "descriptors", text);
    match (
        maximum,
        maximum.and_then(|maximum| maximum.parse::<u64>().ok()),
    ) {
        (Some("unlimited"), _) => found("a process may open any number of files".to_owned()),
        (_, None) => found("it does not say how many files a process may open".to_owned()),
        (_, Some(maximum)) => {
            let found = found(format!("a process may open {maximum} files"));
            if maximum >= DESCRIPTORS_WANTED {
                return found;
            }
            let remedy = format!(
                "several secondaries behind a relay need more: `ulimit -Hn {DESCRIPTORS_WANTED}` \
                 or /etc/security/limits.conf on {name}"
            );
            found.worse(State::Warning, remedy)
        }
    }
}

/// Judges the room in the folder of a host to which a worker program is copied, from whether it
/// can be written, the free blocks of 1024 bytes, and its path.
fn disk_finding(name: &str, said: Option<&str>) -> Finding {
    let mut words = said.unwrap_or_default().splitn(3, ' ');
    let (access, free, folder) = (words.next(), words.next(), words.next());
    let free: Option<u64> = free.and_then(|blocks| blocks.parse().ok());
    let (Some(free), Some(folder)) = (free, folder) else {
        return Finding::ok(name, "disk", "it does not say what room it has");
    };
    let free = free.saturating_mul(1024);
    let found = Finding::ok(name, "disk", format!("{} MiB free in {folder}", free >> 20));
    if access != Some("rw") {
        let remedy = format!("{folder} cannot be written there: --copy-worker needs it");
        return found.worse(State::Warning, remedy);
    }
    if free < ROOM_WANTED {
        return found.worse(
            State::Warning,
            "--copy-worker may not fit: make room, or name another folder by XDG_CACHE_HOME there",
        );
    }
    found
}

/// Finds out whether an interface of a host takes multicast, by which nodes of ROS 2 are found.
fn multicast_finding(name: &str, answer: &str) -> Finding {
    let lines = answer.lines().filter_map(|line| line.strip_prefix("net "));
    let interfaces = lines.filter_map(|line| {
        let (flags, interface) = line.split_once(' ')?;
        let flags = u32::from_str_radix(flags.strip_prefix("0x")?, 16).ok()?;
        let takes = flags & (UP | LOOP | MULTICAST) == UP | MULTICAST;
        takes.then_some(interface)
    });
    let interfaces: Vec<&str> = interfaces.collect();
    if interfaces.is_empty() {
        return Finding::ok(name, "multicast", "no interface takes it").worse(
            State::Warning,
            "nodes of ROS 2 do not find those of --ros2 there: `ip link set DEVICE multicast on`, \
             or name peers to them",
        );
    }
    let text = format!("taken by {}", interfaces.join(", "));
    Finding::ok(name, "multicast", text)
}

/// Returns the worker program of a host, or what is wrong with it.
fn worker(spec: &RunSpec, host: &Host) -> Result<String, Finding> {
    let name = host.name.as_str();
    let own = find_worker().map_err(|error| {
        let found = Finding::ok(name, "worker", "there is none here to compare with");
        found.worse(State::Problem, error.to_string())
    })?;
    prepare_one(spec, host, &own, false).map_err(|error| {
        let found = Finding::ok(name, "worker", "none of this build");
        found.worse(State::Problem, chain(&error))
    })
}

/// Judges a clock that was read between two times of our own \[s since 1970\].
fn clock_finding(name: &str, clock: Option<f64>, (before, after): (f64, f64)) -> Finding {
    let Some(clock) = clock else {
        return Finding::ok(name, "clock", "it does not say its time");
    };
    let error = (after - before) / 2.0;
    let offset = clock - f64::midpoint(before, after);
    let found = Finding::ok(name, "clock", format!("{offset:+.2} s, \u{b1}{error:.2} s"));
    if offset.abs() > CLOCK_WANTED_S + error {
        found.worse(
            State::Warning,
            "times in its logs will not fit; a run does not care: let a time service such as \
             chrony set it",
        )
    } else {
        found
    }
}

fn cores_finding(name: &str, cores: Option<u32>, slots: u32) -> Finding {
    let Some(cores) = cores else {
        return Finding::ok(name, "cores", "it does not say how many it has");
    };
    let found = Finding::ok(
        name,
        "cores",
        format!("{cores} for {}", counted(slots, "secondary")),
    );
    if slots > cores {
        let remedy = format!("{name}:{cores} is faster");
        found.worse(State::Warning, remedy)
    } else {
        found
    }
}

/// Finds out whether the host reaches the ports of this machine that its secondaries connect to:
/// those that the run names, or any one.
fn way_back(connection: &HostConnection, spec: &RunSpec, host: &Host) -> Finding {
    let name = host.name.as_str();
    let named = spec.network.bind.as_ref().and_then(Endpoints::tcp_ports);
    let ports = named.filter(|ports| *ports.start() != 0).unwrap_or(0..=0);
    let is_named = *ports.start() != 0;
    let listeners: io::Result<Vec<TcpListener>> = ports
        .map(|port| TcpListener::bind(("0.0.0.0", port)))
        .collect();
    let bound = listeners.and_then(|all| {
        let ports = all.iter().map(|one| Ok(one.local_addr()?.port()));
        let ports = ports.collect::<io::Result<Vec<u16>>>()?;
        Ok((all, ports))
    });
    let (_listeners, ports) = match bound {
        Ok(bound) => bound,
        Err(error) => {
            let text = format!("not tried: a port cannot be bound here: {error}");
            return Finding::ok(name, "way back", text);
        }
    };
    let list: Vec<String> = ports.iter().map(u16::to_string).collect();
    let script = format!(
        "{}; echo \"$a\"; command -v bash >/dev/null || {{ echo unknown; exit; }}; \
         for p in {}; do if timeout {CONNECT_TIME_S} bash -c \"exec 3<>/dev/tcp/${{a}}/$p\" \
         2>/dev/null; then :; else echo lost $p; exit; fi; done; echo reached",
        connection.address_script(host.primary_address.as_deref()),
        list.join(" ")
    );
    judge_way_back(name, &connection.ask(&script).unwrap_or_default(), is_named)
}

/// Judges what a host says of its attempts to reach ports of this machine.
fn judge_way_back(name: &str, answer: &str, is_named: bool) -> Finding {
    let mut lines = answer.lines();
    let address = lines.next().unwrap_or("?");
    match lines.next() {
        Some("reached") => {
            let ports = if is_named {
                "at all ports that bind names"
            } else {
                "at a port that the system chose; where a firewall opens some alone, name them in \
                 bind"
            };
            let text = format!("it reaches this machine as {address}, {ports}");
            Finding::ok(name, "way back", text)
        }
        Some("unknown") => Finding::ok(name, "way back", "not tried: it has no bash"),
        lost => {
            let port = lost.and_then(|line| line.strip_prefix("lost "));
            let port = port.map_or_else(String::new, |port| format!(" at port {port}"));
            let found = Finding::ok(
                name,
                "way back",
                format!("it does not reach {address}{port}"),
            );
            found.worse(
                State::Problem,
                "open the ports of bind in the firewall of this machine, or name the address \
                 under which that host reaches it as primary_address of a [[host]]",
            )
        }
    }
}

fn seconds_now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or(Duration::ZERO).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_judged_by_more_than_the_way_to_it() {
        let state = |clock| clock_finding("a", Some(clock), (100.0, 102.0)).state;
        assert_eq!(state(101.0), State::Ok);
        assert_eq!(state(102.4), State::Ok, "it may have been read late");
        assert_eq!(state(102.6), State::Warning);
        assert_eq!(state(99.0), State::Warning);
    }

    #[test]
    fn a_host_describes_itself_whatever_its_shell_says_before() {
        let answer = "Welcome to files!\nclock 12.5\ncores 4\nfiles 64\nfiles 1\ncores\n";
        assert_eq!(property(answer, "files"), Some("64"));
        assert_eq!(property(answer, "clock"), Some("12.5"));
        assert_eq!(property("cores\ncores \n", "cores"), None);
    }

    #[test]
    fn few_files_little_room_and_no_multicast_are_warnings() {
        let files = |maximum| descriptors_finding("a", maximum).state;
        assert_eq!(files(Some("64")), State::Warning);
        for maximum in [Some("1048576"), Some("unlimited"), Some("?"), None] {
            assert_eq!(files(maximum), State::Ok, "{maximum:?}");
        }
        let disk = |said| disk_finding("a", said);
        let found = disk(Some("rw 1048576 /home/my user/.cache"));
        assert_eq!(
            (found.state, &*found.text),
            (State::Ok, "1024 MiB free in /home/my user/.cache")
        );
        assert_eq!(disk(Some("rw 1024 /c")).state, State::Warning);
        assert_eq!(disk(Some("ro 1048576 /c")).state, State::Warning);
        assert_eq!(disk(None).state, State::Ok);
        let net = |lines| multicast_finding("a", lines);
        let found = net("net 0x9 lo\nnet 0x1003 eth0\nnet 0x1002 eth1\n");
        assert_eq!((found.state, &*found.text), (State::Ok, "taken by eth0"));
        assert_eq!(
            net("net 0x1009 lo\nnet 0x10c1 tun0\n").text,
            "taken by tun0"
        );
        assert_eq!(net("net 0x9 lo\nnet 0xc1 tun0\n").state, State::Warning);
    }

    #[test]
    fn a_port_that_a_host_does_not_reach_is_named() {
        let lost = judge_way_back("a", "10.0.0.1\nlost 11347\n", true);
        assert_eq!(lost.state, State::Problem);
        assert_eq!(lost.text, "it does not reach 10.0.0.1 at port 11347");
        let silent = judge_way_back("a", "", true);
        assert_eq!(silent.state, State::Problem);
        let reached = judge_way_back("a", "10.0.0.1\nreached\n", true);
        assert_eq!(reached.state, State::Ok);
    }

    #[test]
    fn a_host_with_fewer_cores_than_secondaries_is_a_warning() {
        assert_eq!(cores_finding("a", Some(2), 3).state, State::Warning);
        assert_eq!(cores_finding("a", Some(2), 2).state, State::Ok);
        assert_eq!(cores_finding("a", None, 2).state, State::Ok);
    }
}
