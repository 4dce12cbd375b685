//! Keys, acted on by what they mean where they are pressed.

use std::ops::ControlFlow;

use super::control::{self, ask, refuse, send};
use super::{driving, map, mouse, navigation, replay, typing};
use crate::app::command::{Effect, ViewEnd};
use crate::app::event::Key;
use crate::app::keymap::{self, Action};
use crate::app::map_cursor;
use crate::app::model::{Mode, Model, Question};
use crate::panels::Panel;

/// Key that suspends a process at a terminal, unless it was given another meaning.
const SUSPEND: Key = Key::Ctrl('z');

/// Acts on a key.
pub(super) fn on_key(model: &mut Model, key: Key) -> Option<Effect> {
    match keymap::action(model, key) {
        Some(action) => act(model, action),
        // A robot that is driven would go on and nobody could stop it.
        None if key == SUSPEND && !matches!(model.mode, Mode::Drive(_)) => Some(Effect::Suspend),
        None => typing::on_typed(model, key),
    }
}

fn act(model: &mut Model, action: Action) -> Option<Effect> {
    if let ControlFlow::Break(effect) = replay::act(model, action) {
        return effect;
    }
    if model.session.is_read_only && keymap::changes_run(action) {
        return refuse(model, control::READ_ONLY);
    }
    match action {
        Action::TogglePlay => return control::on_toggle_play(model),
        Action::Step(count) => return control::on_step(model, count),
        Action::RunTo => typing::open_palette(model, "run-to "),
        Action::Slower => return control::on_pace(model, false),
        Action::Faster => return control::on_pace(model, true),
        Action::Reset => control::on_reset(model),
        Action::Drive => return driving::on_drive(model),
        Action::Stop => control::ask_to_stop(model),
        Action::MoveCell => control::on_move_cell(model),
        Action::Spawn => return typing::open_palette_and_list(model, "spawn "),
        Action::Remove => control::on_remove(model),
        Action::Publish => control::on_publish(model),
        Action::Quit => return on_quit(model),
        Action::Detach => return Some(Effect::End(ViewEnd::Detach)),
        Action::Leave => return Some(Effect::End(ViewEnd::Ended)),
        Action::ShowEnd => model.mode = Mode::Ended { scroll: 0 },
        Action::Repaint => return Some(Effect::Repaint),
        Action::Accept => return on_accept(model),
        Action::Cancel => return on_cancel(model),
        Action::Complete => return typing::on_complete(model),
        Action::Previous => return typing::on_history(model, true),
        Action::Next => return typing::on_history(model, false),
        Action::Back => navigation::on_back(model),
        Action::Detail => navigation::on_detail(model),
        Action::Copy => return navigation::on_copy(model),
        Action::CopyAll => return navigation::on_copy_all(model),
        Action::Help => typing::open_help(model, ""),
        Action::Filter => typing::open_filter(model),
        Action::Palette => typing::open_palette(model, ""),
        Action::Accelerate(ahead, left) => return driving::on_accelerate(model, ahead, left),
        Action::Halt => return driving::on_halt(model),
        Action::ChangeStep(by) => driving::on_change_step(model, by),
        Action::NextTopic => return driving::on_next_topic(model),
        Action::Focus(panel) => navigation::focus(model, panel),
        Action::FocusNext => navigation::focus(model, model.screen.focus.next()),
        Action::FocusPrevious => navigation::focus(model, model.screen.focus.previous()),
        Action::Zoom => model.screen.is_zoomed = !model.screen.is_zoomed,
        Action::Move(by) => navigation::on_move(model, by),
        Action::MovePages(pages) => {
            navigation::on_move(model, pages * model.screen.page_rows.max(1).cast_signed());
        }
        Action::MoveColumns(by) => navigation::on_text(model, Action::MoveColumns(by)),
        Action::NextSource | Action::Wrap => navigation::on_text(model, action),
        Action::SortNext => navigation::on_sort(model, |data, rows| data.sort_next(rows)),
        Action::SortReverse => navigation::on_sort(model, |_, rows| rows.sort_reverse()),
        Action::Follow => navigation::on_follow(model),
        Action::Magnify(_)
        | Action::Fit
        | Action::Pan(..)
        | Action::Cursor
        | Action::MoveCursor(..)
        | Action::Pick
        | Action::Select(_) => on_map(model, action),
        Action::ToggleMouse => return Some(mouse::on_toggle(model)),
        // They are of recordings alone.
        Action::FramesBack(_)
        | Action::PlaySlower
        | Action::PlayFaster
        | Action::SeekOn(_)
        | Action::SeekStart
        | Action::SeekEnd
        | Action::SeekTo => {}
    }
    None
}

/// Acts on a key of the map.
fn on_map(model: &mut Model, action: Action) {
    match action {
        Action::Magnify(steps) => map::on_magnify(model, steps),
        Action::Fit => model.map.fit(),
        Action::Pan(x, y) => {
            let middle = model.map_center();
            model.map.pan(middle, [f64::from(x), f64::from(y)]);
        }
        Action::Cursor => map_cursor::toggle(model),
        Action::MoveCursor(x, y) => map_cursor::move_by(model, i32::from(x), i32::from(y)),
        Action::Pick => map::on_pick(model),
        Action::Select(by) => model.tables[Panel::Performers].move_by(by, &model.heard.performers),
        _ => {}
    }
}

pub(super) fn on_quit(model: &mut Model) -> Option<Effect> {
    if model.is_over() {
        return Some(Effect::End(ViewEnd::Ended));
    }
    if model.session.owns_run {
        ask(model, Question::Quit);
        return None;
    }
    Some(Effect::End(ViewEnd::Quit))
}

fn on_accept(model: &mut Model) -> Option<Effect> {
    if matches!(model.mode, Mode::Help { .. }) && model.prompt.help.is_typed {
        model.prompt.help.is_typed = false;
        return None;
    }
    match std::mem::replace(&mut model.mode, Mode::Browse) {
        Mode::Confirm(Question::Command { command, .. }) => send(model, command),
        Mode::Confirm(Question::Quit) => Some(Effect::End(ViewEnd::Quit)),
        Mode::Palette { line, .. } => typing::on_palette(model, line),
        Mode::Filter | Mode::Browse | Mode::Help { .. } | Mode::Detail { .. } => None,
        other @ (Mode::Ended { .. } | Mode::Drive(_)) => {
            model.mode = other;
            None
        }
    }
}

fn on_cancel(model: &mut Model) -> Option<Effect> {
    if let Mode::Drive(_) = model.mode {
        return driving::leave(model);
    }
    if typing::cancel(model) {
        model.mode = Mode::Browse;
    }
    None
}
