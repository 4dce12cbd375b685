//! [`MapView`]: which part of the world the map shows.

use protocol::report::{Layout, LevelOutline, PerformerReport};

/// The largest magnification.
const ZOOM_MAX: f64 = 1e4;
/// The least magnification.
const ZOOM_MIN: f64 = 1e-2;
/// One press of `+`.
const ZOOM_STEP: f64 = 1.5;
/// One press of an arrow, as a part of what is shown.
const PAN_STEP: f64 = 0.1;

/// A rectangle of the ground, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least x and y \[m\].
    pub min: [f64; 2],
    /// Greatest x and y \[m\].
    pub max: [f64; 2],
}

/// The visible part of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct MapView {
    /// The whole world, when something of it is known.
    pub bounds: Option<Bounds>,
    /// Center of the visible part, world frame \[m\]; `None` is the center of the world.
    pub center: Option<[f64; 2]>,
    /// Magnification; at 1 the whole world is seen.
    pub zoom: f64,
    /// The performer that stays in the middle.
    pub follow: Option<String>,
    /// Place of the cursor if there is one, world frame \[m\].
    pub cursor: Option<[f64; 2]>,
    /// The cell by which the mouse holds the map.
    pub held: Option<(u16, u16)>,
}

impl Default for MapView {
    fn default() -> Self {
        Self {
            bounds: None,
            center: None,
            zoom: 1.0,
            follow: None,
            cursor: None,
            held: None,
        }
    }
}

impl Bounds {
    /// Returns the middle \[m\].
    pub fn middle(&self) -> [f64; 2] {
        std::array::from_fn(|axis| f64::midpoint(self.min[axis], self.max[axis]))
    }

    /// Returns the edge lengths \[m\].
    pub fn size(&self) -> [f64; 2] {
        std::array::from_fn(|axis| self.max[axis] - self.min[axis])
    }

    /// Returns a level's box with its buffer.
    pub fn of_level_and_buffer(level: &LevelOutline) -> Self {
        Self {
            min: std::array::from_fn(|axis| level.min[axis] - level.buffer),
            max: std::array::from_fn(|axis| level.max[axis] + level.buffer),
        }
    }

    fn of_box(min: &[f64; 3], max: &[f64; 3]) -> Self {
        Self {
            min: [min[0], min[1]],
            max: [max[0], max[1]],
        }
    }

    fn is_finite(&self) -> bool {
        self.min
            .iter()
            .chain(&self.max)
            .all(|number| number.is_finite())
    }

    fn joined(self, other: Self) -> Self {
        Self {
            min: std::array::from_fn(|axis| self.min[axis].min(other.min[axis])),
            max: std::array::from_fn(|axis| self.max[axis].max(other.max[axis])),
        }
    }
}

impl MapView {
    /// Takes the bounds of the world: of its levels and first performers; without levels, of all
    /// that is finite.
    pub fn measure(&mut self, layout: &Layout, performers: &[PerformerReport]) {
        let levels = layout.levels.iter().map(Bounds::of_level_and_buffer);
        let first = layout
            .performers
            .iter()
            .map(|model| Bounds::of_box(&model.min, &model.max));
        let statics = layout
            .statics
            .iter()
            .filter(|_| layout.levels.is_empty())
            .map(|model| Bounds::of_box(&model.min, &model.max));
        let now = performers
            .iter()
            .map(|one| Bounds::of_box(&one.position, &one.position));
        self.bounds = join(levels.chain(first).chain(statics)).or_else(|| join(now));
    }

    /// Shows the whole world.
    pub fn fit(&mut self) {
        *self = Self {
            bounds: self.bounds,
            cursor: self.cursor,
            ..Self::default()
        };
    }

    /// Magnifies by so many steps, negative for less.
    pub fn magnify(&mut self, steps: i32) {
        self.zoom = (self.zoom * ZOOM_STEP.powi(steps)).clamp(ZOOM_MIN, ZOOM_MAX);
    }

    /// Magnifies by so many steps; `middle` is the map's middle, and `fixed` stays where it is.
    pub fn magnify_about(&mut self, middle: [f64; 2], fixed: [f64; 2], steps: i32) {
        let before = self.zoom;
        self.magnify(steps);
        let part = before / self.zoom;
        self.look_at(std::array::from_fn(|axis| {
            fixed[axis] + (middle[axis] - fixed[axis]) * part
        }));
    }

    /// Puts a place into the map's middle, and no longer follows.
    pub fn look_at(&mut self, center: [f64; 2]) {
        if center.iter().all(|number| number.is_finite()) {
            self.center = Some(center);
            self.follow = None;
        }
    }

    /// Moves the map's middle by so many steps from `middle`, and no longer follows.
    pub fn pan(&mut self, middle: [f64; 2], steps: [f64; 2]) {
        let Some(bounds) = self.bounds else { return };
        let size = bounds.size();
        let step = size[0].max(size[1]).max(1.0) / self.zoom * PAN_STEP;
        self.look_at(std::array::from_fn(|axis| {
            middle[axis] + steps[axis] * step
        }));
    }
}

fn join(bounds: impl Iterator<Item = Bounds>) -> Option<Bounds> {
    bounds.filter(Bounds::is_finite).reduce(Bounds::joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    #[test]
    fn the_world_is_measured_by_its_levels_with_buffers_and_not_by_its_ground() {
        let mut map = MapView::default();
        map.measure(&fixture::layout(), &[]);
        let bounds = map.bounds.unwrap();
        assert_eq!(
            bounds,
            Bounds {
                min: [-22.0, -7.0],
                max: [22.0, 19.0]
            }
        );
    }

    #[test]
    fn panning_moves_a_tenth_of_what_is_shown() {
        let mut map = MapView::default();
        map.measure(&fixture::layout(), &[]);
        map.magnify(1);
        map.pan([0.0, 0.0], [1.0, 0.0]);
        let [x, y] = map.center.unwrap();
        assert!((x - 4.4 / 1.5).abs() < 1e-9, "{x}");
        assert_eq!(y, 0.0);
        map.fit();
        assert_eq!((map.center, map.zoom), (None, 1.0));
    }

    #[test]
    fn magnifying_about_a_place_leaves_it_where_it_is() {
        let mut map = MapView::default();
        map.measure(&fixture::layout(), &[]);
        map.magnify_about([0.0, 0.0], [6.0, -3.0], 1);
        let [x, y] = map.center.unwrap();
        assert!((x - 2.0).abs() < 1e-9 && (y + 1.0).abs() < 1e-9, "{x} {y}");
        map.magnify_about([x, y], [6.0, -3.0], -1);
        let [x, y] = map.center.unwrap();
        assert!(x.abs() < 1e-9 && y.abs() < 1e-9, "{x} {y}");
        map.look_at([f64::NAN, 0.0]);
        assert_eq!(map.center, Some([x, y]));
    }
}
