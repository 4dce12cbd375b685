//! [`TraceCollector`]: puts together what the primary and its secondaries say of each step.

use std::collections::{BTreeMap, VecDeque};

use protocol::{PeerName, Sequence, StepTrace};

use super::round::Round;

/// Number of steps that may wait for traces of secondaries; the oldest goes without.
const ROUNDS_MAX: usize = 1024;
/// Size of traces of secondaries that may wait for their steps \[cells, and as many steps\].
const WAITING_MAX: usize = 1 << 20;

/// A step, and the traces of the secondaries that did it.
pub(super) type Gathered = (Round, Vec<(PeerName, StepTrace)>);

/// Steps and traces that are not complete yet.
#[derive(Debug, Default)]
pub(super) struct TraceCollector {
    rounds: VecDeque<Round>,
    traces: BTreeMap<(Sequence, PeerName), StepTrace>,
    /// Size of the traces \[cells, and as many steps\].
    waiting: usize,
    /// Steps up to this one are done with.
    done: Option<Sequence>,
}

impl TraceCollector {
    /// Takes a step that all have answered.
    pub(super) fn take_round(&mut self, round: Round) {
        self.rounds.push_back(round);
    }

    /// Takes what a secondary says of a step.
    pub(super) fn take_trace(&mut self, from: PeerName, trace: StepTrace) {
        let size = 1 + trace.cells.len();
        let is_late = self.done.is_some_and(|done| trace.sequence <= done);
        if is_late || self.waiting + size > WAITING_MAX {
            return tracing::debug!("what {from} says of step {} is too late", trace.sequence);
        }
        self.waiting += size;
        if let Some(known) = self.traces.insert((trace.sequence, from), trace) {
            self.waiting -= 1 + known.cells.len();
        }
    }

    /// Tells whether nothing waits for anything.
    pub(super) fn is_idle(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Returns the oldest step once all of it is here, or when it is `due` as it is.
    pub(super) fn next(&mut self, is_due: bool) -> Option<Gathered> {
        let round = self.rounds.front()?;
        let mut peers = round.peers.iter();
        let is_here = |peer: &PeerName| {
            let place = (round.sequence, peer.clone());
            self.traces.contains_key(&place)
        };
        if !is_due && self.rounds.len() <= ROUNDS_MAX && !peers.all(is_here) {
            return None;
        }
        let round = self.rounds.pop_front()?;
        let mut traces = Vec::with_capacity(round.peers.len());
        while let Some(entry) = self.traces.first_entry()
            && entry.key().0 <= round.sequence
        {
            let ((sequence, from), trace) = entry.remove_entry();
            self.waiting -= 1 + trace.cells.len();
            if sequence == round.sequence && round.peers.contains(&from) {
                traces.push((from, trace));
            }
        }
        self.done = Some(round.sequence);
        Some((round, traces))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::trace;
    use super::*;

    fn name(text: &str) -> PeerName {
        text.parse().unwrap()
    }

    fn round(sequence: u64) -> Round {
        Round {
            sequence: Sequence(sequence),
            peers: vec![name("s1"), name("s2")],
            ..Round::default()
        }
    }

    #[track_caller]
    fn check(gathering: &mut TraceCollector, is_due: bool, expected: Option<(u64, &[&str])>) {
        let found = gathering.next(is_due);
        let found = found.as_ref().map(|(round, traces)| {
            let names = traces.iter().map(|(name, _)| name.as_str());
            (round.sequence.0, names.collect::<Vec<_>>())
        });
        let expected = expected.map(|(sequence, names)| (sequence, names.to_vec()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_step_waits_for_all_who_did_it() {
        let mut gathering = TraceCollector::default();
        gathering.take_trace(name("s2"), trace(2));
        gathering.take_round(round(1));
        gathering.take_round(round(2));
        gathering.take_trace(name("s1"), trace(2));
        gathering.take_trace(name("s1"), trace(1));
        check(&mut gathering, false, None);
        gathering.take_trace(name("stranger"), trace(1));
        gathering.take_trace(name("s2"), trace(1));
        check(&mut gathering, false, Some((1, &["s1", "s2"])));
        check(&mut gathering, false, Some((2, &["s1", "s2"])));
        assert!(gathering.is_idle() && gathering.waiting == 0);
    }

    #[test]
    fn traces_that_never_come_are_given_up() {
        let mut gathering = TraceCollector::default();
        for sequence in 1..=ROUNDS_MAX as u64 + 1 {
            gathering.take_round(round(sequence));
        }
        check(&mut gathering, false, Some((1, &[])));
        check(&mut gathering, false, None);
        gathering.take_trace(name("s1"), trace(1));
        assert_eq!(gathering.waiting, 0, "its step is over");
        gathering.take_trace(name("s1"), trace(2));
        check(&mut gathering, true, Some((2, &["s1"])));
    }
}
