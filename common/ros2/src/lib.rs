//! Messages of ROS 2: definitions and CDR, conversions from and to those of `gz.msgs`, and the
//! rules by which topics of a run are topics of ROS.
//!
//! [`types`] has the messages, each described once: structure, definition text, bytes and
//! fingerprint follow from that description. [`convert`] pairs them with kinds of `messages`, by
//! the conventions of `ros_gz_bridge`. [`Mapping`] says under which name, type and profile a topic
//! is there. Nothing here opens a socket, reads a clock or knows a DDS implementation.

pub mod cdr;
pub mod convert;
pub mod mapping;
pub mod names;
pub mod rules;
pub mod schema;
pub mod transforms;
pub mod types;
pub mod value;

#[cfg(test)]
mod documentation;

pub use cdr::{CdrError, from_cdr, to_cdr};
pub use convert::{DecodeError, EncodeError, decode, decode_to, encode};
pub use mapping::{Durability, Frames, Mapping, Note, Qos, Reliability, RosTopic, Used, Ways};
pub use rules::{Direction, Profile, Rule, RuleError, Rules};
pub use schema::{RosMessage, Type};
