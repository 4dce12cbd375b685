//! [`Parts`]: a scene, divided among threads.
//!
//! Bodies that act on each other stay in one part, in their order, so that a part does with them
//! what the whole scene would do: the bits are the same for any number of parts and threads. What
//! moves as prescribed, such as a lift under many boxes, has a copy in each part that it touches.

use std::collections::BTreeMap;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::Scene;
use crate::axis::Axis;
use crate::contact::Contact;

/// Parts for each thread, so that one whose part took little has another one.
const PARTS_PER_THREAD: usize = 4;

/// The least weight of a part: below, dividing takes longer than it saves.
const WEIGHT_MIN: usize = 200;

/// Weights of contacts and axes; a body weighs 1.
const CONTACT_WEIGHT: usize = 4;
const AXIS_WEIGHT: usize = 2;

/// The part of contacts and axes in which nothing moves freely.
const ANY: u32 = 0;

/// A scene, divided.
#[derive(Debug, Default)]
pub(super) struct Parts {
    scenes: Vec<Scene>,
    /// The parts in use.
    count: usize,
    /// The part of each body, and its number there.
    bodies: Vec<Place>,
    trees: Vec<Place>,
    /// The part of each group of contacts, and of each axis.
    contacts: Vec<u32>,
    axes: Vec<u32>,
    /// The copies of bodies whose motion is prescribed, by part and body.
    copies: BTreeMap<(u32, usize), usize>,
    /// For each body, true if its motion is prescribed, whatever touches it.
    is_prescribed: Vec<bool>,
    weights: Vec<usize>,
    /// For each node that stands for others, their part.
    part_of: Vec<u32>,
}

/// A part, and a number in it.
#[derive(Clone, Copy, Debug)]
struct Place {
    part: u32,
    number: usize,
}

impl Scene {
    /// Divides the scene among the threads of the pool that calls; returns false if that is not
    /// worth it.
    pub(super) fn divide(&mut self) -> bool {
        if rayon::current_thread_index().is_none() {
            return false;
        }
        self.divide_for(rayon::current_num_threads(), WEIGHT_MIN)
    }

    /// Divides the scene for some threads, into parts of a least weight.
    fn divide_for(&mut self, threads: usize, weight_min: usize) -> bool {
        let total = self.bodies.len()
            + CONTACT_WEIGHT * self.contacts.len()
            + AXIS_WEIGHT * self.axes.len();
        let count = (PARTS_PER_THREAD * threads).min(total / weight_min.max(1));
        if threads < 2 || count < 2 {
            return false;
        }
        let mut parts = std::mem::take(&mut self.work.parts);
        self.join_for(&mut parts);
        parts.weigh(self);
        let is_divided = parts.number(count);
        if is_divided {
            parts.fill(self);
        }
        self.work.parts = parts;
        is_divided
    }

    /// Advances all parts by a time \[s\], on all threads.
    pub(super) fn step_parts(&mut self, time_s: f64) {
        let mut parts = std::mem::take(&mut self.work.parts);
        parts.scenes[..parts.count]
            .par_iter_mut()
            .with_max_len(1)
            .for_each(|scene| scene.step_alone(time_s));
        parts.give_back(self);
        self.work.parts = parts;
    }

    /// Finds what must stay in one part.
    fn join_for(&mut self, parts: &mut Parts) {
        let work = &mut self.work;
        let bodies = self.bodies.iter().zip(&work.groups.link_of);
        let prescribed = bodies.map(|(body, link)| !body.is_dynamic() && link.is_none());
        parts.is_prescribed.clear();
        parts.is_prescribed.extend(prescribed);
        for body in self.axes.iter().flat_map(bodies_of) {
            parts.is_prescribed[body] = false;
        }
        let count = self.bodies.len() + self.trees.len();
        work.groups.separate(count);
        for contact in &self.contacts {
            if let [Some(first), Some(second)] = contact.bodies
                && !parts.is_prescribed[first]
                && !parts.is_prescribed[second]
            {
                let (first, second) = (work.groups.node_of(first), work.groups.node_of(second));
                work.groups.unite(first, second);
            }
        }
        for axis in &self.axes {
            let Some(first) = work.groups.node_of_axis(axis) else {
                continue;
            };
            for other in bodies_of(axis) {
                let other = work.groups.node_of(other);
                work.groups.unite(first, other);
            }
        }
    }
}

/// Returns the bodies that an axis acts on or is measured between.
fn bodies_of(axis: &Axis) -> impl Iterator<Item = usize> + '_ {
    let locked = axis.lock.iter().flat_map(|lock| lock.bodies).flatten();
    axis.terms.iter().map(|term| term.body).chain(locked)
}

impl Parts {
    pub(super) fn count(&self) -> usize {
        self.count.max(1)
    }

    /// Notes that a step is not divided.
    pub(super) fn leave(&mut self) {
        self.count = 0;
    }

    /// Returns the node that a contact belongs to; none where nothing in it moves freely.
    fn node_of_contact(&self, contact: &Contact, scene: &mut Scene) -> Option<u32> {
        let mut bodies = contact.bodies.into_iter().flatten();
        let body = bodies.find(|body| !self.is_prescribed[*body])?;
        let node = scene.work.groups.node_of(body);
        Some(scene.work.groups.find(node))
    }

    /// Weighs what stays together.
    fn weigh(&mut self, scene: &mut Scene) {
        let count = scene.bodies.len();
        self.weights.clear();
        self.weights.resize(count + scene.trees.len(), 0);
        for body in 0..count {
            let node = scene.work.groups.node_of(body);
            self.weights[scene.work.groups.find(node) as usize] += 1;
        }
        let contacts = std::mem::take(&mut scene.contacts);
        for contact in &contacts {
            if let Some(node) = self.node_of_contact(contact, scene) {
                self.weights[node as usize] += CONTACT_WEIGHT;
            }
        }
        scene.contacts = contacts;
        for axis in &scene.axes {
            if let Some(node) = scene.work.groups.node_of_axis(axis) {
                self.weights[scene.work.groups.find(node) as usize] += AXIS_WEIGHT;
            }
        }
    }

    /// Numbers at most `most` parts of about the same weight; returns false if there is but one.
    fn number(&mut self, most: usize) -> bool {
        let total: usize = self.weights.iter().sum();
        let share = total.div_ceil(most).max(1);
        self.part_of.clear();
        self.part_of.resize(self.weights.len(), ANY);
        let (mut part, mut weight) = (0, 0);
        for (node, own) in self.weights.iter().enumerate() {
            if *own == 0 {
                continue;
            }
            if weight >= share {
                (part, weight) = (part + 1, 0);
            }
            self.part_of[node] = part;
            weight += own;
        }
        self.count = part as usize + 1;
        self.count > 1
    }

    /// Copies the scene into its parts.
    fn fill(&mut self, scene: &mut Scene) {
        if self.scenes.len() < self.count {
            self.scenes.resize_with(self.count, Scene::default);
        }
        for part in &mut self.scenes[..self.count] {
            part.parameters = scene.parameters;
            part.bodies.clear();
            part.trees.clear();
            part.contacts.clear();
            part.axes.clear();
            part.work.groups.unions.clear();
        }
        self.fill_bodies(scene);
        self.fill_contacts(scene);
        self.fill_axes(scene);
    }

    fn fill_bodies(&mut self, scene: &mut Scene) {
        let work = &mut scene.work;
        self.bodies.clear();
        for (number, body) in scene.bodies.iter().enumerate() {
            let node = work.groups.node_of(number);
            let part = self.part_of[work.groups.find(node) as usize];
            let own = &mut self.scenes[part as usize].bodies;
            self.bodies.push(Place {
                part,
                number: own.len(),
            });
            own.push(*body);
        }
        self.trees.clear();
        for (number, tree) in scene.trees.iter_mut().enumerate() {
            let node = (scene.bodies.len() + number) as u32;
            let part = self.part_of[work.groups.find(node) as usize];
            let own = &mut self.scenes[part as usize].trees;
            self.trees.push(Place {
                part,
                number: own.len(),
            });
            let mut tree = std::mem::take(tree);
            for link in &mut tree.links {
                link.body = link.body.map(|body| self.bodies[body].number);
            }
            own.push(tree);
        }
    }

    fn fill_contacts(&mut self, scene: &mut Scene) {
        self.contacts.clear();
        self.copies.clear();
        let contacts = std::mem::take(&mut scene.contacts);
        let mut rest = contacts.as_slice();
        for number in 0..scene.work.groups.unions.len() {
            let (group, others) = rest.split_at(scene.work.groups.unions[number]);
            rest = others;
            let node = self.node_of_contact(&group[0], scene);
            let part = node.map_or(ANY, |node| self.part_of[node as usize]);
            self.contacts.push(part);
            self.scenes[part as usize]
                .work
                .groups
                .unions
                .push(group.len());
            for contact in group {
                let bodies = contact.bodies;
                let bodies = bodies.map(|body| Some(self.number_in(part, body?, scene)));
                let own = &mut self.scenes[part as usize].contacts;
                own.push(Contact { bodies, ..*contact });
            }
        }
        scene.contacts = contacts;
    }

    /// Returns the number of a body in a part, which may have a copy of it.
    fn number_in(&mut self, part: u32, body: usize, scene: &Scene) -> usize {
        let place = self.bodies[body];
        if place.part == part {
            return place.number;
        }
        let own = &mut self.scenes[part as usize].bodies;
        *self.copies.entry((part, body)).or_insert_with(|| {
            own.push(scene.bodies[body]);
            own.len() - 1
        })
    }

    fn fill_axes(&mut self, scene: &mut Scene) {
        self.axes.clear();
        for axis in &scene.axes {
            let node = scene.work.groups.node_of_axis(axis);
            let node = node.map(|node| scene.work.groups.find(node));
            let part = node.map_or(ANY, |node| self.part_of[node as usize]);
            self.axes.push(part);
            let mut axis = axis.clone();
            for term in &mut axis.terms {
                term.body = self.bodies[term.body].number;
            }
            if let Some(lock) = &mut axis.lock {
                let number = |body: usize| self.bodies[body].number;
                lock.bodies = lock.bodies.map(|body| body.map(number));
            }
            if let Some((tree, ..)) = &mut axis.joint {
                *tree = self.trees[*tree].number;
            }
            self.scenes[part as usize].axes.push(axis);
        }
    }

    /// Takes over what the parts found.
    fn give_back(&mut self, scene: &mut Scene) {
        let work = &mut scene.work;
        work.groups.held_bodies.clear();
        for (place, body) in self.bodies.iter().zip(&mut scene.bodies) {
            let part = &self.scenes[place.part as usize];
            *body = part.bodies[place.number];
            work.groups
                .held_bodies
                .push(part.work.groups.held_bodies[place.number]);
        }
        work.groups.held_trees.clear();
        for (place, tree) in self.trees.iter().zip(&mut scene.trees) {
            let part = &mut self.scenes[place.part as usize];
            *tree = std::mem::take(&mut part.trees[place.number]);
            work.groups
                .held_trees
                .push(part.work.groups.held_trees[place.number]);
        }
        for (number, link) in work.groups.link_of.iter().enumerate() {
            if let Some((tree, link)) = *link {
                scene.trees[tree].links[link].body = Some(number);
            }
        }
        let mut next = vec![0; self.count];
        let mut contacts = scene.contacts.as_mut_slice();
        for (part, length) in self.contacts.iter().zip(&work.groups.unions) {
            let next = &mut next[*part as usize];
            let (group, others) = contacts.split_at_mut(*length);
            contacts = others;
            let found = &self.scenes[*part as usize].contacts[*next..*next + length];
            for (contact, found) in group.iter_mut().zip(found) {
                let bodies = contact.bodies;
                *contact = Contact { bodies, ..*found };
            }
            *next += length;
        }
        next.fill(0);
        for (part, axis) in self.axes.iter().zip(&mut scene.axes) {
            let next = &mut next[*part as usize];
            let found = &self.scenes[*part as usize].axes[*next];
            (axis.impulses, axis.totals) = (found.impulses, found.totals);
            axis.position = found.position;
            *next += 1;
        }
    }
}

#[cfg(test)]
mod tests;
