//! Tests of real runs: processes as users start them, on sockets, terminals, networks and hosts;
//! and of simulated ones where they show the same promises.
//!
//! They are one program, since most of them wait most of the time: its threads start further ones
//! meanwhile, and the workspace is linked once. `cargo test -p tests --test runs NAME::` runs those
//! of one file. Tests start in the order of their names: those of batch jobs, of which one waits
//! for minutes, are first.

mod batch_jobs;
mod before_a_run;
mod coming_and_going;
mod command_load;
mod commands;
mod compressed_images;
mod crowded_levels;
mod end_to_end;
mod faults;
mod figures;
mod files;
mod fleet;
mod foxglove_studio;
mod fuel;
mod gazebo;
mod hostile;
mod hosts;
mod lan;
mod levels;
mod moving_cells;
mod network;
mod packaging;
mod participants;
mod recordings;
mod recovery;
mod relays;
mod rest;
mod resume;
mod run_daemon;
mod run_outputs;
mod security;
mod sight;
mod topics;
mod trace;
mod transcripts;
mod view;
mod web_protocol;
mod worlds;
