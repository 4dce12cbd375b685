//! SDF 1.0 wrote most values as attributes; since 1.2 they are elements.

use crate::tree::{Element, Node};

/// Attributes that became elements of the same name, by the element that had them.
#[rustfmt::skip]
const ATTRIBUTES: [(&str, &[&str]); 41] = [
    ("animation", &["filename", "scale", "interpolate_x"]),
    ("attenuation", &["range", "linear", "constant", "quadratic"]),
    ("axis", &["xyz"]),
    ("axis2", &["xyz"]),
    ("bounce", &["restitution_coefficient", "threshold"]),
    ("box", &["size"]),
    ("clip", &["near", "far"]),
    ("collision", &["laser_retro"]),
    ("constraints", &["cfm", "erp", "contact_max_correcting_vel", "contact_surface_layer"]),
    ("cylinder", &["radius", "length"]),
    ("depth_camera", &["output"]),
    ("dynamics", &["damping", "friction"]),
    ("fog", &["type", "start", "end", "density"]),
    ("grasp_check", &["detach_steps", "attach_steps", "min_contact_count"]),
    ("heightmap", &["filename", "size"]),
    ("horizontal", &["samples", "resolution", "min_angle", "max_angle"]),
    ("image", &["width", "format", "filename", "scale", "threshold", "height", "granularity"]),
    ("inertia", &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]),
    ("inertial", &["mass", "density"]),
    ("light", &["cast_shadows"]),
    ("limit", &["lower", "upper", "effort", "velocity", "cfm", "erp"]),
    ("link", &["gravity", "self_collide", "kinematic"]),
    ("material", &["script"]),
    ("mesh", &["filename", "scale"]),
    ("model", &["static"]),
    ("ode", &["mu", "mu2", "fdir1", "slip1", "slip2", "soft_cfm", "soft_erp", "kp", "kd",
        "max_vel", "min_depth"]),
    ("physics", &["update_rate"]),
    ("plane", &["normal"]),
    ("range", &["min", "max", "resolution"]),
    ("save", &["path"]),
    ("script", &["loop", "delay_start", "auto_start"]),
    ("sensor", &["always_on", "update_rate", "visualize"]),
    ("skin", &["filename", "scale"]),
    ("solver", &["type", "dt", "iters", "precon_iters", "sor"]),
    ("sphere", &["radius"]),
    ("spot", &["inner_angle", "outer_angle", "falloff"]),
    ("state", &["time"]),
    ("suspension", &["cfm", "erp"]),
    ("vertical", &["samples", "resolution", "min_angle", "max_angle"]),
    ("visual", &["cast_shadows", "laser_retro", "transparency"]),
    ("waypoint", &["time", "pose"]),
];

/// Elements of which one attribute became the text, with their new names.
const TEXTS: [(&str, &str, &str); 13] = [
    ("ambient", "rgba", "ambient"),
    ("background", "rgba", "background"),
    ("child", "link", "child"),
    ("diffuse", "rgba", "diffuse"),
    ("direction", "xyz", "direction"),
    ("emissive", "rgba", "emissive"),
    ("gravity", "xyz", "gravity"),
    ("grid", "enabled", "grid"),
    ("horizontal_fov", "angle", "horizontal_fov"),
    ("origin", "pose", "pose"),
    ("parent", "link", "parent"),
    ("shadows", "enabled", "shadows"),
    ("specular", "rgba", "specular"),
];

/// 1.0 to 1.2: turns attributes into elements.
pub(super) fn attributes_to_elements(element: &mut Element) {
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        attributes_to_elements(child);
        let text = TEXTS.iter().find(|(name, _, _)| *name == child.name);
        if let Some((_, attribute, new_name)) = text
            && let Some(value) = child.take_attribute(attribute)
        {
            child.name = (*new_name).into();
            child.nodes = vec![Node::Text(value)];
        }
    }
    let known = ATTRIBUTES.iter().find(|(name, _)| *name == element.name);
    let renamed = match element.name.as_str() {
        "fog" => Some(("rgba", "color")),
        "heightmap" => Some(("origin", "pos")),
        _ => None,
    };
    let same = known
        .iter()
        .flat_map(|(_, names)| names.iter().map(|name| (*name, *name)));
    for (attribute, name) in same.chain(renamed) {
        if let Some(value) = element.take_attribute(attribute) {
            let child = Element::with_text_at(name, &value, element);
            element.nodes.push(Node::Element(child));
        }
    }
}
