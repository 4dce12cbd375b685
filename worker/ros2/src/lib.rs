//! A node of ROS 2: publishers, subscriptions and services of messages that are encoded already.
//!
//! [`Participant`] is a process in a domain of DDS. It knows names, types and quality of service as
//! ROS 2 has them, and nothing of simulations or of what is in a message. `rustdds` is the
//! middleware, and known here alone: another one replaces this crate and nothing else.

mod graph;
mod names;
mod participant;
mod payload;
mod service;

pub use names::NameError;
pub use participant::{
    DOMAIN_MAX, Domain, EndpointError, JoinError, OnArrival, Participant, Publication,
    PublishError, Quality, Sample, Subscription, Topic,
};
pub use service::{Call, Caller, ServeError, Server, ServiceMapping};
