//! Things that not every machine has: a test without one shows less and says so, unless a variable
//! says that it must be here, as where everything is tested.

/// A `worker` and a `phalanx` with ROS 2.
pub const ROS2: &str = "PHALANX_REQUIRE_ROS2";
/// Nodes on Cyclone DDS, from `PyPI`.
pub const CYCLONE_DDS: &str = "PHALANX_REQUIRE_CYCLONE_DDS";
/// Nodes on Fast DDS, from Debian.
pub const FAST_DDS: &str = "PHALANX_REQUIRE_FAST_DDS";
/// Readers of bags, from `PyPI`.
pub const ROSBAGS: &str = "PHALANX_REQUIRE_ROSBAGS";
/// A server of ssh of a test's own.
pub const SSHD: &str = "PHALANX_REQUIRE_SSHD";
/// Slurm, with nodes of a test's own.
pub const SLURM: &str = "PHALANX_REQUIRE_SLURM";
/// Network namespaces as hosts, and TUN devices as cables between them.
pub const NAMESPACES: &str = "PHALANX_REQUIRE_NAMESPACES";
/// Python itself, for examples that are written in it.
pub const PYTHON: &str = "PHALANX_REQUIRE_PYTHON";
/// Packages by which programs in Python take part in a run, from `PyPI`.
pub const PARTICIPANTS: &str = "PHALANX_REQUIRE_PARTICIPANTS";

/// Says why less is shown.
///
/// # Panics
/// Panics if the variable is set: then nothing may be missing.
pub fn skip(variable: &str, reason: &str) {
    assert!(
        std::env::var_os(variable).is_none(),
        "{variable} is set, and it is missing: {reason}"
    );
    eprintln!("less is shown: {reason}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_here_is_no_reason_to_pass() {
        skip("PHALANX_REQUIRE_NOTHING_OF_THIS_NAME", "it is not here");
        // Every process has it.
        let skipped = std::panic::catch_unwind(|| skip("PATH", "it is not here"));
        assert!(skipped.is_err());
    }
}
