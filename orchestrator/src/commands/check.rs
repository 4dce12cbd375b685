//! `phalanx check`: reads a world and reports what is wrong with it, or what it was read as.

mod fuel_needs;
mod resolved;
mod ros_topics;
mod worker_program;

use std::fmt::Write;
use std::path::Path;

use protocol::report::{RosMappingReport, StartReport};
use protocol::{ExitCode, counted};
use sdf::{Model, Problem, ReadWorldError, ReadWorlds, SourceSpan, World};
use serde::Serialize;

use super::world_file::Sources;
use super::{CommandResult, Failed, fuel_files, output, world_file};
use crate::cli::{CheckArguments, Format};
use fuel_needs::FuelNeed;
use resolved::ResolvedWorld;

/// The most errors, and the most warnings, that are shown as text.
const SHOWN_MAX: usize = 100;

/// Code of the warning of worlds that are valid and that `phalanx run` refuses.
const NOT_RUNNABLE: &str = "NOT_RUNNABLE";

/// Note where there is no worker program to ask.
const UNSEEN: &str = "what a start says of physics, systems and sensors is not looked at";

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
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    fuel: &'a [FuelNeed],
    /// Reason why systems and sensors were not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<String>,
}

/// Reads a world and reports.
pub(super) fn check(arguments: &CheckArguments) -> CommandResult {
    let path = &match fuel_files::address_of(&arguments.world) {
        Some(address) => fuel_needs::file_of(&address)?,
        None => arguments.world.clone(),
    };
    let text = world_file::read_text(path)?;
    let fuel = fuel_needs::find(&text, path, arguments.offline)?;
    match world_file::read_worlds(&text, path) {
        Ok(mut read) => {
            let unseen = add_start_warnings(&text, path, &mut read);
            report(arguments, (path, &text), &read, (&fuel, unseen))?;
            Ok(ExitCode::Success)
        }
        Err(error) => {
            match arguments.format {
                Format::Text => {
                    let told = problems("warning", &error.warnings)
                        + &problems("error", &error.errors)
                        + &fuel_needs::describe(&fuel)
                        + &count_refused(&error);
                    output::print(&told)?
                }
                Format::Json => output::print_json(&CheckReport {
                    valid: false,
                    worlds: None,
                    warnings: Some(&error.warnings),
                    errors: Some(&error.errors),
                    ros2: None,
                    fuel: &fuel,
                    unseen: None,
                })?,
            };
            Ok(ExitCode::Configuration)
        }
    }
}

/// Prints what a valid file was read as.
fn report(
    arguments: &CheckArguments,
    world: (&Path, &str),
    read: &ReadWorlds,
    (fuel, unseen): (&[FuelNeed], Option<String>),
) -> Result<(), Failed> {
    let ros2 = arguments.ros2.then(|| {
        let rules = arguments.ros_rules.as_deref();
        worker_program::ask(&["--ros-topics"], rules, world)
    });
    let ros2 = ros2.transpose()?;
    match arguments.format {
        Format::Text => {
            let topics = ros2.as_ref().map(ros_topics::describe);
            let needs = fuel_needs::describe(fuel);
            let unseen = unseen.map(|reason| format!("note: {UNSEEN}: {reason}\n"));
            let notes = unseen.unwrap_or_default() + &topics.unwrap_or_default();
            output::print(&(needs + &describe(read) + &notes))
        }
        Format::Json => output::print_json(&CheckReport {
            valid: true,
            worlds: Some(read.worlds.iter().map(ResolvedWorld::of).collect()),
            warnings: Some(&read.warnings),
            errors: None,
            ros2,
            fuel,
            unseen,
        }),
    }
    .map(drop)
}

/// Adds what a start would warn of, as the worker program tells it; returns why it could not be
/// asked, if so.
fn add_start_warnings(text: &str, path: &Path, read: &mut ReadWorlds) -> Option<String> {
    let refused = run_warning(text, path, &read.worlds);
    let is_refused = refused.is_some();
    read.warnings.extend(refused);
    let told: Result<StartReport, Failed> =
        worker_program::ask(&["--start-report"], None, (path, text));
    let top = SourceSpan {
        file: path.display().to_string().into(),
        line: 1,
        column: 1,
    };
    match told {
        Ok(report) => {
            let warnings = report.warnings.into_iter().map(|warning| Problem {
                code: warning.kind.code(),
                message: warning.message,
                place: match warning.place {
                    Some((file, line, column)) => SourceSpan {
                        file: file.into(),
                        line,
                        column,
                    },
                    None => top.clone(),
                },
            });
            read.warnings.extend(warnings);
            let refusal = report.refusal.filter(|_| !is_refused);
            read.warnings.extend(refusal.map(|reason| Problem {
                code: NOT_RUNNABLE,
                message: format!("{reason}; the file is valid, and it cannot be run"),
                place: top,
            }));
            None
        }
        Err(failed) => Some(format!("{:#}", failed.error)),
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
        code: NOT_RUNNABLE,
        message: format!("{error}; the file is valid, and it cannot be run"),
        place: place.unwrap_or(SourceSpan {
            file: file.into(),
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
