//! Keys of the map that act on more than where it looks.

use super::navigation;
use crate::app::map_cursor;
use crate::app::model::Model;
use crate::app::projection::Projection;
use crate::panels::Panel;

/// Magnifies about the cursor; without one, or while a performer is followed, about the middle.
pub(super) fn on_magnify(model: &mut Model, steps: i32) {
    match model.map.cursor {
        Some(cursor) if model.map.follow.is_none() => {
            let middle = model.map_center();
            model.map.magnify_about(middle, cursor, steps);
        }
        Some(_) | None => model.map.magnify(steps),
    }
}

/// Selects the performer under the cursor, or shows all that is known of it if it is selected.
pub(super) fn on_pick(model: &mut Model) {
    let cell = Projection::of_screen(model).and_then(|projection| {
        let [x, y] = model.map.cursor?;
        projection.cell(x, y)
    });
    let is_one_there = cell.is_some_and(|cell| pick(model, cell, true));
    if !is_one_there {
        model.notify("no performer is under the cursor", false);
    }
}

/// Selects the performer at a cell of the screen, or shows all that is known of it if it is
/// selected and may be shown; tells whether there is one.
pub(super) fn pick(model: &mut Model, cell: (u16, u16), can_show: bool) -> bool {
    let found = Projection::of_screen(model)
        .and_then(|projection| map_cursor::performer_at(model, &projection, cell));
    let Some(name) = found.map(|performer| performer.name.clone()) else {
        return false;
    };
    if model.tables[Panel::Performers].selected() == Some(&name) {
        if can_show {
            navigation::on_detail(model);
        }
    } else {
        model.tables[Panel::Performers].select(&name, &model.heard.performers);
    }
    true
}
