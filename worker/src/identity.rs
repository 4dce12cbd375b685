//! Identity of this process: its build, its machine, and what it uses of it.

use std::hash::{BuildHasher, Hasher, RandomState};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use protocol::peer::Build;
use protocol::plain_text::is_own_word;
use protocol::{Digest, PeerInfo, PeerName, Role, SessionId};

/// Returns the program that this process runs.
///
/// # Panics
/// Never: the build script gives a digest.
pub fn build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: env!("PHALANX_TARGET").to_owned(),
        sources: env!("PHALANX_SOURCES")
            .parse()
            .expect("the build script prints a digest"),
    }
}

/// Returns the version with what decides whether two programs compute the same bits.
pub fn version_text() -> String {
    let build = build();
    format!(
        "{}\nsources {}\ntarget {}\nfeatures {}",
        build.version,
        build.sources,
        build.target,
        features()
    )
}

/// Returns the features that it was built with.
fn features() -> String {
    let all = [
        ("ros2", cfg!(feature = "ros2")),
        ("gpu", cfg!(feature = "gpu")),
    ];
    let built: Vec<&str> = all
        .iter()
        .filter(|(_, is_built)| *is_built)
        .map(|(name, _)| *name)
        .collect();
    if built.is_empty() {
        "none".to_owned()
    } else {
        built.join(" ")
    }
}

/// Returns what this process says of itself.
pub fn peer_info(name: PeerName, role: Role) -> PeerInfo {
    PeerInfo {
        name,
        role,
        pid: std::process::id(),
        host: host(),
        machine: machine(),
        build: build(),
    }
}

/// Returns the name of this machine.
pub fn host() -> String {
    nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
        .filter(|name| is_own_word(name))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Returns a number that tells this machine from others of its name: of its running kernel, which
/// copies of a disk do not share and containers do; else of its disk.
fn machine() -> u64 {
    let files = ["/proc/sys/kernel/random/boot_id", "/etc/machine-id"];
    let texts = files.map(|file| std::fs::read_to_string(file).unwrap_or_default());
    number_of(texts.iter().map(|text| text.trim()))
}

/// Returns a number for the first text that says something, 0 if none does.
fn number_of<'a>(mut texts: impl Iterator<Item = &'a str>) -> u64 {
    // All processes of a run are of one build, so that they count alike.
    let number = |text: &str| (Digest::of_bytes(text.as_bytes()).0 as u64).max(1);
    texts.find(|text| !text.is_empty()).map_or(0, number)
}

/// Returns a session id that no other run has.
pub fn new_session() -> SessionId {
    // The standard library seeds its hashers from the operating system's random numbers.
    SessionId(RandomState::new().build_hasher().finish().max(1))
}

/// Returns an address of 128 random bits.
pub fn new_address() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}

/// Returns the processor time used so far \[us\].
pub fn cpu_time_us() -> u64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return 0;
    };
    let time = usage.user_time() + usage.system_time();
    u64::try_from(time.num_microseconds()).unwrap_or(0)
}

/// Returns the resident memory \[bytes\].
pub fn memory_bytes() -> u64 {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_told_from_others_by_the_first_text_that_there_is() {
        let number = |texts: [&'static str; 2]| number_of(texts.into_iter());
        assert_eq!(number(["", ""]), 0);
        assert_ne!(number(["", "disk"]), 0);
        assert_eq!(number(["kernel", "disk"]), number(["kernel", "other"]));
        assert_ne!(number(["kernel", "disk"]), number(["other", "disk"]));
        assert_eq!(machine(), machine());
    }
}
