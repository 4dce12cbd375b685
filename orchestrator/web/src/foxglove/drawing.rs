//! The scene as `foxglove.SceneUpdate`, frames of reference as `foxglove.FrameTransforms`.

use std::collections::BTreeMap;

use protocol::LinkPose;
use scene::{Geometry, Link, Model, Visual, World};
use serde_json::{Value, json};

use super::{SensorPlace, WORLD_FRAME, pose, quaternion, time, vector};
use crate::assets::Asset;
use crate::geometry::{compose, orientation, position};
use crate::shown_scene::ShownScene;

/// Beginning of the addresses of meshes. Viewers ask for such addresses over the connection that
/// they have, once for all that looks alike, and need no token for that.
const ASSETS: &str = "package://phalanx/assets/";
/// The most reasons that are told why something is not drawn.
const GAPS_MAX: usize = 16;
/// Grey of what has no material.
const GREY: [f64; 4] = [0.7, 0.7, 0.7, 1.0];
/// Thickness of a plane \[m\].
const PLANE_THICKNESS: f64 = 0.001;
/// A quarter turn about x, backwards: viewers turn files of glTF from y up to z up.
const TURN_BACK: LinkPose = [
    0.0,
    0.0,
    0.0,
    -std::f64::consts::FRAC_1_SQRT_2,
    0.0,
    0.0,
    std::f64::consts::FRAC_1_SQRT_2,
];

/// Returns the transforms of frames of reference: of links to the world, and of sensors to what
/// they are fixed to.
pub(crate) fn transforms<'a>(
    links: impl Iterator<Item = (&'a str, &'a LinkPose)>,
    sensors: impl Iterator<Item = &'a SensorPlace>,
    time_ns: u64,
) -> Value {
    let transform = |parent: &str, frame: &str, pose: &LinkPose| {
        json!({
            "timestamp": time(time_ns), "parent_frame_id": parent, "child_frame_id": frame,
            "translation": vector(position(pose)), "rotation": quaternion(orientation(pose)),
        })
    };
    let links = links.map(|(frame, pose)| transform(WORLD_FRAME, frame, pose));
    let sensors = sensors.map(|place| transform(&place.frame, &place.own_frame, &place.own_pose()));
    json!({ "transforms": links.chain(sensors).collect::<Vec<Value>>() })
}

/// Returns the scene; everything that was drawn before goes.
pub(crate) fn scene_update(shown: &ShownScene, time_ns: u64) -> Value {
    let drawing = Drawing {
        assets: &shown.assets,
        time_ns,
    };
    let mut entities = Vec::new();
    for model in shown.models() {
        let has_visuals = model.links.iter().any(|link| !link.visuals.is_empty());
        for link in &model.links {
            let shapes = if has_visuals {
                link.visuals.clone()
            } else {
                instead(link)
            };
            if !shapes.is_empty() {
                entities.push(drawing.entity(model, link, &shapes));
            }
        }
    }
    for world in &shown.scene.worlds {
        entities.extend(levels(world, time_ns));
    }
    let deletion = json!({ "timestamp": time(time_ns), "type": 1, "id": "" });
    json!({ "deletions": [deletion], "entities": entities })
}

/// Returns the reasons why something of a scene is not drawn.
pub(crate) fn gaps(shown: &ShownScene) -> Vec<String> {
    let mut gaps = shown.scene.problems.clone();
    let links = shown
        .models()
        .flat_map(|model| model.links.iter().map(move |link| (model, link)));
    for (model, link) in links {
        for visual in &link.visuals {
            if let Geometry::Mesh { asset, .. } | Geometry::Heightmap { asset } = &visual.geometry
                && !shown.assets.contains_key(asset_name(asset))
            {
                let (model, link, visual) = (&model.name, &link.name, &visual.name);
                gaps.push(format!(
                    "{model}::{link}::{visual} is not drawn: there is no {asset}"
                ));
            }
        }
    }
    if gaps.len() > GAPS_MAX {
        let more = gaps.len() - GAPS_MAX;
        gaps.truncate(GAPS_MAX);
        gaps.push(format!(
            "{more} more of the scene are not drawn as they should be"
        ));
    }
    gaps
}

/// Returns the name of an asset of a scene.
fn asset_name(asset: &str) -> &str {
    asset.trim_start_matches("/assets/")
}

/// Draws links.
struct Drawing<'a> {
    assets: &'a BTreeMap<String, Asset>,
    time_ns: u64,
}

impl Drawing<'_> {
    fn entity(&self, model: &Model, link: &Link, shapes: &[Visual]) -> Value {
        let id = format!("{}::{}", model.name, link.name);
        let moves = model.performer || !model.is_static;
        let mut entity = empty(&id, if moves { &id } else { WORLD_FRAME }, self.time_ns);
        for visual in shapes {
            let at = if moves {
                visual.pose
            } else {
                compose(&link.pose, &visual.pose)
            };
            if let Some((list, shape)) = self.shape(visual, &at) {
                push(&mut entity, list, shape);
            }
        }
        entity
    }

    /// Returns a shape and the list that it belongs to.
    fn shape(&self, visual: &Visual, at: &LinkPose) -> Option<(&'static str, Value)> {
        let color = color(visual);
        let sized = |size| json!({ "pose": pose(at), "size": vector(size), "color": color });
        let round = |radius: f64, length: f64, top: f64| {
            let mut shape = sized([2.0 * radius, 2.0 * radius, length]);
            (shape["bottom_scale"], shape["top_scale"]) = (json!(1.0), json!(top));
            shape
        };
        Some(match &visual.geometry {
            Geometry::Empty => return None,
            Geometry::Box { size } => ("cubes", sized(*size)),
            Geometry::Sphere { radius } => ("spheres", sized([2.0 * radius; 3])),
            Geometry::Ellipsoid { radii } => ("spheres", sized(radii.map(|radius| 2.0 * radius))),
            Geometry::Cylinder { radius, length } => ("cylinders", round(*radius, *length, 1.0)),
            Geometry::Capsule { radius, length } => {
                ("cylinders", round(*radius, length + 2.0 * radius, 1.0))
            }
            Geometry::Cone { radius, length } => ("cylinders", round(*radius, *length, 0.0)),
            Geometry::Plane { normal, size } => {
                let turned = compose(at, &turn_to(*normal));
                let size = vector([size[0], size[1], PLANE_THICKNESS]);
                (
                    "cubes",
                    json!({ "pose": pose(&turned), "size": size, "color": color }),
                )
            }
            Geometry::Mesh { asset, scale } => ("models", self.mesh(visual, asset, *scale, at)?),
            Geometry::Heightmap { asset } => ("models", self.mesh(visual, asset, [1.0; 3], at)?),
        })
    }

    fn mesh(
        &self,
        visual: &Visual,
        asset: &str,
        [x, y, z]: [f64; 3],
        at: &LinkPose,
    ) -> Option<Value> {
        let name = asset_name(asset);
        let asset = self.assets.get(name)?;
        // The mesh of ground with layers has a texture of its own.
        let material = visual.material.as_ref();
        let overrides = material.is_some_and(|material| material.ground.is_none());
        Some(json!({
            "pose": pose(&compose(at, &TURN_BACK)),
            // Factors are applied after the turn.
            "scale": vector([x, z, y]),
            "color": color(visual), "override_color": overrides,
            "url": format!("{ASSETS}{name}"), "media_type": asset.kind, "data": "",
        }))
    }
}

/// Returns the collisions of a link as visuals, for a model that has none.
fn instead(link: &Link) -> Vec<Visual> {
    let drawn = link.collisions.iter().map(|collision| Visual {
        name: collision.name.clone(),
        pose: collision.pose,
        geometry: collision.geometry.clone(),
        material: None,
        transparency: 0.0,
        cast_shadows: true,
        visibility_flags: u32::MAX,
    });
    drawn.collect()
}

/// Returns the boxes of levels.
fn levels(world: &World, time_ns: u64) -> Vec<Value> {
    let levels = world.levels.iter().filter(|level| !level.default);
    let drawn = levels.map(|level| {
        let mut entity = empty(&format!("level {}", level.name), WORLD_FRAME, time_ns);
        let color = json!({ "r": 0.3, "g": 0.8, "b": 0.4, "a": 0.12 });
        let size = vector(level.size);
        push(
            &mut entity,
            "cubes",
            json!({ "pose": pose(&level.pose), "size": size, "color": color }),
        );
        entity
    });
    drawn.collect()
}

/// Makes an entity without shapes.
pub(super) fn empty(id: &str, frame: &str, time_ns: u64) -> Value {
    json!({
        "timestamp": time(time_ns), "frame_id": frame, "id": id,
        "lifetime": { "sec": 0, "nsec": 0 }, "frame_locked": true, "metadata": [],
        "arrows": [], "cubes": [], "spheres": [], "cylinders": [], "lines": [], "triangles": [],
        "texts": [], "models": [],
    })
}

/// Adds a shape to a list of an entity.
pub(super) fn push(entity: &mut Value, list: &str, shape: Value) {
    if let Some(list) = entity[list].as_array_mut() {
        list.push(shape);
    }
}

fn color(visual: &Visual) -> Value {
    let [r, g, b, a] = visual
        .material
        .as_ref()
        .map_or(GREY, |material| material.diffuse);
    json!({ "r": r, "g": g, "b": b, "a": a * (1.0 - visual.transparency) })
}

/// Returns the turn that takes z to a unit normal.
fn turn_to([x, y, z]: [f64; 3]) -> LinkPose {
    if z < -1.0 + 1e-9 {
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    }
    // Half of the way between z and the normal.
    let w = f64::midpoint(1.0, z).sqrt();
    [0.0, 0.0, 0.0, -y / (2.0 * w), x / (2.0 * w), 0.0, w]
}

#[cfg(test)]
mod tests {
    use protocol::report::{Layout, ModelOutline};

    use super::*;

    #[test]
    fn what_moves_is_in_its_own_frame_and_what_stands_is_in_that_of_the_world() {
        let outline = |name: &str| ModelOutline {
            name: name.to_owned(),
            min: [0.0; 3],
            max: [2.0, 4.0, 6.0],
        };
        let layout = Layout {
            levels: Vec::new(),
            statics: vec![outline("wall")],
            performers: vec![outline("rover")],
        };
        let update = scene_update(&ShownScene::of_layout(&layout, "w"), 1_500_000_000);
        let entities = update["entities"].as_array().unwrap();
        let frame = |index: usize| entities[index]["frame_id"].as_str().unwrap();
        assert_eq!((frame(0), frame(1)), ("world", "rover::link"));
        assert_eq!(entities[0]["cubes"][0]["pose"]["position"]["z"], 3.0);
        assert_eq!(
            entities[0]["timestamp"],
            json!({ "sec": 1, "nsec": 500_000_000 })
        );
    }

    #[test]
    fn planes_are_turned_to_their_normals() {
        let up = turn_to([0.0, 0.0, 1.0]);
        assert_eq!(up, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        let ahead = compose(
            &turn_to([1.0, 0.0, 0.0]),
            &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        );
        assert!((ahead[0] - 1.0).abs() < 1e-12, "{ahead:?}");
        let down = compose(
            &turn_to([0.0, 0.0, -1.0]),
            &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        );
        assert!((down[2] + 1.0).abs() < 1e-12, "{down:?}");
    }
}
