//! The program that answers services of ROS 2 beside a run with `--ros2`: this one, with the
//! command `ros2-control`.

use std::collections::BTreeMap;

use run::{Program, Ros2, RosReach, RunSpec};

/// Name of the program, that of its log.
const NAME: &str = "ros2-control";
/// True if this build has ROS 2.
pub const IS_BUILT: bool = cfg!(feature = "ros2");
/// Advice to somebody whose `phalanx` has no ROS 2.
pub const NOT_BUILT: &str = "this phalanx was built without ROS 2: build it with `cargo build \
    --release --features worker/ros2,orchestrator/ros2 -p worker -p orchestrator`";

/// Returns the program, if the run has a part in ROS 2 and this build has it. A program of the run
/// file with the same name takes its place.
pub fn of_run(spec: &RunSpec, run: &str) -> Option<Program> {
    if !spec.ros2.enabled || !IS_BUILT {
        return None;
    }
    if spec.programs.iter().any(|program| program.name == NAME) {
        return None;
    }
    program(spec, run)
}

/// Fixes what settings leave to the variables of ROS 2, so that a run which is resumed is where it
/// was. A value that ROS 2 does not have is left alone: the primary refuses it by its name. Returns
/// what of the variables is not heeded, for people.
pub fn settle(ros2: &mut Ros2, variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    if !ros2.enabled {
        return Vec::new();
    }
    if ros2.domain.is_none() {
        let given = variable("ROS_DOMAIN_ID").filter(|value| !value.is_empty());
        let domain = given.map_or(Some(0), |value| value.parse().ok());
        ros2.domain = domain.filter(|domain| u64::from(*domain) <= run::ROS_DOMAIN_MAX);
    }
    match RosReach::of(variable) {
        Ok(reach) if ros2.localhost_only.is_none() => {
            ros2.localhost_only = Some(reach.is_local);
            reach.remarks
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

fn program(spec: &RunSpec, run: &str) -> Option<Program> {
    let mut arguments = vec![NAME.to_owned(), run.to_owned()];
    if let Some(domain) = spec.ros2.domain {
        arguments.push(format!("--domain={domain}"));
    }
    if let Some(is_local) = spec.ros2.localhost_only {
        arguments.push(format!("--localhost-only={is_local}"));
    }
    if let Some(mapping) = spec.ros2.service_mapping {
        arguments.push(format!("--ros-service-mapping={}", mapping.name()));
    }
    if let Some(namespace) = &spec.ros2.control_namespace {
        arguments.push(format!("--namespace={namespace}"));
    }
    if let Some(folder) = &spec.ros2.spawnables {
        let folder = std::path::absolute(folder).ok()?;
        arguments.push(format!("--spawnables={}", folder.display()));
    }
    Some(Program {
        name: NAME.to_owned(),
        command: std::env::current_exe().ok()?,
        arguments,
        environment: BTreeMap::new(),
        folder: None,
        world: None,
        is_critical: false,
        joins: None,
    })
}

#[cfg(test)]
mod tests {
    use run::ServiceMapping;

    use super::*;

    #[test]
    fn a_run_without_ros_has_no_such_program() {
        assert_eq!(of_run(&RunSpec::default(), "demo"), None);
    }

    #[test]
    fn the_environment_of_the_beginning_holds() {
        let settled = |domain: &str, is_local: &str, ros2: &Ros2| {
            let mut ros2 = ros2.clone();
            settle(&mut ros2, |name| {
                let value = match name {
                    "ROS_DOMAIN_ID" => domain,
                    "ROS_LOCALHOST_ONLY" => is_local,
                    _ => return None,
                };
                Some(value.to_owned())
            });
            (ros2.domain, ros2.localhost_only)
        };
        let ros2 = Ros2 {
            enabled: true,
            ..Ros2::default()
        };
        assert_eq!(settled("7", "1", &ros2), (Some(7), Some(true)));
        assert_eq!(settled("", "", &ros2), (Some(0), Some(false)));
        assert_eq!(settled("500", "yes", &ros2), (None, None));
        let given = Ros2 {
            domain: Some(3),
            localhost_only: Some(false),
            ..ros2
        };
        assert_eq!(settled("7", "1", &given), (Some(3), Some(false)));
        assert_eq!(settled("7", "1", &Ros2::default()), (None, None));
    }

    #[test]
    fn the_range_of_discovery_holds_and_what_does_not_is_told() {
        let mut ros2 = Ros2 {
            enabled: true,
            ..Ros2::default()
        };
        let variable = |name: &str| {
            let value = match name {
                "ROS_AUTOMATIC_DISCOVERY_RANGE" => "LOCALHOST",
                "ROS_STATIC_PEERS" => "10.0.0.7",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let told = settle(&mut ros2, variable);
        assert_eq!((ros2.localhost_only, told.len()), (Some(true), 1));
    }

    #[test]
    fn the_program_is_in_the_domain_of_the_run() {
        let mut spec = RunSpec::default();
        spec.ros2.domain = Some(7);
        spec.ros2.localhost_only = Some(true);
        spec.ros2.service_mapping = Some(ServiceMapping::CycloneDds);
        spec.ros2.control_namespace = Some("/sim".to_owned());
        spec.ros2.spawnables = Some("/models".into());
        let program = program(&spec, "demo").unwrap();
        let expected = [
            "ros2-control",
            "demo",
            "--domain=7",
            "--localhost-only=true",
            "--ros-service-mapping=cyclonedds",
            "--namespace=/sim",
            "--spawnables=/models",
        ];
        assert_eq!(program.arguments, expected);
    }
}
