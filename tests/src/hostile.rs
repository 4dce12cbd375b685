//! Peers that misbehave, against real runs: a table of attacks, what they may cost a run, and how
//! they are carried out.
//!
//! They speak with libzmq's own sockets or with bare ones, as a program would that is not ours.
//! [`table()`] names all attacks, [`Campaign`] goes through them on one run and measures each.

mod attacker;
mod bare;
mod campaign;
mod deed;
mod messages;
mod pretender;
mod table;
mod texts;
mod victim;
mod witness;

pub use campaign::{Bounds, Campaign, Damage};
pub use table::{Attack, Deed, Role, TargetSocket, table};
pub use victim::{Way, undisturbed};
pub use witness::{WITNESS, testify};
