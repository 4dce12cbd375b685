//! Starts, shows and controls runs of Phalanx from a terminal.

pub mod cli;
pub mod commands;
pub mod config;
pub mod key_files;
pub mod launch;
pub mod owner_socket;
mod private_file;
pub mod replay;
pub mod run_directory;
