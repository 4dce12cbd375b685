//! Settings: run files and the user's own, TOML to [`Config`], every error with file, line, column
//! and key.
//!
//! The table of settings is that of [`run`], with those of the view ([`setting`]). A [`document`]
//! is a file as written; [`layers`] puts files over each other and over the defaults, which
//! `configs/default.toml` shows.

pub(crate) mod document;
mod host;
mod keys;
pub(crate) mod layers;
mod process;
mod program;
mod ros_rules;
mod section_list;
pub(crate) mod setting;
mod user_file;

use std::path::Path;

use run::{Given, RunSpec};

pub use document::{FileKind, Problem, SourceSpan};
pub use layers::Layers;
pub use user_file::{CONFIG_VARIABLE, UserFile};
use view::options::{self, ViewConfig, ViewSections};

use view::app::keymap::Keymap;

/// Every setting with its default and an explanation, as a run file.
pub const DEFAULT_TOML: &str = include_str!("../../configs/default.toml");

/// All settings: those of a run, and those of the view that shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The specification of the run.
    pub spec: RunSpec,
    /// How it is shown.
    pub view: ViewConfig,
    /// The keys of the view.
    pub keymap: Keymap,
}

/// Reason why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read the {what} {file}")]
    Unreadable {
        /// Purpose of the file, such as `run file`.
        what: &'static str,
        /// The file.
        file: String,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Files are not TOML, or keys or values in them are wrong; there is at least one problem.
    #[error("{}", first_of(.0))]
    Invalid(Vec<Problem>),
}

impl Config {
    /// Reads the user's own file, if there is one, and a run file, which wins over it.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or something in one is wrong.
    pub fn load(run_file: Option<&Path>) -> Result<Self, ConfigError> {
        Layers::read(run_file).map(|layers| layers.config)
    }

    /// Reads the text of a run file alone; `path` is its name in errors and the base of paths.
    ///
    /// # Errors
    /// Fails if something in it is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        Layers::parse(&[(text, path, FileKind::Run)]).map(|layers| layers.config)
    }

    /// Returns these settings with what flags and variables gave over them.
    ///
    /// # Errors
    /// Fails if a path of the settings is no text.
    pub fn with(self, given: &Given) -> Result<Self, serde_json::Error> {
        let (mut of_run, mut of_view) = (given.clone(), given.clone());
        of_run
            .0
            .retain(|(section, _), _| *section != options::SECTION);
        of_view
            .0
            .retain(|(section, _), _| *section == options::SECTION);
        Ok(Self {
            spec: run::overlay(&self.spec, &of_run)?,
            view: run::overlay(&ViewSections { view: self.view }, &of_view)?.view,
            keymap: self.keymap,
        })
    }
}

fn first_of(problems: &[Problem]) -> String {
    match problems {
        [] => "the settings cannot be used".to_owned(),
        [one] => one.to_string(),
        [first, rest @ ..] => {
            let count = rest.len();
            format!("{first} (and {count} more: `phalanx config check` tells all)")
        }
    }
}

#[cfg(test)]
mod documentation;
#[cfg(test)]
mod tests;
