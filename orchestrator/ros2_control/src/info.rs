//! Descriptions of entities. They are kept here, not in the run: they change no bit of it, and go
//! with this process.

use ros2::types::simulation_interfaces::{
    GetEntityInfoRequest, GetEntityInfoResponse, SetEntityInfoRequest, SetEntityInfoResponse,
};

use crate::control::{Control, Outside};
use crate::entities::find;
use crate::outcome::{Refusal, ok, result_of};

/// Tells how an entity was described.
pub(crate) async fn get_entity_info<O: Outside>(
    control: &Control<O>,
    request: GetEntityInfoRequest,
) -> GetEntityInfoResponse {
    match check(control, &request.entity).await {
        Ok(()) => {
            let infos = control.infos.borrow();
            GetEntityInfoResponse {
                result: ok(),
                info: infos.get(&request.entity).cloned().unwrap_or_default(),
            }
        }
        Err(refusal) => GetEntityInfoResponse {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

/// Describes an entity.
pub(crate) async fn set_entity_info<O: Outside>(
    control: &Control<O>,
    request: SetEntityInfoRequest,
) -> SetEntityInfoResponse {
    let checked = check(control, &request.entity).await;
    if checked.is_ok() {
        let mut infos = control.infos.borrow_mut();
        infos.insert(request.entity, request.info);
    }
    SetEntityInfoResponse {
        result: result_of(checked),
    }
}

/// Makes sure that there is such an entity.
async fn check<O: Outside>(control: &Control<O>, entity: &str) -> Result<(), Refusal> {
    let snapshot = control.snapshot().await?;
    find(control, &snapshot, entity).await.map(|_| ())
}
