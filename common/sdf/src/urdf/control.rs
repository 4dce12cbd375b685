//! `<ros2_control>`, `<transmission>` and `<safety_controller>`: what is for controllers of ROS.
//!
//! Initial positions of joints are taken from `<ros2_control>`. Nothing acts on the rest, and each
//! kind of element is told once.

use super::joint::Kind;
use super::number;
use super::robot::Robot;
use crate::report::Report;
use crate::tree::Element;
use crate::vocabulary::CONTROLLERS;

/// The code of what nothing acts on.
const UNSUPPORTED: &str = "UNSUPPORTED_ELEMENT";

/// Gives joints the positions that `<ros2_control>` starts them at, and warns of what is for
/// controllers that are not here.
pub(super) fn read(robot: &mut Robot<'_>, report: &mut Report) {
    let element = robot.element;
    for control in element.children_named("ros2_control") {
        for joint in control.children_named("joint") {
            if let Some(parameter) = initial_value(joint) {
                start(robot, joint, parameter, report);
            }
        }
    }
    if let Some(control) = element.child("ros2_control") {
        warn(
            "ros2_control",
            control,
            "of <ros2_control> only initial_value is read: its interfaces drive nothing",
            report,
        );
    }
    if let Some(transmission) = element.child("transmission") {
        let what = "<transmission> has no effect: it says what a controller drives";
        warn("transmission", transmission, what, report);
    }
    let mut joints = element.children_named("joint");
    if let Some(safety) = joints.find_map(|joint| joint.child("safety_controller")) {
        let what = "<safety_controller> has no effect: those of <limit> are the limits";
        warn("safety_controller", safety, what, report);
    }
}

fn warn(name: &'static str, element: &Element, what: &str, report: &mut Report) {
    report.warn_once(UNSUPPORTED, name, element, || {
        format!("{what}; {CONTROLLERS}")
    });
}

/// Returns the parameter that says where a joint is at the start.
fn initial_value(joint: &Element) -> Option<&Element> {
    let mut states = joint.children_named("state_interface");
    let position = states.find(|state| state.attribute("name") == Some("position"))?;
    let mut parameters = position.children_named("param");
    parameters.find(|parameter| parameter.attribute("name") == Some("initial_value"))
}

fn start(robot: &mut Robot<'_>, joint: &Element, parameter: &Element, report: &mut Report) {
    let name = joint.attribute("name").unwrap_or_default();
    let text = parameter.text();
    let known = robot
        .links
        .iter_mut()
        .filter_map(|link| link.joint.as_mut());
    let known = known
        .map(|(joint, _)| joint)
        .find(|joint| joint.name == name);
    let why = match (known, number::parse(&text)) {
        (None, _) => "there is no such joint".to_owned(),
        (Some(joint), _) if matches!(joint.kind, Kind::Fixed | Kind::Floating | Kind::Planar) => {
            "the joint has no position".to_owned()
        }
        (Some(_), None) => {
            let text: String = text.chars().take(60).collect();
            format!("{text:?} is no number")
        }
        (Some(joint), Some(position)) => {
            joint.initial_position = Some(position);
            return;
        }
    };
    report.warn_once("INITIAL_VALUE_IGNORED", name, parameter, || {
        format!("the initial_value of the joint {name:?} is ignored: {why}")
    });
}
