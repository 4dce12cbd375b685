//! Arbitrary bytes as a recording: its channels, messages, worlds and commands are read.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| phalanx_fuzz::read_recording(bytes));
