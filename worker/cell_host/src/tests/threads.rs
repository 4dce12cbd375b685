//! The number of threads that step cells changes no bit.

use std::fmt::Write;

use lockstep::limits::THREADS_MAX;
use protocol::primary_to_secondary::CellSource;

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

/// Returns the digests of a single level that is full of towers of boxes, and whether its cell had
/// all threads in the end.
fn run_crowd(threads: u32) -> (Vec<Digests>, bool) {
    let mut towers = String::new();
    for number in 0..150 {
        let (tower, height) = (f64::from(number / 5), f64::from(number % 5));
        let (x, y, z) = (0.3 * tower - 4.5, -2.0, 0.1 + 0.21 * height);
        let shape = "<geometry><box><size>0.2 0.2 0.2</size></box></geometry>";
        let _ = write!(
            towers,
            "<model name='stone_{number}'><pose>{x} {y} {z} 0 0 {height}</pose><link name='link'>\
             <collision name='collision'>{shape}</collision></link></model>"
        );
    }
    let end = "<plugin name='gz::sim'";
    let text = row_text("main", 1).replace(end, &format!("{towers}{end}"));
    let settings = HostSettings { threads, ..PLAIN };
    let mut hosts = Hosts::of_worlds(&["a"], settings, &[read(&text)]);
    hosts.pause(|step| {
        step.affinities.push(affinity(1, "a", CellSource::Start));
        step.level_changes.push(load(1, 0));
    });
    let digests = hosts.advance_by(150);
    let shares_a_cell = hosts.by_name.values().any(|host| host.shares_a_cell);
    (digests, shares_a_cell)
}

#[test]
fn a_crowded_cell_has_the_same_bits_on_one_and_four_threads() {
    let (expected, _) = run_crowd(1);
    let (found, shares_a_cell) = run_crowd(4);
    assert!(
        shares_a_cell,
        "a step of 150 boxes takes longer than 300 us"
    );
    assert!(found == expected);
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
