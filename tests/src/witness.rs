//! Sees every step that a primary publishes and every one that is done: asks the checkers, records
//! the states, and compares them with an earlier run.

use std::sync::Arc;

use cell_host::CellHost;
use lockstep::{Primary, SightRule, StepReport};
use protocol::primary_to_secondary::Step;
use protocol::{CellId, Digest, Iteration, PeerName, PerformerId, PerformerState};

use crate::checkers::{Effects, Ownership, exactness, sight};

/// Results of a run: digests and states after every iteration, and the cell of every performer.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    digests: Vec<Digest>,
    states: Vec<PerformerState>,
    cells: Vec<CellId>,
    suspended: Vec<bool>,
}

impl Recording {
    /// Returns the digests, from iteration 0 on.
    pub fn digests(&self) -> &[Digest] {
        &self.digests
    }

    /// Returns the states after an iteration, by performer.
    pub fn states(&self, iteration: u64) -> &[PerformerState] {
        &self.states[self.range(iteration)]
    }

    /// Returns the cells that performers were in during an iteration, by performer.
    pub fn cells(&self, iteration: u64) -> &[CellId] {
        &self.cells[self.range(iteration)]
    }

    /// Tells of each performer whether its cell was suspended during an iteration.
    pub fn suspended(&self, iteration: u64) -> &[bool] {
        &self.suspended[self.range(iteration)]
    }

    fn range(&self, iteration: u64) -> std::ops::Range<usize> {
        let count = self.states.len() / self.digests.len().max(1);
        let begin = iteration as usize * count;
        begin..begin + count
    }
}

/// Watches one run.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of the step under way, apart from the others"
)]
pub struct Witness {
    /// Cells and hosts by the steps published so far.
    pub ownership: Ownership,
    /// Effects of commands.
    pub effects: Effects,
    /// Results of the run so far.
    pub recording: Recording,
    /// States after the last step that was done, by the performers' numbers.
    states: Vec<PerformerState>,
    reference: Option<Arc<Recording>>,
    /// True if the step under way places ghosts, or something has looked at them in it.
    pub checks_ghosts: bool,
    /// True if it only checks, and neither records nor compares.
    pub only_checks: bool,
    /// True if the step under way sets models back to the start.
    is_reset: bool,
    /// True if time is paused in it.
    is_paused: bool,
    /// Text that names a run that differs.
    label: String,
}

impl Witness {
    /// Watches a run that must compute what an earlier one did; `label` says which run this is.
    pub fn comparing(reference: Arc<Recording>, label: String) -> Self {
        Self {
            reference: Some(reference),
            label,
            ..Self::default()
        }
    }

    /// Takes a step as it is published.
    ///
    /// # Panics
    /// Panics if it breaks an invariant.
    pub fn on_published(&mut self, primary: &Primary, step: &Step) {
        self.is_reset = step.reset;
        self.is_paused = step.paused;
        self.ownership.on_step(primary.topology(), step);
        self.ownership.check_primary(primary);
        self.effects.on_step(primary, step);
        if !step.paused {
            primary.partition().check(primary.topology());
            // A step that was done ahead is complete as soon as it is published.
            let is_complete = primary.iteration() >= step.iteration;
            if !is_complete {
                self.note_states(primary);
            }
            exactness::check(primary, &self.states);
            sight::check(primary, step, &self.states);
        }
    }

    fn note_states(&mut self, primary: &Primary) {
        // The plan may know already who comes with the next step, and forget who goes.
        let known = self.ownership.cells_of_performers().len();
        let count = known.min(primary.topology().performers.len());
        let ids = (0..count as u32).map(PerformerId);
        self.states.clear();
        self.states.extend(ids.map(|id| *primary.performer(id).1));
    }

    /// Takes a step that all secondaries have done, with the cells that they have now.
    ///
    /// # Panics
    /// Panics if cells do not hold what they must, or the run differs from the earlier one.
    pub fn on_done<'h>(
        &mut self,
        primary: &Primary,
        report: &StepReport,
        hosts: impl Iterator<Item = (&'h PeerName, &'h CellHost)>,
    ) {
        for (name, host) in hosts {
            self.ownership.check_host(name, host);
            let is_by_range = primary.settings().cells.rules.sight == SightRule::Range;
            if is_by_range && self.checks_ghosts && !self.is_paused && !self.is_reset {
                sight::check_places(primary, (name, host), &self.states);
            }
        }
        self.note_states(primary);
        self.effects.on_done(primary, report);
        if self.only_checks {
            return;
        }
        let next = self.recording.digests.len() as u64;
        if report.iteration.0 < next && self.is_reset {
            self.recording.digests[report.iteration.0 as usize] = report.digest;
            return;
        }
        if report.iteration.0 < next {
            let digest = self.recording.digests[report.iteration.0 as usize];
            assert_eq!(digest, report.digest, "{}: time stood still", self.label);
            return;
        }
        assert_eq!(
            Iteration(next),
            report.iteration,
            "iterations come in order"
        );
        self.recording.digests.push(report.digest);
        let cells = self.ownership.cells_of_performers();
        if let Some(reference) = &self.reference {
            let found = difference(reference, primary, report, &self.states, cells);
            let found = found.unwrap_or_default();
            assert!(found.is_empty(), "{}: {found}", self.label);
        } else {
            self.recording.states.extend(&self.states);
            self.recording.cells.extend(cells);
            let suspended = cells.iter().map(|cell| self.ownership.is_suspended(*cell));
            self.recording.suspended.extend(suspended);
        }
    }
}

/// Returns the first performer and field that differ.
fn difference(
    reference: &Recording,
    primary: &Primary,
    report: &StepReport,
    states: &[PerformerState],
    cells: &[CellId],
) -> Option<String> {
    let iteration = report.iteration;
    let expected_cells = reference.cells(iteration.0);
    if reference.digests[iteration.0 as usize] == report.digest && expected_cells == cells {
        return None;
    }
    let name = |id: usize| &primary.topology().performers[id].name;
    for (id, (expected, state)) in reference.states(iteration.0).iter().zip(states).enumerate() {
        let at = format!("iteration {iteration}, performer {}, field", name(id));
        if expected_cells[id] != cells[id] {
            let (expected, found) = (expected_cells[id], cells[id]);
            return Some(format!("{at} cell: expected {expected}, found {found}"));
        }
        let fields: [(&str, &[f64], &[f64]); 4] = [
            ("position", &expected.position, &state.position),
            (
                "orientation",
                &expected.orientation_xyzw,
                &state.orientation_xyzw,
            ),
            (
                "linear velocity",
                &expected.linear_velocity,
                &state.linear_velocity,
            ),
            (
                "angular velocity",
                &expected.angular_velocity,
                &state.angular_velocity,
            ),
        ];
        let bits = |numbers: &[f64]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
        for (field, expected, found) in fields {
            if bits(expected) != bits(found) {
                return Some(format!(
                    "{at} {field}: expected {expected:?}, found {found:?}"
                ));
            }
        }
        if expected.digest != state.digest {
            return Some(format!(
                "{at} links: their digests differ, what is packed does not"
            ));
        }
    }
    Some(format!(
        "iteration {iteration}: the digests differ and no performer does"
    ))
}
