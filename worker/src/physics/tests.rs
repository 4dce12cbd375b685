//! What cells do, against closed forms and against themselves.

mod axes;
mod builder;
mod contact;
mod determinism;
mod joints;
mod motion;
mod ratios;
mod shapes;
mod sleep;
mod surroundings;
mod unsupported;
