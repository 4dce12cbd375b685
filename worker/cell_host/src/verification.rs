//! Every step twice: once in the cell, once in a copy restored from its snapshot, to see that both
//! give the same bits.
//!
//! It finds what lockstep must not have: state that no snapshot holds, and numbers that depend on
//! more than the calls made.

use std::fmt;

use lockstep::Topology;
use physics::ModelRef;
use protocol::Chain;
use protocol::primary_to_secondary::Step;
use protocol::report::divergence::{BodyState, DivergenceReport, FoundBy, NamedState, StepResult};
use protocol::{Digest, Iteration, PeerName, PerformerId, PerformerState, Sequence};

use super::cell_work::CellWork;
use super::hosted_cell::{CellAnswer, HostedCell};
use super::scene::Scene;
use super::step_error::StepError;

/// A step that gave two results.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("iteration {iteration} of cell {cell}, done again from a snapshot, differs: {difference}")]
pub struct Divergence {
    /// The name of the cell.
    pub cell: String,
    /// The iteration that was done twice.
    pub iteration: Iteration,
    /// The first difference.
    pub difference: Difference,
    /// Results of the step in the cell, and in the copy if that could do it.
    pub results: Vec<StepResult>,
}

/// Difference between two results of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The copy cannot do the step, and why.
    Failed(String),
    /// It owns other performers.
    Performers,
    /// A performer's states differ.
    State {
        /// The performer's name.
        performer: String,
        /// The first field that differs.
        field: Field,
        /// The field in the cell, then in the copy.
        values: [String; 2],
    },
    /// All states agree, and what else is in the cells does not.
    Hidden,
}

/// A part of a performer's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Of the model's origin.
    Position,
    /// Of the model.
    Orientation,
    /// Of the canonical link.
    LinearVelocity,
    /// Of the canonical link.
    AngularVelocity,
    /// The box that it may reach next.
    Reach,
    /// The links beside the canonical one, or whether they sleep.
    Links,
}

/// Does a step in a cell, and again in a copy of it to which something may be done in between.
pub(super) fn run_twice(
    cell: &mut HostedCell,
    work: &CellWork<'_>,
    step: &Step,
    scene: &Scene,
    disturb: impl FnOnce(&mut HostedCell),
) -> Result<CellAnswer, StepError> {
    let before = cell.snapshot();
    let answer = cell.run(work, step, scene)?;
    let mut again = None;
    let difference = match HostedCell::restore(cell.id(), &before, scene) {
        Ok(mut copy) => {
            disturb(&mut copy);
            match copy.run(work, step, scene) {
                Ok(answer) => {
                    let difference = compare(cell, &mut copy, &scene.plan);
                    again = Some((copy, answer));
                    difference
                }
                Err(error) => Some(Difference::Failed(Chain(&error).to_string())),
            }
        }
        Err(error) => Some(Difference::Failed(Chain(&error).to_string())),
    };
    let Some(difference) = difference else {
        return Ok(answer);
    };
    let mut results = vec![result("in the cell", cell, &answer, &scene.plan)];
    if let Some((copy, answer)) = &again {
        results.push(result("in the copy", copy, answer, &scene.plan));
    }
    Err(StepError::Diverged(Box::new(Divergence {
        cell: scene.plan.cell(cell.id()).name.clone(),
        iteration: step.iteration,
        difference,
        results,
    })))
}

impl Divergence {
    /// Makes the report of it that the primary gets.
    pub fn report(self, peer: PeerName, sequence: Sequence) -> DivergenceReport {
        let (performer, field) = match &self.difference {
            Difference::State {
                performer, field, ..
            } => (Some(performer.clone()), Some(field.to_string())),
            Difference::Failed(_) | Difference::Performers | Difference::Hidden => (None, None),
        };
        let mut report = DivergenceReport {
            iteration: self.iteration,
            sequence,
            peer,
            cell: self.cell,
            performer,
            field,
            difference: self.difference.to_string(),
            found_by: FoundBy::Verification,
            results: self.results,
        };
        report.bound();
        report
    }
}

/// Returns what came of a step in a cell, with all bodies.
fn result(label: &str, cell: &HostedCell, answer: &CellAnswer, plan: &Topology) -> StepResult {
    let states = cell.performer_states.states().iter().map(|state| {
        let performer = state.performer;
        let mut named = NamedState::new(name_of(performer, plan), state);
        let model = ModelRef::moving(performer, cell.physics.model_of(performer));
        let links = cell.physics.world().models[model.index].links.iter();
        named.bodies = links
            .enumerate()
            .map(|(index, link)| BodyState {
                link: link.name.clone(),
                pose: packed(&cell.physics.link_pose(model, index)),
                velocity: cell.physics.link_velocity(model, index),
            })
            .collect();
        named
    });
    StepResult {
        label: label.to_owned(),
        digest: Some(answer.ack.digest),
        states: states.collect(),
    }
}

fn packed(pose: &sdf::Pose) -> [f64; 7] {
    let mut packed = [0.0; 7];
    packed[..3].copy_from_slice(&pose.position);
    packed[3..].copy_from_slice(&pose.orientation_xyzw);
    packed
}

/// Returns a performer's name; the plan does not have those yet that the step has brought.
fn name_of(performer: PerformerId, plan: &Topology) -> String {
    let known = plan.performers.get(performer.0 as usize);
    known.map_or_else(
        || format!("performer {performer}"),
        |known| known.name.clone(),
    )
}

fn compare(cell: &mut HostedCell, copy: &mut HostedCell, plan: &Topology) -> Option<Difference> {
    first_difference(
        cell.performer_states.states(),
        copy.performer_states.states(),
        plan,
    )
    .or_else(|| {
        let [one, other] = [cell, copy].map(|cell| Digest::of_bytes(&cell.snapshot()));
        (one != other).then_some(Difference::Hidden)
    })
}

fn first_difference(
    states: &[PerformerState],
    again: &[PerformerState],
    plan: &Topology,
) -> Option<Difference> {
    let ids = |states: &[PerformerState]| states.iter().map(|state| state.performer).collect();
    let [one, other]: [Vec<_>; 2] = [ids(states), ids(again)];
    if one != other {
        return Some(Difference::Performers);
    }
    states.iter().zip(again).find_map(|(one, other)| {
        let (field, values) = field_that_differs(one, other)?;
        Some(Difference::State {
            performer: name_of(one.performer, plan),
            field,
            values,
        })
    })
}

fn field_that_differs(
    one: &PerformerState,
    other: &PerformerState,
) -> Option<(Field, [String; 2])> {
    let numbers = |field, one: &[f64], other: &[f64]| {
        let differs = one
            .iter()
            .zip(other)
            .any(|(one, other)| one.to_bits() != other.to_bits());
        differs.then(|| (field, [one, other].map(|numbers| format!("{numbers:?}"))))
    };
    let reach = |state: &PerformerState| state.reach.as_flattened().to_vec();
    let [reach, other_reach] = [one, other].map(reach);
    let reaches = || {
        let bits = |numbers: &[f32]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
        (bits(&reach) != bits(&other_reach)).then(|| {
            let values = [&reach, &other_reach].map(|numbers| format!("{numbers:?}"));
            (Field::Reach, values)
        })
    };
    let links = || {
        let values = [one, other].map(|state| state.digest.to_string());
        (one.digest != other.digest).then_some((Field::Links, values))
    };
    numbers(Field::Position, &one.position, &other.position)
        .or_else(|| {
            let orientations = [&one.orientation_xyzw, &other.orientation_xyzw];
            numbers(Field::Orientation, orientations[0], orientations[1])
        })
        .or_else(|| {
            numbers(
                Field::LinearVelocity,
                &one.linear_velocity,
                &other.linear_velocity,
            )
        })
        .or_else(|| {
            numbers(
                Field::AngularVelocity,
                &one.angular_velocity,
                &other.angular_velocity,
            )
        })
        .or_else(links)
        .or_else(reaches)
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(formatter, "the copy cannot do it: {error}"),
            Self::Performers => formatter.write_str("it owns other performers"),
            Self::State {
                performer,
                field,
                values: [one, other],
            } => write!(
                formatter,
                "{field} of {performer} is {one}, and then {other}"
            ),
            Self::Hidden => {
                formatter.write_str("all states agree, and the rest of the cell does not")
            }
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Position => "the position",
            Self::Orientation => "the orientation",
            Self::LinearVelocity => "the linear velocity",
            Self::AngularVelocity => "the angular velocity",
            Self::Reach => "the reach",
            Self::Links => "the digest of the links",
        })
    }
}

#[cfg(test)]
mod tests {
    use protocol::{NO_REACH, PerformerId};

    use super::*;

    fn check(change: impl Fn(&mut PerformerState), expected: Option<Field>) {
        let one = PerformerState::at_rest(PerformerId(0), [1.0, 2.0, 3.0]);
        let mut other = one;
        change(&mut other);
        let field = field_that_differs(&one, &other).map(|(field, _)| field);
        assert_eq!(field, expected, "{other:?}");
    }

    #[test]
    fn the_first_field_of_which_a_bit_differs_is_named() {
        check(|_| {}, None);
        check(
            |state| state.position[2] = 3.0_f64.next_up(),
            Some(Field::Position),
        );
        check(
            |state| state.orientation_xyzw[0] = -0.0,
            Some(Field::Orientation),
        );
        check(
            |state| state.linear_velocity[1] = -0.0,
            Some(Field::LinearVelocity),
        );
        check(
            |state| state.angular_velocity[1] = f64::MIN_POSITIVE,
            Some(Field::AngularVelocity),
        );
        check(|state| state.digest = Digest(1), Some(Field::Links));
        check(
            |state| state.reach[0][1] = NO_REACH[0][1].next_down(),
            Some(Field::Reach),
        );
        check(
            |state| {
                state.digest = Digest(1);
                state.position[0] = f64::NAN;
            },
            Some(Field::Position),
        );
    }

    #[test]
    fn numbers_that_are_no_numbers_agree_with_themselves() {
        let mut state = PerformerState::at_rest(PerformerId(0), [f64::NAN; 3]);
        state.linear_velocity = [f64::INFINITY; 3];
        assert!(field_that_differs(&state, &state).is_none());
    }
}
