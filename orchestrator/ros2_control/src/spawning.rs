//! Entities that come into the world.

use protocol::client_to_primary::SpawnRequest;
use protocol::{Command, FailureCode};
use ros2::types::geometry_msgs::Pose;
use ros2::types::simulation_interfaces::{
    CallResult, Resource, SpawnEntitiesRequest, SpawnEntitiesResponse, SpawnEntity,
    SpawnEntityRequest, SpawnEntityResponse, SpawnResult,
};
use sdf::TopicNamespace;

use crate::control::{Control, ModelText, Outside};
use crate::entities::{WORLD, find, standing};
use crate::entity_state::valid_pose;
use crate::frames::out_of;
use crate::outcome::{Failure, Refusal, ok};

/// Schemes of the addresses of files.
const SCHEMES: [&str; 3] = ["file", "model", "package"];

/// Spawns an entity.
pub(crate) async fn spawn_entity<O: Outside>(
    control: &Control<O>,
    request: SpawnEntityRequest,
) -> SpawnEntityResponse {
    let entity = SpawnEntity {
        name: request.name,
        allow_renaming: request.allow_renaming,
        entity_resource: request.entity_resource,
        entity_namespace: request.entity_namespace,
        initial_pose: request.initial_pose,
    };
    let SpawnResult {
        result,
        entity_name,
    } = spawned(control, entity).await;
    SpawnEntityResponse {
        result,
        entity_name,
    }
}

/// Spawns entities one after the other; those that fail keep none of the others out.
pub(crate) async fn spawn_entities<O: Outside>(
    control: &Control<O>,
    request: SpawnEntitiesRequest,
) -> SpawnEntitiesResponse {
    let mut results = Vec::with_capacity(request.spawn_requests.len());
    for entity in request.spawn_requests {
        results.push(spawned(control, entity).await);
    }
    let is_done = |one: &&SpawnResult| one.result.result == CallResult::RESULT_OK;
    let failed = results.len() - results.iter().filter(is_done).count();
    let result = if failed == 0 {
        ok()
    } else {
        let reason = format!("{failed} of {} entities did not come", results.len());
        Refusal::new(SpawnEntitiesResponse::ENTITIES_SPAWN_FAILED, reason).result()
    };
    SpawnEntitiesResponse { result, results }
}

async fn spawned<O: Outside>(control: &Control<O>, entity: SpawnEntity) -> SpawnResult {
    match spawn(control, entity).await {
        Ok(entity_name) => SpawnResult {
            result: ok(),
            entity_name,
        },
        Err(refusal) => SpawnResult {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

async fn spawn<O: Outside>(control: &Control<O>, entity: SpawnEntity) -> Result<String, Refusal> {
    let namespace = checked_namespace(&entity.entity_namespace)?;
    let (sdf, file) = text_of(control, &entity.entity_resource)?;
    let model = Model {
        sdf,
        file,
        name: entity.name,
        allow_renaming: entity.allow_renaming,
        namespace,
    };
    let header = &entity.initial_pose.header;
    bring(control, model, &entity.initial_pose.pose, &header.frame_id).await
}

/// A model that is to come, and its name.
pub(crate) struct Model {
    pub(crate) sdf: String,
    pub(crate) file: Option<String>,
    pub(crate) name: String,
    pub(crate) allow_renaming: bool,
    pub(crate) namespace: Option<String>,
}

/// Brings a model into the world, at a pose in a frame; returns the name that it got.
pub(crate) async fn bring<O: Outside>(
    control: &Control<O>,
    model: Model,
    pose: &Pose,
    frame: &str,
) -> Result<String, Refusal> {
    let pose = valid_pose(pose, SpawnResult::INVALID_POSE)?;
    let snapshot = control.snapshot().await?;
    let mut worlds = snapshot.stats.world.split('+');
    let (mut world, mut relative_to) = (None, None);
    let mut pose = pose;
    if worlds.any(|name| name == frame) {
        world = Some(frame.to_owned());
    } else if !frame.is_empty() && frame != WORLD {
        find(control, &snapshot, frame).await?;
        let scene = control.scene().await?;
        let mut standing = standing(&scene);
        if let Some((own, model)) = standing.find(|(_, model)| model.name == frame) {
            // What never moves is no frame of the run.
            world = Some(own.world.clone());
            pose = out_of(&model.pose, &pose);
        } else {
            relative_to = Some(frame.to_owned());
        }
    }
    let request = SpawnRequest {
        sdf: model.sdf,
        file: model.file,
        name: Some(model.name).filter(|name| !name.is_empty()),
        allow_renaming: model.allow_renaming,
        pose: Some(pose),
        relative_to,
        world,
        joints: Vec::new(),
        namespace: model.namespace,
    };
    let is_named = request.name.is_some();
    let asked = request.name.clone().unwrap_or_default();
    let came = control.command(Command::Spawn(Box::new(request))).await;
    let name = came.map_err(|failure| refused_spawn(failure, is_named))?;
    Ok(name.unwrap_or(asked))
}

/// Returns the text of a resource, and the file that it is from.
pub(crate) fn text_of<O: Outside>(
    control: &Control<O>,
    resource: &Resource,
) -> Result<(String, Option<String>), Refusal> {
    let Resource {
        uri,
        resource_string,
    } = resource;
    if uri.is_empty() {
        if resource_string.trim().is_empty() {
            let reason = "uri and resource_string are empty";
            return Err(Refusal::new(SpawnResult::NO_RESOURCE, reason));
        }
        return Ok((checked(resource_string.clone(), "resource_string")?, None));
    }
    if let Some((scheme, _)) = uri.split_once("://")
        && !SCHEMES.contains(&scheme)
    {
        let reason = format!("{scheme}: models come from files: use a path, file:// or model://");
        return Err(Refusal::new(SpawnResult::UNSUPPORTED_FORMAT, reason));
    }
    let read = control.outside.read(uri);
    let ModelText { text, file } =
        read.map_err(|error| Refusal::new(SpawnResult::MISSING_ASSETS, format!("{uri}: {error}")))?;
    Ok((checked(text, uri)?, Some(file)))
}

/// Makes sure that a text is SDF or URDF by its first element.
fn checked(text: String, source: &str) -> Result<String, Refusal> {
    let has = |element: &str| text.contains(element);
    if has("<sdf") || has("<robot") || has("<model") {
        return Ok(text);
    }
    let reason = format!("{source} is neither SDF nor URDF");
    Err(Refusal::new(SpawnResult::UNSUPPORTED_FORMAT, reason))
}

/// Returns the namespace that a request names, if it names one.
pub(crate) fn checked_namespace(namespace: &str) -> Result<Option<String>, Refusal> {
    if namespace.is_empty() {
        return Ok(None);
    }
    match TopicNamespace::new(namespace) {
        Ok(namespace) => Ok(Some(namespace.into())),
        Err(error) => Err(Refusal::new(
            SpawnResult::NAMESPACE_INVALID,
            error.to_string(),
        )),
    }
}

fn refused_spawn(failure: Failure, is_named: bool) -> Refusal {
    let code = match failure.code() {
        FailureCode::NameTaken => SpawnResult::NAME_NOT_UNIQUE,
        FailureCode::NameInvalid if is_named => SpawnResult::NAME_INVALID,
        // Without a name of the request, that of the text is wrong. The pose was looked at before.
        FailureCode::NameInvalid | FailureCode::Invalid => SpawnResult::RESOURCE_PARSE_ERROR,
        _ => return failure.into(),
    };
    Refusal::new(code, failure.to_string())
}
