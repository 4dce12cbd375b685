//! A region and what is in it, cut in two again and again.

use super::Placed;
use super::item::Item;
use crate::bounds::Bounds;

/// Share of the weight that may be on the other side of a cut for the sake of cutting through less.
const IMBALANCE_MAX: f64 = 0.1;
/// Weight of spread along each axis; things fall along z, and a cut across it is crossed.
const AXIS_WEIGHTS: [f64; 3] = [1.0, 1.0, 0.25];

/// A part of the world.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Box of it.
    pub region: Bounds,
    /// Moving things in it.
    pub items: Vec<Item>,
    /// Static models that touch it or its buffer.
    pub statics: Vec<Placed>,
}

/// Adds at most `count` parts of a part to `leaves`, each with something that moves.
pub(super) fn bisect(part: Leaf, count: usize, buffer: f64, leaves: &mut Vec<Leaf>) {
    let count = count.min(part.items.len());
    let first_count = count.div_ceil(2);
    let cut = if count < 2 {
        None
    } else {
        best_cut(&part.items, first_count as f64 / count as f64)
    };
    let Some((axis, place)) = cut else {
        leaves.push(part);
        return;
    };
    let [first, second] = divide(part, axis, place, buffer);
    // What one side has no performers for, the other side gets.
    let second_count = (count - first_count).max(count.saturating_sub(first.items.len()));
    let second_count = second_count.min(second.items.len());
    bisect(first, count - second_count, buffer, leaves);
    bisect(second, second_count, buffer, leaves);
}

fn divide(part: Leaf, axis: usize, place: f64, buffer: f64) -> [Leaf; 2] {
    let (first, second) = part
        .items
        .into_iter()
        .partition(|item| item.center(axis) < place);
    // The exact faces of the levels decide in the end; rounding must not decide here.
    let buffer = buffer * 1.001;
    let touching_first = part.statics.iter();
    let touching_second = part.statics.iter();
    let mut regions = [part.region; 2];
    regions[0].max[axis] = place;
    regions[1].min[axis] = place;
    [
        Leaf {
            region: regions[0],
            items: first,
            statics: touching_first
                .filter(|(_, bounds)| bounds.min[axis] <= place + buffer)
                .copied()
                .collect(),
        },
        Leaf {
            region: regions[1],
            items: second,
            statics: touching_second
                .filter(|(_, bounds)| bounds.max[axis] >= place - buffer)
                .copied()
                .collect(),
        },
    ]
}

/// Returns the axis and the place of the best cut, which leaves `share` of the weight on its first
/// side; `None` when all items are in one place.
pub(super) fn best_cut(items: &[Item], share: f64) -> Option<(usize, f64)> {
    let spread = |axis: usize| {
        let centers = items.iter().map(|item| item.center(axis));
        let (low, high) = centers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
            (low.min(at), high.max(at))
        });
        (high - low) * AXIS_WEIGHTS[axis]
    };
    let mut axes = [0, 1, 2].map(|axis| (spread(axis), axis));
    axes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    axes.into_iter()
        .find_map(|(_, axis)| Some((axis, best_place(items, axis, share)?)))
}

/// Feature of an item's box at a coordinate: a face, or the middle.
#[derive(Clone, Copy, Debug)]
enum Mark {
    Low,
    Center,
    High,
}

/// Badness of a cut; the least is the best.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Badness {
    /// By how much more of the weight than allowed is on the wrong side.
    excess: f64,
    /// Weight that is cut through, and weight that is on the wrong side.
    loss: f64,
    /// Distance of the next face or middle, negated \[m\].
    tightness: f64,
}

impl Badness {
    fn is_less_than(&self, other: &Self) -> bool {
        let by_excess = self.excess.total_cmp(&other.excess);
        let by_loss = by_excess.then(self.loss.total_cmp(&other.loss));
        by_loss
            .then(self.tightness.total_cmp(&other.tightness))
            .is_lt()
    }
}

/// Returns where to cut across an axis: between two neighbouring coordinates of boxes, with items
/// on both sides.
fn best_place(items: &[Item], axis: usize, share: f64) -> Option<f64> {
    let mut marks: Vec<(f64, Mark, u64)> = Vec::with_capacity(items.len() * 3);
    for item in items {
        marks.push((item.bounds.min[axis], Mark::Low, item.weight));
        marks.push((item.center(axis), Mark::Center, item.weight));
        marks.push((item.bounds.max[axis], Mark::High, item.weight));
    }
    marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: u64 = items.iter().map(|item| item.weight).sum();
    let wanted = total as f64 * share;
    let (mut begun, mut ended, mut first_side) = (0, 0, 0);
    let mut best: Option<(Badness, f64)> = None;
    for pair in marks.windows(2) {
        let [(at, mark, weight), (next, _, _)] = *pair else {
            continue;
        };
        match mark {
            Mark::Low => begun += weight,
            Mark::Center => first_side += weight,
            Mark::High => ended += weight,
        }
        let place = f64::midpoint(at, next);
        if place <= at || place > next || first_side == 0 || first_side == total {
            continue;
        }
        let wrong = (first_side as f64 - wanted).abs();
        let badness = Badness {
            excess: (wrong - total as f64 * IMBALANCE_MAX).max(0.0),
            loss: wrong + (begun - ended) as f64,
            tightness: at - next,
        };
        if best.is_none_or(|(least, _)| badness.is_less_than(&least)) {
            best = Some((badness, place));
        }
    }
    best.map(|(_, place)| place)
}
