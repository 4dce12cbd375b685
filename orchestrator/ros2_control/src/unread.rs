//! [`Unread`]: responses to requests that cannot be read, so that their clients wait for nothing.

use ros2::RosMessage;
use ros2::types::action_msgs::CancelGoalResponse;
use ros2::types::phalanx_msgs::{AnswerBarrierResponse, JoinBarrierResponse, LeaveBarrierResponse};
use ros2::types::simulation_interfaces::{
    DeleteEntityResponse, GetAvailableWorldsResponse, GetCurrentWorldResponse, GetEntitiesResponse,
    GetEntitiesStatesResponse, GetEntityBoundsResponse, GetEntityInfoResponse,
    GetEntityStateResponse, GetNamedPoseBoundsResponse, GetNamedPosesResponse,
    GetSimulationStateResponse, GetSimulatorFeaturesResponse, GetSpawnablesResponse,
    LoadWorldResponse, ResetSimulationResponse, SetEntityInfoResponse, SetEntityStateResponse,
    SetSimulationStateResponse, SimulateStepsGetResultResponse, SimulateStepsSendGoalResponse,
    SpawnEntitiesResponse, SpawnEntityResponse, StepSimulationResponse, UnloadWorldResponse,
};
use ros2::types::ue_msgs;

use crate::outcome::Refusal;

/// A response that can say that its request was not read.
pub(crate) trait Unread: RosMessage {
    /// Makes the response, with the reason where it has room for one.
    fn unread(reason: &str) -> Self;
}

macro_rules! unread {
    ($response:ident, $reason:ident: $($type:path),* => $change:expr) => {
        $(impl Unread for $type {
            fn unread($reason: &str) -> Self {
                let mut $response = Self::default();
                $change;
                $response
            }
        })*
    };
}

unread! {
    response, reason:
    DeleteEntityResponse, GetAvailableWorldsResponse, GetCurrentWorldResponse,
    GetEntitiesResponse, GetEntitiesStatesResponse, GetEntityBoundsResponse,
    GetEntityInfoResponse, GetEntityStateResponse, GetNamedPoseBoundsResponse,
    GetNamedPosesResponse, GetSimulationStateResponse, GetSpawnablesResponse, LoadWorldResponse,
    ResetSimulationResponse, SetEntityInfoResponse, SetEntityStateResponse,
    SetSimulationStateResponse, SimulateStepsGetResultResponse, SpawnEntitiesResponse,
    SpawnEntityResponse, StepSimulationResponse, UnloadWorldResponse
    => response.result = Refusal::failed(reason).result()
}

unread! {
    response, reason:
    AnswerBarrierResponse, JoinBarrierResponse, LeaveBarrierResponse,
    ue_msgs::DeleteEntityResponse, ue_msgs::SpawnEntitiesResponse, ue_msgs::SpawnEntityResponse
    => reason.clone_into(&mut response.status_message)
}

unread! {
    response, reason: CancelGoalResponse
    => { let _ = reason; response.return_code = CancelGoalResponse::ERROR_REJECTED }
}

/// Implements it for responses that say only that something was not done, or nothing at all.
macro_rules! unread_without_reason {
    ($($type:path),*) => {
        $(impl Unread for $type {
            fn unread(_: &str) -> Self {
                Self::default()
            }
        })*
    };
}

unread_without_reason! {
    GetSimulatorFeaturesResponse, SimulateStepsSendGoalResponse, ue_msgs::AttachResponse,
    ue_msgs::DetachResponse, ue_msgs::GetEntityStateResponse, ue_msgs::SetEntityStateResponse
}
