//! Arbitrary text as a file of commands.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| phalanx_fuzz::read_commands(bytes));
