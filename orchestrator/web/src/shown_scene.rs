//! [`ShownScene`]: what is drawn, as text for clients and as an index for poses.

use std::collections::BTreeMap;

use bytes::Bytes;
use protocol::LinkPose;
use protocol::report::{Layout, LevelOutline, ModelOutline};
use scene::{Geometry, Level, Link, Model, Scene, Sensor, Visual, World};

use crate::assets::Asset;
use crate::foxglove::{MODEL_TOPIC, SensorPlace, WORLD_FRAME};
use crate::geometry::{IDENTITY, compose, relative};

/// Beyond this the box of a model is that of a plane \[m\].
const SIZE_MAX: f64 = 1e5;
/// Edge lengths of a plane \[m\].
const PLANE_SIZE: [f64; 2] = [200.0, 200.0];
/// The kind of sensor that makes no images, in spite of its name.
const LOGICAL_CAMERA: &str = "logical_camera";

/// Everything that is drawn of a run.
#[derive(Clone, Debug, Default)]
pub struct ShownScene {
    /// The scene.
    pub scene: Scene,
    /// Meshes and textures that it names, without `/assets/`.
    pub assets: BTreeMap<String, Asset>,
}

/// Links of a model that moves, by their numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MovingModel {
    /// The model's name as reports have it.
    pub(crate) name: String,
    /// Its links in order: number, frame and pose in the model's frame at the start.
    pub(crate) links: Vec<MovingLink>,
}

/// A link of a model that moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MovingLink {
    pub(crate) id: u32,
    /// Name of its frame of reference: `MODEL::LINK`.
    pub(crate) frame: String,
    /// Pose at the start, model frame.
    pub(crate) offset: LinkPose,
}

impl ShownScene {
    /// Makes a scene of boxes around models, where no more is known.
    pub fn of_layout(layout: &Layout, world: &str) -> Self {
        let mut models = Vec::new();
        let statics = layout.statics.iter().map(|outline| (outline, true));
        let moving = layout.performers.iter().map(|outline| (outline, false));
        for (outline, is_static) in statics.chain(moving) {
            // Each has one link, so that its number is that of the model.
            let number = models.len() as u32;
            models.push(outlined(outline, is_static, number, number));
        }
        let world = World {
            world: world.to_owned(),
            gravity: [0.0, 0.0, -9.8],
            ambient: [0.4; 3],
            background: [0.7; 3],
            sky: None,
            fog: None,
            grid: true,
            shadows: false,
            lights: Vec::new(),
            models,
            levels: layout.levels.iter().map(level).collect(),
            frames: Vec::new(),
        };
        let problem = "shapes are not known: each model is the box around it at the start";
        let mut scene = Scene::default();
        scene::FRAME.clone_into(&mut scene.frame);
        scene.worlds = vec![world];
        scene.problems = vec![problem.to_owned()];
        Self {
            scene,
            assets: BTreeMap::new(),
        }
    }

    /// Returns the scene as clients get it.
    pub(crate) fn text(&self) -> Bytes {
        serde_json::to_vec(&self.scene).unwrap_or_default().into()
    }

    /// Returns the models that move.
    pub(crate) fn moving(&self) -> Vec<MovingModel> {
        let mut moving = Vec::new();
        for model in self.models() {
            if !moves(model) {
                continue;
            }
            let name = model.name.clone();
            let link = |link: &Link| MovingLink {
                id: link.id,
                frame: format!("{name}::{}", link.name),
                offset: relative(&model.pose, &link.pose),
            };
            let links = model.links.iter().map(link).collect();
            moving.push(MovingModel { name, links });
        }
        moving
    }

    /// Returns where sensors are, by their frames: `MODEL::LINK::SENSOR`.
    pub(crate) fn sensors(&self) -> BTreeMap<String, SensorPlace> {
        let mut places = BTreeMap::new();
        for model in self.models() {
            for link in &model.links {
                let frame = format!("{}::{}", model.name, link.name);
                for sensor in &link.sensors {
                    let place = if moves(model) {
                        (frame.clone(), sensor.pose)
                    } else {
                        (WORLD_FRAME.to_owned(), compose(&link.pose, &sensor.pose))
                    };
                    let own_frame = format!("{frame}::{}", sensor.name);
                    let place = SensorPlace {
                        frame: place.0,
                        pose: place.1,
                        own_frame: own_frame.clone(),
                        topic: topic_of(model, link, sensor),
                        is_camera: sensor.kind.ends_with("camera") && sensor.kind != LOGICAL_CAMERA,
                    };
                    places.insert(own_frame, place);
                }
            }
        }
        places
    }

    /// Returns the models of all worlds; their names are as reports have them.
    pub(crate) fn models(&self) -> impl Iterator<Item = &Model> {
        self.scene.worlds.iter().flat_map(|world| &world.models)
    }
}

/// Returns the beginning of a sensor's topics.
fn topic_of(model: &Model, link: &Link, sensor: &Sensor) -> String {
    if let Some(topic) = &sensor.topic {
        return format!("/{}", topic.trim_start_matches('/'));
    }
    let (model, link, sensor) = (&model.name, &link.name, &sensor.name);
    format!("{MODEL_TOPIC}{model}/link/{link}/sensor/{sensor}")
}

/// Tells whether poses of a model's links are told.
fn moves(model: &Model) -> bool {
    model.performer || !model.is_static
}

fn level(outline: &LevelOutline) -> Level {
    let middle = [0, 1, 2].map(|axis| outline.min[axis].midpoint(outline.max[axis]));
    Level {
        name: outline.name.clone(),
        pose: [middle[0], middle[1], middle[2], 0.0, 0.0, 0.0, 1.0],
        size: [0, 1, 2].map(|axis| outline.max[axis] - outline.min[axis]),
        buffer: outline.buffer,
        default: false,
    }
}

/// Makes a model of the box around it. A performer's box is about its origin.
fn outlined(outline: &ModelOutline, is_static: bool, id: u32, link: u32) -> Model {
    let size = [0, 1, 2].map(|axis| outline.max[axis] - outline.min[axis]);
    let is_box = size.iter().all(|edge| (0.0..SIZE_MAX).contains(edge));
    let geometry = if is_box {
        Geometry::Box { size }
    } else {
        Geometry::Plane {
            normal: [0.0, 0.0, 1.0],
            size: PLANE_SIZE,
        }
    };
    let middle = [0, 1, 2].map(|axis| outline.min[axis].midpoint(outline.max[axis]));
    let [x, y, z] = match (is_static, is_box) {
        (true, true) => middle,
        (false, true) => [0.0, 0.0, size[2] / 2.0],
        (_, false) => [0.0; 3],
    };
    Model {
        id,
        name: outline.name.clone(),
        performer: !is_static,
        is_static,
        spawned: false,
        pose: IDENTITY,
        canonical_link: 0,
        links: vec![Link {
            id: link,
            name: "link".to_owned(),
            pose: IDENTITY,
            visuals: vec![Visual {
                name: "box".to_owned(),
                pose: [x, y, z, 0.0, 0.0, 0.0, 1.0],
                geometry,
                material: None,
                transparency: 0.0,
                cast_shadows: true,
                visibility_flags: u32::MAX,
            }],
            collisions: Vec::new(),
            sensors: Vec::new(),
        }],
        motion: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_become_boxes_and_planes_and_only_performers_move() {
        let outline = |name: &str, min, max| ModelOutline {
            name: name.to_owned(),
            min,
            max,
        };
        let layout = Layout {
            levels: Vec::new(),
            statics: vec![outline(
                "ground",
                [f64::NEG_INFINITY; 3],
                [f64::INFINITY; 3],
            )],
            performers: vec![outline("rover", [9.0, 9.0, 0.0], [11.0, 11.0, 1.0])],
        };
        let shown = ShownScene::of_layout(&layout, "field");
        let moving = shown.moving();
        assert_eq!(moving.len(), 1);
        assert_eq!(moving[0].name, "rover");
        assert_eq!(
            (moving[0].links[0].id, &*moving[0].links[0].frame),
            (1, "rover::link")
        );
        let text = String::from_utf8(shown.text().to_vec()).unwrap();
        assert!(text.contains(r#""type":"plane""#), "{text}");
        assert!(!text.contains("null,null"), "{text}");
    }
}
