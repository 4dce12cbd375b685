//! State of the simulation: told and set, iterations of a paused one, and resets.

use std::collections::BTreeSet;

use protocol::client_to_primary::ResetKind;
use protocol::report::{RunState, Stats};
use protocol::{Command, FailureCode};
use ros2::types::simulation_interfaces::{
    GetSimulationStateRequest, GetSimulationStateResponse, ResetSimulationRequest,
    ResetSimulationResponse, SetSimulationStateRequest, SetSimulationStateResponse,
    SimulationState, StepSimulationRequest, StepSimulationResponse,
};

use crate::control::{Control, Outside};
use crate::entities::{delete, names};
use crate::outcome::{Failure, Refusal, ok, result_of};

/// Bits of all parts that can be reset.
const PARTS: u8 = ResetSimulationRequest::SCOPE_TIME
    | ResetSimulationRequest::SCOPE_STATE
    | ResetSimulationRequest::SCOPE_SPAWNED;

/// Tells the state.
pub(crate) async fn get_simulation_state<O: Outside>(
    control: &Control<O>,
    _: GetSimulationStateRequest,
) -> GetSimulationStateResponse {
    match control.snapshot().await {
        Ok(snapshot) => GetSimulationStateResponse {
            result: ok(),
            state: SimulationState {
                state: state_of(&snapshot.stats),
            },
        },
        Err(failure) => GetSimulationStateResponse {
            result: Refusal::from(failure).result(),
            ..Default::default()
        },
    }
}

/// Sets the state.
pub(crate) async fn set_simulation_state<O: Outside>(
    control: &Control<O>,
    request: SetSimulationStateRequest,
) -> SetSimulationStateResponse {
    SetSimulationStateResponse {
        result: result_of(set_state(control, request.state.state).await),
    }
}

/// Advances a paused simulation; answers when the iterations are done.
pub(crate) async fn step_simulation<O: Outside>(
    control: &Control<O>,
    request: StepSimulationRequest,
) -> StepSimulationResponse {
    StepSimulationResponse {
        result: result_of(step(control, request.steps).await),
    }
}

/// Sets parts of the simulation back to the start.
pub(crate) async fn reset_simulation<O: Outside>(
    control: &Control<O>,
    request: ResetSimulationRequest,
) -> ResetSimulationResponse {
    ResetSimulationResponse {
        result: result_of(reset(control, request.scope).await),
    }
}

/// Advances a paused simulation.
pub(crate) async fn step<O: Outside>(control: &Control<O>, count: u64) -> Result<(), Refusal> {
    if count == 0 {
        return Err(Refusal::failed("steps must be 1 or more"));
    }
    let stepped = control.command(Command::Step { count }).await;
    stepped.map(|_| ()).map_err(|failure| match failure.code() {
        // The interface has this code for a simulation that is not paused.
        FailureCode::WrongState => Refusal::failed(failure.to_string()),
        _ => failure.into(),
    })
}

/// Returns the state as the interface has it. A run that stands still at time 0 is a stopped one:
/// so a stop, which is a pause and a reset, ends there.
fn state_of(stats: &Stats) -> u8 {
    match stats.state {
        RunState::Waiting => SimulationState::STATE_LOADING_WORLD,
        RunState::Stopping => SimulationState::STATE_QUITTING,
        RunState::Paused | RunState::Running | RunState::Recovering => {
            match (stats.paused, stats.sim_time_s > 0.0) {
                (false, _) => SimulationState::STATE_PLAYING,
                (true, true) => SimulationState::STATE_PAUSED,
                (true, false) => SimulationState::STATE_STOPPED,
            }
        }
    }
}

async fn set_state<O: Outside>(control: &Control<O>, target: u8) -> Result<(), Refusal> {
    use SetSimulationStateResponse as Response;
    use SimulationState as State;
    let current = state_of(&control.snapshot().await?.stats);
    if target == current {
        let reason = "the simulation is in this state already";
        return Err(Refusal::new(Response::ALREADY_IN_TARGET_STATE, reason));
    }
    let changed = match (current, target) {
        (
            State::STATE_LOADING_WORLD,
            State::STATE_PLAYING..=State::STATE_PAUSED | State::STATE_STOPPED,
        ) => {
            let failure = Failure::Refused {
                code: FailureCode::NotReady,
                reason: "the run has not begun: secondaries are missing".to_owned(),
            };
            return Err(failure.into());
        }
        (State::STATE_STOPPED, State::STATE_PAUSED) => {
            let reason = "a stopped simulation cannot be paused: play or step it";
            return Err(Refusal::new(Response::INCORRECT_TRANSITION, reason));
        }
        (_, State::STATE_STOPPED) => stop(control).await,
        (_, State::STATE_PLAYING) => control.command(Command::Play).await.map(|_| ()),
        (_, State::STATE_PAUSED) => control.command(Command::Pause).await.map(|_| ()),
        (_, State::STATE_QUITTING) => control.command(Command::Stop).await.map(|_| ()),
        (_, other) => {
            let reason = format!("state {other} cannot be set: set 0, 1, 2 or 3");
            return Err(Refusal::new(Response::INCORRECT_TRANSITION, reason));
        }
    };
    changed.map_err(|failure| Refusal::new(Response::STATE_TRANSITION_ERROR, failure.to_string()))
}

async fn stop<O: Outside>(control: &Control<O>) -> Result<(), Failure> {
    control.command(Command::Pause).await?;
    reset_to(control, ResetKind::All).await
}

async fn reset<O: Outside>(control: &Control<O>, scope: u8) -> Result<(), Refusal> {
    use ResetSimulationRequest as Scope;
    if matches!(scope, Scope::SCOPE_DEFAULT | Scope::SCOPE_ALL) || scope & PARTS == PARTS {
        return Ok(reset_to(control, ResetKind::All).await?);
    }
    if scope & !PARTS != 0 {
        let reason = format!("scope {scope} has parts that are not known: use 1, 2 and 4, or 255");
        return Err(Refusal::unsupported(reason));
    }
    if scope & Scope::SCOPE_SPAWNED != 0 {
        // The run knows them, whoever brought them, and whichever process was asked to.
        let scene = control.scene().await?;
        let models = scene.worlds.iter().flat_map(|world| &world.models);
        let spawned = models.filter(|model| model.spawned);
        for entity in spawned.map(|model| model.name.clone()) {
            match delete(control, entity.clone()).await {
                // Somebody else removed it.
                Err(refusal) if refusal.code == Refusal::not_found("").code => {
                    control.forget(&entity);
                }
                outcome => outcome?,
            }
        }
    }
    if scope & Scope::SCOPE_STATE != 0 {
        reset_to(control, ResetKind::Models).await?;
    }
    if scope & Scope::SCOPE_TIME != 0 {
        reset_to(control, ResetKind::Time).await?;
    }
    Ok(())
}

/// Resets, and forgets entities that are gone with that.
async fn reset_to<O: Outside>(control: &Control<O>, what: ResetKind) -> Result<(), Failure> {
    control.command(Command::Reset { what }).await?;
    if what == ResetKind::Time {
        return Ok(());
    }
    let snapshot = control.snapshot().await?;
    let scene = control.scene().await?;
    let there: BTreeSet<&str> = names(&snapshot, &scene).collect();
    let mut infos = control.infos.borrow_mut();
    infos.retain(|name, _| there.contains(name.as_str()));
    Ok(())
}
