//! Divergences: two computations of the same step that gave different bits, and where they differ.

use protocol::report::divergence::{DivergenceReport, FoundBy, NamedState, StepResult};
use protocol::secondary_to_primary::{CellDigests, StepAck};
use protocol::{CellId, Digest, DigestBuilder, Iteration, PeerName, PerformerState, Sequence};

use crate::primary::barrier::Barrier;
use crate::primary::barrier::state_reader::with_known;
use crate::primary::placement::host_map::HostMap;
use crate::primary::world::WorldState;

/// Steps that a secondary replayed.
#[derive(Debug)]
pub(crate) struct Replayed<'a> {
    pub(crate) peer: &'a PeerName,
    /// Digests of cells after each of the steps.
    pub(crate) digests: &'a [CellDigests],
    /// Answer to the last one.
    pub(crate) ack: &'a StepAck,
    /// True if the step under way was not acknowledged before.
    pub(crate) owes: bool,
    /// The last step that all have acknowledged.
    pub(crate) until: Sequence,
}

/// Reports the first cell in an answer of which the digest does not fit the states.
pub(super) fn in_ack(
    sender: &PeerName,
    ack: &StepAck,
    world: &WorldState,
    host_map: &HostMap,
) -> Option<DivergenceReport> {
    let states: Vec<PerformerState> = ack.states.states().ok()?.collect();
    let mut rest = states.as_slice();
    for cell in &ack.cells {
        let (own, others) = rest.split_at_checked(cell.state_count as usize)?;
        rest = others;
        let own: Vec<PerformerState> = with_known(cell.cell, own, world, host_map)
            .ok()?
            .copied()
            .collect();
        let mut builder = DigestBuilder::default();
        for state in &own {
            builder.digest(state.digest);
        }
        let digest = builder.finish();
        if digest == cell.digest {
            continue;
        }
        let cells = &world.topology().cells;
        let name = cells.get(cell.cell.0 as usize)?.name.clone();
        let result = |label: &str, digest, states: &[PerformerState]| StepResult {
            label: label.to_owned(),
            digest: Some(digest),
            states: states.iter().map(|state| world.named(state)).collect(),
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

impl Barrier {
    /// Reports the first difference between steps that were replayed and what was acknowledged,
    /// which `logged` tells of the steps before the one under way.
    pub(crate) fn divergence_in(
        &self,
        replayed: &Replayed<'_>,
        logged: impl Fn(Sequence, CellId) -> Option<(Iteration, Digest)>,
        (world, host_map): (&WorldState, &HostMap),
    ) -> Option<DivergenceReport> {
        let under_way = self.step().filter(|_| !replayed.owes);
        let steps = replayed.digests.iter();
        let all = steps.flat_map(|step| step.cells.iter().map(|cell| (step.sequence, *cell)));
        for (sequence, (cell, digest)) in all {
            let of_step_under_way = || {
                let step = under_way.filter(|step| step.sequence == sequence)?;
                Some((step.iteration, world.cell_digest(cell)?))
            };
            let known = logged(sequence, cell).or_else(of_step_under_way);
            let Some((iteration, expected)) = known else {
                continue;
            };
            if expected == digest {
                continue;
            }
            let last = under_way.map_or(replayed.until, |step| step.sequence);
            let is_last = sequence == last;
            let known = host_map.owned(cell).iter().filter(|_| is_last);
            let (peer, ack) = (replayed.peer, replayed.ack);
            let acknowledged = StepResult {
                label: "as it was acknowledged".to_owned(),
                digest: Some(expected),
                states: known.map(|id| world.named(world.state(*id))).collect(),
            };
            let again = StepResult {
                label: format!("done again by {peer}"),
                digest: Some(digest),
                states: Vec::new(),
            };
            let at_end = StepResult {
                label: format!("done again by {peer}, after step {}", ack.sequence),
                digest: None,
                states: states_in(cell, ack, world, host_map),
            };
            return Some(DivergenceReport {
                iteration,
                sequence,
                peer: peer.clone(),
                cell: world.cell_name(cell).to_owned(),
                performer: None,
                field: None,
                difference: format!("{expected} was acknowledged, {digest} came of it again"),
                found_by: FoundBy::Recovery,
                results: vec![acknowledged, again, at_end],
            });
        }
        None
    }
}

/// Returns the states of a cell's performers that an answer holds.
fn states_in(
    cell: CellId,
    ack: &StepAck,
    world: &WorldState,
    host_map: &HostMap,
) -> Vec<NamedState> {
    let Ok(mut states) = ack.states.states() else {
        return Vec::new();
    };
    for one in &ack.cells {
        let own = states.by_ref().take(one.state_count as usize);
        let own: Vec<PerformerState> = own.collect();
        if one.cell == cell
            && let Ok(states) = with_known(cell, &own, world, host_map)
        {
            return states.map(|state| world.named(state)).collect();
        }
    }
    Vec::new()
}
