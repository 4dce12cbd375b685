//! Schemas of the messages on `/phalanx/run` and `/phalanx/groups`, without which viewers plot
//! nothing of them.

use messages::json_schema::{boolean, integer, list, number, object, string};
use serde_json::{Map, Value, json};

/// Returns the schema of `phalanx.Run`. Of its fields, those of which nothing is known are null.
pub(crate) fn run() -> Value {
    object(&json!({
        "run": string(), "world": string(), "state": string(), "read_only": boolean(),
        "iteration": integer(), "sim_time_s": number(), "real_time_factor": number(),
        "steps_per_second": number(), "pace": number(), "digest": string(), "stats": stats(),
        "holder": object(&json!({ "peer": string(), "reason": string() })),
        "owners": list(&string()),
        "recording": object(&json!({
            "start_s": number(), "end_s": number(), "now_s": number(), "speed": number(),
            "is_playing": boolean(),
        })),
        "drive": list(&object(&json!({ "model": string(), "topic": string() }))),
        "end": object(&json!({ "outcome": string(), "cause": string() })),
        "problem": string(),
        "events": list(&object(&json!({
            "number": integer(), "iteration": integer(), "severity": string(), "kind": string(),
            "text": string(),
        }))),
        "secondaries": list(&secondary()), "levels": list(&level()),
        "performers": list(&performer()),
    }))
}

/// Returns the schema of `phalanx.Groups`.
pub(crate) fn groups() -> Value {
    object(&json!({ "groups": list(&object(&json!({ "performers": list(&string()) }))) }))
}

fn stats() -> Value {
    let times = || all(&number(), &["p50", "p90", "p99", "max"]);
    let split = [
        "physics_us",
        "systems_us",
        "sensors_us",
        "cell_us",
        "network_us",
        "primary_us",
        "participants_us",
        "pace_us",
    ];
    let refused = [
        "stale",
        "duplicate",
        "foreign",
        "malformed",
        "unauthenticated",
        "forbidden",
        "excess",
    ];
    let events = [
        "hand_offs",
        "migrations",
        "levels_loaded",
        "levels_unloaded",
        "recoveries",
    ];
    object(&json!({
        "world": string(), "state": string(), "iteration": integer(), "sim_time_s": number(),
        "paused": boolean(), "real_time_factor": number(), "real_time_factor_asked": number(),
        "steps_per_s": number(), "step_us": times(), "recent_step_us": times(),
        "split": all(&number(), &split),
        "steps": object(&json!({ "first": integer(), "counts": list(&integer()) })),
        "physics_us": times(), "overhead_us": times(), "digest": string(),
        "refused": all(&integer(), &refused), "secondaries_missing": integer(),
        "events": all(&integer(), &events), "insecure": boolean(), "elapsed_s": number(),
    }))
}

/// Returns the schema of a secondary or a standalone process.
fn secondary() -> Value {
    object(&json!({
        "name": string(), "role": string(), "state": string(), "pid": integer(),
        "host": string(), "heartbeat_age_ms": number(), "round_trip_us": integer(),
        "clock_offset_us": integer(), "levels": list(&string()), "performers": list(&string()),
        "physics_us": number(), "systems_us": number(), "sensors_us": number(),
        "busy_us": number(), "network_us": number(), "blocked_us": number(),
        "wait_us": number(), "last_share": number(), "blocking": boolean(), "cpu": number(),
        "memory_bytes": integer(),
        "host_load": object(&json!({
            "load_average": number(), "cores": integer(), "memory_bytes": integer(),
            "available_bytes": integer(),
        })),
        "relay": string(), "relay_age_ms": number(), "gpu": string(), "step_ms": number(),
    }))
}

fn level() -> Value {
    object(&json!({
        "name": string(), "world": string(), "active": boolean(), "suspended": boolean(),
        "digest": string(), "owner": string(), "performers": list(&string()),
        "ghosts": list(&string()), "hand_offs": integer(), "models_loaded": list(&string()),
        "physics_us": number(), "systems_us": number(), "sensors_us": number(),
    }))
}

fn performer() -> Value {
    object(&json!({
        "name": string(), "owner": string(), "level": string(), "levels": list(&string()),
        "position": list(&number()), "orientation_xyzw": list(&number()),
        "linear_velocity": list(&number()), "angular_velocity": list(&number()),
        "hand_offs": integer(), "group": integer(), "speed": number(), "ghosts": list(&string()),
    }))
}

/// Returns the schema of an object whose fields are all of one type.
fn all(field: &Value, names: &[&str]) -> Value {
    let fields = names.iter().map(|name| ((*name).to_owned(), field.clone()));
    object(&Value::from(fields.collect::<Map<String, Value>>()))
}
