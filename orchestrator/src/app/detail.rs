//! [`Detail`]: all that is known of what is selected, as text.

use super::model::Model;

/// What is said of one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// What it is, such as `peer s1`.
    pub title: String,
    /// What is known: a name and a value each; a line without a name goes on with the one before.
    pub lines: Vec<(String, String)>,
}

impl Detail {
    /// Returns the lines as text.
    pub fn text(&self) -> String {
        let line = |(name, value): &(String, String)| format!("{name:<16} {value}\n");
        self.lines.iter().map(line).collect()
    }
}

/// Returns what is known of what is selected in the focused panel, if anything is.
pub fn detail(_: &Model) -> Option<Detail> {
    None
}
