//! What is due when.

use super::*;

#[test]
fn frames_are_due_at_multiples_of_their_period() {
    for (time_ns, rate_hz, expected) in [
        (0, 30.0, 33_333_333),
        (34_000_000, 30.0, 66_666_667),
        (33_333_333, 30.0, 66_666_667),
        (1_000_000, 0.0, 1_000_000),
        (999_999_999, 1.0, 1_000_000_000),
        (1_000_000_000, 1.0, 2_000_000_000),
    ] {
        assert_eq!(next_frame(SimTime(time_ns), rate_hz), SimTime(expected));
    }
}
