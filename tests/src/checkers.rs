//! Invariants of a run, asked after every iteration of a simulated cluster.
//!
//! One file per invariant; each panics with a sentence when its own is broken, and shares no code
//! with the rules. [`crate::witness`] and [`crate::cluster`] call them.

pub mod agreement;
pub mod answers;
pub mod barrier;
pub mod commits;
pub mod delivery;
pub mod effects;
pub mod exactness;
pub mod ownership;
pub mod publishers;
pub mod sight;

pub use answers::Answers;
pub use barrier::Barrier;
pub use commits::Commits;
pub use delivery::Delivery;
pub use effects::Effects;
pub use ownership::Ownership;
pub use publishers::Publishers;
