//! The map's cursor: what is under it and near it, moving it, and choosing by it.

use protocol::report::{LevelOutline, ModelOutline, PerformerReport};

use super::map_view::Bounds;
use super::model::Model;
use super::projection::Projection;

/// Distance up to which a place counts as on a performer's mark, in cells across and down.
const REACH_CELLS: [f64; 2] = [2.5, 1.0];

/// The contents of a place of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Under<'a> {
    /// The place, world frame \[m\].
    pub place: [f64; 2],
    /// The smallest level that the place is in, else the smallest in whose buffer it is.
    pub level: Option<(&'a LevelOutline, Part)>,
    /// The performer that is nearest, and how far away its origin is \[m\].
    pub nearest: Option<(&'a PerformerReport, f64)>,
    /// The smallest static model whose box has the place.
    pub model: Option<&'a ModelOutline>,
}

/// The part of a level in which a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The level itself.
    Inner,
    /// Its buffer.
    Buffer,
}

/// Returns what is at a place, seen from above.
pub fn under(model: &Model, place: [f64; 2]) -> Under<'_> {
    let levels = &model.heard.layout.levels;
    let inner = levels.iter().map(|level| {
        let bounds = Bounds {
            min: [level.min[0], level.min[1]],
            max: [level.max[0], level.max[1]],
        };
        (level, bounds)
    });
    let outer = levels
        .iter()
        .map(|level| (level, Bounds::of_level_and_buffer(level)));
    let statics = model.heard.layout.statics.iter().map(|model| {
        let bounds = Bounds {
            min: [model.min[0], model.min[1]],
            max: [model.max[0], model.max[1]],
        };
        (model, bounds)
    });
    let level = smallest(inner, place)
        .map(|level| (level, Part::Inner))
        .or_else(|| smallest(outer, place).map(|level| (level, Part::Buffer)));
    Under {
        place,
        level,
        nearest: nearest(model, place),
        model: smallest(statics, place),
    }
}

/// Puts the cursor on the selected performer if it is seen, else into the map's middle; or takes
/// it away.
pub fn toggle(model: &mut Model) {
    if model.map.cursor.take().is_some() {
        return;
    }
    let Some(projection) = Projection::of_screen(model) else {
        return;
    };
    let selected = model.selected_performer();
    let seen = selected.and_then(|one| projection.cell(one.position[0], one.position[1]));
    let area = projection.area();
    let middle = (area.x + area.width / 2, area.y + area.height / 2);
    model.map.cursor = Some(projection.world(seen.unwrap_or(middle)));
}

/// Moves the cursor by so many cells to the right and up; the map goes along when it would leave.
pub fn move_by(model: &mut Model, columns: i32, rows: i32) {
    let (Some(place), Some(projection)) = (model.map.cursor, Projection::of_screen(model)) else {
        return;
    };
    let [width, height] = projection.cell_size();
    let moved = [
        place[0] + f64::from(columns) * width,
        place[1] + f64::from(rows) * height,
    ];
    if !moved.iter().all(|number| number.abs() < 1e9) {
        return;
    }
    model.map.cursor = Some(moved);
    if projection.cell(moved[0], moved[1]).is_none() {
        model.map.look_at(moved);
    }
}

/// Returns the performer whose mark is at a cell of the map, the nearest of those around it else.
pub fn performer_at<'a>(
    model: &'a Model,
    projection: &Projection,
    cell: (u16, u16),
) -> Option<&'a PerformerReport> {
    let near = model.heard.performers.iter().filter_map(|one| {
        let place = [one.position[0], one.position[1]];
        let [across, down] = projection.cells_between(cell, place);
        let is_near = across <= REACH_CELLS[0] && down <= REACH_CELLS[1];
        is_near.then_some((one, across.hypot(2.0 * down)))
    });
    near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(one, _)| one)
}

fn smallest<'a, T>(boxes: impl Iterator<Item = (&'a T, Bounds)>, place: [f64; 2]) -> Option<&'a T> {
    let has_place = |bounds: &Bounds| {
        (0..2).all(|axis| (bounds.min[axis]..=bounds.max[axis]).contains(&place[axis]))
    };
    let area = |bounds: &Bounds| bounds.size()[0] * bounds.size()[1];
    boxes
        .filter(|(_, bounds)| has_place(bounds) && area(bounds).is_finite())
        .min_by(|a, b| area(&a.1).total_cmp(&area(&b.1)))
        .map(|(one, _)| one)
}

fn nearest(model: &Model, place: [f64; 2]) -> Option<(&PerformerReport, f64)> {
    let distance =
        |one: &PerformerReport| (one.position[0] - place[0]).hypot(one.position[1] - place[1]);
    let known = model
        .heard
        .performers
        .iter()
        .map(|one| (one, distance(one)));
    known
        .filter(|(_, distance)| distance.is_finite())
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    fn check(place: [f64; 2], level: Option<(&str, Part)>, nearest: &str, thing: Option<&str>) {
        let model = fixture::model();
        let under = under(&model, place);
        let found = under.level.map(|(level, part)| (level.name.as_str(), part));
        assert_eq!(found, level, "{place:?}");
        assert_eq!(under.nearest.unwrap().0.name, nearest, "{place:?}");
        assert_eq!(
            under.model.map(|model| model.name.as_str()),
            thing,
            "{place:?}"
        );
    }

    #[test]
    fn a_place_has_a_level_a_performer_and_a_thing() {
        check(
            [-13.0, -3.5],
            Some(("west", Part::Inner)),
            "box",
            Some("shelf_1"),
        );
        check(
            [14.0, 2.0],
            Some(("east", Part::Inner)),
            "rover_2",
            Some("floor"),
        );
        check(
            [21.0, 0.0],
            Some(("east", Part::Buffer)),
            "rover_2",
            Some("floor"),
        );
        check([-500.0, 0.0], None, "ball", None);
    }

    #[test]
    fn performers_without_a_place_are_near_nothing() {
        let mut model = fixture::model();
        for performer in &mut model.heard.performers {
            performer.position = [f64::NAN; 3];
        }
        assert_eq!(under(&model, [0.0, 0.0]).nearest, None);
    }
}
