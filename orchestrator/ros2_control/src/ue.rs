//! Services of `ue_msgs`, by which a distributed simulator on another engine is controlled. They
//! answer when the run has done it, a repeated request is a request, and what is attached stays
//! so when it is attached again.

use protocol::{Command, FailureCode};
use ros2::types::geometry_msgs::Twist;
use ros2::types::simulation_interfaces::{EntityInfo, Resource};
use ros2::types::ue_msgs::{
    AttachRequest, AttachResponse, DeleteEntityRequest, DeleteEntityResponse, DetachRequest,
    DetachResponse, EntityState, GetEntityStateRequest, GetEntityStateResponse,
    SetEntityStateRequest, SetEntityStateResponse, SpawnEntitiesRequest, SpawnEntitiesResponse,
    SpawnEntityRequest, SpawnEntityResponse,
};

use crate::control::{Control, Outside};
use crate::entities::{WORLD, delete, find, frame, pose_of};
use crate::entity_state::{WantedState, set_state};
use crate::frames::{into, ros_pose, ros_vector, seen_from};
use crate::outcome::Refusal;
use crate::spawning::{Model, bring, checked_namespace, text_of};

/// Spawns an entity from the text of its model.
pub(crate) async fn spawn_entity<O: Outside>(
    control: &Control<O>,
    request: SpawnEntityRequest,
) -> SpawnEntityResponse {
    let spawned = async {
        let namespace = checked_namespace(&request.robot_namespace)?;
        refuse_parameters(&request.json_parameters)?;
        spawn(
            control,
            &request.xml,
            &request.state,
            request.tags,
            namespace,
        )
        .await
    };
    let (success, status_message) = told(spawned.await);
    SpawnEntityResponse {
        success,
        status_message,
    }
}

/// Spawns entities, each from the text of its model or the path of its file, one after the other.
pub(crate) async fn spawn_entities<O: Outside>(
    control: &Control<O>,
    request: SpawnEntitiesRequest,
) -> SpawnEntitiesResponse {
    let spawned = async {
        let count = request.state.len();
        if request.r#type.len() != count {
            let types = request.r#type.len();
            let reason = format!("{types} types are given for {count} states");
            return Err(Refusal::failed(reason));
        }
        for text in &request.json_parameters {
            refuse_parameters(text)?;
        }
        let mut failures = Vec::new();
        for (index, (model, state)) in request.r#type.iter().zip(&request.state).enumerate() {
            let tags = request.tags.get(index).cloned();
            let tags = tags.into_iter().filter(|tag| !tag.is_empty()).collect();
            if let Err(refusal) = spawn(control, model, state, tags, None).await {
                failures.push(format!("{}: {}", state.name, refusal.reason));
            }
        }
        match failures.as_slice() {
            [] => Ok(()),
            _ => Err(Refusal::failed(failures.join("; "))),
        }
    };
    let (success, status_message) = told(spawned.await);
    SpawnEntitiesResponse {
        success,
        status_message,
    }
}

/// Takes an entity out of the world.
pub(crate) async fn delete_entity<O: Outside>(
    control: &Control<O>,
    request: DeleteEntityRequest,
) -> DeleteEntityResponse {
    let (success, status_message) = told(delete(control, request.name).await);
    DeleteEntityResponse {
        success,
        status_message,
    }
}

/// Tells pose and velocities of an entity in a frame: how that frame stands is taken off, how it
/// moves is not.
pub(crate) async fn get_entity_state<O: Outside>(
    control: &Control<O>,
    request: GetEntityStateRequest,
) -> GetEntityStateResponse {
    let found = async {
        let snapshot = control.snapshot().await?;
        let found = find(control, &snapshot, &request.name).await?;
        let frame = frame(control, &snapshot, &request.reference_frame).await?;
        let turned = |vector| frame.map_or(vector, |frame| seen_from(&frame, vector));
        let pose = pose_of(&found);
        Ok::<_, Refusal>(EntityState {
            name: found.name.clone(),
            pose: ros_pose(&frame.map_or(pose, |frame| into(&frame, &pose))),
            twist: Twist {
                linear: ros_vector(turned(found.linear_velocity)),
                angular: ros_vector(turned(found.angular_velocity)),
            },
            reference_frame: match request.reference_frame.as_str() {
                "" => WORLD.to_owned(),
                name => name.to_owned(),
            },
        })
    };
    match found.await {
        Ok(state) => GetEntityStateResponse {
            state,
            success: true,
        },
        Err(refusal) => {
            note(control, "GetEntityState", &refusal);
            GetEntityStateResponse::default()
        }
    }
}

/// Moves an entity, and gives it a velocity.
pub(crate) async fn set_entity_state<O: Outside>(
    control: &Control<O>,
    request: SetEntityStateRequest,
) -> SetEntityStateResponse {
    let state = request.state;
    let wanted = WantedState {
        pose: Some(&state.pose),
        twist: moving(&state.twist),
        frame: &state.reference_frame,
    };
    let set = set_state(control, state.name, wanted).await;
    if let Err(refusal) = &set {
        note(control, "SetEntityState", refusal);
    }
    SetEntityStateResponse {
        success: set.is_ok(),
    }
}

/// Has one entity hold another. It does so when it does already.
pub(crate) async fn attach<O: Outside>(
    control: &Control<O>,
    request: AttachRequest,
) -> AttachResponse {
    let command = Command::Attach {
        parent: request.name1,
        child: request.name2,
    };
    let success = is_done_with(control, command, FailureCode::Already, "Attach").await;
    AttachResponse { success }
}

/// Has one entity let go of another. It does so when it holds none.
pub(crate) async fn detach<O: Outside>(
    control: &Control<O>,
    request: DetachRequest,
) -> DetachResponse {
    let command = Command::Detach {
        parent: request.name1,
        child: request.name2,
    };
    let success = is_done_with(control, command, FailureCode::WrongState, "Detach").await;
    DetachResponse { success }
}

/// Has a command done for a service; tells whether it is, now or by the code before. Any other
/// failure is noted.
async fn is_done_with<O: Outside>(
    control: &Control<O>,
    command: Command,
    done_before: FailureCode,
    service: &str,
) -> bool {
    match control.command(command).await {
        Ok(_) => true,
        Err(failure) if failure.code() == done_before => true,
        Err(failure) => {
            note(control, service, &failure.into());
            false
        }
    }
}

async fn spawn<O: Outside>(
    control: &Control<O>,
    text: &str,
    state: &EntityState,
    tags: Vec<String>,
    namespace: Option<String>,
) -> Result<(), Refusal> {
    let mut resource = Resource::default();
    if text.trim_start().starts_with('<') {
        resource.resource_string = text.to_owned();
    } else {
        resource.uri = text.to_owned();
    }
    let (sdf, file) = text_of(control, &resource)?;
    let model = Model {
        sdf,
        file,
        name: state.name.clone(),
        allow_renaming: false,
        namespace,
    };
    let name = bring(control, model, &state.pose, &state.reference_frame).await?;
    if let Some(twist) = moving(&state.twist) {
        let wanted = WantedState {
            pose: None,
            twist: Some(twist),
            frame: &state.reference_frame,
        };
        set_state(control, name.clone(), wanted).await?;
    }
    if !tags.is_empty() {
        let info = EntityInfo {
            tags,
            ..Default::default()
        };
        control.infos.borrow_mut().insert(name, info);
    }
    Ok(())
}

/// Returns a velocity that is to be set: what was put somewhere is at rest anyway.
fn moving(twist: &Twist) -> Option<&Twist> {
    (*twist != Twist::default()).then_some(twist)
}

fn refuse_parameters(parameters: &str) -> Result<(), Refusal> {
    if matches!(parameters.trim(), "" | "{}") {
        return Ok(());
    }
    Err(Refusal::unsupported(
        "models take no json_parameters: leave them empty",
    ))
}

fn told(outcome: Result<(), Refusal>) -> (bool, String) {
    match outcome {
        Ok(()) => (true, String::new()),
        Err(refusal) => (false, refusal.reason),
    }
}

/// Says why something was not done whose response has no room for it.
fn note<O: Outside>(control: &Control<O>, service: &str, refusal: &Refusal) {
    let text = format!("{service}: {}", refusal.reason);
    control.outside.note(&text);
}
