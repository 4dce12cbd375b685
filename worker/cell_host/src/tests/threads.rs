//! The number of threads that step cells changes no bit.

use lockstep::limits::THREADS_MAX;

use super::fixture::*;
use crate::{CellHost, HostSettings};

fn run(threads: u32) -> Vec<Digests> {
    let settings = HostSettings { threads, ..PLAIN };
    let mut hosts = Hosts::started(["a", "a", "a"], settings);
    let mut digests = hosts.advance_by(300);
    digests.push(hosts.hand_off(2, 1, 3));
    digests.extend(hosts.advance_by(300));
    digests
}

#[test]
fn one_two_and_four_threads_give_the_same_bits() {
    let expected = run(1);
    for threads in [2, 4] {
        assert!(run(threads) == expected, "{threads} threads");
    }
}

#[test]
fn a_count_of_threads_that_cannot_be_is_an_error_that_says_so() {
    let check = |threads: u32| {
        let settings = HostSettings { threads, ..PLAIN };
        let host = CellHost::new("a".parse().unwrap(), vec![row("main", 1)], settings);
        let error = host.err().expect("it is refused").to_string();
        assert!(error.contains("1 to 64 threads"), "{error}");
    };
    check(0);
    check(THREADS_MAX + 1);
    check(u32::MAX);
}
