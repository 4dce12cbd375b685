//! Joints: what holds links together.

use serde::{Deserialize, Serialize};

use super::{Content, Plugin, Sensor};
use crate::pose::Pose;
use crate::problem::WrittenAt;

/// Two links of a model held together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// Its name within the model; those of nested models are named `nested::joint`.
    pub name: String,
    /// Motion that it allows.
    pub kind: JointKind,
    /// The one side.
    pub parent: JointParent,
    /// The other side, an index into the model's links.
    pub child: usize,
    /// Pose of the joint, world frame.
    pub pose: Pose,
    /// Its sensors.
    pub sensors: Vec<Sensor>,
    /// Its plugins.
    pub plugins: Vec<Plugin>,
    /// Custom elements (`name:space`).
    pub custom: Vec<Content>,
    /// Its place.
    #[serde(skip)]
    pub place: WrittenAt,
}

impl Joint {
    /// Makes a joint without sensors.
    pub fn new(name: &str, kind: JointKind, parent: JointParent, child: usize, pose: Pose) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            parent,
            child,
            pose,
            sensors: Vec::new(),
            plugins: Vec::new(),
            custom: Vec::new(),
            place: WrittenAt::default(),
        }
    }
}

/// The parent side of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JointParent {
    /// The world.
    World,
    /// An index into the model's links.
    Link(usize),
}

/// Links of two models, or of one and the world, held together by a joint of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldJoint {
    /// Its name within the world.
    pub name: String,
    /// Motion that it allows.
    pub kind: JointKind,
    /// The one side.
    pub parent: JointEnd,
    /// The other side.
    pub child: LinkReference,
    /// Pose of the joint, world frame.
    pub pose: Pose,
}

/// The parent side of a joint of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JointEnd {
    /// The world.
    World,
    /// A link of a model.
    Link(LinkReference),
}

/// A link of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinkReference {
    /// Index into [`super::World::models`].
    pub model: usize,
    /// Index into that model's links.
    pub link: usize,
}

/// Motion that a joint allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// Turning about an axis; limits in \[rad\].
    Revolute(Axis),
    /// Turning about an axis without limits.
    Continuous(Axis),
    /// Sliding along an axis; limits in \[m\].
    Prismatic(Axis),
    /// Turning about all axes.
    Ball,
    /// Turning about two axes, the second carried by the first; limits in \[rad\].
    Universal([Axis; 2]),
    /// Turning about two axes in series, as [`Self::Universal`]; limits in \[rad\].
    Revolute2([Axis; 2]),
    /// Turning about an axis while sliding along it; limits in \[rad\].
    Screw {
        /// The axis of both.
        axis: Axis,
        /// The way for one turn in the sense of the axis \[m/turn\].
        thread_pitch: f64,
    },
    /// Two links that turn against a third, coupled: turn of the child about the second axis =
    /// -`ratio` * turn of the parent about the first.
    Gearbox {
        /// The axes of parent and child.
        axes: [Axis; 2],
        /// The ratio.
        ratio: f64,
        /// Index of the third link, where the file names one.
        reference_body: Option<usize>,
    },
}

impl JointKind {
    /// Returns the type as the file names it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Revolute(_) => "revolute",
            Self::Continuous(_) => "continuous",
            Self::Prismatic(_) => "prismatic",
            Self::Ball => "ball",
            Self::Universal(_) => "universal",
            Self::Revolute2(_) => "revolute2",
            Self::Screw { .. } => "screw",
            Self::Gearbox { .. } => "gearbox",
        }
    }

    /// Returns its axes in order.
    pub fn axes(&self) -> &[Axis] {
        match self {
            Self::Fixed | Self::Ball => &[],
            Self::Revolute(axis)
            | Self::Continuous(axis)
            | Self::Prismatic(axis)
            | Self::Screw { axis, .. } => std::slice::from_ref(axis),
            Self::Universal(axes) | Self::Revolute2(axes) | Self::Gearbox { axes, .. } => axes,
        }
    }

    /// Returns its axes in order, to be changed.
    pub(crate) fn axes_mut(&mut self) -> &mut [Axis] {
        match self {
            Self::Fixed | Self::Ball => &mut [],
            Self::Revolute(axis)
            | Self::Continuous(axis)
            | Self::Prismatic(axis)
            | Self::Screw { axis, .. } => std::slice::from_mut(axis),
            Self::Universal(axes) | Self::Revolute2(axes) | Self::Gearbox { axes, .. } => axes,
        }
    }
}

/// An axis of a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Unit vector, world frame.
    pub xyz: [f64; 3],
    /// Least position \[rad or m\]; `-inf` for none.
    pub lower: f64,
    /// Greatest position \[rad or m\]; `inf` for none.
    pub upper: f64,
    /// The most torque or force of what drives it \[N m or N\]; `inf` for none.
    pub effort: f64,
    /// The most speed of what drives it \[rad/s or m/s\]; `inf` for none.
    pub velocity: f64,
    /// Stiffness of the limits \[N m/rad or N/m\].
    pub limit_stiffness: f64,
    /// Dissipation of the limits \[N m s/rad or N s/m\].
    pub limit_dissipation: f64,
    /// Viscous damping \[N m s/rad or N s/m\].
    pub damping: f64,
    /// Static friction \[N m or N\].
    pub friction: f64,
    /// Position at which the spring is at rest \[rad or m\].
    pub spring_reference: f64,
    /// Stiffness of the spring \[N m/rad or N/m\].
    pub spring_stiffness: f64,
    /// Axis that it follows, if any.
    pub mimic: Option<Mimic>,
    /// Position at the start \[rad or m\], counted from the poses of the file, which are at 0.
    pub initial_position: f64,
}

impl Default for Axis {
    fn default() -> Self {
        Self {
            xyz: [0.0, 0.0, 1.0],
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            effort: f64::INFINITY,
            velocity: f64::INFINITY,
            limit_stiffness: 1e8,
            limit_dissipation: 1.0,
            damping: 0.0,
            friction: 0.0,
            spring_reference: 0.0,
            spring_stiffness: 0.0,
            mimic: None,
            initial_position: 0.0,
        }
    }
}

/// An axis that follows another: position = `multiplier` * (leader - `reference`) + `offset`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mimic {
    /// Name of the leading joint, within the model.
    pub joint: String,
    /// Axis of the leading joint: 0 or 1.
    pub axis: usize,
    /// Factor.
    pub multiplier: f64,
    /// Offset of the follower \[rad or m\].
    pub offset: f64,
    /// Reference of the leader \[rad or m\].
    pub reference: f64,
}
