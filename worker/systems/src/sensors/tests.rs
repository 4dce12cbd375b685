//! Sensors of small worlds against closed forms, and their memories through moves.

mod bodies;
mod memory;
mod noises;
mod pictures;
mod rays;
mod rig;
