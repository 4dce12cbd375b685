//! Starts, shows and controls runs of Phalanx from a terminal.

pub mod app;
pub mod cli;
pub mod client;
pub mod commands;
pub mod config;
pub mod control;
pub mod key_files;
pub mod launch;
mod message_text;
mod private_file;
pub mod replay;
pub mod run_directory;
pub mod terminal;
pub mod ui;
pub mod view;
