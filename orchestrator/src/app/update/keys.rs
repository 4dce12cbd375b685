//! Keys, acted on by what they mean where they are pressed.

use protocol::Command;
use protocol::report::RunState;

use super::{map, mouse};
use crate::app::command::{Effect, ViewEnd};
use crate::app::detail;
use crate::app::event::Key;
use crate::app::filter::Filter;
use crate::app::keymap::{self, Action};
use crate::app::map_cursor;
use crate::app::model::{Mode, Model, Question};
use crate::app::palette::{self, Request, completion};
use crate::app::panel::Panel;

/// The longest line that can be typed, in characters.
const TYPED_MAX: usize = 200;

/// Acts on a key.
pub(super) fn on_key(model: &mut Model, key: Key) -> Option<Effect> {
    let Some(action) = keymap::action(model, key) else {
        on_typed(model, key);
        return None;
    };
    match action {
        Action::TogglePlay => return on_toggle_play(model),
        Action::Step(count) => return on_step(model, count),
        Action::Stop => model.mode = Mode::Confirm(Question::Stop),
        Action::Quit => return on_quit(model),
        Action::Detach => return Some(Effect::End(ViewEnd::Detach)),
        Action::Leave => return Some(Effect::End(ViewEnd::Ended)),
        Action::ShowEnd => model.mode = Mode::Ended { scroll: 0 },
        Action::Repaint => return Some(Effect::Repaint),
        Action::Accept => return on_accept(model),
        Action::Cancel => on_cancel(model),
        Action::Complete => on_complete(model),
        Action::Back => on_back(model),
        Action::Detail => show_detail(model),
        Action::Copy => return on_copy(model),
        Action::Help => model.mode = Mode::Help { scroll: 0 },
        Action::Filter => model.mode = Mode::Filter,
        Action::Palette => {
            model.mode = Mode::Palette {
                line: String::new(),
                error: None,
            }
        }
        Action::Focus(panel) => focus(model, panel),
        Action::FocusNext => focus(model, model.focus.next()),
        Action::FocusPrevious => focus(model, model.focus.previous()),
        Action::Zoom => model.is_zoomed = !model.is_zoomed,
        Action::Move(by) => on_move(model, by),
        Action::MovePages(pages) => on_move(model, pages * model.page_rows.max(1).cast_signed()),
        Action::MoveColumns(by) => on_move_columns(model, by),
        Action::NextSource => on_next_source(model),
        Action::SortNext => on_sort_next(model),
        Action::SortReverse => on_sort_reverse(model),
        Action::Follow => on_follow(model),
        Action::Magnify(steps) => map::on_magnify(model, steps),
        Action::Fit => model.map.fit(),
        Action::Pan(x, y) => {
            let middle = model.map_center();
            model.map.pan(middle, [f64::from(x), f64::from(y)]);
        }
        Action::Cursor => map_cursor::toggle(model),
        Action::MoveCursor(x, y) => map_cursor::move_by(model, i32::from(x), i32::from(y)),
        Action::Pick => map::on_pick(model),
        Action::Select(by) => model.performer_rows.move_by(by, &model.performers),
        Action::ToggleMouse => return Some(mouse::on_toggle(model)),
    }
    None
}

/// Shows all that is known of what is selected in the focused panel, if anything is.
pub(super) fn show_detail(model: &mut Model) {
    if detail::detail(model).is_some() {
        model.mode = Mode::Detail { scroll: 0 };
    }
}

fn on_toggle_play(model: &mut Model) -> Option<Effect> {
    match model.run_state() {
        RunState::Paused => send(model, Command::Play),
        RunState::Running => send(model, Command::Pause),
        RunState::Waiting => refuse(model, "the run has not begun; it waits for its secondaries"),
        RunState::Stopping => refuse(model, "the run ends"),
    }
}

fn on_step(model: &mut Model, count: u64) -> Option<Effect> {
    match model.run_state() {
        RunState::Paused => send(model, Command::Step { count }),
        RunState::Running => refuse(model, "single steps are for a paused run; Space pauses"),
        RunState::Waiting => refuse(model, "the run has not begun; it waits for its secondaries"),
        RunState::Stopping => refuse(model, "the run ends"),
    }
}

fn on_copy(model: &mut Model) -> Option<Effect> {
    let text = match (&model.mode, &model.ended) {
        (Mode::Ended { .. }, Some(ended)) => ended.text(&model.run),
        _ => detail::detail(model)?.text(),
    };
    Some(Effect::Copy(text))
}

fn on_quit(model: &mut Model) -> Option<Effect> {
    if model.is_over() {
        return Some(Effect::End(ViewEnd::Ended));
    }
    if model.owns_run {
        return ask(model, Question::Quit);
    }
    Some(Effect::End(ViewEnd::Quit))
}

fn on_accept(model: &mut Model) -> Option<Effect> {
    match std::mem::replace(&mut model.mode, Mode::Browse) {
        Mode::Confirm(Question::Stop) => send(model, Command::Stop),
        Mode::Confirm(Question::Quit) => Some(Effect::End(ViewEnd::Quit)),
        Mode::Palette { line, .. } => on_palette(model, line),
        Mode::Filter | Mode::Browse | Mode::Help { .. } | Mode::Detail { .. } => None,
        ended @ Mode::Ended { .. } => set_mode(model, ended),
    }
}

fn on_palette(model: &mut Model, line: String) -> Option<Effect> {
    match palette::parse(&line) {
        Ok(Request::Command(Command::Stop)) => ask(model, Question::Stop),
        Ok(Request::Command(Command::Step { count })) => on_step(model, count),
        Ok(Request::Command(command)) => send(model, command),
        Ok(Request::Quit) => on_quit(model),
        Ok(Request::Detach) => Some(Effect::End(ViewEnd::Detach)),
        Ok(Request::Help) => set_mode(model, Mode::Help { scroll: 0 }),
        Err(error) => set_mode(
            model,
            Mode::Palette {
                line,
                error: Some(error),
            },
        ),
    }
}

fn on_cancel(model: &mut Model) {
    if model.mode == Mode::Filter {
        set_filter(model, Filter::default());
    }
    model.mode = Mode::Browse;
}

fn on_back(model: &mut Model) {
    if model
        .focus
        .filter(model)
        .is_some_and(|filter| !filter.text().is_empty())
    {
        set_filter(model, Filter::default());
    } else if model.is_over() && !model.is_zoomed {
        model.mode = Mode::Ended { scroll: 0 };
    } else {
        model.is_zoomed = false;
    }
}

fn on_complete(model: &mut Model) {
    if let Mode::Palette { line, .. } = &model.mode {
        let line = completion::complete(model, line);
        model.mode = Mode::Palette { line, error: None };
    }
}

/// A key without a meaning of its own is text where text is typed.
fn on_typed(model: &mut Model, key: Key) {
    match &mut model.mode {
        Mode::Palette { line, error } => {
            *error = None;
            if key == Key::Backspace && line.is_empty() {
                model.mode = Mode::Browse;
            } else {
                edit(line, key);
            }
        }
        Mode::Filter => {
            let filter = model.focus.filter(model);
            let mut text = filter
                .map(|filter| filter.text().to_owned())
                .unwrap_or_default();
            edit(&mut text, key);
            set_filter(model, Filter::new(text));
        }
        Mode::Browse
        | Mode::Confirm(_)
        | Mode::Help { .. }
        | Mode::Detail { .. }
        | Mode::Ended { .. } => {}
    }
}

fn edit(line: &mut String, key: Key) {
    match key {
        Key::Char(c) if line.chars().count() < TYPED_MAX && !c.is_control() => line.push(c),
        Key::Backspace => {
            line.pop();
        }
        Key::Ctrl('u') => line.clear(),
        _ => {}
    }
}

pub(super) fn on_move(model: &mut Model, by: isize) {
    if let Mode::Help { scroll } | Mode::Detail { scroll } | Mode::Ended { scroll } =
        &mut model.mode
    {
        *scroll = scroll.saturating_add_signed(by).min(keymap::BINDINGS.len());
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

fn on_move_columns(model: &mut Model, by: isize) {
    if model.focus == Panel::Events {
        model.events.scroll_columns(by);
    } else {
        model.logs.scroll_columns(by);
    }
}

fn on_next_source(model: &mut Model) {
    if model.focus == Panel::Events {
        model.events.next_source();
    } else {
        model.logs.next_source();
    }
}

fn on_sort_next(model: &mut Model) {
    match model.focus {
        Panel::Peers => model.peer_rows.sort_next(&model.peers),
        Panel::Levels => model.level_rows.sort_next(&model.levels),
        Panel::Performers => model.performer_rows.sort_next(&model.performers),
        Panel::Topics => model.topic_rows.sort_next(&model.topics),
        Panel::Overview | Panel::Map | Panel::Latency | Panel::Events | Panel::Logs => {}
    }
}

fn on_sort_reverse(model: &mut Model) {
    match model.focus {
        Panel::Peers => model.peer_rows.sort_reverse(),
        Panel::Levels => model.level_rows.sort_reverse(),
        Panel::Performers => model.performer_rows.sort_reverse(),
        Panel::Topics => model.topic_rows.sort_reverse(),
        Panel::Overview | Panel::Map | Panel::Latency | Panel::Events | Panel::Logs => {}
    }
}

fn on_follow(model: &mut Model) {
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
}

fn set_filter(model: &mut Model, filter: Filter) {
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

pub(super) fn send(model: &mut Model, command: Command) -> Option<Effect> {
    if model.is_read_only {
        return refuse(
            model,
            "this view only watches; leave it and attach without --read-only",
        );
    }
    if model.is_over() {
        return refuse(model, "the run is over");
    }
    if model.is_stale() {
        return refuse(model, "the primary cannot be reached");
    }
    model.pending.push(command.clone());
    model.notice = None;
    Some(Effect::Send(command))
}

fn refuse(model: &mut Model, reason: &str) -> Option<Effect> {
    model.notify(reason, true);
    None
}

fn ask(model: &mut Model, question: Question) -> Option<Effect> {
    set_mode(model, Mode::Confirm(question))
}

fn set_mode(model: &mut Model, mode: Mode) -> Option<Effect> {
    model.mode = mode;
    None
}
