//! [`Outline`]: a closed line around an area, cleaned and turned the right way round.

use super::{ExtrudeError, OUTLINE_POINTS_MAX, OUTLINES_MAX};
use crate::read::turn;

/// Points closer than this are one \[m\], as in Gazebo.
const SAME_POINT: f64 = 1e-4;

/// A closed line around an area.
pub(super) struct Outline {
    /// Its points; the area that is solid is to the left of the line from each to the next.
    pub(super) points: Vec<[f64; 2]>,
    /// The numbers of the outlines around it.
    pub(super) around: Vec<usize>,
}

impl Outline {
    /// Returns whether what is within is not solid.
    pub(super) fn is_hole(&self) -> bool {
        self.around.len() % 2 == 1
    }

    /// Returns twice the area, negative for a hole.
    pub(super) fn area(&self) -> f64 {
        area(&self.points)
    }

    /// Returns whether a point is within, by counting the edges on its right.
    fn surrounds(&self, [x, y]: [f64; 2]) -> bool {
        let mut is_within = false;
        let mut from = self.points[self.points.len() - 1];
        for to in &self.points {
            if (from[1] > y) != (to[1] > y) {
                let at = from[0] + (to[0] - from[0]) * (y - from[1]) / (to[1] - from[1]);
                is_within ^= at > x;
            }
            from = *to;
        }
        is_within
    }
}

/// Cleans outlines, and finds which of them are holes.
pub(super) fn read(outlines: &[Vec<[f64; 2]>]) -> Result<Vec<Outline>, ExtrudeError> {
    let points: usize = outlines.iter().map(Vec::len).sum();
    if points == 0 {
        return Err(ExtrudeError::Empty);
    }
    if points > OUTLINE_POINTS_MAX {
        return Err(ExtrudeError::TooMany {
            what: "points",
            maximum: OUTLINE_POINTS_MAX,
        });
    }
    if outlines.len() > OUTLINES_MAX {
        return Err(ExtrudeError::TooMany {
            what: "outlines",
            maximum: OUTLINES_MAX,
        });
    }
    let mut own = Vec::with_capacity(outlines.len());
    for (outline, points) in outlines.iter().enumerate() {
        let is_finite = |point: &[f64; 2]| point.iter().all(|number| number.is_finite());
        if let Some(point) = points.iter().position(|point| !is_finite(point)) {
            return Err(ExtrudeError::NotFinite { outline, point });
        }
        let points = cleaned(points);
        if points.len() < 3 || area(&points) == 0.0 {
            return Err(ExtrudeError::NoArea { outline });
        }
        own.push(Outline {
            points,
            around: Vec::new(),
        });
    }
    if is_crossing(&own) {
        return Err(ExtrudeError::Crossing);
    }
    for i in 0..own.len() {
        let is_around = |j: &usize| *j != i && is_around(&own[*j], &own[i]);
        own[i].around = (0..own.len()).filter(is_around).collect();
    }
    for outline in &mut own {
        if (outline.area() < 0.0) != outline.is_hole() {
            outline.points.reverse();
        }
    }
    Ok(own)
}

/// Leaves out points that repeat the one before them, also across the end.
fn cleaned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let is_same = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) <= SAME_POINT;
    let mut own: Vec<[f64; 2]> = Vec::with_capacity(points.len());
    for point in points {
        if !own.last().is_some_and(|last| is_same(last, point)) {
            own.push(*point);
        }
    }
    while own.len() > 1 && is_same(&own[0], &own[own.len() - 1]) {
        own.pop();
    }
    own
}

/// Returns twice the area, positive when the points run counter-clockwise.
fn area(points: &[[f64; 2]]) -> f64 {
    let fan = points[1..].windows(2);
    fan.map(|pair| turn([points[0], pair[0], pair[1]])).sum()
}

/// Returns whether the first outline surrounds the second, by most of the second's edges: some of
/// them may touch the first.
fn is_around(outer: &Outline, inner: &Outline) -> bool {
    let count = inner.points.len();
    let is_within = |i: &usize| {
        let (a, b) = (inner.points[*i], inner.points[(*i + 1) % count]);
        outer.surrounds([f64::midpoint(a[0], b[0]), f64::midpoint(a[1], b[1])])
    };
    2 * (0..count).filter(is_within).count() > count
}

/// Returns whether any two edges cross; edges that only touch do not.
fn is_crossing(outlines: &[Outline]) -> bool {
    let mut edges: Vec<([f64; 2], [f64; 2])> = Vec::new();
    for Outline { points, .. } in outlines {
        let edge = |i: usize| (points[i], points[(i + 1) % points.len()]);
        edges.extend((0..points.len()).map(edge));
    }
    edges.sort_by(|(a, b), (c, d)| a[0].min(b[0]).total_cmp(&c[0].min(d[0])));
    edges.iter().enumerate().any(|(i, (a, b))| {
        let right = a[0].max(b[0]);
        let after = edges[i + 1..].iter();
        let mut near = after.take_while(|(c, d)| c[0].min(d[0]) <= right);
        near.any(|(c, d)| {
            turn([*a, *b, *c]) * turn([*a, *b, *d]) < 0.0
                && turn([*c, *d, *a]) * turn([*c, *d, *b]) < 0.0
        })
    })
}
