//! [`Detail`]: all that is known of one thing, as text. It is made anew for each frame, so that it
//! is as live as the tables.

use client::plain_text::plain;
use client::raster::Raster;

use super::model::{Mode, Model};
use crate::panels::{Content, Panel};

/// The most names that are listed.
const NAMES_MAX: usize = 200;
/// Numbers of events that name a thing: those shown, and those looked through.
const EVENTS_SHOWN: usize = 8;
const EVENTS_MAX: usize = 2_000;

/// The thing whose details are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A row of a table, by name.
    Row(Panel, String),
    /// A line of a text, by its number.
    Line(Panel, u64),
}

impl Subject {
    /// Returns the selected row or line of a panel, if there is one.
    pub fn selected(model: &Model, panel: Panel) -> Option<Self> {
        match panel.row().content {
            Content::Table { .. } => {
                let name = model.tables[panel].selected()?;
                Some(Self::Row(panel, name.to_owned()))
            }
            Content::Text { lines, .. } => Some(Self::Line(panel, lines(model).selected()?)),
            Content::Picture { subject } => subject(model),
        }
    }

    fn describe(&self, model: &Model) -> Option<Detail> {
        let (Self::Row(panel, _) | Self::Line(panel, _)) = self;
        match (self, &panel.row().content) {
            (Self::Row(_, name), Content::Table { describe, .. }) => Some(describe(model, name)),
            (Self::Line(_, number), Content::Text { describe, .. }) => {
                Some(describe(model, *number))
            }
            (Self::Row(..) | Self::Line(..), _) => None,
        }
    }
}

/// Details of one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Title that names the thing, such as `peer s1`.
    pub title: String,
    /// Properties: a name and a value each; a line without a name continues the one before.
    pub lines: Vec<(String, String)>,
    /// An image that is drawn above the properties that follow so many.
    pub image: Option<(usize, Raster)>,
}

impl Detail {
    /// Returns the lines as text.
    pub fn text(&self) -> String {
        let line = |(name, value): &(String, String)| {
            let line = format!("{name:<16} {value}");
            line.trim_end().to_owned() + "\n"
        };
        self.lines.iter().map(line).collect()
    }

    fn new(title: String) -> Self {
        Self {
            title,
            lines: Vec::new(),
            image: None,
        }
    }

    /// Makes the details of a thing that was found, or says that it is gone.
    pub(crate) fn of<T>(
        found: Option<&T>,
        kind: &str,
        name: &str,
        add: impl FnOnce(&mut Self, &T),
    ) -> Self {
        let mut detail = Self::new(format!("{kind} {name}").trim_end().to_owned());
        match found {
            Some(found) => add(&mut detail, found),
            None => detail.add("gone", "it is not there any more"),
        }
        detail
    }

    /// Adds a property.
    pub(crate) fn add(&mut self, name: &str, value: impl Into<String>) {
        self.lines.push((name.to_owned(), plain(&value.into())));
    }

    /// Adds names, each on a line of its own, after their number.
    pub(crate) fn add_names(&mut self, name: &str, names: &[String]) {
        self.add(name, names.len().to_string());
        for one in names.iter().take(NAMES_MAX) {
            self.add("", one.as_str());
        }
        let rest = names.len().saturating_sub(NAMES_MAX);
        if rest > 0 {
            self.add("", format!("and {rest} more"));
        }
    }

    /// Adds an image behind the properties so far.
    pub(crate) fn add_image(&mut self, image: Raster) {
        self.image = Some((self.lines.len(), image));
    }

    /// Adds an empty line.
    pub(crate) fn add_blank(&mut self) {
        self.lines.push((String::new(), String::new()));
    }
}

/// Returns what is known of what is looked at, else of what is selected in the focused panel.
pub fn detail(model: &Model) -> Option<Detail> {
    let looked_at = match model.mode {
        Mode::Detail { .. } => model.details.subject.clone(),
        _ => None,
    };
    let subject = looked_at.or_else(|| Subject::selected(model, model.screen.focus))?;
    subject.describe(model)
}

/// Returns what is known of a row of a panel's table, by name; `None` for a panel without one.
pub fn row_detail(model: &Model, panel: Panel, name: &str) -> Option<Detail> {
    Subject::Row(panel, name.to_owned()).describe(model)
}

/// Adds the last events that name something.
pub(crate) fn add_events(model: &Model, detail: &mut Detail, name: &str) {
    let newest = model.heard.events.newest(EVENTS_MAX).rev();
    let of = newest
        .filter(|event| names(&event.text, name))
        .take(EVENTS_SHOWN);
    let events = of.map(|event| format!("{} {}", event.iteration.0, event.text));
    add_list(detail, "last events", events);
}

/// Adds a list after a blank line; nothing when it is empty.
pub(crate) fn add_list(detail: &mut Detail, name: &str, values: impl Iterator<Item = String>) {
    for (index, value) in values.take(NAMES_MAX).enumerate() {
        if index == 0 {
            detail.add_blank();
        }
        detail.add(if index == 0 { name } else { "" }, value);
    }
}

/// Tells whether a text names something: as a word, not as a part of one.
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Writes a vector in a unit.
pub(crate) fn vector([x, y, z]: [f64; 3], unit: &str) -> String {
    format!("x {x:.3} y {y:.3} z {z:.3} {unit}")
}

#[cfg(test)]
mod tests;
