//! Facts of the SDFormat specification that changes need beside the rules of elements: the elements
//! that have a file of their own in it, and the children that elements always have.

use crate::schema::specification::{ElementRule, Specification};
use crate::tree::{Element, Node};

/// The elements with a file of their own in the specification.
#[rustfmt::skip]
const DESCRIBED: [&str; 57] = [
    "actor", "air_flow", "air_pressure", "air_speed", "altimeter", "atmosphere", "audio_sink",
    "audio_source", "battery", "camera", "collision", "contact", "forcetorque", "frame",
    "geometry", "gps", "gripper", "gui", "imu", "inertial", "joint", "joint_state", "lidar",
    "light", "light_state", "link", "link_state", "logical_camera", "magnetometer", "material",
    "mimic", "model", "model_state", "navsat", "noise", "particle_emitter", "physics", "plugin",
    "population", "pose", "projector", "ray", "rfid", "rfidtag", "road", "root", "scene", "sensor",
    "sonar", "spherical_coordinates", "state", "surface", "transceiver", "visual", "world",
    "auto_inertia_params", "tactile",
];

/// Children that an element has even where a file leaves them out.
#[rustfmt::skip]
const DEMANDED: [(&str, &[&str]); 33] = [
    ("animation", &["filename"]), ("attenuation", &["range"]), ("axis", &["limit", "xyz"]),
    ("axis2", &["limit", "xyz"]), ("battery", &["voltage"]), ("box", &["size"]),
    ("camera", &["clip", "horizontal_fov", "image"]), ("capsule", &["length", "radius"]),
    ("clip", &["far", "near"]), ("collision", &["geometry"]), ("cone", &["length", "radius"]),
    ("cylinder", &["length", "radius"]), ("dynamics", &["spring_reference", "spring_stiffness"]),
    ("ellipsoid", &["radii"]), ("heightmap", &["uri"]),
    ("horizontal", &["max_angle", "min_angle", "resolution", "samples"]),
    ("image", &["height", "width"]), ("inertia", &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]),
    ("lidar", &["range", "scan"]), ("light", &["direction"]), ("limit", &["lower", "upper"]),
    ("logical_camera", &["aspect_ratio", "far", "horizontal_fov", "near"]), ("mesh", &["uri"]),
    ("mimic", &["multiplier", "offset", "reference"]), ("plane", &["normal", "size"]),
    ("polyline", &["height", "point"]), ("range", &["max", "min"]), ("ray", &["range", "scan"]),
    ("scan", &["horizontal"]), ("sphere", &["radius"]),
    ("spot", &["falloff", "inner_angle", "outer_angle"]),
    ("vertical", &["max_angle", "min_angle", "samples"]), ("visual", &["geometry"]),
];

/// Tells whether the specification has a file for an element.
pub(super) fn is_described(element: &str) -> bool {
    DESCRIBED.contains(&element)
}

/// Tells whether an element always has a child of this name.
pub(super) fn is_demanded(element: &str, child: &str) -> bool {
    let mut rows = DEMANDED.iter();
    rows.any(|(key, names)| *key == element && names.contains(&child))
}

/// Returns the rule of the element at the end of a way from an entity; none for what SDF does not
/// know.
pub(super) fn rule_at(entity: &Element, path: &[usize]) -> Option<&'static ElementRule> {
    let specification = Specification::get();
    let mut rule = specification.child(specification.root(), &entity.name)?;
    let mut element = entity;
    for index in path {
        let Node::Element(child) = element.nodes.get(*index)? else {
            return None;
        };
        rule = specification.child(rule, &child.name)?;
        element = child;
    }
    Some(rule)
}

/// Returns the rule of a child.
pub(super) fn child_rule(
    rule: Option<&'static ElementRule>,
    child: &str,
) -> Option<&'static ElementRule> {
    Specification::get().child(rule?, child)
}

/// Tells whether an element may have an attribute.
pub(super) fn has_attribute(rule: Option<&'static ElementRule>, attribute: &str) -> bool {
    let mut attributes = rule.into_iter().flat_map(|rule| &rule.attributes);
    attributes.any(|(name, _)| *name == attribute)
}
