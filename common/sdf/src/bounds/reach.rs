//! Greatest distance of a model's collisions from its origin, whatever its joints do.
//!
//! The origin moves with the canonical link. From there a walk over the joints bounds every other
//! link: what turns stays as far from its joint as it is, what slides goes as far as its limits.

use std::collections::VecDeque;

use super::norm;
use crate::world::{Axis, Joint, JointKind, JointParent, Model};

/// Greatest distance of a model's collisions from its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// A distance from the origin that no collision of a held link ever exceeds \[m\]; 0 without
    /// collisions, infinite with planes.
    pub radius: f64,
    /// True if a link with collisions can be any distance away: no joint holds it to the canonical
    /// link, or one does that slides without limits.
    pub has_loose_links: bool,
}

/// A point that is fixed in a link, and how far it can be from the model's origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Position at which the file places it, world frame \[m\].
    point: [f64; 3],
    /// The greatest distance to the origin over all positions of joints \[m\].
    distance: f64,
}

impl Entry {
    /// Returns how far another point of the same link can be from the origin \[m\].
    pub(super) fn distance_of(&self, point: [f64; 3]) -> f64 {
        let offset = std::array::from_fn(|axis| point[axis] - self.point[axis]);
        self.distance + norm(offset)
    }

    /// Returns the entry into the link on the other side of a joint, if the joint bounds it.
    fn across(&self, joint: &Joint) -> Option<Self> {
        let through_joint = |way: f64| Self {
            point: joint.pose.position,
            distance: self.distance_of(joint.pose.position) + way,
        };
        let entry = match &joint.kind {
            JointKind::Fixed => *self,
            JointKind::Prismatic(axis) => Self {
                distance: self.distance + farthest(axis),
                ..*self
            },
            JointKind::Screw { axis, thread_pitch } => {
                let turns = farthest(axis) / std::f64::consts::TAU;
                through_joint(if *thread_pitch == 0.0 {
                    0.0
                } else {
                    turns * thread_pitch.abs()
                })
            }
            JointKind::Revolute(_)
            | JointKind::Continuous(_)
            | JointKind::Ball
            | JointKind::Universal(_)
            | JointKind::Revolute2(_) => through_joint(0.0),
            // It couples two turns and holds nothing in place.
            JointKind::Gearbox { .. } => return None,
        };
        entry.distance.is_finite().then_some(entry)
    }
}

impl Model {
    /// Returns how far its collisions come from its origin over all positions of its joints.
    pub fn reach(&self) -> Reach {
        let entries = self.entries();
        let mut reach = Reach {
            radius: 0.0,
            has_loose_links: false,
        };
        for (link, entry) in self.links.iter().zip(entries) {
            for collision in &link.collisions {
                let radius = collision.geometry.bounding_radius();
                let pose = link.pose.then(&collision.pose);
                match entry {
                    Some(entry) => {
                        let far = entry.distance_of(pose.position) + radius;
                        reach.radius = reach.radius.max(far);
                    }
                    None => reach.has_loose_links = true,
                }
            }
        }
        reach
    }

    /// Returns an entry per link, where the canonical link holds it.
    pub(super) fn entries(&self) -> Vec<Option<Entry>> {
        let world = self.links.len();
        let mut joints_at: Vec<Vec<usize>> = vec![Vec::new(); world + 1];
        for (number, joint) in self.joints.iter().enumerate() {
            joints_at[self.ends(joint)[0]].push(number);
            joints_at[self.ends(joint)[1]].push(number);
        }
        let mut entries: Vec<Option<Entry>> = vec![None; world + 1];
        let mut waiting = VecDeque::new();
        let origin = Entry {
            point: self.pose.position,
            distance: 0.0,
        };
        self.enter(self.canonical_link, origin, &mut entries, &mut waiting);
        while let Some(link) = waiting.pop_front() {
            let entry: Entry = entries[link].expect("only links with an entry wait");
            for joint in joints_at[link].iter().map(|number| &self.joints[*number]) {
                let [parent, child] = self.ends(joint);
                let other = if parent == link { child } else { parent };
                if let Some(beyond) = entry.across(joint) {
                    self.enter(other, beyond, &mut entries, &mut waiting);
                }
            }
        }
        entries.truncate(world);
        entries
    }

    /// Notes the way into a link, unless there is one; the world, and with it all links that never
    /// move, counts as one link.
    fn enter(
        &self,
        link: usize,
        entry: Entry,
        entries: &mut [Option<Entry>],
        waiting: &mut VecDeque<usize>,
    ) {
        if entries.get(link).is_none_or(Option::is_some) {
            return;
        }
        let world = self.links.len();
        let is_still = link == world || self.links.get(link).is_some_and(|link| link.is_static);
        let still = (0..self.links.len()).filter(|other| self.links[*other].is_static);
        let together: Vec<usize> = if is_still {
            still.chain([world]).collect()
        } else {
            vec![link]
        };
        for link in together {
            if entries[link].is_none() {
                entries[link] = Some(entry);
                waiting.push_back(link);
            }
        }
    }

    /// Returns the links that a joint holds; the number of links stands for the world.
    fn ends(&self, joint: &Joint) -> [usize; 2] {
        let parent = match joint.parent {
            JointParent::World => self.links.len(),
            JointParent::Link(link) => link,
        };
        [parent, joint.child]
    }
}

/// Returns how far an axis lets its joint go from where the file places it \[rad or m\].
fn farthest(axis: &Axis) -> f64 {
    axis.lower.abs().max(axis.upper.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::Pose;
    use crate::world::{Collision, Geometry, Link};

    fn at(x: f64) -> Pose {
        Pose {
            position: [x, 0.0, 0.0],
            ..Pose::IDENTITY
        }
    }

    fn axis(lower: f64, upper: f64) -> Axis {
        Axis {
            lower,
            upper,
            ..Axis::default()
        }
    }

    /// Balls of 0.5 m, one each metre along x, held by joints half way between neighbours.
    fn check(kinds: &[JointKind], radius: f64, has_loose_links: bool) {
        let ball = Geometry::Sphere { radius: 0.5 };
        let links = (0..=kinds.len()).map(|number| Link {
            collisions: vec![Collision::new("c", Pose::IDENTITY, ball.clone())],
            ..Link::new(&format!("l{number}"), at(number as f64))
        });
        let joints = kinds.iter().enumerate().map(|(number, kind)| {
            let parent = JointParent::Link(number);
            let pose = at(number as f64 + 0.5);
            Joint::new("j", kind.clone(), parent, number + 1, pose)
        });
        let model = Model::new("m", links.collect(), joints.collect());
        let expected = Reach {
            radius,
            has_loose_links,
        };
        assert_eq!(model.reach(), expected, "{kinds:?}");
    }

    #[test]
    fn chains_that_turn_reach_as_far_as_when_they_are_straight() {
        let turn = JointKind::Revolute(axis(-1.0, 1.0));
        check(&[], 0.5, false);
        check(std::slice::from_ref(&turn), 1.5, false);
        check(&[turn.clone(), JointKind::Ball, turn], 3.5, false);
        check(&[JointKind::Fixed, JointKind::Fixed], 2.5, false);
    }

    #[test]
    fn a_folded_chain_reaches_as_far_as_it_unfolds() {
        let ball = Geometry::Sphere { radius: 0.5 };
        let link = |x: f64| Link {
            collisions: vec![Collision::new("c", Pose::IDENTITY, ball.clone())],
            ..Link::new("l", at(x))
        };
        let links = vec![link(0.0), Link::new("arm", at(2.0)), link(0.0)];
        let joint = |parent, child, x| {
            let parent = JointParent::Link(parent);
            Joint::new("j", JointKind::Ball, parent, child, at(x))
        };
        let model = Model::new("m", links, vec![joint(0, 1, 0.0), joint(1, 2, 4.0)]);
        assert_eq!(model.reach().radius, 8.5);
    }

    #[test]
    fn a_sliding_joint_reaches_to_its_limits() {
        check(&[JointKind::Prismatic(axis(-3.0, 2.0))], 4.5, false);
        let endless = JointKind::Prismatic(Axis::default());
        check(std::slice::from_ref(&endless), 0.5, true);
        check(&[endless, JointKind::Fixed], 0.5, true);
        let screw = |axis| JointKind::Screw {
            axis,
            thread_pitch: 2.0,
        };
        let turn = std::f64::consts::TAU;
        check(&[screw(axis(-turn, turn / 2.0))], 3.5, false);
        check(&[screw(Axis::default())], 0.5, true);
    }

    #[test]
    fn a_gearbox_and_no_joint_at_all_hold_nothing() {
        let gearbox = JointKind::Gearbox {
            axes: [Axis::default(), Axis::default()],
            ratio: 1.0,
            reference_body: None,
        };
        check(&[gearbox], 0.5, true);
    }

    #[test]
    fn links_that_joints_hold_to_the_world_are_held_to_each_other() {
        let ball = Geometry::Sphere { radius: 0.5 };
        let link = |x: f64| Link {
            collisions: vec![Collision::new("c", Pose::IDENTITY, ball.clone())],
            ..Link::new("l", at(x))
        };
        let joint = |child, kind| Joint::new("j", kind, JointParent::World, child, at(0.0));
        let joints = vec![joint(0, JointKind::Ball), joint(1, JointKind::Fixed)];
        let model = Model::new("m", vec![link(1.0), link(3.0)], joints);
        let reach = model.reach();
        assert_eq!((reach.radius, reach.has_loose_links), (4.5, false));
    }

    #[test]
    fn a_loose_link_without_collisions_reaches_nothing() {
        let model = Model::new("m", vec![Link::new("a", at(0.0)); 2], Vec::new());
        assert!(!model.reach().has_loose_links);
    }
}
