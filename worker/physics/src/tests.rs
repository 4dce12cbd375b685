//! What cells do, against closed forms and against themselves.

mod actors;
mod actuation;
mod arrivals;
mod axes;
mod builder;
mod commands;
mod contact;
mod contacts;
mod determinism;
mod hand_off;
mod hostile;
mod joints;
mod motion;
mod performer_states;
mod ratios;
mod rays;
mod reaches;
mod shapes;
mod sleep;
mod surroundings;
mod threads;
mod unsupported;
