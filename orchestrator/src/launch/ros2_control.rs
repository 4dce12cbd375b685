//! The program that answers services of ROS 2 beside a run with `--ros2`: this one, with the
//! command `ros2-control`.

use std::collections::BTreeMap;

use run::{Program, RunSpec};

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
