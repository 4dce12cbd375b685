//! How bytes travel between the processes of a run.
//!
//! [`link`] says what every transport does, [`zeromq`] does it between processes and [`memory`]
//! within one, and [`endpoint`] names the places. Nothing here looks into a message.

pub mod endpoint;
pub mod link;
pub mod memory;
mod subscription;
pub mod zeromq;

pub use endpoint::{EndpointError, Endpoints};
pub use link::{Arrival, Destination, Link, LinkError, Notice, Publisher, Waker};
pub use subscription::Subscription;
