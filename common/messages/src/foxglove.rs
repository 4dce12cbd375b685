//! Messages of Foxglove: [`CompressedImage`], and JSON schemas of others, of the fields that are
//! sent.

use serde_json::{Value, json};

use crate::basic::Time;
use crate::json_schema::{boolean, bytes, integer, list, number, object, string};
use crate::message::messages;

/// Endings of topics with compressed images beside that of the images: of colours, of distances.
pub const COMPRESSED_ENDINGS: [&str; 2] = ["/compressed", "/compressedDepth"];

messages! {
    /// An image in a compressed form.
    CompressedImage("foxglove.CompressedImage") {
        /// Simulated time when it was made.
        timestamp: Time,
        /// The frame of the sensor.
        frame_id: String,
        /// The file.
        data: serde_bytes::ByteBuf,
        /// `jpeg`, `png`.
        format: String,
        /// Encoding of the image that was compressed, in ROS's words: `rgb8`, `mono16`; `16UC1` of
        /// distances, which are in millimetres.
        encoding: String,
    }
}

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
    // Nothing of these is sent; readers want to know their fields all the same.
    let arrow = object(&json!({
        "pose": pose(), "shaft_length": number(), "shaft_diameter": number(),
        "head_length": number(), "head_diameter": number(), "color": color(),
    }));
    let corners = || {
        object(&json!({
            "pose": pose(), "points": list(&vector()), "color": color(),
            "colors": list(&color()), "indices": list(&integer()),
        }))
    };
    let mut line = corners();
    line["properties"]["type"] = integer();
    line["properties"]["thickness"] = number();
    line["properties"]["scale_invariant"] = boolean();
    let text = object(&json!({
        "pose": pose(), "billboard": boolean(), "font_size": number(),
        "scale_invariant": boolean(), "color": color(), "text": string(),
    }));
    object(&json!({
        "deletions": list(&object(&json!({
            "timestamp": time(), "type": integer(), "id": string(),
        }))),
        "entities": list(&object(&json!({
            "timestamp": time(), "frame_id": string(), "id": string(),
            "lifetime": time(), "frame_locked": boolean(),
            "metadata": list(&object(&json!({ "key": string(), "value": string() }))),
            "arrows": list(&arrow), "cubes": list(&sized()), "spheres": list(&sized()),
            "cylinders": list(&cylinder), "lines": list(&line), "triangles": list(&corners()),
            "texts": list(&text), "models": list(&model),
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

/// Returns the schema of `foxglove.CompressedImage`.
pub fn compressed_image() -> Value {
    object(&json!({
        "timestamp": time(), "frame_id": string(), "data": bytes(), "format": string(),
        "encoding": string(),
    }))
}

/// Returns the schema of `foxglove.CameraCalibration`.
pub fn camera_calibration() -> Value {
    object(&json!({
        "timestamp": time(), "frame_id": string(), "width": integer(), "height": integer(),
        "distortion_model": string(), "D": list(&number()), "K": list(&number()),
        "R": list(&number()), "P": list(&number()),
    }))
}

/// Returns the schema of `foxglove.LocationFix`.
pub fn location_fix() -> Value {
    object(&json!({
        "timestamp": time(), "frame_id": string(), "latitude": number(), "longitude": number(),
        "altitude": number(), "position_covariance": list(&number()),
        "position_covariance_type": integer(), "velocity": vector(),
    }))
}

/// Returns the schema of `foxglove.ImageAnnotations`.
pub fn image_annotations() -> Value {
    let color = || object(&json!({ "r": number(), "g": number(), "b": number(), "a": number() }));
    let point = || object(&json!({ "x": number(), "y": number() }));
    let circle = object(&json!({
        "timestamp": time(), "position": point(), "diameter": number(), "thickness": number(),
        "fill_color": color(), "outline_color": color(),
    }));
    let points = object(&json!({
        "timestamp": time(), "type": integer(), "points": list(&point()),
        "outline_color": color(), "outline_colors": list(&color()), "fill_color": color(),
        "thickness": number(),
    }));
    let text = object(&json!({
        "timestamp": time(), "position": point(), "text": string(), "font_size": number(),
        "text_color": color(), "background_color": color(),
    }));
    object(&json!({
        "timestamp": time(), "circles": list(&circle), "points": list(&points),
        "texts": list(&text),
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
