//! The published rustdds, whose threads go on when a wait is interrupted. Everything else is
//! included as it was published; `build.rs` has the whole difference.

#![allow(
    warnings,
    reason = "the published sources are judged where they are kept"
)]
#![allow(clippy::all, clippy::pedantic, reason = "as above")]
include!(concat!(env!("OUT_DIR"), "/src/lib.rs"));

use dds::result::{
    create_error_dropped, create_error_internal, create_error_out_of_resources,
    create_error_poisoned,
};
