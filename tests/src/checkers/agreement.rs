//! Agreement: whatever goes wrong, a run computes what it would have computed in peace.

use protocol::Digest;

/// Compares the digests after each complete iteration of a run, from 0 on, with those of a run of
/// the same worlds and commands that nothing disturbed.
///
/// # Panics
/// Panics if one differs, or the undisturbed run did not come so far.
pub fn check(digests: &[Digest], undisturbed: &[Digest]) {
    for (iteration, digest) in digests.iter().enumerate() {
        let expected = undisturbed.get(iteration);
        assert_eq!(
            Some(digest),
            expected,
            "iteration {iteration} differs from that of an undisturbed run"
        );
    }
}
