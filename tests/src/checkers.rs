//! Invariants of a run, asked after every iteration of a simulated cluster.
//!
//! One file per invariant; each panics with a sentence when its own is broken. [`crate::witness`]
//! calls them.

pub mod barrier;
pub mod exactness;
pub mod whereabouts;

pub use barrier::Barrier;
pub use whereabouts::Whereabouts;
