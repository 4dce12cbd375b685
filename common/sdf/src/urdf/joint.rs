//! `<joint>`: how a link hangs on its parent.

use super::number::{self, UNREADABLE};
use super::origin;
use crate::pose::Pose;
use crate::problem::Problem;
use crate::tree::Element;

/// A joint between two links.
#[derive(Debug)]
pub(super) struct Joint<'t> {
    pub(super) element: &'t Element,
    pub(super) name: &'t str,
    pub(super) kind: Kind,
    pub(super) parent: &'t str,
    pub(super) child: &'t str,
    /// Pose of joint and child, parent's frame.
    pub(super) origin: Pose,
    /// Joint frame; unused by fixed and floating joints.
    pub(super) axis: [f64; 3],
    pub(super) limits: Option<Limits>,
    pub(super) dynamics: Option<Dynamics>,
    pub(super) mimic: Option<Mimic<'t>>,
    /// Position at the start, if `<ros2_control>` says so \[rad or m\].
    pub(super) initial_position: Option<f64>,
}

/// Motion that a joint allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    Fixed,
    /// Turning between limits.
    Revolute,
    /// Turning without limits.
    Continuous,
    /// Sliding between limits.
    Prismatic,
    /// Everything.
    Floating,
    /// Sliding and turning in a plane.
    Planar,
}

/// `<limit>` \[rad or m, N m or N, rad/s or m/s\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) effort: f64,
    pub(super) velocity: f64,
}

/// `<dynamics>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dynamics {
    pub(super) damping: f64,
    pub(super) friction: f64,
}

/// `<mimic>`: position = multiplier x position of another joint + offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mimic<'t> {
    pub(super) joint: &'t str,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

impl<'t> Joint<'t> {
    /// Reads a joint; any mistake in it is one of the whole robot, as in urdfdom.
    pub(super) fn read(element: &'t Element) -> Result<Self, Problem> {
        let name = element.attribute("name");
        let name = name.ok_or_else(|| number::missing(element, "name"))?;
        let origin = origin::read(element)?;
        let kind = kind(element)?;
        let axis = match element.child("axis") {
            None => [1.0, 0.0, 0.0],
            Some(_) if matches!(kind, Kind::Fixed | Kind::Floating) => [0.0; 3],
            Some(axis) => number::optional_vector(axis, "xyz")?.unwrap_or_default(),
        };
        let limits = element.child("limit").map(limits).transpose()?;
        if limits.is_none() && matches!(kind, Kind::Revolute | Kind::Prismatic) {
            let message = format!("the joint {name:?} of this type needs a <limit>");
            return Err(element.problem(UNREADABLE, message));
        }
        check_unused(element)?;
        Ok(Self {
            element,
            name,
            kind,
            parent: side(element, "parent", name)?,
            child: side(element, "child", name)?,
            origin,
            axis,
            limits,
            dynamics: element.child("dynamics").map(dynamics).transpose()?,
            mimic: element.child("mimic").map(mimic).transpose()?,
            initial_position: None,
        })
    }
}

fn kind(element: &Element) -> Result<Kind, Problem> {
    let name = element.attribute("type");
    Ok(
        match name.ok_or_else(|| number::missing(element, "type"))? {
            "fixed" => Kind::Fixed,
            "revolute" => Kind::Revolute,
            "continuous" => Kind::Continuous,
            "prismatic" => Kind::Prismatic,
            "floating" => Kind::Floating,
            "planar" => Kind::Planar,
            other => {
                let message = format!("{other:?} is no type of joint in URDF");
                return Err(element.problem(UNREADABLE, message));
            }
        },
    )
}

fn side<'t>(element: &'t Element, side: &str, joint: &str) -> Result<&'t str, Problem> {
    let link = element.child(side).and_then(|side| side.attribute("link"));
    link.filter(|link| !link.is_empty()).ok_or_else(|| {
        let message = format!("the joint {joint:?} needs a <{side} link=\"...\"/>");
        element.problem(UNREADABLE, message)
    })
}

fn limits(element: &Element) -> Result<Limits, Problem> {
    Ok(Limits {
        lower: number::optional(element, "lower")?.unwrap_or(0.0),
        upper: number::optional(element, "upper")?.unwrap_or(0.0),
        effort: number::required(element, "effort")?,
        velocity: number::required(element, "velocity")?,
    })
}

fn dynamics(element: &Element) -> Result<Dynamics, Problem> {
    let damping = number::optional(element, "damping")?;
    let friction = number::optional(element, "friction")?;
    if damping.is_none() && friction.is_none() {
        let message = "<dynamics> needs a damping, a friction or both";
        return Err(element.problem(UNREADABLE, message));
    }
    Ok(Dynamics {
        damping: damping.unwrap_or(0.0),
        friction: friction.unwrap_or(0.0),
    })
}

fn mimic(element: &Element) -> Result<Mimic<'_>, Problem> {
    let joint = element.attribute("joint");
    Ok(Mimic {
        joint: joint.ok_or_else(|| number::missing(element, "joint"))?,
        multiplier: number::optional(element, "multiplier")?.unwrap_or(1.0),
        offset: number::optional(element, "offset")?.unwrap_or(0.0),
    })
}

/// Checks what urdfdom reads and SDF has no use for.
fn check_unused(element: &Element) -> Result<(), Problem> {
    if let Some(safety) = element.child("safety_controller") {
        for name in ["soft_lower_limit", "soft_upper_limit", "k_position"] {
            number::optional(safety, name)?;
        }
        number::required(safety, "k_velocity")?;
    }
    if let Some(calibration) = element.child("calibration") {
        number::optional(calibration, "rising")?;
        number::optional(calibration, "falling")?;
    }
    Ok(())
}
