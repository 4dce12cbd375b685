//! The way from text to typed worlds: tree, upgrade, includes, then one reader per element.

mod joint;
mod levels;
mod link;
mod model;
mod shape;
mod world;

pub(crate) use levels::PLUGIN_NAMES as LEVEL_PLUGIN_NAMES;

use crate::problem::{Problem, ReadWorldError};
use crate::report::Report;
use crate::resolve::Resolver;
use crate::tree::{self, Element};
use crate::world::World;
use crate::{convert, include, urdf, vocabulary};

/// What a file was read as.
#[derive(Clone, Debug)]
pub struct ReadWorlds {
    /// Its worlds in file order, at least one.
    pub worlds: Vec<World>,
    /// What is ignored, once per name, in file order.
    pub warnings: Vec<Problem>,
}

/// Reads SDF 1.4 to 1.12 text into worlds; `file` is its name in places and for its includes.
///
/// # Errors
/// When the text is no SDF, holds no world, or is wrong; all errors of a pass are found together.
pub fn read_worlds(
    text: &str,
    file: &str,
    resolver: &dyn Resolver,
) -> Result<ReadWorlds, ReadWorldError> {
    let mut root = tree::parse(text, file).map_err(only)?;
    let mut report = Report::default();
    if urdf::is_robot(&root) {
        root = urdf::convert(&root, &mut report).map_err(only)?;
    }
    convert::upgrade(&mut root).map_err(only)?;
    include::expand(&mut root, resolver, &mut report);
    vocabulary::survey(&root, &mut report);
    let worlds = read_all(&root, &mut report);
    if !report.errors.is_empty() {
        report.errors.sort_by(|a, b| a.place.cmp(&b.place));
        return Err(ReadWorldError {
            errors: report.errors,
        });
    }
    report.warnings.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(ReadWorlds {
        worlds,
        warnings: report.warnings,
    })
}

fn only(problem: Problem) -> ReadWorldError {
    ReadWorldError {
        errors: vec![problem],
    }
}

fn read_all(root: &Element, report: &mut Report) -> Vec<World> {
    let mut worlds: Vec<World> = Vec::new();
    for element in root.children_named("world") {
        let world = world::read(element, report);
        if worlds.iter().any(|other| other.name == world.name) {
            let message = format!("there are two worlds named {:?}", world.name);
            report.error("DUPLICATE_NAME", element, message);
        }
        worlds.push(world);
    }
    if worlds.is_empty() {
        report.error("ELEMENT_MISSING", root, "the file holds no <world>");
    }
    worlds
}

#[cfg(test)]
mod tests;
