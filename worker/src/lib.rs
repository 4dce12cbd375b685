//! The processes of a run: primary, secondary, relay and standalone, with their physics.
//!
//! The rules of lockstep are in crate `lockstep`; here are the drivers that feed them messages and
//! time ([`primary`], [`secondary`], [`standalone`]), what stands between ([`relay`]), the cells
//! that they step ([`cell_host`], [`physics`]) and what a process shows of itself ([`meter`],
//! [`report`], [`status`]).

pub mod announcement;
pub mod audit;
pub mod clock;
pub mod commands_file;
pub mod cpus;
pub mod data;
mod data_outlet;
pub mod diagnosis;
pub mod digests_file;
pub mod divergence_file;
pub mod heartbeat;
pub mod history;
pub mod identity;
pub mod journaling;
pub mod limits;
mod link_frames;
mod machine;
pub mod messages_file;
pub mod meter;
pub mod output_file;
pub mod primary;
pub mod recorder;
pub mod recording_file;
pub mod recordings;
pub mod relay;
pub mod relay_watch;
pub mod renderers;
pub mod report;
pub mod ros;
pub mod run_outputs;
pub mod run_sink;
pub mod secondary;
pub mod seldom;
mod sensor_library;
pub mod standalone;
pub mod startup;
pub mod states_file;
pub mod status;
pub mod stop_request;
pub mod trace;
pub mod world_file;
