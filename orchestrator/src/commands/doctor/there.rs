//! Examination of hosts, over ssh as a run reaches them.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::error_chain::chain;
use run::{Host, RunSpec};

use super::gpu::gpu_finding;
use super::here::{memory_finding, memory_of};
use super::{Finding, State};
use crate::launch::find_worker;
use crate::launch::hosts::{HostConnection, prepare_one};

/// Difference of clocks above which times in logs of a host mislead.
const CLOCK_WANTED_S: f64 = 0.5;

/// Time for which a host tries to connect \[s\].
const CONNECT_TIME_S: u64 = 5;

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
    let answer = match connection.ask("date +%s.%N; nproc; cat /proc/meminfo") {
        Ok(answer) => answer,
        Err(error) => {
            let remedy = chain(&error);
            let found = Finding::ok(name, "ssh", "it cannot be reached");
            return vec![found.worse(State::Problem, remedy)];
        }
    };
    let after = seconds_now();
    let mut lines = answer.lines();
    let clock = lines.next().and_then(|line| line.trim().parse().ok());
    let cores = lines.next().and_then(|line| line.trim().parse().ok());
    let mut findings = vec![
        Finding::ok(
            name,
            "ssh",
            format!("it answers within {:.1} s", after - before),
        ),
        clock_finding(name, clock, (before, after)),
        cores_finding(name, cores, host.slots),
        memory_finding(name, memory_of(&answer)),
        way_back(&connection, host),
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
    let found = Finding::ok(name, "cores", format!("{cores} for {slots} secondaries"));
    if slots > cores {
        let remedy = format!("{name}:{cores} is faster");
        found.worse(State::Warning, remedy)
    } else {
        found
    }
}

/// Finds out whether the host reaches a port of this machine, as its secondaries must.
fn way_back(connection: &HostConnection, host: &Host) -> Finding {
    let name = host.name.as_str();
    let port = TcpListener::bind(("0.0.0.0", 0)).and_then(|listener| {
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    });
    let Ok((_listener, port)) = port else {
        return Finding::ok(name, "way back", "not tried: no port is free here");
    };
    let script = format!(
        "{}; echo \"$a\"; command -v bash >/dev/null || {{ echo unknown; exit; }}; \
         if timeout {CONNECT_TIME_S} bash -c \"exec 3<>/dev/tcp/${{a}}/{port}\" 2>/dev/null; \
         then echo reached; else echo lost; fi",
        connection.address_script(host.primary_address.as_deref())
    );
    let answer = connection.ask(&script).unwrap_or_default();
    let mut lines = answer.lines();
    let address = lines.next().unwrap_or("?").to_owned();
    match lines.next() {
        Some("reached") => Finding::ok(
            name,
            "way back",
            format!("it reaches this machine as {address}"),
        ),
        Some("unknown") => Finding::ok(name, "way back", "not tried: it has no bash"),
        _ => Finding::ok(name, "way back", format!("it does not reach {address}")).worse(
            State::Problem,
            "open the ports of --bind in the firewall of this machine, or name the address \
             under which that host reaches it as primary_address of a [[host]]",
        ),
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
    fn a_host_with_fewer_cores_than_secondaries_is_a_warning() {
        assert_eq!(cores_finding("a", Some(2), 3).state, State::Warning);
        assert_eq!(cores_finding("a", Some(2), 2).state, State::Ok);
        assert_eq!(cores_finding("a", None, 2).state, State::Ok);
    }
}
