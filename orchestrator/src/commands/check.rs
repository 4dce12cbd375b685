//! `phalanx check`: reads a world and reports what is wrong with it, or what it was read as.

mod resolved;
mod ros_topics;

use std::fmt::Write;
use std::path::Path;

use protocol::ExitCode;
use protocol::report::RosMappingReport;
use sdf::{Model, Problem, ReadWorldError, ReadWorlds, SourceSpan, World};
use serde::Serialize;

use super::world_file::Sources;
use super::{CommandResult, output, world_file};
use crate::cli::{CheckArguments, Format};
use resolved::ResolvedWorld;

/// The most errors, and the most warnings, that are shown as text.
const SHOWN_MAX: usize = 100;

/// Result of a check, printed as JSON.
#[derive(Debug, Serialize)]
struct CheckReport<'a> {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    worlds: Option<Vec<ResolvedWorld<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<&'a [Problem]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<&'a [Problem]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ros2: Option<RosMappingReport>,
}

/// Reads a world and reports.
pub(super) fn check(arguments: &CheckArguments) -> CommandResult {
    let text = world_file::read_text(&arguments.world)?;
    match world_file::read_worlds(&text, &arguments.world) {
        Ok(mut read) => {
            read.warnings
                .extend(run_warning(&text, &arguments.world, &read.worlds));
            let ros2 = arguments.ros2.then(|| {
                let rules = arguments.ros_rules.as_deref();
                ros_topics::read(&arguments.world, rules)
            });
            let ros2 = ros2.transpose()?;
            match arguments.format {
                Format::Text => {
                    let topics = ros2.as_ref().map(ros_topics::describe);
                    output::print(&(describe(&read) + &topics.unwrap_or_default()))?
                }
                Format::Json => output::print_json(&CheckReport {
                    valid: true,
                    worlds: Some(read.worlds.iter().map(ResolvedWorld::of).collect()),
                    warnings: Some(&read.warnings),
                    errors: None,
                    ros2,
                })?,
            };
            Ok(ExitCode::Success)
        }
        Err(error) => {
            match arguments.format {
                Format::Text => {
                    let told = problems("warning", &error.warnings)
                        + &problems("error", &error.errors)
                        + &count_refused(&error);
                    output::print(&told)?
                }
                Format::Json => output::print_json(&CheckReport {
                    valid: false,
                    worlds: None,
                    warnings: Some(&error.warnings),
                    errors: Some(&error.errors),
                    ros2: None,
                })?,
            };
            Ok(ExitCode::Configuration)
        }
    }
}

/// Warns of worlds that are valid and that `phalanx run` refuses.
fn run_warning(text: &str, path: &Path, worlds: &[World]) -> Option<Problem> {
    let error = sdf::check_for_run(worlds).err()?;
    let file = path.display().to_string();
    let root = sdf::tree::parse(text, &file).ok();
    let world = root.as_ref().and_then(|root| {
        let mut worlds = root.children_named("world");
        worlds.find(|world| world.attribute("name") == error.world())
    });
    let step = world.and_then(|world| world.descendant(&["physics", "max_step_size"]));
    let place = step.or(world).map(sdf::tree::Element::place);
    Some(Problem {
        code: "NOT_RUNNABLE",
        message: format!("{error}; the file is valid, and it cannot be run"),
        place: place.unwrap_or(SourceSpan {
            file,
            line: 1,
            column: 1,
        }),
    })
}

fn problems(kind: &str, problems: &[Problem]) -> String {
    let mut sources = Sources::default();
    let mut text = String::new();
    for problem in problems.iter().take(SHOWN_MAX) {
        text += kind;
        text += ": ";
        text += &sources.show(problem);
    }
    if let Some(more) = problems.len().checked_sub(SHOWN_MAX + 1) {
        let more = counted(more + 1, kind);
        let _ = writeln!(text, "... and {more}; --format json has all");
    }
    text
}

/// Returns problems, one line per world, and a line that sums it up.
fn describe(read: &ReadWorlds) -> String {
    let mut text = problems("warning", &read.warnings);
    for world in &read.worlds {
        let statics = world.models.iter().filter(|model| model.is_static).count();
        let _ = writeln!(
            text,
            "world {:?}: {} ({statics} static), {}, {}, {}, {} declared, steps of {} s",
            world.name,
            counted(world.models.len(), "model"),
            counted(sum(world, |model| model.links.len()), "link"),
            counted(
                world.joints.len() + sum(world, |model| model.joints.len()),
                "joint"
            ),
            counted(world.levels.len(), "level"),
            counted(world.performers.len(), "performer"),
            world.physics.max_step_size_s,
        );
    }
    let worlds = counted(read.worlds.len(), "world");
    text + &format!("{worlds}, {}\n", counted(read.warnings.len(), "warning"))
}

/// Returns the line that sums up a file that is refused.
fn count_refused(error: &ReadWorldError) -> String {
    let errors = counted(error.errors.len(), "error");
    if error.warnings.is_empty() {
        return errors + "\n";
    }
    format!("{errors}, {}\n", counted(error.warnings.len(), "warning"))
}

fn sum(world: &World, count: impl Fn(&Model) -> usize) -> usize {
    world.models.iter().map(count).sum()
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
