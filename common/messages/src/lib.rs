//! Messages of topics and services: the names and fields of `gz.msgs`, as `MessagePack` maps on the
//! wire and as JSON for people.
//!
//! Fields are named as in the `.proto` files of gz-msgs; what is left out has its default, and an
//! unknown field is an error. One file per kind of subject; [`kind`] is the table of all messages.
//! Units are those of gz-msgs: SI and radians, unless a field says otherwise.

pub mod basic;
pub mod command;
pub mod foxglove;
pub mod geometry;
mod json;
pub mod json_schema;
pub mod kind;
mod message;
pub mod motion;
mod schema;
pub mod sensor;
pub mod state;
pub mod text_format;

pub use basic::{Boolean, Double, Empty, Header, StringMsg, Time};
pub use geometry::{Pose, Quaternion, Vector3d};
pub use kind::{Kind, find};
pub use message::{Message, MessageError, decode, encode};
pub use text_format::TextFormatError;
