//! Worlds: a run has those that it was started with, and no others come.
//!
//! Journals, recordings and digests of a run are those of its worlds, so that another world is
//! another run.

use ros2::types::simulation_interfaces::{
    CallResult, GetAvailableWorldsRequest, GetAvailableWorldsResponse, GetCurrentWorldRequest,
    GetCurrentWorldResponse, LoadWorldRequest, LoadWorldResponse, UnloadWorldRequest,
    UnloadWorldResponse, WorldResource,
};

use crate::control::{Control, Outside};
use crate::outcome::{Refusal, ok};

/// Reason why no other world can be had.
const FIXED: &str = "a run keeps the worlds that it was started with: start another run";

/// Tells which world is simulated; several are joined with `+`.
pub(crate) async fn get_current_world<O: Outside>(
    control: &Control<O>,
    _: GetCurrentWorldRequest,
) -> GetCurrentWorldResponse {
    match current_world(control).await {
        Ok(world) => GetCurrentWorldResponse {
            result: ok(),
            world,
        },
        Err(refusal) => GetCurrentWorldResponse {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

/// Lists the worlds that there are: the one of the run, which has no tags.
pub(crate) async fn get_available_worlds<O: Outside>(
    control: &Control<O>,
    request: GetAvailableWorldsRequest,
) -> GetAvailableWorldsResponse {
    let answer = |result: CallResult, worlds| GetAvailableWorldsResponse { result, worlds };
    if !request.additional_sources.is_empty() && !request.continue_on_error {
        return answer(Refusal::failed(FIXED).result(), Vec::new());
    }
    match current_world(control).await {
        Ok(_) if !request.filter.tags.is_empty() => answer(ok(), Vec::new()),
        Ok(world) => answer(ok(), vec![world]),
        Err(refusal) => answer(refusal.result(), Vec::new()),
    }
}

/// Refuses.
pub(crate) async fn load_world<O: Outside>(
    _: &Control<O>,
    _: LoadWorldRequest,
) -> LoadWorldResponse {
    LoadWorldResponse {
        result: Refusal::unsupported(FIXED).result(),
        ..Default::default()
    }
}

/// Refuses.
pub(crate) async fn unload_world<O: Outside>(
    _: &Control<O>,
    _: UnloadWorldRequest,
) -> UnloadWorldResponse {
    UnloadWorldResponse {
        result: Refusal::unsupported(FIXED).result(),
    }
}

async fn current_world<O: Outside>(control: &Control<O>) -> Result<WorldResource, Refusal> {
    let snapshot = control.snapshot().await?;
    Ok(WorldResource {
        name: snapshot.stats.world,
        ..Default::default()
    })
}
