//! [`Forest`]: the joints of a cell as trees, and those that close loops.
//!
//! It is a function of the joints alone, in rapier's order, which is in snapshots: whenever it is
//! made anew, it is the same.

use std::collections::{BTreeMap, BTreeSet};

use dynamics::{Frame, JointKind, Link, Tree};
use glam::DVec3;
use rapier3d_f64::dynamics::{
    GenericJoint, ImpulseJoint, ImpulseJointHandle, ImpulseJointSet, JointAxesMask,
    RigidBodyHandle, RigidBodySet,
};
use rapier3d_f64::math::{Pose, Vector};

use super::super::mechanism::coordinate::frame_along;
use super::super::mechanism::two_axes::Cross;

/// A rapier body by its place in rapier's set.
pub(super) fn place(handle: RigidBodyHandle) -> usize {
    handle.into_raw_parts().0 as usize
}

/// A key for the joint of a handle.
pub(super) type JointKey = (u32, u32);

/// Returns the key of a joint.
pub(super) fn key(handle: ImpulseJointHandle) -> JointKey {
    handle.0.into_raw_parts()
}

/// Links that joints hold together.
pub(super) struct Topology {
    /// The body that the first links hang on; `None` for one that floats.
    pub(super) base: Option<RigidBodyHandle>,
    /// The links while the tree grows.
    links: Vec<Link>,
    /// The tree, but in steps that move it.
    pub(super) tree: Tree,
    /// The number of the tree in the scene, in a step in which it is awake.
    pub(super) number: Option<usize>,
    /// The body of each link; `None` for the massless link between two axes.
    pub(super) bodies: Vec<Option<RigidBodyHandle>>,
}

/// The tree and the links of the axes of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointPlace {
    /// The tree.
    pub(super) tree: usize,
    /// The links that its axes move, in the order of the joint's axes.
    links: [usize; 2],
    /// The sense of the links' axes in that of the joint's.
    pub(super) sense: f64,
}

impl JointPlace {
    /// Returns the link that an axis of the joint moves, by its number.
    pub(super) fn link(&self, axis: usize) -> usize {
        self.links[axis.min(1)]
    }
}

/// The joints of a cell.
#[derive(Default)]
pub(super) struct Forest {
    pub(super) trees: Vec<Topology>,
    pub(super) places: BTreeMap<JointKey, JointPlace>,
    /// Joints that close loops: their locked axes are held by force.
    pub(super) loops: Vec<ImpulseJointHandle>,
}

/// A joint that locks something, with its two axes where it has them.
struct Edge<'a> {
    handle: ImpulseJointHandle,
    joint: &'a ImpulseJoint,
    cross: Option<&'a Cross>,
}

impl Forest {
    /// Returns the tree in the scene and the link of an axis of a joint, and its sense.
    pub(super) fn axis(
        &self,
        (handle, axis): (ImpulseJointHandle, usize),
        trees: &[Tree],
    ) -> Option<(usize, usize, f64)> {
        let place = self.places.get(&key(handle))?;
        let link = place.link(axis);
        let number = self.trees[place.tree].number?;
        trees[number]
            .axis_of(link)
            .map(|_| (number, link, place.sense))
    }

    /// Makes trees of all joints that lock something.
    pub(super) fn new<'a>(
        bodies: &RigidBodySet,
        joints: &'a ImpulseJointSet,
        crosses: impl Iterator<Item = &'a Cross>,
    ) -> Self {
        let crosses: BTreeMap<JointKey, &Cross> =
            crosses.map(|cross| (key(cross.joint), cross)).collect();
        let edges: Vec<Edge<'_>> = joints
            .iter()
            .filter(|(_, joint)| !joint.data.locked_axes.is_empty())
            .map(|(handle, joint)| Edge {
                handle,
                joint,
                cross: crosses.get(&key(handle)).copied(),
            })
            .collect();
        let mut growing = Growing::new(bodies, &edges);
        growing.grow();
        let mut forest = growing.forest;
        for plan in &mut forest.trees {
            plan.tree = Tree::new(std::mem::take(&mut plan.links));
        }
        forest
    }
}

/// Trees as they grow, one joint after the other.
struct Growing<'a> {
    bodies: &'a RigidBodySet,
    edges: &'a [Edge<'a>],
    /// The joints of each body.
    at_body: BTreeMap<usize, Vec<usize>>,
    is_used: Vec<bool>,
    /// The tree and the link of each body that is in one.
    link_of: BTreeMap<usize, (usize, usize)>,
    forest: Forest,
}

impl<'a> Growing<'a> {
    fn new(bodies: &'a RigidBodySet, edges: &'a [Edge<'a>]) -> Self {
        let mut at_body: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, edge) in edges.iter().enumerate() {
            for body in [edge.joint.body1(), edge.joint.body2()] {
                if is_dynamic(bodies, body) {
                    at_body.entry(place(body)).or_default().push(number);
                }
            }
        }
        Self {
            bodies,
            edges,
            at_body,
            is_used: vec![false; edges.len()],
            link_of: BTreeMap::new(),
            forest: Forest::default(),
        }
    }

    fn grow(&mut self) {
        // First from what never moves, then from links that hang on no other, then from any.
        for number in 0..self.edges.len() {
            let joint = self.edges[number].joint;
            let ends = [joint.body1(), joint.body2()];
            let base = ends
                .into_iter()
                .find(|body| !is_dynamic(self.bodies, *body));
            if let Some(base) = base
                && ends.iter().any(|body| self.is_loose(*body))
            {
                self.forest.trees.push(Topology {
                    base: Some(base),
                    links: Vec::new(),
                    tree: Tree::default(),
                    number: None,
                    bodies: Vec::new(),
                });
                self.hang(number);
                self.follow();
            }
        }
        let children = self.edges.iter().map(|edge| place(edge.joint.body2()));
        let is_child: BTreeSet<usize> = children.collect();
        for only_first in [true, false] {
            for edge in self.edges {
                let root = edge.joint.body1();
                let is_first = !is_child.contains(&place(root));
                if self.is_loose(root) && (is_first || !only_first) {
                    self.float(root);
                    self.follow();
                }
            }
        }
        for (number, edge) in self.edges.iter().enumerate() {
            if !self.is_used[number] {
                self.forest.loops.push(edge.handle);
            }
        }
    }

    /// Tells whether a body moves and is in no tree yet.
    fn is_loose(&self, body: RigidBodyHandle) -> bool {
        is_dynamic(self.bodies, body) && !self.link_of.contains_key(&place(body))
    }

    /// Begins a tree with a body that floats.
    fn float(&mut self, root: RigidBodyHandle) {
        self.link_of
            .insert(place(root), (self.forest.trees.len(), 0));
        self.forest.trees.push(Topology {
            base: None,
            links: vec![Link {
                parent: None,
                kind: JointKind::Free,
                body: None,
                joint_in_parent: Frame::IDENTITY,
                link_in_joint: Frame::IDENTITY,
            }],
            tree: Tree::default(),
            number: None,
            bodies: vec![Some(root)],
        });
    }

    /// Adds all that hangs on the last tree.
    fn follow(&mut self) {
        let tree = self.forest.trees.len() - 1;
        let mut next = 0;
        while next < self.forest.trees[tree].bodies.len() {
            let body = self.forest.trees[tree].bodies[next];
            next += 1;
            let joints = body.and_then(|body| self.at_body.get(&place(body)).cloned());
            for number in joints.into_iter().flatten() {
                let joint = self.edges[number].joint;
                if self.is_loose(joint.body1()) || self.is_loose(joint.body2()) {
                    self.hang(number);
                }
            }
        }
    }

    /// Adds the loose end of a joint to the last tree.
    fn hang(&mut self, number: usize) {
        let edge = &self.edges[number];
        let joint = edge.joint;
        let is_reversed = !self.is_loose(joint.body2());
        let (parent, child) = if is_reversed {
            (joint.body2(), joint.body1())
        } else {
            (joint.body1(), joint.body2())
        };
        let Some(steps) = steps(edge, is_reversed) else {
            return;
        };
        self.is_used[number] = true;
        let tree = self.forest.trees.len() - 1;
        let mut above = self.link_of.get(&place(parent)).map(|(_, link)| *link);
        let plan = &mut self.forest.trees[tree];
        let first = plan.links.len();
        let count = steps.len();
        for (step, (kind, joint_in_parent, link_in_joint)) in steps.into_iter().enumerate() {
            let is_last = step + 1 == count;
            plan.links.push(Link {
                parent: above,
                kind,
                body: None,
                joint_in_parent,
                link_in_joint,
            });
            plan.bodies.push(is_last.then_some(child));
            above = Some(plan.links.len() - 1);
        }
        let last = plan.links.len() - 1;
        self.link_of.insert(place(child), (tree, last));
        let links = if is_reversed {
            [last, first]
        } else {
            [first, last]
        };
        let sense = if is_reversed { -1.0 } else { 1.0 };
        let at = JointPlace { tree, links, sense };
        self.forest.places.insert(key(edge.handle), at);
    }
}

fn is_dynamic(bodies: &RigidBodySet, body: RigidBodyHandle) -> bool {
    bodies
        .get(body)
        .is_some_and(|body| body.is_dynamic() && body.mass() > 0.0)
}

/// One joint after the other: its kind, its frame in what it hangs on, and the frame of the next
/// link in its own.
type Steps = Vec<(JointKind, Frame, Frame)>;

/// Returns the joints in series that a rapier joint is; `None` for one that no tree has.
fn steps(edge: &Edge<'_>, is_reversed: bool) -> Option<Steps> {
    let data = &edge.joint.data;
    if let Some(cross) = edge.cross {
        return Some(two_axes(cross, is_reversed));
    }
    let (free, frame) = (
        JointAxesMask::all() - data.locked_axes,
        frames(data, is_reversed),
    );
    let single = |kind, axis: Vector| {
        let turn = Frame::new(DVec3::ZERO, frame_along(axis));
        let [parent, child] = frame.map(|frame| frame.then(&turn));
        vec![(kind, parent, child.inverse())]
    };
    let turns = [
        (JointAxesMask::ANG_X, Vector::X),
        (JointAxesMask::ANG_Y, Vector::Y),
        (JointAxesMask::ANG_Z, Vector::Z),
    ];
    let slides = [
        (JointAxesMask::LIN_X, Vector::X),
        (JointAxesMask::LIN_Y, Vector::Y),
        (JointAxesMask::LIN_Z, Vector::Z),
    ];
    let [parent, child] = frame;
    if free.is_empty() {
        return Some(vec![(JointKind::Fixed, parent, child.inverse())]);
    }
    if free == JointAxesMask::LIN_X | JointAxesMask::ANG_X {
        let slide = (JointKind::Prismatic, parent, Frame::IDENTITY);
        let turn = (JointKind::Revolute, Frame::IDENTITY, child.inverse());
        return Some(if is_reversed {
            let slide = (JointKind::Prismatic, Frame::IDENTITY, child.inverse());
            vec![(JointKind::Revolute, parent, Frame::IDENTITY), slide]
        } else {
            vec![slide, turn]
        });
    }
    if free == JointAxesMask::ANG_AXES {
        return Some(vec![(JointKind::Ball, parent, child.inverse())]);
    }
    let find = |axes: [(JointAxesMask, Vector); 3]| {
        let found = axes.into_iter().find(|(mask, _)| *mask == free);
        found.map(|(_, axis)| axis)
    };
    let turn = find(turns).map(|axis| single(JointKind::Revolute, axis));
    turn.or_else(|| find(slides).map(|axis| single(JointKind::Prismatic, axis)))
}

/// Returns the frames of a joint on what it hangs on and on what hangs on it.
fn frames(data: &GenericJoint, is_reversed: bool) -> [Frame; 2] {
    let frames = [data.local_frame1, data.local_frame2].map(|frame| frame_of(&frame));
    if is_reversed {
        [frames[1], frames[0]]
    } else {
        frames
    }
}

fn two_axes(cross: &Cross, is_reversed: bool) -> Steps {
    let mut frames = cross.frames.map(|frame| frame_of(&frame));
    let mut axes = [cross.axes.first, cross.axes.second];
    if is_reversed {
        frames.reverse();
        axes.reverse();
    }
    let [first, second] = axes.map(frame_along);
    let turned = |rotation| Frame::new(DVec3::ZERO, rotation);
    let between = turned(first.conjugate() * second);
    vec![
        (
            JointKind::Revolute,
            frames[0].then(&turned(first)),
            Frame::IDENTITY,
        ),
        (
            JointKind::Revolute,
            between,
            frames[1].then(&turned(second)).inverse(),
        ),
    ]
}

/// Returns a rapier pose as a frame.
pub(super) fn frame_of(pose: &Pose) -> Frame {
    Frame::new(pose.translation, pose.rotation)
}
