//! Domains of ROS 2, of which each run of a test has one of its own.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of domains that are used. The ports of those above are among those that the system gives
/// to anybody.
const DOMAINS: u32 = 100;
/// Number of domains from those of one process to those of the next.
const STRIDE: u32 = 16;

/// Number of domains that this process has had.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// Returns the number of a domain that no other test of this process has, and tells it.
pub fn take() -> String {
    let number = TAKEN.fetch_add(1, Ordering::Relaxed);
    let first = process::id() % DOMAINS * STRIDE;
    let domain = 1 + (first + number) % DOMAINS;
    eprintln!("domain {domain}");
    domain.to_string()
}
