//! Transports of bytes between the processes of a run.
//!
//! [`link`] says what every transport does, [`zeromq`] does it between processes and [`memory`]
//! within one, and [`endpoint`] names the places. [`keys`] and [`authorized`]
//! say who may connect where. Nothing here looks into a message.

pub mod authorized;
pub mod endpoint;
pub mod keys;
pub mod link;
pub mod memory;
pub mod ownership;
pub mod rate;
pub mod refusals;
mod subscription;
pub mod zeromq;

pub use authorized::{Authorized, AuthorizedError};
pub use endpoint::{EndpointError, Endpoints};
pub use keys::{KeyError, KeyPair, PublicKey, ServerKeys};
pub use link::{
    Arrival, Client, Denial, Destination, DisconnectError, Link, LinkError, Notice, Publisher,
    WaitingData, Waker,
};
pub use ownership::OwnershipError;
pub use refusals::Refusals;
pub use subscription::Subscription;
