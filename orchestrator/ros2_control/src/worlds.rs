//! Worlds and places: a run has the worlds that it was started with, and names no poses.

use ros2::types::simulation_interfaces::{
    GetAvailableWorldsRequest, GetAvailableWorldsResponse, GetCurrentWorldRequest,
    GetCurrentWorldResponse, GetNamedPoseBoundsRequest, GetNamedPoseBoundsResponse,
    GetNamedPosesRequest, GetNamedPosesResponse, GetSpawnablesRequest, GetSpawnablesResponse,
    LoadWorldRequest, LoadWorldResponse, UnloadWorldRequest, UnloadWorldResponse, WorldResource,
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
    match control.snapshot().await {
        Ok(snapshot) => GetCurrentWorldResponse {
            result: ok(),
            world: WorldResource {
                name: snapshot.stats.world,
                ..Default::default()
            },
        },
        Err(failure) => GetCurrentWorldResponse {
            result: Refusal::from(failure).result(),
            ..Default::default()
        },
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

/// Refuses.
pub(crate) async fn get_available_worlds<O: Outside>(
    _: &Control<O>,
    _: GetAvailableWorldsRequest,
) -> GetAvailableWorldsResponse {
    GetAvailableWorldsResponse {
        result: Refusal::unsupported(FIXED).result(),
        ..Default::default()
    }
}

/// Refuses.
pub(crate) async fn get_spawnables<O: Outside>(
    _: &Control<O>,
    _: GetSpawnablesRequest,
) -> GetSpawnablesResponse {
    let reason = "models are not listed: give the text of one, or the path of its file";
    GetSpawnablesResponse {
        result: Refusal::unsupported(reason).result(),
        ..Default::default()
    }
}

/// Refuses.
pub(crate) async fn get_named_poses<O: Outside>(
    _: &Control<O>,
    _: GetNamedPosesRequest,
) -> GetNamedPosesResponse {
    GetNamedPosesResponse {
        result: Refusal::unsupported("poses have no names").result(),
        ..Default::default()
    }
}

/// Refuses.
pub(crate) async fn get_named_pose_bounds<O: Outside>(
    _: &Control<O>,
    _: GetNamedPoseBoundsRequest,
) -> GetNamedPoseBoundsResponse {
    GetNamedPoseBoundsResponse {
        result: Refusal::unsupported("poses have no names").result(),
        ..Default::default()
    }
}
