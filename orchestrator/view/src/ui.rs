//! The screen: every panel draws the model into its place and changes nothing.
//!
//! [`layout`] says where everything is, [`theme`] how it looks; one file per panel does the rest.

pub mod confirm;
pub mod detail;
pub mod drive;
pub mod ended;
pub mod events;
pub mod footer;
pub mod frame;
pub mod header;
pub mod help;
pub mod latency;
pub mod layout;
pub mod levels;
pub mod logs;
pub mod map;
pub mod overview;
pub mod painting;
pub mod palette;
pub mod peers;
pub mod performers;
pub mod position_bar;
pub mod sparkline;
pub mod split_bar;
pub mod starting;
pub mod table;
pub mod text;
pub mod text_rows;
pub mod theme;
pub mod too_small;
pub mod topics;

#[cfg(test)]
mod screens;
#[cfg(test)]
pub(crate) mod walks;

use ratatui::Frame;
use ratatui::layout::Rect;

use self::theme::Theme;
use crate::app::model::{Mode, Model};
use crate::app::panel::Panel;
use crate::app::places::Places;

/// Draws the whole screen.
pub fn draw(model: &Model, frame: &mut Frame) {
    let area = frame.area();
    if area.width < layout::SIZE_MIN.0 || area.height < layout::SIZE_MIN.1 {
        too_small::draw(model, frame, area);
        return;
    }
    let places = layout::places(model, area);
    let body = Rect {
        y: places.message.bottom(),
        height: places.footer.y.saturating_sub(places.message.bottom()),
        ..area
    };
    header::draw(model, frame, places.header);
    header::draw_message(model, frame, places.message);
    for (panel, place) in &places.panels {
        draw_panel(model, frame, *place, *panel);
    }
    if model.is_stale() {
        frame.buffer_mut().set_style(body, Theme::of(model).stale());
    }
    match &model.mode {
        Mode::Browse => starting::draw(model, frame, body),
        Mode::Filter => {}
        Mode::Palette { line, error } => {
            palette::draw(model, frame, body, (line, error.as_deref()));
        }
        Mode::Confirm(question) => confirm::draw(model, frame, body, question),
        Mode::Drive(driven) => drive::draw(model, frame, body, driven),
        Mode::Detail { scroll } => detail::draw(model, frame, body, *scroll),
        Mode::Help { scroll } => help::draw(model, frame, body, *scroll),
        Mode::Ended { scroll } => ended::draw(model, frame, body, *scroll),
    }
    footer::draw(model, frame, places.footer);
}

/// Tells the model how much of what scrolls is seen on a screen of this size.
pub fn measure(model: &mut Model, area: Rect) {
    let places = layout::places(model, area);
    model.places = screen_places(model, &places);
    let focused = places
        .panels
        .iter()
        .find(|(panel, _)| *panel == model.focus);
    let height = focused.map_or(0, |(_, place)| place.height);
    let heading = match model.focus {
        Panel::Peers | Panel::Levels | Panel::Performers | Panel::Topics | Panel::Events => 3,
        Panel::Overview | Panel::Map | Panel::Latency | Panel::Logs => 2,
    };
    model.page_rows = usize::from(height.saturating_sub(heading));
    let body = Rect {
        height: places.footer.y.saturating_sub(places.message.bottom()),
        ..area
    };
    let (scroll_max, rows) = match model.mode {
        Mode::Help { .. } => (help::scroll_max(model, body), frame::rows(body)),
        Mode::Detail { .. } => (detail::scroll_max(model, body), frame::rows(body)),
        Mode::Ended { .. } => (ended::scroll_max(model, body), frame::rows(body)),
        Mode::Browse | Mode::Filter | Mode::Palette { .. } | Mode::Confirm(_) | Mode::Drive(_) => {
            return;
        }
    };
    model.page_rows = rows;
    if let Mode::Help { scroll } | Mode::Detail { scroll } | Mode::Ended { scroll } =
        &mut model.mode
    {
        *scroll = scroll_max.min(*scroll);
    }
}

/// Returns the areas of the screen in which mouse events are located.
fn screen_places(model: &Model, places: &layout::Places) -> Places {
    let panels = places.panels.iter();
    let map = panels.clone().find(|(panel, _)| *panel == Panel::Map);
    Places {
        panels: panels
            .map(|(panel, area)| (*panel, map::place(*area)))
            .collect(),
        plot: map.map(|(_, area)| map::place(map::plot(model, *area))),
    }
}

fn draw_panel(model: &Model, frame: &mut Frame, area: Rect, panel: Panel) {
    match panel {
        Panel::Overview => overview::draw(model, frame, area),
        Panel::Peers => peers::draw(model, frame, area),
        Panel::Levels => levels::draw(model, frame, area),
        Panel::Map => map::draw(model, frame, area),
        Panel::Performers => performers::draw(model, frame, area),
        Panel::Latency => latency::draw(model, frame, area),
        Panel::Topics => topics::draw(model, frame, area),
        Panel::Events => events::draw(model, frame, area),
        Panel::Logs => logs::draw(model, frame, area),
    }
}
