//! Arbitrary text as the content of a URDF robot.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut text = b"<robot name='r'>".to_vec();
    text.extend_from_slice(bytes);
    text.extend_from_slice(b"</robot>");
    phalanx_fuzz::read(&text);
});
