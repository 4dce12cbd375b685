//! Poses with names: the frames of the worlds and of their static models, and the levels.

use std::collections::{BTreeMap, BTreeSet};

use protocol::LinkPose;
use ros2::types::simulation_interfaces::{
    Bounds, GetNamedPoseBoundsRequest, GetNamedPoseBoundsResponse, GetNamedPosesRequest,
    GetNamedPosesResponse, NamedPose,
};
use scene::{Frame, Level, Model, Scene};

use crate::bounds::box_around;
use crate::control::{Control, Outside};
use crate::entities::has_tags;
use crate::frames::{into, out_of, ros_pose};
use crate::outcome::{Refusal, ok};

/// Tag of frames.
const FRAME: &str = "frame";
/// Tag of frames that move with an entity.
const MOVING: &str = "moving";
/// Tag of centres of levels, and the text before their names.
const LEVEL: &str = "level";

/// Lists the poses that have names and tags.
pub(crate) async fn get_named_poses<O: Outside>(
    control: &Control<O>,
    request: GetNamedPosesRequest,
) -> GetNamedPosesResponse {
    match named_poses(control).await {
        Ok(named) => GetNamedPosesResponse {
            result: ok(),
            poses: named
                .into_iter()
                .map(|(pose, _)| pose)
                .filter(|pose| has_tags(&request.tags, &pose.tags))
                .collect(),
        },
        Err(refusal) => GetNamedPosesResponse {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

/// Tells the area around a pose: the box of a level; a frame has none.
pub(crate) async fn get_named_pose_bounds<O: Outside>(
    control: &Control<O>,
    request: GetNamedPoseBoundsRequest,
) -> GetNamedPoseBoundsResponse {
    let found = async {
        let named = named_poses(control).await?;
        let mut named = named.into_iter();
        let found = named.find(|(pose, _)| pose.name == request.name);
        let (_, bounds) = found.ok_or_else(|| {
            let name = &request.name;
            Refusal::not_found(format!("no pose is named {name:?}"))
        })?;
        Ok::<_, Refusal>(bounds)
    };
    match found.await {
        Ok(bounds) => GetNamedPoseBoundsResponse {
            result: ok(),
            bounds,
        },
        Err(refusal) => GetNamedPoseBoundsResponse {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

/// Returns all poses with names, and the areas around them.
async fn named_poses<O: Outside>(
    control: &Control<O>,
) -> Result<Vec<(NamedPose, Bounds)>, Refusal> {
    let scene = control.scene().await?;
    let carriers = carriers(&scene);
    let mut snapshot = control.snapshot().await?;
    let is_carrier = |name: &str| carriers.values().any(|model| model.name == name);
    snapshot.performers.retain(|one| is_carrier(&one.name));
    let poses = control.link_poses(&scene, &snapshot).await?;
    let mut named = Vec::new();
    for world in &scene.worlds {
        let frames = world.frames.iter();
        named.extend(frames.map(|frame| of_frame(frame, &scene, &carriers, &poses)));
        let levels = world.levels.iter().filter(|level| !level.default);
        named.extend(levels.map(of_level));
    }
    // Names are unique to whoever asks for one.
    let mut taken = BTreeSet::new();
    named.retain(|(pose, _)| taken.insert(pose.name.clone()));
    Ok(named)
}

/// Returns the entities to which frames are fixed, by the numbers of the links.
fn carriers(scene: &Scene) -> BTreeMap<u32, &Model> {
    let mut carriers = BTreeMap::new();
    for world in &scene.worlds {
        for link in world.frames.iter().filter_map(|frame| frame.link) {
            let has_it = |model: &&Model| model.links.iter().any(|own| own.id == link);
            let model = world.models.iter().find(has_it);
            carriers.extend(model.filter(|model| !model.is_static).map(|it| (link, it)));
        }
    }
    carriers
}

fn of_frame(
    frame: &Frame,
    scene: &Scene,
    carriers: &BTreeMap<u32, &Model>,
    poses: &BTreeMap<u32, LinkPose>,
) -> (NamedPose, Bounds) {
    let mut tags = vec![FRAME.to_owned()];
    let mut description = "a frame of the world".to_owned();
    let models = || scene.worlds.iter().flat_map(|world| &world.models);
    let mut pose = frame.pose;
    if let Some(id) = frame.link {
        let mut links =
            models().flat_map(|model| model.links.iter().map(move |link| (model, link)));
        if let Some((model, link)) = links.find(|(_, link)| link.id == id) {
            description = format!("a frame of {}", model.name);
            if let Some(now) = poses.get(&id) {
                pose = out_of(now, &into(&link.pose, &frame.pose));
            }
        }
        if carriers.contains_key(&id) {
            tags.push(MOVING.to_owned());
        }
    }
    let named = NamedPose {
        name: frame.name.clone(),
        description,
        tags,
        pose: ros_pose(&pose),
    };
    (named, Bounds::default())
}

fn of_level(level: &Level) -> (NamedPose, Bounds) {
    let half = level.size.map(|edge| edge / 2.0);
    let low = half.map(|edge| -edge);
    let named = NamedPose {
        name: format!("{LEVEL}::{}", level.name),
        description: format!("the centre of the level {}", level.name),
        tags: vec![LEVEL.to_owned()],
        pose: ros_pose(&level.pose),
    };
    (named, box_around(std::iter::once([low, half])))
}
