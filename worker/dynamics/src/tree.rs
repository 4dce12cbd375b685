//! [`Tree`]: links that joints hold together, described by the positions of their joints.
//!
//! A joint can move only as its kind allows: nothing holds it, so that nothing yields, however
//! heavy the links are that hang on light ones. Links without freedom of their own are one body
//! with their parents.

use glam::{DQuat, DVec3};

use crate::spatial::{Frame, rotation_by};

/// The motion that a joint allows a link against its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Not at all.
    Fixed,
    /// About the x axis of the joint's frame.
    Revolute,
    /// Along the x axis of the joint's frame.
    Prismatic,
    /// About the origin of the joint's frame.
    Ball,
    /// Freely; only the root of a tree does.
    Free,
}

impl JointKind {
    /// Returns the number of its degrees of freedom.
    pub fn freedom(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Prismatic => 1,
            Self::Ball => 3,
            Self::Free => 6,
        }
    }
}

/// A link of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The link that it hangs on, which stands before it; `None` for the base of the tree.
    pub parent: Option<usize>,
    /// The motion that its joint allows.
    pub kind: JointKind,
    /// The number of its body in the scene; `None` for the massless link between two axes.
    pub body: Option<usize>,
    /// The frame of the joint in the frame of the parent, or of the base.
    pub joint_in_parent: Frame,
    /// The frame of the link in the frame of the joint, as it has moved.
    pub link_in_joint: Frame,
}

/// The position of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Position {
    /// \[rad or m\] of a revolute or prismatic joint.
    pub(crate) value: f64,
    /// Of a ball joint; of a free one, its link's orientation.
    pub(crate) rotation: DQuat,
    /// Of a free joint, the origin of its link \[m\].
    pub(crate) place: DVec3,
}

/// Links that joints hold together.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(crate) links: Vec<Link>,
    /// The base that the first links hang on: its frame, its velocity about its origin, and
    /// whether it moves at all.
    pub(crate) base: Frame,
    pub(crate) base_linear: DVec3,
    pub(crate) base_angular: DVec3,
    /// The first degree of freedom of each link.
    pub(crate) first: Vec<usize>,
    /// The degree of freedom that each one hangs on.
    pub(crate) above: Vec<Option<usize>>,
    /// The number of the first degrees of freedom each of which hangs on the one before.
    trunk: usize,
    /// Number of those of the trunk that each one hangs on, which are the first ones.
    pub(crate) joins: Vec<usize>,
    /// The link of each degree of freedom.
    pub(crate) owner: Vec<usize>,
    pub(crate) positions: Vec<Position>,
    pub(crate) rates: Vec<f64>,
}

impl Tree {
    /// Makes a tree of links, each of which stands behind its parent.
    ///
    /// # Panics
    /// Panics if a link stands before its parent.
    pub fn new(links: Vec<Link>) -> Self {
        let mut first = Vec::with_capacity(links.len());
        let (mut above, mut owner) = (Vec::new(), Vec::new());
        for (number, link) in links.iter().enumerate() {
            assert!(
                link.parent.is_none_or(|parent| parent < number),
                "a parent stands before its children"
            );
            first.push(above.len());
            let mut ancestor = link.parent;
            let mut hangs_on = None;
            while let Some(parent) = ancestor {
                let freedom = links[parent].kind.freedom();
                if freedom > 0 {
                    hangs_on = Some(first[parent] + freedom - 1);
                    break;
                }
                ancestor = links[parent].parent;
            }
            for _ in 0..link.kind.freedom() {
                above.push(hangs_on);
                hangs_on = Some(above.len() - 1);
                owner.push(number);
            }
        }
        let is_next = |(at, above): (usize, &Option<usize>)| *above == at.checked_sub(1);
        let ends = above.iter().enumerate().position(|one| !is_next(one));
        let trunk = ends.unwrap_or(above.len());
        let mut joins: Vec<usize> = Vec::with_capacity(above.len());
        for above in &above {
            joins.push(above.map_or(0, |at| if at < trunk { at + 1 } else { joins[at] }));
        }
        let still = Position {
            value: 0.0,
            rotation: DQuat::IDENTITY,
            place: DVec3::ZERO,
        };
        Self {
            positions: vec![still; links.len()],
            rates: vec![0.0; above.len()],
            base: Frame::IDENTITY,
            base_linear: DVec3::ZERO,
            base_angular: DVec3::ZERO,
            links,
            first,
            above,
            trunk,
            joins,
            owner,
        }
    }

    /// Returns the degrees of freedom that one hangs on, the nearest first, but for those of the
    /// trunk.
    #[inline]
    pub(crate) fn branch_above(&self, at: usize) -> impl Iterator<Item = usize> {
        let above = |at: usize| self.above[at].filter(|above| *above >= self.trunk);
        std::iter::successors(above(at), move |at| above(*at))
    }

    /// Returns its links, parents first.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Sets the number of the body of a link in the scene; `None` for one without.
    pub fn set_body(&mut self, link: usize, body: Option<usize>) {
        self.links[link].body = body;
    }

    /// Sets where the base is, and how it moves \[m/s, rad/s\], world frame.
    pub fn set_base(&mut self, frame: Frame, linear: DVec3, angular: DVec3) {
        self.base = frame;
        self.base_linear = linear;
        self.base_angular = angular;
    }

    /// Returns how many degrees of freedom it has.
    pub fn freedom(&self) -> usize {
        self.above.len()
    }

    /// Returns the degree of freedom of a link that turns about or slides along one axis.
    pub fn axis_of(&self, link: usize) -> Option<usize> {
        (self.links[link].kind.freedom() == 1).then(|| self.first[link])
    }

    /// Measures the positions of the joints from the frames of the links with bodies, and finds
    /// the frames that these give, of the joints and of the links.
    pub(crate) fn measure(
        &mut self,
        frame_of: impl Fn(usize) -> Frame,
        joints: &mut Vec<Frame>,
        frames: &mut Vec<Frame>,
    ) {
        joints.clear();
        frames.clear();
        for number in 0..self.links.len() {
            let link = &self.links[number];
            let parent = link.parent.map_or(self.base, |parent| frames[parent]);
            let joint = parent.then(&link.joint_in_parent);
            let position = match link.body {
                Some(body) => {
                    let moved = frame_of(body).then(&link.link_in_joint.inverse());
                    measured(link.kind, &moved, &joint)
                }
                None => self.between(number, &joint, &frame_of),
            };
            self.positions[number] = position;
            joints.push(joint);
            frames.push(self.frame_at(number, &joint));
        }
    }

    /// Finds the frames of joints and links at the positions.
    pub(crate) fn find_frames(&self, joints: &mut Vec<Frame>, frames: &mut Vec<Frame>) {
        joints.clear();
        frames.clear();
        for (number, link) in self.links.iter().enumerate() {
            let parent = link.parent.map_or(self.base, |parent| frames[parent]);
            let joint = parent.then(&link.joint_in_parent);
            joints.push(joint);
            frames.push(self.frame_at(number, &joint));
        }
    }

    /// Measures a massless link: as much of its child's motion as its own axis gives.
    fn between(
        &self,
        number: usize,
        joint: &Frame,
        frame_of: &impl Fn(usize) -> Frame,
    ) -> Position {
        let child = self.links.get(number + 1);
        let body = child.and_then(|child| child.body);
        let (Some(child), Some(body)) = (child, body) else {
            return Position {
                value: 0.0,
                rotation: DQuat::IDENTITY,
                place: DVec3::ZERO,
            };
        };
        let moved = frame_of(body).then(&child.link_in_joint.inverse());
        let moved = moved.seen_from(joint);
        let value = match self.links[number].kind {
            JointKind::Prismatic => moved.position.x,
            _ => {
                let from = child.joint_in_parent.rotation * DVec3::X;
                let to = moved.rotation * DVec3::X;
                libm::atan2(from.y * to.z - from.z * to.y, from.y * to.y + from.z * to.z)
            }
        };
        Position {
            value,
            rotation: DQuat::IDENTITY,
            place: DVec3::ZERO,
        }
    }

    /// Returns the frame of a link whose joint has a frame.
    pub(crate) fn frame_at(&self, number: usize, joint: &Frame) -> Frame {
        let link = &self.links[number];
        let position = &self.positions[number];
        let moved = match link.kind {
            JointKind::Free => return Frame::new(position.place, position.rotation),
            JointKind::Fixed => Frame::IDENTITY,
            JointKind::Revolute => Frame::new(DVec3::ZERO, about_x(position.value)),
            JointKind::Prismatic => Frame::new(DVec3::X * position.value, DQuat::IDENTITY),
            JointKind::Ball => Frame::new(DVec3::ZERO, position.rotation),
        };
        let mut frame = joint.then(&moved).then(&link.link_in_joint);
        frame.rotation = frame.rotation.normalize();
        frame
    }
}

/// Returns the position of a joint from where its moving side is and where its frame is.
fn measured(kind: JointKind, moved: &Frame, joint: &Frame) -> Position {
    let inner = moved.seen_from(joint);
    let mut position = Position {
        value: 0.0,
        rotation: DQuat::IDENTITY,
        place: DVec3::ZERO,
    };
    match kind {
        JointKind::Fixed => {}
        JointKind::Revolute => {
            position.value = 2.0 * libm::atan2(inner.rotation.x, inner.rotation.w);
        }
        JointKind::Prismatic => position.value = inner.position.x,
        JointKind::Ball => position.rotation = inner.rotation.normalize(),
        JointKind::Free => {
            position.rotation = moved.rotation.normalize();
            position.place = moved.position;
        }
    }
    position
}

fn about_x(angle: f64) -> DQuat {
    rotation_by(DVec3::X * angle)
}
