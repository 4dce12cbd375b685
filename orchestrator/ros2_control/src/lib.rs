//! Control of a run by services of ROS 2: those of `simulation_interfaces`, its action, those of
//! `ue_msgs`, and those of `phalanx_msgs`, by which nodes take part in lockstep.
//!
//! [`answer()`] makes a response of a request; it asks the run by commands of its protocol, as any
//! client does, and answers when they are done. It opens no socket and reads no clock: both come
//! by way of [`Outside`]. `node.rs` is the process around it, a client of the run that is a node of
//! ROS 2.

mod barrier;
mod bounds;
mod control;
mod entities;
mod entity_state;
mod expression;
mod features;
mod frames;
mod goals;
mod info;
mod named_poses;
#[cfg(feature = "node")]
pub mod node;
mod outcome;
#[cfg(feature = "node")]
pub mod playback;
#[cfg(feature = "node")]
pub mod ros_playback;
mod services;
mod simulation;
mod solid;
mod spawnables;
mod spawning;
mod ue;
mod unread;
mod worlds;

#[cfg(feature = "node")]
pub use ros2::{Mapping, RuleError, Rules};

pub use control::{Control, Extent, ModelText, Outside, SourceError, SpawnableModel, Unanswered};
pub use goals::{ACTION, ACTION_TYPE, GoalId, Publication, execute};
pub use services::{
    ACTION_SERVICES, AnswerError, BARRIER_SERVICES, SERVICES, ServiceName, UE_SERVICES, answer,
};

#[cfg(test)]
mod tests;
