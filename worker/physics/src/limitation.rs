//! What physics ignores or approximates of a world, so that nobody has to find out by watching.
//!
//! Each kind is told once for each model, with the first part that has it.

use std::collections::BTreeSet;
use std::fmt;

use sdf::{
    Axis, Collision, Geometry, Joint, JointKind, Link, Model, Surface, World, WorldJoint, WrittenAt,
};

use super::joint::axis::NO_LIMIT;
use super::joint::{self, ratio};
use super::shape::{self, Flaw};
use super::{inertia, model};

/// One kind of thing in a model that physics does otherwise than the world says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limitation {
    /// The model; for a joint of the world, the world.
    pub model: String,
    /// The first part of it that is meant: a link, `link::collision` or a joint.
    pub part: String,
    /// The place of that link or joint.
    pub place: WrittenAt,
    /// What is done instead.
    pub kind: LimitationKind,
}

/// How physics departs from the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitationKind {
    /// A plane on a link that moves: it touches nothing.
    PlaneOnMovingLink,
    /// A shape without a positive size: it touches nothing.
    ShapeWithoutSize,
    /// A mesh or heightmap whose file was not read: it touches nothing.
    ShapeWithoutFile,
    /// An ellipsoid: a polyhedron instead, within 1 % of each half axis.
    EllipsoidAsPolyhedron,
    /// A second coefficient of friction or a first direction: the first coefficient everywhere.
    DirectedFriction,
    /// Torsional friction on a patch that grows with the depth of the contact: none, since rigid
    /// surfaces have no depth.
    TorsionalFriction,
    /// A speed below which nothing bounces: restitution counts at every speed.
    RestitutionThreshold,
    /// Stiffness or damping of contacts: those of the engine.
    ContactStiffness,
    /// A moving link without mass, or of 1e18 kg or more: it stays where it is.
    NoMass,
    /// Moments of inertia that are not all positive: raised until they are.
    DegenerateInertia,
    /// Added mass of a fluid: none.
    FluidAddedMass,
    /// Wind without the system that makes it: none acts.
    Wind,
    /// Limits, damping, friction, springs and speeds of a gearbox's axes: none.
    GearboxAxes,
    /// Two axes in series that are parallel: the first alone.
    ParallelAxes,
    /// A mimic whose leader is not there or has no such axis: the axis follows nothing.
    MimicWithoutLeader,
    /// A mimic of a joint between models: the axis follows nothing.
    MimicBetweenModels,
}

impl fmt::Display for LimitationKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::PlaneOnMovingLink => "a plane on a link that moves touches nothing",
            Self::ShapeWithoutSize => "a shape without a positive size touches nothing",
            Self::ShapeWithoutFile => "a shape whose file was not read touches nothing",
            Self::EllipsoidAsPolyhedron => "an ellipsoid is a polyhedron within 1 % of it",
            Self::DirectedFriction => "mu2 is ignored without fdir1: mu holds in all directions",
            Self::TorsionalFriction => {
                "surface_radius of torsional friction is ignored: rigid contacts have no depth"
            }
            Self::RestitutionThreshold => "the bounce threshold is ignored: all speeds bounce",
            Self::ContactStiffness => "kp and kd of contacts are ignored",
            Self::NoMass => "a link whose mass is not between 0 and 1e18 kg stays where it is",
            Self::DegenerateInertia => "moments of inertia are raised until all are positive",
            Self::FluidAddedMass => "fluid_added_mass is ignored",
            Self::Wind => "enable_wind is ignored without the system WindEffects: no wind acts",
            Self::GearboxAxes => "limits and dynamics of a gearbox's axes are ignored",
            Self::ParallelAxes => "of two parallel axes only the first is used",
            Self::MimicWithoutLeader => "a mimic without the joint or axis that leads is ignored",
            Self::MimicBetweenModels => "a mimic of a joint between models is ignored",
        })
    }
}

impl fmt::Display for Limitation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}::{}: {}", self.model, self.part, self.kind)
    }
}

/// Returns what physics will ignore or approximate, each kind once for a model, in file order.
pub fn unsupported(world: &World) -> Vec<Limitation> {
    let mut found = Vec::new();
    for model in &world.models {
        let mut told = BTreeSet::new();
        let mut add = |part: String, place: &WrittenAt, kind| {
            if told.insert(kind) {
                found.push(Limitation {
                    model: model.name.clone(),
                    part,
                    place: place.clone(),
                    kind,
                });
            }
        };
        for link in &model.links {
            let mut add = |part, kind| add(part, &link.place, kind);
            check_link(world, model, link, &mut add);
        }
        if !model.is_static {
            for joint in &model.joints {
                let mut add = |part, kind| add(part, &joint.place, kind);
                check_joint(model, joint, &mut add);
            }
        }
    }
    let mut told = BTreeSet::new();
    for joint in &world.joints {
        check_world_joint(joint, &mut |part, kind| {
            if told.insert(kind) {
                found.push(Limitation {
                    model: world.name.clone(),
                    part,
                    place: WrittenAt::default(),
                    kind,
                });
            }
        });
    }
    found
}

type Add<'a> = &'a mut dyn FnMut(String, LimitationKind);

fn check_link(world: &World, model: &Model, link: &Link, add: Add) {
    let is_fixed = model::is_fixed(model, link);
    if !is_fixed && !link.kinematic {
        if !inertia::has_mass(&link.inertial) {
            add(link.name.clone(), LimitationKind::NoMass);
        } else if !inertia::has_proper_moments(&link.inertial) {
            add(link.name.clone(), LimitationKind::DegenerateInertia);
        }
        if link.inertial.fluid_added_mass.is_some() {
            add(link.name.clone(), LimitationKind::FluidAddedMass);
        }
        let is_in_wind = link.enable_wind || model.enable_wind;
        if is_in_wind && !has_wind_effects(world) {
            add(link.name.clone(), LimitationKind::Wind);
        }
    }
    for collision in &link.collisions {
        let mut add = |kind| add(format!("{}::{}", link.name, collision.name), kind);
        check_shape(world, collision, !is_fixed, &mut add);
        check_surface(world, &collision.surface, &mut add);
    }
}

fn check_shape(
    world: &World,
    collision: &Collision,
    moves: bool,
    add: &mut dyn FnMut(LimitationKind),
) {
    match shape::flaw(&collision.geometry, world, moves) {
        Some(Flaw::PlaneThatMoves) => add(LimitationKind::PlaneOnMovingLink),
        Some(Flaw::WithoutSize) => add(LimitationKind::ShapeWithoutSize),
        Some(Flaw::WithoutFile) => add(LimitationKind::ShapeWithoutFile),
        None if is_uneven_ellipsoid(&collision.geometry) => {
            add(LimitationKind::EllipsoidAsPolyhedron);
        }
        None => {}
    }
}

fn has_wind_effects(world: &World) -> bool {
    let mut plugins = world.plugins.iter();
    plugins.any(|plugin| plugin.name.ends_with("WindEffects"))
}

fn is_uneven_ellipsoid(geometry: &Geometry) -> bool {
    matches!(geometry, Geometry::Ellipsoid { radii: [x, y, z] } if x != y || y != z)
}

/// Tells of what differs from the defaults and counts in no contact here.
fn check_surface(world: &World, surface: &Surface, add: &mut dyn FnMut(LimitationKind)) {
    let default = Surface::default();
    let has_direction = surface.friction_direction != [0.0; 3] || surface.slip != [0.0; 2];
    let is_uneven = surface.friction2 != surface.friction && !has_direction;
    if is_uneven && surface.friction.min(surface.friction2) < greatest_friction(world) {
        add(LimitationKind::DirectedFriction);
    }
    if surface.surface_radius != default.surface_radius {
        add(LimitationKind::TorsionalFriction);
    }
    let bounces = surface.restitution > 0.0;
    if bounces && surface.restitution_threshold != default.restitution_threshold {
        add(LimitationKind::RestitutionThreshold);
    }
    if surface.stiffness != default.stiffness || surface.damping != default.damping {
        add(LimitationKind::ContactStiffness);
    }
}

/// Returns the greatest coefficient of surfaces that are the same in all directions; of two
/// surfaces the lesser counts.
fn greatest_friction(world: &World) -> f64 {
    let links = world.models.iter().flat_map(|model| &model.links);
    let surfaces = links
        .flat_map(|link| &link.collisions)
        .map(|collision| &collision.surface);
    let even = surfaces.filter(|surface| surface.friction == surface.friction2);
    even.fold(0.0, |most, surface| f64::max(most, surface.friction))
}

fn check_joint(model: &Model, joint: &Joint, add: Add) {
    check_kind(&joint.name, &joint.kind, add);
    for mimic in joint
        .kind
        .axes()
        .iter()
        .filter_map(|axis| axis.mimic.as_ref())
    {
        if ratio::leader(model, mimic).is_none() {
            add(joint.name.clone(), LimitationKind::MimicWithoutLeader);
        }
    }
}

fn check_world_joint(joint: &WorldJoint, add: Add) {
    check_kind(&joint.name, &joint.kind, add);
    if joint.kind.axes().iter().any(|axis| axis.mimic.is_some()) {
        add(joint.name.clone(), LimitationKind::MimicBetweenModels);
    }
}

fn check_kind(name: &str, kind: &JointKind, add: Add) {
    match kind {
        JointKind::Universal([first, second]) | JointKind::Revolute2([first, second])
            if !joint::are_two_axes(first, second) =>
        {
            add(name.to_owned(), LimitationKind::ParallelAxes);
        }
        JointKind::Gearbox { axes, .. } => {
            let is_plain = |axis: &Axis| {
                let plain = Axis {
                    xyz: axis.xyz,
                    effort: axis.effort,
                    ..Axis::default()
                };
                let is_free = axis.lower < -NO_LIMIT && axis.upper > NO_LIMIT;
                let unlimited = Axis {
                    lower: plain.lower,
                    upper: plain.upper,
                    ..axis.clone()
                };
                is_free && unlimited == plain
            };
            if !axes.iter().all(is_plain) {
                add(name.to_owned(), LimitationKind::GearboxAxes);
            }
        }
        _ => {}
    }
}
