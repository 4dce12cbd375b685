//! Navigation: panels, rows, lines and details, and copying them.

use crate::app::command::Effect;
use crate::app::detail;
use crate::app::filter::Filter;
use crate::app::keymap::Action;
use crate::app::model::{Mode, Model};
use crate::app::panel::Panel;
use crate::app::scrollback::{Line, Scrollback};

/// The most that is copied \[bytes\]; terminals and tmux refuse much more.
const COPY_BYTES_MAX: usize = 56_000;
/// The farthest that a detail or help scrolls before it is known how long it is.
const SCROLL_MAX: usize = 1 << 20;

/// Gives the keys to a panel, and shows it.
pub(super) fn focus(model: &mut Model, panel: Panel) {
    model.focus = panel;
    match panel {
        Panel::Levels | Panel::Performers => model.shown.table = panel,
        Panel::Logs | Panel::Events | Panel::Topics => model.shown.text = panel,
        Panel::Overview | Panel::Peers | Panel::Map | Panel::Latency => {}
    }
    if !matches!(panel, Panel::Overview | Panel::Peers | Panel::Levels) {
        model.shown.small = panel;
    }
    if panel == Panel::Topics {
        model.topics_asked = None;
    }
}

/// Goes one step back; where there is none, says how to leave.
pub(super) fn on_back(model: &mut Model) {
    let filter = model.focus.filter(model);
    if filter.is_some_and(|filter| !filter.text().is_empty()) {
        set_filter(model, Filter::default());
    } else if model.is_zoomed {
        model.is_zoomed = false;
    } else if model.is_over() {
        model.mode = Mode::Ended { scroll: 0 };
    } else if model.owns_run {
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
    model.subject = detail::subject(model);
    if model.subject.is_some() {
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
    match model.focus {
        Panel::Peers => model.peer_rows.move_by(by, &model.peers),
        Panel::Levels => model.level_rows.move_by(by, &model.levels),
        Panel::Performers => model.performer_rows.move_by(by, &model.performers),
        Panel::Logs => model.logs.scroll(by, model.page_rows),
        Panel::Events => model.events.scroll(by, model.page_rows),
        Panel::Topics => model.topic_rows.move_by(by, &model.topics),
        Panel::Overview | Panel::Map | Panel::Latency => {}
    }
}

/// Does to the focused text what is done to texts.
pub(super) fn on_text(model: &mut Model, action: Action) {
    if model.focus == Panel::Events {
        change_text(&mut model.events, action);
    } else {
        change_text(&mut model.logs, action);
    }
}

fn change_text<L: Line>(text: &mut Scrollback<L>, action: Action) {
    match action {
        Action::MoveColumns(by) => text.scroll_columns(by),
        Action::NextSource => text.next_source(),
        Action::Wrap => text.toggle_wrap(),
        _ => {}
    }
}

pub(super) fn on_follow(model: &mut Model) {
    match model.focus {
        Panel::Logs => model.logs.toggle_follow(),
        Panel::Events => model.events.toggle_follow(),
        Panel::Overview
        | Panel::Peers
        | Panel::Levels
        | Panel::Map
        | Panel::Performers
        | Panel::Latency
        | Panel::Topics => {
            let selected = model.performer_rows.selected().map(str::to_owned);
            model.map.follow = if model.map.follow == selected {
                None
            } else {
                selected
            };
        }
    }
}

/// Copies the detail that is shown or the selected row; of texts, the line as it is.
pub(super) fn on_copy(model: &mut Model) -> Option<Effect> {
    let is_browsing = model.mode == Mode::Browse;
    let end = model.ended.as_ref();
    let line = match model.focus {
        _ if matches!(model.mode, Mode::Ended { .. }) => end.map(|ended| ended.text(&model.run)),
        Panel::Logs if is_browsing => line_of(&model.logs),
        Panel::Events if is_browsing => line_of(&model.events),
        _ => detail::detail(model).map(|detail| detail.text()),
    };
    if line.is_none() {
        model.notify("nothing is selected here", false);
    }
    copy(model, &line?)
}

/// Copies all lines of a text that pass its filter.
pub(super) fn on_copy_all(model: &mut Model) -> Option<Effect> {
    let text = if model.focus == Panel::Events {
        all_of(&model.events)
    } else {
        all_of(&model.logs)
    };
    copy(model, &text)
}

fn line_of<L: Line>(text: &Scrollback<L>) -> Option<String> {
    let line = text.line(text.selected()?)?;
    Some(format!("{} {}\n", line.source(), line.text()))
}

/// Returns the lines that pass, of too many the newest; a little more than can be copied, so that
/// it is known that some are left out.
fn all_of<L: Line>(text: &Scrollback<L>) -> String {
    let mut bytes = 0;
    let mut lines: Vec<String> = text
        .passing()
        .rev()
        .map(|line| format!("{} {}\n", line.source(), line.text()))
        .take_while(|line| {
            bytes += line.len();
            bytes <= 2 * COPY_BYTES_MAX
        })
        .collect();
    lines.reverse();
    lines.concat()
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
    match model.focus {
        Panel::Peers => model.peer_rows.set_filter(filter),
        Panel::Levels => model.level_rows.set_filter(filter),
        Panel::Performers => model.performer_rows.set_filter(filter),
        Panel::Logs => model.logs.set_filter(filter),
        Panel::Events => model.events.set_filter(filter),
        Panel::Topics => model.topic_rows.set_filter(filter),
        Panel::Overview | Panel::Map | Panel::Latency => {}
    }
}
