//! Physics: one rapier world per [`Cell`], in doubles.
//!
//! A cell is filled from the immutable [`sdf::World`] and then only steps. Its bits are a function
//! of the order of the calls made on it: the same calls give the same states on any host. Features
//! of a world that rapier does not support are listed by [`unsupported`], for the caller to log.
//! Nothing here knows of peers, messages or time beyond the step size; start at [`cell`].

pub mod access;
pub mod actor;
mod actuation;
mod attachment;
pub mod cell;
mod collider;
mod collision_filter;
pub mod commands;
pub mod contacts;
mod fresh_contacts;
mod ghost;
mod inertia;
mod island_refresh;
mod joint;
mod joint_load;
pub mod limitation;
mod linkage;
mod mechanism;
mod model;
mod moving_surface;
mod persistent_loads;
mod plane_contacts;
mod pose;
pub mod presence;
mod ray;
mod reach;
mod round_face;
mod shape;
mod slip;
pub mod snapshot;
mod solver;
mod state;
mod state_reader;
#[cfg(test)]
mod tests;
mod transfer;
pub mod volume;
mod world_joint;

pub use rapier3d_f64::{math, na};

pub use access::ModelRef;
pub use actor::ActorSolid;
pub use cell::Cell;
pub use commands::CommandError;
pub use contacts::{CollisionRef, Contact, ContactPoint};
pub use joint_load::{Branch, Momenta};
pub use limitation::{Limitation, LimitationKind, unsupported};
pub use presence::Present;
pub use ray::{Echo, RayHit, Scan};
pub use shape::keep_hulls_in;
pub use snapshot::{CellCopy, RestoreError};
pub use state_reader::PerformerStates;
pub use transfer::{AdoptError, Arrival};
