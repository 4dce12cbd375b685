//! [`Item`]: moving things of a world, as far as cuts are concerned: boxes with weights.

use std::collections::BTreeMap;

use sdf::{JointEnd, Model, World};

use crate::bounds::Bounds;

/// Farthest coordinate that counts \[m\].
const COORDINATE_MAX_M: f64 = 1e6;

/// Performers that stay together: one, several that joints of the world hold together, or several
/// in one place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// The box around them.
    pub bounds: Bounds,
    /// Their links and collisions.
    pub weight: u64,
}

impl Item {
    /// Returns the middle of its box on an axis \[m\].
    pub(super) fn center(&self, axis: usize) -> f64 {
        f64::midpoint(self.bounds.min[axis], self.bounds.max[axis])
    }
}

/// Returns what moves in a world, in the order of its models.
pub(super) fn items(world: &World) -> Vec<Item> {
    let declared: BTreeMap<&str, [f64; 3]> = world
        .performers
        .iter()
        .map(|performer| (performer.model.as_str(), performer.size))
        .collect();
    let mut held_to: Vec<usize> = (0..world.models.len()).collect();
    let moves = |model: usize| world.models.get(model).is_some_and(|it| !it.is_static);
    for joint in &world.joints {
        let JointEnd::Link(parent) = joint.parent else {
            continue;
        };
        if moves(parent.model) && moves(joint.child.model) {
            let one = first_of(&mut held_to, parent.model);
            let other = first_of(&mut held_to, joint.child.model);
            held_to[one.max(other)] = one.min(other);
        }
    }
    let mut items: BTreeMap<usize, Item> = BTreeMap::new();
    for (index, model) in world.models.iter().enumerate() {
        let Some(bounds) = performer_bounds(model, declared.get(model.name.as_str())) else {
            continue;
        };
        let first = first_of(&mut held_to, index);
        let weight = weight(model);
        items
            .entry(first)
            .and_modify(|item| {
                item.bounds = item.bounds.joined(&bounds);
                item.weight += weight;
            })
            .or_insert(Item { bounds, weight });
    }
    merge_in_one_place(items.into_values())
}

/// No cut tells apart what has its middle in one place.
fn merge_in_one_place(items: impl Iterator<Item = Item>) -> Vec<Item> {
    let mut numbers: BTreeMap<[u64; 3], usize> = BTreeMap::new();
    let mut merged: Vec<Item> = Vec::new();
    for item in items {
        // Adding 0 makes one zero of both.
        let place = [0, 1, 2].map(|axis| (item.center(axis) + 0.0).to_bits());
        let number = *numbers.entry(place).or_insert(merged.len());
        match merged.get_mut(number) {
            Some(other) => {
                other.bounds = other.bounds.joined(&item.bounds);
                other.weight += item.weight;
            }
            None => merged.push(item),
        }
    }
    merged
}

/// Returns the box around a model's collisions, if it has some and an end.
pub(super) fn finite_bounds(model: &Model) -> Option<Bounds> {
    let (min, max) = model.collision_bounds()?;
    let bounds = Bounds { min, max };
    is_near(&bounds).then_some(bounds)
}

/// Returns how far any performer that has an end reaches from its origin \[m\].
pub(super) fn reach(world: &World) -> f64 {
    let moving = world.models.iter().filter(|model| !model.is_static);
    moving
        .map(Model::reach)
        .map(|reach| reach.radius)
        .filter(|radius| radius.is_finite())
        .fold(0.0, f64::max)
}

/// Returns the box of a model that moves, around its origin too; `None` for one that is static or
/// too far away.
fn performer_bounds(model: &Model, declared: Option<&[f64; 3]>) -> Option<Bounds> {
    if model.is_static {
        return None;
    }
    let origin = Bounds::around(model.pose.position, [0.0; 3]);
    let around = match declared {
        Some(size) => Some(Bounds::around(
            model.pose.position,
            size.map(|edge| edge * 0.5),
        )),
        None => finite_bounds(model),
    };
    let bounds = around
        .filter(is_near)
        .map_or(origin, |around| around.joined(&origin));
    is_near(&bounds).then_some(bounds)
}

fn is_near(bounds: &Bounds) -> bool {
    let mut coordinates = bounds.min.iter().chain(&bounds.max);
    coordinates.all(|coordinate| coordinate.abs() <= COORDINATE_MAX_M)
}

fn weight(model: &Model) -> u64 {
    let collisions: usize = model.links.iter().map(|link| link.collisions.len()).sum();
    (model.links.len() + collisions).max(1) as u64
}

/// Returns the first model of those that one is held together with, and shortens the way there.
fn first_of(held_to: &mut [usize], model: usize) -> usize {
    let mut first = model;
    while held_to[first] != first {
        held_to[first] = held_to[held_to[first]];
        first = held_to[first];
    }
    first
}
