//! [`Groups`]: which bodies and trees act on each other, and the islands that these are.
//!
//! Bodies are nodes of a forest by their numbers, and trees by theirs after all bodies; the links
//! of a tree are no nodes of their own.

use std::ops::Range;

use crate::axis::Axis;
use crate::manifold::Manifolds;
use crate::row::Lines;

/// Bodies, trees and contacts by the groups that act on each other.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The tree and the link of each body.
    pub(super) link_of: Vec<Option<(usize, usize)>>,
    /// For each body, and for each tree, true if rows act on it.
    pub(super) held_bodies: Vec<bool>,
    pub(super) held_trees: Vec<bool>,
    /// Numbers of contacts that are solved together, one group after the other.
    pub(super) unions: Vec<usize>,
    pub(super) islands: Vec<Island>,
    /// The bodies of their own and the trees that rows act on, sorted by islands.
    pub(super) bodies: Vec<usize>,
    pub(super) trees: Vec<usize>,
    /// For each node, another one of its island, or itself.
    nodes: Vec<u32>,
    /// Islands and nodes of what rows act on.
    members: Vec<(u32, usize)>,
}

/// Everything that is solved together, as ranges of the buffers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Island {
    bodies: [usize; 2],
    trees: [usize; 2],
    pub(super) manifolds: [usize; 2],
    lines: [usize; 2],
}

impl Island {
    pub(super) fn bodies(&self) -> Range<usize> {
        self.bodies[0]..self.bodies[1]
    }

    pub(super) fn trees(&self) -> Range<usize> {
        self.trees[0]..self.trees[1]
    }

    pub(super) fn manifolds(&self) -> Range<usize> {
        self.manifolds[0]..self.manifolds[1]
    }

    pub(super) fn lines(&self) -> Range<usize> {
        self.lines[0]..self.lines[1]
    }
}

impl Groups {
    /// Begins with so many nodes of which none acts on another.
    pub(super) fn separate(&mut self, count: usize) {
        self.nodes.clear();
        self.nodes.extend(0..count as u32);
    }

    /// Returns the node of a body.
    pub(super) fn node_of(&self, body: usize) -> u32 {
        match self.link_of[body] {
            Some((tree, _)) => (self.link_of.len() + tree) as u32,
            None => body as u32,
        }
    }

    /// Returns the node on which an axis acts, if it acts on any.
    pub(super) fn node_of_axis(&self, axis: &Axis) -> Option<u32> {
        match axis.joint {
            Some((tree, ..)) => Some((self.link_of.len() + tree) as u32),
            None => axis.terms.first().map(|term| self.node_of(term.body)),
        }
    }

    /// Returns the node that stands for all on which a node acts: the least of them.
    pub(super) fn find(&mut self, node: u32) -> u32 {
        find(&mut self.nodes, node)
    }

    /// Has two nodes act on each other.
    pub(super) fn unite(&mut self, first: u32, second: u32) {
        let (first, second) = (self.find(first), self.find(second));
        let (least, other) = (first.min(second), first.max(second));
        self.nodes[other as usize] = least;
    }

    /// Cuts everything that rows act on into islands; manifolds and lines stand in their order.
    pub(super) fn cut(&mut self, manifolds: &Manifolds, lines: &Lines) {
        let body_count = self.link_of.len();
        self.find_members();
        self.islands.clear();
        self.bodies.clear();
        self.trees.clear();
        let (mut manifold, mut line) = (0, 0);
        for group in self.members.chunk_by(|one, next| one.0 == next.0) {
            let island = group[0].0;
            // Most islands have few.
            let of_island = manifolds.all[manifold..].iter();
            let of_island = of_island.take_while(|other| other.island <= island);
            let manifolds_end = manifold + of_island.count();
            let of_island = lines.all[line..].iter();
            let of_island = of_island.take_while(|other| other.island <= island);
            let lines_end = line + of_island.count();
            let (body, tree) = (self.bodies.len(), self.trees.len());
            for (_, node) in group {
                match node.checked_sub(body_count) {
                    Some(tree) => self.trees.push(tree),
                    None => self.bodies.push(*node),
                }
            }
            self.islands.push(Island {
                bodies: [body, self.bodies.len()],
                trees: [tree, self.trees.len()],
                manifolds: [manifold, manifolds_end],
                lines: [line, lines_end],
            });
            (manifold, line) = (manifolds_end, lines_end);
        }
        debug_assert_eq!(manifold, manifolds.all.len(), "no manifold is alone");
        debug_assert_eq!(line, lines.all.len(), "no line is alone");
    }

    /// Lists what rows act on, by islands, then by nodes.
    fn find_members(&mut self) {
        let Self {
            link_of,
            held_bodies,
            held_trees,
            nodes,
            members,
            ..
        } = self;
        members.clear();
        for (number, held) in held_bodies.iter().enumerate() {
            if *held && link_of[number].is_none() {
                members.push((find(nodes, number as u32), number));
            }
        }
        for (number, held) in held_trees.iter().enumerate() {
            if *held {
                let node = link_of.len() + number;
                members.push((find(nodes, node as u32), node));
            }
        }
        members.sort_unstable();
    }
}

fn find(nodes: &mut [u32], node: u32) -> u32 {
    let mut root = node;
    while nodes[root as usize] != root {
        root = nodes[root as usize];
    }
    let mut at = node;
    while nodes[at as usize] != root {
        at = std::mem::replace(&mut nodes[at as usize], root);
    }
    root
}
