//! JSON schemas of Foxglove's messages, of the fields that are sent.

use serde_json::{Value, json};

use crate::json_schema::{boolean, bytes, integer, list, number, object, string};

/// Returns the schema of `foxglove.FrameTransforms`.
pub fn frame_transforms() -> Value {
    object(&json!({
        "transforms": list(&object(&json!({
            "timestamp": time(), "parent_frame_id": string(), "child_frame_id": string(),
            "translation": vector(), "rotation": quaternion(),
        }))),
    }))
}

/// Returns the schema of `foxglove.SceneUpdate`.
pub fn scene_update() -> Value {
    let color = || object(&json!({ "r": number(), "g": number(), "b": number(), "a": number() }));
    let sized = || object(&json!({ "pose": pose(), "size": vector(), "color": color() }));
    let cylinder = object(&json!({
        "pose": pose(), "size": vector(), "bottom_scale": number(), "top_scale": number(),
        "color": color(),
    }));
    let model = object(&json!({
        "pose": pose(), "scale": vector(), "color": color(), "override_color": boolean(),
        "url": string(), "media_type": string(), "data": bytes(),
    }));
    let nothing = || list(&json!({ "type": "object" }));
    object(&json!({
        "deletions": list(&object(&json!({
            "timestamp": time(), "type": integer(), "id": string(),
        }))),
        "entities": list(&object(&json!({
            "timestamp": time(), "frame_id": string(), "id": string(),
            "lifetime": time(), "frame_locked": boolean(),
            "metadata": list(&object(&json!({ "key": string(), "value": string() }))),
            "arrows": nothing(), "cubes": list(&sized()), "spheres": list(&sized()),
            "cylinders": list(&cylinder), "lines": nothing(), "triangles": nothing(),
            "texts": nothing(), "models": list(&model),
        }))),
    }))
}

/// Returns the schema of `foxglove.Log`.
pub fn log() -> Value {
    object(&json!({
        "timestamp": time(), "level": integer(), "message": string(), "name": string(),
        "file": string(), "line": integer(),
    }))
}

/// Returns the schema of `foxglove.LaserScan`.
pub fn laser_scan() -> Value {
    object(&json!({
        "timestamp": time(), "frame_id": string(), "pose": pose(),
        "start_angle": number(), "end_angle": number(),
        "ranges": list(&number()), "intensities": list(&number()),
    }))
}

/// Returns the schema of `foxglove.PointCloud`.
pub fn point_cloud() -> Value {
    object(&json!({
        "timestamp": time(), "frame_id": string(), "pose": pose(), "point_stride": integer(),
        "fields": list(&object(&json!({
            "name": string(), "offset": integer(), "type": integer(),
        }))),
        "data": bytes(),
    }))
}

/// Returns the schema of `foxglove.RawImage`.
pub fn raw_image() -> Value {
    object(&json!({
        "timestamp": time(), "frame_id": string(), "width": integer(), "height": integer(),
        "encoding": string(), "step": integer(), "data": bytes(),
    }))
}

/// Returns the schema of a time, which viewers know by its title.
fn time() -> Value {
    json!({
        "type": "object", "title": "time",
        "properties": { "sec": integer(), "nsec": integer() },
    })
}

fn pose() -> Value {
    object(&json!({ "position": vector(), "orientation": quaternion() }))
}

/// Returns the schema of three coordinates.
pub fn vector() -> Value {
    object(&json!({ "x": number(), "y": number(), "z": number() }))
}

fn quaternion() -> Value {
    object(&json!({ "x": number(), "y": number(), "z": number(), "w": number() }))
}
