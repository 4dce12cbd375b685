//! Entities, the models of a run that can move, and the filters by which they are listed.

use protocol::link_poses::LinkPose;
use protocol::report::{PerformerReport, Snapshot};
use ros2::types::simulation_interfaces::{
    DeleteEntityRequest, DeleteEntityResponse, EntityFilters, EntityInfo, GetEntitiesRequest,
    GetEntitiesResponse, GetEntitiesStatesRequest, GetEntitiesStatesResponse, TagsFilter,
};

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

/// Finds an entity by its name.
pub(crate) fn find<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a PerformerReport, Refusal> {
    let mut all = snapshot.performers.iter();
    all.find(|one| one.name == name)
        .ok_or_else(|| Refusal::not_found(format!("no entity is named {name:?}")))
}

/// Returns the world pose of a frame: that of an entity, or `None` for the world's own.
pub(crate) fn frame(snapshot: &Snapshot, name: &str) -> Result<Option<LinkPose>, Refusal> {
    if name.is_empty() || name == WORLD {
        return Ok(None);
    }
    let found = find(snapshot, name).map_err(|_| {
        let text = format!("no frame is named {name:?}: use {WORLD} or the name of an entity");
        Refusal::not_found(text)
    })?;
    Ok(Some(pose_of(found)))
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
