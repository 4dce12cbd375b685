//! What changes need to know of the SDFormat specification: the elements that it describes in a
//! file of their own, the attributes of elements, and the children that elements always have.

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

/// Attributes by element.
#[rustfmt::skip]
const ATTRIBUTES: [(&str, &[&str]); 36] = [
    ("actor", &["name"]), ("animation", &["name"]), ("atmosphere", &["type"]),
    ("battery", &["name"]), ("camera", &["name"]), ("collision", &["name"]),
    ("custom_rpy", &["parent_frame"]), ("frame", &["attached_to", "name"]),
    ("grav_dir_x", &["parent_frame"]), ("gripper", &["name"]), ("gui", &["fullscreen"]),
    ("inertial", &["auto"]), ("joint", &["name", "type"]), ("light", &["name", "type"]),
    ("light_map", &["uv_set"]), ("link", &["name"]), ("mesh", &["optimization"]),
    ("mimic", &["axis", "joint"]), ("model", &["canonical_link", "name", "placement_frame"]),
    ("noise", &["type"]), ("normal_map", &["type"]), ("particle_emitter", &["name", "type"]),
    ("physics", &["default", "name", "type"]), ("plugin", &["filename", "name"]),
    ("population", &["name"]), ("pose", &["degrees", "relative_to", "rotation_format"]),
    ("projector", &["name"]), ("road", &["name"]), ("save", &["enabled"]),
    ("sensor", &["name", "type"]), ("shader", &["type"]), ("state", &["world_name"]),
    ("trajectory", &["id", "tension", "type"]), ("visual", &["name"]), ("world", &["name"]),
    ("xyz", &["expressed_in"]),
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

/// Tells whether the specification gives an element an attribute.
pub(super) fn has_attribute(element: &str, attribute: &str) -> bool {
    is_listed(&ATTRIBUTES, element, attribute)
}

/// Tells whether an element always has a child of this name.
pub(super) fn is_demanded(element: &str, child: &str) -> bool {
    is_listed(&DEMANDED, element, child)
}

fn is_listed(table: &[(&str, &[&str])], element: &str, name: &str) -> bool {
    let mut rows = table.iter();
    rows.any(|(key, names)| *key == element && names.contains(&name))
}
