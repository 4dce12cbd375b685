//! `phalanx ros2-control`: services of ROS 2 that control a run, in a process of their own.

use super::CommandResult;
use crate::cli::Ros2ControlArguments;

/// Refuses: this build has no ROS 2.
#[cfg(not(feature = "ros2"))]
pub(super) fn ros2_control(_: &Ros2ControlArguments) -> CommandResult {
    Err(super::Failed::message(
        protocol::ExitCode::Usage,
        crate::launch::ros2_control::NOT_BUILT,
    ))
}

/// Answers services until the run ends.
#[cfg(feature = "ros2")]
pub(super) fn ros2_control(arguments: &Ros2ControlArguments) -> CommandResult {
    use protocol::ExitCode;
    use ros2_control::node::{NodeError, NodeSettings, ServiceMapping, serve};

    use super::{Failed, output, runtime, target};
    use crate::cli::MappingName;

    let target = target::find(arguments.run.as_deref(), &arguments.keys)?;
    let settings = NodeSettings {
        domain: domain(arguments.domain, arguments.localhost_only)?,
        namespace: plain(&arguments.namespace),
        name: arguments.node.clone(),
        ue_namespace: plain(&arguments.ue_namespace),
        mapping: match arguments.mapping {
            MappingName::FastDds => ServiceMapping::FastDds,
            MappingName::CycloneDds => ServiceMapping::CycloneDds,
        },
        spawnables: arguments.spawnables.clone(),
    };
    output::note(&format!(
        "services of {} in domain {} of ROS 2: {}/get_simulator_features and others",
        target.name(),
        settings.domain.id,
        settings.namespace
    ));
    let note = Box::new(|text: &str| output::note(text));
    let served = serve(&target.reach, &settings, note, target.end());
    match runtime()?.block_on(served) {
        Ok(()) => Ok(ExitCode::Success),
        Err(error @ (NodeError::Serve(_) | NodeError::Endpoint(_) | NodeError::Join(_))) => {
            Err(Failed::new(ExitCode::Configuration, error))
        }
        Err(error @ NodeError::Run(_)) => Err(Failed::new(ExitCode::Failure, error)),
    }
}

/// Returns the domain of ROS 2: what is given, else what the variables of ROS 2 say.
#[cfg(feature = "ros2")]
pub(super) fn domain(
    id: Option<u16>,
    is_local: Option<bool>,
) -> Result<ros2_control::node::Domain, super::Failed> {
    Ok(ros2_control::node::Domain {
        id: match id {
            Some(id) => id,
            None => variable("ROS_DOMAIN_ID", "a number from 0 to 232")?.unwrap_or(0),
        },
        is_local: is_local.map_or_else(has_only_this_machine, Ok)?,
    })
}

/// Tells whether nodes of other machines are left out, as the variables of ROS 2 have it, and warns
/// of what they want and cannot have.
#[cfg(feature = "ros2")]
fn has_only_this_machine() -> Result<bool, super::Failed> {
    let reach = run::RosReach::of(|name| std::env::var(name).ok());
    let reach = reach.map_err(|error| super::Failed::new(protocol::ExitCode::Usage, error))?;
    for remark in &reach.remarks {
        super::output::note(&format!("warning: {remark}"));
    }
    Ok(reach.is_local)
}

/// Returns a namespace without the slash at its end.
#[cfg(feature = "ros2")]
fn plain(namespace: &str) -> String {
    namespace.trim_end_matches('/').to_owned()
}

/// Returns the value of a variable of ROS 2, if it has one.
#[cfg(feature = "ros2")]
fn variable<T: std::str::FromStr>(name: &str, wanted: &str) -> Result<Option<T>, super::Failed> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    parsed.map(Some).ok_or_else(|| {
        let message = format!("{name} is {}, and must be {wanted}", value.display());
        super::Failed::message(protocol::ExitCode::Usage, message)
    })
}
