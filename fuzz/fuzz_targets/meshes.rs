//! Arbitrary bytes as a mesh file or height image; the first byte says of which format.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| phalanx_fuzz::read_mesh(bytes));
