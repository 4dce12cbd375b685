//! Cells at rest: their steps are not done, and nobody can tell but by the time they take.

use std::collections::BTreeMap;

use protocol::action::Action;
use protocol::primary_to_secondary::{CellSource, Step};
use protocol::secondary_to_primary::StepAck;
use protocol::{CellId, ModelId, PeerName, SimTime};

use super::actions::{link, stamped};
use super::fixture::*;
use crate::CellHost;

/// A floor and two boxes that stand on each other.
const STACK: &str = "<sdf version='1.11'><world name='stack'>
    <model name='floor'><static>true</static><pose>0 0 -0.5 0 0 0</pose><link name='link'>
    <collision name='c'><geometry><box><size>9 9 1</size></box></geometry></collision></link>
    </model>
    <model name='low'><pose>0 0 0.5 0 0 0</pose><link name='link'>
    <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision></link>
    </model>
    <model name='high'><pose>0.1 0 1.5 0 0 0.1</pose><link name='link'>
    <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision></link>
    </model></world></sdf>";
/// The only cell of the world.
const CELL: CellId = CellId(0);
/// The longest that the stack may take until it is at rest \[steps\].
const STEPS_MAX: u32 = 20_000;

/// A host of the stack, with its last answer.
struct Stack {
    hosts: Hosts,
    ack: StepAck,
}

impl Stack {
    fn new(name: &str, source: CellSource, begun: Step) -> Self {
        let read = sdf::read_worlds(STACK, "stack.sdf", &sdf::NoFiles).unwrap();
        let name: PeerName = name.parse().unwrap();
        let host = CellHost::new(name.clone(), read.worlds, PLAIN).unwrap();
        let mut hosts = Hosts::new(&[], PLAIN);
        hosts.by_name = BTreeMap::from([(name.clone(), host)]);
        hosts.step = begun;
        let ack = StepAck::default();
        let mut stack = Self { hosts, ack };
        if source == CellSource::Start {
            stack.advance(|step| step.affinities = vec![affinity(0, name.as_str(), source)]);
        }
        stack
    }

    fn host(&mut self) -> &mut CellHost {
        let mut hosts = self.hosts.by_name.values_mut();
        hosts.next().expect("it has one")
    }

    fn advance(&mut self, change: impl FnOnce(&mut Step)) {
        let mut step = self.hosts.following();
        change(&mut step);
        self.ack = self.host().run(&step, &[]).unwrap();
        assert!(self.ack.hosted().eq([CELL]));
        self.hosts.step = step;
    }

    fn is_at_rest(&self) -> bool {
        self.ack.at_rest.iter().eq([CELL])
    }

    /// Does steps until the cell is at rest.
    fn come_to_rest(&mut self) {
        for _ in 0..STEPS_MAX {
            if self.is_at_rest() {
                return;
            }
            self.advance(|_| {});
        }
        panic!("the stack is not at rest after {STEPS_MAX} steps");
    }

    /// Returns another host, with the cell from a snapshot of this one.
    fn elsewhere(&mut self) -> Self {
        let mut pause = self.hosts.following();
        pause.paused = true;
        pause.step_size_ns = 0;
        pause.iteration = self.hosts.step.iteration;
        pause.elapsed = self.hosts.step.elapsed;
        pause.wanted.snapshots = vec![CELL];
        let ack = self.host().run(&pause, &[]).unwrap();
        self.hosts.step = pause.clone();
        let mut other = Self::new("other", CellSource::Snapshot, pause);
        let mut step = other.hosts.following();
        step.affinities = vec![affinity(0, "other", CellSource::Snapshot)];
        other.ack = other.host().run(&step, &ack.snapshots).unwrap();
        other.hosts.step = step;
        self.advance(|_| {});
        other
    }

    fn digest(&mut self) -> Digests {
        self.host().digests().collect()
    }
}

/// Pushes the upper box for 0.3 s.
fn push(step: &mut Step) {
    let high = ModelId { world: 0, model: 2 };
    step.actions = stamped([Action::Wrench {
        link: link(high),
        force: [14.0, 0.0, 0.0],
        torque: [0.0; 3],
        until: SimTime(step.elapsed.0 + 300_000_000),
    }]);
}

#[test]
fn a_cell_in_which_all_sleeps_is_at_rest_until_something_happens() {
    let mut stack = Stack::new("one", CellSource::Start, Step::default());
    assert!(!stack.is_at_rest());
    stack.come_to_rest();
    let rested = stack.digest();
    for _ in 0..100 {
        stack.advance(|_| {});
        assert!(stack.is_at_rest() && stack.ack.states.byte_count() == 0);
    }
    assert_eq!(stack.digest(), rested);
    stack.advance(push);
    for _ in 0..100 {
        assert!(!stack.is_at_rest());
        stack.advance(|_| {});
    }
    assert_ne!(stack.digest(), rested);
    stack.come_to_rest();
}

#[test]
fn a_cell_at_rest_that_moves_to_another_host_goes_on_with_the_same_bits() {
    let mut stay = Stack::new("stay", CellSource::Start, Step::default());
    stay.come_to_rest();
    let mut moved = stay.elsewhere();
    assert!(!moved.is_at_rest(), "a new host says all it has");
    assert_eq!(moved.digest(), stay.digest());
    for number in 0..3000 {
        let change = |step: &mut Step| {
            if number == 20 {
                push(step);
            }
        };
        stay.advance(change);
        moved.advance(change);
        assert_eq!(moved.digest(), stay.digest(), "step {number}");
        assert_eq!(moved.is_at_rest(), stay.is_at_rest(), "step {number}");
    }
}

#[test]
fn a_cell_at_rest_answers_what_it_is_asked_for() {
    let mut stack = Stack::new("one", CellSource::Start, Step::default());
    stack.come_to_rest();
    stack.advance(|step| step.wanted.snapshots = vec![CELL]);
    assert_eq!(stack.ack.snapshots.len(), 1);
    assert_eq!(stack.ack.cells.len(), 1);
    stack.advance(|_| {});
    assert!(stack.is_at_rest());
}
