//! Messages that Foxglove draws by itself: the scene, frames of reference, scans, points and
//! images, in JSON.

mod drawing;
mod layout;
mod markers;
mod sensing;

use serde_json::{Value, json};

use crate::geometry::{orientation, position};

pub(crate) use drawing::{gaps, scene_update, transforms};
pub(crate) use layout::{general_layout, layout};
pub(crate) use sensing::{MODEL_TOPIC, SensorPlace, Typed, compressed_image, frame_id};

/// The frame of reference that does not move.
pub(crate) const WORLD_FRAME: &str = "world";

/// Returns a time \[ns\] as messages have it.
pub(crate) fn time(time_ns: u64) -> Value {
    json!({ "sec": time_ns / 1_000_000_000, "nsec": time_ns % 1_000_000_000 })
}

fn vector([x, y, z]: [f64; 3]) -> Value {
    json!({ "x": x, "y": y, "z": z })
}

fn quaternion([x, y, z, w]: [f64; 4]) -> Value {
    json!({ "x": x, "y": y, "z": z, "w": w })
}

fn color([r, g, b, a]: [f64; 4]) -> Value {
    json!({ "r": r, "g": g, "b": b, "a": a })
}

fn pose(pose: &protocol::LinkPose) -> Value {
    json!({ "position": vector(position(pose)), "orientation": quaternion(orientation(pose)) })
}
