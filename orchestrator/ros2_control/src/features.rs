//! Features of a run of Phalanx: all that the services here do, and nothing else.

use ros2::types::simulation_interfaces::{
    GetSimulatorFeaturesRequest, GetSimulatorFeaturesResponse, SimulatorFeatures as Known,
};

use crate::control::{Control, Outside};

/// Features that there are.
const FEATURES: &[u8] = &[
    Known::SPAWNING,
    Known::DELETING,
    Known::NAMED_POSES,
    Known::POSE_BOUNDS,
    Known::ENTITY_TAGS,
    Known::ENTITY_BOUNDS,
    Known::ENTITY_BOUNDS_BOX,
    Known::ENTITY_BOUNDS_CONVEX,
    Known::ENTITY_CATEGORIES,
    Known::SPAWNING_RESOURCE_STRING,
    Known::ENTITY_STATE_GETTING,
    Known::ENTITY_STATE_SETTING,
    Known::ENTITY_INFO_GETTING,
    Known::ENTITY_INFO_SETTING,
    Known::SPAWNABLES,
    Known::SIMULATION_RESET,
    Known::SIMULATION_RESET_TIME,
    Known::SIMULATION_RESET_STATE,
    Known::SIMULATION_RESET_SPAWNED,
    Known::SIMULATION_STATE_GETTING,
    Known::SIMULATION_STATE_SETTING,
    Known::SIMULATION_STATE_PAUSE,
    Known::STEP_SIMULATION_SINGLE,
    Known::STEP_SIMULATION_MULTIPLE,
    Known::STEP_SIMULATION_ACTION,
    Known::WORLD_INFO_GETTING,
    Known::AVAILABLE_WORLDS,
    Known::SPAWNING_ENTITIES,
];

/// Tells the features.
pub(crate) async fn get_simulator_features<O: Outside>(
    _: &Control<O>,
    _: GetSimulatorFeaturesRequest,
) -> GetSimulatorFeaturesResponse {
    GetSimulatorFeaturesResponse {
        features: Known {
            features: FEATURES.iter().copied().map(u16::from).collect(),
            spawn_formats: vec!["sdf".to_owned(), "urdf".to_owned()],
            custom_info: format!("Phalanx {}", env!("CARGO_PKG_VERSION")),
        },
    }
}
