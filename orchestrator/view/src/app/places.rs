//! [`Places`]: where on the screen everything is that the mouse can hit, as last drawn.

use crate::panels::Panel;

/// A rectangle of the screen, in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScreenRect {
    /// Its first column.
    pub x: u16,
    /// Its first row.
    pub y: u16,
    /// Its columns.
    pub width: u16,
    /// Its rows.
    pub height: u16,
}

/// Positions of panels on the screen, and of the world on the map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The panels that are seen, with their frames.
    pub panels: Vec<(Panel, ScreenRect)>,
    /// The part of the map that shows the world, when the map is seen.
    pub plot: Option<ScreenRect>,
}

impl ScreenRect {
    /// Tells whether a cell is in it.
    pub fn contains(self, x: u16, y: u16) -> bool {
        let is_within = |cell: u16, start: u16, size: u16| {
            (u32::from(start)..u32::from(start) + u32::from(size)).contains(&u32::from(cell))
        };
        is_within(x, self.x, self.width) && is_within(y, self.y, self.height)
    }

    /// Returns what is within its frame.
    #[must_use]
    pub fn inside(self) -> Self {
        Self {
            x: self.x.saturating_add(1),
            y: self.y.saturating_add(1),
            width: self.width.saturating_sub(2),
            height: self.height.saturating_sub(2),
        }
    }
}

impl Places {
    /// Returns the panel that a cell belongs to.
    pub fn panel_at(&self, x: u16, y: u16) -> Option<(Panel, ScreenRect)> {
        let found = self.panels.iter().find(|(_, place)| place.contains(x, y));
        found.copied()
    }

    /// Returns the part of the map that shows the world, if the cell is in it.
    pub fn plot_at(&self, x: u16, y: u16) -> Option<ScreenRect> {
        self.plot.filter(|plot| plot.contains(x, y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_its_first_cell_and_not_the_one_after_its_last() {
        let place = ScreenRect {
            x: 2,
            y: 3,
            width: 4,
            height: 5,
        };
        assert!(place.contains(2, 3) && place.contains(5, 7));
        assert!(!place.contains(6, 3) && !place.contains(2, 8) && !place.contains(1, 3));
        assert!(place.inside().contains(3, 4) && !place.inside().contains(2, 3));
        assert_eq!(
            ScreenRect::default().inside(),
            ScreenRect {
                x: 1,
                y: 1,
                ..ScreenRect::default()
            }
        );
    }
}
