//! [`DivergenceReport`]: two computations of the same step that gave different bits, with all that
//! it takes to find out why.
//!
//! It travels from who found it to the primary as any message; the primary's driver writes it.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{Iteration, PeerName, PerformerId, Sequence};
use crate::state::PerformerState;

/// The most performers whose states a report holds; of more, those that differ come first.
pub const STATES_MAX: usize = 4096;

/// Two results of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DivergenceReport {
    /// The iteration that the step was for.
    pub iteration: Iteration,
    /// The step.
    pub sequence: Sequence,
    /// The secondary that hosts the cell.
    pub peer: PeerName,
    /// The cell's name.
    pub cell: String,
    /// The first performer that differs; `None` when no state of a performer does.
    pub performer: Option<String>,
    /// The first part of its state that differs.
    pub field: Option<String>,
    /// Description of the difference, for people.
    pub difference: String,
    /// Comparison that found it.
    pub found_by: FoundBy,
    /// The results, as far as they are known.
    pub results: Vec<StepResult>,
}

/// Comparison of two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// The cell was restored from its snapshot and did the step again.
    Verification,
    /// An answer's digest does not fit the states in it.
    StepAck,
    /// A cell was restored elsewhere and did again what had been acknowledged.
    Recovery,
    /// A run was resumed and did again what had been committed.
    Resume,
}

/// One result of the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// Name of the result, for people.
    pub label: String,
    /// The digest of the cell's performers, if there is one.
    pub digest: Option<Digest>,
    /// The performers' states, by id.
    pub states: Vec<NamedState>,
}

/// A performer's state, with its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedState {
    /// The performer's name.
    pub name: String,
    /// Its id.
    pub performer: PerformerId,
    /// Position of the model's origin, world frame \[m\].
    pub position: [f64; 3],
    /// Its orientation, world frame.
    pub orientation_xyzw: [f64; 4],
    /// Of the canonical link, world frame \[m/s\].
    pub linear_velocity: [f64; 3],
    /// Of the canonical link, world frame \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// The box that it may reach in the next step, world frame \[m\].
    pub reach: [[f32; 3]; 2],
    /// Fingerprint of the states of all its links.
    pub links: Digest,
    /// Its links, where they are known.
    pub bodies: Vec<BodyState>,
}

/// A link of a performer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// The link's name.
    pub link: String,
    /// Position \[m\] and orientation xyzw, world frame.
    pub pose: [f64; 7],
    /// Velocity of its origin \[m/s\] and angular velocity \[rad/s\], world frame.
    pub velocity: [[f64; 3]; 2],
}

impl NamedState {
    /// Makes one of a state.
    pub fn new(name: String, state: &PerformerState) -> Self {
        Self {
            name,
            performer: state.performer,
            position: state.position,
            orientation_xyzw: state.orientation_xyzw,
            linear_velocity: state.linear_velocity,
            angular_velocity: state.angular_velocity,
            reach: state.reach,
            links: state.digest,
            bodies: Vec::new(),
        }
    }

    /// Tells whether all bits agree.
    fn agrees(&self, other: &Self) -> bool {
        let wide = |state: &Self| {
            let parts = [&state.position[..], &state.orientation_xyzw];
            let rest = [&state.linear_velocity[..], &state.angular_velocity];
            let numbers = parts.into_iter().chain(rest).flatten();
            numbers.map(|number| number.to_bits()).collect::<Vec<_>>()
        };
        let narrow = |state: &Self| {
            let numbers = state.reach.as_flattened().iter();
            numbers.map(|number| number.to_bits()).collect::<Vec<_>>()
        };
        (self.performer, self.links) == (other.performer, other.links)
            && wide(self) == wide(other)
            && narrow(self) == narrow(other)
    }
}

impl DivergenceReport {
    /// Says in one sentence what diverged where.
    pub fn sentence(&self) -> String {
        format!(
            "iteration {} of cell {} on {} gave different bits ({}): {}",
            self.iteration,
            self.cell,
            self.peer,
            self.found_by.text(),
            self.difference
        )
    }

    /// Leaves out states beyond [`STATES_MAX`], those last that agree in all results.
    pub fn bound(&mut self) {
        let differs: Vec<PerformerId> = match self.results.as_slice() {
            [one, other, ..] => {
                let pairs = one.states.iter().zip(&other.states);
                let differing = pairs.filter(|(one, other)| !one.agrees(other));
                differing.map(|(one, _)| one.performer).collect()
            }
            _ => Vec::new(),
        };
        for result in &mut self.results {
            if result.states.len() > STATES_MAX {
                let states = &mut result.states;
                states.sort_by_key(|state| differs.binary_search(&state.performer).is_err());
                states.truncate(STATES_MAX);
            }
        }
    }
}

impl FoundBy {
    /// Says it, for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Verification => "done again from a snapshot",
            Self::StepAck => "the digest of an answer against its states",
            Self::Recovery => "done again after a secondary was lost",
            Self::Resume => "done again after the run was resumed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(id: u32, x: f64) -> NamedState {
        let state = PerformerState::at_rest(PerformerId(id), [x, 0.0, -0.0]);
        NamedState::new(format!("main::box_{id}"), &state)
    }

    fn report(count: u32, odd: u32) -> DivergenceReport {
        let result = |label: &str, of_odd: f64| StepResult {
            label: label.to_owned(),
            digest: Some(Digest(1)),
            states: (0..count)
                .map(|id| state(id, if id == odd { of_odd } else { 1.0 }))
                .collect(),
        };
        DivergenceReport {
            iteration: Iteration(7),
            sequence: Sequence(9),
            peer: "s1".parse().unwrap(),
            cell: "main::L0".to_owned(),
            performer: Some(format!("main::box_{odd}")),
            field: Some("the position".to_owned()),
            difference: format!("the position of main::box_{odd} is 0.1, and then 0.2"),
            found_by: FoundBy::Verification,
            results: vec![result("in the cell", 0.1), result("in the copy", 0.2)],
        }
    }

    #[test]
    fn the_sentence_names_iteration_cell_peer_performer_and_field() {
        let sentence = report(1, 0).sentence();
        for part in [
            "iteration 7",
            "main::L0",
            "s1",
            "the position",
            "main::box_0",
        ] {
            assert!(sentence.contains(part), "{sentence}");
        }
    }

    #[test]
    fn of_too_many_states_those_stay_that_differ() {
        let mut long = report(STATES_MAX as u32 + 5, STATES_MAX as u32 + 2);
        long.bound();
        for result in &long.results {
            assert_eq!(result.states.len(), STATES_MAX);
            assert_eq!(result.states[0].performer.0, STATES_MAX as u32 + 2);
        }
        let mut short = report(3, 2);
        short.bound();
        assert_eq!(short, report(3, 2));
    }
}
