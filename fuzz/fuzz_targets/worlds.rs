//! Arbitrary text as an SDF file.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| phalanx_fuzz::read(bytes));
