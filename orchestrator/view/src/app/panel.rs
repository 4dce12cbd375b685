//! The panels of the view, by number.

use super::filter::Filter;
use super::model::Model;

/// A panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// Limits of the simulation's speed, and an overview of the run.
    Overview,
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
    /// Messages of the simulated worlds.
    Topics,
    /// Events of the run.
    Events,
    /// Output of the processes.
    Logs,
}

impl Panel {
    /// All panels in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Overview,
        Self::Peers,
        Self::Levels,
        Self::Map,
        Self::Performers,
        Self::Latency,
        Self::Topics,
        Self::Events,
        Self::Logs,
    ];

    /// Returns the key that chooses the panel, 1 to 9.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// Returns the panel's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Peers => "Peers",
            Self::Levels => "Levels",
            Self::Map => "Map",
            Self::Performers => "Performers",
            Self::Latency => "Latency",
            Self::Topics => "Topics",
            Self::Events => "Events",
            Self::Logs => "Logs",
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

    /// Returns what the panel is filtered by; those without rows have no filter.
    pub fn filter(self, model: &Model) -> Option<&Filter> {
        match self {
            Self::Peers => Some(&model.peer_rows.filter),
            Self::Levels => Some(&model.level_rows.filter),
            Self::Performers => Some(&model.performer_rows.filter),
            Self::Logs => Some(model.logs.filter()),
            Self::Events => Some(model.events.filter()),
            Self::Topics => Some(&model.topic_rows.filter),
            Self::Overview | Self::Map | Self::Latency => None,
        }
    }
}
