//! [`layout`]: the layout of `configs/foxglove.json` with the sensors that there are.
//!
//! Viewers show no scan and no points until they are told to, their panels for images and for
//! places on earth are of use only where there are any, and they do not look for the world.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::geometry::position;
use crate::protocol::server_to_client::Channel;
use crate::shown_scene::ShownScene;

/// The layout for any run.
const GENERAL: &str = include_str!("../../../../configs/foxglove.json");
/// The panel with three dimensions.
const SPACE: &str = "3D!phalanx";
/// The panel with tabs.
const TABS: &str = "Tab!phalanx";
/// The panel with the first image.
const IMAGE: &str = "Image!phalanx";
/// The topic of models and levels.
const SCENE: &str = "/scene";
/// Distance of the camera for each metre of what is drawn.
const DISTANCE_PER_EXTENT: f64 = 1.3;
/// The least and the greatest distance of the camera \[m\].
const DISTANCE: (f64, f64) = (6.0, 3000.0);
/// The most panels with images.
const IMAGES_MAX: usize = 4;
/// The most scans and clouds of points that are shown at once, and the most contacts and boxes.
const CLOUDS_MAX: usize = 16;

/// Returns the layout for any run, as JSON.
pub(crate) fn general_layout() -> Bytes {
    Bytes::from_static(GENERAL.as_bytes())
}

/// Returns the layout for what is offered and drawn, as JSON.
pub(crate) fn layout(channels: &[Channel], shown: &ShownScene) -> Bytes {
    let mut layout: Value = serde_json::from_str(GENERAL).expect("a test reads it");
    let panels = &mut layout["configById"];
    if let Some((middle, distance)) = view_of(shown) {
        let camera = &mut panels[SPACE]["cameraState"];
        (camera["targetOffset"], camera["distance"]) = (json!(middle), json!(distance));
    }
    for topic in clouds(channels).into_iter().chain(markers(channels)) {
        panels[SPACE]["topics"][topic] = json!({ "visible": true });
    }
    let images = images(channels);
    if let Some(place) = place_of_images(panels, &images, channels) {
        set_tab(panels, "Camera", &place);
    } else {
        drop_tab(panels, "Camera");
    }
    if topics(channels, "foxglove.LocationFix").next().is_none() {
        drop_tab(panels, "Map");
    }
    let text = serde_json::to_vec_pretty(&layout);
    text.expect("JSON is written as JSON").into()
}

/// Returns the middle of what is drawn, and the distance from which all of it is seen \[m\]: of
/// levels, or else of models.
fn view_of(shown: &ShownScene) -> Option<([f64; 3], f64)> {
    let world = shown.scene.worlds.first()?;
    let levels = world.levels.iter().filter(|level| !level.default);
    let corners = levels.flat_map(|level| {
        let half = level.size.map(|edge| edge / 2.0);
        [-1.0, 1.0].map(|side| [0, 1, 2].map(|axis| level.pose[axis] + side * half[axis]))
    });
    let mut points: Vec<[f64; 3]> = corners.collect();
    if points.is_empty() {
        let links = world.models.iter().flat_map(|model| &model.links);
        points.extend(links.map(|link| position(&link.pose)));
    }
    let edge = |axis: usize, start: f64, pick: fn(f64, f64) -> f64| {
        let places = points.iter().map(|point| point[axis]);
        places.fold(start, pick)
    };
    let least = [0, 1, 2].map(|axis| edge(axis, f64::INFINITY, f64::min));
    let most = [0, 1, 2].map(|axis| edge(axis, f64::NEG_INFINITY, f64::max));
    let middle = [0, 1, 2].map(|axis| least[axis].midpoint(most[axis]));
    let across = (most[0] - least[0]).hypot(most[1] - least[1]);
    let is_known = !points.is_empty() && across.is_finite() && middle.iter().all(|x| x.is_finite());
    is_known.then(|| {
        (
            middle,
            (across * DISTANCE_PER_EXTENT).clamp(DISTANCE.0, DISTANCE.1),
        )
    })
}

fn topics<'a>(channels: &'a [Channel], schema: &'a str) -> impl Iterator<Item = &'a str> {
    let of_schema = channels.iter().filter(move |one| one.schema_name == schema);
    of_schema.map(|one| one.topic.as_str())
}

/// Returns scans, and clouds of points that are not those of a scan.
fn clouds(channels: &[Channel]) -> Vec<&str> {
    let scans: Vec<&str> = topics(channels, "foxglove.LaserScan").collect();
    let is_of_scan = |topic: &&str| scans.contains(&folder(topic));
    let clouds = topics(channels, "foxglove.PointCloud").filter(|topic| !is_of_scan(topic));
    let all = scans.iter().copied().chain(clouds);
    all.take(CLOUDS_MAX).collect()
}

/// Returns contacts and boxes in space.
fn markers(channels: &[Channel]) -> impl Iterator<Item = &str> {
    let drawn = topics(channels, "foxglove.SceneUpdate").filter(|topic| *topic != SCENE);
    drawn.take(CLOUDS_MAX)
}

/// Returns topics of images: compressed ones, or else all.
fn images(channels: &[Channel]) -> Vec<&str> {
    let mut found: Vec<&str> = topics(channels, "foxglove.CompressedImage").collect();
    if found.is_empty() {
        found.extend(topics(channels, "foxglove.RawImage"));
    }
    found.truncate(IMAGES_MAX);
    found
}

/// Adds panels with images and returns their arrangement; none without images.
fn place_of_images(panels: &mut Value, images: &[&str], channels: &[Channel]) -> Option<Value> {
    let general = panels[IMAGE].clone();
    let names = images.iter().enumerate().map(|(number, topic)| {
        let name = match number {
            0 => IMAGE.to_owned(),
            _ => format!("{IMAGE}{number}"),
        };
        let mut panel = general.clone();
        panel["imageMode"]["imageTopic"] = json!(topic);
        if let Some(calibration) = calibration_of(topic, channels) {
            panel["imageMode"]["calibrationTopic"] = json!(calibration);
        }
        panels[&name] = panel;
        json!(name)
    });
    let names: Vec<Value> = names.collect();
    let column = |pair: &[Value]| split("column", pair);
    let columns: Vec<Value> = names.chunks(2).filter_map(column).collect();
    split("row", &columns)
}

/// Splits a place between one or two.
fn split(direction: &str, parts: &[Value]) -> Option<Value> {
    match parts {
        [] => None,
        [only] => Some(only.clone()),
        [first, second, ..] => Some(json!({
            "direction": direction, "splitPercentage": 50, "first": first, "second": second,
        })),
    }
}

/// Returns the topic on which the camera of an image is told: it is beside the image.
fn calibration_of<'a>(image: &str, channels: &'a [Channel]) -> Option<&'a str> {
    let image = image.strip_suffix("/compressed").unwrap_or(image);
    let image = image.strip_prefix("/foxglove").unwrap_or(image);
    let mut known = topics(channels, "foxglove.CameraCalibration");
    known.find(|topic| {
        let beside = folder(topic.strip_prefix("/foxglove").unwrap_or(topic));
        beside == folder(image)
    })
}

/// Returns all of a topic but its last part.
fn folder(topic: &str) -> &str {
    topic.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn set_tab(panels: &mut Value, title: &str, place: &Value) {
    for tab in panels[TABS]["tabs"].as_array_mut().into_iter().flatten() {
        if tab["title"] == title {
            tab["layout"] = place.clone();
        }
    }
}

fn drop_tab(panels: &mut Value, title: &str) {
    if let Some(tabs) = panels[TABS]["tabs"].as_array_mut() {
        tabs.retain(|tab| tab["title"] != title);
    }
}

#[cfg(test)]
mod tests {
    use protocol::report::{Layout, LevelOutline, TopicReport};

    use super::*;
    use crate::channels::Channels;

    fn layout_of(topics: &[(&str, &str)]) -> Value {
        let topic = |(name, kind): &(&str, &str)| TopicReport {
            topic: (*name).to_owned(),
            kind: format!("gz.msgs.{kind}"),
            ..TopicReport::default()
        };
        let topics: Vec<TopicReport> = topics.iter().map(topic).collect();
        let mut channels = Channels::new(false);
        channels.set_topics(&topics);
        let layout = layout(&channels.offers(false), &ShownScene::default());
        serde_json::from_slice(&layout).unwrap()
    }

    fn tabs(layout: &Value) -> Vec<&str> {
        let tabs = layout["configById"][TABS]["tabs"].as_array().unwrap();
        tabs.iter()
            .map(|tab| tab["title"].as_str().unwrap())
            .collect()
    }

    #[test]
    fn a_world_without_sensors_has_no_empty_panels() {
        let layout = layout_of(&[]);
        assert_eq!(tabs(&layout), ["Run", "Log"]);
    }

    #[test]
    fn the_camera_sees_what_is_drawn() {
        let level = |x: f64| LevelOutline {
            name: x.to_string(),
            world: String::new(),
            min: [x, 0.0, 0.0],
            max: [x + 20.0, 40.0, 4.0],
            buffer: 1.0,
        };
        let outlines = Layout {
            levels: vec![level(100.0), level(120.0)],
            ..Layout::default()
        };
        let mut shown = ShownScene::of_layout(&outlines, "w");
        let view = view_of(&shown).unwrap();
        assert_eq!(view.0, [120.0, 20.0, 2.0]);
        assert!(
            (view.1 - 1.3 * 40.0 * 2.0_f64.sqrt()).abs() < 1e-9,
            "{view:?}"
        );
        shown.scene.worlds[0].levels.clear();
        assert_eq!(view_of(&shown), None, "nothing is there");
    }

    #[test]
    fn sensors_are_shown_where_viewers_show_them() {
        let layout = layout_of(&[
            ("/lidar", "LaserScan"),
            ("/lidar/points", "PointCloudPacked"),
            ("/depth/points", "PointCloudPacked"),
            ("/navsat", "NavSat"),
            ("/left/image", "Image"),
            ("/left/camera_info", "CameraInfo"),
            ("/right/image", "Image"),
            ("/right/camera_info", "CameraInfo"),
            ("/top/image", "Image"),
            ("/touch", "Contacts"),
        ]);
        assert_eq!(tabs(&layout), ["Run", "Camera", "Map", "Log"]);
        let panels = &layout["configById"];
        let shown = panels[SPACE]["topics"].as_object().unwrap();
        let shown: Vec<&str> = shown.keys().map(String::as_str).collect();
        assert_eq!(
            shown,
            [
                "/foxglove/depth/points",
                "/foxglove/lidar",
                "/foxglove/touch",
                "/scene"
            ]
        );
        let modes: Vec<&Value> = ["", "1", "2"]
            .iter()
            .map(|end| &panels[format!("{IMAGE}{end}")]["imageMode"])
            .collect();
        assert_eq!(modes[1]["imageTopic"], "/right/image/compressed");
        assert_eq!(modes[1]["calibrationTopic"], "/foxglove/right/camera_info");
        assert_eq!(modes[2]["calibrationTopic"], Value::Null);
        let place = &panels[TABS]["tabs"][1]["layout"];
        assert_eq!(place["first"]["second"], format!("{IMAGE}1"));
        assert_eq!(place["second"], format!("{IMAGE}2"));
    }
}
