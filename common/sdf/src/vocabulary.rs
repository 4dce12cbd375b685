//! Which elements are read, which say nothing that concerns physics, and which are not supported.
//!
//! One survey of the whole tree names everything that will be ignored, once per name.

use crate::read::LEVEL_PLUGIN_NAMES;
use crate::report::Report;
use crate::tree::Element;

/// The elements that may stand in one, by what becomes of them.
struct Known {
    parent: &'static str,
    /// Read, or of no consequence for physics: visual, or ignored by Gazebo's own physics.
    fine: &'static [&'static str],
    /// Left out with a warning.
    unsupported: &'static [&'static str],
}

#[rustfmt::skip]
const KNOWN: [Known; 15] = [
    Known { parent: "sdf", fine: &["world", "model", "light", "actor"], unsupported: &[] },
    Known {
        parent: "world",
        fine: &["atmosphere", "audio", "frame", "gravity", "gui", "light", "magnetic_field",
            "model", "physics", "plugin", "road", "scene", "spherical_coordinates", "state",
            "wind"],
        unsupported: &["actor", "joint", "population"],
    },
    Known {
        parent: "model",
        fine: &["allow_auto_disable", "enable_wind", "frame", "joint", "link", "model", "plugin",
            "pose", "self_collide", "static"],
        unsupported: &["gripper"],
    },
    Known {
        parent: "link",
        fine: &["collision", "enable_wind", "gravity", "inertial", "kinematic", "light",
            "must_be_base_link", "particle_emitter", "plugin", "pose", "projector", "self_collide",
            "sensor", "velocity_decay", "visual"],
        unsupported: &["audio_sink", "audio_source", "battery"],
    },
    Known {
        parent: "inertial",
        fine: &["auto_inertia_params", "density", "inertia", "mass", "pose"],
        unsupported: &["fluid_added_mass"],
    },
    Known {
        parent: "inertia",
        fine: &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"],
        unsupported: &[],
    },
    Known {
        parent: "collision",
        fine: &["auto_inertia_params", "density", "geometry", "laser_retro", "max_contacts",
            "pose", "surface"],
        unsupported: &[],
    },
    Known {
        parent: "geometry",
        fine: &["box", "capsule", "cone", "cylinder", "ellipsoid", "empty", "heightmap", "mesh",
            "plane", "polyline", "sphere"],
        unsupported: &["image"],
    },
    Known {
        parent: "surface",
        fine: &["bounce", "contact", "friction"],
        unsupported: &["soft_contact"],
    },
    Known { parent: "friction", fine: &["bullet", "ode", "torsional"], unsupported: &[] },
    Known {
        parent: "bounce",
        fine: &["restitution_coefficient", "threshold"],
        unsupported: &[],
    },
    Known {
        parent: "contact",
        fine: &["bullet", "category_bitmask", "collide_bitmask", "collide_without_contact",
            "collide_without_contact_bitmask", "elastic_modulus", "ode", "poissons_ratio"],
        unsupported: &[],
    },
    Known {
        parent: "joint",
        fine: &["axis", "child", "parent", "physics", "pose", "sensor", "plugin", "axis2",
            "gearbox_ratio", "gearbox_reference_body", "thread_pitch", "screw_thread_pitch"],
        unsupported: &[],
    },
    Known {
        parent: "axis",
        // Gazebo's worlds have `pose` and `initial_position`, and libsdformat reads neither.
        fine: &["dynamics", "initial_position", "limit", "pose", "xyz"],
        unsupported: &["mimic"],
    },
    Known {
        parent: "dynamics",
        fine: &["damping", "friction", "spring_reference", "spring_stiffness"],
        unsupported: &[],
    },
];

/// Systems of Gazebo that the simulator itself replaces, without their prefix.
const OWN_SYSTEMS: [&str; 3] = ["Physics", "SceneBroadcaster", "UserCommands"];

/// The same systems as old worlds name them.
const OWN_LIBRARIES: [&str; 3] = ["physics", "scene-broadcaster", "user-commands"];

/// Warns of everything in an expanded tree that will be ignored.
pub(crate) fn survey(element: &Element, report: &mut Report) {
    let known = KNOWN.iter().find(|known| known.parent == element.name);
    for child in element.children() {
        match child.name.as_str() {
            "plugin" if element.name != "gui" => plugin(child, report),
            "sensor" => sensor(child, report),
            name => {
                if let Some(known) = known.filter(|_| !child.is_foreign()) {
                    place(known, name, child, report);
                }
            }
        }
        if is_surveyed(&child.name) {
            survey(child, report);
        }
    }
    if element.name == "joint" {
        joint(element, report);
    }
}

/// Tells whether physics looks into elements of this name.
fn is_surveyed(name: &str) -> bool {
    KNOWN.iter().any(|known| known.parent == name)
}

fn place(known: &Known, name: &str, child: &Element, report: &mut Report) {
    if known.unsupported.contains(&name) {
        report.warn_once("UNSUPPORTED_ELEMENT", name, child, || {
            format!(
                "<{name}> in <{}> is not supported and is left out",
                known.parent
            )
        });
    } else if !known.fine.contains(&name) {
        let both = format!("{}/{name}", known.parent);
        report.warn_once("UNKNOWN_ELEMENT", &both, child, || {
            format!(
                "<{name}> is no element of <{}> and is ignored",
                known.parent
            )
        });
    }
}

fn plugin(element: &Element, report: &mut Report) {
    let name = element.attribute("name").unwrap_or_default();
    let is_own_system = ["gz::sim::systems::", "ignition::gazebo::systems::"]
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix))
        .any(|system| OWN_SYSTEMS.contains(&system));
    let is_own_library = ["gz-sim-", "ignition-gazebo-"]
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix)?.strip_suffix("-system"))
        .any(|system| OWN_LIBRARIES.contains(&system));
    if !is_own_system && !is_own_library && !LEVEL_PLUGIN_NAMES.contains(&name) {
        report.warn_once("UNSUPPORTED_PLUGIN", name, element, || {
            format!("the plugin {name:?} is not supported and does nothing")
        });
    }
}

fn sensor(element: &Element, report: &mut Report) {
    let kind = element.attribute("type").unwrap_or("without a type");
    report.warn_once(
        "UNSUPPORTED_ELEMENT",
        &format!("sensor/{kind}"),
        element,
        || format!("sensors ({kind}) are not supported and measure nothing"),
    );
}

fn joint(element: &Element, report: &mut Report) {
    let kind = element.attribute("type").unwrap_or_default();
    if matches!(kind, "universal" | "screw" | "revolute2" | "gearbox") {
        report.warn_once(
            "UNSUPPORTED_ELEMENT",
            &format!("joint/{kind}"),
            element,
            || format!("joints of type {kind:?} are not supported and hold nothing together"),
        );
    }
}
