//! Names of topics and types as DDS has them: `/scan` of `sensor_msgs/msg/LaserScan` is `rt/scan`
//! of `sensor_msgs::msg::dds_::LaserScan_`.

/// The longest name of a topic \[bytes\].
const TOPIC_BYTES_MAX: usize = 247;

/// A name that ROS 2 does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is no absolute name.
    #[error(
        "{name:?} is no name of ROS 2: it begins with /, and has letters, digits and _ between \
         slashes, up to {TOPIC_BYTES_MAX} bytes"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// It is no type of messages.
    #[error("{name:?} is no type of messages of ROS 2, such as nav_msgs/msg/Odometry")]
    Type {
        /// The name.
        name: String,
    },
}

/// Returns the name that a topic has in DDS.
///
/// # Errors
/// Fails if no topic can be named so.
pub(crate) fn topic(name: &str) -> Result<String, NameError> {
    check(name)?;
    Ok(format!("rt{name}"))
}

/// Makes sure that a name is absolute and that ROS 2 has such ones.
///
/// # Errors
/// Fails if it is not.
pub(crate) fn check(name: &str) -> Result<(), NameError> {
    let parts = name.strip_prefix('/').map(|rest| rest.split('/'));
    let is_right = parts.is_some_and(|mut parts| parts.all(is_part));
    if is_right && name.len() <= TOPIC_BYTES_MAX {
        return Ok(());
    }
    let name = name.chars().take(TOPIC_BYTES_MAX).collect();
    Err(NameError::Name { name })
}

/// Returns the name that a type of messages has in DDS.
///
/// # Errors
/// Fails if no type can be named so.
pub(crate) fn message_type(name: &str) -> Result<String, NameError> {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        [package, folder @ ("msg" | "action"), kind] if is_part(package) && is_part(kind) => {
            Ok(format!("{package}::{folder}::dds_::{kind}_"))
        }
        _ => Err(NameError::Type {
            name: name.to_owned(),
        }),
    }
}

/// Names of a service in DDS: those of its topics, then those of their types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceNames {
    pub(crate) request: String,
    pub(crate) reply: String,
    pub(crate) request_type: String,
    pub(crate) reply_type: String,
}

/// Returns the names that a service has in DDS.
///
/// # Errors
/// Fails if no service, or none of this type, can be named so.
pub(crate) fn service(name: &str, type_name: &str) -> Result<ServiceNames, NameError> {
    check(name)?;
    let parts: Vec<&str> = type_name.split('/').collect();
    match parts[..] {
        [package, folder @ ("srv" | "action"), kind] if is_part(package) && is_part(kind) => {
            let of = |role: &str| format!("{package}::{folder}::dds_::{kind}_{role}_");
            Ok(ServiceNames {
                request: format!("rq{name}Request"),
                reply: format!("rr{name}Reply"),
                request_type: of("Request"),
                reply_type: of("Response"),
            })
        }
        _ => Err(NameError::Type {
            name: type_name.to_owned(),
        }),
    }
}

fn is_part(part: &str) -> bool {
    let is_first = |first: u8| first.is_ascii_alphabetic() || first == b'_';
    let mut bytes = part.bytes();
    bytes.next().is_some_and(is_first)
        && bytes.all(|one| one.is_ascii_alphanumeric() || one == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_every_middleware_of_ros() {
        let odometry = topic("/model/robot_1/odometry").unwrap();
        assert_eq!(odometry, "rt/model/robot_1/odometry");
        let scan = message_type("sensor_msgs/msg/LaserScan").unwrap();
        assert_eq!(scan, "sensor_msgs::msg::dds_::LaserScan_");
    }

    #[test]
    fn a_service_has_two_topics_and_two_types() {
        let step = service("/a/step", "simulation_interfaces/srv/StepSimulation").unwrap();
        let expected = ServiceNames {
            request: "rq/a/stepRequest".to_owned(),
            reply: "rr/a/stepReply".to_owned(),
            request_type: "simulation_interfaces::srv::dds_::StepSimulation_Request_".to_owned(),
            reply_type: "simulation_interfaces::srv::dds_::StepSimulation_Response_".to_owned(),
        };
        assert_eq!(step, expected);
        assert!(service("/step", "geometry_msgs/msg/Twist").is_err());
        assert!(service("step", "std_srvs/srv/Empty").is_err());
    }

    #[test]
    fn names_that_ros_does_not_have_are_refused() {
        for name in ["", "scan", "/", "/a//b", "/a-b", "/1a", "/a/", "/a b"] {
            assert!(topic(name).is_err(), "{name}");
        }
        for name in [
            "",
            "Twist",
            "geometry_msgs/Twist",
            "geometry_msgs/srv/Twist",
        ] {
            assert!(message_type(name).is_err(), "{name}");
        }
    }
}
