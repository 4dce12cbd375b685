//! What hangs together: links that joints, joints of the world and attachments hold.

use std::collections::{BTreeMap, BTreeSet};

use protocol::PerformerId;
use sdf::{JointEnd, JointKind, JointParent, LinkReference};

use super::attachment;
use super::cell::Cell;
use super::model;
use super::world_joint;

/// A link of a performer.
pub(super) type LinkOf = (PerformerId, usize);

/// Links that hang together.
pub(super) struct Cluster {
    pub(super) links: BTreeSet<LinkOf>,
    /// True if one of them is held by the world or by what never moves.
    pub(super) is_held: bool,
}

/// What holds on to each link; `None` is the world.
type Holds = BTreeMap<LinkOf, Vec<Option<LinkOf>>>;

impl Cell {
    /// Returns everything that hangs on to some links, as if a joint, by performer and index, were
    /// not there.
    pub(super) fn cluster_of(
        &self,
        seeds: impl IntoIterator<Item = LinkOf>,
        without: Option<(PerformerId, usize)>,
    ) -> Cluster {
        let mut open: Vec<LinkOf> = seeds.into_iter().collect();
        let performers = self.joined_with(open.iter().map(|link| link.0));
        let holds = self.holds(&performers, without);
        let mut cluster = Cluster {
            links: BTreeSet::new(),
            is_held: false,
        };
        while let Some(link) = open.pop() {
            if !cluster.links.insert(link) {
                continue;
            }
            let description = &self.world.models[self.model_of(link.0)];
            cluster.is_held |= model::is_fixed(description, &description.links[link.1]);
            for other in holds.get(&link).into_iter().flatten() {
                match other {
                    Some(other) => open.push(*other),
                    None => cluster.is_held = true,
                }
            }
        }
        cluster
    }

    /// Returns some performers, and all that joints of the world and attachments hold together with
    /// them.
    pub(super) fn joined_with(
        &self,
        performers: impl IntoIterator<Item = PerformerId>,
    ) -> BTreeSet<PerformerId> {
        let mut open: Vec<PerformerId> = performers.into_iter().collect();
        let mut found = BTreeSet::new();
        let mut by_model = BTreeMap::new();
        if !self.contents.joint_mechanisms.is_empty() || !self.contents.attachments.is_empty() {
            by_model.extend(self.performer_models().map(|(id, model)| (model, id)));
        }
        while let Some(performer) = open.pop() {
            if !found.insert(performer) {
                continue;
            }
            let model = self.model_of(performer);
            let joints = self.contents.joint_mechanisms.keys();
            let joints = joints.map(|number| &self.world.joints[*number]);
            for joint in joints.filter(|joint| world_joint::holds(joint, model)) {
                let parent = match joint.parent {
                    JointEnd::Link(link) => by_model.get(&link.model),
                    JointEnd::World => None,
                };
                open.extend(parent.into_iter().chain(by_model.get(&joint.child.model)));
            }
            let pairs = self.contents.attachments.keys();
            for pair in pairs.filter(|pair| attachment::holds(**pair, model)) {
                let ends = [pair.0, pair.1];
                open.extend(ends.iter().filter_map(|end| by_model.get(&end.model)));
            }
        }
        found
    }

    fn holds(
        &self,
        performers: &BTreeSet<PerformerId>,
        without: Option<(PerformerId, usize)>,
    ) -> Holds {
        let mut holds = Holds::new();
        let mut by_model = BTreeMap::new();
        for performer in performers {
            let index = self.model_of(*performer);
            by_model.insert(index, *performer);
            for (number, joint) in self.world.models[index].joints.iter().enumerate() {
                let is_coupling = matches!(joint.kind, JointKind::Gearbox { .. });
                if is_coupling || without == Some((*performer, number)) {
                    continue;
                }
                let parent = match joint.parent {
                    JointParent::World => None,
                    JointParent::Link(link) => Some((*performer, link)),
                };
                join(&mut holds, parent, Some((*performer, joint.child)));
            }
        }
        // What is in no cell, or never moves, is the world.
        let end = |link: LinkReference| Some((*by_model.get(&link.model)?, link.link));
        for number in self.contents.joint_mechanisms.keys() {
            let joint = &self.world.joints[*number];
            let parent = match joint.parent {
                JointEnd::World => None,
                JointEnd::Link(link) => end(link),
            };
            join(&mut holds, parent, end(joint.child));
        }
        for pair in self.contents.attachments.keys() {
            join(&mut holds, end(pair.0), end(pair.1));
        }
        holds
    }
}

fn join(holds: &mut Holds, one: Option<LinkOf>, other: Option<LinkOf>) {
    for (from, to) in [(one, other), (other, one)] {
        if let Some(from) = from {
            holds.entry(from).or_default().push(to);
        }
    }
}
