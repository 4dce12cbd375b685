//! Hosts of cells in one process, driven step by step as a primary drives them.

mod action_errors;
mod actions;
mod cameras;
mod errors;
mod fixture;
mod moves;
mod resting;
mod restores;
mod returns;
mod rollbacks;
mod suspension;
mod threads;
mod verification;
