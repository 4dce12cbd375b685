//! Arbitrary bytes as a message; the first byte says between whom.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| phalanx_fuzz::read_message(bytes));
