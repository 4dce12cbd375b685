//! Arbitrary text as a run file.

#![no_main]

use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let read = orchestrator::config::Config::parse(text, Path::new("run.toml"));
        // What is refused says where and why.
        assert!(read.map_or_else(|error| !error.to_string().is_empty(), |_| true));
    }
});
