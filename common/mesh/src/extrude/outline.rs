//! [`Outline`]: a closed line around an area, cleaned and turned the right way round.

use super::{ExtrudeError, OUTLINE_POINTS_MAX, OUTLINES_MAX};
use crate::read::turn;

/// Points closer than this are one \[m\], as in Gazebo.
const SAME_POINT: f64 = 1e-4;

/// Distance from an edge at which a point is still on it, as a part of the edge's length.
const ON_EDGE: f64 = 1e-9;

/// An area of less than this part of the square around it is none.
const NO_AREA: f64 = 1e-12;

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

    /// Returns the lines from each point to the next.
    fn edges(&self) -> impl Iterator<Item = [[f64; 2]; 2]> {
        let edge = |i: usize| [self.points[i], self.points[(i + 1) % self.points.len()]];
        (0..self.points.len()).map(edge)
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
        if points.len() < 3 || area(&points).abs() <= NO_AREA * square(&points) {
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
    add_touching_points(&mut own);
    for (i, j) in (0..own.len()).flat_map(|i| (0..outlines.len()).map(move |j| (i, j))) {
        if i != j && is_around(&own[j], &own[i])? {
            own[i].around.push(j);
        }
    }
    for outline in &mut own {
        if (outline.area() < 0.0) != outline.is_hole() {
            outline.points.reverse();
        }
    }
    let edges: Vec<[[f64; 2]; 2]> = own.iter().flat_map(Outline::edges).collect();
    if !edges.iter().all(|edge| is_border(*edge, &edges)) {
        return Err(ExtrudeError::Crossing);
    }
    Ok(own)
}

/// Leaves out points that repeat the one before them, also across the end.
fn cleaned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    // Products and sums alone: workers on other machines must find the same points.
    let is_same = |a: &[f64; 2], b: &[f64; 2]| {
        let (x, y) = (a[0] - b[0], a[1] - b[1]);
        x * x + y * y <= SAME_POINT * SAME_POINT
    };
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

/// Returns the square of the longer side of the box around points.
fn square(points: &[[f64; 2]]) -> f64 {
    let side = |axis: usize| {
        let numbers = points.iter().map(|point| point[axis]);
        let (low, high) = (numbers.clone().reduce(f64::min), numbers.reduce(f64::max));
        high.unwrap_or_default() - low.unwrap_or_default()
    };
    let longest = side(0).max(side(1));
    longest * longest
}

/// Returns twice the area, positive when the points run counter-clockwise.
fn area(points: &[[f64; 2]]) -> f64 {
    let fan = points[1..].windows(2);
    fan.map(|pair| turn([points[0], pair[0], pair[1]])).sum()
}

/// Adds to each edge the points of all outlines that are on it, so that edges meet at points only.
fn add_touching_points(outlines: &mut [Outline]) {
    let all: Vec<[f64; 2]> = outlines.iter().flat_map(|o| o.points.clone()).collect();
    for outline in outlines {
        let mut points = Vec::with_capacity(outline.points.len());
        for edge in outline.edges() {
            let place = |point: &[f64; 2]| Some((part_of_edge(edge, *point)?, *point));
            let mut places: Vec<(f64, [f64; 2])> = all.iter().filter_map(place).collect();
            places.sort_by(|a, b| a.0.total_cmp(&b.0));
            let between = places.iter().filter(|(part, _)| is_between(*part));
            points.push(edge[0]);
            points.extend(between.map(|(_, point)| *point));
        }
        points.dedup();
        outline.points = points;
    }
}

/// Returns whether a place on an edge is at none of its ends.
pub(super) fn is_between(part: f64) -> bool {
    part > ON_EDGE && part < 1.0 - ON_EDGE
}

/// Returns whether the first outline surrounds the second. Where the second runs along the first,
/// it is neither within nor without; everywhere else it must be the same.
fn is_around(outer: &Outline, inner: &Outline) -> Result<bool, ExtrudeError> {
    let mut is_within = None;
    for [a, b] in inner.edges() {
        let middle = [f64::midpoint(a[0], b[0]), f64::midpoint(a[1], b[1])];
        let is_along = |edge| part_of_edge(edge, middle).is_some();
        if outer.edges().any(is_along) {
            continue;
        }
        let own = outer.surrounds(middle);
        if *is_within.get_or_insert(own) != own {
            return Err(ExtrudeError::Crossing);
        }
    }
    is_within.ok_or(ExtrudeError::Crossing)
}

/// Returns whether an odd number of outlines surrounds what is on the left of an edge and an even
/// number what is on its right, or neither where a hole touches the border and both edges cancel.
///
/// It counts the edges that a line from the edge's middle meets, along the axis that the edge is
/// farther from.
fn is_border(edge: [[f64; 2]; 2], edges: &[[[f64; 2]; 2]]) -> bool {
    let [start, end] = edge;
    let is_steep = (end[1] - start[1]).abs() >= (end[0] - start[0]).abs();
    let (x, y) = if is_steep { (0, 1) } else { (1, 0) };
    let middle = [0, 1].map(|i| f64::midpoint(start[i], end[i]));
    let (mut beyond, mut same, mut opposite) = (0, 0, 0);
    for [from, to] in edges {
        if [*from, *to] == edge {
            same += 1;
        } else if [*to, *from] == edge {
            opposite += 1;
        } else if (from[y] > middle[y]) != (to[y] > middle[y]) {
            let part = (middle[y] - from[y]) / (to[y] - from[y]);
            beyond += i32::from(from[x] + part * (to[x] - from[x]) > middle[x]);
        }
    }
    let (after, before) = (beyond % 2, (beyond + same + opposite) % 2);
    // Turned to the other axis, left is right.
    let is_left_before = (end[y] > start[y]) == is_steep;
    let (left, right) = if is_left_before {
        (before, after)
    } else {
        (after, before)
    };
    left - right == same - opposite
}

/// Returns at which part of an edge a point is, 0 to 1, if it is on the edge.
pub(super) fn part_of_edge([start, end]: [[f64; 2]; 2], point: [f64; 2]) -> Option<f64> {
    let edge = [end[0] - start[0], end[1] - start[1]];
    let square = edge[0] * edge[0] + edge[1] * edge[1];
    let part = (edge[0] * (point[0] - start[0]) + edge[1] * (point[1] - start[1])) / square;
    let is_on = (0.0..=1.0).contains(&part) && turn([start, end, point]).abs() <= ON_EDGE * square;
    is_on.then_some(part)
}

/// Returns whether any two edges cross; edges that only touch do not.
fn is_crossing(outlines: &[Outline]) -> bool {
    let mut edges: Vec<[[f64; 2]; 2]> = outlines.iter().flat_map(Outline::edges).collect();
    edges.sort_by(|[a, b], [c, d]| a[0].min(b[0]).total_cmp(&c[0].min(d[0])));
    edges.iter().enumerate().any(|(i, [a, b])| {
        let right = a[0].max(b[0]);
        let after = edges[i + 1..].iter();
        let mut near = after.take_while(|[c, d]| c[0].min(d[0]) <= right);
        near.any(|[c, d]| {
            turn([*a, *b, *c]) * turn([*a, *b, *d]) < 0.0
                && turn([*c, *d, *a]) * turn([*c, *d, *b]) < 0.0
        })
    })
}
