//! [`Access`]: permissions of the peer at the other end of a connection.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Permissions of the peer at the other end of a connection; the transport knows them, not the
/// sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Everything: a process of this user on this machine, or a run that nothing protects.
    #[serde(rename = "owner")]
    Full,
    /// Take part as a secondary, listen and ask.
    Secondary,
    /// Command, listen and ask.
    Controller,
    /// Listen and ask.
    Observer,
}

/// Text that names no role that a key can have.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is no role of a key: use secondary, controller or observer")]
pub struct ParseAccessError(String);

impl Access {
    /// Tells whether it may take part as a secondary.
    pub fn may_simulate(self) -> bool {
        matches!(self, Self::Full | Self::Secondary)
    }

    /// Tells whether it may change the run.
    pub fn may_command(self) -> bool {
        matches!(self, Self::Full | Self::Controller)
    }
}

impl FromStr for Access {
    type Err = ParseAccessError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "secondary" => Ok(Self::Secondary),
            "controller" => Ok(Self::Controller),
            "observer" => Ok(Self::Observer),
            _ => Err(ParseAccessError(text.chars().take(40).collect())),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Full => "owner",
            Self::Secondary => "secondary",
            Self::Controller => "controller",
            Self::Observer => "observer",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_its_part_and_no_more() {
        let check = |role: Access, simulates, commands| {
            assert_eq!(
                (role.may_simulate(), role.may_command()),
                (simulates, commands)
            );
        };
        check(Access::Full, true, true);
        check(Access::Secondary, true, false);
        check(Access::Controller, false, true);
        check(Access::Observer, false, false);
    }

    #[test]
    fn a_role_is_read_as_it_is_written_and_nobody_is_given_everything() {
        for role in [Access::Secondary, Access::Controller, Access::Observer] {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        assert!("owner".parse::<Access>().is_err());
    }
}
