//! [`Cap`]: the area between outlines as triangles that share the outlines' edges.

use std::collections::BTreeSet;

use earcut::Earcut;

use super::ExtrudeError;
use super::outline::{Outline, is_between, part_of_edge};
use crate::read::turn;

/// Part of the area that triangles may miss, for rounding.
const MISSED_AREA: f64 = 1e-9;

/// The area between outlines.
pub(super) struct Cap {
    /// The points of all outlines, one outline after the other.
    pub(super) points: Vec<[f64; 2]>,
    /// Indices into `points`, counter-clockwise.
    pub(super) triangles: Vec<[u32; 3]>,
    /// The edges of the outlines; the area is to the left of each.
    pub(super) edges: Vec<(u32, u32)>,
}

impl Cap {
    pub(super) fn new(outlines: &[Outline]) -> Result<Self, ExtrudeError> {
        let mut cap = Self {
            points: Vec::new(),
            triangles: Vec::new(),
            edges: Vec::new(),
        };
        let mut starts = Vec::new();
        for outline in outlines {
            let start = cap.points.len() as u32;
            let count = outline.points.len() as u32;
            let edges = (0..count).map(|i| (start + i, start + (i + 1) % count));
            cap.edges.extend(edges);
            cap.points.extend_from_slice(&outline.points);
            starts.push(start);
        }
        let mut earcut = Earcut::new();
        for (i, outline) in outlines.iter().enumerate().filter(|(_, o)| !o.is_hole()) {
            let depth = outline.around.len() + 1;
            let is_own = |hole: &Outline| hole.around.len() == depth && hole.around.contains(&i);
            let holes = (0..outlines.len()).filter(|j| is_own(&outlines[*j]));
            let members: Vec<usize> = std::iter::once(i).chain(holes).collect();
            cap.cut(outlines, &starts, &members, &mut earcut);
        }
        let area: f64 = outlines.iter().map(Outline::area).sum();
        let covered: f64 = cap.triangles.iter().map(|t| turn(cap.corners(*t))).sum();
        if (covered - area).abs() > MISSED_AREA * area.abs() {
            return Err(ExtrudeError::Crossing);
        }
        cap.split_at_points();
        Ok(cap)
    }

    /// Adds the triangles between an outline, the first member, and the holes in it.
    fn cut(
        &mut self,
        outlines: &[Outline],
        starts: &[u32],
        members: &[usize],
        earcut: &mut Earcut<f64>,
    ) {
        let (mut points, mut numbers, mut holes) = (Vec::new(), Vec::new(), Vec::new());
        for member in members {
            if !points.is_empty() {
                holes.push(points.len() as u32);
            }
            points.extend_from_slice(&outlines[*member].points);
            let count = outlines[*member].points.len() as u32;
            numbers.extend(starts[*member]..starts[*member] + count);
        }
        let mut ears: Vec<u32> = Vec::new();
        earcut.earcut_slice(&points, &holes, &mut ears);
        for ear in ears.as_chunks().0 {
            let [a, b, c] = ear.map(|i: u32| numbers[i as usize]);
            if turn(self.corners([a, b, c])) < 0.0 {
                self.triangles.push([a, c, b]);
            } else {
                self.triangles.push([a, b, c]);
            }
        }
    }

    /// Splits triangles at points on their edges, which ear cutting leaves out.
    fn split_at_points(&mut self) {
        let mut known: BTreeSet<(u32, u32)> = self.edges.iter().copied().collect();
        for [a, b, c] in &self.triangles {
            known.extend([(*b, *a), (*c, *b), (*a, *c)]);
        }
        let mut open = std::mem::take(&mut self.triangles);
        while let Some([a, b, c]) = open.pop() {
            let turns = [[a, b, c], [b, c, a], [c, a, b]];
            let mut unknown = turns.into_iter().filter(|t| !known.contains(&(t[0], t[1])));
            let split = unknown.find_map(|[from, to, opposite]| {
                let between = self.points_between(from, to);
                (!between.is_empty()).then_some((from, between, to, opposite))
            });
            let Some((from, between, to, opposite)) = split else {
                self.triangles.push([a, b, c]);
                continue;
            };
            let stops = std::iter::once(from).chain(between).chain(Some(to));
            let stops: Vec<u32> = stops.collect();
            let parts = stops.windows(2).map(|pair| [pair[0], pair[1], opposite]);
            open.extend(parts);
        }
    }

    /// Returns the points on an edge and not at its ends, in the order of the edge, no two of them
    /// at the same place.
    fn points_between(&self, from: u32, to: u32) -> Vec<u32> {
        let edge = [from, to].map(|i| self.points[i as usize]);
        let points = self.points.iter().zip(0..);
        let mut between: Vec<(f64, u32)> = points
            .filter_map(|(point, number)| Some((part_of_edge(edge, *point)?, number)))
            .filter(|(part, _)| is_between(*part))
            .collect();
        between.sort_by(|a, b| a.0.total_cmp(&b.0));
        between.dedup_by_key(|(part, _)| *part);
        between.into_iter().map(|(_, number)| number).collect()
    }

    fn corners(&self, triangle: [u32; 3]) -> [[f64; 2]; 3] {
        triangle.map(|i| self.points[i as usize])
    }
}
