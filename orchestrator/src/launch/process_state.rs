//! [`ProcessState`]: what a process of this machine does, from `/proc`.

use std::fs;

/// State of a process now; one that cannot be looked at does nothing that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessState {
    /// True if it is stopped by a signal or a debugger.
    pub is_stopped: bool,
    /// True if one of its threads waits for a device: no signal ends it before that answers.
    pub waits_for_device: bool,
    /// The CPU time that it has used \[ticks\].
    pub cpu_ticks: Option<u64>,
}

impl ProcessState {
    /// Looks at a process.
    pub fn of(pid: u32) -> Self {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let (letter, cpu_ticks) = read(&stat);
        Self {
            is_stopped: matches!(letter, Some('T' | 't')),
            waits_for_device: any_thread_waits_for_device(pid),
            cpu_ticks,
        }
    }

    /// Says what it does; empty when that is not known.
    pub fn describe(&self) -> &'static str {
        match self {
            Self {
                is_stopped: true, ..
            } => "its process is stopped",
            Self {
                waits_for_device: true,
                ..
            } => "its process waits for a device",
            Self {
                cpu_ticks: None, ..
            } => "what its process does is not known",
            Self { .. } => "its process is not stopped",
        }
    }
}

fn any_thread_waits_for_device(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return false;
    };
    threads.filter_map(Result::ok).any(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        read(&stat).0 == Some('D')
    })
}

/// Returns the letter of the state and the CPU time in the content of a file `stat`.
fn read(stat: &str) -> (Option<char>, Option<u64>) {
    // The name in parentheses may hold anything, so that what follows begins after the last one.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let letter = fields.first().and_then(|field| field.chars().next());
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok());
    let used = ticks(11).zip(ticks(12));
    (letter, used.map(|(user, system)| user + system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_read_behind_any_name() {
        let stat = "7 (a) T b) D 1 7 7 0 -1 4 0 0 0 0 150 25 0 0 20 0 3 0 9 1";
        assert_eq!(read(stat), (Some('D'), Some(175)));
        for broken in ["", "7 (worker", "7 (worker)"] {
            assert_eq!(read(broken), (None, None), "{broken}");
        }
    }

    #[test]
    fn a_process_that_is_gone_is_not_known() {
        assert_eq!(ProcessState::of(u32::MAX), ProcessState::default());
        let own = ProcessState::of(std::process::id());
        assert!(!own.is_stopped && own.cpu_ticks.is_some(), "{own:?}");
    }
}
