//! Navigation: panels, rows, lines and details, and copying them.

use crate::app::command::Effect;
use crate::app::detail::{self, Subject};
use crate::app::filter::Filter;
use crate::app::keymap::Action;
use crate::app::model::{Mode, Model};
use crate::app::rows::{TableData, TableRows};
use crate::app::scrollback::Lines;
use crate::panels::{Content, Panel, Position};

/// The most that is copied \[bytes\]; terminals and tmux refuse much more.
const COPY_BYTES_MAX: usize = 56_000;
/// The farthest that a detail or help scrolls before it is known how long it is.
const SCROLL_MAX: usize = 1 << 20;

/// Gives the keys to a panel, and shows it.
pub(super) fn focus(model: &mut Model, panel: Panel) {
    model.screen.focus = panel;
    let position = panel.row().position;
    match position {
        Position::Left | Position::LeftWide => model.screen.visible.left = panel,
        Position::BottomWide => model.screen.visible.bottom = panel,
        Position::Alone | Position::Above | Position::Own => {}
    }
    if !matches!(position, Position::Alone | Position::Above | Position::Left) {
        model.screen.visible.small = panel;
    }
    if panel == Panel::Topics {
        model.details.topics_asked = None;
    }
}

/// Goes one step back; where there is none, says how to leave.
pub(super) fn on_back(model: &mut Model) {
    let filter = model.screen.focus.filter(model);
    if filter.is_some_and(|filter| !filter.text().is_empty()) {
        set_filter(model, Filter::default());
    } else if model.screen.is_zoomed {
        model.screen.is_zoomed = false;
    } else if model.is_over() {
        model.mode = Mode::Ended { scroll: 0 };
    } else if model.session.owns_run {
        model.notify(
            "nothing to go back from; q leaves, d leaves and the run goes on",
            false,
        );
    } else {
        model.notify(
            "nothing to go back from; q or d leaves, the run goes on",
            false,
        );
    }
}

pub(super) fn on_detail(model: &mut Model) {
    model.details.subject = Subject::selected(model, model.screen.focus);
    if model.details.subject.is_some() {
        model.mode = Mode::Detail { scroll: 0 };
    } else {
        model.notify("nothing is selected here", false);
    }
}

pub(super) fn on_move(model: &mut Model, by: isize) {
    if let Mode::Help { scroll } | Mode::Detail { scroll } | Mode::Ended { scroll } =
        &mut model.mode
    {
        *scroll = scroll.saturating_add_signed(by).min(SCROLL_MAX);
        return;
    }
    move_in(model, model.screen.focus, by);
}

/// Moves the selection or the lines of a panel, whichever has the keys.
pub(super) fn move_in(model: &mut Model, panel: Panel, by: isize) {
    model.change_rows(panel, |data, rows| data.move_by(rows, by));
    let rows = model.screen.page_rows;
    if let Some(lines) = lines_mut(model, panel) {
        lines.scroll(by, rows);
    }
}

/// Does to the focused text what is done to texts.
pub(super) fn on_text(model: &mut Model, action: Action) {
    let Some(lines) = lines_mut(model, model.screen.focus) else {
        return;
    };
    match action {
        Action::MoveColumns(by) => lines.scroll_columns(by),
        Action::NextSource => lines.next_source(),
        Action::Wrap => lines.toggle_wrap(),
        _ => {}
    }
}

/// Changes the order of the focused table.
pub(super) fn on_sort(model: &mut Model, sort: impl FnOnce(&dyn TableData, &mut TableRows)) {
    model.change_rows(model.screen.focus, sort);
}

pub(super) fn on_follow(model: &mut Model) {
    if let Some(lines) = lines_mut(model, model.screen.focus) {
        lines.toggle_follow();
        return;
    }
    let selected = model.tables[Panel::Performers].selected();
    let selected = selected.map(str::to_owned);
    model.map.follow = if model.map.follow == selected {
        None
    } else {
        selected
    };
}

fn lines(model: &Model) -> Option<&dyn Lines> {
    match model.screen.focus.row().content {
        Content::Text { lines, .. } => Some(lines(model)),
        Content::Table { .. } | Content::Picture { .. } => None,
    }
}

fn lines_mut(model: &mut Model, panel: Panel) -> Option<&mut dyn Lines> {
    match panel.row().content {
        Content::Text { lines_mut, .. } => Some(lines_mut(model)),
        Content::Table { .. } | Content::Picture { .. } => None,
    }
}

/// Copies the detail that is shown or the selected row; of texts, the line as it is.
pub(super) fn on_copy(model: &mut Model) -> Option<Effect> {
    let is_browsing = model.mode == Mode::Browse;
    let end = model.session.ended.as_ref();
    let line = match lines(model) {
        _ if matches!(model.mode, Mode::Ended { .. }) => {
            end.map(|ended| ended.text(&model.session.run))
        }
        Some(lines) if is_browsing => lines.selected_text(),
        Some(_) | None => detail::detail(model).map(|detail| detail.text()),
    };
    if line.is_none() {
        model.notify("nothing is selected here", false);
    }
    copy(model, &line?)
}

/// Copies all lines of a text that pass its filter.
pub(super) fn on_copy_all(model: &mut Model) -> Option<Effect> {
    // A little more than can be copied, so that it is known that some are left out.
    let text = lines(model).map(|lines| lines.passing_text(2 * COPY_BYTES_MAX));
    copy(model, &text.unwrap_or_default())
}

/// Copies a text, of one that is too long the end.
fn copy(model: &mut Model, text: &str) -> Option<Effect> {
    if text.is_empty() {
        model.notify("there is nothing to copy", false);
        return None;
    }
    let mut start = text.ceil_char_boundary(text.len().saturating_sub(COPY_BYTES_MAX));
    if start > 0 {
        start += text[start..].find('\n').map_or(0, |at| at + 1);
    }
    let copied = &text[start..];
    let count = copied.lines().count();
    let plural = if count == 1 { "" } else { "s" };
    let newest = if start > 0 { "the last " } else { "" };
    model.notify(format!("copied {newest}{count} line{plural}"), false);
    Some(Effect::Copy(copied.to_owned()))
}

pub(super) fn set_filter(model: &mut Model, filter: Filter) {
    let panel = model.screen.focus;
    match panel.row().content {
        Content::Table { .. } => model.tables[panel].set_filter(filter),
        Content::Text { lines_mut, .. } => lines_mut(model).set_filter(filter),
        Content::Picture { .. } => {}
    }
}
