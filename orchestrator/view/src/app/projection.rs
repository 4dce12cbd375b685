//! [`Projection`]: from places in the world to cells and dots of the map, and back.

use super::model::Model;
use super::places::ScreenRect;

/// Number of dots that a Braille cell has, across and down.
const BRAILLE_DOTS: [u16; 2] = [2, 4];
/// The longest scale bar, in cells.
const SCALE_CELLS_MAX: f64 = 10.0;

/// From the world to an area of the screen. A cell is taken to be twice as high as wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    area: ScreenRect,
    dots_per_cell: [u16; 2],
    center: [f64; 2],
    cell_width_m: f64,
}

impl Projection {
    /// Looks at the world as the model's map does; `None` while there is no world or no room.
    pub fn new(model: &Model, area: ScreenRect) -> Option<Self> {
        let bounds = model.map.bounds?;
        if area.width < 4 || area.height < 2 {
            return None;
        }
        let [width, height] = bounds.size();
        let across = width / f64::from(area.width - 2);
        let down = height / (2.0 * f64::from(area.height) - 1.0);
        let cell_width_m = across.max(down).max(1e-3) / model.map.zoom;
        let dots_per_cell = if model.terminal.has_unicode {
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

    /// Looks at the world as the map on the screen does; `None` while it is not seen.
    pub fn of_screen(model: &Model) -> Option<Self> {
        Self::new(model, model.screen.places.plot?)
    }

    /// Returns the area of the screen.
    pub fn area(&self) -> ScreenRect {
        self.area
    }

    /// Returns what the middle of the map shows, world frame \[m\].
    pub fn center(&self) -> [f64; 2] {
        self.center
    }

    /// Returns how much of the world a cell shows, across and down \[m\].
    pub fn cell_size(&self) -> [f64; 2] {
        [self.cell_width_m, 2.0 * self.cell_width_m]
    }

    /// Returns how many dots the area has, across and down.
    pub fn dots(&self) -> [i64; 2] {
        [
            i64::from(self.area.width) * i64::from(self.dots_per_cell[0]),
            i64::from(self.area.height) * i64::from(self.dots_per_cell[1]),
        ]
    }

    /// Returns how many dots a cell has, across and down.
    pub fn dots_per_cell(&self) -> [u16; 2] {
        self.dots_per_cell
    }

    /// Returns the dot of a place, from the upper left; dots far outside count as near outside.
    pub fn dot(&self, x: f64, y: f64) -> [i64; 2] {
        let [across, down] = self.position(x, y);
        let limit = |dot: f64| dot.floor().clamp(-1e6, 1e6) as i64;
        [
            limit(across * f64::from(self.dots_per_cell[0])),
            limit(down * f64::from(self.dots_per_cell[1])),
        ]
    }

    /// Returns the cell of a place, if it is on the map.
    pub fn cell(&self, x: f64, y: f64) -> Option<(u16, u16)> {
        let [across, down] = self.position(x, y);
        let is_inside = (0.0..f64::from(self.area.width)).contains(&across)
            && (0.0..f64::from(self.area.height)).contains(&down);
        is_inside.then(|| (self.area.x + across as u16, self.area.y + down as u16))
    }

    /// Returns the place in the middle of a cell, world frame \[m\].
    pub fn world(&self, (x, y): (u16, u16)) -> [f64; 2] {
        let [width, height] = self.cell_size();
        let across = f64::from(x) + 0.5 - f64::from(self.area.x) - f64::from(self.area.width) / 2.0;
        let down = f64::from(y) + 0.5 - f64::from(self.area.y) - f64::from(self.area.height) / 2.0;
        [
            self.center[0] + across * width,
            self.center[1] - down * height,
        ]
    }

    /// Returns how far a place is from a cell's middle, in cells across and down.
    pub fn cells_between(&self, cell: (u16, u16), place: [f64; 2]) -> [f64; 2] {
        let (middle, size) = (self.world(cell), self.cell_size());
        std::array::from_fn(|axis| ((place[axis] - middle[axis]) / size[axis]).abs())
    }

    /// Returns the first cell inside the part of a box that is seen, at its upper left.
    pub fn corner(&self, min: [f64; 2], max: [f64; 2]) -> Option<(u16, u16)> {
        let [left, top] = self.position(min[0], max[1]);
        let [right, bottom] = self.position(max[0], min[1]);
        let first = |from: f64, to: f64, size: u16| {
            let cell = if from < 0.0 { 0.0 } else { from.floor() + 1.0 };
            (to > cell && cell < f64::from(size)).then_some(cell as u16)
        };
        Some((
            self.area.x + first(left, right, self.area.width)?,
            self.area.y + first(top, bottom, self.area.height)?,
        ))
    }

    /// Returns a round length \[m\] and how many cells wide it is.
    pub fn scale(&self) -> (f64, u16) {
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

    fn projection(x: u16, y: u16, width: u16, height: u16) -> Projection {
        let area = ScreenRect {
            x,
            y,
            width,
            height,
        };
        Projection::new(&fixture::model(), area).unwrap()
    }

    #[test]
    fn the_whole_world_is_on_the_map_and_nothing_else() {
        let projection = projection(5, 7, 40, 20);
        for (x, y) in [(-22.0, -7.0), (-22.0, 19.0), (22.0, -7.0), (22.0, 19.0)] {
            assert!(projection.cell(x, y).is_some(), "{x}, {y}");
        }
        assert_eq!(projection.cell(0.0, 6.0), Some((25, 17)));
        assert_eq!(projection.cell(1e9, 0.0), None);
        assert_eq!(projection.cell(f64::NAN, 0.0), None);
    }

    #[test]
    fn every_cell_shows_the_place_that_it_stands_for() {
        let projection = projection(5, 7, 40, 20);
        for cell in [(5, 7), (44, 26), (25, 17), (6, 25)] {
            let [x, y] = projection.world(cell);
            assert_eq!(projection.cell(x, y), Some(cell));
        }
    }

    #[test]
    fn a_box_is_named_where_it_is_seen() {
        let projection = projection(0, 0, 40, 20);
        let check = |min, max, expected| {
            assert_eq!(projection.corner(min, max), expected, "{min:?}");
        };
        check([-1e3, -1e3], [1e3, 1e3], Some((0, 0)));
        check([0.0, -1e3], [1e3, 6.0], Some((21, 11)));
        check([1e3, 0.0], [2e3, 1.0], None);
        check([0.0, 0.0], [1e-3, 1e-3], None);
        check([f64::NAN, 0.0], [1.0, 1.0], None);
    }

    #[test]
    fn the_scale_is_a_round_number() {
        assert_eq!(projection(0, 0, 46, 40).scale(), (10.0, 10));
    }
}
