//! What cells do, against closed forms and against themselves.

mod builder;
mod contact;
mod determinism;
mod joints;
mod motion;
mod sleep;
mod unsupported;
