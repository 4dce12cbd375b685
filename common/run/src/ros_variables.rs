//! The variables of ROS 2 that say how far its nodes see: `ROS_LOCALHOST_ONLY`, and
//! `ROS_AUTOMATIC_DISCOVERY_RANGE` and `ROS_STATIC_PEERS` of ROS 2 Iron and later.

/// The older variable, which wins where it is 1.
const LOCALHOST_ONLY: &str = "ROS_LOCALHOST_ONLY";
const RANGE: &str = "ROS_AUTOMATIC_DISCOVERY_RANGE";
const PEERS: &str = "ROS_STATIC_PEERS";

/// A variable of ROS 2 with a value that it cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is {value:?}, and must be {wanted}")]
pub struct RosVariableError {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// Values that it may have.
    pub wanted: &'static str,
}

/// Reach of the nodes of a process, as the environment has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RosReach {
    /// True if nodes of other machines are not met.
    pub is_local: bool,
    /// Wishes that cannot be fulfilled, for people.
    pub remarks: Vec<String>,
}

impl RosReach {
    /// Reads the variables; what is not set or empty is as ROS 2 has it: the whole network.
    ///
    /// # Errors
    /// Fails if one of them has a value that ROS 2 does not know.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Self, RosVariableError> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut reach = Self {
            is_local: is_localhost_only(given(LOCALHOST_ONLY).as_deref())?,
            remarks: Vec::new(),
        };
        if reach.is_local {
            // As in ROS 2, where both others are without effect then.
            return Ok(reach);
        }
        match given(RANGE).as_deref() {
            None | Some("SUBNET" | "SYSTEM_DEFAULT") => {}
            Some("LOCALHOST") => reach.is_local = true,
            Some("OFF") => {
                reach.is_local = true;
                let remark = format!("{RANGE} is OFF: nodes of this machine are met all the same");
                reach.remarks.push(remark);
            }
            Some(other) => {
                return Err(RosVariableError {
                    variable: RANGE,
                    value: other.to_owned(),
                    wanted: "LOCALHOST, SUBNET, OFF or SYSTEM_DEFAULT",
                });
            }
        }
        if let Some(peers) = given(PEERS) {
            reach.remarks.push(format!(
                "{PEERS} is not heeded: {peers} are met only where multicast reaches them, or if \
                 they name this machine"
            ));
        }
        Ok(reach)
    }
}

fn is_localhost_only(value: Option<&str>) -> Result<bool, RosVariableError> {
    match value {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => Err(RosVariableError {
            variable: LOCALHOST_ONLY,
            value: other.to_owned(),
            wanted: "0 or 1",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(only: &str, range: &str, peers: &str) -> Result<(bool, usize), RosVariableError> {
        let reach = RosReach::of(|name| {
            let value = match name {
                LOCALHOST_ONLY => only,
                RANGE => range,
                _ => peers,
            };
            Some(value.to_owned())
        })?;
        Ok((reach.is_local, reach.remarks.len()))
    }

    #[test]
    fn the_range_of_discovery_keeps_a_run_off_the_network() {
        assert_eq!(reach("", "", ""), Ok((false, 0)));
        assert_eq!(reach("0", "SUBNET", ""), Ok((false, 0)));
        assert_eq!(reach("", "SYSTEM_DEFAULT", ""), Ok((false, 0)));
        assert_eq!(reach("0", "LOCALHOST", ""), Ok((true, 0)));
        assert_eq!(reach("", "OFF", ""), Ok((true, 1)));
        assert_eq!(reach("1", "SUBNET", "10.0.0.7"), Ok((true, 0)));
        assert_eq!(RosReach::of(|_| None), Ok(RosReach::default()));
    }

    #[test]
    fn peers_that_cannot_be_named_are_told() {
        assert_eq!(reach("", "SUBNET", "10.0.0.7;robot"), Ok((false, 1)));
        assert_eq!(reach("", "OFF", "10.0.0.7"), Ok((true, 2)));
    }

    #[test]
    fn values_that_ros_does_not_have_are_refused_with_those_that_it_has() {
        let error = reach("", "localhost", "").unwrap_err().to_string();
        let expected = "ROS_AUTOMATIC_DISCOVERY_RANGE is \"localhost\", and must be LOCALHOST, \
                        SUBNET, OFF or SYSTEM_DEFAULT";
        assert_eq!(error, expected);
        assert_eq!(
            reach("yes", "", "").unwrap_err().variable,
            "ROS_LOCALHOST_ONLY"
        );
    }
}
