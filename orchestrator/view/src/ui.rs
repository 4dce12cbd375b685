//! The screen: every panel draws the model into its place and changes nothing.
//!
//! [`layout`] says where everything is, [`theme`] how it looks; [`crate::panels`] has one file per
//! panel.

pub mod confirm;
pub mod detail;
pub mod drive;
pub mod ended;
pub mod footer;
pub mod frame;
pub mod header;
pub mod help;
pub mod layout;
pub mod painting;
pub mod palette;
pub mod position_bar;
pub mod sparkline;
pub mod split_bar;
pub mod starting;
pub mod table;
pub mod text;
pub mod text_rows;
pub mod theme;
pub mod too_small;

#[cfg(test)]
mod screens;
#[cfg(test)]
pub(crate) mod walks;

use ratatui::Frame;
use ratatui::layout::Rect;

use self::theme::Theme;
use crate::app::model::{Mode, Model};
use crate::app::places::Places;
use crate::panels::{Content, Panel, map};

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
        (panel.row().draw)(model, frame, *place);
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
    model.screen.places = screen_places(model, &places);
    let focused = places
        .panels
        .iter()
        .find(|(panel, _)| *panel == model.screen.focus);
    let height = focused.map_or(0, |(_, place)| place.height);
    let heading_rows = match model.screen.focus.row().content {
        Content::Table { .. } => 1,
        Content::Text { heading_rows, .. } => heading_rows,
        Content::Picture { .. } => 0,
    };
    // The frame has a row above and one below.
    model.screen.page_rows = usize::from(height.saturating_sub(2 + heading_rows));
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
    model.screen.page_rows = rows;
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
