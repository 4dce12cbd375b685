//! Boxes on the map, drawn dot by dot and only where they are seen.

use std::ops::RangeInclusive;

use ratatui::style::Style;

use super::dots::Dots;
use crate::app::map_view::Bounds;
use crate::app::projection::Projection;

/// Line style of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    /// Its edges.
    Solid,
    /// Its edges twice as thick.
    Thick,
    /// Its edges with gaps.
    Dashed,
    /// Its edges, and diagonals inside unless it covers much of the map.
    Hatched,
    /// A rim of single dots.
    Dotted,
}

/// Draws a box, as far as it is on the map.
pub(super) fn draw(
    dots: &mut Dots,
    projection: &Projection,
    bounds: &Bounds,
    stroke: Stroke,
    style: Style,
) {
    let outline = Outline {
        left_top: projection.dot(bounds.min[0], bounds.max[1]),
        right_bottom: projection.dot(bounds.max[0], bounds.min[1]),
        size: dots.size(),
        is_braille: dots.is_braille(),
        stroke,
    };
    if !outline.is_seen() {
        return;
    }
    outline.draw(dots, style);
    let sides = outline.sides();
    if stroke == Stroke::Thick && sides[0] > 3 && sides[1] > 3 && outline.is_braille {
        outline.smaller().draw(dots, style);
    }
}

/// A box in dots from the upper left.
#[derive(Clone, Copy, Debug)]
struct Outline {
    left_top: [i64; 2],
    right_bottom: [i64; 2],
    size: [i64; 2],
    is_braille: bool,
    stroke: Stroke,
}

impl Outline {
    fn is_seen(&self) -> bool {
        (0..2).all(|axis| self.right_bottom[axis] >= 0 && self.left_top[axis] < self.size[axis])
    }

    fn sides(&self) -> [i64; 2] {
        std::array::from_fn(|axis| self.right_bottom[axis] - self.left_top[axis])
    }

    fn smaller(self) -> Self {
        Self {
            left_top: self.left_top.map(|dot| dot + 1),
            right_bottom: self.right_bottom.map(|dot| dot - 1),
            ..self
        }
    }

    /// The dots of the box along an axis that are on the map.
    fn seen(&self, axis: usize) -> RangeInclusive<i64> {
        self.left_top[axis].max(0)..=self.right_bottom[axis].min(self.size[axis] - 1)
    }

    fn draw(&self, dots: &mut Dots, style: Style) {
        let is_filled = self.is_filled();
        for y in self.seen(1) {
            if is_filled || y == self.left_top[1] || y == self.right_bottom[1] {
                for x in self.seen(0) {
                    self.paint(dots, [x, y], style);
                }
                continue;
            }
            for x in [self.left_top[0], self.right_bottom[0]] {
                if self.seen(0).contains(&x) {
                    self.paint(dots, [x, y], style);
                }
            }
        }
    }

    fn paint(&self, dots: &mut Dots, [x, y]: [i64; 2], style: Style) {
        let is_upright = x == self.left_top[0] || x == self.right_bottom[0];
        let is_level = y == self.left_top[1] || y == self.right_bottom[1];
        let is_edge = is_upright || is_level;
        let has_dot = match self.stroke {
            Stroke::Solid | Stroke::Thick => is_edge,
            Stroke::Dashed => is_edge && (!self.is_braille || (x + y).rem_euclid(4) < 2),
            Stroke::Dotted => {
                is_edge && (x + y).rem_euclid(if self.is_braille { 4 } else { 2 }) == 0
            }
            Stroke::Hatched => is_edge || (x + y).rem_euclid(self.hatching()) == 0,
        };
        if has_dot {
            dots.paint([x, y], self.ascii(is_upright, is_level), style);
        }
    }

    fn hatching(&self) -> i64 {
        if self.is_braille { 3 } else { 2 }
    }

    fn ascii(&self, is_upright: bool, is_level: bool) -> u8 {
        match (self.stroke, is_upright, is_level) {
            (Stroke::Solid, true, true) => b'+',
            (Stroke::Solid, true, false) => b'|',
            (Stroke::Solid, false, _) => b'-',
            (Stroke::Thick, true, _) => b'#',
            (Stroke::Thick, false, _) => b'=',
            (Stroke::Dashed | Stroke::Dotted, _, _) => b'.',
            (Stroke::Hatched, _, _) => b'%',
        }
    }

    fn is_filled(&self) -> bool {
        let sides = self.sides();
        self.stroke == Stroke::Hatched && sides[0] * sides[1] * 4 < self.size[0] * self.size[1]
    }
}
