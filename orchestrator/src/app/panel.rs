//! The panels of the view, by number.

use super::filter::Filter;
use super::model::Model;

/// A panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// Processes of the run.
    Peers,
    /// Levels and their cells.
    Levels,
    /// Top view of the world.
    Map,
    /// Things that move.
    Performers,
    /// Time per step.
    Latency,
    /// What the processes print.
    Logs,
    /// What happened in the run.
    Events,
}

impl Panel {
    /// All panels in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Peers,
        Self::Levels,
        Self::Map,
        Self::Performers,
        Self::Latency,
        Self::Logs,
        Self::Events,
    ];

    /// Returns the key that chooses the panel, 1 to 7.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// Returns the panel's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Peers => "Peers",
            Self::Levels => "Levels",
            Self::Map => "Map",
            Self::Performers => "Performers",
            Self::Latency => "Latency",
            Self::Logs => "Logs",
            Self::Events => "Events",
        }
    }

    /// Returns the panel after this one, the first after the last.
    #[must_use]
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// Returns the panel before this one, the last before the first.
    #[must_use]
    pub fn previous(self) -> Self {
        Self::ALL[(self as usize + Self::ALL.len() - 1) % Self::ALL.len()]
    }

    /// Returns what the panel is filtered by; the map and latency have no rows to filter.
    pub fn filter(self, model: &Model) -> Option<&Filter> {
        match self {
            Self::Peers => Some(&model.peer_rows.filter),
            Self::Levels => Some(&model.level_rows.filter),
            Self::Performers => Some(&model.performer_rows.filter),
            Self::Logs => Some(model.logs.filter()),
            Self::Events => Some(model.events.filter()),
            Self::Map | Self::Latency => None,
        }
    }
}
