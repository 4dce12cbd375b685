//! State and decisions of the terminal view, without a terminal.
//!
//! Data flow: an [`event::Event`] comes in, [`update::update`] changes the [`model::Model`] and may
//! return an [`command::Effect`]. Nothing here draws, reads a clock, opens a socket or knows
//! ratatui; see [`crate::ui`] for the screen and [`crate::run`] for the loop around both.

pub mod command;
pub mod detail;
pub mod drive;
pub mod event;
pub mod filter;
pub mod help;
pub mod keymap;
pub mod latency;
pub mod level_loads;
pub mod line_edit;
pub mod map_cursor;
pub mod map_view;
pub mod model;
pub mod orientation;
pub mod palette;
pub mod past_events;
pub mod places;
pub mod projection;
pub mod recent;
pub mod rows;
pub mod scrollback;
pub mod start_up;
pub mod topic_subscription;
pub mod trails;
pub mod update;
pub mod verdict;

#[cfg(test)]
mod ended_facts;

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
