//! Models that can be spawned: those of the folders in which models are looked for.

use ros2::types::simulation_interfaces::{
    Bounds, GetSpawnablesRequest, GetSpawnablesResponse, Resource, Spawnable,
};

use crate::bounds::box_around;
use crate::control::{Control, Extent, Outside, SpawnableModel};
use crate::outcome::{Refusal, ok};

/// Lists models that can be spawned, and what they reach around their origins.
pub(crate) async fn get_spawnables<O: Outside>(
    control: &Control<O>,
    request: GetSpawnablesRequest,
) -> GetSpawnablesResponse {
    match control.outside.spawnables(request.sources).await {
        Ok(models) => GetSpawnablesResponse {
            result: ok(),
            spawnables: models.into_iter().map(spawnable).collect(),
        },
        Err(reason) => GetSpawnablesResponse {
            result: Refusal::failed(reason.to_string()).result(),
            ..Default::default()
        },
    }
}

fn spawnable(model: SpawnableModel) -> Spawnable {
    Spawnable {
        entity_resource: Resource {
            uri: model.uri,
            resource_string: String::new(),
        },
        description: model.description,
        spawn_bounds: match model.extent {
            Extent::Endless => Bounds::default(),
            Extent::Nothing => box_around(std::iter::empty()),
            Extent::Box(corners) => box_around(std::iter::once(corners)),
        },
    }
}
