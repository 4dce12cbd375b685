//! What a run does without: one survey of the whole tree names, once each, the elements and plugins
//! that say something which nothing acts on. Names that SDF does not have are told by
//! [`crate::schema`].

use crate::read::LEVEL_PLUGIN_NAMES;
use crate::report::Report;
use crate::tree::Element;

/// Elements without effect, by the element that they stand in, and what to know of it.
const WITHOUT_EFFECT: [(&str, &str, &str); 9] = [
    ("world", "audio", "nothing sounds"),
    ("world", "population", "its models are left out"),
    ("world", "road", "it is not drawn"),
    (
        "world",
        "state",
        "a run starts from the poses of the models",
    ),
    ("link", "audio_sink", "nothing sounds"),
    ("link", "audio_source", "nothing sounds"),
    ("link", "battery", "it is kept, and never drained"),
    ("geometry", "image", "it has no shape"),
    ("surface", "soft_contact", "contacts are rigid"),
];

/// Systems of Gazebo that the simulator itself replaces, without their prefix.
const OWN_SYSTEMS: [&str; 3] = ["Physics", "SceneBroadcaster", "UserCommands"];

/// The same systems as old worlds name them.
const OWN_LIBRARIES: [&str; 3] = ["physics", "scene-broadcaster", "user-commands"];

/// Warns of everything in an expanded tree that nothing acts on.
pub(crate) fn survey(element: &Element, report: &mut Report) {
    for child in element.children() {
        match child.name.as_str() {
            "plugin" if element.name != "gui" => plugin(child, report),
            "sensor" => sensor(child, report),
            name => without_effect(&element.name, name, child, report),
        }
        if !child.is_foreign() {
            survey(child, report);
        }
    }
}

fn without_effect(parent: &str, name: &str, child: &Element, report: &mut Report) {
    let known = WITHOUT_EFFECT
        .iter()
        .find(|(known_parent, known_name, _)| *known_parent == parent && *known_name == name);
    if let Some((_, _, what)) = known {
        report.warn_once("UNSUPPORTED_ELEMENT", name, child, || {
            format!("<{name}> in <{parent}> has no effect: {what}")
        });
    }
}

fn plugin(element: &Element, report: &mut Report) {
    let name = element
        .filled_attribute("name")
        .or(element.filled_attribute("filename"))
        .unwrap_or_default();
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
    let name = format!("sensor/{kind}");
    report.warn_once("UNSUPPORTED_ELEMENT", &name, element, || {
        format!("sensors ({kind}) are kept, and measure nothing yet")
    });
}
