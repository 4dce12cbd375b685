//! The words of Phalanx: ids, messages, codec and digests that every process shares.
//!
//! One file per direction ([`secondary_to_primary`], [`primary_to_secondary`],
//! [`client_to_primary`], [`primary_to_client`], [`primary_to_observers`]), the envelope around
//! them in [`envelope`], and the figures that people and scripts read in [`report`].
//! Nothing here opens a socket, reads a clock or knows physics.

pub mod access;
pub mod action;
pub mod cell_runs;
pub mod client_to_primary;
mod counted;
pub mod digest;
pub mod envelope;
pub mod error_chain;
pub mod exit;
pub mod failure_code;
pub mod groups;
pub mod id;
pub mod link_frame;
pub mod link_offsets;
pub mod link_poses;
pub mod participant;
pub mod peer;
pub mod plain_text;
pub mod primary_to_client;
pub mod primary_to_observers;
pub mod primary_to_secondary;
pub mod rate;
mod renderer;
pub mod report;
pub mod ros;
pub mod secondary_to_primary;
pub mod state;
pub mod states_file;
pub mod time;
pub mod topic;
pub mod topic_message;
pub mod trace;
pub mod version;

pub use access::Access;
pub use action::{Action, LinkId, StampedAction};
pub use cell_runs::CellRuns;
pub use client_to_primary::{ClientToPrimary, Command, CommandClass, Concerns, ScheduledCommand};
pub use counted::counted;
pub use digest::{Digest, DigestBuilder};
pub use envelope::{DecodeError, Envelope, decode, encode};
pub use error_chain::Chain;
pub use exit::{ExitCode, Outcome, StopReason};
pub use failure_code::FailureCode;
pub use id::{
    CellId, Iteration, LevelId, ModelId, PeerName, PerformerId, RequestId, RoutingId, Sequence,
    SessionId,
};
pub use link_poses::{LinkPose, LinkPoses};
pub use peer::{PeerInfo, Role};
pub use primary_to_client::PrimaryToClient;
pub use primary_to_observers::PrimaryToObservers;
pub use primary_to_secondary::PrimaryToSecondary;
pub use rate::Rate;
pub use renderer::RendererKind;
pub use ros::{AwaitedReaders, RosMessage, RosSettings};
pub use secondary_to_primary::SecondaryToPrimary;
pub use state::{NO_REACH, PerformerState, StateBlob};
pub use time::{SessionTime, SimTime};
pub use topic_message::{DataBatch, Publisher, TopicMessage};
pub use trace::{StepTrace, TraceWindow};
pub use version::ProtocolVersion;
