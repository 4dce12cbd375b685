//! [`Projection`]: from places in the world to cells and dots of the map.

use ratatui::layout::Rect;

use crate::app::model::Model;

/// How many dots a Braille cell has, across and down.
const BRAILLE_DOTS: [u16; 2] = [2, 4];
/// The longest scale bar, in cells.
const SCALE_CELLS_MAX: f64 = 10.0;

/// From the world to an area of the screen. A cell is taken to be twice as high as wide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projection {
    area: Rect,
    dots_per_cell: [u16; 2],
    center: [f64; 2],
    cell_width_m: f64,
}

impl Projection {
    /// Looks at the world as the model's map does; `None` while there is no world or no room.
    pub(super) fn new(model: &Model, area: Rect) -> Option<Self> {
        let bounds = model.map.bounds?;
        if area.width < 4 || area.height < 2 {
            return None;
        }
        let [width, height] = bounds.size();
        let across = width / f64::from(area.width - 2);
        let down = height / (2.0 * f64::from(area.height) - 1.0);
        let cell_width_m = across.max(down).max(1e-3) / model.map.zoom;
        let dots_per_cell = if model.has_unicode {
            BRAILLE_DOTS
        } else {
            [1, 1]
        };
        Some(Self {
            area,
            dots_per_cell,
            center: model.map_center(),
            cell_width_m,
        })
    }

    /// Returns the area of the screen.
    pub(super) fn area(&self) -> Rect {
        self.area
    }

    /// Returns how many dots the area has, across and down.
    pub(super) fn dots(&self) -> [i64; 2] {
        [
            i64::from(self.area.width) * i64::from(self.dots_per_cell[0]),
            i64::from(self.area.height) * i64::from(self.dots_per_cell[1]),
        ]
    }

    /// Returns the dot of a place, from the upper left; dots far outside count as near outside.
    pub(super) fn dot(&self, x: f64, y: f64) -> [i64; 2] {
        let [across, down] = self.position(x, y);
        let limit = |dot: f64| dot.floor().clamp(-1e6, 1e6) as i64;
        [
            limit(across * f64::from(self.dots_per_cell[0])),
            limit(down * f64::from(self.dots_per_cell[1])),
        ]
    }

    /// Returns the cell of a place, if it is on the map.
    pub(super) fn cell(&self, x: f64, y: f64) -> Option<(u16, u16)> {
        let [across, down] = self.position(x, y);
        let is_inside = (0.0..f64::from(self.area.width)).contains(&across)
            && (0.0..f64::from(self.area.height)).contains(&down);
        is_inside.then(|| (self.area.x + across as u16, self.area.y + down as u16))
    }

    /// Returns the cell inside a box's upper left corner, if it is on the map.
    pub(super) fn corner(&self, x: f64, y: f64) -> Option<(u16, u16)> {
        self.cell(x, y).map(|(column, row)| (column + 1, row + 1))
    }

    /// Returns a round length \[m\] and how many cells wide it is.
    pub(super) fn scale(&self) -> (f64, u16) {
        let longest = self.cell_width_m * SCALE_CELLS_MAX;
        let power = 10_f64.powf(longest.log10().floor());
        let length = [5.0, 2.0, 1.0].into_iter().map(|digit| digit * power);
        let length = length
            .into_iter()
            .find(|length| *length <= longest)
            .unwrap_or(power);
        (length, (length / self.cell_width_m).round() as u16)
    }

    /// Place in cells from the upper left corner.
    fn position(&self, x: f64, y: f64) -> [f64; 2] {
        [
            f64::from(self.area.width) / 2.0 + (x - self.center[0]) / self.cell_width_m,
            f64::from(self.area.height) / 2.0 - (y - self.center[1]) / (2.0 * self.cell_width_m),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    #[test]
    fn the_whole_world_is_on_the_map_and_nothing_else() {
        let model = fixture::model();
        let area = Rect::new(5, 7, 40, 20);
        let projection = Projection::new(&model, area).unwrap();
        for (x, y) in [(-22.0, -7.0), (-22.0, 19.0), (22.0, -7.0), (22.0, 19.0)] {
            assert!(projection.cell(x, y).is_some(), "{x}, {y}");
        }
        assert_eq!(projection.cell(0.0, 6.0), Some((25, 17)));
        assert_eq!(projection.cell(1e9, 0.0), None);
        assert_eq!(projection.cell(f64::NAN, 0.0), None);
    }

    #[test]
    fn the_scale_is_a_round_number() {
        let model = fixture::model();
        let projection = Projection::new(&model, Rect::new(0, 0, 46, 40)).unwrap();
        assert_eq!(projection.scale(), (10.0, 10));
    }
}
