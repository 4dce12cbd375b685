//! `phalanx check`: reads a world and reports what is wrong with it, or what it was read as.

mod resolved;

use protocol::ExitCode;
use sdf::{Problem, ReadWorlds, World};
use serde::Serialize;

use super::{CommandResult, output, world_file};
use crate::cli::{CheckArguments, Format};
use resolved::ResolvedWorld;

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct CheckReport<'a> {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    worlds: Option<Vec<ResolvedWorld<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<&'a [Problem]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<&'a [Problem]>,
}

/// Reads a world and reports.
pub(super) fn check(arguments: &CheckArguments) -> CommandResult {
    let text = world_file::read_text(&arguments.world)?;
    match world_file::read_worlds(&text, &arguments.world) {
        Ok(read) => {
            match arguments.format {
                Format::Text => output::print(&describe(&read))?,
                Format::Json => output::print_json(&CheckReport {
                    valid: true,
                    worlds: Some(read.worlds.iter().map(ResolvedWorld::of).collect()),
                    warnings: Some(&read.warnings),
                    errors: None,
                })?,
            };
            Ok(ExitCode::Success)
        }
        Err(error) => {
            match arguments.format {
                Format::Text => output::print(&problems("error", &error.errors))?,
                Format::Json => output::print_json(&CheckReport {
                    valid: false,
                    worlds: None,
                    warnings: None,
                    errors: Some(&error.errors),
                })?,
            };
            Ok(ExitCode::Configuration)
        }
    }
}

fn problems(kind: &str, problems: &[Problem]) -> String {
    problems.iter().fold(String::new(), |text, problem| {
        text + kind + ": " + &world_file::show(problem)
    })
}

fn describe(read: &ReadWorlds) -> String {
    let worlds: String = read.worlds.iter().map(describe_world).collect();
    problems("warning", &read.warnings) + &worlds
}

fn describe_world(world: &World) -> String {
    let statics = world.models.iter().filter(|model| model.is_static).count();
    format!(
        "world {:?}: {} models ({statics} static), {} levels, {} performers declared, \
         steps of {} s\n",
        world.name,
        world.models.len(),
        world.levels.len(),
        world.performers.len(),
        world.physics.max_step_size_s,
    )
}
