//! JSON schemas of the run's own channels; those named `foxglove.` are Foxglove's, with fields of
//! ours besides, which viewers pass over.

use serde_json::{Value, json};

use crate::channel::Channel;

/// Returns the JSON schema of a channel's messages, if they are JSON.
pub(crate) fn schema(channel: Channel) -> Option<Value> {
    Some(match channel {
        Channel::Poses => frame_transforms(),
        Channel::Clock => object(&json!({
            "iteration": integer(), "sim_time_ns": integer(), "paused": boolean(),
            "events": object(&json!({
                "hand_offs": integer(), "migrations": integer(), "levels_loaded": integer(),
                "levels_unloaded": integer(), "recoveries": integer(),
            })),
        })),
        Channel::Digests => object(&json!({ "iteration": integer(), "digest": string() })),
        Channel::Affinity => affinity(),
        Channel::Events => object(&json!({
            "timestamp": time(), "level": integer(), "message": string(), "name": string(),
            "file": string(), "line": integer(), "iteration": integer(), "severity": string(),
            "kind": string(),
        })),
        Channel::Stats => object(&json!({
            "stats": open_object(), "peers": list(&open_object()),
        })),
        Channel::Commands => object(&json!({
            "iteration": integer(), "paused_round": integer(), "command": json!({}),
            "topic": string(), "type": string(), "message": open_object(),
        })),
        Channel::States => return None,
        Channel::World => object(&json!({
            "levels": list(&open_object()), "statics": list(&open_object()),
            "performers": list(&open_object()), "topics": list(&open_object()),
        })),
        Channel::Scene => scene_update(),
        Channel::Overflow => object(&json!({
            "topic": string(), "kind": string(), "message": open_object(),
        })),
    })
}

fn frame_transforms() -> Value {
    object(&json!({
        "transforms": list(&object(&json!({
            "timestamp": time(), "parent_frame_id": string(), "child_frame_id": string(),
            "translation": vector(), "rotation": quaternion(), "linear_velocity": vector(),
        }))),
        "iteration": integer(),
    }))
}

fn affinity() -> Value {
    object(&json!({
        "levels": list(&object(&json!({
            "name": string(), "world": string(), "active": boolean(), "suspended": boolean(),
            "owner": string(), "performers": list(&string()), "ghosts": list(&string()),
            "hand_offs": integer(), "models_loaded": list(&string()),
        }))),
        "performers": list(&object(&json!({
            "name": string(), "owner": string(), "level": string(), "levels": list(&string()),
            "hand_offs": integer(),
        }))),
    }))
}

fn scene_update() -> Value {
    let cube = object(&json!({
        "pose": object(&json!({ "position": vector(), "orientation": quaternion() })),
        "size": vector(),
        "color": object(&json!({ "r": number(), "g": number(), "b": number(), "a": number() })),
    }));
    let nothing = || list(&open_object());
    object(&json!({
        "deletions": list(&object(&json!({
            "timestamp": time(), "type": integer(), "id": string(),
        }))),
        "entities": list(&object(&json!({
            "timestamp": time(), "frame_id": string(), "id": string(),
            "lifetime": time(), "frame_locked": boolean(),
            "metadata": list(&object(&json!({ "key": string(), "value": string() }))),
            "arrows": nothing(), "cubes": list(&cube), "spheres": nothing(),
            "cylinders": nothing(), "lines": nothing(), "triangles": nothing(),
            "texts": nothing(), "models": nothing(),
        }))),
    }))
}

fn time() -> Value {
    json!({
        "type": "object", "title": "time",
        "properties": { "sec": integer(), "nsec": integer() },
    })
}

fn vector() -> Value {
    object(&json!({ "x": number(), "y": number(), "z": number() }))
}

fn quaternion() -> Value {
    object(&json!({ "x": number(), "y": number(), "z": number(), "w": number() }))
}

fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

fn open_object() -> Value {
    json!({ "type": "object" })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn integer() -> Value {
    json!({ "type": "integer" })
}

fn number() -> Value {
    json!({ "type": "number" })
}

fn string() -> Value {
    json!({ "type": "string" })
}

fn boolean() -> Value {
    json!({ "type": "boolean" })
}
