//! Two computations of the same step that gave different bits: the run ends, and says where.

use crate::primary::world::WorldState;
use protocol::exit::Outcome;
use protocol::primary_to_observers::Severity;
use protocol::report::divergence::{DivergenceReport, FoundBy, NamedState, StepResult};
use protocol::secondary_to_primary::{CellDigests, StepAck};
use protocol::{CellId, DigestBuilder, PeerName, PerformerState, StopReason};

use crate::primary::context::Context;
use crate::primary::{Primary, PrimaryOutput};

impl WorldState {
    /// Returns a performer's state with its name.
    pub(crate) fn named(&self, state: &PerformerState) -> NamedState {
        let performer = self.topology.performers.get(state.performer.0 as usize);
        let name = match performer {
            Some(performer) => performer.name.clone(),
            None => format!("performer {}", state.performer),
        };
        NamedState::new(name, state)
    }
}

impl Primary {
    /// Ends the run because two results of a step differ, and has that written down.
    pub(crate) fn diverge(&mut self, mut report: DivergenceReport, cx: &mut Context<'_>) {
        if self.phase.is_over() {
            return;
        }
        report.bound();
        let sentence = report.sentence();
        cx.event(Severity::Error, "divergence", sentence.clone());
        cx.push(PrimaryOutput::Diverged(Box::new(report)));
        self.begin_stopping(StopReason::new(Outcome::DigestMismatch, sentence), cx);
    }

    /// A secondary says that a step done twice gave two results.
    pub(crate) fn on_diverged(
        &mut self,
        sender: &PeerName,
        report: DivergenceReport,
        cx: &mut Context<'_>,
    ) {
        if !self.is_host(sender) {
            let cause = format!("{sender} says that bits differ, and hosts no cell");
            self.peers.refused.malformed += 1;
            let reason = StopReason::new(Outcome::DigestMismatch, cause);
            return self.on_lost(sender, reason, cx);
        }
        let peer = sender.clone();
        self.diverge(DivergenceReport { peer, ..report }, cx);
    }

    /// Returns what is wrong with an answer of which a cell's digest does not fit its states.
    pub(crate) fn divergence_in(
        &self,
        sender: &PeerName,
        ack: &StepAck,
    ) -> Option<DivergenceReport> {
        let states: Vec<PerformerState> = ack.states.states().ok()?.collect();
        let mut rest = states.as_slice();
        for cell in &ack.cells {
            let (own, others) = rest.split_at_checked(cell.state_count as usize)?;
            rest = others;
            let own: Vec<PerformerState> = self.with_known(cell.cell, own).ok()?.copied().collect();
            let mut builder = DigestBuilder::default();
            for state in &own {
                builder.digest(state.digest);
            }
            let digest = builder.finish();
            if digest == cell.digest {
                continue;
            }
            let name = self
                .world
                .topology
                .cells
                .get(cell.cell.0 as usize)?
                .name
                .clone();
            let result = |label: &str, digest, states: &[PerformerState]| StepResult {
                label: label.to_owned(),
                digest: Some(digest),
                states: states.iter().map(|state| self.world.named(state)).collect(),
            };
            return Some(DivergenceReport {
                iteration: ack.iteration,
                sequence: ack.sequence,
                peer: sender.clone(),
                cell: name,
                performer: None,
                field: None,
                difference: format!("the answer says {}, its states give {digest}", cell.digest),
                found_by: FoundBy::StepAck,
                results: vec![
                    result("the digest in the answer", cell.digest, &[]),
                    result("the states in the answer", digest, &own),
                ],
            });
        }
        None
    }

    /// Compares what was done again with what was acknowledged, and returns the first difference.
    /// With `owes`, the step under way was not acknowledged.
    pub(crate) fn divergence_of(
        &self,
        peer: &PeerName,
        digests: &[CellDigests],
        ack: &StepAck,
        owes: bool,
    ) -> Option<DivergenceReport> {
        let under_way = self.barrier.round.as_ref().filter(|_| !owes);
        let under_way = under_way.map(|round| (round.step.sequence, round.step.iteration));
        let steps = digests.iter();
        let all = steps.flat_map(|step| step.cells.iter().map(|cell| (step.sequence, *cell)));
        for (sequence, (cell, digest)) in all {
            let of_step_under_way = || {
                let (_, iteration) = under_way.filter(|(last, _)| *last == sequence)?;
                Some((iteration, self.world.latest.cell_digest(cell)?))
            };
            let known = self.recovery.step_log.digest(sequence, cell);
            let Some((iteration, expected)) = known.or_else(of_step_under_way) else {
                continue;
            };
            if expected == digest {
                continue;
            }
            let last = under_way.map_or(self.recovery.step_log.until(), |(last, _)| last);
            let is_last = sequence == last;
            let known = self.owned(cell).iter().map(|id| self.performer(*id).1);
            let acknowledged = StepResult {
                label: "as it was acknowledged".to_owned(),
                digest: Some(expected),
                states: known
                    .filter(|_| is_last)
                    .map(|state| self.world.named(state))
                    .collect(),
            };
            let again = StepResult {
                label: format!("done again by {peer}"),
                digest: Some(digest),
                states: Vec::new(),
            };
            let at_end = StepResult {
                label: format!("done again by {peer}, after step {}", ack.sequence),
                digest: None,
                states: self.states_in(cell, ack),
            };
            return Some(DivergenceReport {
                iteration,
                sequence,
                peer: peer.clone(),
                cell: self.world.topology.cell(cell).name.clone(),
                performer: None,
                field: None,
                difference: format!("{expected} was acknowledged, {digest} came of it again"),
                found_by: FoundBy::Recovery,
                results: vec![acknowledged, again, at_end],
            });
        }
        None
    }

    /// Returns the states of a cell's performers that an answer holds.
    fn states_in(&self, cell: CellId, ack: &StepAck) -> Vec<NamedState> {
        let Ok(mut states) = ack.states.states() else {
            return Vec::new();
        };
        for one in &ack.cells {
            let own = states.by_ref().take(one.state_count as usize);
            let own: Vec<PerformerState> = own.collect();
            if one.cell == cell
                && let Ok(states) = self.with_known(cell, &own)
            {
                return states.map(|state| self.world.named(state)).collect();
            }
        }
        Vec::new()
    }
}
