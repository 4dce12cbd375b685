//! Identity of a process: the description of itself that it sends when it joins.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::PeerName;
use crate::plain_text::own_word;

/// Role of a process in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Distributes work and keeps time.
    Primary,
    /// Runs physics and sensors.
    Secondary,
    /// Does both in one process.
    Standalone,
    /// Takes part in lockstep as a program of its own, without physics.
    Participant,
    /// Passes messages on between the secondaries of a machine and the primary.
    Relay,
}

/// Text that names no network role.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "{0:?} is no network role: use primary, secondary or relay, or leave it out for standalone"
)]
pub struct ParseRoleError(String);

impl FromStr for Role {
    type Err = ParseRoleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().as_str() {
            "primary" => Ok(Self::Primary),
            "secondary" => Ok(Self::Secondary),
            "relay" => Ok(Self::Relay),
            _ => Err(ParseRoleError(text.to_owned())),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
            Self::Standalone => "standalone",
            Self::Participant => "participant",
            Self::Relay => "relay",
        })
    }
}

/// Program that a process runs; two that differ in it could compute different bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The version in the manifest.
    #[serde(deserialize_with = "own_word")]
    pub version: String,
    /// The target triple.
    #[serde(deserialize_with = "own_word")]
    pub target: String,
    /// Fingerprint of the sources that decide results.
    pub sources: Digest,
}

impl fmt::Display for Build {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} ({}, sources {})",
            self.version, self.target, self.sources
        )
    }
}

/// Description of a process, by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerInfo {
    /// Its name.
    pub name: PeerName,
    /// Its role.
    pub role: Role,
    /// Its process id.
    pub pid: u32,
    /// The name of its machine.
    #[serde(deserialize_with = "own_word")]
    pub host: String,
    /// Number that tells machines of one name apart; 0 where there is none.
    #[serde(default)]
    pub machine: u64,
    /// The program it runs.
    pub build: Build,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitalization_of_a_role_does_not_matter() {
        for text in ["primary", "Primary", "PRIMARY", "pRiMaRy"] {
            assert_eq!(text.parse(), Ok(Role::Primary));
        }
        assert_eq!("SECONDARY".parse(), Ok(Role::Secondary));
        assert!("tertiary".parse::<Role>().is_err());
    }

    #[test]
    fn a_host_that_no_machine_is_named_is_not_read() {
        let info = |host: &str| PeerInfo {
            name: PeerName::primary(),
            role: Role::Primary,
            pid: 1,
            host: host.to_owned(),
            machine: 7,
            build: Build {
                version: "0.1.0".to_owned(),
                target: "any".to_owned(),
                sources: Digest(0),
            },
        };
        let read = |info: &PeerInfo| {
            msgpack::from_slice::<PeerInfo>(&msgpack::to_vec_named(info).unwrap())
        };
        assert_eq!(read(&info("lab-3")).unwrap(), info("lab-3"));
        for host in [
            "a\u{1b}[31m",
            "a\u{9b}",
            "a\u{202e}b",
            "a\nb",
            &"x".repeat(256),
        ] {
            assert!(read(&info(host)).is_err(), "{host:?}");
            let mut built = info("lab");
            built.build.version = host.to_owned();
            assert!(read(&built).is_err(), "{host:?}");
        }
    }
}
