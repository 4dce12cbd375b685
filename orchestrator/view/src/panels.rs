//! [`Panel`]: the panels of the view, one line each in the table below and one file each beside it.
//!
//! A panel's file has all of it in a [`PanelRow`]: title, keys, rows or lines, filter and order,
//! details, drawing, and the figures that `phalanx show` prints. Everything else goes through this
//! table and names no panel but for what that panel alone can do.

mod events;
mod latency;
mod levels;
pub(crate) mod logs;
pub(crate) mod map;
mod overview;
mod peers;
mod performers;
mod topics;

pub use events::events_table;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::detail::{Detail, Subject};
use crate::app::event::Key;
use crate::app::filter::Filter;
use crate::app::keymap::{Binding, Context, key_name};
use crate::app::model::Model;
use crate::app::rows::TableData;
use crate::app::scrollback::Lines;
use crate::show::Show;

/// Makes the type of the panels, in the order in which Tab visits them, and its table of rows.
macro_rules! panels {
    ($($(#[$doc:meta])* $panel:ident => $row:expr,)+) => {
        /// A panel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Panel {
            $($(#[$doc])* $panel,)+
        }

        impl Panel {
            /// All panels in the order of their keys.
            pub const ALL: [Self; [$(Self::$panel),+].len()] = [$(Self::$panel),+];

            /// Returns all that the view knows of the panel.
            pub const fn row(self) -> &'static PanelRow {
                match self {
                    $(Self::$panel => &$row,)+
                }
            }
        }
    };
}

panels! {
    /// Limits of the simulation's speed, and an overview of the run.
    Overview => overview::PANEL,
    /// Processes of the run.
    Peers => peers::PANEL,
    /// Levels and their cells.
    Levels => levels::PANEL,
    /// Top view of the world.
    Map => map::PANEL,
    /// Things that move.
    Performers => performers::PANEL,
    /// Time per step.
    Latency => latency::PANEL,
    /// Messages of the simulated worlds.
    Topics => topics::PANEL,
    /// Events of the run.
    Events => events::PANEL,
    /// Output of the processes.
    Logs => logs::PANEL,
}

/// All that the view knows of a panel.
pub struct PanelRow {
    /// Its title; in lower case also its name for `phalanx show` and for the action of its key.
    pub title: &'static str,
    /// The key that chooses it.
    pub key: Key,
    /// Its place beside others.
    pub position: Position,
    /// Its contents, as keys and the mouse act on them.
    pub content: Content,
    /// The keys that only this panel has.
    pub keys: &'static [Binding<'static>],
    /// Draws the panel with its frame, and changes nothing.
    pub draw: fn(&Model, &mut Frame, Rect),
    /// Its figures without a terminal.
    pub show: Show,
}

/// The place of a panel beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The whole screen, whenever it has the keys.
    Alone,
    /// Above all others, on a screen of any size.
    Above,
    /// Left, in turn with others; on a small screen always there beside one that fits.
    Left,
    /// Left, in turn with others; on a small screen as wide as that.
    LeftWide,
    /// A place of its own on a large screen; on a small one beside [`Position::Left`].
    Own,
    /// At the bottom right, in turn with others; on a small screen as wide as that.
    BottomWide,
}

/// Contents of a panel, as keys and the mouse act on them.
pub enum Content {
    /// A picture or text that neither is sorted nor filtered.
    Picture {
        /// Returns the thing whose details `Enter` opens.
        subject: fn(&Model) -> Option<Subject>,
    },
    /// Rows of things with names.
    Table {
        /// Returns the figures, a row each.
        data: fn(&Model) -> &dyn TableData,
        /// Makes the details of the row of this name.
        describe: fn(&Model, &str) -> Detail,
    },
    /// Lines in the order in which they came.
    Text {
        /// Returns the lines.
        lines: fn(&Model) -> &dyn Lines,
        /// Returns the lines, to be scrolled and filtered.
        lines_mut: fn(&mut Model) -> &mut dyn Lines,
        /// Rows of the heading above them.
        heading_rows: u16,
        /// Makes the details of the line of this number.
        describe: fn(&Model, u64) -> Detail,
    },
}

impl Panel {
    /// Returns the panel's title.
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// Returns the panel's name in the command line and in files of settings.
    pub fn name(self) -> String {
        self.title().to_lowercase()
    }

    /// Returns the name of the key that chooses the panel.
    pub fn key_name(self) -> String {
        key_name(self.row().key)
    }

    /// Tells whether a digit chooses the panel.
    pub fn has_number(self) -> bool {
        matches!(self.row().key, Key::Char(key) if key.is_ascii_digit())
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

    /// Returns the filter of the panel; those without rows have none.
    pub fn filter(self, model: &Model) -> Option<&Filter> {
        match self.row().content {
            Content::Table { .. } => Some(&model.tables[self].filter),
            Content::Text { lines, .. } => Some(lines(model).filter()),
            Content::Picture { .. } => None,
        }
    }

    /// Returns the contexts whose keys hold in the panel, the most special first.
    pub fn contexts(self) -> Vec<Context> {
        let row = self.row();
        let own = Context::Panel(self);
        let has_own = row.keys.iter().any(|binding| binding.context == own);
        let of_content = match row.content {
            Content::Table { .. } => Some(Context::Table),
            Content::Text { .. } => Some(Context::Text),
            Content::Picture { .. } => None,
        };
        let special = has_own.then_some(own).into_iter().chain(of_content);
        special.chain([Context::Run, Context::Everywhere]).collect()
    }

    /// Tells whether the panel is a table.
    pub const fn is_table(self) -> bool {
        matches!(self.row().content, Content::Table { .. })
    }

    /// Tells whether the panel is a text.
    pub const fn is_text(self) -> bool {
        matches!(self.row().content, Content::Text { .. })
    }
}

/// Selects nothing: the subject of a picture without things.
const fn no_subject(_: &Model) -> Option<Subject> {
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_panel_has_a_title_and_a_key_of_its_own() {
        let titles: BTreeSet<&str> = Panel::ALL.map(Panel::title).into();
        let keys: BTreeSet<String> = Panel::ALL.map(Panel::key_name).into();
        assert_eq!(titles.len(), Panel::ALL.len());
        assert_eq!(keys.len(), Panel::ALL.len());
    }

    #[test]
    fn keys_of_a_panel_are_in_its_own_contexts() {
        for panel in Panel::ALL {
            for binding in panel.row().keys {
                let is_own = binding.context == Context::Panel(panel);
                let is_of_cursor = panel == Panel::Map && binding.context == Context::Cursor;
                assert!(is_own || is_of_cursor, "{panel:?}: {}", binding.text);
            }
        }
    }

    #[test]
    fn every_panel_is_in_the_document_of_the_view_and_among_the_snapshots() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let document = std::fs::read_to_string(folder.join("../../docs/view.md")).unwrap();
        for panel in Panel::ALL {
            assert!(document.contains(panel.title()), "{panel:?}");
            let snapshot = format!("src/ui/snapshots/{}_80x24.txt", panel.name());
            assert!(folder.join(&snapshot).exists(), "{snapshot}");
        }
    }
}
