//! Arbitrary bytes as files of a journal, and as what a primary remembers; the first byte says
//! which.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| phalanx_fuzz::read_journal(bytes));
