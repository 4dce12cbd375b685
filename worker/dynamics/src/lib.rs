//! Dynamics of rigid bodies: free ones, trees of joints in reduced coordinates, and the contacts,
//! limits, motors and ratios between them.
//!
//! [`Scene`] holds one step: who calls it fills in bodies, trees, contacts and axes, and
//! [`Scene::step`] gives poses and velocities at its end and the impulses that acted. Nothing here
//! knows of collision detection, files or messages, and the same input gives the same bits on any
//! host. Units are SI, frames are the world's where nothing else is said.

#![allow(
    clippy::many_single_char_names,
    clippy::needless_range_loop,
    reason = "matrices and vectors go by the letters and numbers of the formulas"
)]
#![allow(clippy::single_match_else, reason = "both arms are of the same weight")]

mod axis;
mod body;
mod contact;
mod coordinates;
mod factor;
mod flight;
mod kinematics;
mod manifold;
mod row;
mod scene;
mod spatial;
mod tree;

pub use axis::{Axis, AxisBounds, AxisSpring, Lock, Term, Terms};
pub use body::Body;
pub use contact::{Contact, Friction};
pub use manifold::across;
pub use scene::{Parameters, Scene};
pub use spatial::Frame;
pub use tree::{JointKind, Link, Tree};
