//! [`Outline`]: a box on the map, drawn dot by dot and only where it is seen.

use std::ops::RangeInclusive;

use ratatui::style::Color;
use ratatui::widgets::canvas::{Painter, Shape};

use super::projection::Projection;
use crate::app::map_view::Bounds;

/// How a box is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    /// Its edges.
    Solid,
    /// Its edges with gaps.
    Dashed,
    /// Its edges, and every other dot inside unless it covers much of the map.
    Hatched,
}

/// A box in dots from the upper left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outline {
    stroke: Stroke,
    color: Color,
    left_top: [i64; 2],
    right_bottom: [i64; 2],
    dots: [i64; 2],
}

impl Outline {
    /// Makes an outline, if anything of the box may be seen.
    pub(super) fn new(
        projection: &Projection,
        bounds: &Bounds,
        stroke: Stroke,
        color: Color,
    ) -> Option<Self> {
        let left_top = projection.dot(bounds.min[0], bounds.max[1]);
        let right_bottom = projection.dot(bounds.max[0], bounds.min[1]);
        let dots = projection.dots();
        let is_seen = (0..2).all(|axis| right_bottom[axis] >= 0 && left_top[axis] < dots[axis]);
        is_seen.then_some(Self {
            stroke,
            color,
            left_top,
            right_bottom,
            dots,
        })
    }

    /// The dots of the box along an axis that are on the map.
    fn seen(&self, axis: usize) -> RangeInclusive<i64> {
        self.left_top[axis].max(0)..=self.right_bottom[axis].min(self.dots[axis] - 1)
    }

    fn has_dot(&self, x: i64, y: i64) -> bool {
        let is_edge = x == self.left_top[0]
            || x == self.right_bottom[0]
            || y == self.left_top[1]
            || y == self.right_bottom[1];
        match self.stroke {
            Stroke::Solid => is_edge,
            Stroke::Dashed => is_edge && (x + y).rem_euclid(4) < 2,
            Stroke::Hatched => is_edge || (x + y).rem_euclid(2) == 0,
        }
    }

    fn is_filled(&self) -> bool {
        let sides: [i64; 2] =
            std::array::from_fn(|axis| self.right_bottom[axis] - self.left_top[axis]);
        self.stroke == Stroke::Hatched && sides[0] * sides[1] * 4 < self.dots[0] * self.dots[1]
    }

    fn paint(&self, painter: &mut Painter, x: i64, y: i64) {
        if self.has_dot(x, y) {
            painter.paint(x as usize, y as usize, self.color);
        }
    }
}

impl Shape for Outline {
    fn draw(&self, painter: &mut Painter) {
        let is_filled = self.is_filled();
        for y in self.seen(1) {
            let is_whole = is_filled || y == self.left_top[1] || y == self.right_bottom[1];
            if is_whole {
                for x in self.seen(0) {
                    self.paint(painter, x, y);
                }
                continue;
            }
            for x in [self.left_top[0], self.right_bottom[0]] {
                if self.seen(0).contains(&x) {
                    self.paint(painter, x, y);
                }
            }
        }
    }
}
