//! The services: names, types, and the functions that answer. All of them are listed once.

use std::future::Future;

use ros2::RosMessage;
use ros2::cdr::{CdrError, from_cdr, to_cdr};

use crate::control::{Control, Outside};
use crate::unread::Unread;
use crate::{
    barrier, bounds, entities, entity_state, features, goals, info, named_poses, simulation,
    spawnables, spawning, ue, worlds,
};

/// A service by its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceName {
    /// Name in its namespace.
    pub name: &'static str,
    /// Its type, which tells services apart.
    pub type_name: &'static str,
}

/// Reason why a request is not answered by its service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The bytes are no request of this type.
    #[error(
        "a request of {type_name} cannot be read: {source}; clients need the definitions of \
         simulation_interfaces 2.1, and those of docs/ros2_control.md"
    )]
    Request {
        /// Type of the service.
        type_name: String,
        /// The cause.
        source: CdrError,
        /// The response that says so, in CDR with its header.
        response: Vec<u8>,
    },
    /// There is no such service.
    #[error("there is no service of type {type_name}")]
    Unknown {
        /// The type.
        type_name: String,
    },
}

macro_rules! services {
    ($($(#[$doc:meta])* $table:ident {
        $($name:literal $type_name:literal => $handler:path,)*
    })*) => {
        $(
            $(#[$doc])*
            pub const $table: &[ServiceName] = &[
                $(ServiceName { name: $name, type_name: $type_name },)*
            ];
        )*

        /// Answers a request of a service, both in CDR with its header, when it is done.
        ///
        /// # Errors
        /// Fails if the request cannot be read; then nothing is done, and the error has the
        /// response that tells.
        pub async fn answer<O: Outside>(
            control: &Control<O>,
            type_name: &str,
            request: &[u8],
        ) -> Result<Vec<u8>, AnswerError> {
            match type_name {
                $($($type_name => {
                    let handle = |request| $handler(control, request);
                    answer_by(handle, type_name, request).await
                })*)*
                _ => Err(AnswerError::Unknown { type_name: type_name.to_owned() }),
            }
        }
    };
}

/// Answers a request of a service by the function that does what it asks.
async fn answer_by<Q, R, F>(
    handle: impl FnOnce(Q) -> F,
    type_name: &str,
    request: &[u8],
) -> Result<Vec<u8>, AnswerError>
where
    Q: RosMessage,
    R: Unread,
    F: Future<Output = R>,
{
    match from_cdr(request) {
        Ok(request) => Ok(to_cdr(&handle(request).await)),
        Err(source) => {
            let reason = format!("the request cannot be read: {source}");
            Err(AnswerError::Request {
                type_name: type_name.to_owned(),
                source,
                response: to_cdr(&R::unread(&reason)),
            })
        }
    }
}

services! {
    /// Services of `simulation_interfaces`.
    SERVICES {
        "delete_entity" "simulation_interfaces/srv/DeleteEntity" => entities::delete_entity,
        "get_available_worlds" "simulation_interfaces/srv/GetAvailableWorlds"
            => worlds::get_available_worlds,
        "get_current_world" "simulation_interfaces/srv/GetCurrentWorld"
            => worlds::get_current_world,
        "get_entities" "simulation_interfaces/srv/GetEntities" => entities::get_entities,
        "get_entities_states" "simulation_interfaces/srv/GetEntitiesStates"
            => entities::get_entities_states,
        "get_entity_bounds" "simulation_interfaces/srv/GetEntityBounds"
            => bounds::get_entity_bounds,
        "get_entity_info" "simulation_interfaces/srv/GetEntityInfo" => info::get_entity_info,
        "get_entity_state" "simulation_interfaces/srv/GetEntityState"
            => entity_state::get_entity_state,
        "get_named_pose_bounds" "simulation_interfaces/srv/GetNamedPoseBounds"
            => named_poses::get_named_pose_bounds,
        "get_named_poses" "simulation_interfaces/srv/GetNamedPoses"
            => named_poses::get_named_poses,
        "get_simulation_state" "simulation_interfaces/srv/GetSimulationState"
            => simulation::get_simulation_state,
        "get_simulator_features" "simulation_interfaces/srv/GetSimulatorFeatures"
            => features::get_simulator_features,
        "get_spawnables" "simulation_interfaces/srv/GetSpawnables"
            => spawnables::get_spawnables,
        "load_world" "simulation_interfaces/srv/LoadWorld" => worlds::load_world,
        "reset_simulation" "simulation_interfaces/srv/ResetSimulation"
            => simulation::reset_simulation,
        "set_entity_info" "simulation_interfaces/srv/SetEntityInfo" => info::set_entity_info,
        "set_entity_state" "simulation_interfaces/srv/SetEntityState"
            => entity_state::set_entity_state,
        "set_simulation_state" "simulation_interfaces/srv/SetSimulationState"
            => simulation::set_simulation_state,
        "spawn_entities" "simulation_interfaces/srv/SpawnEntities" => spawning::spawn_entities,
        "spawn_entity" "simulation_interfaces/srv/SpawnEntity" => spawning::spawn_entity,
        "step_simulation" "simulation_interfaces/srv/StepSimulation"
            => simulation::step_simulation,
        "unload_world" "simulation_interfaces/srv/UnloadWorld" => worlds::unload_world,
    }
    /// Services that an action consists of, under its name.
    ACTION_SERVICES {
        "send_goal" "simulation_interfaces/action/SimulateSteps_SendGoal" => goals::send_goal,
        "get_result" "simulation_interfaces/action/SimulateSteps_GetResult" => goals::get_result,
        "cancel_goal" "action_msgs/srv/CancelGoal" => goals::cancel_goal,
    }
    /// Services of `phalanx_msgs`.
    BARRIER_SERVICES {
        "join_barrier" "phalanx_msgs/srv/JoinBarrier" => barrier::join,
        "answer_barrier" "phalanx_msgs/srv/AnswerBarrier" => barrier::answer,
        "leave_barrier" "phalanx_msgs/srv/LeaveBarrier" => barrier::leave,
    }
    /// Services of `ue_msgs`.
    UE_SERVICES {
        "SpawnEntity" "ue_msgs/srv/SpawnEntity" => ue::spawn_entity,
        "SpawnEntities" "ue_msgs/srv/SpawnEntities" => ue::spawn_entities,
        "DeleteEntity" "ue_msgs/srv/DeleteEntity" => ue::delete_entity,
        "GetEntityState" "ue_msgs/srv/GetEntityState" => ue::get_entity_state,
        "SetEntityState" "ue_msgs/srv/SetEntityState" => ue::set_entity_state,
        "Attach" "ue_msgs/srv/Attach" => ue::attach,
        "Detach" "ue_msgs/srv/Detach" => ue::detach,
    }
}
