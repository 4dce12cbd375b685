//! Windows that are rolled back: to whichever of their steps, the host is as if no more had been
//! done.

use std::time::Duration;

use protocol::Sequence;
use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::StepAck;

use super::fixture::*;
use crate::{CellHost, SaidAhead};

/// Steps of a window, and of a part of it.
const AHEAD: u32 = 40;
const PART: usize = 5;
/// Steps before the window: the piles have fallen, and carts roll.
const BEFORE: u32 = 300;

/// Does all steps of a window after the last step; returns that step.
fn run_ahead(hosts: &mut Hosts) -> Step {
    let step = Step {
        ahead: AHEAD,
        part: Some(Duration::from_secs(1)),
        ..hosts.step.clone()
    };
    let host = host(hosts);
    host.set_part_steps(PART);
    let mut ack = StepAck::default();
    let mut said = SaidAhead::default();
    host.run_ahead(&step, &mut ack, &mut said).unwrap();
    let (mut count, mut goes_on) = (ack.ahead.len(), ack.goes_on);
    while goes_on {
        let part = host.go_on_ahead(&mut said).unwrap();
        count += part.acks.len();
        goes_on = part.goes_on;
    }
    assert_eq!(count, AHEAD as usize);
    step
}

fn host(hosts: &mut Hosts) -> &mut CellHost {
    hosts.by_name.values_mut().next().expect("there is one")
}

#[test]
fn a_host_goes_back_to_any_step_of_a_window() {
    let mut plain = Hosts::started(["a"; 3], PLAIN);
    plain.advance_by(BEFORE);
    let expected = plain.advance_by(AHEAD + 1);
    // Rollback points are kept before the window, and after 10, 20 and 30 steps of it.
    for holds in [39, 0, 1, 9, 10, 11, 20, 29, 30] {
        let mut hosts = Hosts::started(["a"; 3], PLAIN);
        hosts.advance_by(BEFORE);
        let step = run_ahead(&mut hosts);
        assert_eq!(host(&mut hosts).point_count(), 4);
        let to = Sequence(step.sequence.0 + u64::from(holds));
        host(&mut hosts).go_back(to).unwrap();
        let next = hosts.run(step.quiet_after(holds + 1)).unwrap();
        assert_eq!(next, expected[holds as usize], "after {holds} steps");
    }
}
