//! Levels for a world that has none: cut by where its performers are.
//!
//! Moving things are gathered in `auto_levels/item.rs` and divided in `auto_levels/bisection.rs`.
//! The levels tile the box around the world's contents, pushed far out at its faces. The same world
//! and count give the same levels.

mod bisection;
mod item;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

use sdf::{Level, World};

use crate::bounds::Bounds;
use bisection::{Leaf, bisect};
use item::{Item, finite_bounds, items, reach};

/// The least width of a buffer \[m\].
const BUFFER_MIN_M: f64 = 1.0;
/// The greatest width of a buffer \[m\]; what is larger reaches into it early enough by its size.
const BUFFER_MAX_M: f64 = 10.0;
/// Least distance by which levels go on beyond the contents, to the sides \[m\].
const BESIDE_MIN_M: f64 = 100.0;
/// Least distance by which levels go on above and below the contents \[m\].
const ABOVE_AND_BELOW_MIN_M: f64 = 1_000.0;
/// The part of the longest edge of the contents from which on a static model is in no level.
const GLOBAL_FROM: f64 = 0.5;

/// Reason why a world was not cut into levels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// The world says itself which levels it has.
    #[error(
        "the world {world} has levels of its own ({levels}): run it with those, or remove them \
         from the file"
    )]
    HasLevels {
        /// The world.
        world: String,
        /// Number of levels that it has.
        levels: usize,
    },
}

/// Cuts a world into levels `auto_0`, `auto_1` and so on: at most `count`, fewer when its
/// performers are fewer or cannot be told apart by cuts, and none when nothing in it moves.
///
/// The box around all performers and static models is cut in two, across the axis along which the
/// performers are spread most (heights count a quarter, since things fall), and each part again.
/// Performers weigh as much as they have links and collisions. A cut divides the weight in
/// proportion to the levels on its sides, give or take a tenth where it then cuts through fewer
/// performers. Performers that joints of the world hold together count as one.
///
/// Outer faces go out by the length of the contents, by at least 100 m to the sides and 1000 m up
/// and down. The buffer is as wide as the farthest that a performer reaches from its origin, at
/// least 1 m and at most 10 m. A static model is in every level whose outer box the box around its
/// collisions touches; one without collisions, without end, or longer than half of the contents is
/// in none, and so in every cell. Performers farther than 1,000,000 m from the origin are left to
/// the default cell.
///
/// # Errors
/// Fails when the world has levels of its own.
pub fn cut(world: &World, count: NonZeroUsize) -> Result<Vec<Level>, CutError> {
    if !world.levels.is_empty() {
        return Err(CutError::HasLevels {
            world: world.name.clone(),
            levels: world.levels.len(),
        });
    }
    let items = items(world);
    let statics = statics(world);
    let Some(contents) = contents(&items, &statics) else {
        return Ok(Vec::new());
    };
    let buffer = reach(world).clamp(BUFFER_MIN_M, BUFFER_MAX_M);
    let longest = longest_edge(&contents);
    let in_levels = statics
        .into_iter()
        .filter(|(_, bounds)| longest_edge(bounds) <= longest * GLOBAL_FROM)
        .collect();
    let whole = Leaf {
        region: pushed_out(&contents, longest),
        items,
        statics: in_levels,
    };
    let mut leaves = Vec::new();
    bisect(whole, count.get(), buffer, &mut leaves);
    let levels = leaves.into_iter().enumerate();
    Ok(levels
        .map(|(number, leaf)| level(world, number, &leaf, buffer))
        .collect())
}

/// Returns the axis and the place \[m\] of the cut that leaves about half of some boxes on each
/// side and goes through few of them; `None` when their middles are in one place.
pub(crate) fn halves(boxes: &[Bounds]) -> Option<(usize, f64)> {
    let item = |bounds: &Bounds| Item {
        bounds: *bounds,
        weight: 1,
    };
    let items: Vec<Item> = boxes.iter().map(item).collect();
    bisection::best_cut(&items, 0.5)
}

/// A static model by its index, and the box around its collisions.
type Placed = (usize, Bounds);

fn statics(world: &World) -> Vec<Placed> {
    let models = world.models.iter().enumerate();
    models
        .filter(|(_, model)| model.is_static)
        .filter_map(|(index, model)| Some((index, finite_bounds(model)?)))
        .collect()
}

/// Returns the box around all that is there; `None` when nothing moves.
fn contents(items: &[Item], statics: &[Placed]) -> Option<Bounds> {
    let moving = items
        .iter()
        .map(|item| item.bounds)
        .reduce(|a, b| a.joined(&b))?;
    let all = statics.iter().map(|(_, bounds)| *bounds);
    Some(all.fold(moving, |whole, bounds| whole.joined(&bounds)))
}

fn pushed_out(contents: &Bounds, longest: f64) -> Bounds {
    let [beside, above] = [BESIDE_MIN_M, ABOVE_AND_BELOW_MIN_M].map(|least| longest.max(least));
    let out = [beside, beside, above];
    Bounds {
        min: std::array::from_fn(|axis| contents.min[axis] - out[axis]),
        max: std::array::from_fn(|axis| contents.max[axis] + out[axis]),
    }
}

fn longest_edge(bounds: &Bounds) -> f64 {
    let edges = (0..3).map(|axis| bounds.max[axis] - bounds.min[axis]);
    edges.fold(0.0, f64::max)
}

fn level(world: &World, number: usize, leaf: &Leaf, buffer: f64) -> Level {
    let Bounds { min, max } = leaf.region;
    let center = std::array::from_fn(|axis| f64::midpoint(min[axis], max[axis]));
    let size = std::array::from_fn(|axis| max[axis] - min[axis]);
    let outer = Bounds::around(center, size.map(|edge| edge * 0.5)).inflated(buffer);
    let touching = leaf.statics.iter();
    Level {
        name: format!("auto_{number}"),
        center,
        size,
        buffer,
        models: touching
            .filter(|(_, bounds)| outer.touches(bounds))
            .map(|(index, _)| world.models[*index].name.clone())
            .collect(),
    }
}
