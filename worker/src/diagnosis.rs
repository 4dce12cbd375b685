//! State of a peer's process, as this machine sees it: `/proc/PID/stat`.

use std::fs;

use lockstep::ProcessReport;

use crate::identity;

/// Ticks per second of times in `/proc`: Linux shows them in hundredths on every target of ours.
const TICKS_PER_SECOND: u64 = 100;

/// Returns what a process on some machine does.
pub fn of(pid: u32, host: &str) -> ProcessReport {
    if host != identity::host() {
        return unknown("its process is on another machine".to_owned());
    }
    let own = fs::read_to_string("/proc/self/comm").unwrap_or_default();
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    match name {
        // Machines and containers may share a name, and then not their processes.
        Ok(name) if name != own => unknown(format!("process {pid} is none of ours")),
        Ok(_) => match fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => read(&stat),
            Err(_) => unknown("its process is gone".to_owned()),
        },
        Err(_) => unknown("its process is gone".to_owned()),
    }
}

/// Reads the content of `/proc/PID/stat`.
fn read(stat: &str) -> ProcessReport {
    // The name in parentheses may hold anything, so what follows begins after the last one.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let letter = fields.first().copied().unwrap_or("?");
    let what = match letter {
        "R" => "runs",
        "S" => "sleeps",
        "D" => "waits for a device",
        "T" => "is stopped by a signal",
        "t" => "is stopped by a debugger",
        "Z" | "X" => "has ended",
        "I" => "is idle",
        _ => "is in an unknown state",
    };
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok());
    let used = ticks(11).zip(ticks(12));
    ProcessReport {
        state: format!("its process {what} ({letter})"),
        is_stopped: matches!(letter, "T" | "t"),
        cpu_time_us: used.map(|(user, system)| {
            user.saturating_add(system)
                .saturating_mul(1_000_000 / TICKS_PER_SECOND)
        }),
    }
}

fn unknown(state: String) -> ProcessReport {
    ProcessReport {
        state,
        is_stopped: false,
        cpu_time_us: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(letter: &str, state: &str, is_stopped: bool) {
        let stat = format!("7 (a) b) {letter} 1 7 7 0 -1 4 0 0 0 0 150 25 0 0 20 0 3 0 9 1");
        let found = read(&stat);
        assert_eq!(found.state, state);
        assert_eq!(found.is_stopped, is_stopped);
        assert_eq!(found.cpu_time_us, Some(1_750_000));
    }

    #[test]
    fn the_letter_of_a_state_is_said_in_words() {
        check("R", "its process runs (R)", false);
        check("D", "its process waits for a device (D)", false);
        check("T", "its process is stopped by a signal (T)", true);
        check("t", "its process is stopped by a debugger (t)", true);
        check("Z", "its process has ended (Z)", false);
    }

    #[test]
    fn an_unreadable_process_is_unknown_and_not_stopped() {
        for stat in ["", "7 (worker", "7 (worker)", "7 (worker) R x"] {
            let found = read(stat);
            assert_eq!(
                (found.is_stopped, found.cpu_time_us),
                (false, None),
                "{stat}"
            );
        }
    }

    #[test]
    fn a_process_of_this_machine_is_seen_and_others_are_not() {
        let own = of(std::process::id(), &identity::host());
        assert!(own.cpu_time_us.is_some(), "{own:?}");
        let gone = of(u32::MAX, &identity::host());
        assert_eq!(gone.state, "its process is gone");
        let remote = of(std::process::id(), "some.other.machine");
        assert_eq!(remote.state, "its process is on another machine");
    }
}
