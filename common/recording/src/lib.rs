//! Files in which a run is recorded: MCAP, which other programs open, too.
//!
//! [`RecordingWriter`] writes one, [`Recording`] reads it back without trusting a byte of it, also
//! when it has no end; [`RosWriter`] writes one for programs of ROS 2. [`channel`] is the table of
//! what stands in it besides the topics of the simulated worlds, [`content`] has the messages.
//! `docs/recordings.md` tells it for users. Nothing here knows a clock, a thread or a path.

pub mod channel;
pub mod content;
pub mod description;
pub mod digests;
pub mod library;
mod links;
pub mod reader;
pub mod ros;
mod scene;
mod schemas;
pub mod writer;

pub use channel::Channel;
pub use content::{
    Affinity, Clock, Frame, LinkTransforms, ModelChange, ModelChanges, Placed, WorldContent,
};
pub use description::{FORMAT, LoadWord, RunDescription, SightWord};
pub use library::{
    LIBRARY_BYTES_MAX, LIBRARY_FILE_BYTES_MAX, LibraryFile, LibraryIndex, LibraryKey, RecordedFiles,
};
pub use reader::ros::{RosChannel, RosRecording};
pub use reader::{ChannelInfo, Chunk, Message, ReadError, Recording};
pub use ros::RosWriter;
pub use writer::{Moment, RecordingWriter, WriteError};
