//! Layout of the screen.
//!
//! ```text
//! 80x24                                     120x40
//! +- header ------------------------+       +- header ------------------------+
//! |  header                         |       |  header                         |
//! |  message                        |       |  message                        |
//! +- Peers -------------------------+       +- Peers -------------------------+
//! |                                 |       |                                 |
//! +- Levels -------+- Map ----------+       +- Levels -------+- Map ----------+
//! |                | or Latency     |       |  or Performers |                |
//! |                |                |       |                |                |
//! |                |                |       +- Latency ------+- Logs ---------+
//! |  or Performers, Logs or Events  |       |                |  or Events     |
//! +---------------------------------+       +----------------+----------------+
//!    keys                                      keys
//! ```

use ratatui::layout::{Constraint, Layout, Rect};

use crate::app::model::Model;
use crate::panels::{Panel, Position};

/// The least terminal that shows the view: columns and rows.
pub const SIZE_MIN: (u16, u16) = (80, 24);
/// The least terminal on which five panels are seen at once.
const TILED_MIN: (u16, u16) = (120, 36);
/// The least width of the levels beside another panel.
const LEVELS_WIDTH: u16 = 42;

/// Areas of the screen.
#[derive(Debug)]
pub struct Places {
    /// Figures of the run, two rows.
    pub header: Rect,
    /// The most important message to the user, one row.
    pub message: Rect,
    /// The panels that are seen.
    pub panels: Vec<(Panel, Rect)>,
    /// The keys, one row.
    pub footer: Rect,
}

/// Returns where everything is on a terminal of this size.
pub fn places(model: &Model, area: Rect) -> Places {
    let [header, message, body, footer] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    let panels = if model.screen.is_zoomed || model.screen.focus.row().position == Position::Alone {
        vec![(model.screen.focus, body)]
    } else if area.width >= TILED_MIN.0 && area.height >= TILED_MIN.1 {
        tiled(model, body)
    } else {
        compact(model, body)
    };
    Places {
        header,
        message,
        panels,
        footer,
    }
}

fn tiled(model: &Model, body: Rect) -> Vec<(Panel, Rect)> {
    let [peers, rest] = below_peers(model, body);
    let [middle, bottom] =
        Layout::vertical([Constraint::Percentage(55), Constraint::Fill(1)]).areas(rest);
    let halves = |area, left| {
        Layout::horizontal([Constraint::Percentage(left), Constraint::Fill(1)]).areas::<2>(area)
    };
    let [table, map] = halves(middle, 50);
    let [latency, text] = halves(bottom, 45);
    vec![
        (Panel::Peers, peers),
        (model.screen.visible.left, table),
        (Panel::Map, map),
        (Panel::Latency, latency),
        (model.screen.visible.bottom, text),
    ]
}

fn compact(model: &Model, body: Rect) -> Vec<(Panel, Rect)> {
    let [peers, rest] = below_peers(model, body);
    let small = model.screen.visible.small;
    let position = small.row().position;
    let is_wide = matches!(position, Position::LeftWide | Position::BottomWide);
    if is_wide && model.screen.focus != Panel::Levels {
        return vec![(Panel::Peers, peers), (small, rest)];
    }
    let levels_width = LEVELS_WIDTH.max(rest.width / 2);
    let [levels, small_area] =
        Layout::horizontal([Constraint::Length(levels_width), Constraint::Fill(1)]).areas(rest);
    vec![
        (Panel::Peers, peers),
        (Panel::Levels, levels),
        (small, small_area),
    ]
}

/// Gives the peers as many rows as there are, within limits.
fn below_peers(model: &Model, body: Rect) -> [Rect; 2] {
    let rows = (model.heard.peers.len().min(100) as u16 + 3)
        .min(body.height * 2 / 5)
        .max(6);
    Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(body)
}
