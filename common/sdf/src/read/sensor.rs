//! `<sensor>` of a link or joint: what kind it is, where it is, and its parameters as they are.

use super::part;
use crate::frames::{Frame, Scope};
use crate::report::Report;
use crate::value;
use crate::world::{Content, Sensor};

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

/// Returns the type that is meant by a name.
pub(crate) fn kind(written: &str) -> &str {
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == written);
    other.map_or(written, |(_, kind)| kind)
}

/// Reads the sensors of the link or joint at `owner`; poses are in its frame.
pub(super) fn read_all(owner: &Frame<'_>, scope: &Scope<'_>, report: &mut Report) -> Vec<Sensor> {
    let mut sensors = Vec::new();
    for (name, sensor) in part::named(owner.element, "sensor") {
        let written = sensor.filled_attribute("type").unwrap_or_default();
        let kind = kind(written);
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
