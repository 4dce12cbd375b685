//! Collects what is wrong with a file, so that one pass reports all of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::problem::Problem;
use crate::read::Budget;
use crate::resolve::UsedFile;
use crate::tree::Element;

/// The most errors, and the most warnings, that are kept: a file with more is read again anyway.
const PROBLEMS_MAX: usize = 1000;

/// Key of a reported problem: the code, the place, and the words where they matter.
type WarningKey = (&'static str, (Arc<str>, u32, u32), Option<String>);

/// Errors and warnings found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Each makes the file unreadable as a world.
    pub(crate) errors: Vec<Problem>,
    /// Warnings of ignored content, once per name.
    pub(crate) warnings: Vec<Problem>,
    /// The files that what was read rests on.
    pub(crate) files: BTreeSet<UsedFile>,
    /// Sums over the files of data that were read.
    pub(crate) budget: Budget,
    told: BTreeSet<WarningKey>,
    warned: BTreeSet<(&'static str, String)>,
}

impl Report {
    /// Adds an error at an element, unless the same has been said of it already.
    pub(crate) fn error(
        &mut self,
        code: &'static str,
        element: &Element,
        message: impl Into<String>,
    ) {
        let message = message.into();
        // A name is wrong in one way, however many readers find it out in their own words.
        let is_about_name = matches!(code, "DUPLICATE_NAME" | "RESERVED_NAME");
        let said = (!is_about_name).then(|| message.clone());
        let place = (Arc::clone(&element.file), element.line, element.column);
        let key = (code, place, said);
        if self.errors.len() < PROBLEMS_MAX && self.told.insert(key) {
            self.errors.push(element.problem(code, message));
        }
    }

    /// Adds a warning at an element unless there is one of that code for that name.
    pub(crate) fn warn_once(
        &mut self,
        code: &'static str,
        name: &str,
        element: &Element,
        message: impl FnOnce() -> String,
    ) {
        let has_room = self.warnings.len() < PROBLEMS_MAX;
        if has_room && self.warned.insert((code, name.to_owned())) {
            self.warnings.push(element.problem(code, message()));
        }
    }
}
