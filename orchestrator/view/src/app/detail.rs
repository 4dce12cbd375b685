//! [`Detail`]: all that is known of one thing, as text. It is made anew for each frame, so that it
//! is as live as the tables.

mod described;

use client::plain_text::plain;

use super::model::{Mode, Model};
use super::panel::Panel;

/// The thing whose details are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A process, by name.
    Peer(String),
    /// A level, by name.
    Level(String),
    /// A performer, by name.
    Performer(String),
    /// A topic, by name.
    Topic(String),
    /// An event, by its number in the events.
    Event(u64),
    /// A line of the logs, by its number there.
    Log(u64),
}

/// Details of one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Title that names the thing, such as `peer s1`.
    pub title: String,
    /// Properties: a name and a value each; a line without a name continues the one before.
    pub lines: Vec<(String, String)>,
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
        }
    }

    fn add(&mut self, name: &str, value: impl Into<String>) {
        self.lines.push((name.to_owned(), plain(&value.into())));
    }

    /// Adds names, each on a line of its own, after their number.
    fn add_names(&mut self, name: &str, names: &[String]) {
        self.add(name, names.len().to_string());
        for one in names.iter().take(described::NAMES_MAX) {
            self.add("", one.as_str());
        }
        let rest = names.len().saturating_sub(described::NAMES_MAX);
        if rest > 0 {
            self.add("", format!("and {rest} more"));
        }
    }

    fn add_blank(&mut self) {
        self.lines.push((String::new(), String::new()));
    }
}

/// Returns what is selected in the focused panel, if anything is.
pub fn subject(model: &Model) -> Option<Subject> {
    let owned = |name: Option<&str>| name.map(str::to_owned);
    match model.focus {
        Panel::Peers => owned(model.peer_rows.selected()).map(Subject::Peer),
        Panel::Levels => owned(model.level_rows.selected()).map(Subject::Level),
        Panel::Performers | Panel::Map => {
            owned(model.performer_rows.selected()).map(Subject::Performer)
        }
        Panel::Topics => owned(model.topic_rows.selected()).map(Subject::Topic),
        Panel::Events => model.events.selected().map(Subject::Event),
        Panel::Logs => model.logs.selected().map(Subject::Log),
        Panel::Overview | Panel::Latency => None,
    }
}

/// Returns what is known of what is looked at, else of what is selected in the focused panel.
pub fn detail(model: &Model) -> Option<Detail> {
    let looked_at = match model.mode {
        Mode::Detail { .. } => model.subject.clone(),
        _ => None,
    };
    let subject = looked_at.or_else(|| subject(model))?;
    Some(described::describe(model, &subject))
}

#[cfg(test)]
mod tests;
