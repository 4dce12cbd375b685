//! Bounds: what entities reach, and areas that they overlap.
//!
//! An entity is what its collisions are, with its joints as they are at this moment. An area and a
//! collision overlap if they have a point in common; a mesh counts as its box, and a plane as all
//! below it.

use std::collections::{BTreeMap, BTreeSet};

use protocol::LinkPose;
use protocol::report::{PerformerReport, Snapshot};
use ros2::types::geometry_msgs::Vector3;
use ros2::types::simulation_interfaces::{Bounds, GetEntityBoundsRequest, GetEntityBoundsResponse};
use scene::Model;

use crate::control::{Control, Outside};
use crate::entities::{find, pose_of, standing};
use crate::frames::{into, out_of, ros_vector};
use crate::outcome::{Refusal, ok};
use crate::solid::{HalfSpace, Shape, Solid, corners};

/// The pose of a frame in itself.
const SAME: LinkPose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
/// The most corners of an area.
const CORNERS_MAX: usize = 10_000;

/// The collisions of an entity, world frame.
#[derive(Debug)]
struct Body {
    /// Pose of its origin at the same moment, world frame.
    origin: LinkPose,
    solids: Vec<Solid>,
    /// The planes among its collisions.
    planes: Vec<HalfSpace>,
}

/// Tells the box around an entity, in its frame.
pub(crate) async fn get_entity_bounds<O: Outside>(
    control: &Control<O>,
    request: GetEntityBoundsRequest,
) -> GetEntityBoundsResponse {
    match bounds_of(control, &request.entity).await {
        Ok(bounds) => GetEntityBoundsResponse {
            result: ok(),
            bounds,
        },
        Err(refusal) => GetEntityBoundsResponse {
            result: refusal.result(),
            ..Default::default()
        },
    }
}

async fn bounds_of<O: Outside>(control: &Control<O>, entity: &str) -> Result<Bounds, Refusal> {
    let mut snapshot = control.snapshot().await?;
    snapshot.performers = vec![find(control, &snapshot, entity).await?];
    let bodies = bodies(control, &snapshot).await?;
    let body = bodies.get(entity).ok_or_else(|| gone(entity))?;
    if !body.planes.is_empty() {
        return Ok(Bounds::default());
    }
    let inverse = into(&body.origin, &SAME);
    let own = body.solids.iter().map(|solid| solid.seen_from(&inverse));
    Ok(box_around(own.map(|solid| solid.corners())))
}

/// Returns the smallest box that holds others and the origin, in the frame of all of them.
pub(crate) fn box_around(others: impl Iterator<Item = [[f64; 3]; 2]>) -> Bounds {
    let [low, high] = others.fold([[0.0_f64; 3]; 2], |[low, high], other| {
        [
            std::array::from_fn(|axis| low[axis].min(other[0][axis])),
            std::array::from_fn(|axis| high[axis].max(other[1][axis])),
        ]
    });
    Bounds {
        r#type: Bounds::TYPE_BOX,
        points: [high, low].map(ros_vector).to_vec(),
    }
}

/// Returns those of some entities that overlap an area, world frame; all if it has no bounds.
pub(crate) async fn within<O: Outside>(
    control: &Control<O>,
    area: &Bounds,
    entities: Vec<PerformerReport>,
    mut snapshot: Snapshot,
) -> Result<Vec<PerformerReport>, Refusal> {
    let Some(area) = area_of(area)? else {
        return Ok(entities);
    };
    snapshot.performers = entities;
    let bodies = bodies(control, &snapshot).await?;
    let overlaps = |entity: &PerformerReport| {
        let body = bodies.get(&entity.name);
        body.is_some_and(|body| {
            let mut solids = body.solids.iter();
            solids.any(|solid| solid.overlaps(&area))
                || body.planes.iter().any(|plane| plane.overlaps(&area))
        })
    };
    let entities = snapshot.performers.into_iter();
    Ok(entities.filter(overlaps).collect())
}

/// Reads an area; none has no bounds.
fn area_of(bounds: &Bounds) -> Result<Option<Solid>, Refusal> {
    let points: Vec<[f64; 3]> = bounds.points.iter().map(numbers).collect();
    if points.len() > CORNERS_MAX || !points.iter().flatten().all(|one| one.is_finite()) {
        let reason = format!("bounds have at most {CORNERS_MAX} points, whose numbers are finite");
        return Err(Refusal::failed(reason));
    }
    let wrong = |reason: &str| Err(Refusal::failed(reason));
    let solid = match (bounds.r#type, points.as_slice()) {
        (Bounds::TYPE_EMPTY, _) => return Ok(None),
        (Bounds::TYPE_BOX, [one, other]) => {
            Solid::new(Shape::Points(corners([*one, *other])), SAME)
        }
        (Bounds::TYPE_BOX, _) => return wrong("a box has 2 points, its corners"),
        (Bounds::TYPE_CONVEX_HULL, [_, _, _, ..]) => Solid::new(Shape::Points(points), SAME),
        (Bounds::TYPE_CONVEX_HULL, _) => return wrong("a convex hull has 3 points or more"),
        (Bounds::TYPE_SPHERE, [[x, y, z], [radius, ..]]) if *radius >= 0.0 => {
            let [.., qx, qy, qz, qw] = SAME;
            Solid::new(Shape::Ball(*radius), [*x, *y, *z, qx, qy, qz, qw])
        }
        (Bounds::TYPE_SPHERE, _) => {
            return wrong("a sphere has 2 points: its centre, and its radius as x, 0 or more");
        }
        (other, _) => {
            let reason = format!("there are no bounds of type {other}: use 0, 1, 2 or 3");
            return Err(Refusal::unsupported(reason));
        }
    };
    Ok(Some(solid))
}

/// Returns the collisions of the entities of a snapshot, by their names.
async fn bodies<O: Outside>(
    control: &Control<O>,
    snapshot: &Snapshot,
) -> Result<BTreeMap<String, Body>, Refusal> {
    let scene = control.scene().await?;
    // The run tells nothing of what stands.
    let standing: BTreeSet<&str> = standing(&scene)
        .map(|(_, model)| model.name.as_str())
        .collect();
    let mut moving = snapshot.clone();
    let is_moving = |one: &PerformerReport| !standing.contains(one.name.as_str());
    moving.performers.retain(is_moving);
    let poses = control.link_poses(&scene, &moving).await?;
    let wanted = snapshot.performers.iter();
    let wanted: BTreeMap<&str, LinkPose> = wanted
        .map(|one| (one.name.as_str(), pose_of(one)))
        .collect();
    let models = scene.worlds.iter().flat_map(|world| &world.models);
    let mut bodies = BTreeMap::new();
    let mut named = BTreeSet::new();
    for model in models {
        if let Some(pose) = wanted.get(model.name.as_str())
            && named.insert(&model.name)
        {
            bodies.insert(model.name.clone(), body(model, pose, &poses));
        }
    }
    Ok(bodies)
}

/// Returns the collisions of a model whose origin has a pose, if no link tells better.
fn body(model: &Model, pose: &LinkPose, poses: &BTreeMap<u32, LinkPose>) -> Body {
    let canonical = model.links.get(model.canonical_link);
    let told = canonical.and_then(|link| Some((link, poses.get(&link.id)?)));
    let origin = told.map_or(*pose, |(link, now)| {
        out_of(now, &into(&link.pose, &model.pose))
    });
    let mut body = Body {
        origin,
        solids: Vec::new(),
        planes: Vec::new(),
    };
    for link in &model.links {
        let still = || out_of(&origin, &into(&model.pose, &link.pose));
        let now = poses.get(&link.id).copied().unwrap_or_else(still);
        for collision in &link.collisions {
            body.planes.extend(HalfSpace::of_collision(collision, &now));
            body.solids.extend(Solid::of_collision(collision, &now));
        }
    }
    if body.solids.is_empty() && body.planes.is_empty() {
        // What touches nothing is where its origin is.
        body.solids
            .push(Solid::new(Shape::Points(vec![[0.0; 3]]), origin));
    }
    body
}

/// Refuses since an entity has gone meanwhile.
fn gone(entity: &str) -> Refusal {
    Refusal::not_found(format!("the entity {entity:?} has gone"))
}

fn numbers(vector: &Vector3) -> [f64; 3] {
    [vector.x, vector.y, vector.z]
}
