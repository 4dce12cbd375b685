//! Links: rigid bodies with what they weigh and what they touch with.

use serde::{Deserialize, Serialize};

use super::{Content, Geometry, Light, Plugin, Sensor, Surface, Visual};
use crate::pose::Pose;
use crate::problem::WrittenAt;

/// A rigid body.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an element of the file"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its name within the model.
    pub name: String,
    /// Pose, world frame.
    pub pose: Pose,
    /// Mass and its distribution.
    pub inertial: Inertial,
    /// True if it never moves, because a model that it is in is static.
    pub is_static: bool,
    /// True if gravity acts on it.
    pub gravity: bool,
    /// True if wind acts on it.
    pub enable_wind: bool,
    /// True if it moves as it is told and not by forces.
    pub kinematic: bool,
    /// True if it collides with other links of its model.
    pub self_collide: bool,
    /// Rate at which linear and angular velocity decay \[1/s\].
    pub velocity_decay: [f64; 2],
    /// Shapes that collide.
    pub collisions: Vec<Collision>,
    /// Shapes that viewers draw.
    pub visuals: Vec<Visual>,
    /// Its sensors.
    pub sensors: Vec<Sensor>,
    /// Its lights.
    pub lights: Vec<Light>,
    /// Its plugins.
    pub plugins: Vec<Plugin>,
    /// Custom elements (`name:space`), batteries, particle emitters and projectors.
    pub custom: Vec<Content>,
    /// Its place.
    #[serde(skip)]
    pub place: WrittenAt,
}

impl Link {
    /// Makes a link of 1 kg without collisions.
    pub fn new(name: &str, pose: Pose) -> Self {
        Self {
            name: name.to_owned(),
            pose,
            inertial: Inertial::default(),
            is_static: false,
            gravity: true,
            enable_wind: false,
            kinematic: false,
            self_collide: false,
            velocity_decay: [0.0; 2],
            collisions: Vec::new(),
            visuals: Vec::new(),
            sensors: Vec::new(),
            lights: Vec::new(),
            plugins: Vec::new(),
            custom: Vec::new(),
            place: WrittenAt::default(),
        }
    }
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
    /// Upper triangle of the added-mass matrix by rows, frame of `pose`
    /// (`//inertial/fluid_added_mass`: xx, xy, xz, xp, xq, xr, yy, ...) \[kg, kg m, kg m^2\].
    pub fluid_added_mass: Option<[f64; 21]>,
}

impl Default for Inertial {
    fn default() -> Self {
        Self {
            mass: 1.0,
            pose: Pose::IDENTITY,
            inertia: [1.0, 0.0, 0.0, 1.0, 0.0, 1.0],
            fluid_added_mass: None,
        }
    }
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
    /// Friction, bounce and contact.
    pub surface: Surface,
    /// Strength with which it reflects light of lidars.
    pub laser_retro: f64,
    /// Custom elements (`name:space`).
    pub custom: Vec<Content>,
}

impl Collision {
    /// Makes a collision with the surface that SDF has by default.
    pub fn new(name: &str, pose: Pose, geometry: Geometry) -> Self {
        Self {
            name: name.to_owned(),
            pose,
            geometry,
            surface: Surface::default(),
            laser_retro: 0.0,
            custom: Vec::new(),
        }
    }
}
