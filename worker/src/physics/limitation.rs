//! What physics ignores or approximates of a world, so that nobody has to find out by watching.

use std::fmt;

use sdf::{Geometry, Joint, Link, Model, World};

use super::{inertia, joint, shape};

/// One thing in a model that physics does otherwise than the world says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limitation {
    /// The model.
    pub model: String,
    /// The part of it: a link, `link::collision` or a joint.
    pub part: String,
    /// What is done instead.
    pub kind: LimitationKind,
}

/// How physics departs from the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitationKind {
    /// A plane on a link that moves: it touches nothing.
    PlaneOnMovingLink,
    /// A shape without a positive size: it touches nothing.
    ShapeWithoutSize,
    /// An ellipsoid: a polyhedron instead, within 1 % of each half axis.
    EllipsoidAsPolyhedron,
    /// A moving link without mass: it stays where it is.
    NoMass,
    /// Moments of inertia that are not all positive: raised until they are.
    DegenerateInertia,
    /// Static friction of a joint: none.
    JointFriction,
    /// Limits of a revolute joint that are open at one end or a turn or more apart: none.
    WideJointLimits,
}

impl fmt::Display for LimitationKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::PlaneOnMovingLink => "a plane on a link that moves touches nothing",
            Self::ShapeWithoutSize => "a shape without a positive size touches nothing",
            Self::EllipsoidAsPolyhedron => "an ellipsoid is a polyhedron within 1 % of it",
            Self::NoMass => "a link without a positive mass stays where it is",
            Self::DegenerateInertia => "moments of inertia are raised until all are positive",
            Self::JointFriction => "static friction of a joint is ignored",
            Self::WideJointLimits => {
                "limits of a revolute joint that are open or a turn or more apart are ignored"
            }
        })
    }
}

impl fmt::Display for Limitation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}::{}: {}", self.model, self.part, self.kind)
    }
}

/// Returns what physics will ignore or approximate, once for each part, in file order.
pub fn unsupported(world: &World) -> Vec<Limitation> {
    let mut found = Vec::new();
    for model in &world.models {
        let mut add = |part: String, kind| {
            found.push(Limitation {
                model: model.name.clone(),
                part,
                kind,
            });
        };
        for link in &model.links {
            check_link(model, link, &mut add);
        }
        if !model.is_static {
            for joint in &model.joints {
                check_joint(joint, &mut add);
            }
        }
    }
    found
}

fn check_link(model: &Model, link: &Link, add: &mut impl FnMut(String, LimitationKind)) {
    if !model.is_static && !link.kinematic {
        if !inertia::has_mass(&link.inertial) {
            add(link.name.clone(), LimitationKind::NoMass);
        } else if !inertia::has_proper_moments(&link.inertial) {
            add(link.name.clone(), LimitationKind::DegenerateInertia);
        }
    }
    for collision in &link.collisions {
        let kind = if shape::is_plane(&collision.geometry) && !model.is_static {
            LimitationKind::PlaneOnMovingLink
        } else if shape::shape(&collision.geometry).is_none() {
            LimitationKind::ShapeWithoutSize
        } else if is_uneven_ellipsoid(&collision.geometry) {
            LimitationKind::EllipsoidAsPolyhedron
        } else {
            continue;
        };
        add(format!("{}::{}", link.name, collision.name), kind);
    }
}

fn is_uneven_ellipsoid(geometry: &Geometry) -> bool {
    matches!(geometry, Geometry::Ellipsoid { radii: [x, y, z] } if x != y || y != z)
}

fn check_joint(joint: &Joint, add: &mut impl FnMut(String, LimitationKind)) {
    if joint::axis(&joint.kind).is_some_and(|axis| axis.friction > 0.0) {
        add(joint.name.clone(), LimitationKind::JointFriction);
    }
    if joint::drops_limits(&joint.kind) {
        add(joint.name.clone(), LimitationKind::WideJointLimits);
    }
}
