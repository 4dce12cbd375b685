//! JSON schemas of the run's own channels; those named `foxglove.` are Foxglove's, with fields of
//! ours besides, which viewers pass over.

use messages::foxglove;
use messages::json_schema::{boolean, integer, list, object, string};
use serde_json::{Value, json};

use crate::channel::Channel;

/// Returns the JSON schema of a channel's messages, if they are JSON.
pub(crate) fn schema(channel: Channel) -> Option<Value> {
    Some(match channel {
        Channel::Poses => frames_with_velocities(),
        Channel::Links => foxglove::frame_transforms(),
        Channel::Clock => object(&json!({
            "iteration": integer(), "sim_time_ns": integer(), "paused": boolean(),
            "events": object(&json!({
                "hand_offs": integer(), "migrations": integer(), "levels_loaded": integer(),
                "levels_unloaded": integer(), "recoveries": integer(),
            })),
        })),
        Channel::Digests => object(&json!({ "iteration": integer(), "digest": string() })),
        Channel::Affinity => affinity(),
        Channel::Events => {
            let mut log = foxglove::log();
            log["properties"]["iteration"] = integer();
            log["properties"]["severity"] = string();
            log["properties"]["kind"] = string();
            log
        }
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
        Channel::Models => object(&json!({
            "anew": boolean(), "changes": list(&open_object()),
        })),
        Channel::Scene => foxglove::scene_update(),
        Channel::Overflow => object(&json!({
            "topic": string(), "kind": string(), "message": open_object(),
        })),
    })
}

fn frames_with_velocities() -> Value {
    let mut frames = foxglove::frame_transforms();
    let transform = &mut frames["properties"]["transforms"]["items"];
    transform["properties"]["linear_velocity"] = foxglove::vector();
    frames["properties"]["iteration"] = integer();
    frames
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

fn open_object() -> Value {
    json!({ "type": "object" })
}
