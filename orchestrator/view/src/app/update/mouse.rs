//! The mouse, acted on by what is under it.

use super::{map, navigation};
use crate::app::command::Effect;
use crate::app::event::{Mouse, MouseAction};
use crate::app::model::{Mode, Model};
use crate::app::places::ScreenRect;
use crate::app::projection::Projection;
use crate::app::rows::TableRows;
use crate::panels::Panel;

/// Rows by which one turn of the wheel scrolls.
const WHEEL_ROWS: isize = 3;

/// Acts on the mouse.
pub(super) fn on_mouse(model: &mut Model, mouse: Mouse) -> Option<Effect> {
    if !matches!(mouse.action, MouseAction::Drag) {
        model.map.held = None;
    }
    match model.mode {
        Mode::Browse | Mode::Filter => {}
        Mode::Help { .. } | Mode::Detail { .. } => {
            on_text(model, mouse.action);
            return None;
        }
        Mode::Palette { .. } | Mode::Confirm(_) | Mode::Drive(_) | Mode::Ended { .. } => {
            return None;
        }
    }
    match mouse.action {
        MouseAction::Press => on_press(model, mouse),
        MouseAction::Drag => on_drag(model, mouse),
        MouseAction::ScrollUp => on_wheel(model, mouse, -1),
        MouseAction::ScrollDown => on_wheel(model, mouse, 1),
    }
    None
}

/// Hears the mouse from now on, or leaves it to the terminal.
pub(super) fn on_toggle(model: &mut Model) -> Effect {
    model.terminal.has_mouse = !model.terminal.has_mouse;
    let text = if model.terminal.has_mouse {
        "the mouse is for this view; M gives it to the terminal's own selection"
    } else {
        "the mouse is for the terminal's own selection; M gives it to this view"
    };
    model.notify(text, false);
    Effect::Mouse(model.terminal.has_mouse)
}

fn on_text(model: &mut Model, action: MouseAction) {
    match action {
        MouseAction::ScrollUp => navigation::on_move(model, -WHEEL_ROWS),
        MouseAction::ScrollDown => navigation::on_move(model, WHEEL_ROWS),
        MouseAction::Press => model.mode = Mode::Browse,
        MouseAction::Drag => {}
    }
}

fn on_press(model: &mut Model, mouse: Mouse) {
    let Some((panel, area)) = model.screen.places.panel_at(mouse.x, mouse.y) else {
        return;
    };
    model.mode = Mode::Browse;
    let was_focused = model.screen.focus == panel;
    if !was_focused {
        navigation::focus(model, panel);
    }
    if panel == Panel::Map {
        if model.screen.places.plot_at(mouse.x, mouse.y).is_some() {
            model.map.held = Some((mouse.x, mouse.y));
            on_press_map(model, (mouse.x, mouse.y), was_focused);
        }
        return;
    }
    let Some(row) = row_at(model, panel, area, mouse) else {
        return;
    };
    let is_again = was_focused && table(model, panel).is_some_and(|rows| rows.cursor() == row);
    model.change_rows(panel, |data, rows| data.select_row(rows, row));
    if is_again {
        navigation::on_detail(model);
    }
}

fn on_press_map(model: &mut Model, cell: (u16, u16), was_focused: bool) {
    let is_one_there = map::pick(model, cell, was_focused);
    if !is_one_there
        && model.map.cursor.is_some()
        && let Some(projection) = Projection::of_screen(model)
    {
        model.map.cursor = Some(projection.world(cell));
    }
}

fn on_drag(model: &mut Model, mouse: Mouse) {
    let (Some(held), Some(projection)) = (model.map.held, Projection::of_screen(model)) else {
        return;
    };
    if held == (mouse.x, mouse.y) {
        return;
    }
    let (from, to) = (projection.world(held), projection.world((mouse.x, mouse.y)));
    let center = projection.center();
    model.map.look_at(std::array::from_fn(|axis| {
        center[axis] + from[axis] - to[axis]
    }));
    model.map.held = Some((mouse.x, mouse.y));
}

fn on_wheel(model: &mut Model, mouse: Mouse, turns: i8) {
    let Some((panel, _)) = model.screen.places.panel_at(mouse.x, mouse.y) else {
        return;
    };
    let by = isize::from(turns) * WHEEL_ROWS;
    if panel == Panel::Map {
        on_wheel_map(model, (mouse.x, mouse.y), -i32::from(turns));
        return;
    }
    // Texts page by the rows of the focused panel, so they get the focus first.
    if panel.is_text() && model.screen.focus != panel {
        navigation::focus(model, panel);
    }
    navigation::move_in(model, panel, by);
}

fn on_wheel_map(model: &mut Model, cell: (u16, u16), steps: i32) {
    let projection = Projection::of_screen(model).filter(|_| model.map.follow.is_none());
    match (projection, model.screen.places.plot_at(cell.0, cell.1)) {
        (Some(projection), Some(_)) => {
            let fixed = projection.world(cell);
            model.map.magnify_about(projection.center(), fixed, steps);
        }
        (Some(_) | None, _) => model.map.magnify(steps),
    }
}

/// The row of a table that a cell of the screen shows; the first line within the frame is the
/// heading.
fn row_at(model: &Model, panel: Panel, area: ScreenRect, mouse: Mouse) -> Option<usize> {
    let inside = area.inside();
    let rows = table(model, panel).filter(|_| inside.contains(mouse.x, mouse.y))?;
    let line = usize::from(mouse.y - inside.y).checked_sub(1)?;
    let height = usize::from(inside.height.saturating_sub(1));
    let row = rows.first_row(height) + line;
    (row < rows.rows().len()).then_some(row)
}

fn table(model: &Model, panel: Panel) -> Option<&TableRows> {
    panel.is_table().then(|| &model.tables[panel])
}
