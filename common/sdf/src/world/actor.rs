//! Actors: people and other things that move by a script and not by forces.

use serde::{Deserialize, Serialize};

use super::{Collision, Content};
use crate::pose::Pose;

/// An `<actor>` of a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Actor {
    /// Its name.
    pub name: String,
    /// Pose, world frame; its script is relative to it.
    pub pose: Pose,
    /// Its look, if the file says so.
    pub skin: Option<Skin>,
    /// Motions of its limbs.
    pub animations: Vec<Animation>,
    /// Its path.
    pub script: Script,
    /// The collisions of all its links; poses are in its frame.
    pub collisions: Vec<Collision>,
    /// The element with everything in it.
    pub content: Content,
}

/// The mesh of an actor, for viewers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skin {
    /// The file, as the world names it.
    pub uri: String,
    /// Factor.
    pub scale: f64,
}

/// Motion of an actor's limbs, for viewers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Animation {
    /// Its name, which trajectories refer to.
    pub name: String,
    /// The file, as the world names it.
    pub uri: String,
    /// Factor.
    pub scale: f64,
    /// True if it goes on with the distance that the actor covers, and not with time.
    pub interpolate_x: bool,
}

/// Path of an actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// True if it begins again when it ends.
    pub is_loop: bool,
    /// Time for which the actor waits at its begin \[s\].
    pub delay_s: f64,
    /// True if it begins with the simulation; otherwise the actor stays where it is.
    pub starts_by_itself: bool,
    /// Its parts, ascending by id.
    pub trajectories: Vec<Trajectory>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            is_loop: true,
            delay_s: 0.0,
            starts_by_itself: true,
            trajectories: Vec::new(),
        }
    }
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Its number within the script.
    pub id: i32,
    /// The animation that goes with it.
    pub animation: String,
    /// Straightness: 0 is a Catmull-Rom spline, 1 comes to rest at each waypoint.
    pub tension: f64,
    /// At least one, ascending by time.
    pub waypoints: Vec<Waypoint>,
}

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waypoint {
    /// Since the script began \[s\].
    pub time_s: f64,
    /// In the frame of the actor.
    pub pose: Pose,
}
