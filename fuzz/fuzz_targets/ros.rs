//! Arbitrary bytes as a message of ROS 2; the first byte says of which type.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| phalanx_fuzz::read_ros(bytes));
