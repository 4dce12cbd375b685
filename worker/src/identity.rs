//! Identity of this process: its build, its machine, and what it uses of it.

use std::hash::{BuildHasher, Hasher, RandomState};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use protocol::peer::Build;
use protocol::plain_text::is_own_word;
use protocol::{PeerInfo, PeerName, Role, SessionId};

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
