//! The way from text to typed worlds: tree, upgrade, includes, then one reader per element.

mod actor;
mod auto_inertia;
mod collision;
mod complete;
pub(crate) mod document;
mod environment;
mod files;
mod inertial;
mod joint;
mod levels;
mod light;
mod link;
mod look;
mod material;
mod model;
mod part;
mod plugin;
mod root;
mod sensor;
mod shape;
mod surface;
mod surroundings;
mod visual;
mod world;
mod world_joint;

pub(crate) use files::Budget;
pub(crate) use joint::{BEYOND_LIMITS, INITIAL_POSITION, beyond_limits, starts_at};
pub(crate) use levels::PLUGIN_NAMES as LEVEL_PLUGIN_NAMES;
pub(crate) use sensor::kind as sensor_kind;

use std::collections::BTreeSet;

use crate::problem::{Problem, ReadWorldError};
use crate::report::Report;
use crate::resolve::{Resolver, UsedFile};
use crate::world::World;
use crate::{include, schema, vocabulary};

/// Result of reading a file.
#[derive(Clone, Debug)]
pub struct ReadWorlds {
    /// Its worlds in file order; none when the file holds nothing at all.
    pub worlds: Vec<World>,
    /// True if the file holds no world, so that one was made around its model, light or actor.
    pub is_model_file: bool,
    /// Warnings of ignored content, once per name, in file order.
    pub warnings: Vec<Problem>,
    /// The files that they rest on, besides their own.
    pub files: BTreeSet<UsedFile>,
}

/// Reads SDF 1.4 to 1.12 text into worlds; `file` is its name in places and for its includes.
///
/// # Errors
/// Fails if the text is no SDF, or is wrong; all errors of a pass are found together.
pub fn read_worlds(
    text: &str,
    file: &str,
    resolver: &dyn Resolver,
) -> Result<ReadWorlds, ReadWorldError> {
    let mut report = Report::default();
    let document = match document::read(text, file, &mut report) {
        Ok(document) => document,
        Err(problem) => {
            return Err(ReadWorldError {
                errors: vec![problem],
                warnings: in_order(report.warnings),
            });
        }
    };
    let mut root = include::expand(document, resolver, &mut report);
    let is_changed = text.contains("<include");
    schema::rules::check(&root, is_changed, &mut report);
    vocabulary::survey(&root, &mut report);
    let is_model_file = root::give_world(&mut root, &mut report);
    let worlds = root::read_worlds(&root, resolver, &mut report);
    if !report.errors.is_empty() {
        return Err(ReadWorldError {
            errors: each_once(report.errors),
            warnings: in_order(report.warnings),
        });
    }
    Ok(ReadWorlds {
        worlds,
        is_model_file,
        warnings: in_order(report.warnings),
        files: report.files,
    })
}

fn in_order(mut warnings: Vec<Problem>) -> Vec<Problem> {
    warnings.sort_by(|a, b| a.place.cmp(&b.place));
    warnings
}

/// Sorts errors by place, and leaves of one kind only the first at each element: several passes may
/// see the same.
fn each_once(mut errors: Vec<Problem>) -> Vec<Problem> {
    errors.sort_by(|a, b| (&a.place, a.code).cmp(&(&b.place, b.code)));
    errors.dedup_by(|later, first| later.place == first.place && later.code == first.code);
    errors
}

#[cfg(test)]
mod tests;
