//! The upgrades from one version to the next that change what a file means, from libsdformat's
//! `sdf/*/*.convert`; [`super::unflatten`] has the largest.

use crate::tree::{Element, Node};

/// The texts that libsdformat's upgrade from 1.6 takes as true.
const TRUE_TEXTS: [&str; 4] = ["true", "True", "TRUE", "1"];

/// 1.3 to 1.4: step sizes left the physics engines.
pub(super) fn rename_steps(root: &mut Element) {
    for physics in each(root, &["world", "physics"]) {
        if let Some(rate) = physics.take_child("update_rate") {
            push_renamed(physics, rate, "real_time_update_rate");
        }
        for path in [&["ode", "solver"] as &[&str], &["bullet"]] {
            let step = path
                .iter()
                .try_fold(&mut *physics, |element, name| element.child_mut(name))
                .and_then(|engine| engine.take_child("dt"));
            if let Some(step) = step {
                push_renamed(physics, step, "max_step_size");
            }
        }
    }
}

/// 1.4 to 1.5: axes were given in the model's frame, and then by choice.
pub(super) fn say_axes_are_in_the_model_frame(root: &mut Element) {
    for path in [&["world", "model", "joint"] as &[&str], &["model", "joint"]] {
        for joint in each(root, path) {
            let is_axis = |child: &&mut Element| child.name == "axis" || child.name == "axis2";
            for axis in joint.children_mut().filter(is_axis) {
                if axis.child("use_parent_model_frame").is_none() {
                    let flag = Element::with_text_at("use_parent_model_frame", "true", axis);
                    axis.nodes.push(Node::Element(flag));
                }
            }
        }
    }
}

/// 1.5 to 1.6: gravity and the magnetic field left `<physics>`.
pub(super) fn move_gravity(root: &mut Element) {
    for world in each(root, &["world"]) {
        for name in ["gravity", "magnetic_field"] {
            let moved = world
                .child_mut("physics")
                .and_then(|physics| physics.take_child(name));
            if let Some(element) = moved {
                world.nodes.push(Node::Element(element));
            }
        }
    }
}

/// 1.5 to 1.6: the noise of an imu, one for rates and one for accelerations, is given per axis.
pub(super) fn split_imu_noise(root: &mut Element) {
    let sensor = ["world", "model", "link", "sensor", "imu"];
    for path in [&sensor[..], &sensor[1..]] {
        for imu in each(root, path) {
            let noise = imu.take_child("noise");
            while imu.take_child("noise").is_some() {}
            for (name, source) in [
                ("angular_velocity", "rate"),
                ("linear_acceleration", "accel"),
            ] {
                let mut quantity = Element::new_at(name, imu);
                if let Some(noise) = &noise {
                    for axis in ["x", "y", "z"] {
                        let mut element = Element::new_at(axis, imu);
                        element.nodes.push(Node::Element(axis_noise(noise, source)));
                        quantity.nodes.push(Node::Element(element));
                    }
                }
                imu.nodes.push(Node::Element(quantity));
            }
        }
    }
}

fn axis_noise(noise: &Element, source: &str) -> Element {
    let mut result = Element::new_at("noise", noise);
    if let Some(kind) = noise.child("type") {
        result.set_attribute("type", &kind.text());
    }
    let parts = noise.child(source);
    for name in ["mean", "stddev", "bias_mean", "bias_stddev"] {
        if let Some(part) = parts.and_then(|parts| parts.child(name)) {
            result.nodes.push(Node::Element(part.clone()));
        }
    }
    result
}

/// 1.6 to 1.7: `frame` of a pose became `relative_to`.
pub(super) fn rename_pose_frames(element: &mut Element) {
    if element.name == "pose"
        && let Some(frame) = element.take_attribute("frame")
    {
        element.set_attribute("relative_to", &frame);
    }
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        rename_pose_frames(child);
    }
}

/// 1.6 to 1.7: the choice between the joint's and the model's frame became a name.
pub(super) fn name_axis_frames(element: &mut Element) {
    if element.name == "joint" {
        let is_axis = |child: &&mut Element| child.name == "axis" || child.name == "axis2";
        for axis in element.children_mut().filter(is_axis) {
            name_axis_frame(axis);
        }
    }
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        name_axis_frames(child);
    }
}

fn name_axis_frame(axis: &mut Element) {
    let flag = axis.take_child("use_parent_model_frame");
    while axis.take_child("use_parent_model_frame").is_some() {}
    if !flag.is_some_and(|flag| TRUE_TEXTS.contains(&&*flag.text())) {
        return;
    }
    if axis.child("xyz").is_none() {
        let xyz = Element::with_text_at("xyz", "0 0 1", axis);
        axis.nodes.push(Node::Element(xyz));
    }
    if let Some(xyz) = axis.child_mut("xyz") {
        xyz.set_attribute("expressed_in", "__model__");
    }
}

/// 1.7 to 1.8: an inertial's pose lost its frame; an empty one is no mistake.
pub(super) fn drop_empty_inertial_frames(element: &mut Element) {
    if element.name == "inertial" {
        for pose in element.children_mut().filter(|child| child.name == "pose") {
            if pose.attribute("relative_to") == Some("") {
                pose.take_attribute("relative_to");
            }
        }
    }
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        drop_empty_inertial_frames(child);
    }
}

/// 1.11 to 1.12: states got names of their own. As in libsdformat only the first of each kind.
pub(super) fn rename_states(root: &mut Element) {
    for state in each(root, &["world", "state"]) {
        rename_states_in(state, 3);
        if let Some(light) = state.take_child("light") {
            push_renamed(state, light, "light_state");
        }
        if let Some(model) = state.take_child("model") {
            push_renamed(state, model, "model_state");
        }
    }
}

fn rename_states_in(parent: &mut Element, depth: usize) {
    for model in parent.children_mut().filter(|child| child.name == "model") {
        if depth > 1 {
            rename_states_in(model, depth - 1);
        }
        if let Some(link) = model.take_child("link") {
            push_renamed(model, link, "link_state");
        }
        if depth > 1
            && let Some(nested) = model.take_child("model")
        {
            push_renamed(model, nested, "model_state");
        }
    }
}

fn push_renamed(parent: &mut Element, mut child: Element, name: &str) {
    child.name = name.into();
    parent.nodes.push(Node::Element(child));
}

/// Returns all elements at a path of names below an element.
fn each<'t>(root: &'t mut Element, path: &[&str]) -> Vec<&'t mut Element> {
    let mut found = vec![root];
    for name in path {
        found = found
            .into_iter()
            .flat_map(Element::children_mut)
            .filter(|child| child.name == *name)
            .collect();
    }
    found
}
