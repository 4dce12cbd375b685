//! Load of this machine, as the kernel tells it in `/proc`.

use std::fs;

use protocol::secondary_to_primary::MachineLoad;

/// Returns the load of this machine; `None` where the system does not tell it.
pub(crate) fn load() -> Option<MachineLoad> {
    let average = fs::read_to_string("/proc/loadavg").ok()?;
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let online = fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    of_texts(&average, &memory, &online)
}

fn of_texts(average: &str, memory: &str, online: &str) -> Option<MachineLoad> {
    let last_minute: f64 = average.split_whitespace().next()?.parse().ok()?;
    Some(MachineLoad {
        // A cast of a float ends at the limits of the integer.
        load_milli: (last_minute * 1e3).round() as u32,
        cores: count(online)?,
        memory_bytes: bytes(memory, "MemTotal:")?,
        available_bytes: bytes(memory, "MemAvailable:")?,
    })
}

/// Returns a figure of `/proc/meminfo`, whose unit is 1,024 bytes.
fn bytes(memory: &str, name: &str) -> Option<u64> {
    let figure = memory.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = figure.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns how many numbers a list such as `0-3,6` has.
fn count(list: &str) -> Option<u32> {
    let mut all: u32 = 0;
    for part in list.trim().split(',') {
        let (begin, end) = part.split_once('-').unwrap_or((part, part));
        let (begin, end): (u32, u32) = (begin.parse().ok()?, end.parse().ok()?);
        all = all.checked_add(end.checked_sub(begin)?.checked_add(1)?)?;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "MemTotal:       24640888 kB\nMemFree:        1000 kB\n\
                          MemAvailable:   20000000 kB\n";

    #[test]
    fn the_load_is_read_from_what_the_kernel_says() {
        let load = of_texts("1.25 0.80 0.51 2/345 6789\n", MEMORY, "0-3,6\n");
        let expected = MachineLoad {
            load_milli: 1_250,
            cores: 5,
            memory_bytes: 24_640_888 << 10,
            available_bytes: 20_000_000 << 10,
        };
        assert_eq!(load, Some(expected));
    }

    #[test]
    fn other_texts_say_nothing() {
        assert_eq!(of_texts("", MEMORY, "0"), None);
        assert_eq!(of_texts("1.0 1 1", "MemTotal: x kB", "0"), None);
        assert_eq!(of_texts("1.0 1 1", MEMORY, "3-0"), None);
        assert_eq!(of_texts("1.0 1 1", MEMORY, ""), None);
    }

    #[test]
    fn this_machine_has_cores_and_memory() {
        let load = load().expect("it is Linux");
        assert!(load.cores > 0 && load.memory_bytes >= load.available_bytes);
    }
}
