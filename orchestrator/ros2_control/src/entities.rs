//! Entities, the models of a run, and the filters by which they are listed. Reports of the run
//! have those that can move; static ones stand where the scene has them.

use protocol::link_poses::LinkPose;
use protocol::report::{PerformerReport, Snapshot};
use ros2::types::simulation_interfaces::{
    CallResult, DeleteEntityRequest, DeleteEntityResponse, EntityFilters, EntityInfo,
    GetEntitiesRequest, GetEntitiesResponse, GetEntitiesStatesRequest, GetEntitiesStatesResponse,
    TagsFilter,
};
use scene::{Model, Scene, World};

use protocol::Command;

use crate::bounds::within;
use crate::control::{Control, Outside};
use crate::entity_state::state_of;
use crate::expression;
use crate::outcome::{Refusal, ok, result_of};

/// Name of the world's own frame.
pub(crate) const WORLD: &str = "world";

/// Lists entities.
pub(crate) async fn get_entities<O: Outside>(
    control: &Control<O>,
    request: GetEntitiesRequest,
) -> GetEntitiesResponse {
    match selected(control, &request.filters).await {
        Ok((_, found)) => GetEntitiesResponse {
            result: ok(),
            entities: found.into_iter().map(|one| one.name).collect(),
        },
        Err(refusal) => GetEntitiesResponse {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

/// Lists entities with their states, all of one moment.
pub(crate) async fn get_entities_states<O: Outside>(
    control: &Control<O>,
    request: GetEntitiesStatesRequest,
) -> GetEntitiesStatesResponse {
    match selected(control, &request.filters).await {
        Ok((sim_time_s, found)) => GetEntitiesStatesResponse {
            result: ok(),
            states: found.iter().map(|one| state_of(one, sim_time_s)).collect(),
            entities: found.into_iter().map(|one| one.name).collect(),
        },
        Err(refusal) => GetEntitiesStatesResponse {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

/// Takes an entity out of the world.
pub(crate) async fn delete_entity<O: Outside>(
    control: &Control<O>,
    request: DeleteEntityRequest,
) -> DeleteEntityResponse {
    let deleted = delete(control, request.entity).await;
    DeleteEntityResponse {
        result: result_of(deleted),
    }
}

/// Takes an entity out of the world, and forgets it.
pub(crate) async fn delete<O: Outside>(
    control: &Control<O>,
    entity: String,
) -> Result<(), Refusal> {
    let model = entity.clone();
    control.command(Command::Remove { model }).await?;
    control.forget(&entity);
    Ok(())
}

/// Finds an entity by its name: among those that can move, then among static ones.
pub(crate) async fn find<O: Outside>(
    control: &Control<O>,
    snapshot: &Snapshot,
    name: &str,
) -> Result<PerformerReport, Refusal> {
    let mut moving = snapshot.performers.iter();
    if let Some(found) = moving.find(|one| one.name == name) {
        return Ok(found.clone());
    }
    let scene = control.scene().await?;
    let mut standing = standing(&scene);
    let found = standing.find(|(_, model)| model.name == name);
    let found = found.map(|(_, model)| report_of(model));
    found.ok_or_else(|| Refusal::not_found(format!("no entity is named {name:?}")))
}

/// Returns the world pose of a frame: that of an entity, or `None` for the world's own.
pub(crate) async fn frame<O: Outside>(
    control: &Control<O>,
    snapshot: &Snapshot,
    name: &str,
) -> Result<Option<LinkPose>, Refusal> {
    if name.is_empty() || name == WORLD {
        return Ok(None);
    }
    let found = find(control, snapshot, name).await.map_err(|refusal| {
        if refusal.code != CallResult::RESULT_NOT_FOUND {
            return refusal;
        }
        let text = format!("no frame is named {name:?}: use {WORLD} or the name of an entity");
        Refusal::not_found(text)
    })?;
    Ok(Some(pose_of(&found)))
}

/// Returns the static models of a scene, of which the run makes no reports, with their worlds.
pub(crate) fn standing(scene: &Scene) -> impl Iterator<Item = (&World, &Model)> {
    let models = scene
        .worlds
        .iter()
        .flat_map(|world| world.models.iter().map(move |model| (world, model)));
    models.filter(|(_, model)| model.is_static && !model.performer)
}

/// Returns the names of all entities.
pub(crate) fn names<'a>(snapshot: &'a Snapshot, scene: &'a Scene) -> impl Iterator<Item = &'a str> {
    let moving = snapshot.performers.iter().map(|one| one.name.as_str());
    moving.chain(standing(scene).map(|(_, model)| model.name.as_str()))
}

/// Returns what a report would say of a static model.
fn report_of(model: &Model) -> PerformerReport {
    let [x, y, z, qx, qy, qz, qw] = model.pose;
    PerformerReport {
        name: model.name.clone(),
        owner: None,
        level: String::new(),
        levels: Vec::new(),
        position: [x, y, z],
        orientation_xyzw: [qx, qy, qz, qw],
        linear_velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        hand_offs: 0,
        group: None,
    }
}

/// Returns the world pose of an entity.
pub(crate) fn pose_of(entity: &PerformerReport) -> LinkPose {
    let ([x, y, z], [qx, qy, qz, qw]) = (entity.position, entity.orientation_xyzw);
    [x, y, z, qx, qy, qz, qw]
}

/// Returns the entities that fulfil all filters, and the simulated time of them \[s\].
async fn selected<O: Outside>(
    control: &Control<O>,
    filters: &EntityFilters,
) -> Result<(f64, Vec<PerformerReport>), Refusal> {
    let names = expression::compile(&filters.filter).map_err(|error| {
        let text = format!("the filter is no POSIX extended regular expression: {error}");
        Refusal::failed(text)
    })?;
    let mut snapshot = control.snapshot().await?;
    let sim_time_s = snapshot.stats.sim_time_s;
    let mut found = std::mem::take(&mut snapshot.performers);
    let scene = control.scene().await?;
    found.extend(standing(&scene).map(|(_, model)| report_of(model)));
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found.dedup_by(|one, other| one.name == other.name);
    {
        let infos = control.infos.borrow();
        let unknown = EntityInfo::default();
        found.retain(|one| {
            let info = infos.get(&one.name).unwrap_or(&unknown);
            let has_tags = has_tags(&filters.tags, &info.tags);
            names.is_match(&one.name) && has_category(filters, info) && has_tags
        });
    }
    let found = within(control, &filters.bounds, found, snapshot).await?;
    Ok((sim_time_s, found))
}

fn has_category(filters: &EntityFilters, info: &EntityInfo) -> bool {
    filters.categories.is_empty() || filters.categories.contains(&info.category)
}

/// Tells whether something with these tags fulfils a filter.
pub(crate) fn has_tags(filter: &TagsFilter, own: &[String]) -> bool {
    let mut tags = filter.tags.iter();
    match filter.filter_mode {
        _ if filter.tags.is_empty() => true,
        TagsFilter::FILTER_MODE_ALL => tags.all(|tag| own.contains(tag)),
        _ => tags.any(|tag| own.contains(tag)),
    }
}
