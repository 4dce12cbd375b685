//! The immutable description of a world: SI units, radians, all frames resolved.

use serde::{Deserialize, Serialize};

use crate::pose::Pose;

/// One `<world>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Its name.
    pub name: String,
    /// Step size and pace.
    pub physics: Physics,
    /// Gravity, world frame \[m/s^2\].
    pub gravity: [f64; 3],
    /// Top-level models in file order; nested models are part of them.
    pub models: Vec<Model>,
    /// Levels in file order.
    pub levels: Vec<Level>,
    /// Declared performers in file order.
    pub performers: Vec<Performer>,
}

/// What `<physics>` says of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Physics {
    /// Simulated time per iteration \[s\].
    pub max_step_size_s: f64,
    /// Simulated over real time to aim for; 0 is as fast as possible.
    pub real_time_factor: f64,
}

/// A top-level model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Its name, unique among the models of its world.
    pub name: String,
    /// Whether it never moves.
    pub is_static: bool,
    /// Whether its links collide with each other.
    pub self_collide: bool,
    /// Pose of its origin, world frame.
    pub pose: Pose,
    /// Its links; those of nested models are named `nested::link`. The first is the canonical one
    /// unless the file names another. Only a static model can be without links.
    pub links: Vec<Link>,
    /// Index into `links` of the link that the model's pose is attached to.
    pub canonical_link: usize,
    /// Its joints; those of nested models are named `nested::joint`.
    pub joints: Vec<Joint>,
}

/// A rigid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its name within the model.
    pub name: String,
    /// Pose, world frame.
    pub pose: Pose,
    /// Mass and its distribution.
    pub inertial: Inertial,
    /// Whether gravity acts on it.
    pub gravity: bool,
    /// Whether it moves as it is told and not by forces.
    pub kinematic: bool,
    /// What it collides with.
    pub collisions: Vec<Collision>,
}

/// Mass and its distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inertial {
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass and axes of the inertia, link frame.
    pub pose: Pose,
    /// ixx, ixy, ixz, iyy, iyz, izz, in the frame of `pose` \[kg m^2\].
    pub inertia: [f64; 6],
}

/// A shape that touches others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collision {
    /// Its name within the link.
    pub name: String,
    /// Pose, link frame.
    pub pose: Pose,
    /// Its shape.
    pub geometry: Geometry,
    /// How it touches.
    pub surface: Surface,
}

/// Shapes; round ones have their axis along z, all are centred on their origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Geometry {
    /// Edge lengths \[m\].
    Box {
        /// Along x, y, z.
        size: [f64; 3],
    },
    /// A ball \[m\].
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A cylinder \[m\].
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Its length.
        length: f64,
    },
    /// A cylinder with half a ball at each end \[m\].
    Capsule {
        /// Radius of cylinder and balls.
        radius: f64,
        /// Length of the cylinder alone.
        length: f64,
    },
    /// An ellipsoid \[m\].
    Ellipsoid {
        /// Half axes along x, y, z.
        radii: [f64; 3],
    },
    /// A cone with its tip at +z \[m\].
    Cone {
        /// Radius of its base.
        radius: f64,
        /// From base to tip.
        length: f64,
    },
    /// All space below a plane through the origin.
    Plane {
        /// Unit normal.
        normal: [f64; 3],
    },
}

/// How a shape touches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Coulomb friction.
    pub friction: f64,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// Two shapes collide when their masks have a bit in common.
    pub collide_bitmask: u16,
}

/// Two links held together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// Its name within the model.
    pub name: String,
    /// What it lets move.
    pub kind: JointKind,
    /// The one side.
    pub parent: JointParent,
    /// The other side, an index into the model's links.
    pub child: usize,
    /// Pose of the joint, world frame.
    pub pose: Pose,
}

/// The parent side of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JointParent {
    /// The world.
    World,
    /// An index into the model's links.
    Link(usize),
}

/// What a joint lets move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
}

/// The axis of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Unit vector, world frame.
    pub xyz: [f64; 3],
    /// Least position \[rad or m\]; `-inf` for none.
    pub lower: f64,
    /// Greatest position \[rad or m\]; `inf` for none.
    pub upper: f64,
    /// Viscous damping \[N m s/rad or N s/m\].
    pub damping: f64,
    /// Static friction \[N m or N\].
    pub friction: f64,
}

/// A region of a world; its box is axis-aligned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// Centre of its box, world frame \[m\].
    pub center: [f64; 3],
    /// Edge lengths of its box \[m\].
    pub size: [f64; 3],
    /// Width of the buffer around the box \[m\].
    pub buffer: f64,
    /// Names of the models that it refers to.
    pub models: Vec<String>,
}

/// A model declared to be a performer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Performer {
    /// Its name as a performer.
    pub name: String,
    /// The name of the model.
    pub model: String,
    /// Edge lengths of the box around it, centred on the model's origin \[m\].
    pub size: [f64; 3],
}

/// Returns worlds as bytes, for the wire and for digests.
///
/// # Panics
/// Never: worlds hold only what `MessagePack` can express.
pub fn encode_worlds(worlds: &[World]) -> Vec<u8> {
    rmp_serde::to_vec(worlds).expect("worlds hold only what MessagePack can express")
}

/// Returns the worlds in bytes made by [`encode_worlds`].
///
/// # Errors
/// When the bytes are not such worlds.
pub fn decode_worlds(bytes: &[u8]) -> Result<Vec<World>, rmp_serde::decode::Error> {
    rmp_serde::from_slice(bytes)
}
