//! The published rapier3d-f64 with one addition: [`island_solver`], a place for a solver of one's
//! own. Everything else is included as it was published; `build.rs` has the whole difference.

#![allow(
    warnings,
    reason = "the published sources are judged where they are kept"
)]
#![allow(clippy::all, clippy::pedantic, reason = "as above")]

pub extern crate nalgebra as na;
pub extern crate parry3d_f64 as parry;
#[macro_use]
extern crate serde;
extern crate alloc;
extern crate num_traits as num;

/// Names that the sources take from `alloc`.
pub(crate) mod alloc_prelude {
    pub use alloc::{boxed::Box, string::String, string::ToString, vec, vec::Vec};
}

pub mod island_solver;
pub(crate) mod pairs;
pub(crate) mod reach;

include!(concat!(env!("OUT_DIR"), "/src/lib.rs"));
