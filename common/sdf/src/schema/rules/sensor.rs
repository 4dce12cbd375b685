//! `<sensor>`: its type, and those parts of cameras, imus and force sensors that libsdformat's
//! classes judge. The noise of the other sensors is judged by none.

use super::{attribute_is_one_of, free_name, text_is_one_of};
use crate::report::Report;
use crate::tree::Element;
use crate::value::parse_truth;

/// Types whose sensor is described by a `<camera>`.
const CAMERAS: [&str; 13] = [
    "camera",
    "depth",
    "depth_camera",
    "rgbd",
    "rgbd_camera",
    "thermal",
    "thermal_camera",
    "segmentation",
    "segmentation_camera",
    "boundingbox",
    "boundingbox_camera",
    "wideanglecamera",
    "wide_angle_camera",
];

/// The other types.
const OTHERS: [&str; 22] = [
    "air_flow",
    "air_pressure",
    "air_speed",
    "altimeter",
    "contact",
    "custom",
    "force_torque",
    "gps",
    "gpu_lidar",
    "gpu_ray",
    "imu",
    "lidar",
    "logical_camera",
    "magnetometer",
    "multicamera",
    "navsat",
    "ray",
    "rfid",
    "rfidtag",
    "sonar",
    "wireless_receiver",
    "wireless_transmitter",
];

/// Names of pixel formats, today's and those before them.
const PIXEL_FORMATS: [&str; 22] = [
    "L_INT8",
    "L_INT16",
    "RGB_INT8",
    "RGBA_INT8",
    "BGRA_INT8",
    "RGB_INT16",
    "RGB_INT32",
    "BGR_INT8",
    "BGR_INT16",
    "BGR_INT32",
    "R_FLOAT16",
    "RGB_FLOAT16",
    "R_FLOAT32",
    "RGB_FLOAT32",
    "BAYER_RGGB8",
    "BAYER_BGGR8",
    "BAYER_GBRG8",
    "BAYER_GRBG8",
    "L8",
    "L16",
    "R8G8B8",
    "B8G8R8",
];

/// Reports what is wrong with a sensor.
pub(super) fn check(element: &Element, report: &mut Report) {
    free_name(element, report);
    let kinds = [&OTHERS[..], &CAMERAS].concat();
    attribute_is_one_of(element, "type", &kinds, report);
    let kind = element.attribute("type").unwrap_or_default();
    let part = |name: &str| element.child(name);
    match kind {
        "imu" => {
            for group in ["linear_acceleration", "angular_velocity"] {
                axis_noises(part("imu"), group, report);
            }
        }
        "force_torque" => force_torque(part("force_torque"), report),
        _ if CAMERAS.contains(&kind) => camera(part("camera"), report),
        _ => {}
    }
}

fn camera(camera: Option<&Element>, report: &mut Report) {
    let Some(camera) = camera else {
        return;
    };
    if let Some(image) = camera.child("image") {
        text_is_one_of(image, "format", &PIXEL_FORMATS, report);
    }
    if let Some(save) = camera.child("save") {
        let saves = save.attribute("enabled").and_then(parse_truth) == Some(true);
        let path = save.child("path").map(Element::text);
        if saves && path.is_some_and(|path| path.is_empty()) {
            report.error("ELEMENT_INVALID", save, "<save> needs a <path>");
        }
    }
    if let Some(noise) = camera.child("noise") {
        let kind = noise.child("type").map(Element::text);
        noise_type(noise, kind.as_deref(), report);
    }
}

fn force_torque(element: Option<&Element>, report: &mut Report) {
    let Some(part) = element else {
        return;
    };
    text_is_one_of(part, "frame", &["parent", "child", "sensor"], report);
    let directions = ["parent_to_child", "child_to_parent"];
    text_is_one_of(part, "measure_direction", &directions, report);
    for group in ["force", "torque"] {
        axis_noises(element, group, report);
    }
}

fn axis_noises(part: Option<&Element>, group: &str, report: &mut Report) {
    let Some(group) = part.and_then(|part| part.child(group)) else {
        return;
    };
    for axis in ["x", "y", "z"] {
        if let Some(noise) = group.child(axis).and_then(|axis| axis.child("noise")) {
            noise_type(noise, noise.attribute("type"), report);
        }
    }
}

/// Reports a type of noise that there is not; libsdformat's code for it is an odd one.
fn noise_type(noise: &Element, kind: Option<&str>, report: &mut Report) {
    let Some(kind) = kind.filter(|kind| !kind.is_empty()) else {
        return;
    };
    let known = ["none", "gaussian", "gaussian_quantized"];
    if !known.contains(&kind.to_ascii_lowercase().as_str()) {
        let message = format!(
            "{kind:?} is no type of <noise>; there are {}",
            known.join(", ")
        );
        report.error("ELEMENT_MISSING", noise, message);
    }
}
