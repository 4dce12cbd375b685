//! `<sensor>` of a link or joint: what kind it is, where it is, and its parameters as they are.

use super::part;
use crate::frames::{Frame, Scope};
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Content, Sensor};

/// Types of sensors.
const KINDS: [&str; 25] = [
    "air_pressure",
    "air_speed",
    "altimeter",
    "boundingbox_camera",
    "camera",
    "contact",
    "custom",
    "depth_camera",
    "force_torque",
    "gpu_lidar",
    "imu",
    "lidar",
    "logical_camera",
    "magnetometer",
    "multicamera",
    "navsat",
    "rfid",
    "rfidtag",
    "rgbd_camera",
    "segmentation_camera",
    "sonar",
    "thermal_camera",
    "wide_angle_camera",
    "wireless_receiver",
    "wireless_transmitter",
];

/// Other names of types, and the type that is meant.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("boundingbox", "boundingbox_camera"),
    ("depth", "depth_camera"),
    ("gps", "navsat"),
    ("gpu_ray", "gpu_lidar"),
    ("ray", "lidar"),
    ("rgbd", "rgbd_camera"),
    ("segmentation", "segmentation_camera"),
    ("thermal", "thermal_camera"),
    ("wideanglecamera", "wide_angle_camera"),
];

/// Pixel formats of cameras; the first four are older names.
const PIXEL_FORMATS: [&str; 22] = [
    "R8G8B8",
    "L8",
    "L16",
    "B8G8R8",
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
];

/// Reads the sensors of the link or joint at `owner`; poses are in its frame.
pub(super) fn read_all(owner: &Frame<'_>, scope: &Scope<'_>, report: &mut Report) -> Vec<Sensor> {
    let mut sensors = Vec::new();
    for (name, sensor) in part::named(owner.element, "sensor", report) {
        let Some(kind) = kind(sensor, name, report) else {
            continue;
        };
        check_parameters(sensor, kind, report);
        sensors.push(Sensor {
            name: name.to_owned(),
            kind: kind.to_owned(),
            pose: part::pose(sensor, owner, scope, report),
            update_rate: part::number(sensor, "update_rate", 0.0, report).max(0.0),
            topic: part::text(sensor, "topic").unwrap_or_default(),
            always_on: value::truth(sensor, "always_on", false, report),
            content: Content::from(sensor),
        });
    }
    sensors
}

fn kind(sensor: &Element, name: &str, report: &mut Report) -> Option<&'static str> {
    let written = sensor.filled_attribute("type").unwrap_or_default();
    let is_it = |(other, _): &&(&str, &str)| *other == written;
    let meant = OTHER_NAMES
        .iter()
        .find(is_it)
        .map_or(written, |(_, kind)| kind);
    let kind = KINDS.iter().find(|kind| **kind == meant).copied();
    if kind.is_none() {
        let message = format!(
            "the sensor {name:?} is of the type {written:?}, and there is none such; there are {}",
            KINDS.join(", ")
        );
        report.error("ATTRIBUTE_INVALID", sensor, message);
    }
    kind
}

/// Checks what libsdformat refuses; other parameters are kept as they are.
fn check_parameters(sensor: &Element, kind: &str, report: &mut Report) {
    if let Some(camera) = sensor.child("camera").filter(|_| kind.ends_with("camera")) {
        if kind != "logical_camera" {
            check_camera(camera, report);
        }
    } else if let Some(force_torque) = sensor
        .child("force_torque")
        .filter(|_| kind == "force_torque")
    {
        check_force_torque(force_torque, report);
    }
}

fn check_camera(camera: &Element, report: &mut Report) {
    if let Some(format) = camera.descendant(&["image", "format"]) {
        let text = format.text();
        if !text.is_empty() && !PIXEL_FORMATS.contains(&text.as_str()) {
            let message = format!("{text:?} is no pixel format; R8G8B8, L8 and others are");
            report.error("ELEMENT_INVALID", format, message);
        }
    }
    if let Some(noise) = camera.child("noise") {
        check_noise(noise, part::text(noise, "type"), report);
    }
}

fn check_force_torque(force_torque: &Element, report: &mut Report) {
    let mut one_of = |name: &str, choices: &[&str]| {
        let Some(element) = force_torque.child(name) else {
            return;
        };
        let text = element.text();
        if !text.is_empty() && !choices.contains(&text.as_str()) {
            let message = format!("<{name}> is one of {}, not {text:?}", choices.join(", "));
            report.error("ELEMENT_INVALID", element, message);
        }
    };
    one_of("frame", &["parent", "child", "sensor"]);
    one_of("measure_direction", &["parent_to_child", "child_to_parent"]);
    for group in ["force", "torque"] {
        for axis in ["x", "y", "z"] {
            if let Some(noise) = force_torque.descendant(&[group, axis, "noise"]) {
                let kind = noise.filled_attribute("type").map(str::to_owned);
                check_noise(noise, kind, report);
            }
        }
    }
}

fn check_noise(noise: &Element, kind: Option<String>, report: &mut Report) {
    let Some(kind) = kind else { return };
    let lower = kind.to_ascii_lowercase();
    if !["none", "gaussian", "gaussian_quantized"].contains(&lower.as_str()) {
        let message =
            format!("noise is of the type none, gaussian or gaussian_quantized, not {kind:?}");
        report.error("ELEMENT_MISSING", noise, message);
    }
}
