//! Page and Foxglove protocol of a run or a recording, on one port.
//!
//! [`server`] answers requests and makes `WebSocket`s of them; [`hub`] is between all clients and
//! one source of data: a live run, followed by [`live`], or whoever fills a [`source`]. A client is
//! admitted by [`admission`] and heard by [`viewer`]; what it is told waits in its [`outbox`].

pub mod admission;
pub mod assets;
mod channels;
mod compressor;
mod foxglove;
mod geometry;
pub mod hub;
mod listening;
pub mod live;
pub mod outbox;
mod page;
pub mod pose_table;
pub mod protocol;
mod run_log;
mod run_schema;
mod run_state;
pub mod scenes;
pub mod server;
mod services;
pub mod shown_scene;
pub mod source;
pub mod token;
pub mod viewer;
mod viewers;
